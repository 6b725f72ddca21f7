"""How do arrays grow row by row? `Column`: one- or two-dimensional, capacity doubles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Column:
    """Rows of one kind, added at the end and changed in place."""

    def __init__(self, dtype: Any, width: int | None = None, values: NDArray[Any] | None = None) -> None:
        """An empty column, or one that takes over `values`."""
        self._data: NDArray[Any] = np.zeros((8,) if width is None else (8, width), dtype) if values is None else values
        self._size = 0 if values is None else len(values)

    def extend(self, values: Any) -> None:
        """Adds rows."""
        size = self._size + len(values)
        if size > len(self._data):
            grown = np.zeros((max(size, 2 * len(self._data)), *self._data.shape[1:]), self._data.dtype)
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
