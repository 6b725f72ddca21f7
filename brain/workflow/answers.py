"""What did a model answer? Its text as an object: plain JSON, fenced, after a thinking block, in prose, cut off, none.

Nothing in an answer is evaluated or followed; it is read as data.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from brain.model.inputs import step_text
from brain.workflow.values import number_text

_THINKING = re.compile(r"<(think|thinking|reasoning|thought)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THINKING = re.compile(r"<(?:think|thinking|reasoning|thought)>.*\Z", re.DOTALL | re.IGNORECASE)
_END_OF_THINKING = re.compile(r"\A.*</(?:think|thinking|reasoning|thought)>", re.DOTALL | re.IGNORECASE)
_CHANNEL = re.compile(r"<\|(?:channel|start|end|message|return)\|>")
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_FENCE_BEGINS = re.compile(r"```[\w+-]*\Z")
_BEGINNING = re.compile(r"""\{\s*(?:"|'|//|/\*)""")
_MOST_TRIES = 200
"""Places of a text at which a JSON object may begin that are tried."""
LARGEST_MENDED, DEEPEST_ANSWER = 50_000, 60
"""Characters of a broken JSON text that are mended, and levels of nesting of an answer that are kept."""
_SAYING = ("answer", "result", "output", "solution", "summary", "text", "content")  # keys that stand for the response
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Answer:
    """What a model answered.

    `fields` has all keys of its JSON object, and always response, confidence (as text) and internal_reasoning. `form`
    is "json", "fenced", "embedded", "list" or "text". `is_repaired`: its JSON had to be mended to be read;
    `is_truncated`: its end is missing.
    """

    fields: dict[str, Any]
    form: str
    is_repaired: bool = False
    is_truncated: bool = False


@dataclass(frozen=True)
class _Found:
    value: Any
    form: str
    is_repaired: bool = False
    is_truncated: bool = False


def read_answer(text: str, *, cut_off: bool = False) -> Answer | None:
    """The answer in a model's text, None if it says nothing. `cut_off`: the model stopped at its limit of tokens."""
    said = without_thinking(text)
    if not said:
        return None
    found = _complete(said) or _mended(said) or _Found(None, "text")
    fields = found.value if isinstance(found.value, dict) else {}
    if isinstance(found.value, dict) and not any(value not in (None, "", [], {}) for value in fields.values()):
        return None
    form = found.form
    if isinstance(found.value, list):
        form = "list"
        fields = {"steps": found.value} if found.value and all(step_text(item) for item in found.value) else {}
    return Answer(_filled(fields, said), form, found.is_repaired, found.is_truncated or cut_off)


def without_thinking(text: str) -> str:
    """What is said after the model's thinking; empty if it only thought. Half characters are replaced."""
    text = _SURROGATE.sub("\ufffd", text).lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[", "```")):  # no thinking comes after the answer has begun
        return text.rstrip()
    text = text.rpartition("<|message|>")[2]  # of a model's channels the last one is the answer
    text = _CHANNEL.sub("", text)
    text = _THINKING.sub("", text)
    text = _END_OF_THINKING.sub("", text)
    return _OPEN_THINKING.sub("", text).strip()


def object_in(text: str) -> dict[str, Any] | None:
    """The JSON object in a text, mended if it must be; None if there is none."""
    said = without_thinking(text)
    found = _complete(said) or _mended(said)
    return found.value if found and isinstance(found.value, dict) else None


def python_literal(text: str) -> Any:
    """The object that a text is in Python's words, as templates print it; None if it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that are none
            return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _complete(said: str) -> _Found | None:
    """JSON that is whole: all of the text, a fenced block, or the largest object in prose."""
    value = _loaded(said)
    if isinstance(value, dict | list):
        return _cleaned(value, "json")
    for block in _FENCE.findall(said):
        value = _loaded(block.strip())
        if isinstance(value, dict | list):
            return _cleaned(value, "fenced")
    objects = list(_objects_in(said))
    return _cleaned(max(objects, key=lambda pair: pair[0])[1], "embedded") if objects else None


def _objects_in(said: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The outermost JSON objects of a text with their lengths. What is cut off holds none that is meant."""
    decoder = json.JSONDecoder()
    position = tries = 0
    while tries < _MOST_TRIES and (position := said.find("{", position)) >= 0:
        tries += 1
        try:
            value, end = decoder.raw_decode(said, position)
        except (ValueError, RecursionError):
            if _BEGINNING.match(said, position):
                return  # an object that is broken: what is whole inside it is a part of the answer, not the answer
            position += 1
            continue
        if value:
            yield end - position, value
        position = end


def _mended(said: str) -> _Found | None:
    """A JSON object that can be read once it is mended: cut off, with single quotes, comments or stray commas."""
    begin = _BEGINNING.search(said)
    if begin is None:
        return None
    text = said[begin.start() :]
    is_half, is_open, depth = _left_open(text)
    if len(text) > LARGEST_MENDED or depth > DEEPEST_ANSWER:  # to mend takes longer than in proportion
        return _Found(None, "text", is_truncated=is_open)
    value = python_literal(text)
    if value is None:
        value = _repaired(text)
    if not isinstance(value, dict) or not value or not any(str(key) in text for key in value):
        return None
    if is_half and isinstance(value.get("steps"), list) and list(value)[-1] == "steps":
        value["steps"] = value["steps"][:-1]  # half a step is none
    before = said[: begin.start()].rstrip()
    form = "json" if not before else "fenced" if _FENCE_BEGINS.search(before) else "embedded"
    return _Found(_clean(value)[0], form, is_repaired=True, is_truncated=is_open)


def _repaired(text: str) -> Any:
    try:
        import json_repair

        return json_repair.loads(text, skip_json_loads=True)
    except (ImportError, ValueError, RecursionError):  # a `BrainAgent` may be used without the extra
        return None


def _left_open(text: str) -> tuple[bool, bool, int]:
    """Whether a JSON text ends in half an item of a field, whether before it is closed, and how deep it is nested."""
    depth, deepest, in_string = 0, 0, False
    for found in re.finditer(r'\\.|["{}\[\]]', text, re.DOTALL):
        sign = found[0]
        if sign == '"':
            in_string = not in_string
        elif not in_string and len(sign) == 1:
            depth += 1 if sign in "{[" else -1
            deepest = max(deepest, depth)
            if not depth:
                return False, False, deepest
    return in_string and depth > 1, True, deepest


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _cleaned(value: Any, form: str) -> _Found:
    clean, changed = _clean(value)
    return _Found(clean, form, is_repaired=changed)


def _clean(value: Any, depth: int = 0) -> tuple[Any, bool]:
    """`value` without what no store can keep (NaN, lone surrogates, endless nesting), and whether there was any."""
    if isinstance(value, str):
        text = value if value.isascii() else _SURROGATE.sub("\ufffd", value)
        return text, text != value
    if isinstance(value, float) and not math.isfinite(value):
        return None, True
    if isinstance(value, int) and value.bit_length() > 1_000:
        return None, True
    if not isinstance(value, dict | list | tuple):
        return (value, False) if value is None or isinstance(value, int | float) else (str(value), True)
    if depth >= DEEPEST_ANSWER:
        return None, True
    if isinstance(value, dict):
        parts = {_clean(str(key))[0]: _clean(item, depth + 1) for key, item in value.items()}
        return {key: part[0] for key, part in parts.items()}, any(part[1] for part in parts.values())
    items = [_clean(item, depth + 1) for item in value]
    return [item[0] for item in items], any(item[1] for item in items)


def _filled(fields: dict[str, Any], said: str) -> dict[str, Any]:
    """`fields` with the three that every answer has. A confidence that was not said is "0.0", and known as such."""
    found = dict(fields)
    if found.get("response") is None:
        found["response"] = next((found[key] for key in _SAYING if isinstance(found.get(key), str)), said)
    confidence = found.get("confidence")
    number = number_text(confidence)
    found["confidence"] = number if number.is_stated or confidence is None else str(confidence)
    if found.get("internal_reasoning") is None:
        found["internal_reasoning"] = ""
    return found
