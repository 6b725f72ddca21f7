"""What may a caller hand in? The guide's trace, context and outcome, validated before anything is done with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from brain.config import Limits
from brain.errors import InputError, LimitError
from brain.model.formulas import DEFAULT_QUALITY
from brain.model.record import Record
from brain.model.text import Json, JsonObject, Text, Unit

STEP_TEXT_KEYS = ("action", "description", "name", "agent_id", "tool")
"""Where the text of a step given as an object is looked for, in this order."""


TextOrNone = Annotated[Text, BeforeValidator(lambda value: "" if value is None else value)]
"""Text; None is empty text."""
ItemsOrNone = Annotated[list[Json], BeforeValidator(lambda value: [] if value is None else value)]
"""A list of JSON values; None is an empty list."""


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
        raise InputError("The context has neither a task nor steps. Say in context['task'] what is to be done.")


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
