"""Which columns does the table have at a width, and what stands in them?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from brain.engine.listing import SkillOrder
from brain.store.values import SkillRow
from brain.watch.cells import compact, fit, isolated
from brain.watch.lifetime import time_left, urgency

LEAST_NAME, LEAST_NAME_BESIDE_TAGS, LEAST_TAGS = 12, 18, 8
NAME_SHARE = 0.68
"""What the name gets of the columns that it shares with the tags."""


@dataclass(frozen=True)
class Column:
    """One column, behind `gap` blanks. `place` counts from 1, as the key that sorts by it."""

    order: SkillOrder
    title: str
    place: int
    width: int
    gap: int = 1
    right: bool = False


_NAME = Column(SkillOrder.NAME, "name", 1, 0, gap=0)
_CONFIDENCE = Column(SkillOrder.CONFIDENCE, "conf", 2, 5, gap=2, right=True)
_USES = Column(SkillOrder.USES, "uses", 3, 5, right=True)
_SUCCESS = Column(SkillOrder.SUCCESS, "succ", 4, 5, right=True)
_TRANSFERS = Column(SkillOrder.TRANSFERS, "transf", 5, 7, right=True)
_TAGS = Column(SkillOrder.TAGS, "tags", 6, 0, gap=2)
_LIFETIME = Column(SkillOrder.EXPIRY, "ttl", 7, 6, gap=2, right=True)
ALL = (_NAME, _CONFIDENCE, _USES, _SUCCESS, _TRANSFERS, _TAGS, _LIFETIME)

_GIVEN_UP = (_SUCCESS, _TRANSFERS, _USES, _CONFIDENCE)
"""What a narrow table does without, one after the other, once the tags are gone."""


def columns(width: int) -> list[Column]:
    """The columns that fit into `width`."""
    kept = [column for column in ALL if column is not _TAGS]
    for column in _GIVEN_UP:
        if _left(width, kept) >= LEAST_NAME:
            break
        kept.remove(column)
    left = _left(width, kept)
    name = int((left - _TAGS.gap) * NAME_SHARE)
    tags = left - _TAGS.gap - name
    if name < LEAST_NAME_BESIDE_TAGS or tags < LEAST_TAGS:
        return [replace(column, width=max(1, left)) if column is _NAME else column for column in kept]
    sizes = {_NAME: name, _TAGS: tags}
    return [replace(column, width=sizes.get(column, column.width)) for column in ALL]


def _left(width: int, kept: Sequence[Column]) -> int:
    """What columns leave for the name."""
    return width - sum(column.width + column.gap for column in kept)


def heading(column: Column, order: SkillOrder, descending: bool) -> str:
    """The title of a column, with an arrow if the table is sorted by it."""
    arrow = ("▼" if descending else "▲") if column.order is order else ""
    title = column.title[: column.width - len(arrow)]
    return fit(f"{arrow}{title}" if column.right else f"{title}{arrow}", column.width, right=column.right)


def cell(column: Column, row: SkillRow, now: datetime) -> tuple[str, str]:
    """The text of a cell, as wide as its column, and its role: what it is to look like."""
    text, role = _cell(column.order, row, now)
    return isolated(fit(text, column.width, right=column.right)), role


def _cell(order: SkillOrder, row: SkillRow, now: datetime) -> tuple[str, str]:
    match order:
        case SkillOrder.NAME:
            return row.name or row.id, "name"
        case SkillOrder.CONFIDENCE:
            return f"{row.confidence:.3f}", "number"
        case SkillOrder.USES:
            return compact(row.usage_count), "number"
        case SkillOrder.SUCCESS:
            return f"{row.success_rate:.0%}" if row.usage_count else "", "number"
        case SkillOrder.TRANSFERS:
            counts = f"{compact(row.transfer_successes)}/{compact(row.transfer_count)}"
            return (counts, "number") if row.transfer_count else ("", "number")
        case SkillOrder.TAGS:
            return ", ".join(row.tags), "quiet"
        case _:
            return time_left(row.expires_at, now), str(urgency(row.expires_at, now))
