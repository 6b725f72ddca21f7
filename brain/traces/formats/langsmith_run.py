"""How are LangSmith's runs read? A run with its children, a row of runs, or batches of what was posted and patched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brain.config import TraceLimits
from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import is_message, read_message
from brain.traces.values import kept, list_at, object_at, text_at, text_of
from brain.traces.verdicts import judged

_KINDS = {"tool": "tool", "retriever": "tool", "llm": "model", "chain": "chain", "prompt": "chain", "parser": "chain"}
_TASK_KEYS = ("input", "question", "query", "task", "prompt", "text", "topic", "content", "goal")
_KEPT = "id run_id name run_type trace_id dotted_order parent_run_id start_time error feedback_stats".split()
_DEEPEST = 200  # children of children that are read
_MOST_FEEDBACK = 20


class LangSmithRun(Format):
    """Each run is a step; the runs of one trace belong together."""

    name = "langsmith_run"
    streams = True

    def whole(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        if any(map(_is_run, [*list_at(value, "post"), *list_at(value, "patch")])):
            return SURE
        if any(map(_is_run, list_at(value, "runs"))):
            return SURE
        return LIKELY + 5 if _is_run(value) and list_at(value, "child_runs") else NO

    def part(self, value: Any) -> int:
        return LIKELY if _is_run(value) or self.whole(value) else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        runs = _Runs(origin.limits)
        for value in values:
            runs.add(value)
        for trace in runs.by_trace():
            yield _trace(trace, origin)


def _is_run(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return "run_type" in value or ("dotted_order" in value and "trace_id" in value)


class _Runs:
    """Runs in the order they were posted, each with what was patched onto it."""

    def __init__(self, limits: TraceLimits) -> None:
        self._limits = limits
        self._runs: list[dict[str, Any]] = []
        self._by_key: dict[str, dict[str, Any]] = {}

    def add(self, value: Any, depth: int = 0) -> None:
        """One run, or a batch of them."""
        if not isinstance(value, dict) or depth > _DEEPEST:
            return
        for run in [*list_at(value, "post"), *list_at(value, "runs")]:
            self.add(run, depth + 1)
        for run in list_at(value, "patch"):
            self._patch(run)
        if _is_run(value):
            self._post(_compact(value, self._limits))
            for child in list_at(value, "child_runs"):
                self.add(child, depth + 1)

    def by_trace(self) -> list[list[dict[str, Any]]]:
        """The runs of each trace."""
        found: dict[str, list[dict[str, Any]]] = {}
        for run in self._runs:
            found.setdefault(text_at(run, "trace_id") or self._root(run), []).append(run)
        return list(found.values())

    def _root(self, run: Mapping[str, Any]) -> str:
        """The id of the run that a run without a trace's id belongs to."""
        for _ in range(_DEEPEST):
            above = self._by_key.get(text_at(run, "parent_run_id"))
            if above is None:
                break
            run = above
        return text_at(run, "parent_run_id") or text_at(run, "id") or "one"

    def _post(self, run: dict[str, Any]) -> None:
        known = next((self._by_key[key] for key in _keys(run) if key in self._by_key), None)
        if known is not None:
            known.update(run)
            return
        self._runs.append(run)
        for key in _keys(run):
            self._by_key[key] = run

    def _patch(self, run: Any) -> None:
        if not isinstance(run, dict):
            return
        known = next((self._by_key[key] for key in _keys(run) if key in self._by_key), None)
        if known is None and len(self._runs) == 1:
            known = self._runs[0]
        told = _compact(run, self._limits)
        if known is not None:
            known.update(told)
        elif text_at(run, "name"):
            self._post(told)


def _compact(run: Mapping[str, Any], limits: TraceLimits) -> dict[str, Any]:
    """What a trace needs of a run, cut: the runs of a file wait until its end, and each repeats the talk so far."""
    told = {key: run[key] for key in _KEPT if run.get(key) is not None}
    for key in ("inputs", "outputs"):
        if run.get(key) is not None:
            told[key] = kept(_answered(run[key]), limits)
    asked = _asked(run.get("inputs"))
    return told | ({"asked": text_of(asked, limits.text)} if asked else {})


def _keys(run: Mapping[str, Any]) -> list[str]:
    return [key for key in (text_at(run, "id", "run_id"), text_at(run, "dotted_order")) if key]


def _trace(runs: list[dict[str, Any]], origin: Origin) -> Trace:
    draft, verdicts = TraceDraft(origin), list[tuple[str, bool]]()
    for run in runs:
        draft.ask(text_at(run, "asked"))
    for run in runs:
        inputs, outputs = run.get("inputs"), run.get("outputs")
        kind = _KINDS.get(text_at(run, "run_type"), "chain")
        place = draft.call(text_at(run, "name") or "run", inputs, time=run.get("start_time"), kind=kind)
        draft.answer(outputs, place=place, failed=False)
        if run.get("error"):
            draft.fail(place, run["error"])
        if run.get("error") and not _parent(run):
            verdicts.append((f"error of the whole run: {str(run['error'])[:200]}", False))
        verdicts += _feedback(run)
    draft.outcome = judged(verdicts)
    return draft.finish()


def _parent(run: Mapping[str, Any]) -> str:
    return text_at(run, "parent_run_id") or ("." if "." in text_at(run, "dotted_order") else "")


def _asked(inputs: Any, depth: int = 0) -> str:
    """What a run was given, where it is a question in words: the last thing a user said, or a text."""
    if isinstance(inputs, str):
        return inputs
    if not isinstance(inputs, dict):
        return ""
    rows = list_at(inputs, "messages", "input", "chat_history", "history")
    rows = rows[0] if rows and isinstance(rows[0], list) else rows
    said = [found for row in rows if is_message(row) and (found := read_message(row)).role == "user"]
    if said:
        return said[0].text
    inner = object_at(inputs, "input", "kwargs", "state")
    return text_at(inputs, *_TASK_KEYS) or (_asked(inner, depth + 1) if inner and depth < 3 else "")


def _answered(outputs: Any) -> Any:
    """What came of a run, without what a model's answer carries around it."""
    choices = list_at(outputs, "choices")
    if choices:
        return text_at(object_at(choices[0], "message"), "content") or outputs
    return outputs.get("output", outputs) if isinstance(outputs, dict) else outputs


def _feedback(run: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """What evaluators said of a run, where they said yes or no."""
    found: list[tuple[str, bool]] = []
    for key, stats in list(object_at(run, "feedback_stats").items())[:_MOST_FEEDBACK]:
        average = stats.get("avg") if isinstance(stats, dict) else None
        if key.lower() in ("correctness", "correct", "success", "passed") and average in (0, 1):
            found.append((f"feedback {key} = {average}", average == 1))
    return found
