"""How are OpenTelemetry's spans read? The GenAI spans of an OTLP export in JSON; what is not an agent's is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brain.errors import NotATraceError
from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import USER, read_message
from brain.traces.spans import Span, is_export, is_span, read_span, spans_in
from brain.traces.values import kept, parsed, text_of
from brain.traces.verdicts import judged

MOST_WAITING = 5_000
"""Traces that wait for more of their spans. Where a file holds more, the one that had none for longest is taken as it
is."""


class OtlpJson(Format):
    """Exports with scope spans in either spelling, spans by themselves, and the events of logs; one trace by its id."""

    name = "otlp_json"
    streams = True

    def whole(self, value: Any) -> int:
        return SURE if is_export(value) else NO

    def part(self, value: Any) -> int:
        return SURE if is_export(value) else LIKELY if is_span(value) else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        waiting: dict[str, list[Span]] = {}
        count = 0
        for span in _spans(values, origin):
            spans = waiting.pop(span.trace, [])
            waiting[span.trace] = _added(spans, span)
            count += 1
            if len(waiting) > MOST_WAITING:
                yield from _trace(waiting.pop(next(iter(waiting))), origin)
        if not count:
            raise NotATraceError(
                origin.source,
                "holds spans, but none of an agent: no gen_ai attribute is in them. Export those of an agent.",
            )
        for spans in waiting.values():
            yield from _trace(spans, origin)


def _spans(values: Iterator[Any], origin: Origin) -> Iterator[Span]:
    """The spans of agents in all exports."""
    for value in values:
        for row in spans_in(value):
            span = read_span(row)
            if span is not None:
                yield _compact(span, origin)


def _added(spans: list[Span], span: Span) -> list[Span]:
    spans.append(span)
    return spans


def _trace(spans: list[Span], origin: Origin) -> Iterator[Trace]:
    draft = _draft(sorted(spans, key=lambda span: span.start), origin)
    if not draft.is_empty:
        yield draft.finish()


def _compact(span: Span, origin: Origin) -> Span:
    """The span without what is cut anyway, as an export may hold millions."""
    span.arguments, span.result = (kept(parsed(value), origin.limits) for value in (span.arguments, span.result))
    asked = [message.text for message in map(read_message, span.inputs) if message.role == USER]
    latest = next((text for text in reversed(asked) if text.strip()), "")
    span.inputs = [{"role": USER, "content": text_of(latest, origin.limits.text)}] if latest else []
    span.outputs = [kept(row, origin.limits) for row in span.outputs]
    return span


def _draft(spans: list[Span], origin: Origin) -> TraceDraft:
    draft = TraceDraft(origin)
    for span in spans:
        for row in span.inputs[-1:]:
            draft.ask(read_message(row).text)
    tiers = [span.tier for span in spans if span.tier]
    if tiers:
        by_id = {span.id: span for span in spans if span.id}
        for span in spans:
            if span.tier == min(tiers) and not _is_other_side(span, by_id.get(span.parent)):
                _call(draft, span, by_id)
    else:
        _calls_of_models(draft, spans)
    if not draft.steps:
        for span in spans:
            if span.kind:
                _turn(draft, span)
    if not draft.task:
        draft.ask(next((span.about for span in spans if span.kind == "agent" and span.about), ""))
    draft.outcome = judged([(f"status of {root.name!r} = error: {root.fault}", False) for root in _failed_roots(spans)])
    return draft


def _is_other_side(span: Span, above: Span | None) -> bool:
    """Whether a tool's span is the server's side of the call that it lies in, as MCP has two of each."""
    if above is None or above is span or not above.tier:
        return False
    return (span.tool, span.arguments) == (above.tool, above.arguments)


def _call(draft: TraceDraft, span: Span, by_id: Mapping[str, Span]) -> None:
    agent = span.agent or (by_id[span.parent].agent if span.parent in by_id else "")
    place = draft.call(
        span.tool, span.arguments, id=span.call_id, description=span.about, agent=agent, time=span.start or None
    )
    draft.answer(span.result, place=place)
    if span.fault:
        draft.fail(place, span.fault)


def _calls_of_models(draft: TraceDraft, spans: list[Span]) -> None:
    """Where no tool has a span of its own, the calls that the models asked for."""
    for span in spans:
        for row in span.outputs:
            message = read_message(row)
            draft.think(message.text)
            for call in message.calls:
                draft.call(call.name, call.arguments, id=call.id, agent=span.agent, time=span.start or None)


def _turn(draft: TraceDraft, span: Span) -> None:
    place = draft.call(span.agent or span.name, None, time=span.start or None, agent=span.agent, kind=span.kind)
    said = " ".join(read_message(row).text for row in span.outputs)
    draft.answer(said or None, place=place, failed=False)
    if span.fault:
        draft.fail(place, span.fault)


def _failed_roots(spans: list[Span]) -> list[Span]:
    """The agent's spans that failed and lie in no other of them: the run failed as a whole."""
    ids = {span.id for span in spans}
    return [span for span in spans if span.fault and not span.tier and span.kind == "agent" and span.parent not in ids]
