"""Which traces are in a file? `read` tells the format by what stands in it, and gives one `Trace` after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from brain.config import TraceLimits
from brain.errors import BrainError, InputError, NotATraceError, TraceError
from brain.model.trace import Trace
from brain.traces.base import SURE, Format
from brain.traces.drafts import Origin
from brain.traces.formats import known_formats
from brain.traces.records import Layout, Row, Rows, named, open_rows

OnFault = Callable[[TraceError], Any]

_LOOKED_AT = 20
"""Values of a file that its format is told by."""

_HOLDERS = (
    "traces trajectories runs simulations conversations sessions results items data records examples rows".split()
)
_TOO_DEEP = "is nested too deeply. Flatten it."
_DEEPEST = 3  # lists in lists, and objects that hold the list of traces


def format_names() -> list[str]:
    """What `format` may be."""
    return sorted(known_formats())


def read(
    source: str | Path | IO[bytes],
    format: str | None = None,
    *,
    name: str | None = None,
    limits: TraceLimits | None = None,
    on_fault: OnFault | None = None,
) -> Iterator[Trace]:
    """The traces in a file, one after the other.

    `source` is a path, or a file open in binary mode, called `name` in messages. `format` is one of `format_names`; by
    default it is told by what stands in the file, never by its name. A file may hold one trace or many: JSON, JSON
    Lines, a list, an object.

    `on_fault` is called for each part that cannot be read (a broken line, an item of no known format), and the rest is
    read; without it the first one is raised. Raises `NotATraceError` if nothing in it is a trace, `TraceError` if it
    cannot be read, `InputError` for an unknown format.
    """
    caps, called = limits or TraceLimits(), named(source, name)
    only = _format_named(format) if format is not None else None
    try:
        with open_rows(source, called, caps) as rows:
            yield from _Reading(called, caps, only, on_fault or _raise).traces(rows)
    except RecursionError:
        raise TraceError(called, _TOO_DEEP) from None


def read_one(source: str | Path | IO[bytes], format: str | None = None, *, name: str | None = None) -> Trace:
    """The only trace in a file. Raises `TraceError` if there is another number of them; else as `read`."""
    found = list(islice(read(source, format, name=name), 2))
    if len(found) != 1:
        raise TraceError(named(source, name), f"holds {'more than one trace' if found else 'no trace'}. Use read().")
    return found[0]


def _format_named(name: str) -> Format:
    known = known_formats()
    if name not in known:
        raise InputError(f"{name!r} is not a trace format. Use one of: {', '.join(sorted(known))}.")
    return known[name]


def _raise(error: TraceError) -> None:
    raise error


@dataclass(frozen=True)
class _Guess:
    """What values are taken for, and how surely."""

    format: Format | None = None
    score: float = 0


class _Reading:
    """One file that is being read."""

    def __init__(self, name: str, limits: TraceLimits, only: Format | None, on_fault: OnFault) -> None:
        self._name, self._limits, self._on_fault = name, limits, on_fault
        self._formats = [only] if only else list(known_formats().values())

    def traces(self, rows: Rows) -> Iterator[Trace]:
        """All traces of the file."""
        if rows.layout == Layout.PIECES:
            yield from self._of_pieces(rows.rows)
        else:
            yield from self._of_rows(rows.rows, self._name, alone=rows.layout == Layout.OBJECT)

    def _of_rows(self, rows: Iterator[Row], where: str, *, alone: bool = False, depth: int = 0) -> Iterator[Trace]:
        head, early = list[Row](), list[Row]()
        for row in rows:
            (early if row.fault else head).append(row)
            if len(head) == _LOOKED_AT:
                break
        if not head and not early:
            raise NotATraceError(where, "holds an empty list, so no trace. Name a file of traces.")
        values = [row.value for row in head]
        whole = self._whole(values[0]) if values else _Guess()
        part = _Guess() if alone else self._part(values)
        told = whole.format or part.format or early or not values
        if not told and not any(self._is_known(value, depth) for value in values):
            raise self._unknown(where)
        every = chain(sorted([*head, *early], key=lambda row: _number(row.where)), rows)
        stages = next((format for format in self._formats if format.stages(values)), None)
        if stages is not None:
            yield from self._joined(stages, every, where)
        elif part.score > whole.score and part.format is not None:
            yield from self._joined(part.format, every, where)
        else:
            yield from self._each(every, depth)

    def _whole(self, value: Any) -> _Guess:
        """The format of which a value is a whole trace."""
        best = _Guess()
        for format in self._formats:
            score = format.whole(value)
            if score > best.score:
                best = _Guess(format, score)
            if score == SURE:  # no other can be surer
                break
        return best

    def _part(self, values: list[Any]) -> _Guess:
        """The format of which `values` are parts: by the surest of them, if most are or the first is."""
        scores = []
        for format in self._formats:
            told = [format.part(value) for value in values]
            if told and (told[0] or 2 * sum(map(bool, told)) >= len(told)):
                scores.append((max(told) + sum(map(bool, told)) / len(told), format))
        return _best(scores)

    def _joined(self, format: Format, rows: Iterator[Row], where: str) -> Iterator[Trace]:
        """The traces that the rows are parts of."""
        yield from self._read(format, self._readable(rows), where)

    def _read(self, format: Format, values: Iterator[Any], where: str) -> Iterator[Trace]:
        """The traces that a format finds. What stands in a file of no known version must not end more than the file."""
        try:
            yield from format.read(values, Origin(where, format.name, self._limits))
        except (BrainError, RecursionError, OSError):
            raise
        except Exception as error:
            fault = (
                f"cannot be read as {format.name} ({type(error).__name__}: {error}). Name its format, or correct it."
            )
            raise TraceError(where, fault) from error

    def _readable(self, rows: Iterator[Row]) -> Iterator[Any]:
        for row in rows:
            if row.fault:
                self._on_fault(TraceError(row.where, row.fault))
            else:
                yield row.value

    def _each(self, rows: Iterator[Row], depth: int) -> Iterator[Trace]:
        """The traces of rows that are wholes, each of its own format."""
        alone: TraceError | None = None
        for row in rows:
            try:
                if row.fault:
                    raise TraceError(row.where, row.fault)
                yield from self._of_value(row.value, row.where, depth)
            except (TraceError, RecursionError) as raised:
                error = raised if isinstance(raised, TraceError) else TraceError(row.where, _TOO_DEEP)
                if row.where == self._name:
                    alone = error
                    break
                self._on_fault(error)
        if alone is not None:
            raise alone

    def _of_value(self, value: Any, where: str, depth: int) -> Iterator[Trace]:
        guess = self._whole(value)
        if guess.format is not None:
            yield from self._read(guess.format, iter([value]), where)
            return
        inner = self._inside(value, depth)
        if inner is not None:
            rows = (Row(f"{where}, item {i}", item) for i, item in enumerate(inner))
            yield from self._of_rows(rows, where, depth=depth + 1)
            return
        part = self._part([value])
        if part.format is None:
            raise self._unknown(where)
        yield from self._read(part.format, iter([value]), where)

    def _inside(self, value: Any, depth: int) -> list[Any] | None:
        """The list that a value is, or that an object holds traces in."""
        if depth >= _DEEPEST:
            return None
        if isinstance(value, list):
            return value or None
        if not isinstance(value, dict):
            return None
        lists = [item for key in _HOLDERS if isinstance(item := value.get(key), list) and item]
        return next((found for found in lists if self._is_known(found[0], depth + 1)), None)

    def _is_known(self, value: Any, depth: int) -> bool:
        if self._whole(value).format or self._part([value]).format:
            return True
        return self._inside(value, depth) is not None

    def _of_pieces(self, rows: Iterator[Row]) -> Iterator[Trace]:
        """The traces of a large object that comes in pieces."""
        head = list(islice(rows, 200))
        whole = _merged(head)
        guess, holder = self._whole(whole), self._holder(whole)
        every = chain(head, rows)
        if guess.format is not None and guess.format.streams:
            yield from self._read(guess.format, self._whole_file(every), self._name)
        elif guess.format is None and holder:
            items = (item for row in self._whole_file(every) for item in row.get(holder, ()))
            numbered = (Row(f"{self._name}, item {i}", item) for i, item in enumerate(items))
            yield from self._of_rows(numbered, self._name, depth=1)
        elif guess.format is not None:
            value = _merged([Row(self._name, value) for value in self._whole_file(every)])
            yield from self._of_value(value, self._name, 0)
        else:
            raise self._unknown(self._name)

    def _holder(self, value: Mapping[str, Any]) -> str:
        """The key of the list that an object holds traces in."""
        known = (key for key in _HOLDERS if isinstance(value.get(key), list) and value[key])
        return next((key for key in known if self._is_known(value[key][0], 1)), "")

    def _whole_file(self, rows: Iterator[Row]) -> Iterator[Any]:
        for row in rows:
            if row.fault:
                raise TraceError(row.where, row.fault)
            yield row.value

    def _unknown(self, where: str) -> NotATraceError:
        if len(self._formats) == 1:
            return NotATraceError(
                where, f"is not of the format {self._formats[0].name}. Name another format, or none to have it told."
            )
        known = ", ".join(format.name for format in self._formats)
        return NotATraceError(where, f"is of no known trace format. Known are: {known}.")


def _best(scores: Sequence[tuple[float, Format]]) -> _Guess:
    score, format = max(scores, key=lambda found: found[0], default=(0, None))
    return _Guess(format, score) if score > 0 else _Guess()


def _merged(rows: list[Row]) -> dict[str, Any]:
    """The object of which rows are pieces."""
    whole: dict[str, Any] = defaultdict(list)
    for row in rows:
        for key, item in (row.value or {}).items():
            if isinstance(item, list) and isinstance(whole[key], list):
                whole[key].extend(item)
            else:
                whole[key] = item
    return dict(whole)


def _number(where: str) -> int:
    """The number of the line or item that a row stands in."""
    told = where.rpartition(" ")[2]
    return int(told) if told.isdigit() else 0
