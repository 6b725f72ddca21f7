"""Which steps of a run belong to the procedure? Retries, failed calls, polling and loops folded, noted as pitfalls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from brain.analysis.actions import action_of
from brain.model.trace import TraceStep

LEAST_ROUNDS = 3
"""Rounds of a loop that are folded into one; two may be chance."""

LONGEST_LOOP = 8
"""Steps of a loop that is found."""

MOST_PITFALLS = 5
"""Different pitfalls that are noted of one step."""

MOST_OTHERS = 2
"""Steps that are told beside the first where several do the same to other things."""

_SILENT = frozenset([*"think finish null noop no_op recall end final_answer done system".split(), "(merged tools)"])
_WAITS = frozenset({"wait", "sleep"})
_LONGEST_PITFALL = 240


@dataclass
class FoldedStep:
    """One step of the procedure: the run's step that stands for it, and what was folded into it.

    `repeats` is how often it was done, `others` the first of those that differed and `varying` in what; `rounds` is how
    often a loop that ends with it was gone through.
    """

    step: TraceStep
    action: str
    pitfalls: list[str] = field(default_factory=list)
    repeats: int = 1
    others: list[TraceStep] = field(default_factory=list)
    varying: list[str] = field(default_factory=list)
    rounds: int = 1

    def note(self, pitfall: str) -> None:
        """Notes a pitfall once."""
        if pitfall not in self.pitfalls and len(self.pitfalls) < MOST_PITFALLS:
            self.pitfalls.append(pitfall)


def fold(steps: Sequence[TraceStep]) -> list[FoldedStep]:
    """The steps of a procedure, in order.

    A call that failed is left out: what went wrong is noted on the call of the same kind that worked later, else on the
    step before it. The same call over and over is polling, one call with other arguments a loop over things, the same
    few calls at least `LEAST_ROUNDS` times a loop of rounds. Where nothing worked, the failed calls are the procedure.
    """
    acts = [FoldedStep(step, action_of(step)) for step in steps if step.action.lower() not in _SILENT] or [
        FoldedStep(step, action_of(step)) for step in steps
    ]
    worked = _without_failures(acts)
    return _rounds(_repeats(worked))


def _without_failures(acts: list[FoldedStep]) -> list[FoldedStep]:
    worked = [act for act in acts if not act.step.error]
    if not worked:
        for act in acts:
            act.note(_pitfall(act))
        return acts
    last_place = {act.action: i for i, act in enumerate(acts) if not act.step.error}
    kept: list[FoldedStep] = []
    waiting: dict[str, list[str]] = {}
    loose: list[str] = []
    for i, act in enumerate(acts):
        if act.step.error:
            later = last_place.get(act.action, -1) > i
            target = waiting.setdefault(act.action, []) if later else loose
            target.append(_pitfall(act))
            if not later and kept:
                kept[-1].note(loose.pop())
            continue
        for pitfall in [*waiting.pop(act.action, []), *loose]:
            act.note(pitfall)
        loose = []
        kept.append(act)
    return kept


def _pitfall(act: FoldedStep) -> str:
    return f"{act.action} failed: {act.step.error}"[:_LONGEST_PITFALL]


def _repeats(acts: list[FoldedStep]) -> list[FoldedStep]:
    """Neighbours that do the same as one: polling where the arguments are equal, else a loop over things."""
    kept: list[FoldedStep] = []
    wait: FoldedStep | None = None
    for act in acts:
        before = kept[-1] if kept else None
        if before is not None and act.action in _WAITS and wait is None:
            wait = act
            continue
        if before is not None and act.action == before.action and (wait is None or _same(act, before)):
            _join(before, act)
            wait = None
            continue
        if wait is not None:
            kept.append(wait)
            wait = None
        kept.append(act)
    if wait is not None:
        kept.append(wait)
    for act in kept:
        if act.repeats > 1 and not act.others:
            act.note(f"may have to be repeated until the result changes: it took {act.repeats} calls")
    return kept


def _same(left: FoldedStep, right: FoldedStep) -> bool:
    return left.step.action == right.step.action and left.step.parameters == right.step.parameters


def _join(kept: FoldedStep, act: FoldedStep) -> None:
    kept.repeats += 1
    if not _same(act, kept) or act.step.description != kept.step.description:
        mine, theirs = kept.step.parameters, act.step.parameters
        differing = [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]
        kept.varying = list(dict.fromkeys([*kept.varying, *differing]))
        if differing or kept.step.kind == "agent":
            kept.others += [act.step] * (len(kept.others) < MOST_OTHERS)
    for pitfall in act.pitfalls:
        kept.note(pitfall)


def _rounds(acts: list[FoldedStep]) -> list[FoldedStep]:
    """Rounds of the same few steps as one round."""
    names = [act.action for act in acts]
    kept: list[FoldedStep] = []
    at = 0
    while at < len(acts):
        length, times = _loop_at(names, at)
        round_ = acts[at : at + length]
        for other in range(1, times):
            for mine, theirs in zip(round_, acts[at + other * length :], strict=False):
                for pitfall in theirs.pitfalls:
                    mine.note(pitfall)
        round_[-1].rounds = times
        kept += round_
        at += length * times
    return kept


def _loop_at(names: list[str], at: int) -> tuple[int, int]:
    """The length and the rounds of the loop that begins at a place; one step once if there is none."""
    for length in range(1, LONGEST_LOOP + 1):
        pattern, times = names[at : at + length], 1
        if len(pattern) < length:
            break
        while names[at + times * length : at + (times + 1) * length] == pattern:
            times += 1
        if times >= LEAST_ROUNDS:
            return length, times
    return 1, 1
