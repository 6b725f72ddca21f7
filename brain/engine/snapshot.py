"""How does a new process begin where the last one ended? A snapshot of the recall index in the user's cache folder.

One file for each stored namespace, mapped into memory when it is read. It is written aside and then put in place at
once, readable by its owner alone. A file that is damaged, of another format, analysis, embedding or owner is as good as
none; whether it is of this very store the change feed tells.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import mmap
import os
import secrets
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brain.analysis.profile import ANALYSIS_VERSION
from brain.engine.image import Arrays, Image
from brain.errors import StoreError
from brain.model.text import digest

log = logging.getLogger(__name__)

FORMAT = 2
LEAST_ROWS = 1_000
"""Skills from which a snapshot is worth its file: fewer are read in less time."""
LEAST_CHANGES, CHANGED_SHARE = 1_000, 0.05
"""Changed skills, and their share of all, from which a snapshot is written anew."""
ABANDONED_SECONDS = 600.0
"""For how long nothing must have been written to a file aside before it is taken for abandoned."""
_MAGIC = b"BRAINIX1"
_HEAD = struct.Struct("<8sQ32s")
_ALIGN = 64


class SnapshotFile:
    """The snapshot of one namespace at one location, for vectors of one model."""

    def __init__(self, folder: Path, location: str, namespace: str, embedding: str) -> None:
        place = _absolute(location)
        self._kind = [FORMAT, ANALYSIS_VERSION, place, namespace, embedding]
        self.path = folder / "index" / f"{digest(place, namespace, embedding)}.brain"

    def read(self) -> Image | None:
        """The snapshot, its arrays mapped read-only; None if there is none that fits."""
        try:
            return self._read()
        except (OSError, ValueError, KeyError, TypeError, IndexError, struct.error) as error:
            log.debug("%s is not used: %s", self.path, error)
            return None

    def write(self, image: Image) -> None:
        """Puts `image` in place. Raises `OSError`."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._remove_abandoned()
        aside = self.path.with_suffix(f".{secrets.token_hex(6)}")
        try:
            with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                self._write(file, image)
            aside.replace(self.path)
        finally:
            with contextlib.suppress(OSError):
                aside.unlink()

    def _remove_abandoned(self) -> None:
        """Removes what a killed process left aside: a living one writes all the time."""
        for other in self.path.parent.glob("*"):
            with contextlib.suppress(OSError):
                if other.suffix != self.path.suffix and other.stat().st_mtime < time.time() - ABANDONED_SECONDS:
                    other.unlink()

    def _write(self, file: Any, image: Image) -> None:
        listed, offset = [], 0
        for name, parts in image.arrays.items():
            assert not any(part.nbytes % 8 for part in parts[:-1]), "parts are put end to end by words"
            shape = [sum(len(part) for part in parts), *parts[0].shape[1:]]
            total = sum(part.nbytes for part in parts)
            listed.append([name, parts[0].dtype.str, shape, offset, _sum(parts)])
            offset += -(-total // _ALIGN) * _ALIGN
        notes = [self._kind, image.store_id, image.version, image.notes, listed, offset]
        head = json.dumps(notes).encode()
        head += b" " * (-(_HEAD.size + len(head)) % _ALIGN)
        file.write(_HEAD.pack(_MAGIC, len(head), hashlib.blake2b(head, digest_size=32).digest()))
        file.write(head)
        for parts in image.arrays.values():
            for part in parts:
                file.write(np.ascontiguousarray(part).data)
            file.write(bytes(-sum(part.nbytes for part in parts) % _ALIGN))

    def _read(self) -> Image:
        handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            found = os.fstat(handle)
            if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o022):
                raise ValueError("others may have written it")
            data = mmap.mmap(handle, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(handle)
        magic, length, checksum = _HEAD.unpack_from(data)
        head = data[_HEAD.size : _HEAD.size + length]
        if magic != _MAGIC or hashlib.blake2b(head, digest_size=32).digest() != checksum:
            raise ValueError("its head is damaged")
        kind, store_id, version, notes, listed, size = json.loads(head)
        begin = _HEAD.size + length
        if kind != self._kind or len(data) != begin + size:
            raise ValueError("it is of another kind or cut short")
        arrays: Arrays = {}
        for name, dtype, shape, offset, total in listed:
            count = int(np.prod(shape, dtype=np.int64))
            array = (
                np.frombuffer(data, np.dtype(dtype), count, begin + offset).reshape(shape)
                if count
                else np.zeros(shape, dtype)
            )
            if _sum([array]) != total:
                raise ValueError(f"{name} is damaged")
            arrays[name] = [array]
        return Image(store_id, version, notes, arrays)


class Snapshots:
    """Writes snapshots of one index in the background, when enough has changed."""

    def __init__(self, file: SnapshotFile, note_mark: Callable[[str], object]) -> None:
        """`note_mark` has the store remember the mark of a snapshot, once all that it shows is committed."""
        self.file, self._note_mark = file, note_mark
        self._changed = 0
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def changed(self, count: int, rows: int, image: Callable[[], Image | None]) -> None:
        """Notes that `count` of `rows` skills changed; begins to write if that is enough and no writer is at work."""
        with self._lock:
            self._note(count, rows, image)

    def _note(self, count: int, rows: int, image: Callable[[], Image | None]) -> None:
        self._changed += count
        busy = self._thread is not None and self._thread.is_alive()
        enough = self._changed >= max(LEAST_CHANGES, CHANGED_SHARE * rows)
        if rows < LEAST_ROWS or busy or not enough or (shown := image()) is None:
            return
        self._changed = 0
        self._thread = threading.Thread(target=self._write, args=(shown,), name="brain-snapshot")
        self._thread.start()

    def close(self) -> None:
        """Waits for a snapshot that is being written."""
        if self._thread is not None:
            self._thread.join()

    def remove(self) -> None:
        """Removes the snapshot, after the one that is being written."""
        self.close()
        self.file.path.unlink(missing_ok=True)

    def _write(self, image: Image) -> None:
        mark = secrets.token_urlsafe(9)
        try:
            self._note_mark(mark)
            self.file.write(replace(image, notes={**image.notes, "mark": mark}))
        except (OSError, StoreError) as error:
            log.warning("The recall index could not be kept at %s: %s", self.file.path, error)


def _absolute(location: str) -> str:
    """A location that names the same place from every folder."""
    scheme, _, path = location.partition(":///")
    return f"{scheme}:///{Path(path).resolve()}" if scheme == "sqlite" and path else location


def _sum(parts: list[NDArray[Any]]) -> int:
    """Wrapping sum of the words of 8 bytes; any one damaged word changes it."""
    return sum(int(words.sum(dtype=np.uint64)) for part in parts for words in _words(part)) % 2**64


def _words(part: NDArray[Any]) -> Iterator[NDArray[np.uint64]]:
    data = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
    whole = len(data) // 8 * 8
    yield data[:whole].view(np.uint64)
    yield np.frombuffer(data[whole:].tobytes() + bytes(8 - (len(data) - whole)), np.uint64)
