"""How does an execution become a stored skill? Analysis of the trace, and the order that the store carries out."""

from __future__ import annotations

import json
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
from brain.engine.memory import Prepared, SkillMemory, check_identifier
from brain.errors import ConflictError, InputError, SkillNotFoundError, StoreUnavailableError
from brain.model import formulas
from brain.model.context import ContextFeatures
from brain.model.inputs import Context, ExecutionTrace, Feedback, Outcome, check_size
from brain.model.receipts import FeedbackReceipt, LearnReceipt, LearnReport, Refusal
from brain.model.record import validated
from brain.model.skill import Skill, SkillTransferRecord
from brain.model.text import check_spoken_text, digest
from brain.store.base import reason_for
from brain.store.values import Changes, Learned, LearnOrder, Observation, ReadProfiles, new_operation

_PARTS = ("execution_trace", "context", "outcome", "skill_name", "trace_id", "skill_id", "derived_from")
_ATTEMPTS = 5  # each repeats only if the store forgot changes between two looks at it


@dataclass(frozen=True)
class _Told:
    """One execution as a caller told it: trace, context and outcome."""

    trace: ExecutionTrace
    context: Context
    outcome: Outcome

    @property
    def content(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "execution_trace": self.trace.to_dict(),
            "context": self.context.to_dict(),
            "outcome": self.outcome.to_dict(),
        }


class Learner:
    """Learns from executions and from feedback on one skill memory."""

    def __init__(self, memory: SkillMemory) -> None:
        self._memory = memory

    def observe(
        self,
        execution_trace: dict[str, Any],
        context: dict[str, Any],
        outcome: dict[str, Any],
        name: str | None,
        trace_id: str | None,
        skill_id: str | None,
        derived_from: Sequence[str],
    ) -> LearnReceipt:
        """See `Brain.observe`."""
        seen = self._seen(execution_trace, context, outcome, name, trace_id, skill_id, derived_from)
        (lesson,) = self._prepared([seen])
        return _receipt(*self._write([lesson]))

    def learn_many(
        self, executions: Iterable[Mapping[str, Any]], batch_size: int, each: Callable[[int, LearnReceipt], Any] | None
    ) -> LearnReport:
        """See `Brain.learn_many`."""
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
            raise InputError(f"batch_size must be a whole number of at least 1, not {batch_size!r}.")
        report, numbered = LearnReport(), enumerate(executions)
        while batch := list(islice(numbered, batch_size)):
            seen: dict[int, _Seen] = {}
            for place, execution in batch:
                try:
                    seen[place] = self._seen(**_parts(execution))
                except InputError as error:
                    report.refused.append(Refusal(place, str(error)))
            for place, done in self._written(seen, report):
                report.outcomes[done.outcome] += 1
                if each:
                    each(place, _receipt(done))
        return report

    def _written(self, seen: Mapping[int, _Seen], report: LearnReport) -> Iterator[tuple[int, Learned]]:
        """What became of a batch. Where one names a skill that is missing or taken, each is learned on its own."""
        try:
            yield from zip(seen, self._write(self._prepared(list(seen.values()))), strict=True)
        except (SkillNotFoundError, ConflictError) as error:
            if len(seen) < 2:
                report.refused += [Refusal(place, str(error)) for place in seen]
                return
            for place, one in seen.items():
                yield from self._written({place: one}, report)

    def _seen(
        self,
        execution_trace: object,
        context: object,
        outcome: object,
        skill_name: str | None = None,
        trace_id: str | None = None,
        skill_id: str | None = None,
        derived_from: Sequence[str] = (),
    ) -> _Seen:
        told = self._told(execution_trace, context, outcome)
        skill = self._skill(told, skill_name)
        if skill_id is not None:
            skill = skill.model_copy(update={"id": check_identifier(skill_id, "skill id")})
        used = list(dict.fromkeys(check_identifier(used, "id in derived_from") for used in _listed(derived_from)))
        return _Seen(skill, _observation(told, trace_id), used)

    def preview(
        self, execution_trace: dict[str, Any], context: dict[str, Any], outcome: dict[str, Any], name: str | None
    ) -> Skill:
        """See `Brain.preview`."""
        return self._memory.checked(self._skill(self._told(execution_trace, context, outcome), name))

    def feedback(
        self, skill_id: str, context: dict[str, Any], success: bool, adaptations: dict[str, Any] | None
    ) -> FeedbackReceipt:
        """See `Brain.feedback`."""
        check_identifier(skill_id, "skill id")
        task = self._memory.context(context)
        told = validated(
            Feedback, {"success": success, "adaptations": {} if adaptations is None else adaptations}, "feedback"
        )
        check_size(told.to_dict(), "the feedback", self._memory.limits)
        record = SkillTransferRecord(
            target_context=self._memory.analyzer.analyze(task, ask_model=False).to_dict(),
            success=told.success,
            adaptations=told.adaptations,
            timestamp=self._memory.now,
        )
        skill = self._memory.store.feedback(skill_id, record, ttl=self._memory.policy.ttl, operation=new_operation())
        if skill is None:
            return FeedbackReceipt(False, f"No live skill has the id {skill_id!r}, so nothing was recorded.")
        verdict = "success" if told.success else "failure"
        return FeedbackReceipt(True, f"The {verdict} was recorded on {skill.name!r}.", skill, skill.version)

    def _told(self, execution_trace: object, context: object, outcome: object) -> _Told:
        """What was handed in, validated and within the limits. Raises `InputError`."""
        trace = validated(ExecutionTrace, execution_trace, "execution_trace")
        told = _Told(trace, self._memory.context(context), validated(Outcome, outcome, "outcome"))
        check_size(told.content, "the trace", self._memory.limits, steps=max(len(trace.steps), len(trace.agents)))
        return told

    def _skill(self, told: _Told, name: str | None) -> Skill:
        """The skill that the trace tells, as if nothing like it were stored."""
        trace, context, outcome = told.trace, told.context, told.outcome
        procedure = extract_procedure(trace)
        if not procedure and not context.task.strip():
            raise InputError(
                "There is neither a task in the context nor a step in the trace. Give at least one of them."
            )
        features = self._features(trace, context)
        now = self._memory.now
        skill = Skill(
            name=_named(name) or skill_name(features, context.task, procedure),
            description=skill_description(features, procedure),
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
    """One execution as it was read: the skill that it would make, its trace, and the skills that were used."""

    skill: Skill
    observation: Observation
    used: list[str]


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
    return LearnReceipt(learned.outcome, reason_for(learned.outcome, learned.skill), learned.skill, written)


def _parts(execution: object) -> dict[str, Any]:
    """The parts of one execution as keyword arguments; raises `InputError` if it is none."""
    if not isinstance(execution, Mapping):
        raise InputError(
            f"An execution is an object with {', '.join(_PARTS[:3])}; this is a {type(execution).__name__}."
        )
    unknown = [str(key) for key in execution if key not in _PARTS]
    missing = [key for key in _PARTS[:3] if key not in execution]
    if unknown or missing:
        wrong = [f"lacks {', '.join(missing)}"] * bool(missing) + [f"has unknown {', '.join(unknown)}"] * bool(unknown)
        raise InputError(f"The execution {' and '.join(wrong)}. It may have: {', '.join(_PARTS)}.")
    return dict(execution)


def _observation(told: _Told, trace_id: str | None) -> Observation:
    context, outcome = told.context, told.outcome
    text = json.dumps(told.content, sort_keys=True, allow_nan=False)
    if trace_id is not None:
        trace_id = check_identifier(trace_id, "trace id")
    key = digest("id", trace_id) if trace_id else digest("content", text)
    return Observation(key, trace_id or "", text, context.domain, context.task, outcome.success, outcome.quality)


def _named(name: str | None) -> str:
    if name is None:
        return ""
    try:
        return check_spoken_text(name)
    except ValueError as error:
        raise InputError(f"skill_name {error}.") from None


def _listed(ids: Sequence[str]) -> Sequence[str]:
    if isinstance(ids, str) or not isinstance(ids, list | tuple):
        raise InputError("derived_from must be a list of skill ids.")
    return ids
