"""How does an execution become a stored skill? Analysis of the trace, and the order that the store carries out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brain.analysis.abstraction import (
    extract_procedure,
    postconditions,
    preconditions,
    skill_description,
    skill_name,
    skill_tags,
)
from brain.analysis.profile import Profile
from brain.engine.memory import SkillMemory, check_identifier, new_operation
from brain.errors import InputError
from brain.model import formulas
from brain.model.context import ContextFeatures
from brain.model.inputs import Context, ExecutionTrace, Feedback, Outcome, check_size
from brain.model.receipts import FeedbackReceipt, LearnReceipt
from brain.model.record import validated
from brain.model.skill import Skill, SkillTransferRecord
from brain.model.text import check_spoken_text, digest
from brain.store.base import Changes, LearnOrder, Observation, reason_for


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
        told = self._told(execution_trace, context, outcome)
        skill = self._skill(told, name)
        if skill_id is not None:
            skill = skill.model_copy(update={"id": check_identifier(skill_id, "skill id")})
        used = list(dict.fromkeys(check_identifier(used, "id in derived_from") for used in _listed(derived_from)))
        return self._carry_out(skill, _observation(told, trace_id), used)

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

    def _carry_out(self, skill: Skill, observation: Observation, used: list[str]) -> LearnReceipt:
        memory = self._memory
        draft = memory.draft(skill, embedded=observation.success)  # a failure creates nothing
        profile, features = Profile.from_json(draft.profile), draft.skill.features
        assert profile is not None, "a draft carries a profile of this version"

        def twin() -> str | None:
            return memory.index.twin(profile, features, skill.skill_type, memory.now)

        def find_twin(changes: Changes) -> str | None:
            """Looks again, under the store's lock, only if something changed since the look before it."""
            if not changes:
                return known
            memory.index.apply(changes)
            return twin()

        memory.refresh()
        version = memory.index.version
        known = twin()
        learned = memory.store.learn(
            LearnOrder(draft, observation, version, find_twin, new_operation(), used, memory.policy.ttl)
        )
        written = learned.skill.version if learned.skill else 0
        return LearnReceipt(learned.outcome, reason_for(learned.outcome, learned.skill), learned.skill, written)


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
