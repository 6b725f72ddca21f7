"""What does a workflow file say, and where? YAML text as plain values, with line and column of each."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from brain.errors import Problem, WorkflowError

LARGEST_FILE = 2_000_000
"""Bytes of a workflow file."""
LARGEST_TREE = 100_000
"""Values of a workflow file, each counted as often as aliases repeat it."""
DEEPEST_TREE = 40
"""Levels of nesting."""

Place = tuple[str | int, ...]
"""Where a value stands: the keys and list positions that lead to it."""

_MARKS_OF_ORDER = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PLAIN_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")}
_TEXT_TAGS = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value"}  # a date in a prompt's place is text
_COLLECTION_TAGS = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}
_MERGE = "tag:yaml.org,2002:merge"


class Mark(NamedTuple):
    """A place in the file; `line` and `column` count from 1."""

    line: int
    column: int


@dataclass
class Document:
    """The values of a file. `marks` has the key of each (or, in a list, the value itself), `texts` the line on which a
    literal block begins, because only there lines of the value are lines of the file. `given` has the values that were
    put over the file's, with where they come from.
    """

    path: str
    values: dict[str, Any] = field(default_factory=dict)
    marks: dict[Place, Mark] = field(default_factory=dict)
    texts: dict[Place, int] = field(default_factory=dict)
    given: dict[Place, str] = field(default_factory=dict)

    def problem(self, place: Place, message: str, agent: str = "", key: str = "") -> Problem:
        """A problem at `place`, or at the nearest value around it that has a mark."""
        for length in range(len(place), -1, -1):
            if place[:length] in self.given:
                return Problem(message, self.given[place[:length]], agent=agent, key=key)
            mark = self.marks.get(place[:length])
            if mark:
                return Problem(message, self.path, mark.line, mark.column, agent, key)
        return Problem(message, self.path, agent=agent, key=key)


def read_document(path: str | Path) -> Document:
    """The document in a file. Raises `WorkflowError`."""
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise WorkflowError([Problem(f"cannot be read: {reason}. Check the path.", name)]) from error
    if len(data) > LARGEST_FILE:
        raise WorkflowError([Problem(f"is larger than {LARGEST_FILE:,} bytes. Move data out of it.", name)])
    return parse_document(_decoded(data, name), name)


def parse_document(text: str, path: str = "") -> Document:
    """The document in `text`; `path` names it in errors. Raises `WorkflowError`."""
    _check_bounds(text, path)
    loader = _loader(text)
    try:
        node = loader.get_single_node()
        return _Reading(loader, path).document(node)
    except yaml.YAMLError as error:
        raise WorkflowError([_fault(error, text, path)]) from error
    finally:
        loader.dispose()


def _decoded(data: bytes, path: str) -> str:
    encoding = next((name for mark, name in _MARKS_OF_ORDER if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {error.start} is not {encoding.removesuffix('-sig').upper()} text. Save the file as UTF-8."
        raise WorkflowError([Problem(message, path, line, 1)]) from error


def _loader(text: str) -> Any:
    """The faster reader, where this build of PyYAML has it."""
    return (yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader)(text)


def _check_bounds(text: str, path: str) -> None:
    """Reads the events once, before a tree is made: the fast reader recurses, and aliases multiply."""
    loader, depth = _loader(text), 0
    try:
        while loader.check_event():
            event = loader.get_event()
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST_TREE:
                mark = event.start_mark
                message = f"is nested more than {DEEPEST_TREE} levels deep. Flatten it."
                raise WorkflowError([Problem(message, path, mark.line + 1, mark.column + 1)])
    except yaml.YAMLError as error:
        raise WorkflowError([_fault(error, text, path)]) from error
    finally:
        loader.dispose()


def _fault(error: yaml.YAMLError, text: str, path: str) -> Problem:
    """A problem of the syntax, in words that say what to do."""
    begin = getattr(error, "context_mark", None)
    mark = getattr(error, "problem_mark", None) or begin
    if isinstance(error, yaml.reader.ReaderError):
        return _unreadable(text, path)
    said = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    at = _sign_at(text, mark) if mark else ""
    if at == "\t" or " tab " in said:
        said, remedy = "a tab where YAML wants spaces", "Indent with spaces."
    elif "cannot start any token" in said:
        said, remedy = f"a value that begins with {at!r}", "Put it into quotes."
    elif "mapping values are not allowed" in said:
        said, remedy = "a second ': ' in one line", "Put the value into quotes, or check the indentation."
    elif "another document" in said:
        said, remedy = "a second document", "A workflow is one document; remove '---' and what follows."
    elif "nesting depth" in said:
        said, remedy = f"is nested more than {DEEPEST_TREE} levels deep", "Flatten it."
    elif begin and "quoted scalar" in str(getattr(error, "context", "")):
        mark, said, remedy = begin, "a quote that is not closed, or not where it should be", "Close it."
    else:
        remedy = "Correct the YAML there."
    place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    return Problem(f"{said}. {remedy}", path, *place)


def _unreadable(text: str, path: str) -> Problem:
    """The first character that YAML does not allow, with its place."""
    found = yaml.reader.Reader.NON_PRINTABLE.search(text)
    before = text[: found.start()] if found else ""
    place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    sign = f" (#x{ord(found[0]):04x})" if found else ""
    return Problem(f"a character that YAML does not allow{sign}. Remove it.", path, *place)


def _sign_at(text: str, mark: Any) -> str:
    lines = text.split("\n", mark.line + 1)
    return lines[mark.line][mark.column : mark.column + 1] if mark.line < len(lines) else ""


class _Reading:
    """Turns a node tree into values, collecting every problem on the way."""

    def __init__(self, loader: Any, path: str) -> None:
        self._loader = loader
        self._document = Document(path)
        self._problems: list[Problem] = []
        self._count = 0
        self._open: list[yaml.Node] = []

    def document(self, node: yaml.Node | None) -> Document:
        if not isinstance(node, yaml.MappingNode):
            found = "is empty" if node is None else f"is {_kind(node)}"
            message = f"{found}, not a mapping. A workflow has the keys 'orchestrator' and 'agents'."
            raise WorkflowError([Problem(message, self._document.path, 1, 1)])
        self._document.values = self._value(node, ())
        if self._problems:
            raise WorkflowError(sorted(self._problems, key=lambda problem: (problem.line, problem.column)))
        return self._document

    def _value(self, node: yaml.Node, place: Place) -> Any:
        self._count += 1
        if self._count > LARGEST_TREE:
            self._stop(node, f"holds more than {LARGEST_TREE:,} values once aliases are followed. Use fewer aliases.")
        if node in self._open:
            self._stop(node, "an alias that contains itself. Remove it.")
        self._document.marks.setdefault(place, _mark(node))
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, place)
        if node.tag not in _COLLECTION_TAGS:
            self._note(node, f"the tag {_written(node.tag)} is not allowed. Remove it.")
        self._open.append(node)
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self._value(item, (*place, i)) for i, item in enumerate(node.value)]
            return self._mapping(node, place)
        finally:
            self._open.pop()

    def _mapping(self, node: yaml.Node, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        lines: dict[str, int] = {}
        merged: list[yaml.Node] = []
        for key, value in node.value:
            if key.tag == _MERGE:
                merged += value.value if isinstance(value, yaml.SequenceNode) else [value]
                continue
            name = self._key(key)
            if name in lines:
                self._note(key, f"the key {name!r} stands here again (first in line {lines[name]}). Remove one.")
            lines.setdefault(name, key.start_mark.line + 1)
            self._document.marks[*place, name] = _mark(key)
            found[name] = self._value(value, (*place, name))
        for source in merged:
            if not isinstance(source, yaml.MappingNode):
                self._stop(source, f"'<<' takes a mapping, not {_kind(source)}. Name an anchor that is one.")
            for name, value in self._value(source, (*place, "<<")).items():
                found.setdefault(name, value)
        return found

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            self._stop(node, f"{_kind(node)} as a key. Keys are text; '{{' at the start of a value needs quotes.")
        if node.tag not in _PLAIN_TAGS | _TEXT_TAGS:
            self._stop(node, f"the tag {_written(node.tag)} is not allowed. Remove it.")
        return str(node.value)

    def _scalar(self, node: yaml.ScalarNode, place: Place) -> Any:
        if node.style == "|":
            self._document.texts[place] = node.start_mark.line + 2
        if node.tag in _TEXT_TAGS:
            return node.value
        if node.tag not in _PLAIN_TAGS:
            self._note(node, f"the tag {_written(node.tag)} is not allowed. Remove it.")
            return None
        try:
            return self._loader.construct_object(node)
        except (ValueError, yaml.YAMLError):
            self._note(node, f"{node.value[:40]!r} is not a number that can be read. Put it into quotes.")
            return None

    def _note(self, node: yaml.Node, message: str) -> None:
        mark = _mark(node)
        self._problems.append(Problem(message, self._document.path, mark.line, mark.column))

    def _stop(self, node: yaml.Node, message: str) -> None:
        self._note(node, message)
        raise WorkflowError(self._problems)


def _written(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")


def _mark(node: yaml.Node) -> Mark:
    return Mark(node.start_mark.line + 1, node.start_mark.column + 1)


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, yaml.SequenceNode) else "a single value"
