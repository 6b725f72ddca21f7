"""Which JSON values stand in a file? `open_rows`: its lines, the items of its list, or the one object that it is.

A file of any size is read in bounded memory: small ones whole, JSON Lines line by line, a large list item by item, a
large object piece by piece.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

from brain.config import TraceLimits
from brain.errors import NotATraceError, TraceError
from brain.traces.encoding import check_start, decoded, text_start

WHOLE = 8 * 2**20
"""Bytes of a file that is parsed in one go; a larger one is read in pieces."""

LONGEST_STRING = 2**16
"""Characters that are kept of one text of a large object before anybody reads it."""

_BUFFER = 2**20  # bytes that the parser of large files gets at once: a long text is looked at anew with each
_KINDS: dict[type, str] = {bool: "true or false", int: "a number", float: "a number", str: "text"}
_TRIED_LINES = 5  # of a file whose first line is no JSON: is it one document, or lines of which one is broken?


class Layout(StrEnum):
    """How a file holds its values."""

    LINES = "lines"
    LIST = "list"
    OBJECT = "object"
    PIECES = "pieces"
    """A large object, as a row of small ones: each has one key, and of a list one item."""


@dataclass(frozen=True)
class Row:
    """One value of a file; `fault` says why it could not be read. `where` names the file, and the line or item."""

    where: str
    value: Any = None
    fault: str = ""


@dataclass(frozen=True)
class Rows:
    """What a file holds."""

    layout: Layout
    rows: Iterator[Row]


@contextmanager
def open_rows(source: str | Path | IO[bytes], name: str, limits: TraceLimits) -> Iterator[Rows]:
    """The rows of a file, by its path or open in binary mode. Raises `TraceError`, `NotATraceError`."""
    try:
        file = Path(source).open("rb") if isinstance(source, str | Path) else source  # noqa: SIM115  # closed below
    except (OSError, ValueError) as error:
        raise TraceError(name, f"cannot be read: {_reason(error)}. Check the path.") from error
    try:
        with _seekable(file) as seekable:
            yield _rows(seekable, name, limits)
    except OSError as error:
        raise TraceError(name, f"cannot be read: {_reason(error)}. Check the path.") from error
    finally:
        if isinstance(source, str | Path):
            file.close()


def _reason(error: OSError | ValueError) -> object:
    return error.strerror if isinstance(error, OSError) else error


@contextmanager
def _seekable(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """`file`, or where it is a pipe what comes out of it, kept in memory while it is small."""
    if file.seekable():
        yield file
        return
    with tempfile.SpooledTemporaryFile(max_size=WHOLE) as kept:
        while block := file.read(2**20):
            kept.write(block)
        kept.seek(0)
        yield kept


def _rows(file: IO[bytes], name: str, limits: TraceLimits) -> Rows:
    start = text_start(file)
    file.seek(start)
    head = file.read(2**16)
    first = check_start(head, name)
    file.seek(start)
    if first == ":" or head.lstrip().startswith((b"data:", b"event:")):  # the wire format of server-sent events
        return Rows(Layout.LINES, _lines(file, name, limits, events=True))
    data = file.read(WHOLE + 1)
    file.seek(start)
    if len(data) <= WHOLE:
        return _small(data, name, file, limits)
    if _is_lines(file, limits):
        return _as_lines(file, name, limits)
    file.seek(start)
    if first == "[":
        return Rows(Layout.LIST, _items(file, name))
    return Rows(Layout.PIECES, _pieces(file, name))


def _small(data: bytes, name: str, file: IO[bytes], limits: TraceLimits) -> Rows:
    try:
        text = decoded(data, name)
    except TraceError:
        if _is_lines(file, limits):  # one bad line takes no other with it
            return _as_lines(file, name, limits)
        raise
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        several = _several(text, name, file, limits)
        if several is not None:
            return several
        kind = TraceError if text.lstrip()[:1] in ("{", "[") else NotATraceError  # a text in quotes is prose, or code
        raise kind(name, f"is not JSON: {_said(error)}. {_advice(error, text)}") from error
    except RecursionError:
        raise TraceError(name, "is nested too deeply. Flatten it.") from None
    except ValueError as error:
        raise TraceError(name, f"is not usable JSON: {error}. Correct it there.") from error
    if isinstance(value, list):
        return Rows(Layout.LIST, (Row(f"{name}, item {i}", item) for i, item in enumerate(value)))
    if not isinstance(value, dict):
        raise NotATraceError(name, f"must hold a JSON object, not {_kind(value)}.")
    return Rows(Layout.OBJECT, iter([Row(name, value)]))


def _said(error: json.JSONDecodeError) -> str:
    """What is wrong where, once: some messages end in "starting at" already."""
    message = error.msg.removesuffix(" at").removesuffix(" starting")
    return f"{message} at line {error.lineno}, column {error.colno}"


def _advice(error: json.JSONDecodeError, text: str) -> str:
    if error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip()):
        return "It seems cut short. Take another copy of it."
    return "Correct it there."


def _kind(value: Any) -> str:
    return "null" if value is None else _KINDS[type(value)]


def _several(text: str, name: str, file: IO[bytes], limits: TraceLimits) -> Rows | None:
    """Lines, or documents that stand one behind the other over several lines each; None if it is neither."""
    if _is_lines(file, limits):
        return _as_lines(file, name, limits)
    many = _many(text)
    if len(many) < 2:
        return None
    return Rows(Layout.LINES, (Row(f"{name}, item {i}", item) for i, item in enumerate(many)))


def _many(text: str) -> list[Any]:
    """The documents of a text that holds several; empty if it holds something else."""
    decoder, found, at = json.JSONDecoder(), list[Any](), _past_space(text, 0)
    try:
        while at < len(text):
            value, end = decoder.raw_decode(text, at)
            found.append(value)
            at = _past_space(text, end)
    except (ValueError, RecursionError):
        return []
    return found


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _is_lines(file: IO[bytes], limits: TraceLimits) -> bool:
    """Whether a file is JSON Lines: there is more than one, and the first or half of the first few are whole values."""
    file.seek(text_start(file))
    tried = whole = 0
    while tried < _TRIED_LINES and (line := file.readline(WHOLE)):
        if len(line) == WHOLE and not line.endswith(b"\n"):
            return whole > 0 or _long_line_ends(file, limits)
        if line.strip():
            tried += 1
            whole += _is_value(line) * (_TRIED_LINES if tried == 1 else 1)
    return tried > 1 and 2 * whole >= tried


def _as_lines(file: IO[bytes], name: str, limits: TraceLimits) -> Rows:
    file.seek(text_start(file))
    return Rows(Layout.LINES, _lines(file, name, limits))


def _long_line_ends(file: IO[bytes], limits: TraceLimits) -> bool:
    """Whether a long line that was begun ends as a value does, and another value begins behind it."""
    last, left = b"", limits.record_bytes
    while left > 0 and (block := file.readline(2**20)):
        left -= len(block)
        if block.endswith(b"\n"):
            end, after = (last + block).rstrip()[-1:], file.readline(2**10).lstrip()[:1]
            return end in (b"}", b"]") and after in (b"{", b"[")
        last = block[-1:]
    return False


def _is_value(line: bytes) -> bool:
    try:
        return json.loads(line) not in ([], {}) and line.lstrip()[:1] in (b"{", b"[")
    except (ValueError, RecursionError):
        return False


def _lines(file: IO[bytes], name: str, limits: TraceLimits, events: bool = False) -> Iterator[Row]:
    number = 0
    while line := file.readline(limits.record_bytes + 1):
        number += 1
        where = f"{name}, line {number}"
        if len(line) > limits.record_bytes:
            while line and not line.endswith(b"\n"):
                line = file.readline(limits.record_bytes)
            yield Row(where, fault=f"is longer than {limits.record_bytes / 2**20:.0f} MB, so it is left out.")
            continue
        told = _of_event(line) if events else line.strip()
        if told:
            yield _line(told, where)


def _of_event(line: bytes) -> bytes:
    """The data of a server-sent event's line; nothing for its other fields and for the mark of the end."""
    told = line.strip()
    if told[:1] in (b"{", b"["):
        return told
    data = told.removeprefix(b"data:").strip() if told.startswith(b"data:") else b""
    return b"" if data == b"[DONE]" else data


def _line(line: bytes, where: str) -> Row:
    try:
        return Row(where, json.loads(line))
    except UnicodeDecodeError as error:
        return Row(where, fault=f"is not UTF-8 text (byte {error.start}). Convert it to UTF-8.")
    except json.JSONDecodeError as error:
        return Row(
            where,
            fault=f"is not JSON: {error.msg.removesuffix(' starting at')} at column {error.colno}. Correct it there.",
        )
    except RecursionError:
        return Row(where, fault="is nested too deeply. Flatten it.")
    except ValueError as error:
        return Row(where, fault=f"is not usable JSON: {error}. Correct it there.")


def _items(file: IO[bytes], name: str) -> Iterator[Row]:
    """The items of a large list, one at a time."""
    import ijson

    try:
        for i, item in enumerate(ijson.items(file, "item", use_float=True, buf_size=_BUFFER)):
            yield Row(f"{name}, item {i}", item)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        yield Row(name, fault=_large_fault(error))


def _pieces(file: IO[bytes], name: str) -> Iterator[Row]:
    """A large object: `{key: value}` for each of its members, and `{key: [item]}` for each item of a list."""
    import ijson

    events = ijson.basic_parse(file, use_float=True, buf_size=_BUFFER)
    try:
        next(events)  # the object begins
        while (found := next(events))[0] == "map_key":
            event, value = next(events)
            if event == "start_array":
                yield from (Row(name, {found[1]: [item]}) for item in _rest_of_list(events))
            else:
                yield Row(name, {found[1]: _value(event, value, events)})
        next(events, None)  # raises if anything follows
    except (ijson.JSONError, UnicodeDecodeError, StopIteration) as error:
        yield Row(name, fault=_large_fault(error))


def _rest_of_list(events: Iterator[tuple[str, Any]]) -> Iterator[Any]:
    while (found := next(events))[0] != "end_array":
        yield _value(*found, events)


def _value(event: str, value: Any, events: Iterator[tuple[str, Any]]) -> Any:
    """The value that begins with an event, its strings cut: what is kept of them is shorter by far."""
    from ijson.common import ObjectBuilder

    builder, depth = ObjectBuilder(), 0
    while True:
        builder.event(event, value[:LONGEST_STRING] if event == "string" else value)
        depth += event.startswith("start_") - event.startswith("end_")
        if not depth:
            return builder.value
        event, value = next(events)


def _large_fault(error: Exception) -> str:
    said = str(error).strip().splitlines()
    return f"is not JSON from some point on: {said[0] if said else type(error).__name__}. It may be cut short."


def named(source: str | Path | IO[bytes], name: str | None) -> str:
    """What to call a source in a message and in a trace; what is no Unicode in the name of a file as escapes."""
    if name is None:
        name = str(source) if isinstance(source, str | Path) else str(getattr(source, "name", "the file"))
    return name.encode("utf-8", "backslashreplace").decode()
