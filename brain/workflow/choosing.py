"""Which of the answers that it may give has a model chosen? For `openai-binary` and `openai-classification`."""

from __future__ import annotations

import re
from typing import Any

from brain.errors import ModelError
from brain.workflow.records import BINARY, CLASSIFICATION, Agent, LlmSettings

NONE_FITS = "not-classified"
"""What a classification answers where no option fits, as in OrKa."""

_YES, _NO = ("true", "yes"), ("false", "no", "not")


def choices_of(agent: Agent) -> tuple[str, ...]:
    """What an agent's model may answer; empty for an agent whose model may answer anything."""
    if agent.type == BINARY:
        return ("true", "false")
    if agent.type == CLASSIFICATION and isinstance(agent.settings, LlmSettings):
        return (*agent.settings.options, NONE_FITS)
    return ()


def with_choices(prompt: str, choices: tuple[str, ...]) -> str:
    """`prompt`, and between what its answer is to choose."""
    return f"{prompt.rstrip()}\n\nAnswer with exactly one of these: {', '.join(choices)}."


def chosen(agent: Agent, answer: Any) -> bool | str:
    """What a model has chosen: yes or no, or one of the options. Raises `ModelError` if it is neither yes nor no."""
    said = str(answer).strip()
    if agent.type == BINARY:
        found = _named(said, (*_YES, *_NO))
        if not found:
            raise ModelError(f"the model said neither yes nor no: {said[:100]!r}. Ask it for one of them.")
        return found in _YES
    return _named(said, choices_of(agent)) or NONE_FITS


def _named(said: str, choices: tuple[str, ...]) -> str:
    """The choice that a text is, else the only one that it names as a word; empty if there is none such."""
    bare = said.strip("\"'`*.!: \n").casefold()
    for choice in choices:
        if choice.casefold() == bare:
            return choice
    named = [one for one in choices if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", said, re.IGNORECASE)]
    return named[0] if len(named) == 1 else ""
