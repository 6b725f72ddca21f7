"""What does a caller put over a workflow's file? "key=value" for all that take the key, "agent.key=value" for one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from brain.errors import Problem, WorkflowError
from brain.workflow.document import Document, Place
from brain.workflow.records import BrainSettings, LlmSettings, ValidatorSettings, settings_of
from brain.workflow.schema import nearest

_OF_ORCHESTRATOR = ("strategy", "on_error", "concurrency")
_OF_AGENT = ("type", "prompt", "operation", "depends_on", "on_error")
_TEXTS = ("type", "prompt", "operation", "on_error", "strategy")  # a model may be called 4 as well, and a prompt "no"
_OF_ALL = tuple(dict.fromkeys((*LlmSettings.model_fields, "top_k", "min_score")))


def put_over(document: Document, overrides: Iterable[str]) -> None:
    """Changes the values of a document. Raises `WorkflowError` for one that names nothing there is."""
    problems = []
    for text in overrides:
        try:
            _put(document, text)
        except ValueError as error:
            problems.append(Problem(str(error), f"--set {text.partition('=')[0]}"))
    if problems:
        raise WorkflowError(problems)


def _put(document: Document, text: str) -> None:
    name, equals, written = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{text!r} is not KEY=VALUE. Write such as model=llama3 or agent.model=llama3.")
    agent, dot, key = name.strip().rpartition(".")
    if dot:
        _put_agent(document, agent, key, written, text)
    elif key in _OF_ORCHESTRATOR:
        orchestrator = document.values.setdefault("orchestrator", {})
        if isinstance(orchestrator, dict):
            _set(document, orchestrator, ("orchestrator",), key, _value(written, key not in _TEXTS), text)
    elif key in _OF_ALL:
        _put_all(document, key, written, text)
    else:
        raise ValueError(f"there is no key {key!r} to set. {nearest(key, (*_OF_ORCHESTRATOR, *_OF_ALL))}")


def _value(written: str, is_read: bool) -> Any:
    """What was written; with `is_read` what YAML reads in it, if that is more than text."""
    try:
        value = yaml.safe_load(written) if is_read else written
    except (yaml.YAMLError, ValueError, RecursionError):
        return written
    return value if isinstance(value, int | float | bool | list | dict) else written


def _agents(document: Document) -> list[tuple[int, dict[str, Any]]]:
    found = document.values.get("agents")
    return [(i, item) for i, item in enumerate(found) if isinstance(item, dict)] if isinstance(found, list) else []


def _put_agent(document: Document, name: str, key: str, written: str, text: str) -> None:
    agents = {str(item.get("id")): (i, item) for i, item in _agents(document)}
    if name not in agents:
        raise ValueError(f"there is no agent {name!r}. {nearest(name, agents)}")
    i, item = agents[name]
    kind = settings_of(str(item.get("type"))) or LlmSettings
    if key not in _OF_AGENT and key not in kind.model_fields:
        raise ValueError(f"agent {name!r} takes no {key!r}. {nearest(key, (*_OF_AGENT, *kind.model_fields))}")
    _put_setting(document, i, item, key, written, text)


def _put_all(document: Document, key: str, written: str, text: str) -> None:
    takers = [(i, item) for i, item in _agents(document) if key in _fields_of(item)]
    if not takers:
        raise ValueError(f"no agent of the workflow takes {key!r}. Leave it out.")
    for i, item in takers:
        _put_setting(document, i, item, key, written, text)


def _fields_of(item: dict[str, Any]) -> Iterable[str]:
    kind: type[LlmSettings] | type[BrainSettings] | type[ValidatorSettings] | None
    kind = settings_of(str(item.get("type")))
    return kind.model_fields if kind else ()


def _put_setting(document: Document, i: int, item: dict[str, Any], key: str, written: str, text: str) -> None:
    """Puts a value where it holds: in `params`, unless it is a key of the agent itself."""
    place: Place = ("agents", i)
    kind = settings_of(str(item.get("type"))) or LlmSettings
    is_text = key in _TEXTS or (key in kind.model_fields and kind.model_fields[key].annotation is str)
    value = _value(written, not is_text)
    if key not in _OF_AGENT:
        params = item.get("params")
        if not isinstance(params, dict):
            params = item["params"] = {}
        params.pop("url" if key == "model_url" else key, None)
        item.pop("url" if key == "model_url" else key, None)
        item, place = params, (*place, "params")
    _set(document, item, place, key, value, text)


def _set(document: Document, holder: dict[str, Any], place: Place, key: str, value: Any, text: str) -> None:
    holder[key] = value
    document.given[*place, key] = f"--set {text}"
