"""How does a person put recalled skills before a model? The prompt `recall_skills`, within a budget of tokens."""

from __future__ import annotations

from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from brain.config import DEFAULT_TOP_K
from brain.mcp.budget import tokens
from brain.mcp.inputs import MOST_RECALLED
from brain.mcp.page import skills_for_model
from brain.mcp.tools import Use, found_for

NAME = "recall_skills"
DEFAULT_TOKENS, FEWEST_TOKENS, MOST_TOKENS = 2_000, 200, 100_000
"""Tokens of the whole prompt, as `brain.mcp.budget` estimates them."""

_LEAD = (
    "Before you plan, look at the procedures below, which solved tasks of the same shape before. Take over what fits, "
    "and adapt it to this task."
)
_AFTER = "When the task is over, call feedback for each skill that you used, and learn with the steps that you took."
_NOTHING = "No stored skill fits this task: solve it your own way."
_AFTER_NOTHING = " When it is over, call learn with the steps that you took."
_NO_ROOM = "Skills fit this task, but none of them into the budget: call recall to see them."
_LEFT = "{} more did not fit into the budget."


class _Arguments(BaseModel):
    """The arguments, which arrive as texts."""

    model_config = ConfigDict(extra="forbid")

    task: str = Field(min_length=1)
    domain: str = ""
    top_k: int = Field(DEFAULT_TOP_K, ge=1, le=MOST_RECALLED)
    max_tokens: int = Field(DEFAULT_TOKENS, ge=FEWEST_TOKENS, le=MOST_TOKENS)


def prompts() -> ListPromptsResult:
    """The one prompt."""
    arguments = [
        PromptArgument(name="task", description="What is to be done, in a sentence or more.", required=True),
        PromptArgument(name="domain", description="The field that the task is of, in a word or two.", required=False),
        PromptArgument(
            name="top_k",
            description=f"How many skills at most, 1 to {MOST_RECALLED}; by default {DEFAULT_TOP_K}.",
            required=False,
        ),
        PromptArgument(
            name="max_tokens",
            required=False,
            description=f"How many tokens the prompt may take, {FEWEST_TOKENS} to {MOST_TOKENS}; by default "
            f"{DEFAULT_TOKENS}. Estimated without the model's vocabulary, on the high side.",
        ),
    ]
    return ListPromptsResult(
        prompts=[
            Prompt(
                name=NAME,
                title="Recall skills for a task",
                description="A task, together with the stored procedures that fit it.",
                arguments=arguments,
            )
        ]
    )


def get(use: Use, name: str, arguments: dict[str, Any] | None) -> GetPromptResult:
    """The prompt, filled in. Raises `MCPError` for another name or arguments that do not fit."""
    if name != NAME:
        raise MCPError(INVALID_PARAMS, f"There is no prompt {name[:80]!r}. There is {NAME}.")
    try:
        given = _Arguments.model_validate({key: value for key, value in (arguments or {}).items() if value != ""})
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise MCPError(INVALID_PARAMS, f"The arguments of {NAME} do not fit: {faults}.") from error
    text = _filled(use, given)
    return GetPromptResult(
        description="Skills recalled for the task, as data.",
        messages=[PromptMessage(role="user", content=TextContent(type="text", text=text))],
    )


def _filled(use: Use, given: _Arguments) -> str:
    found = found_for(use, {"task": given.task, "domain": given.domain}, given.top_k)
    opening, after = f"Task: {given.task}", "" if use.read_only else _AFTER
    frame = tokens("\n\n".join([opening, _LEAD, after, _LEFT]))
    if frame > given.max_tokens:
        raise MCPError(
            INVALID_PARAMS, f"The task alone takes about {frame} tokens. Shorten it, or raise max_tokens above that."
        )
    if not found:
        return f"{opening}\n\n{_NOTHING}{'' if use.read_only else _AFTER_NOTHING}"
    shown = skills_for_model(found, given.max_tokens - frame)
    if not shown.count:
        return f"{opening}\n\n{_NO_ROOM}"
    left = len(found) - shown.count
    closing = [after] * bool(after) + [_LEFT.format(left)] * bool(left)
    return "\n\n".join([opening, _LEAD, shown.text, *closing])
