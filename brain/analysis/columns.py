"""How do arrays grow row by row? `Column`: with a quarter to spare. `Blocks`: wide rows, which are never moved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Column:
    """Rows of one kind, added at the end and changed in place."""

    def __init__(self, dtype: Any, values: NDArray[Any] | None = None) -> None:
        """An empty column, or one that takes over `values`."""
        self._data: NDArray[Any] = np.zeros(8, dtype) if values is None else values
        self._size = 0 if values is None else len(values)

    def extend(self, values: Any) -> None:
        """Adds rows."""
        size = self._size + len(values)
        if size > len(self._data):
            grown = np.zeros(max(size, len(self._data) * 5 // 4), self._data.dtype)
            grown[: self._size] = self.values
            self._data = grown
        self._data[self._size : size] = values
        self._size = size

    @property
    def values(self) -> NDArray[Any]:
        """A view of the rows added so far."""
        return self._data[: self._size]

    def __len__(self) -> int:
        return self._size


class Blocks:
    """Rows of shape (width,), added at the end: `first` ones that may lie in a mapped file, and blocks behind them.

    To double a matrix of 10 000 rows of 384 numbers took 180 ms beside an import, and a recall waited for it.
    """

    LEAST = 2_048
    """Rows that a block has room for, if not more of them come at once."""

    def __init__(self, first: NDArray[Any]) -> None:
        self._blocks, self._free = [first], 0

    def extend(self, rows: NDArray[Any]) -> None:
        """Adds rows."""
        if self._free:
            last, fitting = self._blocks[-1], rows[: self._free]
            begin = len(last) - self._free
            last[begin : begin + len(fitting)] = fitting
            self._free -= len(fitting)
            rows = rows[len(fitting) :]
        if len(rows):
            block = np.empty((max(self.LEAST, len(rows)), rows.shape[1]), rows.dtype)
            block[: len(rows)] = rows
            self._blocks.append(block)
            self._free = len(block) - len(rows)

    def parts(self) -> list[NDArray[Any]]:
        """Views of all rows so far, in order."""
        *full, last = self._blocks
        return [*full, last[: len(last) - self._free]]

    def of(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Some rows, shape (rows, width)."""
        parts = self.parts()
        found, first = np.empty((len(rows), parts[0].shape[1]), parts[0].dtype), 0
        for part in parts:
            here = (rows >= first) & (rows < first + len(part))
            if here.all():
                return np.asarray(part[rows - first])
            found[here] = part[rows[here] - first]
            first += len(part)
        return found
