"""What is in the memory right now? `WatchApp`, the dashboard: it joins widgets, board and reading thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Footer

from brain.engine.sync import SyncBrain
from brain.store.base import Store
from brain.watch.board import Board
from brain.watch.columns import ALL
from brain.watch.counters import Counters
from brain.watch.details import Details
from brain.watch.filter_bar import FilterBar
from brain.watch.help_screen import HelpScreen
from brain.watch.notice import Notice
from brain.watch.panel import DetailPanel
from brain.watch.reading import LOOK_EVERY, Answer, Answering, Broken, Listed, Lost, Progress, Reading
from brain.watch.table import SkillTable
from brain.watch.terminal import terminal_is_gone
from brain.watch.themes import DARK, LIGHT

WIDE = 100
"""Columns from which the details stand beside the table; else they take its place."""
TICK = 0.25
"""Seconds between two looks at the time."""
PATIENCE = 2.0
"""Seconds without an answer after which that is said."""

MOVING = ("filter", "leave_filter", "clear_or_leave_filter", "clear_filter", "open", "close")
"""Actions whose keys mean something where the focus is, and move it."""


class WatchApp(App[None]):
    """The dashboard of one namespace. It asks the store in a thread, so that a key never waits for it."""

    TITLE = "brain watch"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  # no ClassVar in the base class
    CSS = """
    Screen { background: $background; color: $foreground; }
    #body { height: 1fr; }
    SkillTable { width: 1fr; height: 1fr; }
    DetailPanel { height: 1fr; padding: 0 1; }
    .-wide DetailPanel { width: 37%; min-width: 40; max-width: 72; border-left: solid $faint; }
    .-wide DetailPanel:focus { border-left: solid $primary; }
    .-narrow DetailPanel { width: 1fr; display: none; }
    .-narrow #body.-details SkillTable { display: none; }
    .-narrow #body.-details DetailPanel { display: block; }
    Footer { background: $panel; }
    """
    # A key that moves the focus has priority: else the next one is handed out before the focus has moved
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Details", priority=True),
        Binding("enter,down", "leave_filter", "Table", priority=True),
        Binding("escape", "clear_or_leave_filter", "Clear", priority=True),
        Binding("escape", "clear_filter", show=False, priority=True),
        Binding("escape", "close", "Table", priority=True),
        Binding("slash", "filter", "Filter", key_display="/", priority=True),
        Binding("backspace,b", "go_back", "Back", key_display="⌫"),
        Binding("t", "turn_light", "Light/dark", show=False),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("f1", "help_always", show=False),
        Binding("q", "quit", "Quit"),
    ]

    @dataclass
    class Answered(Message):
        """The store answered, or failed."""

        answer: Answer

    @dataclass
    class Warned(Message):
        """Something is to be told beside."""

        text: str

    def __init__(
        self,
        brain: SyncBrain,
        store: Store,
        *,
        light: bool = False,
        progress: Progress | None = None,
        look_every: float = LOOK_EVERY,
        place: str = "",
    ) -> None:
        """`place` is what to call the store, by default its location."""
        super().__init__()
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self._light, self._store, self._progress = light, store, progress or Progress()
        self.board = Board()
        self.reading = Reading(
            brain, store, lambda answer: self.post_message(self.Answered(answer)), look_every=look_every
        )
        if brain.namespace != "default":
            place = f"{place or brain.location}  {brain.namespace}"
        self._counters, self._filter, self._notice = Counters(place or brain.location), FilterBar(), Notice()
        self._table, self._panel = SkillTable(self.board, store.clock), DetailPanel(store.clock)
        self._body = Horizontal(self._table, self._panel, id="body")
        self._reveal, self._can_go_back = True, False
        self._described: str | None = None
        self._lost, self._shown = "", (0, 0)
        self._told: set[str] = set()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """What our own variables are until a theme is chosen."""
        return DARK.variables

    def compose(self) -> ComposeResult:
        yield self._counters
        yield self._filter
        yield self._body
        yield self._notice
        yield Footer()

    def on_mount(self) -> None:
        self.theme = (LIGHT if self._light else DARK).name
        self._table.empty = "Reading the skills …"
        self._table.focus()
        self.set_interval(TICK, self._tick)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self._list()
        self.reading.start()

    def on_unmount(self) -> None:
        self.reading.stop()

    # What the store answers

    def on_watch_app_answered(self, message: Answered) -> None:
        match message.answer:
            case Listed() as answer:
                self._show_listed(answer)
            case Details() as answer:
                if answer.skill_id == self.board.selected:
                    back = self.board.back
                    self._panel.update(answer, back[-1][1] if back else None)
            case Lost(reason):
                self._lost = reason
            case Answering():
                self._lost = ""
            case Broken(error):
                raise error
        self._tell()

    def _show_listed(self, answer: Listed) -> None:
        table, board = self._table, self.board
        was_seen, top = table.shows_cursor, table.top
        moved = board.take(answer)
        if moved is None:
            return
        listing = answer.listing
        table.empty = "" if listing.total else self._why_empty(listing.skills)
        table.update()
        if self._reveal:
            table.reveal()
        elif was_seen and moved:
            table.show_from(top + moved)
            table.reveal()
        self._reveal = False
        self._counters.update(listing)
        self._filter.tell(listing.total, listing.skills)
        self._follow_selection()

    @staticmethod
    def _why_empty(skills: int) -> str:
        if skills:
            return "No skill has these words. Esc in the filter clears it."
        return "There are no skills yet: brain learn FILE makes the first."

    def _follow_selection(self) -> None:
        """Asks for what is to be seen now and is not at hand, and for the details of another skill."""
        top, seen = self._table.top, self._table.rows_seen
        lacking = self.board.lacking(top, seen)
        self.reading.list(lacking or self.board.ask(top, seen), now=lacking is not None)
        if self.board.selected != self._described:
            self._described = self.board.selected
            self.reading.describe(self._described)
            self._tell_way_back()
            if self._described is None and not self.board.total:
                self._panel.clear()

    def _list(self) -> None:
        """Asks for the list as it is to be now."""
        self._reveal = True
        self.reading.list(self.board.ask(0, self._table.rows_seen))
        self._table.refresh_head()

    # What the user does

    def on_skill_table_selected(self) -> None:
        self._follow_selection()

    def on_skill_table_scrolled(self) -> None:
        if self.board.listing:
            self._follow_selection()

    def on_skill_table_sorted(self, message: SkillTable.Sorted) -> None:
        self.board.sort(message.order)
        self._list()

    def on_skill_table_opened(self) -> None:  # by a double click
        self.action_open()

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        self.board.filter(message.text)
        self._list()

    def on_detail_panel_followed(self, message: DetailPanel.Followed) -> None:
        self.board.go(message.skill_id, message.name)
        self._go()

    def _go(self) -> None:
        self._list()
        self._described = self.board.selected
        self.reading.describe(self._described)
        self._tell_way_back()

    def _tell_way_back(self) -> None:
        """Shows the key that goes back while there is somewhere to go back to."""
        if bool(self.board.back) is not self._can_go_back:
            self._can_go_back = bool(self.board.back)
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing to go back to is no key that goes back, and what is typed is no key at all."""
        if action == "go_back":
            return bool(self.board.back)
        if action in MOVING:
            return not self.screen.is_modal and action in self._moving_keys()
        return action != "help" or not (self._filter.is_typed_into or self.screen.is_modal)

    def _moving_keys(self) -> tuple[str, ...]:
        """What moves the focus from where it is."""
        if self._filter.is_typed_into:
            return "leave_filter", "clear_or_leave_filter"
        return ("filter", "open", "clear_filter") if self.screen.focused is self._table else ("filter", "close")

    def action_go_back(self) -> None:
        """Goes back along the edge that was followed last."""
        if self.board.go_back():
            self._go()

    def action_open(self) -> None:
        """Looks at the details."""
        if self.board.selected:
            self._body.add_class("-details")
            self.screen.set_focus(self._panel)

    def action_close(self) -> None:
        """Looks at the table."""
        self._body.remove_class("-details")
        self.screen.set_focus(self._table)

    action_leave_filter = action_close

    async def action_clear_filter(self) -> None:
        """Shows all skills."""
        await self._filter.settle()
        self._filter.clear()

    async def action_clear_or_leave_filter(self) -> None:
        """Empties the line; an empty one is left."""
        await self._filter.settle()
        if self._filter.text:
            self._filter.clear()
        else:
            self.action_close()

    def action_filter(self) -> None:
        """Types words."""
        self._body.remove_class("-details")
        self._filter.type()

    def action_sort(self, place: int) -> None:
        """Sorts by the column with this number."""
        self.board.sort(ALL[place - 1].order)
        self._list()

    def action_sort_next(self) -> None:
        """Sorts by the next column."""
        orders = [column.order for column in ALL]
        self.board.sort(orders[(orders.index(self.board.query.order) + 1) % len(orders)])
        self._list()

    def action_reverse(self) -> None:
        """Sorts the other way round."""
        self.board.sort(self.board.query.order)
        self._list()

    def action_turn_light(self) -> None:
        """Turns dark into light, and back."""
        self.theme = (LIGHT if self.theme == DARK.name else DARK).name

    def action_help(self) -> None:
        """Shows the keys."""
        self.push_screen(HelpScreen())

    action_help_always = action_help

    # What is told beside

    def _tick(self) -> None:
        """Shows times left as of this minute, how much was read so far, and for how long the store has been silent."""
        if not self.is_headless and terminal_is_gone():
            self.exit()
        shown = int(self._store.clock().timestamp()) // 60, self._progress.done
        if shown != self._shown:
            self._shown = shown
            if not self._progress.over:
                self._filter.say(f"reading {self._progress.done:,} of {self._progress.total:,}")
            self._table.refresh()
            self._panel.lay_out()
        self._tell()

    def _tell(self) -> None:
        if self._lost:
            self._notice.say(f"{self._lost} Asking again.")
        elif self.reading.waiting > PATIENCE and self._progress.over:
            self._notice.say(f"No answer for {self.reading.waiting:.0f} s. What is shown may be out of date.", "slow")
        else:
            self._notice.clear()

    def on_watch_app_warned(self, message: Warned) -> None:
        if message.text not in self._told:  # every look would say it again
            self._told.add(message.text)
            self.notify(message.text, severity="warning", markup=False)
