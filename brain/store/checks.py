"""What may be wrong with a stored namespace, and what mends it? Checks that stand in statement files, run in turn.

A statement `check_x` gives a row for each thing that is wrong: its id, and what of it. Its sentence says what that
means, and that of `mend_x`, if there is one, what the repair does. One with a parameter `ids` looks at a page of
skills, expired ones included; the others at the whole namespace, those that are repaired again as long as they find
more.

A first look holds up nobody, and may take what others are writing for a fault; so what it finds is looked at again, and
repaired, while nobody else writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from brain.store.base import PAGE
from brain.store.statements import Statement

FOUND_AT_ONCE = 1_000
"""Things that one check of a whole namespace names at most; repaired, it goes on behind them."""
REWRITES = "Writes the skill anew from what can be read of it, with its profile to be made anew."
NO_REPAIR = "Nothing can mend it."
BEFORE_ALL = datetime(1, 1, 1, tzinfo=UTC)
"""A time at which nothing has expired."""

Rows = Sequence[tuple[str, str]]
"""Ids, and what is wrong with each."""
Progress = Callable[[int], Any]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: which `check` found it, at what (`subject`, an id or a name), and what exactly.

    `says` is the sentence of the check, `repair` what a repair does or what else helps. A note is no fault: nothing has
    to be done about it.
    """

    check: str
    subject: str
    detail: str
    says: str
    repair: str
    mended: bool = False
    note: bool = False


@dataclass(frozen=True)
class Check:
    """What a check says of what it finds, and what its repair does. A `whole` one looks at all of a namespace."""

    name: str
    says: str
    repair: str
    look: Callable[[Any, Sequence[str]], Rows]
    mend: Callable[[Any, Sequence[str]], Any] | None = None
    whole: bool = False


class Inspection(Protocol):
    """A namespace inside one transaction."""

    def rewrite(self, ids: Sequence[str]) -> None:
        """Writes these skills anew, but for those that have expired or cannot be read."""

    def unreadable(self, ids: Sequence[str]) -> Collection[str]:
        """Those of some skills that are stored, expired or not, and cannot be read."""


class StatementInspection(Inspection, Protocol):
    """One whose checks stand in statements too."""

    def rows(self, name: str, ids: Sequence[str]) -> Rows:
        """What a statement gives."""


class Ward(Protocol):
    """How a store lets itself be looked at."""

    statements: Mapping[str, Statement]
    more: Sequence[Check]
    rewritten: frozenset[str]

    def pages(self, size: int) -> Iterator[list[str]]:
        """Ids of all stored skills, expired ones included."""

    def look(self, work: Callable[[Any], Rows]) -> Rows:
        """Runs `work` on an `Inspection` that reads."""

    def settle(self, work: Callable[[Any], Rows], repair: bool) -> Rows:
        """Runs `work` on an `Inspection` that shows no other's half-done write, and with `repair` may write."""

    def outside(self, repair: bool) -> Iterator[Fault]:
        """What is wrong with the database rather than with the namespace."""


def examine(ward: Ward, *, repair: bool, progress: Progress) -> Iterator[Fault]:
    """Everything that is wrong with the namespace, a page of skills at a time."""
    checks = [*map(_from_statement(ward), _named(ward.statements)), *ward.more]
    for ids in ward.pages(PAGE):
        for check in checks:
            if not check.whole:
                yield from _found(ward, check, ids, repair)
        progress(len(ids))
    for check in checks:
        if check.whole:
            yield from _found_in_all(ward, check, repair)


def _unreadable(inspection: Inspection, ids: Sequence[str]) -> Rows:
    return [(skill_id, "") for skill_id in inspection.unreadable(ids)]


UNREADABLE = Check("unreadable", "A skill cannot be read; the warning says why.", NO_REPAIR, _unreadable)
"""For `Ward.more`."""


def _named(statements: Mapping[str, Statement]) -> list[Statement]:
    return [statement for name, statement in statements.items() if name.startswith("check_")]


def _from_statement(ward: Ward) -> Callable[[Statement], Check]:
    def made(statement: Statement) -> Check:
        name = statement.name.removeprefix("check_")
        mending = ward.statements.get(f"mend_{name}")

        def look(inspection: StatementInspection, ids: Sequence[str]) -> Rows:
            return inspection.rows(statement.name, ids)

        def mend(inspection: StatementInspection, ids: Sequence[str]) -> None:
            if mending:
                inspection.rows(mending.name, ids)
            else:
                inspection.rewrite(ids)

        rewritten = name in ward.rewritten
        repair = mending.doc if mending else REWRITES if rewritten else NO_REPAIR
        whole = "ids" not in statement.parameters
        return Check(name, statement.doc, repair, look, mend if mending or rewritten else None, whole)

    return made


def _found(ward: Ward, check: Check, ids: Sequence[str], repair: bool) -> list[Fault]:
    """What one check finds, settled."""
    seen = ward.look(lambda inspection: check.look(inspection, ids))
    if not seen:
        return []
    left: set[str] = set()

    def settled(inspection: Inspection) -> Rows:
        left.clear()
        subjects = [subject for subject, _ in seen] if ids else ids
        rows = check.look(inspection, list(dict.fromkeys(subjects)))
        if rows and repair and check.mend:
            check.mend(inspection, list(dict.fromkeys(subject for subject, _ in rows)))
            left.update(subject for subject, _ in check.look(inspection, subjects))
        else:
            left.update(subject for subject, _ in rows)
        return rows

    rows = ward.settle(settled, repair)
    return [Fault(check.name, s, d, check.says, check.repair, mended=s not in left) for s, d in rows]


def _found_in_all(ward: Ward, check: Check, repair: bool) -> Iterator[Fault]:
    while True:
        found = _found(ward, check, (), repair)
        yield from found
        if len(found) < FOUND_AT_ONCE or not all(fault.mended for fault in found):
            return
