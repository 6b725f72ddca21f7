"""What came of many traces? `Report` counts it, says why others were left out, and names what was refused."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from brain.cli.intake import Lesson, in_words
from brain.cli.layout import table, visible
from brain.cli.output import Output, complain
from brain.errors import BrainError, StoreError

if TYPE_CHECKING:
    from brain.engine.sync import SyncBrain
    from brain.model.receipts import LearnReceipt

AT_ONCE = 200
"""Traces that are learned in one transaction: a tenth less time than by 100, and still a second that others wait."""

NAMED = 20
"""Refused ones that are named on stderr."""

_OUTCOMES = {
    "created": ("learned", "new skills"),
    "reinforced": ("reinforced", "skills that do the same"),
    "failure_recorded": ("failures", "recorded on skills that do the same"),
    "ignored": ("failures", "that match no stored skill, and teach nothing"),
    "already_seen": ("seen before", "and changed nothing"),
}


class Report:
    """Counts of what was learned, skipped and refused."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._outcomes: Counter[str] = Counter()
        self._skipped: dict[str, list[str]] = {}
        self._skips: Counter[str] = Counter()
        self._redacted: Counter[str] = Counter()
        self._unread: dict[str, None] = {}
        self.refused = 0

    @property
    def done(self) -> int:
        """Traces that were learned from, or seen before."""
        return sum(self._outcomes.values())

    def learned(self, lesson: Lesson, receipt: LearnReceipt) -> None:
        """One trace was learned from."""
        self._outcomes[receipt.outcome.value] += 1
        self._redacted.update(lesson.redacted)
        self._unread.update(dict.fromkeys(lesson.unread))

    def skipped(self, lesson: Lesson) -> None:
        """One teaches nothing."""
        self._skips[lesson.skipped] += 1
        self._skipped.setdefault(lesson.skipped, [lesson.where])

    def refuse(self, where: str, reason: str) -> None:
        """Something is wrong with one."""
        self.refused += 1
        if self.refused <= NAMED:
            complain(f"{where}: {reason}" if not reason.startswith(where) else reason, "error")

    def table(self) -> Table:
        """The counts, for people."""
        made = table("=what", ">count", "")
        made.show_header = False
        for outcome, (label, said) in _OUTCOMES.items():
            if self._outcomes[outcome]:
                made.add_row(Text(label, "bold"), f"{self._outcomes[outcome]:,}", said)
        for reason, count in self._skips.most_common():
            first = visible(self._skipped[reason][0])
            example = f"{first}: {visible(reason)}" if count == 1 else f"{visible(reason)} (the first is {first})"
            made.add_row(Text("skipped", "bold"), f"{count:,}", example)
        if self.refused:
            made.add_row(Text("refused", "bold red"), f"{self.refused:,}", "named on standard error")
        if self._redacted:
            made.add_row(Text("replaced", "bold"), f"{self._redacted.total():,}", in_words(self._redacted))
        if not made.row_count:
            made.add_row(Text("learned", "bold"), "0", "there was nothing to read")
        return made

    def tell_the_rest(self) -> None:
        """Says on stderr what the data has no place for."""
        if self.refused > NAMED:
            complain(f"{self.refused - NAMED:,} more were refused.", "error")
        if self._unread:
            self._output.notice(f"Keys that are not read: {', '.join(self._unread)}.")
        if self._redacted and self._output.as_json:
            self._output.notice(f"Replaced before it was stored: {in_words(self._redacted)}.")


@dataclass(frozen=True)
class Result:
    """What came of one trace: its receipt, or why there is none."""

    lesson: Lesson
    receipt: LearnReceipt | None = None
    refusal: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        if self.receipt is not None:
            return {"source": self.lesson.where, **self.receipt.to_dict(), "redacted": self.lesson.redacted}
        return row_of(self.lesson, self.refusal)


class Learning:
    """Learns one batch after the other."""

    def __init__(self, brain: SyncBrain, report: Report) -> None:
        self._brain, self._report = brain, report

    def results(self, every: Iterator[Lesson]) -> Iterator[Result]:
        """What came of each, in order."""
        with _fewer_collections():
            while batch := list(islice(every, AT_ONCE)):
                for result in self._of(batch):
                    self._note(result)
                    yield result

    def _of(self, batch: list[Lesson]) -> Iterator[Result]:
        ready = [lesson for lesson in batch if lesson.arguments]
        receipts: dict[int, LearnReceipt] = {}
        try:
            done = self._brain.learn_many(
                [lesson.arguments for lesson in ready], batch_size=AT_ONCE, each=receipts.__setitem__
            )
        except StoreError:
            complain(f"Stopped at {batch[0].where}. Before it, {self._report.done:,} traces were learned from.")
            raise
        refusals = {refusal.place: refusal.reason for refusal in done.refused}
        places = {id(lesson): place for place, lesson in enumerate(ready)}
        for lesson in batch:
            place = places.get(id(lesson), -1)
            yield Result(lesson, receipts.get(place), refusals.get(place, ""))

    def _note(self, result: Result) -> None:
        lesson = result.lesson
        if result.receipt is not None:
            self._report.learned(lesson, result.receipt)
        elif lesson.skipped:
            self._report.skipped(lesson)
        else:
            self._report.refuse(lesson.where, str(lesson.refused or result.refusal))


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Has Python look for cycles less often: what is read and compared here has none. A fifth of the time."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def row_of(lesson: Lesson, refusal: str = "") -> dict[str, Any]:
    """What came of a trace that was not learned from, as data."""
    wrong: BrainError | str = lesson.refused or refusal
    outcome = "refused" if wrong else "skipped"
    return {
        "source": lesson.where,
        "outcome": outcome,
        "reason": str(wrong or lesson.skipped),
        "version": 0,
        "skill": None,
    }
