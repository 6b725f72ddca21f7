"""How does the store learn? Finds the twin of each order and counts the use, or creates the draft."""

from __future__ import annotations

from collections.abc import Sequence

from brain.errors import ConflictError
from brain.model import formulas
from brain.model.receipts import LearnOutcome
from brain.model.skill import Skill
from brain.store.base import edges_of_derivation
from brain.store.neo4j.connection import Row
from brain.store.neo4j.rows import Written, trace_row
from brain.store.neo4j.skills import OPERATIONS_KEPT, Lock, Skills, Stored, operation_parameters
from brain.store.values import Changes, Learned, LearnOrder, SeenTrace

NOTHING_WRITTEN = {LearnOutcome.IGNORED, LearnOutcome.ALREADY_SEEN}


class Learning:
    """Carries out the orders of one call, one after the other.

    Skills to create are collected and written together; whatever needs one of them has them written first.
    """

    def __init__(self, skills: Skills, orders: Sequence[LearnOrder], operation: str) -> None:
        self._skills, self._orders, self._operation = skills, orders, operation
        self._learned: list[Learned | None] = []
        self._ids: list[str | None] = []
        self._waiting: dict[str, tuple[int, Written]] = {}
        self._created: set[str] = set()
        self._keys: dict[str, str] = {}
        self._traces: dict[str, str] = {}

    def carry_out(self) -> list[Learned]:
        """What became of each order."""
        self._lock, self._known = self._prepare()
        if self._lock.repeated:
            return self._as_before()
        self._stored = {
            order.draft.skill.id: Stored(known["version"], known["lives"])
            for order, known in zip(self._orders, self._known, strict=True)
            if known["version"] is not None
        }
        self._changes = self._read_changes()
        for place in range(len(self._orders)):
            self._ids.append(self._learn(place))
        self._write_waiting()
        done = [learned for learned in self._learned if learned]
        if all(learned.outcome in NOTHING_WRITTEN for learned in done):
            self._skills.forget(self._operation)
        return done

    def _prepare(self) -> tuple[Lock, list[Row]]:
        row = self._skills.tx.row(
            "lock_to_learn",
            **operation_parameters(self._operation),
            kept=OPERATIONS_KEPT,
            orders=[
                {"id": o.draft.skill.id, "dedup_key": o.draft.dedup_key, "trace_key": o.observation.key}
                for o in self._orders
            ],
            now=self._skills.now,
        )
        assert row
        self._nothing_new = Changes(row["store_id"], row["version"])
        return Lock(row["version"], row["repeated"], row["mirrored"]), row["known"]

    def _read_changes(self) -> dict[int, Changes]:
        """What others changed since each version that an order's caller saw, before anything is written here."""
        seen = {order.seen_version for order in self._orders}
        return {v: self._nothing_new if v == self._lock.version else self._skills.all_changes(v) for v in seen}

    def _learn(self, place: int) -> str | None:
        """Carries out one order; the id of the skill that it came to."""
        order, known = self._orders[place], self._known[place]
        seen = self._seen(order, known)
        if seen:
            self._learned.append(Learned(LearnOutcome.ALREADY_SEEN, seen))
            return seen.id
        twin, success = self._twin(order, known), order.observation.success
        if twin is None and not success:
            self._learned.append(Learned(LearnOutcome.IGNORED, None))
            return None
        used = self._used(order, twin)
        if twin is None:
            self._create(place, order, known)
        else:
            self._reinforce(order, twin)
        skill_id = twin or order.draft.skill.id
        if order.observation.trace_id:
            self._traces[order.observation.key] = skill_id
        if used:
            self._write_waiting()
            skill = self._learned[place]
            assert skill and skill.skill
            self._skills.put_edges(edges_of_derivation(skill.skill, used, success), self._lock)
        return skill_id

    def _seen(self, order: LearnOrder, known: Row) -> Skill | None:
        """The skill that the caller's trace id was learned as, if there is such an id."""
        if not order.observation.trace_id:
            return None
        seen = self._traces.get(order.observation.key) or next((found["id"] for found in known["seen"]), None)
        return self._live(seen) if seen else None

    def _twin(self, order: LearnOrder, known: Row) -> str | None:
        """Id of the live skill that does the same: by dedup key, else by what others changed, else by the order it is
        like. What cannot be read is no twin, and gives its dedup key away, as an expired holder does.
        """
        key = order.draft.dedup_key
        holder = self._keys.get(key) or known["holder"]
        if holder is None:
            found = order.find_twin(self._changes[order.seen_version], self._skills.profiles)
            twin = found or (None if order.like is None else self._ids[order.like])
            return twin if twin and (twin in self._created or self._live(twin)) else None
        if holder in self._created or (known["holder_lives"] and self._live(holder)):
            return holder
        self._skills.tx.rows("clear_dedup_key", id=holder)
        return None if known["holder_lives"] else self._without_holder(order, known)

    def _without_holder(self, order: LearnOrder, known: Row) -> str | None:
        known["holder"] = None
        return self._twin(order, known)

    def _used(self, order: LearnOrder, twin: str | None) -> list[Skill]:
        """The live skills that were used. Raises `SkillNotFoundError`."""
        wanted = [used for used in order.derived_from if used != twin]
        if wanted:
            self._write_waiting()
        return self._skills.must_live(wanted)

    def _create(self, place: int, order: LearnOrder, known: Row) -> None:
        skill = order.draft.skill.model_copy(update={"namespace": self._skills.namespace})
        if skill.id in self._created or (skill.id in self._stored and self._stored[skill.id].live):
            there = self._stored.get(skill.id)
            raise ConflictError(skill.id, 0, there.version if there else skill.version)
        trace = SeenTrace(order.observation, self._skills.now)
        operation = operation_parameters(self._operation)["operation"]
        self._waiting[skill.id] = place, Written.created(order.draft, skill, trace, operation)
        self._created.add(skill.id)
        self._keys[order.draft.dedup_key] = skill.id
        self._learned.append(None)

    def _reinforce(self, order: LearnOrder, twin: str) -> None:
        success = order.observation.success
        self._write_waiting()
        self._skills.tx.rows(
            "reinforce",
            id=twin,
            success=success,
            renew=order.ttl,
            now=self._skills.now,
            gain=formulas.SUCCESS_GAIN,
            loss=formulas.FAILURE_LOSS,
            base_hours=formulas.BASE_TTL_HOURS,
            step=self._skills.step(),
            operation=operation_parameters(self._operation)["operation"],
            trace=trace_row(SeenTrace(order.observation, self._skills.now)),
        )
        self._skills.tell(self._lock, [twin])
        outcome = LearnOutcome.REINFORCED if success else LearnOutcome.FAILURE_RECORDED
        self._learned.append(Learned(outcome, self._skills.must_live([twin])[0]))

    def _write_waiting(self) -> None:
        """Writes the skills that wait. They are stored as they are written: nothing is read back."""
        if not self._waiting:
            return
        self._skills.write([written for _, written in self._waiting.values()], self._stored, self._lock)
        for place, written in self._waiting.values():
            self._learned[place] = Learned(LearnOutcome.CREATED, written.skill)
        self._waiting = {}

    def _live(self, skill_id: str) -> Skill | None:
        if skill_id in self._waiting:
            self._write_waiting()
        return next(iter(self._skills.live([skill_id])), None)

    def _as_before(self) -> list[Learned]:
        """What the call did that was committed before its acknowledgement was lost, from what its traces lead to."""
        done, counted, traces = [], set[str](), set[str]()
        for order, known in zip(self._orders, self._known, strict=True):
            mine = [found for found in known["seen"] if found["mine"]]
            found = next(iter(mine or known["seen"]), None)
            skill = self._live(found["id"]) if found else None
            observation = order.observation
            if found is None or skill is None:
                outcome = LearnOutcome.IGNORED
            elif observation.trace_id and (not mine or observation.key in traces):
                outcome = LearnOutcome.ALREADY_SEEN
            elif skill.id not in counted and (found["created"] if mine else skill.version == 1):
                outcome = LearnOutcome.CREATED
            else:
                outcome = LearnOutcome.REINFORCED if observation.success else LearnOutcome.FAILURE_RECORDED
            if skill:
                counted.add(skill.id)
            traces.add(observation.key)
            done.append(Learned(outcome, skill))
        return done
