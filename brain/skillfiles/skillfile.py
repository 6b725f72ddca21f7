"""What does one SKILL.md say? `SkillFile`: its text as it is, read and checked."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

from brain.errors import SkillFileError
from brain.skillfiles.frontmatter import FrontMatter, FrontMatterError
from brain.skillfiles.rules import NAME_FORM, Finding, faults, oddities

FILE_NAMES = ("SKILL.md", "skill.md")
"""What the file of a skill is called; the first is how it is written."""
LARGEST = 4_000_000
"""Bytes of a SKILL.md that is read. What may be stored of it, the caps of `brain.config.Limits` say."""

_UTF_16_AND_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class SkillFile:
    """A SKILL.md that can be read. `text` is all of it but a byte order mark; `oddities` are what is odd in it."""

    text: str = field(repr=False)
    matter: FrontMatter = field(repr=False)
    oddities: tuple[Finding, ...] = ()

    @classmethod
    def parse(cls, data: bytes, path: str = FILE_NAMES[0], *, folder: str = "", any_name: bool = False) -> SkillFile:
        """Reads the bytes of a SKILL.md that lies in a folder called `folder`; `path` names it in an error.

        With `any_name`, a name whose form breaks the specification is odd, and no fault. Raises `SkillFileError`.
        """
        try:
            text = _decoded(data)
            matter = FrontMatter.of(text)
        except FrontMatterError as error:
            raise SkillFileError(path, [(error.line, error.rule, str(error))]) from error
        found = list(faults(matter))
        odd = [fault for fault in found if any_name and fault.rule == NAME_FORM]
        wrong = [(fault.line, fault.rule, fault.message) for fault in found if fault not in odd]
        if wrong:
            raise SkillFileError(path, wrong)
        return cls(text, matter, (*odd, *oddities(matter, folder)))

    @property
    def name(self) -> str:
        """The name in the front matter."""
        return str(self.matter.fields["name"]).strip()

    @property
    def description(self) -> str:
        """The description in the front matter."""
        return str(self.matter.fields["description"]).strip()

    @property
    def body(self) -> str:
        """What follows the front matter, word for word."""
        return self.text[self.matter.body :]


def _decoded(data: bytes) -> str:
    """The text in UTF-8. A byte order mark is no part of it: some readers, the reference too, stumble over one."""
    if len(data) > LARGEST:
        raise FrontMatterError("file-size", 1, f"it has over {LARGEST:,} bytes: move parts of it to references/")
    if data.startswith(_UTF_16_AND_32):
        raise FrontMatterError("encoding", 1, "it is in UTF-16 or UTF-32: save it as UTF-8")
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FrontMatterError("encoding", line, "it is not UTF-8 text: save it as UTF-8") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise FrontMatterError("nul-byte", line, "there is a NUL byte in it: remove it")
    return text
