"""How does a command end? Errors as one line on stderr, and the exit status that says what kind it was."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from typer.core import TyperGroup

from brain.cli.output import complain
from brain.errors import BrainError, ConflictError, InputError, LocationError, SkillNotFoundError

NO, WRONG_INPUT, FAILED, INTERRUPTED, READER_GONE = 1, 2, 3, 130, 141
"""Exit statuses; `brain.cli` says what they mean."""


def exit_status(error: BrainError) -> int:
    """The exit status that tells `error`."""
    if isinstance(error, SkillNotFoundError):
        return NO
    if isinstance(error, InputError | LocationError | ConflictError):
        return WRONG_INPUT
    return FAILED


class BrainGroup(TyperGroup):
    """The command `brain`: runs a command and turns what it raises into a line and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that was asked for."""
        try:
            with _warnings_on_stderr(), _flushed_stdout():
                return super().invoke(ctx)
        except BrainError as error:
            complain(str(error), "error")
            raise typer.Exit(exit_status(error)) from error
        except KeyboardInterrupt as error:
            complain("Interrupted.")
            raise typer.Exit(INTERRUPTED) from error
        except BrokenPipeError as error:
            _discard_stdout()
            raise typer.Exit(READER_GONE) from error
        except OSError as error:
            complain(f"{error}. Check free space, and that files and folders may be written.", "error")
            _discard_stdout()
            raise typer.Exit(FAILED) from error


class _OneLine(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        complain(record.getMessage(), "error" if record.levelno >= logging.ERROR else "warning")


@contextmanager
def _warnings_on_stderr() -> Iterator[None]:
    log, handler = logging.getLogger("brain"), _OneLine(logging.WARNING)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


@contextmanager
def _flushed_stdout() -> Iterator[None]:
    """Writes out what is buffered while a closed pipe can still be told apart."""
    if sys.stdout is None:
        raise OSError("standard output is closed")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a character shows its number
    try:
        yield
    finally:
        sys.stdout.flush()


def _discard_stdout() -> None:
    """Lets what is still buffered go nowhere, so that the end of the process does not complain."""
    with suppress(AttributeError, OSError, ValueError):  # there may be no stdout, or none with a file behind it
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
