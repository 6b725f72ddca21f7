"""What may stand in a workflow? Its records are made of a document; what is wrong in it is told with its place."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from brain.errors import Problem
from brain.workflow.document import Document, Place
from brain.workflow.records import (
    BINARY,
    CLASSIFICATION,
    MOST_AGENTS,
    NEWER_OPERATIONS,
    ON_ERROR,
    OPERATIONS,
    STRATEGIES,
    TYPES,
    Agent,
    BrainSettings,
    LlmSettings,
    Settings,
    Workflow,
    settings_of,
)

_AGENT_KEYS = ("id", "type", "prompt", "params", "depends_on", "on_error")
_ORCHESTRATOR_KEYS = ("id", "strategy", "agents", "on_error", "concurrency")
# Keys of OrKa that change nothing about what is run here. They are told, so that nobody counts on them.
_IDLE_ORCHESTRATOR_KEYS = (
    "queue memory_preset memory memory_config name description version tags metadata timeout max_concurrent batch_size "
    "structured_output_defaults"
).split()
_IDLE_AGENT_KEYS = (
    "queue memory_preset name description tags capabilities cost_estimate safety_tags decay config metadata namespace "
    "max_concurrency stream top_k repeat_penalty parse_json input resources fallback enabled"
).split()
_MEANT = {
    "llm": "local_llm",
    "ollama": "local_llm",
    "lm_studio": "local_llm",
    "openai": "openai-answer",
    "openai-": "openai-answer",
    "binary": BINARY,
    "classification": CLASSIFICATION,
    "skill": "brain",
    "validator": "invariant_validator",
}
_ALIASES = {"url": "model_url"}


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that names what `name` may have been meant to be, or all that there is; ends a sentence."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Known are: {', '.join(names[:20])}{', …' if len(names) > 20 else ''}." if names else ""


class Reader:
    """Makes records of one document; `problems` collects what is wrong, `warnings` what has no effect."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def workflow(self) -> Workflow:
        """The workflow, as far as it can be read."""
        values = self._document.values
        made = Workflow("workflow", self._document, warnings=self.warnings)
        self._orchestrator(made, values.get("orchestrator"))
        self._agents(made, values.get("agents"))
        for key in values:
            if key in ("orchestrator", "agents") or key.startswith(("x-", ".", "_")):
                continue
            if difflib.get_close_matches(key, ("orchestrator", "agents"), n=1, cutoff=0.7):
                self._note((key,), f"unknown key {key!r}. {nearest(key, ('orchestrator', 'agents'))}", key=key)
            else:
                self._warn((key,), f"the key {key!r} has no effect here", key=key)
        if isinstance(values.get("orchestrator"), dict) and values["orchestrator"].get("agents") is None:
            self._warn(("orchestrator",), "'agents' is missing here, so all agents are run as they are defined")
            made.listed = tuple(made.agents)
        elif not made.listed and not self.problems:
            self._note(("orchestrator", "agents"), "no agent is listed. List those that are to be run.", key="agents")
        return made

    def _orchestrator(self, made: Workflow, given: Any) -> None:
        place: Place = ("orchestrator",)
        if not isinstance(given, dict):
            found = "is missing" if given is None else f"is {_kind(given)}, not a mapping"
            self._note(place, f"'orchestrator' {found}. It names id, strategy and the agents in order.")
            return
        self._unknown_keys(given, place, _ORCHESTRATOR_KEYS, _IDLE_ORCHESTRATOR_KEYS)
        made.id = self._text(given, "id", place) or made.id
        strategy = self._text(given, "strategy", place) or made.strategy
        made.strategy = strategy if strategy in STRATEGIES else "sequential"
        if strategy not in STRATEGIES:
            self._warn((*place, "strategy"), f"strategy {strategy!r} is run as 'sequential'; there is also 'parallel'")
        made.on_error = self._choice(given, "on_error", place, ON_ERROR) or made.on_error
        concurrency = given.get("concurrency", made.concurrency)
        if not isinstance(concurrency, int) or isinstance(concurrency, bool) or not 1 <= concurrency <= 1_000:
            self._note((*place, "concurrency"), "concurrency must be a whole number from 1 to 1000.", key="concurrency")
        else:
            made.concurrency = concurrency
        made.listed = self._names(given.get("agents", []), (*place, "agents"), "agents")

    def _agents(self, made: Workflow, given: Any) -> None:
        if not isinstance(given, list) or not given:
            found = "is missing" if given is None else "is empty" if given == [] else f"is {_kind(given)}, not a list"
            self._note(("agents",), f"'agents' {found}. Give a list of agents, each with id and type.")
            made.unread.update(made.listed)
            return
        if len(given) > MOST_AGENTS:
            self._note(("agents",), f"{len(given)} agents are more than {MOST_AGENTS}. Split the workflow.")
            made.unread.update(made.listed)
            return
        for i, item in enumerate(given):
            agent = self._agent(item, ("agents", i))
            if agent is None:
                made.unread.add(str(item.get("id", "")).strip() if isinstance(item, dict) else "")
                continue
            if agent.id in made.agents:
                first = self._document.problem(made.agents[agent.id].place, "").line
                message = f"the id {agent.id!r} is taken by the agent in line {first}. Give it another."
                self._note((*agent.place, "id"), message, agent.id, "id")
                continue
            made.agents[agent.id] = agent

    def _agent(self, given: Any, place: Place) -> Agent | None:
        if not isinstance(given, dict):
            self._note(place, f"an agent must be a mapping with id and type, not {_kind(given)}.")
            return None
        name = self._text(given, "id", place)
        kind = self._text(given, "type", place, name)
        for key in ("id", "type"):
            if given.get(key) is None:
                self._note((*place, key), f"the agent has no {key!r}. Give it one.", name, key)
        if not name or not kind:
            return None
        settings = settings_of(kind)
        if settings is None:
            message = f"unsupported agent type {kind!r}; supported: {', '.join(TYPES)}. {_instead(kind)}"
            self._note((*place, "type"), message.rstrip(), name, "type")
            return Agent(name, kind, place)
        made = self._settings(settings, given, place, name)
        return Agent(
            name,
            kind,
            place,
            prompt=self._prompt(given, place, name),
            operation=self._operation(given, made, place, name),
            settings=made,
            depends_on=self._names(given.get("depends_on", []), (*place, "depends_on"), "depends_on", name),
            on_error=self._choice(given, "on_error", place, ON_ERROR, name),
        )

    def _settings(self, kind: type[Settings], given: dict[str, Any], place: Place, name: str) -> Settings:
        """Settings stand in `params` or beside it; where both say one, `params` holds."""
        params = given.get("params")
        if params is not None and not isinstance(params, dict):
            self._note((*place, "params"), f"params must be a mapping, not {_kind(params)}.", name, "params")
            params = None
        known = [*kind.model_fields, *_ALIASES] if kind is LlmSettings else list(kind.model_fields)
        self._unknown_keys(given, place, (*_AGENT_KEYS, *known), _IDLE_AGENT_KEYS, name)
        self._unknown_keys(params or {}, (*place, "params"), known, _IDLE_AGENT_KEYS, name)
        places: dict[str, Place] = {}
        values: dict[str, Any] = {}
        for part, where in ((given, place), (params or {}, (*place, "params"))):
            for key, value in part.items():
                field_name = _ALIASES.get(key, key)
                if value is None and kind is BrainSettings and key in ("top_k", "min_score"):
                    self._note((*where, key), f"{key} is null. Give a number, or leave it out.", name, key)
                elif field_name in kind.model_fields:
                    values[field_name], places[field_name] = value, (*where, key)
        try:
            return kind.model_validate(values)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False)
            for fault in faults:
                key = str(fault["loc"][0])
                message = f"{key} is {_shown(values.get(key))}: {_sentence(fault['msg'])}"
                if not any(problem.agent == name and problem.key == key for problem in self.problems):
                    self._note(places.get(key, place), message, name, key)
            faulty = {fault["loc"][0] for fault in faults}
            return kind.model_validate({key: value for key, value in values.items() if key not in faulty})

    def _prompt(self, given: dict[str, Any], place: Place, name: str) -> str | None:
        prompt = given.get("prompt")
        if prompt is None or isinstance(prompt, str):
            return prompt
        hint = ' A template needs quotes: prompt: "{{ input }}".' if isinstance(prompt, dict) else ""
        self._note((*place, "prompt"), f"prompt must be text, not {_kind(prompt)}.{hint}", name, "prompt")
        return None

    def _operation(self, given: dict[str, Any], settings: Settings, place: Place, name: str) -> str:
        if not isinstance(settings, BrainSettings):
            return ""
        where: Place = (*place, "operation") if "operation" in given else (*place, "params", "operation")
        operation = settings.operation.strip().lower()
        is_told = any(problem.agent == name and problem.key == "operation" for problem in self.problems)
        if operation in OPERATIONS or is_told:
            return operation
        if not operation:
            message = f"a brain agent needs an 'operation': {', '.join(OPERATIONS)}."
        elif operation in NEWER_OPERATIONS:
            newer = ", ".join(NEWER_OPERATIONS)
            message = f"operation {operation!r} is one of OrKa's newer ones ({newer}), which are not supported. "
            message += f"Supported: {', '.join(OPERATIONS)}."
        else:
            message = f"unknown operation {settings.operation!r}. {nearest(operation, OPERATIONS)}"
        self._note(where if operation else place, message, name, "operation")
        return ""

    def _text(self, given: dict[str, Any], key: str, place: Place, name: str = "") -> str:
        value = given.get(key)
        if value is None:
            return ""
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and value.strip() and len(value) <= 200:
            return value.strip()
        found = f"text of {len(value)} characters" if isinstance(value, str) else _kind(value)
        remedy = " Put it into quotes." if isinstance(value, bool) else ""
        self._note((*place, key), f"{key} must be text of 1 to 200 characters, not {found}.{remedy}", name, key)
        return ""

    def _choice(self, given: dict[str, Any], key: str, place: Place, known: tuple[str, ...], name: str = "") -> str:
        value = given.get(key)
        if value is None or value in known:
            return value or ""
        self._note((*place, key), f"{key} is {_shown(value)}. Use {' or '.join(known)}.", name, key)
        return ""

    def _names(self, given: Any, place: Place, key: str, name: str = "") -> tuple[str, ...]:
        """Ids given as one text or as a list."""
        if given is None:
            return ()
        items = given if isinstance(given, list) else [given]
        found = []
        for i, item in enumerate(items):
            where = (*place, i) if isinstance(given, list) else place
            if isinstance(item, int | float) and not isinstance(item, bool):
                item = str(item)
            if not isinstance(item, str) or not item.strip():
                remedy = " Put it into quotes." if isinstance(item, bool) else ""
                self._note(where, f"{key} takes ids of agents, not {_kind(item)}.{remedy}", name, key)
                continue
            found.append(item.strip())
        return tuple(found)

    def _unknown_keys(
        self, given: dict[str, Any], place: Place, known: Iterable[str], idle: list[str], name: str = ""
    ) -> None:
        names = list(known)
        for key in given:
            if key in names or key.startswith(("x-", "_")):
                continue
            if key in idle:
                self._warn((*place, key), f"the key {key!r} has no effect here", name, key)
            else:
                self._note((*place, key), f"unknown key {key!r}. {nearest(key, names)}", name, key)

    def _note(self, place: Place, message: str, name: str = "", key: str = "") -> None:
        self.problems.append(self._document.problem(place, message, name, key))

    def _warn(self, place: Place, message: str, name: str = "", key: str = "") -> None:
        self.warnings.append(self._document.problem(place, message, name, key))


def _instead(kind: str) -> str:
    if kind in ("fork", "join"):
        return "Say with 'depends_on' what waits for what, and 'strategy: parallel'."
    meant = _MEANT.get(kind) or next(iter(difflib.get_close_matches(kind, _MEANT.values(), n=1, cutoff=0.8)), "")
    return f"Did you mean {meant!r}?" if meant else "Take the agent out, or run this workflow with OrKa."


def _sentence(message: str) -> str:
    said = message.removeprefix("Value error, ").replace("Input should be", "it should be")
    return f"{said[:1].lower()}{said[1:].rstrip('.')}."


def _shown(value: Any) -> str:
    return "null" if value is None else f"{str(value)[:40]!r}" if isinstance(value, str) else str(value)[:40]


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else "true or false" if isinstance(value, bool) else repr(value)[:40]
