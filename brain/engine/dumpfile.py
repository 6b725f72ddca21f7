"""What does a file of skills look like? JSON lines, plain or by gzip, closed by a digest; written whole or not at all.

    {"brain_dump": 1, "namespace": ..., "from": ..., "written_at": ..., "embedding": ...}
    {"skill": {...}, "dedup_key": ..., "vector": ...}       by id; the vector is float32, base64
    {"trace": {...}, "of": ...}                             those that the skill before it was learned from
    {"edge": {...}}                                         after all skills
    {"end": {"skills": ..., "traces": ..., "edges": ...}, "digest": ...}

The digest is BLAKE2b over every line before the last. What the analysis makes of a skill is not in the file: it is made
anew when the skill is written.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import json
import os
import secrets
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeVar, cast

import numpy as np

from brain.errors import DumpError, InputError
from brain.model.record import Record, validated
from brain.model.relations import Edge
from brain.model.skill import Skill, SkillCondition, SkillStep, SkillTransferRecord
from brain.model.text import check_text, parse_time
from brain.store.documents import read_json
from brain.store.values import EmbeddingStamp, KeptSkill, Observation, SeenTrace

FORMAT = 1
"""Raised whenever the lines change. A file of a higher number is refused."""
LONGEST_LINE = 64 * 2**20
"""Bytes of a line, so that reading one takes a bounded amount of memory."""
COMPRESSED = ".gz"
"""Ends the name of a file that is written by gzip. Either kind is read, whatever its name."""

_GZIP, _HEAD, _BUFFER = b"\x1f\x8b", b'{"brain_dump": ', 2**20
_DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)  # InputError is a ValueError
_KINDS = ("skill", "trace", "edge")
_PARTS: dict[str, type[Record]] = {
    "procedure": SkillStep,
    "preconditions": SkillCondition,
    "postconditions": SkillCondition,
    "transfer_history": SkillTransferRecord,
}

T = TypeVar("T")


@dataclass
class Contents:
    """What a dump holds."""

    skills: int = 0
    traces: int = 0
    edges: int = 0


class DumpWriter:
    """Writes the lines of one dump, in the order of the format."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._digest = file, hashlib.blake2b(digest_size=32)
        self.contents = Contents()

    def head(self, namespace: str, location: str, written_at: str, stamp: EmbeddingStamp | None) -> None:
        """The first line."""
        about = {"namespace": namespace, "from": location, "written_at": written_at}
        self._line({"brain_dump": FORMAT, **about, "embedding": asdict(stamp) if stamp else None}, "The head")

    def skill(self, kept: KeptSkill) -> None:
        """A skill and the traces that it was learned from."""
        skill_id = kept.skill.id
        vector = None if kept.vector is None else base64.b64encode(kept.vector).decode()
        line = {"skill": _in_order(kept.skill), "dedup_key": kept.dedup_key, "vector": vector}
        self._line(line, f"Skill {skill_id!r}")
        for seen in sorted(kept.traces, key=lambda seen: (seen.seen_at, seen.observation.key)):
            trace = asdict(seen.observation) | {"seen_at": seen.seen_at.isoformat()}
            self._line({"trace": trace, "of": skill_id}, f"A trace of skill {skill_id!r}")
        self.contents.skills += 1
        self.contents.traces += len(kept.traces)

    def edge(self, edge: Edge) -> None:
        """An edge; after all skills."""
        fields = {"source": edge.source, "relation": edge.relation.value, "target": edge.target}
        self._line({"edge": fields | {"metadata": edge.metadata}}, f"An edge of skill {edge.source!r}")
        self.contents.edges += 1

    def end(self) -> None:
        """The last line."""
        self._line({"end": asdict(self.contents), "digest": self._digest.hexdigest()}, "The end")

    def _line(self, value: dict[str, Any], what: str) -> None:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        if len(line) > LONGEST_LINE:
            raise InputError(
                f"{what} takes {len(line):,} bytes, and a line of a dump may take {LONGEST_LINE:,}. Shorten it, or "
                "move the skills with brain copy."
            )
        self._digest.update(line)
        self._file.write(line)


def _in_order(skill: Skill) -> dict[str, Any]:
    """The fields of a skill, and of what it is made of, in their order, whatever store they come from."""
    fields = _fields(Skill, skill.to_dict())
    del fields["namespace"]
    for name, kind in _PARTS.items():
        fields[name] = [_fields(kind, part) for part in fields[name]]
    return fields


def _fields(kind: type[Record], data: dict[str, Any]) -> dict[str, Any]:
    """The known fields first, the others by name; what stands in them is left as it is."""
    return {key: data[key] for key in (*kind.model_fields, *sorted(data.keys() - kind.model_fields.keys()))}


@contextlib.contextmanager
def written(path: Path) -> Iterator[DumpWriter]:
    """A writer whose lines are at `path` once the block has ended without an error; this user alone may read them.

    An earlier dump is replaced, any other file is not. Raises `InputError`.
    """
    _check_replaceable(path)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}. Name a file in another folder.") from error
    try:
        with os.fdopen(handle, "wb", buffering=_BUFFER) as raw:
            with _compressed(raw) if path.name.endswith(COMPRESSED) else contextlib.nullcontext(raw) as file:
                writer = DumpWriter(cast(IO[bytes], file))
                yield writer
                writer.end()
            raw.flush()
            os.fsync(raw.fileno())
        aside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()


def _compressed(raw: IO[bytes]) -> gzip.GzipFile:
    """Without name and time, so that equal skills make equal files."""
    return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0)


def _check_replaceable(path: Path) -> None:
    if not path.exists():
        return
    if not path.is_file():
        raise InputError(f"{path} is not a file. Name one, such as skills.jsonl.gz.")
    if path.stat().st_size:
        try:
            DumpFile(path).close()
        except InputError as error:
            raise InputError(f"{path} is there, and is no dump of this package. Name another file.") from error


class DumpFile:
    """A dump that is there: what skills can be copied from. `contents` is what it says to hold, once it was checked.

    Every reading begins at its head and checks each line; whoever reads to the end has its digest checked too. Raises
    `DumpError`, which names file and line.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.contents = path, Contents()
        self._file = _opened(path)
        try:
            self.size = os.fstat(self._file.fileno()).st_size
            self._zipped = self._file.read(2) == _GZIP
            head = next(self._lines())[1]
            self.namespace, self.written_at = head["namespace"], head["written_at"]
            self._stamp = _parsed(_stamp_from, head["embedding"])
            if not isinstance(self.namespace, str) or not isinstance(self.written_at, str):
                raise self._error("its head is not one of this package", 1)
        except _DAMAGE as error:
            self.close()
            raise error if isinstance(error, DumpError) else self._error("its head cannot be read", 1) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def location(self) -> str:
        """What to call it in a message."""
        return str(self.path.absolute())

    def embedding_stamp(self) -> EmbeddingStamp | None:
        """Which vectors it holds."""
        return self._stamp

    def export(self, size: int) -> Iterator[list[KeptSkill]]:
        """Every skill with its traces, by id, a page at a time."""
        page: list[KeptSkill] = []
        for kept in self._skills():
            page.append(kept)
            if len(page) == size:
                yield page
                page = []
        if page:
            yield page

    def export_edges(self, size: int) -> Iterator[list[Edge]]:
        """Every edge, a page at a time."""
        page: list[Edge] = []
        for number, line in self._lines():
            if "edge" not in line:
                continue
            page.append(self._read(_edge_from, line["edge"], number))
            if len(page) == size:
                yield page
                page = []
        if page:
            yield page

    def read(self) -> int:
        """Where the reading at hand is, in bytes of the file as it lies there."""
        return self._file.tell()

    def _skills(self) -> Iterator[KeptSkill]:
        kept, traces, before = None, list[SeenTrace](), ""
        for number, line in self._lines():
            if "trace" in line:
                if kept is None or line.get("of") != kept.skill.id:
                    raise self._error("a trace does not follow its skill", number)
                traces.append(self._read(_trace_from, line["trace"], number))
                continue
            if kept is not None:
                yield replace(kept, traces=tuple(traces))
            kept, traces = None, []
            if "edge" in line:
                break
            if "skill" in line:
                kept = self._read(self._skill_from, line, number)
                if kept.skill.id <= before:
                    raise self._error("a skill is there twice, or out of order", number)
                before = kept.skill.id
        if kept is not None:
            yield replace(kept, traces=tuple(traces))

    def _skill_from(self, line: dict[str, Any]) -> KeptSkill:
        key, vector = line["dedup_key"], line["vector"]
        data = None if vector is None else base64.b64decode(vector, validate=True)
        if data is not None:
            fits = self._stamp is not None and len(data) == 4 * self._stamp.dimension
            if not fits or not np.isfinite(np.frombuffer(data, np.float32)).all():
                raise ValueError("the vector is not one of the model that the head names")
        skill = Skill.from_dict({**line["skill"], "namespace": self.namespace})
        return KeptSkill(skill, None, None, None if key is None else check_text(key), data)

    def _read(self, read: Callable[[Any], T], value: Any, number: int) -> T:
        try:
            return read(value)
        except _DAMAGE as error:
            raise self._error(f"its record cannot be read: {error}", number) from error

    # Lines

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and value of every line but the last, whose digest must be that of what was read."""
        self._file.seek(0)
        file = cast(IO[bytes], gzip.GzipFile(fileobj=self._file, mode="rb")) if self._zipped else self._file
        digest, found, number = hashlib.blake2b(digest_size=32), Contents(), 0
        while line := self._next(file, number + 1):
            number += 1
            value = self._value(line, number)
            if "end" in value:
                self._check_end(value, digest.hexdigest(), found, number)
                if self._next(file, number + 1):
                    raise self._error("something follows its end", number + 1)
                self.contents = found
                return
            digest.update(line)
            for kind in _KINDS:
                if kind in value:
                    setattr(found, f"{kind}s", getattr(found, f"{kind}s") + 1)
            yield number, value
        raise self._error("it is cut short: its end is missing", number + 1)

    def _next(self, file: IO[bytes], number: int) -> bytes:
        try:
            line = file.readline(LONGEST_LINE + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise self._error(f"it is cut short or damaged: {error}", number) from error
        if number == 1 and line and not line.startswith(_HEAD):
            raise self._error("it is no dump of this package", 1)
        if line and not line.endswith(b"\n"):
            long = len(line) > LONGEST_LINE
            raise self._error("the line is too long" if long else "it is cut short in the middle of a line", number)
        return line

    def _value(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            value = read_json(line.decode())
        except (ValueError, RecursionError) as error:
            raise self._error(f"the line cannot be read: {error}", number) from error
        kinds = ("brain_dump",) if number == 1 else (*_KINDS, "end")
        if not isinstance(value, dict) or not any(kind in value for kind in kinds):
            raise self._error("the line says nothing that belongs here", number)
        if number == 1 and value["brain_dump"] != FORMAT:
            fault = f"it is of format {str(value['brain_dump'])[:20]!r}, and this version reads {FORMAT}"
            raise DumpError(str(self.path), 1, fault, "Upgrade brain to read it.")
        return value

    def _check_end(self, end: dict[str, Any], digest: str, found: Contents, number: int) -> None:
        if end.get("digest") != digest or end["end"] != asdict(found):
            raise self._error("its digest does not fit: something in it was changed", number)

    def _error(self, fault: str, line: int) -> DumpError:
        return DumpError(str(self.path), line, fault)


def _opened(path: Path) -> IO[bytes]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{path} is not a file. Name a dump, such as skills.jsonl.gz.")
        return path.open("rb", buffering=_BUFFER)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path} cannot be read: {reason}. Check the path.") from error


def _parsed(read: Callable[[Any], T], value: Any) -> T | None:
    return None if value is None else read(value)


def _stamp_from(value: dict[str, Any]) -> EmbeddingStamp:
    stamp = EmbeddingStamp(**value)
    probe = base64.b64decode(stamp.probe, validate=True)
    if not isinstance(stamp.dimension, int) or len(probe) != 4 * stamp.dimension:
        raise ValueError("the embedding's probe does not fit its dimension")
    return EmbeddingStamp(check_text(stamp.model), stamp.dimension, check_text(stamp.text), stamp.probe)


def _edge_from(value: dict[str, Any]) -> Edge:
    return validated(Edge, {**value, "direction": "out"}, "the edge")


def _trace_from(value: dict[str, Any]) -> SeenTrace:
    texts = {name: check_text(value[name]) for name in ("key", "trace_id", "content", "domain", "task")}
    success, quality = value["success"], float(value["quality"])
    if not isinstance(success, bool) or not 0.0 <= quality <= 1.0:
        raise ValueError("success must be true or false, and quality 0 to 1")
    return SeenTrace(Observation(**texts, success=success, quality=quality), parse_time(value["seen_at"]))
