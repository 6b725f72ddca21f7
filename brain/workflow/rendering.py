"""What does a template become? Text, or JSON that no inserted text can break.

Each expression is rendered as a mark, and the marks are replaced at the end. So it is known what the template's author
wrote and what was inserted: where the author wrote a JSON document, values go in as JSON.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Template, TemplateError, Undefined, pass_context
from jinja2.runtime import Context

from brain.errors import PayloadError
from brain.workflow import loops
from brain.workflow.bounds import check_size
from brain.workflow.helpers import FILTERS, FUNCTIONS, VIEW, Encoded, View
from brain.workflow.sandbox import (
    SESSION,
    Missing,
    Outputs,
    PromptEnvironment,
    Session,
    rounds_of,
)
from brain.workflow.values import AgentOutput, InputText, NumberText, as_json, json_fault, words_as_json

_SAID = {
    Missing.__name__: "a missing value",
    Outputs.__name__: "previous_outputs",
    AgentOutput.__name__: "an output",
    **{kind.__name__: "text" for kind in (InputText, NumberText, Encoded)},
}
"""What is said of a value's kind in an error."""
_KINDS = re.compile(rf"\b(?:{'|'.join(_SAID)})\b")


@dataclass(frozen=True)
class Rendered:
    """A rendered template. `value` is what its only expression gave, where it has nothing else.

    `is_json`: its author wrote a JSON object or list. `fault`: what is wrong with what looks like one. `missing` says
    what was inserted as nothing.
    """

    text: str
    value: Any = None
    is_json: bool = False
    fault: str = ""
    missing: list[str] = field(default_factory=list)


@pass_context
def _marked(_: Context, value: Any) -> str:
    """Notes the value of an expression and gives a mark for it. The context makes Jinja do it for constants too."""
    session = SESSION.get()
    if isinstance(value, Iterator):  # what `map` or `select` gives is meant as a list
        value = list(rounds_of(value))
    session.grow(len(str(value)))
    session.values.append(value)
    return f"{session.mark}{len(session.values) - 1};"


def make_environment() -> PromptEnvironment:
    """An environment that `render` works with."""
    made = PromptEnvironment(FUNCTIONS | loops.FUNCTIONS, FILTERS | loops.FILTERS)
    made.finalize = _marked
    return made


def render(template: Template, view: View, agent: str) -> Rendered:
    """What `template` becomes with what `view` holds. Raises `PayloadError` that names `agent`."""
    session = Session(f"\ue000{secrets.token_hex(8)}:")
    here, seen = SESSION.set(session), VIEW.set(view)
    try:
        context = template.new_context(view.variables(agent))
        parts = []
        for part in template.root_render_func(context):
            session.grow(len(part))
            parts.append(part)
        return _finished("".join(parts), session)
    except TemplateError as error:
        raise PayloadError(agent, "prompt", f"{str(error.message).rstrip('.')}.") from error
    except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
        what = _KINDS.sub(lambda found: _SAID[found[0]], str(error)).rstrip(".")
        raise PayloadError(
            agent, "prompt", f"an expression cannot be computed: {what}. Correct the template."
        ) from error
    except (RecursionError, MemoryError) as error:
        raise PayloadError(agent, "prompt", "the template calls itself without end. Correct it.") from error
    finally:
        SESSION.reset(here)
        VIEW.reset(seen)


def _finished(skeleton: str, session: Session) -> Rendered:
    mark = re.compile(f"{session.mark}(\\d+);")
    whole = mark.fullmatch(skeleton.strip())
    value = session.values[int(whole[1])] if whole else None
    if value is not None and isinstance(value, Undefined):
        value = None
    written, fault = skeleton.strip(), ""
    if (written[:1], written[-1:]) in (("{", "}"), ("[", "]")):
        text = _encoded(written, mark, session.values)
        check_size(len(text))
        fault, in_words = json_fault(text), words_as_json(text)
        if fault and not json_fault(in_words):
            text, fault = in_words, ""
        if not fault:
            return Rendered(text, is_json=True, missing=session.missing)
    text = mark.sub(lambda match: str(session.values[int(match[1])]), skeleton)
    check_size(len(text))
    return Rendered(text, value, fault=fault, missing=session.missing)


def _encoded(written: str, mark: re.Pattern[str], values: list[Any]) -> str:
    """What the author wrote, with every value put in as JSON."""
    parts, position = [], 0
    in_string = False
    for match in mark.finditer(written):
        before = written[position : match.start()]
        in_string = _ends_in_string(before, in_string)
        value = values[int(match[1])]
        parts += [before, _inside(value) if in_string else _bare(value)]
        position = match.end()
    return "".join([*parts, written[position:]])


def _ends_in_string(text: str, in_string: bool) -> bool:
    for found in re.finditer(r'\\.|"', text, re.DOTALL) if in_string or '"' in text else ():
        if found[0] == '"':
            in_string = not in_string
    return in_string


def _inside(value: Any) -> str:
    """`value` as it stands between the quotes of a JSON string."""
    text = str(value) if isinstance(value, str | Undefined) or value is None else as_json(value)
    return json.dumps("" if value is None else str(text), ensure_ascii=False)[1:-1]


def _bare(value: Any) -> str:
    """`value` as it stands outside quotes: JSON as it is, other text in quotes."""
    if isinstance(value, Undefined):
        return "null"
    if isinstance(value, Encoded):
        return value
    if isinstance(value, str):
        try:
            json.loads(value)
        except (ValueError, RecursionError):
            return json.dumps(str(value), ensure_ascii=False)
        return str(value)
    return as_json(value)
