"""What does learning do to the store? `Learning`: finds each order's twin and counts the use, or creates the draft."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime

from brain.errors import ConflictError
from brain.model.receipts import LearnOutcome
from brain.model.skill import Skill
from brain.store.base import all_of, count_use, edges_of_derivation
from brain.store.redis.writer import Recalled, Unit
from brain.store.values import Changes, Draft, Learned, LearnOrder, Observation, ReadProfiles


class Learning:
    """One attempt at some orders, in one unit. `look` gives what changed since a version, and the count of texts;
    `profiles` reads stored profiles.
    """

    def __init__(
        self,
        unit: Unit,
        namespace: str,
        now: datetime,
        look: Callable[[int], tuple[Changes, bytes | None]],
        profiles: ReadProfiles,
    ) -> None:
        self._unit, self._namespace, self._now, self._look = unit, namespace, now, look
        self._profiles = profiles
        self._looks: dict[int, tuple[Changes, bytes | None]] = {}

    def carry_out(self, orders: Sequence[LearnOrder]) -> list[Learned]:
        """What became of each. The unit's receipt says the same, for a repeated attempt."""
        done: list[Learned] = []
        for order in orders:
            done.append(self._one(order, done))
        self._unit.plan.receipt = json.dumps([[d.outcome.value, d.skill.id if d.skill else None] for d in done])
        return done

    def _one(self, order: LearnOrder, done: Sequence[Learned]) -> Learned:
        observation, unit = order.observation, self._unit
        seen = self._skill_of_trace(observation)
        if seen:
            return Learned(LearnOutcome.ALREADY_SEEN, seen)
        twin = self._twin(order, done)
        if twin is None and not observation.success:
            return Learned(LearnOutcome.IGNORED, None)
        used_ids = [used for used in order.derived_from if not twin or used != twin.id]
        used = all_of(used_ids, unit.live(used_ids), self._namespace)
        if twin is None:
            skill, outcome = self._create(order.draft), LearnOutcome.CREATED
        else:
            skill = self._reinforce(twin, order)
            outcome = LearnOutcome.REINFORCED if observation.success else LearnOutcome.FAILURE_RECORDED
        unit.trace(observation, skill.id)
        for edge in edges_of_derivation(skill, used, observation.success):
            unit.link(edge)
        return Learned(outcome, skill)

    def _skill_of_trace(self, observation: Observation) -> Skill | None:
        """The live skill that the caller's trace id was learned as, if there is such an id."""
        if not observation.trace_id:
            return None
        return next(iter(self._unit.live(self._unit.skills_of_trace(observation.key))), None)

    def _twin(self, order: LearnOrder, done: Sequence[Learned]) -> Skill | None:
        """The live skill that does the same: by dedup key, by what others changed, or by an earlier order."""
        unit = self._unit
        holder_id = unit.holder(order.draft.dedup_key)
        if holder_id:
            holder = unit.stored(holder_id)
            skill = unit.if_live(holder)
            if skill:
                return skill
            unit.release(holder)
        alike = done[order.like].skill if order.like is not None else None
        twin_id = self._similar(order) or (alike.id if alike else None)
        return next(iter(unit.live([twin_id])), None) if twin_id else None

    def _similar(self, order: LearnOrder) -> str | None:
        """What the caller finds among what changed. The unit holds only while no text is written by others."""
        since = order.seen_version
        if since not in self._looks:
            self._looks[since] = self._look(since)
        changes, texts = self._looks[since]
        self._unit.plan.check_field(self._unit.keys.state, "texts", texts)
        return order.find_twin(changes, self._profiles)

    def _create(self, draft: Draft) -> Skill:
        unit, skill_id = self._unit, draft.skill.id
        stored = unit.stored(skill_id)
        live = unit.if_live(stored)
        if live:
            raise ConflictError(skill_id, 0, live.version)
        unit.clear(stored)
        skill = draft.skill.model_copy(update={"namespace": self._namespace})
        return unit.put(skill, draft.dedup_key, Recalled.of(draft))

    def _reinforce(self, twin: Skill, order: LearnOrder) -> Skill:
        skill = twin.model_copy()
        count_use(skill, order.observation.success, self._now, order.ttl)
        skill.version += 1
        return self._unit.put(skill, self._unit.stored(twin.id).note.dedup_key)


def learned_before(receipt: str, live: Callable[[Sequence[str]], dict[str, Skill]]) -> list[Learned]:
    """What a call did that was carried out before its answer was lost."""
    rows = json.loads(receipt)
    skills = live([skill_id for _, skill_id in rows if skill_id])
    return [Learned(LearnOutcome(outcome), skills.get(skill_id)) for outcome, skill_id in rows]
