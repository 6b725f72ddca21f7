"""What does a brain agent make of what it is handed? Values that models write as text are understood here, only here.

A payload is an object, as OrKa's brain agent takes it. "false", "0.9", "85%" and "3" mean what they say; what cannot be
understood is refused with the key and the remedy, never guessed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brain.analysis.wordclasses import WordClass, words_of
from brain.config import DEFAULT_MIN_SCORE
from brain.errors import PayloadError
from brain.model.inputs import step_text
from brain.workflow.answers import object_in, python_literal
from brain.workflow.values import AgentOutput, InputText, NumberText, as_json, plain

DEFAULT_DOMAIN, DEFAULT_TOP_K, DEFAULT_QUALITY = "general", 3, 0.5
"""What OrKa's brain agent takes where a payload does not say."""

_TRUE = frozenset("true yes y 1 ok success successful succeeded passed pass worked".split())
_FALSE = frozenset("false no n 0 fail failed failure unsuccessful error".split()) | {""}
_STEP_KEYS = ("step", "title", "task", "instruction", "adapted_action", "what", "text", "content", "summary")
_LONGEST_TASK, _LONGEST_APPROACH, _SHORTEST_SENTENCE, _MOST_SENTENCES = 200, 400, 20, 8
_NUMBERED = re.compile(r"^\s*(?:(?:step\s*)?\d{1,2}[.):]|[-*•])\s+(.+)$", re.IGNORECASE | re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_JSON_BEGINS = re.compile(r"""\{|\[\s*["'{\[]""")
_MARKUP = re.compile(r"[*_`#]+")


@dataclass(frozen=True)
class Lesson:
    """What `learn` is to learn, as arguments of `Brain.observe`; `notes` say what was left out or taken for granted."""

    execution_trace: dict[str, Any]
    context: dict[str, Any]
    outcome: dict[str, Any]
    skill_name: str | None = None
    derived_from: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Request:
    """What `recall` is asked. `skill_types` and `domains` narrow the result, empty: all. `task` is the bare task."""

    context: dict[str, Any]
    task: str
    top_k: int = DEFAULT_TOP_K
    min_score: float = DEFAULT_MIN_SCORE
    skill_types: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What `feedback` is told. `success` is None where the payload does not say; `skill_id` is empty if it has none."""

    skill_id: str
    context: dict[str, Any]
    success: bool | None
    adaptations: dict[str, Any]


def payload_of(agent: str, given: Any, fault: str = "") -> dict[str, Any]:
    """The payload in what an agent was handed: an object, its JSON or Python text, a model's text around one, or text.

    `fault` is what is wrong with `given` if its author wrote JSON. Raises `PayloadError`.
    """
    value = given.value if isinstance(given, InputText) else given
    if isinstance(value, str):
        value = _read(value, is_json=bool(fault))
        if isinstance(value, str) and fault:
            raise PayloadError(agent, "prompt", f"it looks like JSON but is not: {fault}. Correct it there.")
    if isinstance(value, list):
        value = {"steps": value}
    if isinstance(value, str):
        value = {"response": value} if value.strip() else {}
    if not isinstance(value, dict):
        raise PayloadError(
            agent, "prompt", f'it is {_shown(value)}, not an object. Hand over one such as {{"task": …}}.'
        )
    inner = value.get("response")
    if isinstance(inner, dict) and not _is_told(value, "steps") and not _is_told(value, "skill_id"):
        value = {**value, **inner}
    return value if isinstance(value, AgentOutput) else dict(value)


def check_payload(agent: str, operation: str, payload: Any) -> None:
    """Raises `PayloadError` if `operation` cannot use `payload`."""
    readers: dict[str, Callable[[str, dict[str, Any]], Any]] = {"learn": lesson, "recall": request, "feedback": verdict}
    readers[operation](agent, payload_of(agent, payload))


def lesson(agent: str, payload: dict[str, Any]) -> Lesson:
    """What to learn from a payload. Raises `PayloadError` if it tells no steps, or says something not usable."""
    notes: list[str] = []
    steps = _steps(agent, payload.get("steps"), notes)
    response = _prose(payload, "response")
    said = max(response, _prose(payload, "internal_reasoning"), key=len)
    if not steps:
        steps = [{"action": text} for text in _told_steps(said)]
        if not steps:
            message = 'there is nothing to learn: no steps, and no text that tells any. Ask the model for "steps".'
            raise PayloadError(agent, "steps", message)
        notes.append("the steps were taken from the text of the answer, because it has no 'steps'")
    confidence = _confidence(payload, notes)
    context = {
        "domain": _text(payload, "domain") or DEFAULT_DOMAIN,
        "task": _text(payload, "task") or _shortened(response or said or ", ".join(map(step_text, steps))),
        "input": payload.get("input_description") or response[:100],
    }
    trace = {"steps": plain(steps), "agents": [agent], "strategy": _text(payload, "strategy") or "sequential"}
    success = _truth(agent, payload, "success")
    outcome = {"success": success is not False, "quality": _unit(agent, payload, "quality", confidence)}
    used = payload.get("derived_from")
    return Lesson(
        trace,
        context,
        outcome,
        _text(payload, "skill_name") or None,
        tuple(str(one) for one in used) if isinstance(used, list) else (),
        notes,
    )


def request(agent: str, payload: dict[str, Any], defaults: Mapping[str, Any] | None = None) -> Request:
    """What a payload asks for. `defaults` hold for what it does not say. Raises `PayloadError`.

    A payload without planned steps is a model's view of a task: how it means to go about it is compared as well. On 12
    pairs of a diagnosis and a debugging task that finds 4, the bare task none; of 9 unrelated pairs neither finds any.
    """
    given = {**(defaults or {}), **payload}
    task = _text(given, "task") or _shortened(_prose(given, "response"))
    steps = _steps(agent, given.get("steps"), [])
    if not task and not steps:
        raise PayloadError(agent, "task", 'there is no task to recall for. Say in "task" what is to be done.')
    approach = "" if steps else _text(given, "internal_reasoning")[:_LONGEST_APPROACH]
    context: dict[str, Any] = {
        "domain": _text(given, "domain") or DEFAULT_DOMAIN,
        "task": f"{task.rstrip('.')}. {approach}" if approach else task,
        "input": given.get("input_description") or _prose(given, "response")[:100],
    }
    if steps:
        context["steps"] = plain(steps)
    return Request(
        context,
        task,
        _whole(agent, given, "top_k", DEFAULT_TOP_K),
        _unit(agent, given, "min_score", DEFAULT_MIN_SCORE),
        _names(agent, given, "skill_types"),
        _names(agent, given, "domain_filter"),
    )


def verdict(agent: str, payload: dict[str, Any]) -> Verdict:
    """How an applied skill did, by a payload. Raises `PayloadError`."""
    context = {
        "domain": _text(payload, "domain") or DEFAULT_DOMAIN,
        "task": _text(payload, "task") or _text(payload, "skill_name")[:_LONGEST_TASK],
    }
    return Verdict(
        _text(payload, "skill_id"), context, _truth(agent, payload, "success"), _object(payload.get("adaptations"))
    )


def _read(text: str, is_json: bool = False) -> Any:
    """What a text says: JSON, JSON in a JSON string, a Python literal, an object in a model's text, or the text itself.

    `is_json`: an author meant it as JSON. Then nothing is mended, and Python's words are understood only if they are
    meant: between double quotes Python would join two strings that lack a comma.
    """
    value: Any = text
    for _ in range(2):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            break
        if not isinstance(value, str):
            return value if isinstance(value, dict | list) else text
    literal = python_literal(text) if not is_json or text.lstrip()[1:].lstrip().startswith("'") else None
    if isinstance(literal, dict | list):
        return plain(literal)
    return text if is_json else object_in(text) or text


def _is_told(payload: dict[str, Any], key: str) -> bool:
    return payload.get(key) not in (None, "", [], {})


def _text(payload: Mapping[str, Any], key: str) -> str:
    """The text of a key, whatever a model has put there."""
    value = payload.get(key)
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    if isinstance(value, str | int | float):
        return str(value).strip()
    try:
        return as_json(value)
    except (TypeError, ValueError, RecursionError):  # such as of NaN; whether it may be learned is not decided here
        return str(value)


def _prose(payload: Mapping[str, Any], key: str) -> str:
    """The text of a key; nothing if it is JSON, such as of an answer that has no response: its keys tell no steps."""
    text = _text(payload, key)
    return "" if _JSON_BEGINS.match(text) else text


def _object(value: Any) -> dict[str, Any]:
    found = _read(value) if isinstance(value, str) else value
    if isinstance(found, dict):
        return dict(plain(found))
    return {"notes": plain(found)} if found else {}


def _steps(agent: str, value: Any, notes: list[str]) -> list[Any]:
    """Steps as texts or as objects with a text; a model's other ways to write a list are understood."""
    if isinstance(value, str):
        found = _read(value)
        value = found if isinstance(found, list | dict) else _told_steps(value) or ([value] if value.strip() else [])
    if isinstance(value, dict):
        value = list(value.values())
    if value is None:
        return []
    if not isinstance(value, list):
        raise PayloadError(agent, "steps", f"it is {_shown(value)}, not a list. Give a list of texts or objects.")
    steps = []
    for item in value:
        if isinstance(item, dict) and not step_text(item):
            text = next((item[key] for key in _STEP_KEYS if isinstance(item.get(key), str) and item[key].strip()), "")
            item = {**item, "action": text} if text else item
        if step_text(item):
            steps.append(item)
    if len(steps) < len(value):
        notes.append(f"{len(value) - len(steps)} of {len(value)} steps say nothing and were left out")
    return steps


def _told_steps(text: str) -> list[str]:
    """Steps in a text: the items of a list in it, else the sentences that say what is done."""
    listed = [_MARKUP.sub("", item).strip() for item in _NUMBERED.findall(text)]
    if len(listed) > 1:
        return listed
    sentences = [sentence.strip() for sentence in _SENTENCE.split(text)]
    long_enough = [sentence for sentence in sentences if len(sentence) >= _SHORTEST_SENTENCE]
    return [sentence for sentence in long_enough if _says_what_is_done(sentence)][:_MOST_SENTENCES]


def _says_what_is_done(sentence: str) -> bool:
    return any(word.kind == WordClass.VERB for word in words_of(sentence))


def _shortened(text: str) -> str:
    """The first sentence of a text, or as many of its words as a task may have."""
    first = _SENTENCE.split(text.strip())[0] if text.strip() else ""
    if len(first) <= _LONGEST_TASK:
        return first
    return first[:_LONGEST_TASK].rsplit(" ", 1)[0]


def _confidence(payload: dict[str, Any], notes: list[str]) -> float:
    """A model's own estimate: never a reason to refuse an answer."""
    value = payload.get("confidence")
    if value is None or (isinstance(value, NumberText) and not value.is_stated):
        return DEFAULT_QUALITY
    number = _number(value)
    if number is None:
        notes.append(f"the confidence {_shown(value)} is not a number; {DEFAULT_QUALITY} was taken")
        return DEFAULT_QUALITY
    if not 0 <= number <= 1:
        notes.append(f"the confidence {_shown(value)} is not within 0 and 1; the nearest was taken")
    return min(max(number, 0.0), 1.0)


def _unit(agent: str, payload: Mapping[str, Any], key: str, default: float) -> float:
    if key not in payload:
        return default
    number = _number(payload[key])
    if number is None or not 0 <= number <= 1:
        raise PayloadError(agent, key, f"it is {_shown(payload[key])}. Give a number from 0 to 1, or leave it out.")
    return number


def _whole(agent: str, payload: Mapping[str, Any], key: str, default: int) -> int:
    if key not in payload:
        return default
    number = _number(payload[key])
    if number is None or number < 1 or number != int(number) or number > 10_000:
        message = f"it is {_shown(payload[key])}. Give a whole number of at least 1, or leave it out."
        raise PayloadError(agent, key, message)
    return int(number)


def _number(value: Any) -> float | None:
    """A number, or text that is one, with a per cent sign or not; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = str(value).strip()
    scale = 0.01 if text.endswith("%") else 1.0
    try:
        number = float(text.removesuffix("%")) * scale
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _truth(agent: str, payload: Mapping[str, Any], key: str) -> bool | None:
    """Whether a key says yes; None if it is not there."""
    value = payload.get(key)
    if key not in payload or isinstance(value, bool):
        return value
    said = str(value).strip().lower().rstrip(".!")
    if said in _TRUE:
        return True
    if said in _FALSE:
        return False
    raise PayloadError(agent, key, f"it is {_shown(value)}. Say true or false.")


def _names(agent: str, payload: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = payload.get(key)
    items = [value] if isinstance(value, str) else value or []
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise PayloadError(agent, key, f"it is {_shown(value)}. Give a list of names.")
    return tuple(items)


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    return json.dumps(plain(value), ensure_ascii=False, default=str)[:60]
