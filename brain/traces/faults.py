"""Did a call fail? `fault_in(result)`: what its result says, by flags, exit codes and the words errors begin with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from brain.traces.values import cut, text_of

LONGEST_FAULT = 300
"""Characters of an error that are kept."""

_LOOKED_AT, _LINES, _LONGEST_LINE = 20_000, 5, 200
"""Characters at each end of a result, and the lines there, of what length, that may tell how a command ended: what
stands further in is what it printed, and a long line is prose.
"""

_EXIT_KEYS = ("exit_code", "exitCode", "return_code", "returncode", "exitcode", "status_code_shell")
_FAULT_KEYS = ("error", "errorText", "error_message", "exception", "stderr_error")
_BAD_WORDS = frozenset({"error", "failed", "failure", "errored", "denied", "rejected", "timeout"})
_BEGINS_BADLY = re.compile(
    r"\s*(?:\[?error\b[^\n]{0,20}?[:\]]|errors?:|exception\b|traceback \(most recent call last\)|"
    r"error (?:\d|(?:while|when|in|at|on|during|code|occurred|executing|running|calling|invoking|reading|writing|"
    r"opening|fetching|getting|parsing|processing|loading|creating|connecting)\b)|"
    r"fatal:|failed\b|failure:|unhandled |uncaught |tool call failed|tool error|invalid tool|unknown tool|"
    r"<error>|<tool_use_error>|permission denied|command not found|bash: .{1,80}: (?:command not found|no such file))",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"</?[\w-]+>")
_FRAME = re.compile(
    r"\A(?:(?:wall time|duration|chunk id|total output lines|original token count)\b.*|\(execution failed\)|"
    r"(?:code )?output:)\s*",
    re.IGNORECASE,
)
"""What hosts write around the output of a command."""
_WRAPPING = re.compile(r"</?(?:\w*error|exception|output|stdout|stderr|result|warning|message)>")
_EXIT_CODE = re.compile(
    r"<returncode>(-?\d+)</returncode>|(?:^|[\s\[(])(?:process )?(?:exit(?:ed)?|return(?:ed)?)[ _]?(?:with )?(?:exit )?"
    r"(?:code|status)[ :=]{1,3}(-?\d+)|exitcode: (-?\d+)|finished with exit code (-?\d+)",
    re.IGNORECASE,
)


def fault_in(result: Any) -> str:
    """Why a call failed, of at most `LONGEST_FAULT` characters; empty if its result does not say that it did."""
    if isinstance(result, str):
        return _fault_in_text(result)
    if isinstance(result, dict):
        return _fault_in_object(result)
    if isinstance(result, list):
        return next((fault for item in result[:20] if (fault := _fault_in_part(item))), "")
    return ""


def failure(result: Any, otherwise: str = "failed") -> str:
    """Why a call that is known to have failed did: what its result says, never empty."""
    return fault_in(result) or _first_lines(text_of(_spoken(result), LONGEST_FAULT * 4)) or otherwise


def _fault_in_part(item: Any) -> str:
    if isinstance(item, dict) and isinstance(item.get("text"), str):
        return _fault_in_text(item["text"])
    return fault_in(item) if isinstance(item, dict | str) else ""


def _fault_in_object(result: Mapping[str, Any]) -> str:
    for key in _FAULT_KEYS:
        told = result.get(key)
        if told and not isinstance(told, bool | int | float):
            return _first_lines(text_of(told, LONGEST_FAULT * 4))
    code = next((result[key] for key in _EXIT_KEYS if key in result), None)
    if isinstance(code, int) and code != 0:
        return _first_lines(text_of(result.get("stderr") or result.get("output"), 2_000)) or f"exit code {code}"
    flagged = result.get("is_error") is True or result.get("isError") is True or result.get("success") is False
    if flagged or str(result.get("status", "")).lower() in _BAD_WORDS:
        said = _first_lines(text_of(_spoken(result), 2_000))
        return said or f"status {result.get('status', 'failed')}"
    inner = result.get("content")
    if isinstance(inner, list | str):
        return fault_in(inner)
    return ""


def _fault_in_text(text: str) -> str:
    if _BEGINS_BADLY.match(text):
        return _first_lines(text)
    for line in _at_the_ends(text):
        found = _EXIT_CODE.search(line)
        if found and int(next(group for group in found.groups() if group)) != 0:
            return _first_lines(_EXIT_CODE.sub("", text[:2_000])) or found[0].strip()
    return ""


def _at_the_ends(text: str) -> list[str]:
    first, last = text[:_LOOKED_AT].strip().splitlines(), text[-_LOOKED_AT:].strip().splitlines()
    return [line for line in (*first[:_LINES], *last[-_LINES:]) if len(line) <= _LONGEST_LINE]


def _spoken(result: Any) -> Any:
    if isinstance(result, dict):
        return next(
            (result[k] for k in ("message", "reason", "content", "output", "text", "detail") if result.get(k)), ""
        )
    if isinstance(result, list):
        texts = [item.get("text") for item in result[:5] if isinstance(item, dict)]
        return " ".join(text for text in texts if isinstance(text, str))
    return result


def _first_lines(text: str) -> str:
    """The line that says most: of a traceback the last, else the first that is not mere markup."""
    lines = [_FRAME.sub("", line.strip()) for line in text.strip().splitlines()]
    lines = [line for line in lines if line.strip("<>/=-_*#`") and not _MARKUP.fullmatch(line)]
    if not lines:
        return ""
    if lines[0].lower().startswith("traceback"):
        return cut(lines[-1], LONGEST_FAULT)
    return cut(_WRAPPING.sub("", lines[0]).strip() or lines[0], LONGEST_FAULT)
