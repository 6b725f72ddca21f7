"""What may a caller hand in? The guide's trace, context and outcome, validated before anything is done with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from difflib import get_close_matches
from itertools import islice
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from brain.config import Limits
from brain.errors import InputError, LimitError
from brain.model.formulas import DEFAULT_QUALITY
from brain.model.record import Record, RecordType, validated
from brain.model.skill import PROCEDURAL
from brain.model.text import Json, JsonObject, KnownId, SpokenText, Text, Unit, check_id

STEP_TEXT_KEYS = ("action", "description", "name", "agent_id", "tool")
"""Where the text of a step given as an object is looked for, in this order."""


TextOrNone = Annotated[Text, BeforeValidator(lambda value: "" if value is None else value)]
"""Text; None is empty text."""
ItemsOrNone = Annotated[list[Json], BeforeValidator(lambda value: [] if value is None else value)]
"""A list of JSON values; None is an empty list."""


_LIKE_A_KNOWN_KEY = 0.75  # "taks" and "task"; "stages" and "steps" are .73
_KEYS_COMPARED, _LONGEST_KEY = 50, 30  # of one object: more are no slips of the pen


class ExecutionTrace(Record):
    """What an agent did: `steps` (texts or objects), `agents`, and the `strategy` that ran them."""

    steps: ItemsOrNone = Field(default_factory=list)
    agents: ItemsOrNone = Field(default_factory=list)
    strategy: TextOrNone = ""

    @model_validator(mode="after")
    def _every_step_says_something(self) -> Self:
        _check_texts("step", self.steps)
        _check_texts("agent", self.agents, ("id", *STEP_TEXT_KEYS))
        return self


class Context(Record):
    """The task at hand: `task` in words, its `domain`, for recall optionally the planned `steps`.

    Other keys (input, output_format, …) are kept and read by the analysis.
    """

    domain: TextOrNone = ""
    task: TextOrNone = ""
    steps: ItemsOrNone = Field(default_factory=list)
    strategy: TextOrNone = ""

    @model_validator(mode="after")
    def _every_step_says_something(self) -> Self:
        _check_texts("step", self.steps)
        return self

    def extra(self, key: str) -> Any:
        """The value of a key beyond the four above, or None."""
        return (self.__pydantic_extra__ or {}).get(key)


class Outcome(Record):
    """How it ended: `success` (true or false, not text) and `quality`, 0..1."""

    success: bool = Field(strict=True)
    quality: Unit = DEFAULT_QUALITY


class Feedback(Record):
    """How an applied skill did, and what was changed to apply it."""

    success: bool = Field(strict=True)
    adaptations: JsonObject = Field(default_factory=dict)


TraceLike = ExecutionTrace | Mapping[str, Any]
ContextLike = Context | Mapping[str, Any]
OutcomeLike = Outcome | Mapping[str, Any]
"""What the verbs take: the record, or an object with the same keys."""

_READ: dict[type[BaseModel], Sequence[str]] = {
    ExecutionTrace: tuple(ExecutionTrace.model_fields),
    Context: (
        *Context.model_fields,
        *"input output_format expected_output agents description prompt goal".split(),  # for the analysis
    ),
    Outcome: tuple(Outcome.model_fields),
}


def _checked_list(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list of skill ids")
    return value


def _checked_id(what: str) -> BeforeValidator:
    return BeforeValidator(lambda value: None if value is None else check_id(value, what))


class Execution(Record):
    """One execution to learn from, as `learn_many` and the files of `brain learn` have it: see `Brain.observe`.

    Other keys are not read: `unread` names them.
    """

    execution_trace: ExecutionTrace
    context: Context
    outcome: Outcome
    skill_name: SpokenText | None = None
    skill_type: SpokenText = PROCEDURAL
    trace_id: Annotated[str | None, _checked_id("trace id")] = None
    skill_id: Annotated[str | None, _checked_id("skill id")] = None
    derived_from: Annotated[list[KnownId], BeforeValidator(_checked_list)] = Field(default_factory=list)

    @property
    def unread(self) -> list[str]:
        """Keys that are not read."""
        return list(self.model_extra or {})

    @classmethod
    def read(cls, data: object) -> Self:
        """The execution in a mapping, where the trace may be called `trace` too and what is null counts as left out.

        Raises `InputError` that says what is missing or not valid.
        """
        if not isinstance(data, cls | Mapping):
            raise InputError(f"An execution is {_AN_EXECUTION}; this is a {type(data).__name__}.")
        given = dict(data)
        if "trace" in given and "execution_trace" in given:
            raise InputError("The execution has both 'trace' and 'execution_trace'. Leave one out.")
        if "trace" in given:
            given["execution_trace"] = given.pop("trace")
        missing = [name for name in PARTS if name not in given]
        if missing:
            raise InputError(f"The execution has no {' and no '.join(map(repr, missing))}. Give {_AN_EXECUTION}.")
        parts = {name: read_input(kind, given[name], name) for name, kind in PARTS.items()}
        optional = {key: value for key, value in given.items() if key not in PARTS and value is not None}
        return validated(cls, optional | parts, "the execution")


_READ[Execution] = (*Execution.model_fields, "trace")
PARTS: dict[str, type[Record]] = {"execution_trace": ExecutionTrace, "context": Context, "outcome": Outcome}
"""What every execution has."""
_AN_EXECUTION = (
    'an object such as {"execution_trace": {"steps": [...]}, "context": {"task": ...}, "outcome": {"success": true}}'
)


def read_input(kind: type[RecordType], data: object, name: str) -> RecordType:
    """`data` as a `kind`. Raises `InputError` that also names keys which look like known ones."""
    try:
        return validated(kind, data, name)
    except InputError as error:
        slips = misspelt(kind, data)
        if not slips:
            raise
        hints = ", ".join(f"{key!r} for {known!r}" for key, known in slips.items())
        raise InputError(f"{error} It may have {hints}.") from error


def misspelt(kind: type[BaseModel], data: object) -> dict[str, str]:
    """Keys of an input that look like a known one which is not given, with that one. Other keys are anybody's."""
    known = _READ.get(kind, tuple(kind.model_fields))
    given = data.model_fields_set if isinstance(data, BaseModel) else data
    if not isinstance(given, Mapping | Set):
        return {}
    absent = [key for key in known if key not in given]
    others = (key for key in given if isinstance(key, str) and key not in known and len(key) <= _LONGEST_KEY)
    found = {}
    for key in islice(others, _KEYS_COMPARED if absent else 0):
        like = get_close_matches(key.casefold().replace("-", "_"), absent, n=1, cutoff=_LIKE_A_KNOWN_KEY)
        if like:
            found[key] = like[0]
    return found


def step_text(step: Any, keys: tuple[str, ...] = STEP_TEXT_KEYS) -> str:
    """The text that says what a step does; empty if it says nothing."""
    if isinstance(step, dict):
        texts = (step.get(key) for key in keys)
        return next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return step if isinstance(step, str) and step.strip() else ""


def _check_texts(kind: str, items: Sequence[Any], keys: tuple[str, ...] = STEP_TEXT_KEYS) -> None:
    for i, item in enumerate(items):
        if not step_text(item, keys):
            raise ValueError(f"{kind} {i} has no text; give it as text or as an object with 'action'")


def check_size(value: Any, what: str, limits: Limits, steps: int = 0, tags: int = 0) -> None:
    """Raises `LimitError` if `value` (JSON values) holds more than `limits` allow; `what` names it in the error."""
    for cap, kind, actual in (("steps", "steps", steps), ("tags", "tags", tags)):
        if actual > getattr(limits, cap):
            raise LimitError(cap, f"Number of {kind} in {what}", actual, getattr(limits, cap))
    size, depth = _measure(value)
    if depth > limits.nesting:
        raise LimitError("nesting", f"Levels of nesting in {what}", depth, limits.nesting)
    if size > limits.text_bytes:
        raise LimitError("text_bytes", f"Bytes of text in {what}", size, limits.text_bytes)


def check_recallable(context: Context) -> None:
    """Raises `InputError` if there is nothing to compare with."""
    if not context.task.strip() and not context.steps:
        raise InputError("The context has neither a task nor steps. Say in its 'task' what is to be done.")


def _measure(value: Any) -> tuple[int, int]:
    """Bytes of all text (keys too; a number counts 8) and levels of nesting, without recursion."""
    texts: list[str] = []
    numbers, depth, inner = 0, -1, [value]
    while inner:
        level, inner, depth = inner, [], depth + 1
        while level:
            item = level.pop()
            if isinstance(item, str):
                texts.append(item)
            elif isinstance(item, dict):
                level += item
                inner += item.values()
            elif isinstance(item, (list, tuple)):
                inner += item
            elif item is not None:
                numbers += 1
    return len("".join(texts).encode("utf-8", "surrogatepass")) + 8 * numbers, depth
