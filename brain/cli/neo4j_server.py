"""Which commands run a local Neo4j? `brain neo4j start | stop | status | logs`.

Data goes to stdout, as text or with `--json` as JSON; progress and notices go to stderr.
"""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from brain.errors import LocalServerError
from brain.neo4j_local import DEFAULT_VERSION, LocalNeo4j, ServerStatus, home_of, pinned_versions

POLL_SECONDS = 0.3

app = typer.Typer(
    no_args_is_help=True,
    help="A real Neo4j on this machine, without Docker and without installing Java or Neo4j.",
)

Name = Annotated[str, typer.Option("--name", help="Which server: each name has its own data, ports and password.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print data as JSON.")]


@app.command()
def start(
    name: Name = "default",
    version: Annotated[
        str | None,
        typer.Option(help=f"{' or '.join(pinned_versions())}. By default what the data has, or {DEFAULT_VERSION}."),
    ] = None,
    bolt_port: Annotated[
        int | None,
        typer.Option(help="For drivers; 0 is any free one. By default the last one, or 7687 when it is free."),
    ] = None,
    http_port: Annotated[
        int | None,
        typer.Option(help="For Neo4j Browser; 0 is any free one. By default the last one, or 7474 when it is free."),
    ] = None,
    heap: Annotated[str, typer.Option(help="Memory for Java's heap, as 512m or 2g.")] = "512m",
    ephemeral: Annotated[
        bool, typer.Option("--ephemeral", help="Run until Ctrl-C on free ports, then delete everything.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Start a server; it goes on after this command, and keeps its data between starts.

    The first start downloads Neo4j, about 200 MB, into the user's cache folder.
    """
    home = None if ephemeral else home_of(name)
    server = LocalNeo4j(home, version=version, bolt_port=bolt_port, http_port=http_port, heap=heap, ephemeral=ephemeral)
    if not ephemeral:
        _print_status(server.start().status(), as_json)
        return
    with _terminated_by_interrupt():
        try:
            with server:
                _print_status(server.status(), as_json)
                sys.stderr.write("Running until Ctrl-C, then everything is deleted.\n")
                _wait_while_running(server)
        except KeyboardInterrupt:
            sys.stderr.write("Stopped, and deleted.\n")


@app.command()
def stop(name: Name = "default", as_json: AsJson = False) -> None:
    """Stop a server; its data is kept. Stopping one that does not run is no error."""
    stopped = LocalNeo4j(home_of(name)).stop()
    if as_json:
        _print_json({"name": name, "stopped": stopped})
    else:
        typer.echo(f"Stopped {name}; its data is kept." if stopped else f"{name} was not running.")


@app.command()
def status(name: Name = "default", as_json: AsJson = False) -> None:
    """Say whether a server runs, and where. Exit status: 0 running, 1 not running."""
    found = LocalNeo4j(home_of(name)).status()
    _print_status(found, as_json)
    if not found.running:
        raise typer.Exit(1)


@app.command()
def logs(
    name: Name = "default",
    lines: Annotated[int, typer.Option(min=0, help="How many of the last lines.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", help="Go on printing new lines until Ctrl-C.")] = False,
) -> None:
    """Print the last lines of a server's log."""
    server = LocalNeo4j(home_of(name))
    log = server.log_file
    if not log.exists():
        log = log.with_name("console.log")
    if not log.exists():
        raise LocalServerError(f"There is no log in {log.parent}. Start the server: brain neo4j start --name {name}")
    try:
        for line in _log_lines(log, lines, follow):
            typer.echo(line, nl=False)
    except KeyboardInterrupt:
        return


def next_command(found: ServerStatus) -> str:
    """The shell line that makes this server the store; it reads the password, so that no screen shows it."""
    password = f"$(cat {shlex.quote(str(found.password_file))})"
    return f'export BRAIN_STORE="{(found.uri or "").replace("://", f"://{found.user}:{password}@", 1)}"'


def _print_status(found: ServerStatus, as_json: bool) -> None:
    data = {key: str(value) if isinstance(value, Path) else value for key, value in asdict(found).items()}
    if as_json:
        _print_json(data | {"next": next_command(found) if found.running else None})
        return
    if not found.running:
        typer.echo(f"Not running. Home: {found.home}")
        return
    rows = {
        "Neo4j": f"{found.version}, pid {found.pid}",
        "URI": found.uri,
        "User": found.user,
        "Password": f"in {found.password_file}",
        "Browser": found.browser_url,
        "Next": next_command(found),
    }
    for label, value in rows.items():
        typer.echo(f"{label:<9} {value}")


def _print_json(data: dict[str, object]) -> None:
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))


@contextmanager
def _terminated_by_interrupt() -> Iterator[None]:
    """Make SIGTERM end the foreground as Ctrl-C does, so that nothing is left behind."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _wait_while_running(server: LocalNeo4j) -> None:
    while server.status().running:
        time.sleep(POLL_SECONDS)
    last = "".join(_log_lines(server.log_file, 1, follow=False)).strip()
    raise LocalServerError(
        f"The server ended by itself; its log ends with: {last}\n"
        "Start it again, with a larger --heap if it ran out of memory."
    )


def _log_lines(log: Path, lines: int, follow: bool) -> Iterator[str]:
    with log.open(encoding="utf-8", errors="replace") as file:
        found = file.readlines()
        yield from found[len(found) - min(lines, len(found)) :]
        while follow:
            line = file.readline()
            if line:
                yield line
            else:
                time.sleep(POLL_SECONDS)
