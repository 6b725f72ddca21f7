"""Who else is told what was learned? The `log` of the memory object that a brain was made with, as OrKa's is."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from brain.model.inputs import Execution
from brain.model.receipts import LearnOutcome, LearnReceipt

log = logging.getLogger(__name__)

_TOLD = (LearnOutcome.CREATED, LearnOutcome.REINFORCED)


class LearningLog:
    """Calls `log` for each skill that was learned from a success, be it new or not. What it raises is only logged."""

    def __init__(self, log: Callable[..., Any]) -> None:
        self._log = log

    def tell(self, receipt: LearnReceipt, execution: Execution) -> None:
        """Tells of what came of one execution."""
        from brain.store.redis import learned_event

        if receipt.outcome not in _TOLD or receipt.skill is None:
            return
        context, quality = execution.context, execution.outcome.quality
        event = learned_event(receipt.skill, context.domain, context.task, True, quality)
        try:
            self._log(**event)
        except Exception as error:  # whatever the caller's object raises: the skill is learned
            log.warning("The memory's log could not be told of skill %r: %s", receipt.skill.id, error)
