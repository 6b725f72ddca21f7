"""How does an execution become a stored skill? Analysis of the trace, and the order that the store carries out."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from brain.analysis.abstraction import (
    extract_procedure,
    postconditions,
    preconditions,
    skill_description,
    skill_name,
    skill_tags,
)
from brain.engine.memory import Prepared, SkillMemory, check_identifier, check_skill_id
from brain.errors import ConflictError, InputError, SkillNotFoundError, StoreUnavailableError
from brain.model import formulas
from brain.model.context import ContextFeatures
from brain.model.inputs import PARTS, Context, ContextLike, Execution, ExecutionTrace, Feedback, check_size
from brain.model.receipts import FeedbackReceipt, LearnReceipt, LearnReport, Refusal
from brain.model.record import validated
from brain.model.skill import Skill, SkillTransferRecord
from brain.model.text import digest
from brain.store.base import reason_for
from brain.store.values import Changes, Counted, Learned, LearnOrder, Observation, ReadProfiles, new_operation

_ATTEMPTS = 5  # each repeats only if the store forgot changes between two looks at it
_MENTIONED = 20  # keys that one warning names at most

log = logging.getLogger(__name__)

Tell = Callable[[LearnReceipt, Execution], None]
"""Told what came of an execution."""


class Learner:
    """Learns from executions and from feedback on one skill memory."""

    def __init__(self, memory: SkillMemory, tell: Tell | None = None) -> None:
        self._memory, self._tell = memory, tell

    def observe(self, execution: Mapping[str, object]) -> LearnReceipt:
        """See `Brain.observe`; `execution` holds its arguments by name."""
        seen = self._seen(execution)
        (lesson,) = self._prepared([seen])
        return self._told_of(seen, *self._write([lesson]))

    def learn_many(
        self,
        executions: Iterable[Execution | Mapping[str, Any]],
        batch_size: int,
        each: Callable[[int, LearnReceipt], Any] | None,
    ) -> LearnReport:
        """See `Brain.learn_many`."""
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
            raise InputError(f"batch_size must be a whole number of at least 1, not {batch_size!r}.")
        report, numbered, unread = LearnReport(), enumerate(executions), dict[str, None]()
        while batch := list(islice(numbered, batch_size)):
            seen: dict[int, _Seen] = {}
            for place, execution in batch:
                try:
                    seen[place] = self._seen(execution)
                except InputError as error:
                    report.refused.append(Refusal(place=place, reason=str(error)))
                    continue
                unread.update(dict.fromkeys(seen[place].execution.unread[: _MENTIONED - len(unread)]))
            for place, done in self._written(seen, report):
                report.outcomes[done.outcome] += 1
                receipt = self._told_of(seen[place], done)
                if each:
                    each(place, receipt)
        if unread:
            log.warning("Keys of executions that are not read: %s.", ", ".join(unread))
        return report

    def _told_of(self, seen: _Seen, learned: Learned) -> LearnReceipt:
        """The receipt of one execution, after whoever is told of it was told."""
        receipt = _receipt(learned)
        if self._tell:
            self._tell(receipt, seen.execution)
        return receipt

    def _written(self, seen: Mapping[int, _Seen], report: LearnReport) -> Iterator[tuple[int, Learned]]:
        """What became of a batch. Where one names a skill that is missing or taken, each is learned on its own."""
        try:
            yield from zip(seen, self._write(self._prepared(list(seen.values()))), strict=True)
        except (SkillNotFoundError, ConflictError) as error:
            if len(seen) < 2:
                report.refused += [Refusal(place=place, reason=str(error)) for place in seen]
                return
            for place, one in seen.items():
                yield from self._written({place: one}, report)

    def _seen(self, given: object) -> _Seen:
        execution = self._read(given)
        return _Seen(execution, self._skill(execution), _observation(execution))

    def preview(self, execution: Mapping[str, object]) -> Skill:
        """See `Brain.preview`; `execution` holds its arguments by name."""
        return self._memory.checked(self._skill(self._read(execution)))

    def feedback(
        self,
        skill_id: str,
        context: ContextLike,
        success: bool,
        adaptations: dict[str, Any] | None,
        feedback_id: str | None,
    ) -> FeedbackReceipt:
        """See `Brain.feedback`."""
        check_skill_id(skill_id)
        named = {} if feedback_id is None else {"feedback_id": check_identifier(feedback_id, "feedback id")}
        task = self._memory.context(context)
        told = validated(
            Feedback, {"success": success, "adaptations": {} if adaptations is None else adaptations}, "feedback"
        )
        told = validated(Feedback, self._memory.secrets.out_of(told.to_dict()), "feedback")
        check_size(told.to_dict(), "the feedback", self._memory.limits)
        record = SkillTransferRecord(
            target_context=self._memory.analyzer.analyze(task, ask_model=False).to_dict(),
            success=told.success,
            adaptations=told.adaptations,
            timestamp=self._memory.now,
            **named,
        )
        counted = self._memory.store.feedback(skill_id, record, ttl=self._memory.policy.ttl, operation=new_operation())
        return _feedback_receipt(skill_id, record, counted)

    def _read(self, given: object) -> Execution:
        """What was handed in, validated and within the limits. Raises `InputError`."""
        for name, kind in PARTS.items():
            part = given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
            self._memory.mention(kind, part, name)
        execution, limits = Execution.read(self._memory.secrets.out_of_execution(given)), self._memory.limits
        trace, context = execution.execution_trace, execution.context
        check_size(context.to_dict(), "the context", limits, steps=len(context.steps))
        check_size(_content(execution), "the trace", limits, steps=max(len(trace.steps), len(trace.agents)))
        return execution

    def _skill(self, execution: Execution) -> Skill:
        """The skill that the trace tells, as if nothing like it were stored."""
        trace, context, outcome = execution.execution_trace, execution.context, execution.outcome
        procedure = extract_procedure(trace)
        if not procedure and not context.task.strip():
            raise InputError(
                "There is neither a task in the context nor a step in the trace. Give at least one of them."
            )
        features = self._features(trace, context)
        now = self._memory.now
        skill = Skill(
            **({"id": execution.skill_id} if execution.skill_id else {}),
            name=execution.skill_name or skill_name(features, context.task, procedure),
            description=skill_description(features, procedure),
            skill_type=execution.skill_type,
            procedure=procedure,
            preconditions=preconditions(features),
            postconditions=postconditions(features, outcome),
            source_context=features.to_dict(),
            confidence=formulas.initial_confidence(outcome.quality),
            usage_count=1,
            success_rate=1.0,
            tags=skill_tags(features),
            created_at=now,
            updated_at=now,
            namespace=self._memory.store.namespace,
        )
        if self._memory.policy.ttl:
            skill.renew_ttl(now)
        return skill

    def _features(self, trace: ExecutionTrace, context: Context) -> ContextFeatures:
        features = self._memory.analyzer.analyze(context, agents=len(trace.agents))
        strategy = context.strategy or trace.strategy
        return features.model_copy(
            update={"metadata": features.metadata | ({"strategy": strategy} if strategy else {})}
        )

    def _prepared(self, seen: Sequence[_Seen]) -> list[_Lesson]:
        """The lessons of one batch, each with the place of the first before it that tells the same."""
        successes = [one.observation.success for one in seen]
        useful = any(successes)  # a failure creates nothing, so it needs no vector
        prepared = self._memory.drafts([one.skill for one in seen], embedded=useful)
        likes = self._memory.likes(prepared, successes)
        return [_Lesson(p, s.observation, s.used, like) for p, s, like in zip(prepared, seen, likes, strict=True)]

    def _write(self, lessons: Sequence[_Lesson]) -> list[Learned]:
        """Learns all lessons or none. A view that fell too far behind meanwhile is read anew, and they begin again."""
        memory, operation = self._memory, new_operation()
        for _ in range(_ATTEMPTS):
            memory.live.refresh()
            memory.live.look()  # so that little is looked at under the lock
            try:
                return memory.store.learn([self._order(lesson) for lesson in lessons], operation=operation)
            except _StaleViewError:
                continue
        raise StoreUnavailableError(f"{memory.store.location} changes too fast. Try again.", memory.store.location)

    def _order(self, lesson: _Lesson) -> LearnOrder:
        memory, prepared = self._memory, lesson.prepared
        version = memory.index.version
        known = memory.twin(prepared, memory.store.profiles)

        def find_twin(changes: Changes, read_profiles: ReadProfiles) -> str | None:
            """Looks again, under the store's lock, only if something changed since the look before it."""
            if not memory.index.fits(changes):
                raise _StaleViewError
            if not changes:
                return known
            memory.index.apply(changes, version)
            return memory.twin(prepared, read_profiles)

        return LearnOrder(
            prepared.draft,
            lesson.observation,
            version,
            find_twin,
            like=lesson.like,
            derived_from=lesson.used,
            ttl=memory.policy.ttl,
        )


@dataclass(frozen=True)
class _Seen:
    """One execution as it was read, the skill that it would make, and its trace."""

    execution: Execution
    skill: Skill
    observation: Observation

    @property
    def used(self) -> list[str]:
        """The skills that were used, each once."""
        return list(dict.fromkeys(self.execution.derived_from))


@dataclass(frozen=True)
class _Lesson:
    """One execution ready to be learned. `like` is the place of an earlier one in its batch that tells the same."""

    prepared: Prepared
    observation: Observation
    used: list[str]
    like: int | None


class _StaleViewError(Exception):
    """The view is too far behind for what changed to be told."""


def _receipt(learned: Learned) -> LearnReceipt:
    written = learned.skill.version if learned.skill else 0
    reason = reason_for(learned.outcome, learned.skill)
    return LearnReceipt(outcome=learned.outcome, reason=reason, version=written, skill=learned.skill)


def _feedback_receipt(skill_id: str, record: SkillTransferRecord, counted: Counted | None) -> FeedbackReceipt:
    if counted is None:
        reason = f"No live skill has the id {skill_id!r}, so nothing was recorded."
        return FeedbackReceipt(recorded=False, reason=reason)
    skill, repeated = counted
    if repeated:
        reason = f"The feedback {record.feedback_id!r} was recorded on {skill.name!r} before; nothing was written."
    else:
        reason = f"The {'success' if record.success else 'failure'} was recorded on {skill.name!r}."
    return FeedbackReceipt(recorded=True, repeated=repeated, reason=reason, version=skill.version, skill=skill)


def _content(execution: Execution) -> dict[str, Any]:
    """Trace, context and outcome as JSON values."""
    return {name: getattr(execution, name).to_dict() for name in PARTS}


def _observation(execution: Execution) -> Observation:
    context, outcome, trace_id = execution.context, execution.outcome, execution.trace_id
    text = json.dumps(_content(execution), sort_keys=True, allow_nan=False)
    key = digest("id", trace_id) if trace_id else digest("content", text)
    return Observation(key, trace_id or "", text, context.domain, context.task, outcome.success, outcome.quality)
