"""Does everything that the README shows work, word for word?"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
HEADINGS = re.findall(r"^#+ (.+)$", README, flags=re.M)
RUN_ELSEWHERE = ("make ", ". .venv", "pip install", "brain neo4j start", "claude mcp add")
"""Commands that install, start or register something; the packaging, local server and MCP tests run what they do."""


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def commands():
    """(command, output that the README shows) in order."""
    found = []
    for block in blocks("console"):
        for part in block.split("$ ")[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.strip("\n")))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "examples", place / "examples")
    return place


def test_every_command_runs_and_prints_what_is_shown(folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "NO_COLOR": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    shown = 0
    for command, output in commands():
        if command.startswith(RUN_ELSEWHERE):
            continue
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            environment[name] = value
            continue
        run = command.replace("brain ", f"{sys.executable} -m brain ", 1)
        done = subprocess.run(run, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (command, done.stderr)
        printed = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
        for line in output.splitlines():
            assert line.rstrip() in printed, (command, line, printed)
            shown += 1
    assert shown > 10


@pytest.mark.parametrize("program", [block for block in blocks("python") if "import" in block])
def test_the_programs_run(program, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_every_path_that_is_named_is_there():
    named = re.findall(r"`((?:examples|cypher|docker|brain)/[^`*…]*)`", README) + re.findall(r"\]\(([^)#]+)\)", README)
    assert len(named) > 8
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_place_that_is_linked_to_is_there():
    headings = {re.sub(r"[^a-z0-9 -]", "", line.lower()).strip().replace(" ", "-") for line in HEADINGS}
    linked = re.findall(r"\]\(#([^)]+)\)", README)
    assert len(linked) > 8
    assert set(linked) <= headings


def test_nobody_is_told_to_install_another_project_of_this_name():
    """The package is not in the Python Package Index; one that is called so is."""
    for path in [ROOT / "README.md", ROOT / "SECURITY.md", *(ROOT / "examples").rglob("*")]:
        if path.suffix in (".md", ".py", ".ipynb", ".yml"):
            assert not re.search(r"""install[^`\n]*["' ]brain[\["' ]""", path.read_text("utf-8")), path
