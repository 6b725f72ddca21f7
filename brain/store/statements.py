"""How do statements get from their files into the code? Named, documented, checked when they are loaded.

A file holds statements, each with this head:

    // name: feedback
    // One sentence on what it does.
    // mode: write
    // try: :param id => "…"; :param success => true;
    MATCH …

`//` is `--` in SQL files. `try` is optional there. Whatever `$parameter` the text names is a parameter.
The code fills in `{{relation}}` and `{{relations}}`, from the six relations, `{{depth}}`, from 1 to 10, and
`{{dimension}}`, of stored vectors; nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from brain.errors import StatementError

_HEAD = re.compile(r"^(?://|--) (name|mode|try): (.*)$")
_COMMENT = re.compile(r"^(?://|--) ?(.*)$")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_PARAMETER = {".cypher": re.compile(r"\$([a-z_][a-z0-9_]*)"), ".sql": re.compile(r":([a-z_][a-z0-9_]*)")}
_SLOT = re.compile(r"\{\{(\w+)\}\}")
SLOTS = frozenset({"relation", "relations", "depth", "dimension"})


@dataclass(frozen=True)
class Statement:
    """One statement: its text, what it does, whether it writes, and the parameters it names."""

    name: str
    doc: str
    mode: Literal["read", "write"]
    try_line: str
    text: str
    parameters: frozenset[str]
    source: str

    def check(self, given: Collection[str], mode: str) -> None:
        """Raises `StatementError` unless exactly the parameters that the text names are given, and reads only read."""
        if mode == "read" and self.mode == "write":
            raise StatementError(f"{self.source}: {self.name!r} writes, and is run in a transaction that reads.")
        if self.parameters != set(given):
            wrong = ", ".join(sorted(self.parameters ^ set(given)))
            raise StatementError(f"{self.source}: {self.name!r} is given other parameters than it names: {wrong}.")

    def filled(self, **slots: str) -> str:
        """The text with its slots filled in; every slot must be given."""
        return _SLOT.sub(lambda match: slots[match.group(1)], self.text)


def data_folder(kind: str) -> Path:
    """The folder "cypher" or "migrations": beside the package in a checkout, inside it when installed."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_data" / kind, package.parent / kind):
        if folder.is_dir():
            return folder
    raise StatementError(f"The folder {kind!r} is missing from the installation. Reinstall the package.")


@cache
def load(folder: Path, pattern: str = "*") -> dict[str, Statement]:
    """All statements of the files in `folder` that match, by name. Raises `StatementError` with file and line."""
    found: dict[str, Statement] = {}
    for path in sorted(folder.glob(pattern)):
        for statement in parse(path.read_text("utf-8"), path.name):
            if statement.name in found:
                raise StatementError(
                    f"{statement.source}: {statement.name!r} is also in {found[statement.name].source}."
                )
            found[statement.name] = statement
    if not found:
        raise StatementError(f"No statements in {folder}/{pattern}. Reinstall the package.")
    return found


def parse(text: str, file: str) -> Iterator[Statement]:
    """The statements of one file."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        starts = _HEAD.match(line)
        if starts and starts.group(1) == "name" and block:
            yield _statement(block, file)
            block = []
        if block or (starts and starts.group(1) == "name"):
            block.append((number, line))
    if block:
        yield _statement(block, file)


def _statement(block: list[tuple[int, str]], file: str) -> Statement:
    head: dict[str, str] = {}
    doc: list[str] = []
    body: list[str] = []
    for _, line in block:
        field, comment = _HEAD.match(line), _COMMENT.match(line)
        if field and not body:
            head[field.group(1)] = field.group(2).strip()
        elif comment and not body:
            doc.append(comment.group(1))
        else:
            body.append(line)
    source = f"{file}:{block[0][0]}"
    return _checked(head, " ".join(doc).strip(), "\n".join(body).strip().removesuffix(";"), source)


def _checked(head: dict[str, str], doc: str, text: str, source: str) -> Statement:
    name, mode = head["name"], head.get("mode", "")
    if not _NAME.fullmatch(name):
        raise StatementError(f"{source}: {name!r} is not a lower_snake_case name.")
    if mode not in ("read", "write"):
        raise StatementError(f"{source}: {name!r} needs a line 'mode: read' or 'mode: write'.")
    if not text or not doc:
        raise StatementError(f"{source}: {name!r} needs a statement and a sentence on what it does.")
    unknown = set(_SLOT.findall(text)) - SLOTS
    if unknown:
        raise StatementError(
            f"{source}: {name!r} has unknown slots {sorted(unknown)}; only {sorted(SLOTS)} are filled."
        )
    suffix = ".sql" if ".sql" in source else ".cypher"
    parameters = frozenset(_PARAMETER[suffix].findall(_STRING.sub("''", text)))
    literal: Literal["read", "write"] = "read" if mode == "read" else "write"
    return Statement(name, doc, literal, head.get("try", ""), text, parameters, source)
