"""Where are the front matter and the body of a SKILL.md, and what does the front matter say, line by line?

It is YAML of which nothing is built but text, numbers, lists and objects; anchors, tags, and more values or levels than
anybody writes are refused. The text itself is kept: to add to it or to take from it is to cut at the places that the
parser names.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode

FENCE = "---"
"""The line before and after the front matter."""
LONGEST = 3_000_000
"""Characters of a front matter that is read."""
DEEPEST, MOST = 32, 5_000
"""Levels of nesting in it, and values."""

_FENCE_LINE = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_NEEDS_ESCAPES = re.compile(
    "---|[^\x20-\x7e\xa0-\u200a\u2010-\u2027\u202f-\u205f\u2070-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


class FrontMatterError(ValueError):
    """The front matter cannot be read: the rule that it breaks, and the line (from 1)."""

    def __init__(self, rule: str, line: int, message: str) -> None:
        self.rule, self.line = rule, line
        super().__init__(message)


@dataclass(frozen=True)
class FrontMatter:
    """The front matter of `text`, and the body after it.

    `fields` are its values by key, `lines` the lines of the keys, counted from 1; of a key that is there twice the last
    counts, as to most readers, and `twice` names it. `begin` and `end` are where its YAML
    stands in `text`, `body` is where the body begins.
    """

    text: str = field(repr=False)
    begin: int
    end: int
    body: int
    root: MappingNode = field(repr=False)
    fields: Mapping[str, Any]
    lines: Mapping[str, int]
    twice: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> FrontMatter:
        """Reads the front matter at the head of `text`. Raises `FrontMatterError`."""
        begin, end, body = _places(text)
        root = _composed(text, begin, end)
        keys = [_key(key, text, begin) for key, _ in root.value]
        lines = _lines(text, [begin + key.start_mark.index for key, _ in root.value])
        twice = tuple(sorted(key for key, count in Counter(keys).items() if count > 1))
        return cls(text, begin, end, body, root, _values(root, lines), dict(zip(keys, lines, strict=True)), twice)

    @property
    def newline(self) -> str:
        """How its lines end."""
        return "\r\n" if self.text[: self.begin].endswith("\r\n") else "\n"

    def node(self, key: str) -> Node | None:
        """The value of a key as the parser found it."""
        return next((value for name, value in self.root.value if name.value == key), None)


def quoted(text: str) -> str:
    """`text` as a YAML scalar on one line, by single quotes where that is enough.

    No dashes stand in it as a fence: readers that cut at the first of them, as the reference does, find the right one.
    """
    if not _NEEDS_ESCAPES.search(text):
        return "'" + text.replace("'", "''") + "'"
    return json_line(text)


def json_line(value: Any) -> str:
    """`value` as JSON text that single quotes can hold: what they cannot is written as an escape of JSON."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _NEEDS_ESCAPES.sub(lambda found: _escape(found[0]), text)


def _escape(part: str) -> str:
    return "\\u002d--" if part == FENCE else "".join(f"\\u{ord(char):04x}" for char in part)


def _places(text: str) -> tuple[int, int, int]:
    """Begin and end of the YAML, and begin of the body."""
    opening = _FENCE_LINE.match(text)
    if not opening:
        raise FrontMatterError("front-matter", 1, "there is no front matter: the first line must be ---")
    begin = opening.end()
    at = begin
    while at < len(text):
        closing = _FENCE_LINE.match(text, at)
        if closing:
            if at - begin > LONGEST:
                raise FrontMatterError("front-matter-size", 1, f"the front matter has over {LONGEST:,} characters")
            return begin, at, closing.end()
        at = text.find("\n", at) + 1 or len(text)
    raise FrontMatterError(
        "front-matter-unclosed", 1, "the front matter never closes: it opens here, and no other line is ---"
    )


class _Loader(yaml.SafeLoader):
    """Refuses what lets a small text become a large or a deep value."""

    depth = count = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it open
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.composer.ComposerError(None, None, "anchors and aliases are not read", event.start_mark)
        if self.depth == DEEPEST or self.count == MOST:
            fault = f"it has more than {DEEPEST} levels or {MOST:,} values"
            raise yaml.composer.ComposerError(None, None, fault, event.start_mark)
        self.depth += 1
        self.count += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_text(self, node: Any) -> str:
        return str(node.value)


for _tag in ("timestamp", "binary"):  # which JSON has not: they stay the text that they are
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _Loader.construct_text)


def _composed(text: str, begin: int, end: int) -> MappingNode:
    loader = None
    try:
        loader = _Loader(text[begin:end])
        root = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = _line(text, begin + (mark.index if mark else 0))
        raise FrontMatterError("yaml", line, f"the front matter is not valid YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        line = _line(text, begin + error.position)
        code = error.character if isinstance(error.character, int) else ord(error.character[0])
        fault = f"the character U+{code:04X} is not allowed in it"
        raise FrontMatterError("yaml", line, f"the front matter is not valid YAML: {fault}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise FrontMatterError("yaml", 2, f"the front matter is not valid YAML: {error}") from error
    finally:
        if loader is not None:
            loader.dispose()
    if root is None:
        raise FrontMatterError("front-matter", 1, "the front matter is empty: it needs a name and a description")
    if not isinstance(root, MappingNode):
        raise FrontMatterError("front-matter-mapping", 2, "the front matter is no mapping of keys to values")
    return root


def _key(node: Node, text: str, begin: int) -> str:
    if not isinstance(node, ScalarNode):
        line = _line(text, begin + node.start_mark.index)
        raise FrontMatterError("yaml", line, "the front matter is not valid YAML: a key is no text")
    return str(node.value)


def _values(root: MappingNode, lines: Sequence[int]) -> dict[str, Any]:
    loader = _Loader("")
    try:
        return {str(key.value): _value(loader, node, line) for (key, node), line in zip(root.value, lines, strict=True)}
    finally:
        loader.dispose()


def _value(loader: _Loader, node: Node, line: int) -> Any:
    try:
        return loader.construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError) as error:
        problem = getattr(error, "problem", None) or error
        raise FrontMatterError("yaml", line, f"the front matter is not valid YAML: {problem}") from error


def _lines(text: str, places: Sequence[int]) -> list[int]:
    """The line of each of some places, which are in their order."""
    found, line, last = [], 1, 0
    for at in places:
        line, last = line + text.count("\n", last, at), at
        found.append(line)
    return found


def _line(text: str, at: int) -> int:
    """The line, from 1, that a place is on, as editors count: only line feeds end one."""
    return text.count("\n", 0, at) + 1
