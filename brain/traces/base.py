"""What is a trace format? `Format`: how to tell it by what stands in a file, and how to read it.

A new format is one module in `brain/traces/formats` with one subclass, and one sample in `examples/traces`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from brain.model.trace import Trace
from brain.traces.drafts import Origin

SURE, LIKELY, POSSIBLE, NO = 100, 80, 50, 0
"""How surely a value is of a format: by a mark that no other has, by its keys, or by its form alone."""


class Format(ABC):
    """One format. A file is a row of JSON values: its lines, the items of its list, or the one object that it is.

    Each value is either a trace as a `whole` (a file may hold many), or a `part` of one that is told value by value.
    """

    name: ClassVar[str]
    """What `--format` and `Trace.format` call it."""

    streams: ClassVar[bool] = False
    """Whether a large object may be read as a row of smaller ones, each with one item of one of its lists."""

    def whole(self, value: Any) -> int:
        """How surely a value is a whole trace, or several: 0 to 100."""
        return NO

    def part(self, value: Any) -> int:
        """How surely a value is a part of a trace: 0 to 100."""
        return NO

    def stages(self, values: list[Any]) -> bool:
        """Whether values, of which each could be a whole trace, are one trace as it grew."""
        return False

    @abstractmethod
    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        """The traces of one whole value, or of all parts in order. Raises `TraceError`."""
