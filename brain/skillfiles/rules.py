"""What does the Agent Skills specification ask of a SKILL.md, and what of it is a fault, what only odd?

A fault is what leaves the skill without a name, a description or a readable front matter: such a file is refused. What
other readers would object to, but which can be read, is odd: it is told, and comes back as it was.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from brain.skillfiles.frontmatter import FrontMatter

LONGEST_NAME, LONGEST_DESCRIPTION, LONGEST_COMPATIBILITY = 64, 1024, 500
"""Characters, by the specification."""
KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
"""The keys that the specification knows."""

MOST_UNKNOWN = 20
"""Unknown keys of one file that are told each."""

NAME_FORM = "name-form"
"""The rule that a reader may be told to overlook."""

_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)\s*(?:\.|\Z)", re.IGNORECASE)
_PATH_PARTS = re.compile(r"[/\\:\x00]|\A\.+\Z|\.\.")
_TAG = re.compile(r"<[^<>\s][^<>]*>")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\U000e0000-\U000e007f]"
)
_JOINERS = "\u200c\u200d"  # part of the spelling of Persian, Hindi and many emoji
_KINDS = {bool: "a bool", int: "a number", float: "a number", list: "a list", dict: "a mapping", type(None): "empty"}


@dataclass(frozen=True)
class Finding:
    """What a rule says of a file: the rule's name, the line (from 1), and what is there and should not be."""

    rule: str
    line: int
    message: str


def faults(matter: FrontMatter) -> Iterator[Finding]:
    """What breaks the specification so that the file is refused."""
    yield from _needed(matter, "name")
    name = matter.fields.get("name")
    if isinstance(name, str) and name.strip():
        yield from _name_faults(unicodedata.normalize("NFKC", name.strip()), matter.lines["name"])
    yield from _needed(matter, "description")


def _needed(matter: FrontMatter, key: str) -> Iterator[Finding]:
    """A key that must be there, as text that says something."""
    if key not in matter.fields:
        yield Finding(f"{key}-missing", 1, f"there is no {key} in the front matter")
        return
    value, line = matter.fields[key], matter.lines[key]
    if value is None or value == "" or (isinstance(value, str) and not value.strip()):
        yield Finding(f"{key}-missing", line, f"there is no {key}: it is empty")
    elif not isinstance(value, str):
        shown = f" ({str(value).lower()})" if isinstance(value, bool | int | float) else ""
        yield Finding(f"{key}-type", line, f"{key} is {_kind(value)}{shown}, and must be text: put it into quotes")


def _name_faults(name: str, line: int) -> Iterator[Finding]:
    if _PATH_PARTS.search(name):
        yield Finding("name-path", line, f"name is {_short(name)}, with parts of a path: no folder can be called so")
        return
    if len(name) > LONGEST_NAME:
        yield Finding(NAME_FORM, line, f"name has {len(name)} characters, and may have {LONGEST_NAME}")
    if name != name.lower():
        yield Finding(NAME_FORM, line, f"name is {_short(name)}, with capital letters: it must be lower case")
    if not all(char.isalnum() or char == "-" for char in name):
        yield Finding(NAME_FORM, line, f"name is {_short(name)}: it may have letters, digits and hyphens")
    elif name.startswith("-") or name.endswith("-") or "--" in name:
        yield Finding(NAME_FORM, line, f"name is {_short(name)}: hyphens stand one by one, between letters or digits")


def is_reserved(name: str) -> bool:
    """Whether Windows keeps a name for a device, so that no file and no folder can be called so there."""
    return _DEVICES.match(name) is not None


def oddities(matter: FrontMatter, folder: str) -> Iterator[Finding]:
    """What is odd and can be read. `folder` is the name of the folder that the file is in, empty if it is in none."""
    yield from _odd_values(matter)
    name = unicodedata.normalize("NFKC", str(matter.fields["name"]).strip())
    if folder and unicodedata.normalize("NFKC", folder) != name:
        yield Finding("name-folder", matter.lines["name"], f"name is {name!r}, and the folder is {folder!r}")
    if is_reserved(name):
        yield Finding("name-reserved", matter.lines["name"], f"no folder can be called {name!r} on Windows")
    for key in matter.twice:
        yield Finding("key-twice", matter.lines[key], f"{_short(key)} is there twice; the last one counts")
    unknown = [key for key in matter.fields if key not in KEYS]
    for key in unknown[:MOST_UNKNOWN]:
        yield Finding("unknown-key", matter.lines[key], f"{_short(key)} is no key of the specification; it is kept")
    if len(unknown) > MOST_UNKNOWN:
        yield Finding("unknown-key", 1, f"and {len(unknown) - MOST_UNKNOWN} more keys are none of the specification")
    if not matter.text[matter.body :].strip():
        yield Finding("body-empty", 1, "the body is empty: the description is all there is")
    yield from _invisible(matter)


def _odd_values(matter: FrontMatter) -> Iterator[Finding]:
    fields, lines = matter.fields, matter.lines
    description = str(fields["description"])
    if len(description.strip()) > LONGEST_DESCRIPTION:
        length = f"{len(description.strip())} characters, and may have {LONGEST_DESCRIPTION}"
        yield Finding("description-length", lines["description"], f"description has {length}")
    if _TAG.search(description):
        found = _TAG.search(description)
        yield Finding(
            "description-tags", lines["description"], f"description has tags: {_short(found[0] if found else '')}"
        )
    for key in ("license", "compatibility", "allowed-tools"):
        if key in fields and not isinstance(fields[key], str):
            yield Finding(f"{key}-type", lines[key], f"{key} is {_kind(fields[key])}, and should be text")
    if len(str(fields.get("compatibility", ""))) > LONGEST_COMPATIBILITY:
        message = f"compatibility may have {LONGEST_COMPATIBILITY} characters"
        yield Finding("compatibility-length", lines["compatibility"], message)
    yield from _odd_metadata(matter)


def _odd_metadata(matter: FrontMatter) -> Iterator[Finding]:
    metadata, line = matter.fields.get("metadata"), matter.lines.get("metadata", 1)
    if metadata is None:
        return
    if not isinstance(metadata, dict):
        yield Finding("metadata-type", line, f"metadata is {_kind(metadata)}, and should be a mapping of texts")
        return
    nested = [str(key) for key, value in metadata.items() if not isinstance(value, str)]
    if nested:
        yield Finding("metadata-values", line, f"metadata should hold texts; it has others at {', '.join(nested[:5])}")


def _invisible(matter: FrontMatter) -> Iterator[Finding]:
    found = [found for found in _INVISIBLE.finditer(matter.text) if found[0] not in _JOINERS]
    if found:
        line = matter.text.count("\n", 0, found[0].start()) + 1
        kinds = ", ".join(sorted({f"U+{ord(one[0]):04X}" for one in found})[:5])
        yield Finding("invisible-characters", line, f"{len(found)} invisible characters ({kinds}), the first here")


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "no text")


def _short(text: str) -> str:
    return repr(text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}…")
