"""Which steps does the body of a SKILL.md tell? Its numbered sections, numbered list, sections, bullets or paragraphs.

A body is prose for a model; what is taken from it are the few short texts that tell what to do, in their order, for
recall to compare. The body itself is kept beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST_READ = 200_000
"""Characters of a body that are looked at: what is to be done stands at its beginning."""
MOST_STEPS = 30
"""Steps that are taken of one body."""
LONGEST_STEP = 240
"""Characters of a step, cut at a word; recall compares words, and a long text drowns the others."""

_NUMBER = r"(?:\d{1,2}|[ivx]{1,4}|[一二三四五六七八九十]{1,3})"
_NUMBERED = re.compile(
    rf"(?:(?:step|phase|stage|round|part|paso|etapa|étape|schritt|шаг|этап|ステップ|단계)\s*{_NUMBER}\b"
    rf"|第\s*{_NUMBER}\s*[步阶段歩章节]|\d{{1,2}}[.):、]\s)[\s.:：)、—–-]*",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n\n")


@dataclass
class _Section:
    """A heading, and the first paragraph below it."""

    title: str
    lead: str = ""


@dataclass
class _Found:
    """What a body is made of, as far as steps may be told by it."""

    sections: list[_Section] = field(default_factory=list)
    numbered: list[list[str]] = field(default_factory=list)
    bullets: list[str] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)


def steps_in(body: str) -> list[dict[str, str]]:
    """The steps that a body of Markdown tells, each an `action` and perhaps a `description`; none if it is empty."""
    found = _found(body[:LONGEST_READ])
    phases = [section for section in found.sections if _NUMBERED.match(section.title)]
    if len(phases) > 1:
        return _of_sections(phases)
    longest = max(found.numbered, key=len, default=[])
    if len(longest) > 1:
        return _of_texts(longest)
    if len(found.sections) > 1:
        return _of_sections(found.sections)
    if len(found.bullets) > 1:
        return _of_texts(found.bullets)
    return _of_texts([*found.paragraphs, *(section.title for section in found.sections), *longest, *found.bullets])


def _of_sections(sections: Sequence[_Section]) -> list[dict[str, str]]:
    steps = []
    for section in sections[:MOST_STEPS]:
        title = _NUMBERED.sub("", section.title, count=1).strip() if _NUMBERED.match(section.title) else section.title
        lead = "" if section.lead.endswith((":", "：")) else _cut(_first_sentence(section.lead))
        steps.append({"action": _cut(title or section.title)} | ({"description": lead} if lead else {}))
    return steps


def _of_texts(texts: Iterable[str]) -> list[dict[str, str]]:
    cut = (_cut(_first_sentence(text)) for text in texts)
    return [{"action": text} for text in cut if text][:MOST_STEPS]


def _found(body: str) -> _Found:
    """Walks the blocks of a body; code, tables and quotations are passed over."""
    from markdown_it import MarkdownIt

    found, tokens = _Found(), MarkdownIt("commonmark").enable("table").parse(body)
    lists: list[str] = []  # the kinds of the lists that the walk is in
    fresh = quoted = tabled = 0
    for place, token in enumerate(tokens):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            lists.append(token.type)
            if token.type == "ordered_list_open" and len(lists) == 1 and not quoted:
                found.numbered.append([])
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
        elif token.type.startswith("blockquote_"):
            quoted += token.nesting
        elif token.type.startswith("table_"):
            tabled += token.nesting
        elif token.type == "list_item_open":
            fresh = len(lists)
        elif token.type == "inline" and not quoted and not tabled:
            _note(found, tokens[place - 1], _plain(token), lists, fresh)
            fresh = 0
    return found


def _note(found: _Found, opening: Token, text: str, lists: Sequence[str], fresh: int) -> None:
    """Files one text by where it stands: a heading, the head of a list's item, a paragraph."""
    if not text:
        return
    if opening.type == "heading_open" and not lists:
        if opening.tag != "h1" or found.sections:
            found.sections.append(_Section(text))
    elif len(lists) == 1 and fresh == 1:
        (found.numbered[-1] if lists[0] == "ordered_list_open" else found.bullets).append(text)
    elif not lists:
        found.paragraphs.append(text)
        if found.sections and not found.sections[-1].lead:
            found.sections[-1].lead = text


def _plain(token: Token) -> str:
    """The words of a line of Markdown: no emphasis, no addresses of links."""
    parts = []
    for child in token.children or ():
        if child.type in ("text", "code_inline", "image"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    text = " ".join("".join(parts).split())
    return re.sub(r"^\[[ xX]\]\s*", "", text) if any(char.isalnum() for char in text) else ""


def _first_sentence(text: str) -> str:
    return _SENTENCE_END.split(text, maxsplit=1)[0].strip()


def _cut(text: str) -> str:
    if len(text) <= LONGEST_STEP:
        return text
    head = text[:LONGEST_STEP]
    at_word = head.rfind(" ", LONGEST_STEP // 2)
    return (head[:at_word] if at_word > 0 else head).rstrip()
