"""Does `make` say what to do where there is no Python that can run us, before it makes anything?"""

import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def python(folder, *, is_new_enough):
    """A Python that says of itself whether it is new enough, and makes an environment if it is asked to."""
    found = folder / "python"
    found.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exit {int(not is_new_enough)}\nmkdir -p "$3/bin"\n')
    found.chmod(0o755)
    return found


def make(folder, program):
    venv = folder / "venv"
    command = ["make", f"VENV={venv}", f"PYTHON={program}", f"{venv}/bin/python"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False), venv


@pytest.mark.parametrize("kind", ["too old", "absent"])
def test_without_a_python_that_is_new_enough_nothing_is_made_and_the_remedy_is_said(tmp_path, kind):
    program = python(tmp_path, is_new_enough=False) if kind == "too old" else tmp_path / "nowhere"
    done, venv = make(tmp_path, program)
    assert done.returncode != 0
    assert "brain needs Python 3.11 or newer" in done.stderr and "make PYTHON=" in done.stderr
    assert not venv.exists()


def test_with_one_the_environment_is_made(tmp_path):
    done, venv = make(tmp_path, python(tmp_path, is_new_enough=True))
    assert done.returncode == 0, done.stderr
    assert (venv / "bin").is_dir()


def test_the_version_is_that_of_the_package():
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    least = wanted.removeprefix(">=")
    text = (ROOT / "Makefile").read_text("utf-8")
    assert f"Python {least} or newer" in text and f"({least.replace('.', ', ')})" in text
