"""What can one do here? `HelpScreen`: every key, and what the colours mean."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.strip import Strip

from brain.watch.drawn import Drawn
from brain.watch.page import Line

KEYS = (
    ("move", (("↑ ↓  j k", "one row up, down"), ("PgUp PgDn", "one screen"), ("Home End  g G", "first, last"))),
    (
        "find",
        (
            ("/", "filter by words; Esc clears them"),
            ("1 … 7", "sort by a column; again: reverse"),
            ("s  r", "sort by the next column; the other way"),
        ),
    ),
    (
        "look",
        (
            ("Enter", "at the details"),
            ("Tab  Shift+Tab", "next edge, the one before"),
            ("Enter", "follow the edge to the other skill"),
            ("Backspace  b", "go back"),
            ("Esc", "back to the table"),
        ),
    ),
    ("besides", (("t", "dark or light"), ("?  F1", "this help"), ("q", "quit"))),
)
LIFETIMES = (("months", "mo"), ("weeks", "w"), ("days", "d"), ("hours", "h, soon forgotten"))
TITLE, KEY = 9, 17
"""Columns of the titles and of the keys."""


def _lines() -> list[Line]:
    found = []
    for title, keys in KEYS:
        for i, (key, said) in enumerate(keys):
            spans = [(f"{'' if i else title:<{TITLE}}", "heading"), (f"{key:<{KEY}}", "key"), (said, "text")]
            found.append(Line(spans))
        found.append(Line([]))
    colours = [span for role, unit in LIFETIMES for span in ((role, role), (f" {unit}  ", "quiet"))]
    found.append(Line([(f"{'ttl':<{TITLE}}", "heading"), *colours]))
    return [*found, Line([]), Line([("The mouse does it too: click a heading, a row, an edge.", "quiet")])]


class _Text(Drawn):
    """The lines of the help."""

    DEFAULT_CSS = """
    _Text > .role--key { color: $foreground; text-style: bold; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"role--key"}

    def __init__(self) -> None:
        super().__init__()
        self._lines = _lines()
        self.virtual_size = Size(max(len(line.text) for line in self._lines), len(self._lines))

    def render_line(self, y: int) -> Strip:
        """One line of the help."""
        place = self.scroll_offset.y + y
        spans = self._lines[place].spans if place < len(self._lines) else ()
        segments = [Segment(text, self.style(role)) for text, role in spans]
        return Strip(segments).adjust_cell_length(self.size.width, self.style("text"))


class HelpScreen(ModalScreen[None]):
    """The help, over the rest, until a key is pressed that ends it."""

    DEFAULT_CSS = """
    HelpScreen {
        align: center middle;
        background: $background 60%;
        & > _Text {
            width: 72;
            max-width: 100%;
            height: auto;
            max-height: 100%;
            padding: 0 2;
            background: $panel;
            border: round $secondary;
            border-title-color: $primary;
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,f1,enter", "dismiss", "Close")]

    def compose(self) -> ComposeResult:
        text = _Text()
        text.border_title = "brain watch"
        yield text
