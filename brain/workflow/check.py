"""Can a workflow be run? Everything that can be told before anything is run, all at once, with place and remedy."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from brain.errors import PayloadError, Problem, WorkflowError
from brain.workflow.answers import python_literal
from brain.workflow.document import Document, Place, read_document
from brain.workflow.llm import is_address
from brain.workflow.payload import check_payload
from brain.workflow.plan import Plan, Step, find_cycle, in_order
from brain.workflow.records import (
    CLASSIFICATION,
    DEFAULT_MODEL,
    MODEL_VARIABLE,
    PROVIDERS,
    Agent,
    BrainSettings,
    LlmSettings,
    Workflow,
    settings_of,
)
from brain.workflow.references import Reference, References
from brain.workflow.schema import Reader, nearest
from brain.workflow.values import words_as_json

KEY_VARIABLE, URL_VARIABLE = "OPENAI_API_KEY", "OPENAI_BASE_URL"
"""Environment variables of `openai-*` agents; one of them is needed."""


def load(path: str | Path, overrides: Iterable[str] = (), environment: Mapping[str, str] = os.environ) -> Plan:
    """The plan of the workflow in a file, with `overrides` ("key=value", "agent.key=value") put over it.

    Raises `WorkflowError` with every problem. Nothing is run and nothing is asked over the network.
    """
    from brain.workflow.overrides import put_over

    document = read_document(path)
    put_over(document, overrides)
    return plan_of(document, environment)


def plan_of(document: Document, environment: Mapping[str, str] = os.environ) -> Plan:
    """The plan of a document. Raises `WorkflowError` with every problem."""
    reader = Reader(document)
    workflow = reader.workflow()
    checking = _Checking(workflow, environment, reader.problems)
    plan = checking.plan()
    if checking.problems:
        raise WorkflowError(sorted(dict.fromkeys(checking.problems), key=_by_line))
    plan.warnings = sorted(dict.fromkeys(checking.warnings), key=_by_line)
    return plan


class _Checking:
    """Collects the problems of one workflow on the way to its plan. Those of agents that are not run are warnings."""

    def __init__(self, workflow: Workflow, environment: Mapping[str, str], problems: list[Problem]) -> None:
        from brain.workflow.rendering import make_environment

        unlisted = workflow.agents.keys() - set(workflow.listed)
        self.problems = [problem for problem in problems if problem.agent not in unlisted]
        self.warnings = workflow.warnings + [problem for problem in problems if problem.agent in unlisted]
        self._workflow, self._document = workflow, workflow.document
        self._variables = environment
        self._templates = make_environment()

    def plan(self) -> Plan:
        """The plan; of no use if there are problems."""
        self._listing()
        steps = {agent.id: self._step(agent) for agent in self._listed()}
        waits = self._waits(steps)
        order = self._order(steps, waits)
        self._references(steps, order, waits)
        ordered = [steps[name] for name in order]
        return Plan(self._workflow, ordered, waits, _wanted(ordered))

    def _listed(self) -> list[Agent]:
        names = dict.fromkeys(self._workflow.listed)
        return [self._workflow.agents[name] for name in names if name in self._workflow.agents]

    def _listing(self) -> None:
        known, seen = self._workflow.agents, set[str]()
        for i, name in enumerate(self._workflow.listed):
            place: Place = ("orchestrator", "agents", i)
            if name in seen:
                self._note(place, "is listed twice. Remove one.", name, "agents")
            elif name not in known and name not in self._workflow.unread:
                self._note(place, f"is listed but not defined. {nearest(name, known)}", name, "agents")
            seen.add(name)
        for name, agent in known.items():
            if name not in seen:
                self._warn(agent.place, "is defined but not listed under orchestrator.agents, so it is not run", name)

    def _step(self, agent: Agent) -> Step:
        if settings_of(agent.type) is None:  # told already
            return Step(agent, None, References())
        template, reads = self._template(agent, agent.prompt)
        if isinstance(agent.settings, LlmSettings):
            self._llm(agent, agent.settings)
            system, more = self._template(agent, agent.settings.system_prompt or None, "system_prompt")
            return Step(agent, template, reads | more, system)
        if agent.type == "brain":
            self._brain(agent)
        return Step(agent, template, reads)

    def _llm(self, agent: Agent, settings: LlmSettings) -> None:
        is_told = any(problem.agent == agent.id and problem.key == "prompt" for problem in self.problems)
        if not (agent.prompt or "").strip() and not is_told:
            self._note(agent.place, "has no prompt. Say what the model is asked.", agent.id, "prompt")
        if agent.type == CLASSIFICATION and not settings.options:
            self._note_setting(agent, "options", "has no options. List what the model may choose from.")
        if agent.type != "local_llm":
            self._hosted(agent, settings)
            return
        if settings.provider not in PROVIDERS:
            found = f"has the unknown provider {settings.provider!r}" if settings.provider else "has no provider"
            self._note_setting(agent, "provider", f"{found}. Use {', '.join(PROVIDERS)}.")
        if not is_address(settings.model_url):
            found = f"has the model_url {settings.model_url!r}" if settings.model_url else "has no model_url"
            self._note_setting(agent, "model_url", f"{found}. Give the endpoint, such as http://localhost:1234.")
        if not settings.model:
            message = f"has no model, so {DEFAULT_MODEL!r} is asked, as in OrKa; name the one that the endpoint serves"
            self._warn(agent.place, message, agent.id, "model")
        self._key(agent, settings.api_key_env)

    def _hosted(self, agent: Agent, settings: LlmSettings) -> None:
        if not settings.model and not self._variables.get(MODEL_VARIABLE):
            self._note_setting(agent, "model", f"has no model. Name one, or set {MODEL_VARIABLE}.")
        url = self._variables.get(URL_VARIABLE, "")
        if settings.model_url and not is_address(settings.model_url):
            message = f"has the model_url {settings.model_url!r}. Give the endpoint, such as https://api.openai.com/v1."
            self._note_setting(agent, "model_url", message)
        elif not settings.model_url and url and not is_address(url):
            message = f"{URL_VARIABLE} is no address of an endpoint. Correct it, such as https://api.openai.com/v1."
            self._note(agent.place, message, agent.id, "model_url")
        if settings.api_key_env:
            self._key(agent, settings.api_key_env)
        elif not settings.model_url and not any(self._variables.get(name) for name in (KEY_VARIABLE, URL_VARIABLE)):
            message = f"there is no API key: {KEY_VARIABLE} is not set. Set it, or put it into a file for --env-file."
            self._note(agent.place, message, agent.id, "api_key_env")

    def _key(self, agent: Agent, variable: str) -> None:
        if variable and not self._variables.get(variable):
            message = f"the environment variable {variable!r} is not set. Set it, or put it into a file for --env-file."
            self._note_setting(agent, "api_key_env", message)

    def _template(self, agent: Agent, text: str | None, key: str = "prompt") -> tuple[Any, References]:
        from brain.workflow.compiling import compiled

        if text is None:
            return None, References()
        found = compiled(self._templates, text, self._hint)
        for fault in found.faults:
            (self._warn_line if fault.mild else self._note_line)(agent, fault.line, fault.message, key)
        return found.template, found.reads

    def _brain(self, agent: Agent) -> None:
        """A payload that is written out can be checked now."""
        prompt = (agent.prompt or "").strip()
        if not agent.operation or "{{" in prompt or "{%" in prompt or not prompt.startswith("{"):
            return
        try:
            literal = python_literal(prompt) if prompt[1:].lstrip().startswith("'") else None
            payload = literal if isinstance(literal, dict) else json.loads(words_as_json(prompt))
            check_payload(agent.id, agent.operation, payload)
        except PayloadError as error:
            message = str(error).removeprefix(f"agent {agent.id!r}: ")
            self._note((*agent.place, "prompt"), message, agent.id, error.key or "prompt")
        except json.JSONDecodeError as error:
            self._note_line(agent, error.lineno, f"the payload is not JSON: {error.msg}. Correct it there.")
        except (ValueError, RecursionError) as error:
            self._note(
                (*agent.place, "prompt"), f"the payload is not usable JSON: {error}. Correct it.", agent.id, "prompt"
            )

    def _waits(self, steps: Mapping[str, Step]) -> dict[str, frozenset[str]]:
        """What each agent waits for: as it says, and where agents are run at once, for those that it reads.

        A recall then also waits for what the brain is told before it in the list, so that the result does not depend on
        how fast a model answers.
        """
        waits: dict[str, frozenset[str]] = {}
        before: list[str] = []
        for name, step in steps.items():
            found = {other for other in step.agent.depends_on if self._may_wait(step.agent, other)}
            if self._workflow.strategy == "parallel":
                found |= {read.agent for read in step.reads.agents if read.agent in steps}
                if step.reads.reads_all or step.agent.type == "invariant_validator":
                    found |= set(before)
                if step.agent.operation == "recall":
                    found |= {other for other in before if steps[other].agent.operation in ("learn", "feedback")}
            waits[name] = frozenset(found - {name})
            before.append(name)
        return waits

    def _may_wait(self, agent: Agent, other: str) -> bool:
        listed, known = self._workflow.listed, self._workflow.agents
        if other in listed and other in known and other != agent.id:
            return True
        if other == agent.id:
            message = "depends on itself. Remove it."
        elif other in known:
            message = f"depends on {other!r}, which is not listed under orchestrator.agents. List it."
        else:
            message = f"depends on {other!r}, which is not defined. {nearest(other, known)}"
        self._note((*agent.place, "depends_on"), message, agent.id, "depends_on")
        return False

    def _order(self, steps: Mapping[str, Step], waits: Mapping[str, frozenset[str]]) -> list[str]:
        ring = find_cycle(list(steps), waits)
        if not ring:
            return in_order(list(steps), waits)
        shown = " → ".join(reversed(ring[:12]))
        place = steps[ring[0]].agent.place
        self._note(
            (*place, "depends_on"), f"agents wait for each other: {shown}. Break the ring.", ring[0], "depends_on"
        )
        return list(steps)

    def _references(self, steps: Mapping[str, Step], order: list[str], waits: Mapping[str, frozenset[str]]) -> None:
        """Every agent that is read must have run by then, unless the template says what to do without it."""
        position = {name: i for i, name in enumerate(order)}
        is_parallel = self._workflow.strategy == "parallel"
        for name, step in steps.items():
            for read in step.reads.agents:
                ran = read.agent in position and (
                    read.agent in waits[name] if is_parallel else position[read.agent] < position[name]
                )
                if ran:
                    continue
                message = self._unread(read, name)
                if read.guarded:
                    self._warn_line(step.agent, read.line, f"{message} Its default is taken.")
                else:
                    self._note_line(step.agent, read.line, message)

    def _unread(self, read: Reference, name: str) -> str:
        known = self._workflow.agents
        if read.agent == name:
            return f"reads its own output {read.agent!r}, which is not there yet."
        if read.agent not in known:
            return f"reads {read.agent!r}, and there is no such agent. {self._hint(read.agent, known)}"
        if read.agent not in self._workflow.listed:
            return f"reads {read.agent!r}, which is not listed under orchestrator.agents. List it before."
        return f"reads {read.agent!r}, which has not run by then. List it before, or use default()."

    def _hint(self, name: str, known: Iterable[str]) -> str:
        """The nearest name; an id with a hyphen must be read by brackets."""
        hyphened = [agent for agent in self._workflow.agents if "-" in agent and name in agent.split("-")]
        if hyphened:
            return f"Write previous_outputs[{hyphened[0]!r}]: a name with a hyphen is a subtraction."
        return nearest(name, known)

    def _note_setting(self, agent: Agent, key: str, message: str) -> None:
        self._note(self._place_of(agent, key), message, agent.id, key)

    def _place_of(self, agent: Agent, key: str) -> Place:
        values: Any = self._document.values["agents"][agent.place[-1]]
        params = values.get("params")
        inner = isinstance(params, dict) and key in params
        return (*agent.place, "params", key) if inner else (*agent.place, key)

    def _note_line(self, agent: Agent, line: int, message: str, key: str = "prompt") -> None:
        self.problems.append(self._at_line(agent, line, message, key))

    def _warn_line(self, agent: Agent, line: int, message: str, key: str = "prompt") -> None:
        self.warnings.append(self._at_line(agent, line, message, key))

    def _at_line(self, agent: Agent, line: int, message: str, key: str) -> Problem:
        """A problem in a line of a prompt: where the prompt is a literal block, that line of the file."""
        place = self._place_of(agent, key)
        found = self._document.problem(place, message, agent.id, key)
        begins = self._document.texts.get(place)
        if begins is None or not found.line:
            return found
        return Problem(message, found.path, begins + line - 1, 1, agent.id, key)

    def _note(self, place: Place, message: str, agent: str = "", key: str = "") -> None:
        self.problems.append(self._document.problem(place, message, agent, key))

    def _warn(self, place: Place, message: str, agent: str = "", key: str = "") -> None:
        self.warnings.append(self._document.problem(place, message, agent, key))


def _by_line(problem: Problem) -> tuple[int, int]:
    return problem.line, problem.column


def _wanted(steps: list[Step]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for step in steps:
        for read in step.reads.agents:
            if read.field or isinstance(step.agent.settings, BrainSettings):
                found.setdefault(read.agent, set()).add(read.field)
    return {agent: frozenset(fields) for agent, fields in found.items()}
