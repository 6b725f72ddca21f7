"""Which commands are there? `app`, put together from one function a command."""

from __future__ import annotations

from typing import Annotated

import typer

from brain.cli import (
    backup,
    demo,
    doctor,
    exchange,
    graph,
    learning,
    moving,
    neo4j_server,
    recalling,
    redis,
    running,
    serving,
    upkeep,
    watching,
)
from brain.cli.ending import BrainGroup
from brain.config import installed_version

USE, GRAPH, EXCHANGE, UPKEEP = "Use", "Look around", "Share skill files", "Keep in order"

EPILOG = (
    "Data goes to stdout, everything else to stderr; with --json stdout is one JSON document.\n\n"
    "Exit status: 0 done; 1 the answer is no (demo wrong, unknown skill, an agent of a workflow failed); 2 wrong usage "
    "or input; 3 the store, the embedder or the local server failed; 130 Ctrl-C; 141 the output's reader left."
)

app = typer.Typer(
    cls=BrainGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"brain {installed_version()}")
        raise typer.Exit


@app.callback()
def brain(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, metavar="", help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """A procedural skill memory for AI agents: learn a skill from one task, recall it for another of the same shape."""


app.command(rich_help_panel=USE)(demo.demo)
app.command(rich_help_panel=USE)(learning.learn)
app.command(rich_help_panel=USE)(recalling.recall)
app.command(rich_help_panel=USE)(recalling.why)
app.command(rich_help_panel=USE)(learning.feedback)
app.command(rich_help_panel=USE)(running.run)
app.command(rich_help_panel=USE)(serving.mcp)
app.command(rich_help_panel=GRAPH)(watching.watch)
app.command(rich_help_panel=GRAPH)(graph.skills)
app.command(rich_help_panel=GRAPH)(graph.show)
app.command(rich_help_panel=GRAPH)(graph.related)
app.command(rich_help_panel=GRAPH)(graph.link)
app.command(rich_help_panel=GRAPH)(graph.delete)
app.command("export", rich_help_panel=EXCHANGE)(exchange.export)
app.command("import", rich_help_panel=EXCHANGE)(exchange.import_)
app.command("approve", rich_help_panel=EXCHANGE)(exchange.approve)
app.command(rich_help_panel=UPKEEP)(upkeep.stats)
app.command(rich_help_panel=UPKEEP)(upkeep.sweep)
app.command(rich_help_panel=UPKEEP)(upkeep.migrate)
app.command(rich_help_panel=UPKEEP)(upkeep.reembed)
app.command(rich_help_panel=UPKEEP)(doctor.doctor)
app.command(rich_help_panel=UPKEEP)(moving.copy)
app.command(rich_help_panel=UPKEEP)(backup.dump)
app.command(rich_help_panel=UPKEEP)(backup.load)
app.add_typer(redis.app, name="redis", rich_help_panel=UPKEEP)
app.add_typer(neo4j_server.app, name="neo4j", rich_help_panel=UPKEEP)
