"""Did it work out? A verdict is someone's judgement of the result: a reward, a test report, a label. An end is none.

"finish", "submitted", "completed" and an agent's own words say that it stopped. Nothing here reads them as success.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from brain.model.trace import TraceOutcome
from brain.traces.values import cut

_FLAGS = frozenset(
    "success succeeded successful is_success resolved is_resolved correct is_correct is_corrected passed pass solved "
    "task_success is_successful".split()
)
_NUMBERS = frozenset("reward rewards final_reward total_reward".split())
_WORDS = frozenset("verdict label grade judgement judgment evaluation_result".split())
_COUNTS = ("total", "failed", "failures", "errors", "skipped", "incorrect", "unresolved", "unsolved")
_GOOD = frozenset("true success succeeded successful pass passed correct resolved solved yes".split())
_BAD = frozenset("false failure failed fail incorrect unresolved wrong no".split())
_INSIDE = (
    "outcome info metadata evaluation eval eval_result result results report test_result reward_info metrics score "
    "scores summary extra verdict evaluations"
).split()
_DEEPEST = 3
_MOST, _LONGEST = 10, 300  # pieces of evidence that are kept, and characters of each


def verdict_in(value: Any, *, where: str = "") -> TraceOutcome:
    """What the fields around a trace say of it. Contradicting verdicts are none; the evidence names all."""
    found = list(_verdicts(value, where, 0))
    outcome = judged([(text, meaning) for text, meaning, _ in found])
    rewards = [reward for _, _, reward in found if reward is not None and 0 <= reward <= 1]
    return outcome.model_copy(update={"quality": min(rewards)}) if outcome.success and rewards else outcome


def judged(found: list[tuple[str, bool]]) -> TraceOutcome:
    """The outcome of some verdicts, each as it reads and what it means."""
    evidence = [cut(text, _LONGEST) for text, _ in found[:_MOST]]
    said = {meaning for _, meaning in found}
    if len(said) != 1:
        return TraceOutcome(success=None, evidence=evidence)
    return TraceOutcome(success=said.pop(), evidence=evidence)


def _verdicts(value: Any, where: str, depth: int) -> Iterator[tuple[str, bool, float | None]]:
    """Each verdict as it reads, what it means, and the reward where it is one."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return
    counts = any(_is_number(value.get(key)) for key in _COUNTS)  # beside "failed: 3", "passed: 1" is none
    for key, item in value.items():
        name = str(key)
        plain = name.lower().replace("-", "_")
        place = f"{where}.{name}" if where else name
        meaning = None if counts and plain in _FLAGS and _is_number(item) else _meaning(plain, item)
        if meaning is not None:
            yield f"{cut(place, 100)} = {cut(str(item), 40)}", meaning, float(item) if plain in _NUMBERS else None
        elif isinstance(item, dict) and plain in _INSIDE:
            yield from _verdicts(item, place, depth + 1)


def _is_number(item: Any) -> TypeGuard[float]:
    return isinstance(item, int | float) and not isinstance(item, bool)


def _meaning(name: str, item: Any) -> bool | None:
    """What a field says; None if it is no verdict."""
    if name in _NUMBERS:
        return item == 1 if _is_number(item) else None
    if name in _FLAGS:
        if isinstance(item, bool):
            return item
        if _is_number(item) and item in (0, 1):
            return item == 1
        return _word(item) if isinstance(item, str) else None
    return _word(item) if name in _WORDS and isinstance(item, str) else None


def _word(text: str) -> bool | None:
    plain = text.strip().lower()
    return True if plain in _GOOD else False if plain in _BAD else None
