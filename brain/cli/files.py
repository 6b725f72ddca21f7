"""What stands in the files that a command is given? Text and JSON, from a file or from stdin ("-")."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brain.errors import InputError

STDIN = "-"

_OPTIONAL = ("skill_name", "trace_id", "skill_id", "derived_from")
_EXAMPLE = 'Give {"execution_trace": {"steps": [...]}, "context": {"task": ...}, "outcome": {"success": true}}.'


@dataclass(frozen=True)
class Execution:
    """One execution to learn from. `where` names file and place; `arguments` are those of `observe`."""

    where: str
    arguments: dict[str, Any]
    ignored: tuple[str, ...]


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
        raise InputError(f"{what} is not usable JSON: {error}.") from error
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


def read_executions(source: str) -> tuple[list[Execution], bool]:
    """The executions in a file, and whether they were in a list. Raises `InputError` for one that lacks a key."""
    value = read_json(source)
    if isinstance(value, list):
        return [_execution(item, f"{name_of(source)}, item {i}") for i, item in enumerate(value)], True
    return [_execution(value, name_of(source))], False


def name_of(source: str) -> str:
    """What to call a source in a message."""
    return "standard input" if source == STDIN else source


def _execution(value: Any, where: str) -> Execution:
    given = dict(as_object(value, where))
    if "trace" in given and "execution_trace" in given:
        raise InputError(f"{where} has both 'trace' and 'execution_trace'. Leave one out.")
    if "trace" in given:
        given["execution_trace"] = given.pop("trace")
    missing = [key for key in ("execution_trace", "context", "outcome") if key not in given]
    if missing:
        raise InputError(f"{where} has no {' and no '.join(map(repr, missing))}. {_EXAMPLE}")
    arguments = {key: given.pop(key) for key in ("execution_trace", "context", "outcome")}
    for key in _OPTIONAL:
        optional = given.pop(key, None)
        if optional is not None:
            arguments[key] = optional
    return Execution(where, arguments, tuple(given))


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return kinds[type(value)]
