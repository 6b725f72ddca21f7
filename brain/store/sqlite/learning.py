"""How does the store learn? It finds each order's twin and counts the use, or creates the draft, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from brain.errors import ConflictError
from brain.model.receipts import LearnOutcome
from brain.model.skill import Skill
from brain.store.base import count_use, edges_of_derivation
from brain.store.sqlite.rows import Written, trace_row
from brain.store.sqlite.skills import Skills
from brain.store.values import Changes, Learned, LearnOrder


class Learning:
    """Carries out the orders of one call. The version is raised once, before the first write."""

    def __init__(self, skills: Skills, now: datetime) -> None:
        self._skills, self._now = skills, now
        self._changes: dict[int, Changes] = {}
        self._version: int | None = None
        self._done: list[Learned] = []

    def carry_out(self, orders: Sequence[LearnOrder]) -> list[Learned]:
        """What became of each order."""
        for seen in {order.seen_version for order in orders}:  # before anything is written: others' changes alone
            self._changes[seen] = self._skills.changes(seen, size=None)
        for order in orders:
            self._done.append(self._learn(order))
        return self._done

    def _learn(self, order: LearnOrder) -> Learned:
        seen = self._skill_of_trace(order)
        if seen:
            return Learned(LearnOutcome.ALREADY_SEEN, seen)
        twin, success = self._twin(order), order.observation.success
        if twin is None and not success:
            return Learned(LearnOutcome.IGNORED, None)
        used = self._skills.must_live([used for used in order.derived_from if not twin or used != twin.id])
        if self._version is None:
            self._version = self._skills.raise_version()
        if twin is None:
            skill, outcome = self._create(order, self._version), LearnOutcome.CREATED
        else:
            skill = self._reinforce(twin, order, self._version)
            outcome = LearnOutcome.REINFORCED if success else LearnOutcome.FAILURE_RECORDED
        self._skills.run("put_trace", **trace_row(order.observation, self._now, skill.id))
        self._skills.put_edges(edges_of_derivation(skill, used, success))
        return Learned(outcome, skill)

    def _skill_of_trace(self, order: LearnOrder) -> Skill | None:
        """The skill that the caller's trace id was learned as, if there is such an id."""
        if not order.observation.trace_id:
            return None
        rows = self._skills.run("skill_of_trace", key=order.observation.key, now=self._skills.now())
        return next(iter(self._skills.live([rows[0][0]])), None) if rows else None

    def _twin(self, order: LearnOrder) -> Skill | None:
        """The live skill that does the same: by dedup key, by what others changed, or by the order it is like."""
        key = order.draft.dedup_key
        self._skills.run("release_dedup_key", dedup_key=key, now=self._skills.now())
        held = self._skills.run("skill_by_dedup_key", dedup_key=key)
        if held:
            live = self._skills.live([held[0][0]])
            if live:
                return live[0]
            self._skills.run("clear_dedup_key", dedup_key=key)  # it cannot be read: a readable twin takes its place
            return None
        twin_id = order.find_twin(self._changes[order.seen_version], self._skills.profiles) or self._liked(order)
        return next(iter(self._skills.live([twin_id])), None) if twin_id else None

    def _liked(self, order: LearnOrder) -> str | None:
        """Id of the skill that the order which this one is like came to."""
        skill = None if order.like is None else self._done[order.like].skill
        return skill.id if skill else None

    def _create(self, order: LearnOrder, version: int) -> Skill:
        skill = order.draft.skill
        stored = self._skills.stored([skill.id])
        if skill.id in stored and stored[skill.id].live:
            raise ConflictError(skill.id, 0, stored[skill.id].version)
        self._skills.write([Written.learned(order.draft)], stored, version)
        return skill

    def _reinforce(self, skill: Skill, order: LearnOrder, version: int) -> Skill:
        count_use(skill, order.observation.success, self._now, order.ttl)
        skill.version += 1
        self._skills.note_use(skill, version)
        return skill
