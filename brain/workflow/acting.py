"""What does one agent do? Its prompt is rendered, a model, the brain or a rule is asked, and the answer is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from brain.errors import InputError, ModelError, PayloadError
from brain.workflow.answers import read_answer
from brain.workflow.brain_agent import BrainAgent
from brain.workflow.choosing import choices_of, chosen, with_choices
from brain.workflow.llm import Models
from brain.workflow.payload import payload_of
from brain.workflow.plan import Plan, Step
from brain.workflow.records import BrainSettings, LlmSettings
from brain.workflow.sandbox import Outputs
from brain.workflow.validator import execution_in, validated_execution
from brain.workflow.values import AgentOutput, number_text

if TYPE_CHECKING:
    from jinja2 import Template

    from brain.engine.brain import Brain
    from brain.engine.sync import SyncBrain
    from brain.workflow.rendering import Rendered
    from brain.workflow.run import AgentResult

_OF_THE_RUN = frozenset("status error component_id component_type formatted_prompt execution_time_ms".split())
"""What templates read of how an agent was run, which is there of a failed one too."""
_NOT_ANSWERED = _OF_THE_RUN | frozenset("result get items keys values".split())
"""What templates read of an agent's output that is not of its answer."""
_LEARNED_FROM = ("response", "steps", "domain", "task", "confidence")
"""Fields that a brain reads of an answer that it is handed whole."""


class NothingToDoError(Exception):
    """An agent has nothing to do, and says why. `output` is what templates see of it then."""

    def __init__(self, reason: str, output: dict[str, Any] | None = None) -> None:
        self.output = output
        super().__init__(reason)


class Acting:
    """Carries out the agents of one run, and knows what those before have answered."""

    def __init__(
        self,
        plan: Plan,
        given: Any,
        brain: Brain | SyncBrain | None,
        environment: Mapping[str, str],
        run_id: str = "",
    ) -> None:
        if plan.has_brain and brain is None:
            raise InputError("The workflow has brain agents and was given no brain. Hand one over: brain=….")
        self._plan, self._given, self._brain, self._run_id = plan, given, brain, run_id
        self._models = Models(environment)
        self._outputs = Outputs()
        self._failed: dict[str, str] = {}
        self._found_nothing: set[str] = set()
        self._cut_off: set[str] = set()
        self._types = {step.agent.id: step.agent.type for step in plan.steps}

    async def __aenter__(self) -> Acting:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._models.__aexit__()

    async def act(self, step: Step, result: AgentResult) -> dict[str, Any]:
        """What an agent answers; `result` notes what it sent and used. Raises `BrainError`, `NothingToDoError`."""
        self._check_before(step)
        settings = step.agent.settings
        if isinstance(settings, LlmSettings):
            return await self._ask(step, settings, result)
        if isinstance(settings, BrainSettings):
            return await self._use_brain(step, settings, result)
        prompt = self._rendered(step, result).text if step.template else ""
        return validated_execution(execution_in(prompt, self._execution()), settings)

    def remember(self, step: Step, result: AgentResult) -> None:
        """Makes what an agent answered known to those after it."""
        from brain.workflow.run import output_of

        if result.status == "not_run":
            return
        self._outputs[result.id] = output_of(result)
        if result.status == "failed" or (result.status == "skipped" and not result.output):
            self._failed[result.id] = (result.error or "").rstrip(".")
        elif step.agent.operation == "recall" and not (result.output or {}).get("skill_id"):
            self._found_nothing.add(result.id)
        if result.is_truncated:
            self._cut_off.add(result.id)

    def _check_before(self, step: Step) -> None:
        """An agent is not run on the output of one that failed, unless its template says what to do without.

        What a brain is told would last, so it never is told what a default made up in place of a failed answer.
        """
        tells_brain = step.agent.operation in ("learn", "feedback")
        read = {one.agent for one in step.reads.agents if tells_brain or not (one.guarded or one.field in _OF_THE_RUN)}
        for name in (*sorted(read), *step.agent.depends_on):
            if name in self._failed:
                nothing = {"learn": "Nothing was learned", "feedback": "No feedback was given"}
                said = nothing.get(step.agent.operation, "It was not run")
                raise NothingToDoError(f"{said}, because {name!r} failed: {self._failed[name]}.")

    async def _ask(self, step: Step, settings: LlmSettings, result: AgentResult) -> dict[str, Any]:
        if step.system:
            system = self._rendered(step, result, step.system).text
            settings = settings.model_copy(update={"system_prompt": system})
        prompt, schema = self._in_form(step, settings, self._prompt(step, result))
        result.prompt = prompt
        answer = await self._models.ask(step.agent, settings, prompt, schema)
        result.prompt_tokens, result.answer_tokens = answer.prompt_tokens, answer.answer_tokens
        read = read_answer(answer.text, cut_off=answer.is_cut_off)
        if read is None:
            cut_off = "It was cut off while thinking; raise 'max_tokens'."
            raise ModelError(f"the model gave an empty answer. {cut_off if answer.is_cut_off else 'Ask again.'}")
        result.is_repaired, result.is_truncated = read.is_repaired, read.is_truncated
        if read.is_truncated:
            result.warnings.append("the answer was cut off, so something of its end is missing; raise 'max_tokens'")
        elif read.is_repaired:
            result.warnings.append("the answer's JSON had to be mended to be read")
        if choices_of(step.agent):
            read.fields["response"] = chosen(step.agent, read.fields["response"])
        return read.fields

    def _prompt(self, step: Step, result: AgentResult) -> str:
        prompt = self._rendered(step, result).text
        if not prompt.strip():
            raise PayloadError(result.id, "prompt", "it is empty once it is rendered. Say what the model is asked.")
        reads_nothing = not (step.reads.names or step.reads.agents)
        if step.agent.type != "local_llm" and reads_nothing and str(self._given).strip():
            return f"{prompt.rstrip()}\n\n{self._given}"  # OrKa shows these agents the input in any case
        return prompt

    def _in_form(self, step: Step, settings: LlmSettings, prompt: str) -> tuple[str, dict[str, Any] | None]:
        """The prompt, and the schema of the object that is wanted; None where text will do.

        A prompt that asks for no JSON gets a sentence that does, if others read more of the answer than what it says.
        """
        if choices_of(step.agent):
            return with_choices(prompt, choices_of(step.agent)), None
        wanted = self._plan.wanted.get(step.agent.id, frozenset())
        fields = set(wanted) - _NOT_ANSWERED - {""} | (set(_LEARNED_FROM) if "" in wanted else set())
        asks = "json" in (step.agent.prompt or "").lower()
        if not asks and fields - {"response"}:
            keys = ", ".join(f'"{key}"' for key in sorted(fields | {"response"}))
            prompt = f"{prompt.rstrip()}\n\nAnswer with one JSON object with the keys {keys}."
            asks = True
        form = settings.structured_output
        if isinstance(form, dict):
            return prompt, form
        return prompt, {"type": "object"} if form is True or (form == "auto" and asks) else None

    async def _use_brain(self, step: Step, settings: BrainSettings, result: AgentResult) -> dict[str, Any]:
        agent = step.agent
        payload = self._payload(step, result)
        if agent.operation == "feedback":
            self._check_feedback(step, payload)
        brain = BrainAgent(
            agent.id,
            agent.operation,
            brain=self._brain,
            settings={"top_k": settings.top_k, "min_score": settings.min_score},
        )
        output = await brain.run(payload)
        result.warnings += brain.notes
        for name in sorted(
            {one.agent for one in step.reads.agents} & self._cut_off if agent.operation == "learn" else ()
        ):
            result.warnings.append(f"learned from the answer of {name!r}, which was cut off; steps may be missing")
        return output

    def _payload(self, step: Step, result: AgentResult) -> dict[str, Any]:
        """What a brain agent is handed: what its only expression gave, else its text, else the input."""
        if step.template is None:
            return payload_of(step.agent.id, self._given)
        rendered = self._rendered(step, result)
        given = rendered.text if rendered.value is None else rendered.value
        return payload_of(step.agent.id, given, rendered.fault)

    def _check_feedback(self, step: Step, payload: dict[str, Any]) -> None:
        """Where nothing was recalled there is nothing to judge; where something failed, success must be said."""
        if not payload.get("skill_id") and any(one.agent in self._found_nothing for one in step.reads.agents):
            said = "No skill was recalled, so there is nothing to give feedback on."
            output = {"response": said, "confidence": number_text("0.0"), "internal_reasoning": said}
            raise NothingToDoError(said, output)
        if "success" not in payload and self._failed:
            name = next(iter(self._failed))
            message = f"the payload does not say whether it worked, and {name!r} failed. Say true or false."
            raise PayloadError(step.agent.id, "success", message)

    def _rendered(self, step: Step, result: AgentResult, template: Template | None = None) -> Rendered:
        from brain.workflow.helpers import View
        from brain.workflow.rendering import render

        template = template or step.template
        assert template is not None
        outputs = Outputs(self._outputs)
        view = View(self._given, outputs, self._plan.edges, self._types, self._run_id)
        rendered = render(template, view, step.agent.id)
        result.prompt = rendered.text
        result.warnings += [f"inserted as nothing: {said}" for said in rendered.missing]
        return rendered

    def _execution(self) -> dict[str, Any]:
        """What was run so far, for a validator that is handed nothing."""
        calls = [
            {"node": name, "status": output.run["status"], "error": output.run.get("error")}
            for name, output in self._outputs.items()
            if isinstance(output, AgentOutput)
        ]
        return {"nodes_executed": list(self._outputs), "tool_calls": calls}
