"""How does an orchestrator use a brain? `BrainAgent`: learn, recall or feedback on the payload that it is handed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from brain.errors import InputError, PayloadError
from brain.model.receipts import LearnOutcome
from brain.workflow.payload import Request, lesson, payload_of, request, verdict
from brain.workflow.records import NEWER_OPERATIONS, OPERATIONS
from brain.workflow.values import number_text

if TYPE_CHECKING:
    from brain.engine.brain import Brain
    from brain.engine.sync import SyncBrain
    from brain.model.candidate import TransferCandidate
    from brain.model.receipts import LearnReceipt
    from brain.model.skill import Skill

NOT_CONFIDENT = "0.0"
"""The confidence of an answer that found or did nothing; text, as in OrKa."""

_ORCHESTRATION_KEYS = ("formatted_prompt", "input", "previous_outputs", "prompt")


class BrainAgent:
    """One agent of type `brain` (guide, "Agent Type: brain"), for workflows and for orchestrators of your own.

        agent = BrainAgent("remember", operation="recall", brain=brain)
        found = await agent.run({"domain": "software", "task": "find out why the build fails"})
        found["skill_name"], found["skill_steps"], found["combined_score"]

    `brain` is a `Brain` or `SyncBrain`; without one, `memory_logger` is what `Brain(memory=…)` takes. `settings` hold
    where a payload does not say (`top_k`, `min_score`). The keys that each operation reads and answers are those of the
    guide's table "Operations"; `confidence` is text. Raises `InputError` for an operation that there is not.
    """

    def __init__(
        self,
        agent_id: str,
        operation: str = "learn",
        memory_logger: Any = None,
        *,
        brain: Brain | SyncBrain | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.agent_id = agent_id
        self.operation = _known(operation)
        self.notes: list[str] = []
        self._settings = {key: value for key, value in (settings or {}).items() if value is not None}
        self._brain, self._memory = brain, memory_logger

    async def run(self, given: Any) -> dict[str, Any]:
        """Carries the operation out on what the agent is handed, in a thread; see `run_sync`.

        A write that has begun is finished before a cancellation is passed on.
        """
        work = asyncio.ensure_future(asyncio.to_thread(self.run_sync, given))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait([work])
            raise

    def run_sync(self, given: Any) -> dict[str, Any]:
        """Carries the operation out on a payload: an object, or text that holds one.

        Of an orchestrator's context `formatted_prompt`, else `input`, is the payload, and `operation` overrides the
        agent's. Afterwards `notes` say what of the payload was left out or taken for granted. Raises `PayloadError` for
        a payload that cannot be used, `StoreError` for a store that fails.
        """
        operation = self.operation
        if isinstance(given, Mapping) and any(key in given for key in ("formatted_prompt", "previous_outputs")):
            operation = _known(str(given.get("operation", operation)))
            given = given.get("formatted_prompt") or given.get("input") or ""
        elif isinstance(given, Mapping) and "input" in given and not set(given) - {*_ORCHESTRATION_KEYS, "operation"}:
            operation = _known(str(given.get("operation", operation)))
            given = given["input"]
        self.notes = []
        payload = payload_of(self.agent_id, dict(given) if isinstance(given, Mapping) else given)
        return self.carry_out(operation, payload)

    def carry_out(self, operation: str, payload: dict[str, Any]) -> dict[str, Any]:
        """One of the three operations on a payload that was read."""
        verbs = {"learn": self._learn, "recall": self._recall, "feedback": self._feedback}
        try:
            return verbs[operation](payload)
        except PayloadError:
            raise
        except InputError as error:
            raise PayloadError(self.agent_id, "", str(error)) from error

    @property
    def brain(self) -> SyncBrain:
        """The brain that is used."""
        if self._brain is None:
            if self._memory is None:
                raise InputError(f"agent {self.agent_id!r} has no brain. Give it one: BrainAgent(…, brain=brain).")
            from brain.engine.brain import Brain

            self._brain = Brain(self._memory)
        found: Any = self._brain
        return found if hasattr(found, "observe") and not hasattr(found, "sync") else found.sync  # type: ignore[no-any-return]

    def _learn(self, payload: dict[str, Any]) -> dict[str, Any]:
        told = lesson(self.agent_id, payload)
        self.notes += told.notes
        receipt = self.brain.observe(
            told.execution_trace, told.context, told.outcome, told.skill_name, derived_from=told.derived_from
        )
        if receipt.skill is None:
            return {
                "response": f"No skill was learned. {receipt.reason}",
                "confidence": number_text(NOT_CONFIDENT),
                "internal_reasoning": receipt.reason,
                "outcome": receipt.outcome.value,
            }
        return _learned(receipt, receipt.skill)

    def _recall(self, payload: dict[str, Any]) -> dict[str, Any]:
        wanted = request(self.agent_id, payload, self._settings)
        found = self._candidates(wanted)
        asked = {"domain": wanted.context["domain"], "task": wanted.task}
        if not found:
            return {
                "response": "No applicable skills found for this context.",
                "confidence": number_text(NOT_CONFIDENT),
                "internal_reasoning": f"No stored skill fits this task with a score of {wanted.min_score:g} or more.",
                "all_candidates": [],
                **asked,
            }
        return _recalled(found) | asked

    def _candidates(self, wanted: Request) -> list[TransferCandidate]:
        if not wanted.skill_types and not wanted.domains:
            return self.brain.recall(wanted.context, wanted.top_k, wanted.min_score)
        everything = max(self.brain.get_skill_summary()["total_skills"], 1)
        return [
            candidate
            for candidate in self.brain.recall(wanted.context, everything, wanted.min_score)
            if (not wanted.skill_types or candidate.skill.skill_type in wanted.skill_types)
            and (not wanted.domains or candidate.skill.domain in wanted.domains)
        ][: wanted.top_k]

    def _feedback(self, payload: dict[str, Any]) -> dict[str, Any]:
        told = verdict(self.agent_id, payload)
        if not told.skill_id:
            message = "No skill_id provided for feedback. Hand over what recall answered, or name the skill."
            raise PayloadError(self.agent_id, "skill_id", message)
        if told.success is None:
            self.notes.append("the payload has no 'success', so the transfer was counted as one")
        success = told.success is not False
        receipt = self.brain.feedback(told.skill_id, told.context, success, told.adaptations)
        if not receipt.recorded or receipt.skill is None:
            raise PayloadError(self.agent_id, "skill_id", f"{receipt.reason} Hand over an id that recall has answered.")
        skill = receipt.skill
        return {
            "response": f"Recorded {'successful' if success else 'failed'} transfer for skill {skill.name!r}.",
            "confidence": number_text(skill.confidence),
            "internal_reasoning": f"{receipt.reason} Transfers so far: {skill.transfer_count}.",
            "skill_id": skill.id,
            "skill_name": skill.name,
            "transfer_count": skill.transfer_count,
            "transfer_success": success,
        }


def _known(operation: str) -> str:
    """`operation` if there is such a one. Raises `InputError`."""
    name = operation.strip().lower()
    if name in OPERATIONS:
        return name
    kind = (
        "one of OrKa's newer operations, not supported" if name in NEWER_OPERATIONS else "no operation of a brain agent"
    )
    raise InputError(f"{operation!r} is {kind}. Use {', '.join(OPERATIONS)}.")


def _learned(receipt: LearnReceipt, skill: Skill) -> dict[str, Any]:
    said = {
        LearnOutcome.CREATED: "Learned skill",
        LearnOutcome.REINFORCED: "Reinforced skill",
        LearnOutcome.FAILURE_RECORDED: "Recorded a failure of skill",
        LearnOutcome.ALREADY_SEEN: "Learned before: skill",
    }.get(receipt.outcome, "Skill")
    return {
        "response": f"{said}: {skill.name}",
        "confidence": number_text(skill.confidence),
        "internal_reasoning": receipt.reason,
        "skill_id": skill.id,
        "skill_name": skill.name,
        "skill_steps": [step.action for step in skill.procedure],
        "skill_tags": list(skill.tags),
        "outcome": receipt.outcome.value,
    }


def _recalled(found: list[TransferCandidate]) -> dict[str, Any]:
    best = found[0]
    steps = [step.action for step in best.skill.procedure]
    return {
        "response": f"Found applicable skill: {best.skill.name!r} (score: {best.combined_score:.2f}). "
        f"Steps: {' → '.join(steps)}",
        "confidence": number_text(best.combined_score),
        "internal_reasoning": best.reasoning,
        "skill_id": best.skill.id,
        "skill_name": best.skill.name,
        "skill_type": best.skill.skill_type,
        "skill_steps": steps,
        "skill_tags": list(best.skill.tags),
        "combined_score": best.combined_score,
        "structural_score": best.structural_score,
        "semantic_score": best.semantic_score,
        "transfer_score": best.transfer_score,
        "adaptations": best.adaptations,
        "all_candidates": [
            {
                "skill_id": candidate.skill.id,
                "skill_name": candidate.skill.name,
                "score": candidate.combined_score,
                "reasoning": candidate.reasoning,
            }
            for candidate in found
        ],
    }
