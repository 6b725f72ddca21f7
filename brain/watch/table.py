"""How are ten thousand skills shown as a table? `SkillTable` draws the rows that are seen, and holds none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from brain.engine.listing import SkillOrder
from brain.watch.board import Board
from brain.watch.cells import fit
from brain.watch.columns import ALL, Column, cell, columns, heading
from brain.watch.drawn import Drawn

MARGIN = 1
"""Blanks before the first column and after the last."""
MARK = "▌"
"""Stands before the selected row."""


class SkillTable(Drawn):
    """The table of a board: a head that stays, and the rows from `top` on."""

    DEFAULT_CSS = """
    SkillTable {
        scrollbar-gutter: stable;
        & > .role--head { color: $quiet; background: $panel; }
        & > .role--sorted { color: $primary; text-style: bold; }
        & > .role--cursor { background: $cursor-blurred; }
        & > .role--mark { color: $secondary; }
        & > .role--number { color: $foreground; }
        & > .role--name { color: $foreground; }
        &:focus > .role--cursor { background: $cursor; }
        &:focus > .role--mark { color: $primary; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"role--{role}" for role in "head sorted row cursor mark number name".split()
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "app.sort_next", "Sort"),
        Binding("r", "app.reverse", "Reverse"),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("home,g", "end(-1)", "First", show=False),
        Binding("end,G", "end(1)", "Last", show=False),
        *(Binding(str(column.place), f"app.sort({column.place})", show=False) for column in ALL),
    ]

    class Selected(Message):
        """Another row was selected."""

    class Opened(Message):
        """The selected skill is to be looked at."""

    class Sorted(Message):
        """The table is to be sorted by a column."""

        def __init__(self, order: SkillOrder) -> None:
            super().__init__()
            self.order = order

    class Scrolled(Message):
        """Other rows are seen."""

    def __init__(self, board: Board, clock: Callable[[], datetime]) -> None:
        super().__init__()
        self._board, self._clock = board, clock
        self._columns: list[Column] = []
        self.empty = ""

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width  # without the scrollbar

    @property
    def top(self) -> int:
        """The place of the first row that is seen."""
        return self.scroll_offset.y

    @property
    def rows_seen(self) -> int:
        """How many rows are seen at once."""
        return max(1, self.size.height - 1)

    @property
    def shows_cursor(self) -> bool:
        """Whether the row of the cursor is seen."""
        return self.top <= self._board.cursor < self.top + self.rows_seen

    def update(self) -> None:
        """Shows what the board holds now."""
        self.virtual_size = Size(self._width, self._board.total + 1)
        self.refresh()

    def refresh_head(self) -> None:
        """Draws the head anew."""
        self.refresh(Region(0, 0, self._width, 1))

    def reveal(self) -> None:
        """Scrolls as little as it takes to show the row of the cursor; to the middle if it was far away."""
        cursor, top, seen = self._board.cursor, self.top, self.rows_seen
        if not self.shows_cursor:
            near = top - seen < cursor < top + 2 * seen
            top = cursor if cursor < top else cursor - seen + 1
            self.show_from(top if near else cursor - seen // 2)

    def show_from(self, top: int) -> None:
        """Scrolls to a row."""
        self.scroll_to(y=max(0, top), animate=False, force=True)

    # Drawing

    def on_resize(self) -> None:
        self._columns = columns(self._width - 2 * MARGIN)
        self.update()
        self.post_message(self.Scrolled())

    def render_line(self, y: int) -> Strip:
        """One line of what is seen: the head, or a row."""
        if y == 0:
            return self._head()
        place = self.top + y - 1
        if place < self._board.total:
            return self._row(place)
        return self._beyond(y)

    def _head(self) -> Strip:
        query, base = self._board.query, self.style("head")
        segments = [Segment(" " * MARGIN, base)]
        for column in self._columns:
            style = base + self.style("sorted", partial=True) if column.order is query.order else base
            segments += [
                Segment(" " * column.gap, base),
                Segment(heading(column, query.order, query.descending), style),
            ]
        return self._strip(segments, base)

    def _row(self, place: int) -> Strip:
        row, here = self._board.rows.get(place), place == self._board.cursor and self._board.listed
        base = self.style("cursor" if here else "row")
        mark = Segment(MARK if here else " ", base + self.style("mark", partial=True))
        if row is None:
            return self._strip([mark, Segment("·", base + self.style("quiet", partial=True))], base)
        segments, now = [mark], self._clock()
        for column in self._columns:
            text, role = cell(column, row, now)
            segments += [Segment(" " * column.gap, base), Segment(text, base + self.style(role, partial=True))]
        return self._strip(segments, base)

    def _beyond(self, y: int) -> Strip:
        """A line below the last row; says why there are none."""
        said = self.empty if not self._board.total and y == 2 else ""
        style = self.style("quiet")
        return self._strip([Segment(fit(f" {said}", self._width), style)], style)

    def _strip(self, segments: list[Segment], base: Style) -> Strip:
        return Strip(segments).adjust_cell_length(self._width, base)

    # Keys and mouse

    def action_move(self, by: int) -> None:
        """Selects a row further up or down."""
        self._select(lambda: self._board.move(by))

    def action_page(self, direction: int) -> None:
        """Selects a row a screen further."""
        self.action_move(direction * max(1, self.rows_seen - 1))

    def action_end(self, direction: int) -> None:
        """Selects the first row or the last one."""
        self.action_move(direction * self._board.total)

    def _select(self, select: Callable[[], object]) -> None:
        before = self._board.cursor
        select()
        self.reveal()
        for place in {before, self._board.cursor}:
            self.refresh_line(place + 1)
        self.post_message(self.Selected())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tells that other rows are seen."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())

    def on_click(self, event: events.Click) -> None:
        """Sorts by a column, selects a row, or opens the selected one."""
        if event.y == 0:
            column = self._column_at(event.x)
            if column:
                self.post_message(self.Sorted(column.order))
            return
        place = self.top + event.y - 1
        if place < self._board.total:
            self._select(lambda: self._board.select(place))
            if event.chain == 2:
                self.post_message(self.Opened())

    def _column_at(self, x: int) -> Column | None:
        start = MARGIN
        for column in self._columns:
            start += column.gap + column.width
            if x < start:
                return column
        return None
