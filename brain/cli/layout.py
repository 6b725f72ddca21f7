"""How is data laid out as text? Safe text, numbers and times, pairs, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from brain.model.shown import moment as moment  # handed on: how data is shown is one subject here
from brain.model.shown import one_line as one_line
from brain.model.shown import plain as plain
from brain.model.shown import score as score
from brain.model.shown import visible as visible

if TYPE_CHECKING:
    from brain.model.skill import Skill
    from brain.store.values import Waiting

WIDE = 120
"""Columns of the terminal from which name, domain and id of a skill stand beside each other."""


def expiry(skill: Skill) -> str:
    """When a skill expires, to the minute."""
    return f"{moment(skill.expires_at)} UTC" if skill.expires_at else "never"


def transfers(skill: Skill) -> str:
    """Successful transfers of all, as "3/4"."""
    return f"{skill.transfer_successes}/{skill.transfer_count}"


def pairs(rows: Iterable[tuple[str, Any]]) -> Table:
    """Labels and their values, one a line. Labels that leave no room for the values are wrapped."""
    grid, shown = Table.grid(padding=(0, 2)), list(rows)
    grid.add_column(style="dim", no_wrap=max((len(label) for label, _ in shown), default=0) < WIDE / 2, overflow="fold")
    grid.add_column(overflow="fold")
    for label, value in shown:
        grid.add_row(visible(label), value if isinstance(value, Text) else visible(str(value), lines=True))
    return grid


def table(*columns: str, gap: int = 2) -> Table:
    """An empty table with `gap` blanks between its columns.

    A name that starts with ">" makes a column of numbers, one that starts with "=" never wraps.
    """
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0))
    for name in columns:
        made.add_column(
            name.lstrip(">="),
            justify="right" if name.startswith(">") else "left",
            no_wrap=name.startswith((">", "=")),
            overflow="fold",
            header_style="dim",
        )
    return made


def skill_table(width: int, before: Sequence[str], after: Sequence[str]) -> Table:
    """A table of skills that fits `width`: the columns `before`, the skill, the columns `after`. See `skill_row`."""
    if width < WIDE:
        made = table(*before, "skill, domain, id", *after)
        made.columns[len(before)].ratio = 1
        made.expand = True
        return made
    made = table(*before, "skill", "domain", *after, "id")
    made.columns[len(before)].ratio, made.columns[len(before) + 1].ratio = 3, 2
    made.expand = True
    made.columns[-1].width = 36
    return made


def skill_row(width: int, skill: Skill, before: Sequence[str], after: Sequence[str]) -> list[Text | str]:
    """The cells of one skill for `skill_table`."""
    name, domain = Text(visible(skill.name), "bold"), visible(skill.domain)
    if width < WIDE:
        stacked = Text("\n").join([name, *([Text(domain)] if domain else []), Text(visible(skill.id), "dim")])
        return [*before, stacked, *after]
    return [*before, name, domain, *after, Text(visible(skill.id), "dim")]


def waiting_data(waiting: Waiting) -> dict[str, Any]:
    """What a mirror has not got yet, as data."""
    return {"waiting": waiting.count, "since": waiting.since.isoformat() if waiting.since else None}
