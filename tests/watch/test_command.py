"""`brain watch` as a process in a terminal: how it begins, what it refuses, and how it ends."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from brain import Skill, SyncBrain
from tests.watch.wires import SERVERS, sluggish

NAMES = ("Alpha", "Beta", "Gamma")
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
"""Seconds after which a test gives up waiting for a process."""
ENDS_WITHIN = 10.0
"""Seconds in which the dashboard ends though its server is silent; a call to it may take half a minute."""


def environment(**more):
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "LANG": "C.UTF-8", **more}


class Terminal:
    """A process in a terminal of 100 columns and 30 lines."""

    def __init__(self, *arguments, **more):
        self._end, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.before = termios.tcgetattr(self._end)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "brain", "watch", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(**more),
            cwd=ROOT,
            start_new_session=True,
        )
        self._theirs = theirs
        self.said = b""

    @property
    def modes(self):
        """How the terminal is set now."""
        return termios.tcgetattr(self._theirs)

    def read(self, seconds):
        if select.select([self._end], [], [], seconds)[0]:
            self.said += os.read(self._end, 1 << 16)

    def shows(self, *words):
        """Waits until all of the words have been drawn."""
        deadline = time.monotonic() + PATIENCE
        while not all(word in self.text for word in words):
            assert time.monotonic() < deadline and self.process.poll() is None, self.text[-2_000:]
            self.read(0.05)

    @property
    def text(self):
        """What was drawn, without escape sequences."""
        return re.sub(r"\x1b\[[0-9;?<>=]*[A-Za-z]", "", self.said.decode("utf-8", "replace"))

    def press(self, keys):
        os.write(self._end, keys.encode())

    def ends(self, within=PATIENCE):
        """Waits for the end of the process; its exit status."""
        deadline = time.monotonic() + within
        while self.process.poll() is None:
            assert time.monotonic() < deadline, "the dashboard does not end"
            self.read(0.05)
        return self.process.returncode

    def hang_up(self):
        """Closes the terminal, as an emulator does that is killed."""
        os.close(self._end)
        os.close(self._theirs)
        self._end = self._theirs = -1

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self._end >= 0:
            self.hang_up()


@pytest.fixture
def terminal():
    begun = []

    def start(*arguments, **more):
        begun.append(Terminal(*arguments, **more))
        return begun[-1]

    yield start
    for one in begun:
        one.close()


def save(brain):
    brain.skill_graph.save_skills([Skill(id=name.lower(), name=name, usage_count=9) for name in NAMES])


@pytest.fixture
def location(tmp_path):
    found = f"sqlite:///{tmp_path / 'skills.db'}"
    with SyncBrain.open(found, cache=False) as brain:
        save(brain)
    return found


def run(*arguments, **more):
    command = [sys.executable, "-m", "brain", "watch", *arguments]
    return subprocess.run(
        command,
        env=environment(**more),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
    )


def test_the_dashboard_shows_a_store_and_leaves_the_terminal_as_it_was(terminal, location):
    found = terminal("--store", location)
    found.shows(*NAMES, "3 skills", "Filter", "Quit")
    assert found.modes != found.before
    found.press("/alp")
    found.shows("1 of 3")
    found.press("\rq")
    assert found.ends() == 0
    assert found.modes == found.before
    assert b"\x1b[?1049l" in found.said  # back from the other screen


def test_a_terminal_that_went_away_ends_the_dashboard(terminal, location):
    found = terminal("--store", location)
    found.shows("3 skills")
    found.hang_up()
    found.process.wait(PATIENCE)


def test_the_store_may_be_named_in_the_environment(terminal, location):
    found = terminal("--light", BRAIN_STORE=location)
    found.shows(*NAMES)
    found.press("q")
    assert found.ends() == 0


def test_a_change_by_another_process_is_shown(terminal, location):
    found = terminal("--store", location)
    found.shows("3 skills")
    with SyncBrain.open(location, cache=False) as brain:
        brain.skill_graph.save_skill(Skill(id="delta", name="Delta"))
    found.shows("4", "Delta")
    found.press("q")
    assert found.ends() == 0


def test_ctrl_c_does_not_tear_the_terminal(terminal, location):
    found = terminal("--store", location)
    found.shows("3 skills")
    found.press("\x03")
    found.press("q")
    assert found.ends() == 0
    assert found.modes == found.before


@pytest.mark.parametrize("place", SERVERS, indirect=True)
def test_the_end_does_not_wait_for_a_server_that_is_silent(place, terminal):
    save(place.open())
    proxy, location = sluggish(place)
    try:
        found = terminal("--store", location, "--namespace", place.namespace)
        found.shows(*NAMES)
        proxy.flowing.clear()
        found.shows("No answer for")
        found.press("q")
        assert found.ends(ENDS_WITHIN) == 0
        assert found.modes == found.before
    finally:
        proxy.close()


def test_without_a_terminal_it_says_what_prints_the_list(location):
    done = run("--store", location)
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs a terminal" in done.stderr and "brain skills" in done.stderr


def test_without_textual_it_says_how_to_install_it(terminal, location, tmp_path):
    (tmp_path / "textual.py").write_text("raise ModuleNotFoundError('No module named textual', name='textual')\n")
    found = terminal("--store", location, PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert found.ends() == 2
    assert 'pip install "brain[watch]"' in found.text


def test_a_store_that_is_not_there_is_named_before_anything_is_drawn(terminal):
    found = terminal("--store", "redis://127.0.0.1:1/0")
    assert found.ends() == 3
    assert "127.0.0.1:1" in found.text and b"\x1b[?1049h" not in found.said
