"""Which variables does a file give? Lines of NAME=value, as shells and Docker read them."""

from __future__ import annotations

import re
from pathlib import Path

from brain.errors import InputError

_LINE = re.compile(
    r"""\s*(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*
        (?:"(?P<double>(?:\\.|[^"\\])*)"|'(?P<single>[^']*)'|(?P<bare>(?!["']).*?))
        \s*(?:(?<=\s)\#.*)?""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def read_variables(path: str | Path) -> dict[str, str]:
    """The variables in a file. Raises `InputError` that names file and line, never a value."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}). Convert it to UTF-8.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path} cannot be read: {reason}. Check the path.") from error
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None or "\0" in line:
            raise InputError(f"{path}:{number} is not NAME=value. Correct it there.")
        found[match["name"]] = _value(match)
    return found


def _value(match: re.Match[str]) -> str:
    if match["double"] is not None:
        return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), match["double"])
    return match["single"] if match["single"] is not None else match["bare"]
