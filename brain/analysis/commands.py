"""What does a shell command do, apart from what it is done to? A verb and its object: "run tests", "copy files"."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

_LONGEST = 2_000  # characters of a command that are looked at
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*$")
_WRITES = frozenset({"cat", "echo", "printf", "tee"})
_PYTHON = frozenset({"python", "python3", "python2"})
_BEFORE = frozenset("sudo time nohup exec command stdbuf nice xvfb-run then do if while for ! ( {".split())
_WITH_VALUE = frozenset({"timeout", "watch"})
_SHELLS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "cmd", "powershell", "pwsh"})
_DONE_MARKS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
_JOINED = re.compile(r"\s*(?:&&|\|\||;|\n|\|)\s*")


def command_text(value: Any) -> str:
    """A command as text, whether it was given as one or as a list of words, perhaps for a shell to read."""
    if isinstance(value, list):
        words = [word for word in value if isinstance(word, str)]
        if len(words) > 2 and words[0] in _SHELLS and words[1].startswith(("-", "/")):
            return words[2]
        return " ".join(words)
    return value if isinstance(value, str) else ""


def command_phrase(command: str) -> str:
    """What a command does: the first of its parts that does more than change folder; else "run name"."""
    text = command[:_LONGEST].strip()
    if any(mark in text for mark in _DONE_MARKS):
        return "submit the result"
    for part in _JOINED.split(text):
        words = _words(part)
        if not words or words[0] in ("cd", "set", "source", ".", "pushd", "export", "#") or words[0].startswith("#"):
            continue
        return _phrase(words, text)
    return "change folder" if text.startswith("cd ") else "run a shell command"


def _words(part: str) -> list[str]:
    """The words of a command behind assignments and programs that only run another."""
    try:
        words = shlex.split(part, comments=False)
    except ValueError:  # a quote that is not closed before the next `&&`
        words = part.split()
    while words:
        if words[0] in _BEFORE or _ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif words[0] in _WITH_VALUE and len(words) > 2:
            words = words[2:]
        else:
            break
    return words


def _phrase(words: list[str], text: str) -> str:
    program = words[0].rpartition("/")[2] or words[0]
    rest = [word for word in words[1:] if not word.startswith("-")]
    if program in _PYTHON:
        return _python(words[1:])
    if program in _WRITES and (">" in text or program == "tee"):
        return "write file"
    if program == "sed" and any(word.startswith("-i") for word in words[1:]):
        return "edit file"
    known = phrases()
    if rest and f"{program} {rest[0]}" in known["pairs"]:
        return known["pairs"][f"{program} {rest[0]}"]
    if program in known["programs"]:
        return known["programs"][program]
    name = re.sub(r"[^\w.-]", "", program)[:40]
    if program in ("git", "npm", "cargo", "go", "yarn") and rest:
        return f"run {name} {rest[0][:20]}"
    return f"run {name}" if name else "run a shell command"


def _python(words: list[str]) -> str:
    if words[:1] == ["-m"] and len(words) > 1:
        module = words[1].partition(".")[0]
        known = phrases()
        pair = f"{module} {words[2]}" if len(words) > 2 else ""
        return known["pairs"].get(pair) or known["programs"].get(module) or f"run Python module {module[:40]}"
    inline = not words or words[0] in ("-c", "-", "<<") or words[0].startswith("<<")
    if inline:
        return "run Python code"
    return "run tests" if re.search(r"(?:^|/)(?:test_|runtests|manage\.py$)", words[0]) else "run Python script"


@cache
def phrases() -> Mapping[str, dict[str, str]]:
    """The tables of commands.toml."""
    return tomllib.loads(files("brain.analysis").joinpath("commands.toml").read_text("utf-8"))
