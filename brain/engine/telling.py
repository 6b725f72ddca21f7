"""Who else is told what was learned? The `log` of the memory object that a brain was made with, as OrKa's is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from brain.model.formulas import DEFAULT_QUALITY
from brain.model.receipts import LearnOutcome, LearnReceipt

log = logging.getLogger(__name__)

_TOLD = (LearnOutcome.CREATED, LearnOutcome.REINFORCED)

Each = Callable[[int, LearnReceipt], Any]


class LearningLog:
    """Calls `log` for each skill that was learned from a success, be it new or not. What it raises is only logged."""

    def __init__(self, log: Callable[..., Any]) -> None:
        self._log = log

    def tell(self, receipt: LearnReceipt, context: Mapping[str, Any], outcome: Mapping[str, Any]) -> None:
        """Tells of what came of one execution, whose `context` and `outcome` were found valid."""
        from brain.store.redis import learned_event

        if receipt.outcome not in _TOLD or receipt.skill is None:
            return
        domain, task = context.get("domain", ""), context.get("task", "")
        event = learned_event(receipt.skill, domain, task, True, outcome.get("quality", DEFAULT_QUALITY))
        try:
            self._log(**event)
        except Exception as error:  # whatever the caller's object raises: the skill is learned
            log.warning("The memory's log could not be told of skill %r: %s", receipt.skill.id, error)

    def following(
        self, executions: Iterable[Mapping[str, Any]], each: Each | None
    ) -> tuple[Iterator[Mapping[str, Any]], Each]:
        """The arguments of `learn_many`, so that it tells of each. Executions are remembered until theirs is told."""
        waiting: dict[int, Mapping[str, Any]] = {}

        def remembered() -> Iterator[Mapping[str, Any]]:
            for place, execution in enumerate(executions):
                waiting[place] = execution
                yield execution

        def told(place: int, receipt: LearnReceipt) -> None:
            execution = waiting[place]
            for earlier in [known for known in waiting if known <= place]:
                del waiting[earlier]
            self.tell(receipt, execution["context"], execution["outcome"])
            if each:
                each(place, receipt)

        return remembered(), told
