"""How alike is one shape to all the stored ones at once? `Shapes`: every distinct shape once, by number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from brain.analysis.measures import Scores
from brain.model.context import (
    INPUT_WEIGHT,
    OUTPUT_WEIGHT,
    PATTERNS_WEIGHT,
    STRUCTURES_WEIGHT,
    UNKNOWN,
    Shape,
)
from brain.model.policy import Policy

Numbers = NDArray[np.int64]


class _Names:
    """Which names each shape has, put end to end; names are numbered as they come."""

    def __init__(self, names: Sequence[str] = (), flat: Sequence[int] = (), sizes: Sequence[int] = ()) -> None:
        self.numbers = {name: number for number, name in enumerate(names)}
        self.flat, self.sizes = list(flat), list(sizes)
        self._arrays: tuple[Numbers, Numbers] | None = None

    def append(self, names: Sequence[str]) -> None:
        """Adds the names of one more shape."""
        self.flat += [self.numbers.setdefault(name, len(self.numbers)) for name in names]
        self.sizes.append(len(names))
        self._arrays = None

    def tuples(self) -> list[tuple[str, ...]]:
        """The names of each shape."""
        names, ends = list(self.numbers), np.cumsum([0, *self.sizes]).tolist()
        return [tuple(names[number] for number in self.flat[start:end]) for start, end in pairwise(ends)]

    def arrays(self) -> tuple[Numbers, Numbers]:
        """`flat` and `sizes`."""
        if self._arrays is None:
            self._arrays = np.array(self.flat, np.int64), np.array(self.sizes, np.int64)
        return self._arrays

    def compare(self, names: Sequence[str]) -> tuple[Scores, Scores]:
        """Jaccard similarity of `names` with those of each shape, 0..1, and how many both have."""
        flat, sizes = self.arrays()
        distinct, wanted = set(names), np.zeros(len(self.numbers), bool)
        wanted[[self.numbers[name] for name in distinct & self.numbers.keys()]] = True
        owners = np.repeat(np.arange(len(sizes)), sizes)
        shared = np.bincount(owners[wanted[flat]], minlength=len(sizes)).astype(np.float64)
        union = len(distinct) + sizes - shared
        return np.divide(shared, union, out=np.zeros(len(shared)), where=union > 0), shared


class Shapes:
    """Distinct shapes, numbered from 0 as they come. None is ever taken out. The names in a shape are distinct."""

    def __init__(self) -> None:
        self._structures, self._patterns = _Names(), _Names()
        self._kinds = [UNKNOWN]
        self._inputs: list[int] = []
        self._outputs: list[int] = []
        self._numbers: dict[Shape, int] | None = {}

    def __len__(self) -> int:
        return len(self._inputs)

    @property
    def all(self) -> list[Shape]:
        """Every shape, by number."""
        named = zip(self._structures.tuples(), self._patterns.tuples(), self._inputs, self._outputs, strict=True)
        return [Shape(s, p, self._kinds[i], self._kinds[o]) for s, p, i, o in named]

    def number(self, shape: Shape) -> int:
        """The number of a shape, a new one if it was not seen before."""
        if self._numbers is None:
            self._numbers = {known: number for number, known in enumerate(self.all)}
        number = self._numbers.get(shape)
        if number is None:
            number = self._numbers[shape] = len(self)
            self._structures.append(shape.task_structures)
            self._patterns.append(shape.cognitive_patterns)
            self._inputs.append(self._kind(shape.input_shape))
            self._outputs.append(self._kind(shape.output_shape))
        return number

    def similarities(self, wanted: Shape, policy: Policy) -> Scores:
        """Structural similarity, 0..1, of `wanted` with each shape under a policy; 0 where they share too little."""
        structures, shared_structures = self._structures.compare(wanted.task_structures)
        patterns, shared_patterns = self._patterns.compare(wanted.cognitive_patterns)
        scores = STRUCTURES_WEIGHT * structures + PATTERNS_WEIGHT * patterns
        for weight, kind, kinds in (
            (INPUT_WEIGHT, wanted.input_shape, self._inputs),
            (OUTPUT_WEIGHT, wanted.output_shape, self._outputs),
        ):
            if kind in self._kinds and (policy.unknown_is_evidence or kind != UNKNOWN):
                scores[np.array(kinds, np.int64) == self._kinds.index(kind)] += weight
        names = self._structures.arrays()[1] + self._patterns.arrays()[1]
        scores[shared_structures + shared_patterns < policy.least_shared] = 0.0
        scores[np.maximum(names, wanted.names) < policy.least_names] = 0.0
        return scores

    def to_parts(self) -> tuple[list[list[str]], dict[str, Numbers]]:
        """The names, and all else as arrays, for `from_parts`."""
        names = [list(self._structures.numbers), list(self._patterns.numbers), list(self._kinds)]
        lists = (*self._structures.arrays(), *self._patterns.arrays(), self._inputs, self._outputs)
        return names, {key: np.array(part, np.int64) for key, part in zip(_PARTS, lists, strict=True)}

    @classmethod
    def from_parts(cls, names: list[list[str]], arrays: dict[str, Numbers]) -> Shapes:
        """The shapes that had these parts."""
        shapes, lists = cls(), [arrays[key].tolist() for key in _PARTS]
        shapes._structures, shapes._patterns = _Names(names[0], *lists[:2]), _Names(names[1], *lists[2:4])
        shapes._kinds, shapes._inputs, shapes._outputs = names[2], lists[4], lists[5]
        shapes._numbers = None
        return shapes

    def _kind(self, name: str) -> int:
        if name not in self._kinds:
            self._kinds.append(name)
        return self._kinds.index(name)


_PARTS = ("structures", "structure_sizes", "patterns", "pattern_sizes", "inputs", "outputs")
