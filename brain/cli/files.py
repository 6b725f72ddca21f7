"""What stands in the files that a command is given? Text and JSON, from a file or from stdin ("-")."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from brain.errors import InputError

STDIN = "-"


def read_text(source: str) -> str:
    """The text of a file or of stdin. Raises `InputError`."""
    try:
        data = sys.stdin.buffer.read() if source == STDIN else Path(source).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name_of(source)} is not UTF-8 text (byte {error.start}). Convert it to UTF-8.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{name_of(source)} cannot be read: {reason}. Check the path.") from error


def read_json(source: str) -> Any:
    """The JSON value in a file or on stdin. Raises `InputError`."""
    return parse_json(read_text(source), name_of(source))


def parse_json(text: str, what: str) -> Any:
    """The JSON value in `text`; `what` names it in the error. Raises `InputError`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{what} is not JSON: {error.msg} at {place}. Correct it there.") from error
    except ValueError as error:
        raise InputError(f"{what} is not usable JSON: {error}. Correct it there.") from error
    except RecursionError:
        raise InputError(f"{what} is nested too deeply. Flatten it.") from None


def read_object(source: str) -> dict[str, Any]:
    """The JSON object in a file or on stdin. Raises `InputError`."""
    return as_object(read_json(source), name_of(source))


def as_object(value: Any, what: str) -> dict[str, Any]:
    """`value` if it is an object; `what` names it in the error. Raises `InputError`."""
    if not isinstance(value, dict):
        raise InputError(f"{what} must hold a JSON object, not {_kind(value)}.")
    return value


def name_of(source: str) -> str:
    """What to call a source in a message."""
    return "standard input" if source == STDIN else source.encode("utf-8", "backslashreplace").decode()


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return kinds[type(value)]
