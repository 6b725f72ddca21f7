"""What do the sources of `brain learn` hold? `lessons`: every trace in files, folders and on stdin, or why not."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brain.cli.files import STDIN, name_of
from brain.errors import InputError, NotATraceError, TraceError

if TYPE_CHECKING:
    from brain.model.trace import Trace

NO_VERDICT = "nothing in it says whether it went well; --outcome success or failure says it for those"
CONTRADICTORY = "its verdicts contradict each other ({}); --outcome success or failure says which holds"
NO_STEPS = "it has no steps, so there is nothing to learn from"
OUTSIDE = "it is a symbolic link out of the folder"
NO_FILE = "it is no regular file"
HIDDEN = "it is a hidden folder"


class Verdict(StrEnum):
    """How traces went that do not say so themselves."""

    AUTO = "auto"
    SUCCESS = "success"
    FAILURE = "failure"

    @property
    def success(self) -> bool | None:
        """True, false, or None for "auto"."""
        return None if self == Verdict.AUTO else self == Verdict.SUCCESS


@dataclass(frozen=True)
class Wanted:
    """How the sources are to be read, as the options say."""

    format: str | None = None
    outcome: Verdict = Verdict.AUTO
    domain: str | None = None
    redact: bool = True


@dataclass
class Lesson:
    """One trace on its way into the memory, by the arguments of `observe`; or why there is none.

    `where` names file and place. `skipped` says why it teaches nothing, `refused` what is wrong with it. `redacted`
    counts the secrets that were replaced, `unread` names the keys that nobody reads.
    """

    where: str
    arguments: dict[str, Any] = field(default_factory=dict)
    skipped: str = ""
    refused: TraceError | None = None
    alone: bool = False
    redacted: dict[str, int] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """A file to read, or why it is not. `named` if it was asked for by its own name."""

    source: str
    named: bool
    skipped: str = ""


def files_in(sources: Iterable[str]) -> Iterator[Found]:
    """The files that the sources name, those of folders in the order of their paths. Raises `InputError`."""
    named = list(sources)
    if named.count(STDIN) > 1:
        raise InputError("Standard input (-) can be read only once. Name it once, and files beside it.")
    for source in named:
        if source != STDIN and Path(source).is_dir():
            found = list(_files_of(Path(source)))
            if not found:
                raise InputError(f"{source} cannot be read: the directory holds no files. Check the path.")
            yield from found
        else:
            yield Found(source, named=True)


def _files_of(folder: Path) -> Iterator[Found]:
    """The files of a folder and of those in it. Links that lead out of it are not followed."""
    root = folder.resolve()
    for place, folders, files in os.walk(folder):
        for name in sorted(folders):
            if name.startswith("."):
                yield Found(str(Path(place) / name), False, HIDDEN)
            elif (Path(place) / name).is_symlink():
                yield Found(str(Path(place) / name), False, "it is a symbolic link to a folder")
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(place) / name
            yield Found(str(path), False, _reason_against(path, root))


def _reason_against(path: Path, root: Path) -> str:
    if path.is_symlink() and not path.resolve().is_relative_to(root):
        return OUTSIDE
    return "" if path.is_file() else NO_FILE


def lessons(found: Found, wanted: Wanted) -> Iterator[Lesson]:
    """What one file holds, trace by trace."""
    if found.skipped:
        yield Lesson(found.source, skipped=found.skipped)
        return
    from brain.traces.reading import read

    name, faults = name_of(found.source), list[TraceError]()
    source: Any = sys.stdin.buffer if found.source == STDIN else found.source
    traces = read(source, wanted.format, name=name, on_fault=faults.append)
    while True:
        try:
            trace = next(traces, None)
        except TraceError as error:
            faults.append(error)
            trace = None
        yield from (_faulty(error, found) for error in faults)
        faults.clear()
        if trace is None:
            return
        yield _lesson(trace, name, wanted)


def _faulty(error: TraceError, found: Found) -> Lesson:
    """A part that could not be read. In a folder, what is no trace at all is only passed over."""
    if isinstance(error, NotATraceError) and not found.named:
        return Lesson(error.source, skipped=f"it {error.fault.partition('. ')[0].rstrip('.')}")
    return Lesson(error.source, refused=error, alone=error.source == name_of(found.source))


def _lesson(trace: Trace, name: str, wanted: Wanted) -> Lesson:
    lesson = Lesson(trace.source, alone=trace.source == name)
    if trace.execution is None:
        if not trace.steps:
            lesson.skipped = NO_STEPS
        elif trace.success is None and wanted.outcome.success is None:
            verdicts = ", ".join(trace.outcome.evidence)
            lesson.skipped = CONTRADICTORY.format(verdicts) if verdicts else NO_VERDICT
        if lesson.skipped:
            return lesson
    if wanted.redact:
        from brain.analysis.steps import without_secrets

        trace, lesson.redacted = without_secrets(trace)
    lesson.arguments, lesson.unread = _arguments(trace, wanted)
    return lesson


def _arguments(trace: Trace, wanted: Wanted) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The arguments of `observe`, and the keys of a given execution that are none."""
    from brain.analysis.steps import execution_of
    from brain.model.inputs import Execution

    verdict = wanted.outcome.success
    if trace.execution is not None and trace.success is None and verdict is None:
        given = dict(trace.execution)  # the brain says what it lacks
    else:
        given = dict(execution_of(trace, success=verdict))
    context = given.get("context")
    if wanted.domain is not None and isinstance(context, dict | None):
        given["context"] = {**(context or {}), "domain": wanted.domain}
    known = {*Execution.model_fields, "trace"}
    arguments = {key: item for key, item in given.items() if key in known}
    return arguments, tuple(key for key in given if key not in known)


def in_words(counts: Counter[str] | dict[str, int]) -> str:
    """What was redacted, in words."""
    names = {"api_key": "API key", "email": "e-mail address", "private_key": "private key"}
    plural = {"e-mail address": "e-mail addresses"}
    parts = []
    for kind, count in sorted(counts.items()):
        name = names.get(kind, kind)
        parts.append(f"{count:,} {name if count == 1 else plural.get(name, name + 's')}")
    return ", ".join(parts)
