"""How is stored text shown without harm? Text that no terminal takes for commands, and values as people read them."""

from __future__ import annotations

import unicodedata
from datetime import UTC
from typing import Any

_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # part of the spelling of Persian, Hindi and many emoji


def visible(text: str, lines: bool = False) -> str:
    """`text` with control, direction and other invisible characters as escapes; `lines` keeps line ends and tabs."""
    kept = _JOINERS + ("\n\t" if lines else "")
    return "".join(c if c in kept or unicodedata.category(c) not in _INVISIBLE else _escape(c) for c in text)


def one_line(text: str) -> str:
    """`visible`, with line ends as spaces."""
    return visible(" ".join(text.splitlines()))


def plain(value: Any) -> str:
    """A value of free-form JSON as one readable line."""
    if isinstance(value, dict):
        if value.keys() == {"word", "share"}:
            return f"{visible(value['word'])} {value['share']:.0%}"
        return ", ".join(f"{visible(str(key))} {plain(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(plain(item) for item in value) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return score(value) if isinstance(value, float) else visible(str(value))


def score(value: float) -> str:
    """A number of 0..1 with three digits."""
    return f"{value:.3f}"


def moment(time: Any) -> str:
    """A time (ISO 8601 text or `datetime`) to the minute, UTC; "never" for empty text."""
    if time == "":
        return "never"
    from brain.model.text import parse_time  # with pydantic, which `brain --help` does not need

    return parse_time(time).astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def _escape(character: str) -> str:
    code = ord(character)
    if character in "\n\r\t":
        return repr(character)[1:-1]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
