"""Where does a command print? Data on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from brain.cli.layout import one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class Output:
    """What one command prints: `data` as text or as JSON, notices and progress unless it is to be quiet."""

    def __init__(self, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json, self.quiet = as_json, quiet

    @cached_property
    def console(self) -> Console:
        """The console on stdout."""
        return new_console()

    @property
    def width(self) -> int:
        """Columns that fit in a line."""
        return self.console.width

    def data(self, value: Any, *text: RenderableType) -> None:
        """Prints `value` as JSON, or else `text`."""
        if self.as_json:
            sys.stdout.write(_encoded(value) + "\n")
        else:
            self.text(*text)

    def text(self, *text: RenderableType) -> None:
        """Prints text for people."""
        for part in text:
            self.console.print(part)

    def stream(self, values: Iterable[Any]) -> None:
        """Prints `values` as one JSON list, without holding them all; the list is closed even if they fail."""
        separator = "[\n"
        try:
            for value in values:
                sys.stdout.write(separator + _encoded(value))
                separator = ",\n"
        finally:
            sys.stdout.write("[]\n" if separator == "[\n" else "\n]\n")

    def notice(self, text: str) -> None:
        """Tells something beside the data, unless it is to be quiet."""
        if not self.quiet:
            complain(text)

    @contextmanager
    def progress(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """A progress bar where stderr is a terminal; gives the function that moves it."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        console = new_console(stderr=True)
        columns = [TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()]
        if total is not None:
            columns.insert(2, MofNCompleteColumn())
        with Progress(*columns, console=console, disable=self.quiet or not console.is_terminal) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done: bar.advance(task, done)

    def loading(self, done: int, total: int) -> None:
        """Shows on a terminal how far the recall index has been read; the line is wiped in the end."""
        if self.quiet or not sys.stderr.isatty():
            return
        line = f"Reading the skills {done:,} of {total:,}" if done < total else ""
        sys.stderr.write(f"\r\x1b[2K{line}")
        sys.stderr.flush()


def complain(text: str, kind: str = "") -> None:
    """Prints one line on stderr, after its `kind` ("warning", "error")."""
    from rich.text import Text

    line = Text(f"{kind}: ", {"error": "bold red", "warning": "yellow"}[kind]) if kind else Text()
    new_console(stderr=True).print(line.append(one_line(text), "none"), soft_wrap=True)


def new_console(stderr: bool = False) -> Console:
    """A console that takes text as it is, and lets a broken pipe be seen by its caller."""
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            raise  # Rich calls this while it handles the BrokenPipeError

    return PlainConsole(stderr=stderr, markup=False, emoji=False, highlight=False)


def _encoded(value: Any) -> str:
    """JSON text that the encoding of stdout can hold."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, indent=2)
    return text
