"""What do OrKa's functions for loops, debates and memory give where there are none? What they give in a first round.

Loop and memory agents are not supported, but prompts that were written for both call these functions outside of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brain.workflow.helpers import VIEW, get_input, safe_get_response
from brain.workflow.values import AgentOutput

_NO_INSIGHTS, _UNKNOWN = "No synthesis insights found", "Unknown"
_VOICES = {
    "Progressive": ("progressive_refinement", "radical_progressive"),
    "Conservative": ("conservative_refinement", "traditional_conservative"),
    "Realist": ("realist_refinement", "pragmatic_realist"),
    "Purist": ("purist_refinement", "ethical_purist"),
}


def _voice(name: str) -> Callable[[], Any]:
    """The function that gives what one voice of a debate has said, by the ids that its agent has in OrKa's examples."""
    first, second = _VOICES[name]
    return lambda: safe_get_response(first, safe_get_response(second))


def get_collaborative_responses() -> str:
    """What the voices of a debate have said, a paragraph each."""
    said = {name: safe_get_response(first, safe_get_response(second, "")) for name, (first, second) in _VOICES.items()}
    return (
        "\n\n".join(f"{name}: {text}" for name, text in said.items() if text) or "No collaborative responses available"
    )


def get_loop_output(agent: str, outputs: Any = None) -> Any:
    """All that an agent has answered; nothing if it has not."""
    found = (outputs if isinstance(outputs, dict) else VIEW.get().outputs).get(agent)
    return found if isinstance(found, AgentOutput) else {}


def format_memory_query(perspective: str, topic: Any = None) -> str:
    """What to search a memory for, from one perspective."""
    return f"{str(perspective).title()} perspective on: {get_input() if topic is None else topic}"


def _first_round(answer: Any) -> Callable[..., Any]:
    return lambda *_, **__: answer


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "get_loop_number": _first_round(1),
    "has_past_loops": _first_round(False),
    "get_past_loops": lambda *_: [],
    "get_past_loops_metadata": lambda *_: {},
    "get_past_insights": _first_round(_NO_INSIGHTS),
    "get_past_loop_data": _first_round("No past loops found"),
    "get_round_info": _first_round("1"),
    "get_score_threshold": _first_round(0.8),
    "get_loop_rounds": _first_round(_UNKNOWN),
    "get_final_score": _first_round(_UNKNOWN),
    "get_loop_status": _first_round("completed"),
    "get_loop_output": get_loop_output,
    "get_debate_evolution": _first_round("First round of debate"),
    "format_loop_metadata": _first_round("No previous loops"),
    "format_memory_query": format_memory_query,
    "get_my_past_memory": _first_round("No past memory available"),
    "get_my_past_decisions": _first_round("No past decisions available"),
    "get_agent_memory_context": _first_round("No past context available"),
    "get_collaborative_responses": get_collaborative_responses,
    **{f"get_{name.lower()}_response": _voice(name) for name in _VOICES},
}
"""Functions by the name that a template calls."""

FILTERS: dict[str, Callable[..., Any]] = {
    name: FUNCTIONS[name] for name in ("format_loop_metadata", "get_debate_evolution")
}
"""Those that are filters too."""
