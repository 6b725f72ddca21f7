"""How does a model's client get at the memory? `brain mcp`: a server of the Model Context Protocol."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brain.cli.options import EmbedderName, Location, Namespace, Quiet
from brain.cli.output import Output
from brain.errors import InputError, ServingError

if TYPE_CHECKING:
    from brain.mcp.running import Transport

TOKEN_VARIABLE = "BRAIN_MCP_TOKEN"
"""Environment variable that holds the token which HTTP clients must send."""


def mcp(
    http: Annotated[
        str | None,
        typer.Option(
            "--http",
            metavar="HOST:PORT",
            help="Listen there by streamable HTTP, at /mcp. By default the server talks to the client that started it, "
            "over standard input and output.",
        ),
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help=f"Holds the token that HTTP clients must send; else {TOKEN_VARIABLE} in the environment. Needed to "
            "listen beyond the loopback interface.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="Another name that HTTP clients reach the server by, as behind a proxy. May be repeated.",
        ),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", metavar="", help="Offer no tool that writes: no learn, no feedback.")
    ] = False,
    no_redact: Annotated[
        bool,
        typer.Option(
            "--no-redact", metavar="", help="Store keys, tokens, passwords and e-mail addresses as they are given."
        ),
    ] = False,
    store: Location = None,
    namespace: Namespace = "default",
    embedder: EmbedderName = None,
    quiet: Quiet = False,
) -> None:
    """Serve the memory to models: tools, resources and a prompt of the Model Context Protocol.

    Clients start it themselves; examples/mcp has the lines that register it with the usual ones.
    """
    try:
        from brain.engine.sync import SyncBrain
        from brain.mcp.memory import Memory
        from brain.mcp.running import run
    except ImportError as error:
        raise ServingError(
            f"The MCP server needs the package {error.name}, which is not installed. "
            'Install the extra: pip install "brain[mcp]"'
        ) from error
    if store == "":
        raise InputError("The location is empty. Give one such as sqlite:///skills.db, or leave --store out.")
    output = Output(quiet=quiet)
    transport = _transport(http, token_file, allow_host or [], output)
    opening = partial(SyncBrain.open, store, namespace=namespace, embedder=embedder, redact=not no_redact)
    run(Memory(opening), transport, read_only=read_only, redacting=not no_redact)


def _transport(http: str | None, token_file: str | None, allow_host: list[str], output: Output) -> Transport:
    if http is None:
        if token_file or allow_host:
            raise InputError("--token-file and --allow-host go with --http. Say where to listen, or leave them out.")
        from brain.mcp.stdio import Stdio

        if sys.stdin is not None and sys.stdin.isatty():
            output.notice("Waiting for a client on standard input; examples/mcp shows how one starts it. Ctrl-C ends.")
        return Stdio()
    from brain.mcp.http import Http

    token = _token(token_file)
    transport = Http(http, token, allow_host)
    output.notice(f"Listening at {transport.url}. Ctrl-C ends.")
    if token:
        output.notice(f"Requests must name it {', '.join(transport.names)}; --allow-host adds a name.")
    return transport


def _token(file: str | None) -> str | None:
    """The token of a file, else of the environment; None if neither holds one."""
    if file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    try:
        return Path(file).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {error}. Give a file that holds the token.") from error
