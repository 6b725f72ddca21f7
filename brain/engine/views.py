"""Do two views of the same stored namespace say the same of every skill? `differences`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brain.engine.index import RecallIndex
from brain.engine.table import Rows, SkillTable

MISSING, TOO_MUCH = "missing", "too much"
"""What differs where only one of two views has a skill: the second, or the first."""
_ROUNDING = 1e-9
_BLOCK = 4_096

Values = NDArray[Any]


def differences(one: RecallIndex, other: RecallIndex, now: datetime) -> list[tuple[str, str]]:
    """Ids of the skills that are not in both views alike, with what differs. What has expired is in neither."""
    with one.shown(now) as mine, other.shown(now) as theirs:
        return list(_of_tables(mine, theirs))


def _of_tables(one: SkillTable, other: SkillTable) -> Iterator[tuple[str, str]]:
    ids = set(one.live_ids()), set(other.live_ids())
    yield from ((skill_id, MISSING if skill_id in ids[1] else TOO_MUCH) for skill_id in sorted(ids[0] ^ ids[1]))
    both = sorted(ids[0] & ids[1])
    for start in range(0, len(both), _BLOCK):
        block = both[start : start + _BLOCK]
        mine, theirs = (_values(table, np.array([table.row(i) for i in block], np.int64)) for table in (one, other))
        for name, values in mine.items():
            differ = np.abs(values - theirs[name]) > _ROUNDING if name == "rarity" else values != theirs[name]
            yield from ((block[i], name) for i in np.flatnonzero(differ))


def _values(table: SkillTable, rows: Rows) -> dict[str, Values]:
    """What a view says of some rows. How rare its words are tells whether the documents are counted alike."""
    corpus = table.corpus
    vectors = table.vectors.of(rows) if table.vectors is not None else np.zeros((len(rows), 0), np.float32)
    return {
        **{name: table.column(name)[rows] for name in ("expires", "confidence", "transfers", "successes")},
        **{name: table.column(name)[rows] for name in ("context", "fingerprint")},
        "shape": np.array([hash(table.shapes.all[number]) for number in table.column("shape")[rows]], np.int64),
        "type": np.array([hash(table.types[number]) for number in table.column("type")[rows]], np.int64),
        "weight": corpus.weight[rows],
        "steps": corpus.have_steps[rows],
        "rarity": corpus.lengths(rows),
        "vector": np.array([hash(row.tobytes()) for row in vectors], np.int64),
    }
