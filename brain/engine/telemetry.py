"""What do traces and dashboards learn of a brain's work? OpenTelemetry spans and metrics, where they are set up.

A span and a duration for each `recall`, `learn`, `feedback` and sweep, under the names that the GenAI conventions give
to operations on a memory: `search_memory`, `upsert_memory`, `update_memory`, `delete_memory`. Names of their own
(`brain.`) stand only where the conventions have none. Nothing of OpenTelemetry is imported here before the program has
imported it and set a provider: until then an operation costs one look into `sys.modules`.

Texts (the task, the skills found) are left out, unless `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` asks for
content on spans: `true`, `SPAN_ONLY` or `SPAN_AND_EVENT`. An error is told by its class alone, as its message may hold
what the caller gave.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from brain.config import installed_version
from brain.model.candidate import TransferCandidate
from brain.model.receipts import FeedbackReceipt, LearnOutcome, LearnReceipt, LearnReport
from brain.model.skill import Skill

if TYPE_CHECKING:
    from opentelemetry.trace import Span

CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""Environment variable of the GenAI conventions that asks for texts on spans; read when an operation begins."""

OPERATION, PROVIDER, ERROR_TYPE = "gen_ai.operation.name", "gen_ai.provider.name", "error.type"
STORE_ID, STORE_KIND = "gen_ai.memory.store.id", "db.system.name"
RECORD_ID, RECORD_COUNT = "gen_ai.memory.record.id", "gen_ai.memory.record.count"
QUERY_TEXT, RECORDS = "gen_ai.memory.query.text", "gen_ai.memory.records"
DURATION = "gen_ai.client.operation.duration"
OUTCOME, LEARNED, SKILLS = "brain.outcome", "brain.learned", "brain.skills"

_BOUNDARIES = (0.001, 0.0025, 0.005, *(0.01 * 2**i for i in range(14)))
"""Seconds. The conventions' own from 0.01 on, and three below: a memory answers faster than a model."""
_IN_PROCESS = ("sqlite", "memory")
_API = ("opentelemetry.trace", "opentelemetry.metrics")


@dataclass(frozen=True)
class Account:
    """What is told of an operation when it has ended: its outcome in a word, and how many skills it was about."""

    outcome: str
    count: int
    record_id: str = ""
    records: Callable[[], list[dict[str, Any]]] = list
    more: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Verb:
    """A verb of the brain: the name that the conventions give to such an operation, and what its result tells."""

    operation: str
    account: Callable[[Any], Account]


Tell = Callable[[Any], None]
"""Told the result of an operation."""


def _say_nothing(_: object) -> None:
    """Takes the result where nobody listens."""


_SILENCE: AbstractContextManager[Tell] = nullcontext(_say_nothing)


class Telemetry:
    """Tells OpenTelemetry of what is done in one namespace of a store; silent where it is not set up."""

    def __init__(self, location: str, namespace: str) -> None:
        self._store = _described(location) | {STORE_ID: namespace}
        self._emitter: _Emitter | None = None

    def operation(self, verb: Verb, context: object = None) -> AbstractContextManager[Tell]:
        """What an operation is done in. It gives the function to tell its result to; `context` is the task, if any."""
        providers = _providers()
        if providers is None:
            return _SILENCE
        if self._emitter is None or not self._emitter.speaks_to(providers):
            self._emitter = _Emitter(providers)
        return self._emitter.operation(verb, self._store, context)


class _Emitter:
    """The instruments of one pair of providers."""

    def __init__(self, providers: tuple[Any, Any]) -> None:
        from opentelemetry import metrics, trace

        self._providers = providers
        self._tracer = trace.get_tracer("brain", installed_version())
        meter = metrics.get_meter("brain", installed_version())
        self._duration = meter.create_histogram(
            DURATION,
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=_BOUNDARIES,
        )
        self._skills = meter.create_counter(
            SKILLS, unit="{skill}", description="Skills that operations recalled, wrote or removed."
        )

    def speaks_to(self, providers: tuple[Any, Any]) -> bool:
        """Whether these are the providers that it was made for."""
        return all(ours is theirs for ours, theirs in zip(self._providers, providers, strict=True))

    @contextmanager
    def operation(self, verb: Verb, store: dict[str, Any], context: object) -> Iterator[Tell]:
        """A span and a duration; see `Telemetry.operation`."""
        from opentelemetry.trace import SpanKind, StatusCode

        common = {OPERATION: verb.operation, PROVIDER: "brain", **store}
        measured = {key: common[key] for key in (OPERATION, PROVIDER, STORE_KIND, STORE_ID)}
        kind = SpanKind.INTERNAL if store[STORE_KIND] in _IN_PROCESS else SpanKind.CLIENT
        begun = time.perf_counter()
        with self._tracer.start_as_current_span(
            verb.operation, kind=kind, attributes=common, record_exception=False, set_status_on_exception=False
        ) as span:
            if context is not None and span.is_recording() and _content_is_wanted():
                span.set_attribute(QUERY_TEXT, _query_text(context))

            def tell(result: object) -> None:
                account = verb.account(result)
                measured[OUTCOME] = account.outcome
                self._skills.add(account.count, measured)
                _describe(span, account)

            try:
                yield tell
            except Exception as error:
                measured[ERROR_TYPE] = type(error).__qualname__
                span.set_attribute(ERROR_TYPE, type(error).__qualname__)
                span.set_status(StatusCode.ERROR)
                raise
            finally:
                self._duration.record(time.perf_counter() - begun, measured)


def _describe(span: Span, account: Account) -> None:
    if not span.is_recording():
        return
    span.set_attributes({OUTCOME: account.outcome, RECORD_COUNT: account.count, **account.more})
    if account.record_id:
        span.set_attribute(RECORD_ID, account.record_id)
    if account.count and _content_is_wanted():
        span.set_attribute(RECORDS, json.dumps(account.records(), ensure_ascii=False))


def _providers() -> tuple[Any, Any] | None:
    """The providers of spans and of metrics that the program has set; None if it has set neither."""
    trace, metrics = (sys.modules.get(name) for name in _API)
    traces = getattr(trace, "get_tracer_provider", None)  # the module may just be being imported by another thread
    meters = getattr(metrics, "get_meter_provider", None)
    found = (traces() if traces else None, meters() if meters else None)
    return found if any(_was_set(provider) for provider in found) else None


def _was_set(provider: object) -> bool:
    """Whether a provider is one that does something: those of the API itself stand in until another is set."""
    return provider is not None and not type(provider).__module__.startswith(_API)


def _content_is_wanted() -> bool:
    return os.environ.get(CONTENT_VARIABLE, "").strip().lower() in ("true", "span_only", "span_and_event")


def _described(location: str) -> dict[str, Any]:
    """What is told of a store: its kind, and its address if it is a server."""
    parts = urlsplit(location)
    scheme = parts.scheme.partition("+")[0]
    kind = {"bolt": "neo4j", "rediss": "redis", "unix": "redis"}.get(scheme, scheme)
    told: dict[str, Any] = {STORE_KIND: kind}
    try:
        port = parts.port
    except ValueError:
        port = None
    if kind not in _IN_PROCESS and parts.hostname:
        told["server.address"] = parts.hostname
        if port is not None:
            told["server.port"] = port
    return told


def _query_text(context: object) -> str:
    """The words of a task: a context as an object or as a record."""
    data = context if isinstance(context, dict) else getattr(context, "to_dict", dict)()
    task, steps = data.get("task"), data.get("steps")
    return task if isinstance(task, str) and task else json.dumps(steps or [], ensure_ascii=False, default=str)


def _record(skill: Skill, score: float | None = None) -> dict[str, Any]:
    """A skill in the form that the conventions give to a record of a memory."""
    content = {"name": skill.name, "task": skill.task, "steps": [step.full_text for step in skill.procedure]}
    return {"id": skill.id, "content": content} | ({} if score is None else {"score": score})


def _recalled(found: Sequence[TransferCandidate]) -> Account:
    def records() -> list[dict[str, Any]]:
        return [_record(candidate.skill, candidate.combined_score) for candidate in found]

    only = found[0].skill.id if len(found) == 1 else ""
    return Account("found" if found else "nothing", len(found), only, records)


def _observed(receipt: LearnReceipt) -> Account:
    skill = receipt.skill
    if skill is None:
        return Account(receipt.outcome.value, 0)
    written = int(receipt.outcome is not LearnOutcome.ALREADY_SEEN)
    return Account(receipt.outcome.value, written, skill.id, lambda: [_record(skill)])


def _learned(report: LearnReport) -> Account:
    counts = {outcome.value: count for outcome, count in report.outcomes.items()} | {"refused": len(report.refused)}
    unwritten = (LearnOutcome.IGNORED, LearnOutcome.ALREADY_SEEN)
    written = report.learned - sum(report.outcomes.get(outcome, 0) for outcome in unwritten)
    return Account("batch", written, more={f"{LEARNED}.{outcome}": count for outcome, count in counts.items() if count})


def _rated(receipt: FeedbackReceipt) -> Account:
    if receipt.skill is None:
        return Account("unknown_skill", 0)
    return Account("repeated" if receipt.repeated else "recorded", int(not receipt.repeated), receipt.skill.id)


def _swept(done: dict[str, int]) -> Account:
    return Account("removed" if done["deleted"] else "nothing", done["deleted"])


RECALL = Verb("search_memory", _recalled)
LEARN, LEARN_MANY = Verb("upsert_memory", _observed), Verb("upsert_memory", _learned)
FEEDBACK = Verb("update_memory", _rated)
SWEEP = Verb("delete_memory", _swept)
