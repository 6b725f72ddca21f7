"""How does text fit into the columns of a terminal? Cut to a width, wrapped at one, and never an escape sequence."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells, set_cell_size

from brain.model.shown import visible

ELLIPSIS = "…"
_LEFT_TO_RIGHT = "\u200e"


def fit(text: str, width: int, *, right: bool = False) -> str:
    """`text` as exactly `width` columns, harmless, on one line."""
    shown = visible(text[: 4 * width])  # however long it is: more do not fit
    length = cell_len(shown)
    if length > width or len(text) > 4 * width:
        shown = set_cell_size(shown, max(0, width - 1)).rstrip() + ELLIPSIS if width else ""
        length = cell_len(shown)
    space = " " * (width - length)
    return space + shown if right else shown + space


def isolated(text: str) -> str:
    """`text`, so that what stands behind it stays there: after letters that are written from right to left, a terminal
    that turns lines would draw the next numbers to their left.
    """
    turns = not text.isascii() and any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text)
    return f"{text}{_LEFT_TO_RIGHT}" if turns else text


def fit_end(text: str, width: int) -> str:
    """The end of `text` in at most `width` columns, harmless, on one line."""
    shown = visible(text[-4 * width :] if width else "")
    while cell_len(shown) > width:
        cut = max(1, cell_len(shown) - width + 1)
        shown = ELLIPSIS + shown.removeprefix(ELLIPSIS)[cut:] if len(shown) > cut else ""
    return shown


def wrap(text: str, width: int) -> Iterator[str]:
    """`text` as harmless lines of at most `width` columns, broken at spaces where that is possible."""
    for line in text.splitlines() or [""]:
        yield from _wrapped(visible(line), max(1, width))


def _wrapped(line: str, width: int) -> Iterator[str]:
    if cell_len(line) <= width:
        yield line
        return
    room, begun = width, list[str]()
    for word in line.split(" "):
        needed = cell_len(word) + bool(begun)
        if needed <= room:
            begun.append(word)
            room -= needed
            continue
        if begun:
            yield " ".join(begun)
        *whole, last = chop_cells(word, width) or [""]
        yield from whole
        begun, room = [last], width - cell_len(last)
    yield " ".join(begun)


def compact(number: int) -> str:
    """A count in at most five characters: "9999", "12k", "3M"."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= 10 * size:
            return f"{number // size}{unit}" if number < 10**13 else "many"
    return str(number)
