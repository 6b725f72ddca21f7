"""How does a table of skills become plain arrays, and come back? `image_of` and `table_of`, for snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brain.analysis.columns import Column
from brain.analysis.corpus import Corpus
from brain.analysis.postings import Segment
from brain.engine.shapes import Shapes
from brain.engine.table import COLUMNS, SkillTable
from brain.engine.vectors import Vectors
from brain.model.policy import Policy

Arrays = dict[str, list[NDArray[Any]]]

_BETWEEN_IDS = "\0"


@dataclass(frozen=True)
class Image:
    """What a snapshot holds: of which stored namespace and version it is, small things as JSON, and arrays by name.

    An array may stand in parts, to be put end to end.
    """

    store_id: str
    version: int
    notes: dict[str, Any]
    arrays: Arrays


def image_of(table: SkillTable, store_id: str, version: int) -> Image:
    """The image of a table, which may change afterwards: what does is copied, what does not is shared."""
    corpus, vectors = table.corpus, table.vectors
    arrays: Arrays = {name: [column.values.copy()] for name, column in table.columns.items()}
    arrays["ids"] = [np.frombuffer(_BETWEEN_IDS.join(table.ids).encode(), np.uint8)]
    arrays |= {"weight": [corpus.weight.copy()], "steps": [corpus.have_steps.copy()]}
    for i, (segment, lengths) in enumerate(zip(corpus.segments, corpus.present_lengths(), strict=True)):
        for name in Segment.ARRAYS:
            arrays[f"{i}.{name}"] = [getattr(segment, name)]
        arrays[f"{i}.documents"] = [segment.documents.copy()]
        arrays[f"{i}.lengths"] = [lengths]
    if vectors is not None:
        matrix = vectors.parts()
        odd = any(part.nbytes % 8 for part in matrix)
        arrays["vectors"] = [np.concatenate(matrix)] if odd else matrix
        pivots = vectors.pivots if vectors.pivots is not None else np.zeros((0, vectors.width), np.float32)
        arrays |= {"has": [vectors.has.values.copy()], "pivots": [pivots]}
        arrays |= {"nearest": [vectors.nearest.values.copy()], "nearness": [vectors.nearness.values.copy()]}
    names, numbers = table.shapes.to_parts()
    arrays |= {name: [array] for name, array in numbers.items()}
    notes = {
        "types": list(table.types),
        "shapes": names,
        "firsts": [segment.first for segment in corpus.segments],
    }
    return Image(store_id, version, notes, arrays)


def table_of(image: Image, policy: Policy) -> SkillTable:
    """The table of an image. Raises `KeyError`, `ValueError` or `TypeError` for one that does not hold together."""
    arrays = {name: parts[0] for name, parts in image.arrays.items()}
    columns = {name: Column(kind, values=arrays[name].copy()) for name, kind in COLUMNS.items()}
    ids = arrays["ids"].tobytes().decode().split(_BETWEEN_IDS) if len(arrays["ids"]) else []
    if any(len(column) != len(ids) for column in columns.values()):
        raise ValueError("columns and ids differ in length")
    segments, lengths = [], []
    for i, first in enumerate(image.notes["firsts"]):
        parts = {name: arrays[f"{i}.{name}"] for name in Segment.ARRAYS}
        segments.append(Segment(first, **{**parts, "documents": parts["documents"].copy()}))
        lengths.append(arrays[f"{i}.lengths"])
    alive = columns["alive"].values.copy()
    corpus = Corpus.restored(segments, lengths, arrays["weight"].copy(), arrays["steps"].copy(), alive)
    shapes = Shapes.from_parts(image.notes["shapes"], arrays)
    vectors = None
    if "vectors" in arrays:
        has, nearest, nearness = (arrays[name].copy() for name in ("has", "nearest", "nearness"))
        vectors = Vectors.restored(arrays["vectors"], has, arrays["pivots"], nearest, nearness)
    table = SkillTable(policy, vectors.width if vectors is not None else None)
    table.restore(ids, list(image.notes["types"]), columns, corpus, shapes, vectors)
    return table
