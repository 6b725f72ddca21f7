"""What does a call do, in words? A verb and its object, and its arguments generalised into named parameters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from brain.analysis.commands import command_phrase, command_text, phrases
from brain.analysis.lexicon import can_be_verb, is_listed
from brain.model.trace import TraceStep

_COMMAND_KEYS = ("command", "cmd", "commands", "script", "shell_command", "bash_command")
_SHELL_TOOLS = re.compile(
    r"(?:^|_)(?:bash|shell|terminal|cmd|powershell|console)(?:_|$)|^(?:run|exec|execute)(?:_command)?$"
)
_EDITING_TOOLS = re.compile(r"edit|str_replace|text_editor|file")
_VERBS = frozenset(
    "get list read write create update delete search find fetch send run execute open close add remove set check query "
    "load save start stop describe show install upgrade uninstall view edit call post put make build deploy".split()
)
_SPACES = frozenset("functions function tools tool mcp default api multi_tool_use".split())
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\s_\-]+")
_LONGEST_NAME, _LONGEST_ACTION = 120, 100

_OBJECTS = (
    (("path", "file_path", "filepath", "file", "filename", "notebook_path", "target_file"), "file"),
    (("url", "uri", "link"), "web page"),
    (("query", "q", "search_query", "question"), "query"),
    (("directory", "folder", "dir"), "folder"),
)
_PATH = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@+-]+)+/?|[\w.@+-]+(?:/[\w.@+-]+)+|[\w-]+\.[a-z]{1,5}|[A-Z]:\\.+")
_URL = re.compile(r"[a-z][a-z0-9+.-]+://\S+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\S+)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_ID = re.compile(r"(?=\S*\d)(?:[A-Z0-9_-]{5,}|[0-9a-f]{8,}(?:-[0-9a-f]{4,})*|[a-z]+(?:_[a-z0-9]+)*_\d+)")
_LONG_TEXT = 120


def is_command(step: TraceStep) -> bool:
    """Whether a step runs a shell command."""
    if step.kind == "command":
        return True
    named = _SHELL_TOOLS.search(_plain(step.action)) is not None
    return named and any(command_text(step.parameters.get(key)) for key in _COMMAND_KEYS)


def command_of(step: TraceStep) -> str:
    """The command that a step runs."""
    return next((text for key in _COMMAND_KEYS if (text := command_text(step.parameters.get(key)))), step.action)


def action_of(step: TraceStep) -> str:
    """What a step does, as a verb and its object; the names of tools, programs and agents stay, their arguments not."""
    if is_command(step):
        return command_phrase(command_of(step))
    editing = step.parameters.get("command")
    if isinstance(editing, str) and editing in phrases()["editing"] and _EDITING_TOOLS.search(_plain(step.action)):
        return phrases()["editing"][editing]
    if step.kind == "step":
        return step.action
    if step.kind in ("agent", "model", "chain"):
        kind = "run agent" if step.kind == "agent" else "run"
        return f"{kind} {step.action.replace('_', ' ')}"[:_LONGEST_NAME]
    return _with_object(_spoken(step.action), step.parameters)


def _plain(name: str) -> str:
    return "_".join(part.lower() for part in _BOUNDARY.split(name[:_LONGEST_NAME]) if part)


@lru_cache(maxsize=4_096)
def _spoken(name: str) -> str:
    """The name of a tool as words, its verb first: "search_flights", "getWeather", "mcp__github__create_issue"."""
    space, own = _parts(name[:_LONGEST_NAME])
    known = phrases()["tools"].get(re.sub(r"[\W_]", "", own.lower()))
    if known:
        return known
    words = [word if word.isupper() and len(word) > 1 else word.lower() for word in _BOUNDARY.split(own) if word]
    if not words:
        return own
    words = _verb_first(words)
    if len(words) == 1 and space:
        words += [part.lower() for part in _BOUNDARY.split(space) if part]
    if not can_be_verb(words[0].lower()):
        words = ["use", *words]
    return " ".join(words)[:_LONGEST_ACTION]


def _verb_first(words: list[str]) -> list[str]:
    """`words` with their verb in front: "helm list releases", "web search"."""
    lower = [word.lower() for word in words]
    if len(words) > 2 and lower[0] not in _VERBS and lower[1] in _VERBS:
        return [words[1], words[0], *words[2:]]
    if len(words) > 1 and not can_be_verb(lower[0]) and can_be_verb(lower[-1]) and is_listed(lower[-1]):
        return [words[-1], *words[:-1]]
    return words


def _parts(name: str) -> tuple[str, str]:
    """The server or group that a tool's name tells, if it says more than "functions", and the tool's own name."""
    parts = [part for part in re.split(r"__|[.:/]+", name.strip()) if part]
    if not parts:
        return "", name
    group = parts[-2] if len(parts) > 1 and parts[-2].lower() not in _SPACES else ""
    return group, parts[-1]


def _with_object(words: str, parameters: dict[str, Any]) -> str:
    """`words`, with what they are done to where they are a verb alone and the parameters tell it."""
    if " " in words or words in phrases()["tools"].values():
        return words
    for names, thing in _OBJECTS:
        if any(name in parameters for name in names):
            return f"{words} {thing}"
    return words


def parameters_of(step: TraceStep) -> dict[str, str]:
    """The parameters of a step: each by its name, with the kind of its value in place of the value."""
    if is_command(step):
        return {"command": "shell command"}
    return {name[:_LONGEST_NAME]: kind_of(value) for name, value in list(step.parameters.items())[:50]}


def kind_of(value: Any) -> str:
    """What a value is, in words: number, path, URL, id, list and so on."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, list):
        return "list"
    if isinstance(value, dict):
        return "object"
    if value is None:
        return "nothing"
    text = str(value).strip()
    if len(text) > _LONG_TEXT or "\n" in text:
        return "long text"
    if _URL.fullmatch(text):
        return "URL"
    if _DATE.fullmatch(text):
        return "date"
    if re.fullmatch(r"-?\d+(?:\.\d+)?", text):
        return "number"
    if _ID.fullmatch(text):
        return "id"
    return "path" if _PATH.fullmatch(text) else "text"
