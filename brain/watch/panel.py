"""How are the details of a skill shown? `DetailPanel`: a page that scrolls, whose edges can be followed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from brain.watch.details import Details
from brain.watch.drawn import Drawn
from brain.watch.page import Line, page


class DetailPanel(Drawn):
    """The details of one skill. `edge` is the number of the edge that is chosen."""

    DEFAULT_CSS = """
    DetailPanel {
        scrollbar-gutter: stable;
        & > .role--title { color: $foreground; text-style: bold; }
        & > .role--label { color: $quiet; }
        & > .role--link { color: $primary; text-style: underline; }
        & > .role--gone { color: $error; text-style: bold; }
        & > .role--good { color: $success; }
        & > .role--bad { color: $error; }
        & > .role--bar { color: $primary; }
        & > .role--rest { color: $faint; }
        & > .role--chosen { background: $cursor; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"role--{role}" for role in "title label link gone good bad bar rest chosen".split()
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False),
        Binding("down,j", "scroll_down", "Down", show=False),
        Binding("home,g", "scroll_home", "Begin", show=False),
        Binding("end,G", "scroll_end", "End", show=False),
        Binding("pagedown,space", "page_down", "Page down", show=False),
        Binding("tab,right,n", "choose(1)", "Next edge", key_display="tab"),
        Binding("shift+tab,left,p", "choose(-1)", "Previous edge", show=False),
        Binding("enter", "follow", "Follow"),
    ]

    class Followed(Message):
        """An edge is to be followed."""

        def __init__(self, skill_id: str, name: str) -> None:
            super().__init__()
            self.skill_id, self.name = skill_id, name

    def __init__(self, clock: Callable[[], datetime]) -> None:
        super().__init__()
        self._clock = clock
        self._lines: list[Line] = []
        self._details: Details | None = None
        self._back: str | None = None
        self._gone = False
        self.edge: int | None = None

    def update(self, details: Details, back: str | None = None) -> None:
        """Shows a skill, from its beginning unless it is shown already. One that is gone is shown as it was last."""
        before = self._details
        same = before is not None and before.skill_id == details.skill_id
        self._gone = details.skill is None
        if not (same and self._gone):
            self._details = details
        self._back = back
        if not same:
            self.edge = None
            self.scroll_to(y=0, animate=False, force=True)
        elif self.edge is not None and self.edge >= len(details.edges):
            self.edge = None
        self.lay_out()

    def clear(self) -> None:
        """Shows nothing."""
        self._details, self._lines, self.edge = None, [], None
        self.lay_out()

    def lay_out(self) -> None:
        """Makes the page anew, for the width and the time."""
        if self._details and self._width:
            self._lines = page(self._details, self._width, self._clock(), self._back, gone=self._gone)
        self.virtual_size = Size(self._width, len(self._lines))
        self.refresh()

    def on_resize(self) -> None:
        self.lay_out()

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width  # without the scrollbar

    def render_line(self, y: int) -> Strip:
        """One line of the page."""
        place, base = self.scroll_offset.y + y, self.style("text")
        if place >= len(self._lines):
            return Strip.blank(self._width, base)
        line = self._lines[place]
        if line.edge is not None and line.edge == self.edge and self.has_focus:
            base = self.style("chosen")
        segments = [Segment(text, base + self.style(role, partial=True)) for text, role in line.spans]
        return Strip(segments).adjust_cell_length(self._width, base)

    # Edges

    def action_choose(self, by: int) -> None:
        """Chooses the next edge or the one before; beyond the last, the next widget gets the focus."""
        count = len(self._details.edges) if self._details else 0
        chosen = (-1 if by > 0 else count) if self.edge is None else self.edge
        if not 0 <= chosen + by < count:
            self.edge = None
            self.refresh()
            if by > 0:
                self.screen.focus_next()
            else:
                self.screen.focus_previous()
            return
        self.edge = chosen + by
        places = [place for place, line in enumerate(self._lines) if line.edge == self.edge]
        self._show(places[0], places[-1])
        self.refresh()

    def action_follow(self) -> None:
        """Follows the chosen edge, or the only one."""
        count = len(self._details.edges) if self._details else 0
        number = 0 if self.edge is None and count == 1 else self.edge
        if self._details and number is not None and number < count:
            target = self._details.edges[number].target
            skill = self._details.skill
            self.post_message(self.Followed(target, skill.name or skill.id if skill else self._details.skill_id))

    def _show(self, first: int, last: int) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if first < top or last >= top + height:
            self.scroll_to(y=max(0, first - height // 3), animate=False, force=True)

    def on_click(self, event: events.Click) -> None:
        """Follows the edge that is clicked on."""
        place = self.scroll_offset.y + event.y
        if place < len(self._lines) and self._lines[place].edge is not None:
            self.edge = self._lines[place].edge
            self.action_follow()
