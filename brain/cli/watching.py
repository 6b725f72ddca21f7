"""What is in the memory right now? `brain watch`."""

from __future__ import annotations

import gc
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from brain.cli.opening import opened_store
from brain.cli.options import Location, Namespace
from brain.errors import InputError

if TYPE_CHECKING:
    from brain.watch.app import WatchApp


CLOSED_WITHIN = 2.0
"""Seconds for closing the store at the end."""


def watch(
    light: Annotated[bool, typer.Option("--light", metavar="", help="For a light terminal; t switches it.")] = False,
    store: Location = None,
    namespace: Namespace = "default",
) -> None:
    """Look at the skills as they change: a dashboard in the terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("The dashboard needs a terminal. `brain skills` prints the list, also into a file or a pipe.")
    try:
        from brain.watch.app import WatchApp
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "textual":
            raise
        raise InputError('The dashboard needs Textual, which is not installed: pip install "brain[watch]".') from error
    from brain.engine.sync import SyncBrain
    from brain.watch.reading import Progress

    # What is loaded by now stays, and so do the skills that are read first: else each look through them for garbage
    # takes as long as three keys.
    progress, opened = Progress(then=gc.freeze), ExitStack()
    try:
        place = opened.enter_context(opened_store(store, namespace))
        brain = opened.enter_context(SyncBrain(place, loading=progress))
        app = WatchApp(brain, place, light=light, progress=progress)
        gc.freeze()
        with _warnings_in(app):
            app.run()
    finally:
        _close(opened)
    if app.return_code:
        raise typer.Exit(app.return_code)


def _close(opened: ExitStack) -> None:
    """Frees connections, but waits no longer than a moment for a server that is silent."""
    closing = threading.Thread(target=opened.close, daemon=True)
    closing.start()
    closing.join(CLOSED_WITHIN)


class _ToApp(logging.Handler):
    """Hands warnings to the dashboard: on stderr they would tear the screen."""

    def __init__(self, app: WatchApp) -> None:
        super().__init__(logging.WARNING)
        self._app = app

    def emit(self, record: logging.LogRecord) -> None:
        self._app.post_message(self._app.Warned(record.getMessage()))


@contextmanager
def _warnings_in(app: WatchApp) -> Iterator[None]:
    log = logging.getLogger("brain")
    before, log.handlers = log.handlers, [_ToApp(app)]
    try:
        yield
    finally:
        log.handlers = before
