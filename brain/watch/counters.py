"""How many skills are there? `Counters`: the line at the top, with where they are kept."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from brain.engine.listing import Listing
from brain.watch.cells import fit, fit_end
from brain.watch.reading import UNKNOWN_VERSION


class Counters(Widget):
    """The place on the left; total, transferable and expiring on the right."""

    DEFAULT_CSS = """
    Counters {
        height: 1;
        background: $panel;
        & > .counters--name { color: $primary; text-style: bold; }
        & > .counters--place { color: $quiet; }
        & > .counters--number { color: $foreground; text-style: bold; }
        & > .counters--label { color: $quiet; }
        & > .counters--expiring { color: $error; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"counters--{name}" for name in ("name", "place", "number", "label", "expiring")
    }

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place = place
        self._listing: Listing | None = None

    def update(self, listing: Listing) -> None:
        """Shows the counts of a listing."""
        self._listing = listing
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        counts = self._counts()
        width = self.size.width
        room = width - sum(cell_len(text) for text, _ in counts) - len(" brain  ") - 2
        parts = [
            (" brain  ", "name"),
            (fit(fit_end(self._place, max(0, room)), max(0, room)), "place"),
            ("  ", "label"),
            *counts,
        ]
        segments = [Segment(text, self._style(role)) for text, role in parts]
        return Strip(segments).adjust_cell_length(width, self._style("label"))

    def _counts(self) -> list[tuple[str, str]]:
        if self._listing is None:
            return []
        found = self._listing
        return [
            (f"{found.skills:,}", "number"),
            (" skills  " if found.skills != 1 else " skill  ", "label"),
            (f"{found.transferable:,}", "number"),
            (" transferable  ", "label"),
            (
                "…" if found.version == UNKNOWN_VERSION else f"{found.expiring:,}",
                "expiring" if found.expiring else "number",
            ),
            (" expiring soon ", "label"),
        ]

    def _style(self, role: str) -> Style:
        return self.get_component_rich_style(f"counters--{role}")
