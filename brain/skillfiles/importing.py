"""How do SKILL.md folders become skills? `import_skills`: each by itself, so that a bad one stops no other.

A file that this package wrote gives its skill back as it was. Any other becomes a skill whose task is the description
and whose steps are read off the body; the file itself stays with it, word for word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brain.engine.moving import Existing, existing_named
from brain.engine.sync import memory_of
from brain.errors import InputError, SkillFileError
from brain.model.relations import Edge
from brain.skillfiles.folder import read_beside, read_skill_file, skill_files_below
from brain.skillfiles.making import Made, made_of
from brain.skillfiles.redacting import redacted
from brain.skillfiles.rules import Finding
from brain.skillfiles.skillfile import FILE_NAMES, SkillFile
from brain.skillfiles.taking import Status, Taking, write, write_edges

if TYPE_CHECKING:
    from brain.engine.sync import SyncBrain

WRITTEN_AT_ONCE = 50
"""Skills that one transaction writes."""

NO_END = "its other end is not there"


@dataclass(frozen=True)
class Imported:
    """What became of one SKILL.md: its path below the folder, the skill it is now, and what is odd about it."""

    path: str
    status: Status
    skill_id: str
    name: str
    warnings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Refused:
    """A SKILL.md that was not imported, and what is wrong with it."""

    path: str
    faults: tuple[Finding, ...]


@dataclass
class ImportReport:
    """What became of every SKILL.md, what was passed over and why, and how many secrets were replaced, by kind."""

    imported: list[Imported] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    passed_over: list[tuple[str, str]] = field(default_factory=list)
    redacted: Counter[str] = field(default_factory=Counter)


def import_skills(
    brain: SyncBrain,
    top: Path,
    *,
    waiting_for: SyncBrain | None = None,
    existing: str | None = None,
    redact: bool = True,
    any_name: bool = False,
    progress: Callable[[int], Any] = lambda _: None,
) -> ImportReport:
    """Makes a skill of every SKILL.md at or below `top`, and writes them to `brain`.

    `existing` says what becomes of a skill that is there, has the id of one that comes, and differs: "replace" it, or
    "skip" the one that comes; by default that is refused. With `waiting_for`, `brain` is where skills wait that are to
    go there once they are approved (see `brain.skillfiles.quarantine`). Secrets are replaced unless `redact` is false.
    `any_name` takes names whose form breaks the specification. `progress` is told how many files were looked at. Raises
    `InputError` where there is none, `EmbeddingError`, `StoreError`.
    """
    run = _Run(brain, waiting_for, existing_named(existing), redact, any_name)
    for path in skill_files_below(top, lambda place, why: run.report.passed_over.append((_below(place, top), why))):
        run.take(path, top)
        progress(1)
    run.end()
    if not run.report.imported and not run.report.refused:
        raise InputError(
            f"There is no {FILE_NAMES[0]} at or below {top}. Name a skill's folder, or one that holds some."
        )
    return run.report


class _Run:
    """One import on its way."""

    def __init__(
        self, brain: SyncBrain, target: SyncBrain | None, existing: Existing | None, redact: bool, any_name: bool
    ) -> None:
        self._memory, self._quarantine = memory_of(brain), target is not None
        self._taking = Taking(self._memory, memory_of(target).store if target else None, existing)
        self._redact, self._any_name = redact, any_name
        self._batch: list[tuple[str, Made]] = []
        self._edges: list[Edge] = []
        self.report = ImportReport()

    def take(self, path: Path, top: Path) -> None:
        """Reads one SKILL.md, decides on it, and writes it with the next batch."""
        told = _below(path, top)
        try:
            made = self._made(path, told)
            status, made = self._taking.decide(made)
        except SkillFileError as error:
            self.report.refused.append(Refused(told, tuple(Finding(rule, line, m) for line, rule, m in error.faults)))
            return
        except InputError as error:
            self.report.refused.append(Refused(told, (Finding("not-usable", 1, str(error).rstrip(".")),)))
            return
        skill = made.record.skill
        self.report.imported.append(Imported(told, status, skill.id, skill.name, made.warnings))
        if status in (Status.NEW, Status.REPLACED):
            self._batch.append((told, made))
            self._edges += made.record.edges
        if len(self._batch) == WRITTEN_AT_ONCE:
            self._write()

    def end(self) -> None:
        """Writes what is left, then the edges between all."""
        self._write()
        if self._quarantine:
            return
        for edge in write_edges(self._memory.store, self._edges):
            self.report.passed_over.append((f"{edge.source} {edge.relation} {edge.target}", NO_END))

    def _made(self, path: Path, told: str) -> Made:
        try:
            data = read_skill_file(path)
        except OSError as error:
            raise InputError(f"it cannot be read ({error.strerror})") from error
        file = SkillFile.parse(data, told, folder=path.parent.resolve().name, any_name=self._any_name)
        beside = read_beside(path)
        made = made_of(file, beside.files, self._memory.analyzer, self._memory.now)
        warnings = [*file.oddities, *made.warnings, *beside.left]
        if self._redact:
            counts: Counter[str] = Counter()
            made = redacted(made, counts, told)
            self.report.redacted += counts
            warnings += [Finding("redacted", 1, f"{n} {kind.replace('_', ' ')} replaced") for kind, n in counts.items()]
        return replace(made, warnings=tuple(sorted(warnings, key=lambda found: found.line)))

    def _write(self) -> None:
        if self._batch:
            write(self._memory, self._batch, quarantine=self._quarantine)
            self._taking.written()
            self._batch = []


def _below(path: Path, top: Path) -> str:
    """A path as it is told: from the folder that was named; what is no UTF-8 in it as escapes."""
    told = path.relative_to(top) if path != top else Path(path.name)
    return told.as_posix().encode("utf-8", "backslashreplace").decode()
