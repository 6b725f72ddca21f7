"""What is not stored? `Secrets`: keys, tokens, passwords and addresses are replaced before a write, and counted."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from brain.analysis.redaction import redact
from brain.model.skill import Skill

_IDS = frozenset("trace_id skill_id derived_from skill_type".split())
_KEPT = frozenset("id namespace skill_type version created_at updated_at expires_at".split())

Given = TypeVar("Given")


class Secrets:
    """What is about to be stored goes through here; as it is, unless they are `replaced`. Safe for threads."""

    def __init__(self, replaced: bool) -> None:
        self.replaced = replaced
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind were replaced so far."""
        with self._lock:
            return dict(self._counts)

    def out_of(self, value: Any) -> Any:
        """`value` (JSON values, or a record) without secrets."""
        if not self.replaced:
            return value
        found = redact(value.model_dump(warnings=False) if isinstance(value, BaseModel) else value)
        with self._lock:
            self._counts.update(found.counts)
        return found.value

    def out_of_execution(self, given: object) -> object:
        """An execution, or the mapping that is to become one; ids stay."""
        if not self.replaced or not isinstance(given, Mapping | BaseModel):
            return given
        return {key: item if key in _IDS else self.out_of(item) for key, item in dict(given).items()}

    def out_of_skill(self, skill: Given) -> Given | Skill:
        """A skill; its id, namespace and times stay."""
        if not self.replaced or not isinstance(skill, Skill):
            return skill
        told = skill.to_dict()
        clean = self.out_of({key: item for key, item in told.items() if key not in _KEPT})
        return Skill.from_dict({key: item for key, item in told.items() if key in _KEPT} | clean)
