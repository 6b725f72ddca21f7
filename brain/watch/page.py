"""How are the details of a skill laid out as lines? Spans of text with roles; the widget gives roles their looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from shlex import quote

from brain.model.relations import Edge, Relation
from brain.model.shown import moment, plain, score
from brain.model.skill import Skill, SkillStep, SkillTransferRecord
from brain.model.text import parse_time
from brain.watch.cells import fit, wrap
from brain.watch.details import Details
from brain.watch.lifetime import time_left, urgency

LONGEST_TEXT = 2_000
"""Characters of one text that are shown; `brain show` prints all."""
LONGEST_NOTE = 300
"""Characters of what was adapted at one application."""
LONGEST_PAGE = 60_000
"""Characters of steps that are shown, so that a page is laid out in some 50 ms."""
LABEL = 10
"""Columns of the labels of the facts."""
LEAST_BESIDE = 8
"""Columns that text needs beside its label."""

_INWARDS = {
    Relation.DERIVES_FROM: "source of",
    Relation.COMPOSED_OF: "part of",
    Relation.SPECIALIZES: "generalizes",
    Relation.TRANSFERRED_TO: "transferred from",
    Relation.CONFLICTS_WITH: "conflicts with",
    Relation.COMPLEMENTS: "complements",
}

Span = tuple[str, str]
"""Text, and its role."""


@dataclass(frozen=True)
class Line:
    """One line of a page. `edge` is the number of the edge that it is part of."""

    spans: Sequence[Span]
    edge: int | None = None

    @property
    def text(self) -> str:
        """What it says."""
        return "".join(text for text, _ in self.spans)


def page(details: Details, width: int, now: datetime, back: str | None = None, *, gone: bool = False) -> list[Line]:
    """The lines of a page, each at most `width` columns. `back` names the skill that one came from; with `gone`, the
    details are the last that were seen.
    """
    skill = details.skill
    lines = [Line([(fit(f"← {back}", width).rstrip(), "quiet")])] if back else []
    if gone or skill is None:
        lines += _texts("This skill is gone: it expired or was deleted.", width, "gone")
    if skill is None:
        return [*lines, *_texts(details.skill_id, width, "quiet")]
    lines += _texts(_cut(skill.name) or skill.id, width, "title")
    lines += _texts(skill.id, width, "quiet") if skill.name else []
    return [
        *lines,
        *_texts(_cut(skill.description), width, "text", above=bool(skill.description)),
        Line([]),
        *_facts(skill, width, now),
        *_section("steps", _steps(skill.procedure, width, skill.id), width),
        *_section("", _conditions(skill, width), width),
        *_section("edges", _edges(details, width), width),
        *_section(_applied(skill), _transfers(skill.transfer_history, width), width),
        *_section("", _writes(skill, width), width),
    ]


def _texts(text: str, width: int, role: str, above: bool = False) -> list[Line]:
    if not text:
        return []
    return [Line([])] * above + [Line([(line, role)]) for line in wrap(text, width)]


def _section(title: str, lines: Iterator[Line], width: int) -> list[Line]:
    found = list(lines)
    return [Line([]), *_texts(title, width, "heading"), *found] if found else []


def _facts(skill: Skill, width: int, now: datetime) -> Iterator[Line]:
    yield Line([_label("confidence"), (f"{score(skill.confidence)} ", "text"), *_bar(skill.confidence, width)])
    uses = f"{skill.usage_count}, {skill.success_rate:.0%} successful" if skill.usage_count else "none"
    yield from _hanging([_label("uses")], uses, width, "text")
    yield from _lifetime(skill, width, now)
    for label, text in (("domain", skill.domain), ("tags", ", ".join(skill.tags)), ("task", skill.task)):
        if text:
            yield from _hanging([_label(label)], _cut(text), width, "text")


def _lifetime(skill: Skill, width: int, now: datetime) -> Iterator[Line]:
    if not skill.expires_at:
        yield from _hanging([_label("ttl")], "never expires", width, "text")
        return
    expires_at = parse_time(skill.expires_at)
    left, role = time_left(expires_at, now), str(urgency(expires_at, now))
    yield from _hanging([_label("ttl"), (left, role), (", ", "text")], f"{moment(expires_at)} UTC", width, "text")
    yield from _hanging([_label("")], f"{skill.ttl_hours:,.0f} h from a success", width, "quiet")


def _label(text: str) -> Span:
    return fit(text, LABEL + 1), "label"


def _bar(share: float, width: int) -> list[Span]:
    room = min(20, max(0, width - LABEL - 8))
    full = round(share * room)
    return [("━" * full, "bar"), ("━" * (room - full), "rest")]


def _steps(steps: Sequence[SkillStep], width: int, skill_id: str) -> Iterator[Line]:
    indent, left = len(str(len(steps))) + 2, LONGEST_PAGE
    for i, step in enumerate(steps, 1):
        text = _cut(step.action)
        notes = [step.description] if step.description and step.description != step.action else []
        notes += [plain(step.parameters)] if step.parameters else []
        left -= len(text) + sum(map(len, notes))
        if left < 0:
            yield from _texts(f"… and {len(steps) - i + 1:,} more; {_all_of(skill_id)}", width, "quiet")
            return
        head = [(f"{i:>{indent - 2}}  ", "label")]
        yield from _hanging(head, f"{text} (optional)" if step.is_optional else text, width, "text")
        for note in notes:
            yield from _hanging([(" " * indent, "text")], _cut(note), width, "quiet")


def _conditions(skill: Skill, width: int) -> Iterator[Line]:
    for title, conditions in (("before", skill.preconditions), ("after", skill.postconditions)):
        for i, condition in enumerate(conditions):
            text = condition.predicate if condition.required else f"{condition.predicate} (optional)"
            head = [(fit("" if i else title, LABEL + 1), "heading")]
            yield from _hanging(head, _cut(text), width, "text")


def _edges(details: Details, width: int) -> Iterator[Line]:
    for number, edge in enumerate(details.edges):
        head = [(f"{_relation(edge)}  ", "label")]
        lines = [*_hanging(head, _cut(details.name_of(edge.target)), width, "link")]
        if edge.metadata:
            lines += _hanging([("  ", "text")], _cut(plain(edge.metadata)), width, "quiet")
        yield from (Line(line.spans, number) for line in lines)
    if details.more_edges:
        yield from _texts(f"… and {details.more_edges:,} more; {_all_of(details.skill_id)}", width, "quiet")


def _all_of(skill_id: str) -> str:
    """Where all of a skill is to be read, as it is typed in a shell."""
    return f"brain show {'-- ' if skill_id.startswith('-') else ''}{quote(skill_id)} prints all."


def _relation(edge: Edge) -> str:
    """What the skill is to the other one."""
    if edge.direction == "out":
        return f"→ {edge.relation.value.lower().replace('_', ' ')}"
    return f"← {_INWARDS[edge.relation]}"


def _applied(skill: Skill) -> str:
    kept = len(skill.transfer_history)
    latest = f", the latest {kept}" if kept < skill.transfer_count else ""
    return f"transfers ({skill.transfer_successes} of {skill.transfer_count} successful{latest})"


def _transfers(history: Sequence[SkillTransferRecord], width: int) -> Iterator[Line]:
    for record in reversed(history):
        metadata = record.target_context.get("metadata")
        domain = metadata.get("domain", "") if isinstance(metadata, dict) else ""
        mark = ("✓ ", "good") if record.success else ("✗ ", "bad")
        said = fit(str(domain) or "no domain", max(0, width - 20)).rstrip()
        yield Line([mark, (f"{moment(record.timestamp)}  ", "quiet"), (said, "text")])
        if record.adaptations:
            yield from _hanging([("  ", "text")], _cut(plain(record.adaptations), LONGEST_NOTE), width, "quiet")


def _writes(skill: Skill, width: int) -> Iterator[Line]:
    yield from _hanging([_label("created")], f"{moment(skill.created_at)} UTC", width, "quiet")
    updated = f"{moment(skill.updated_at)} UTC, v{skill.version}"
    yield from _hanging([_label("updated")], updated, width, "quiet")


def _hanging(head: list[Span], text: str, width: int, role: str) -> Iterator[Line]:
    """`text` behind `head`, its further lines below its first; all of it below where there is no room beside."""
    indent = sum(len(part) for part, _ in head)
    if width - indent < LEAST_BESIDE:
        yield Line(head)
        head, indent = [("  ", "text")], 2
    for i, line in enumerate(wrap(text, width - indent)):
        yield Line([*(head if i == 0 else [(" " * indent, "text")]), (line, role)])


def _cut(text: str, most: int = LONGEST_TEXT) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more)"
