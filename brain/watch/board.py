"""What is on the screen? `Board`: the rows at hand, which skill is selected, and what has to be asked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from brain.engine.listing import Listing, SkillOrder
from brain.store.values import SkillRow
from brain.watch.reading import Ask, Listed, Query

ROWS_KEPT = 2_000
"""Rows that are kept at most; those off the screen are asked for again."""
SCREENS_ASKED = 3
"""Screens of rows that are asked for at a time: the one that is seen, one above and one below."""


@dataclass
class Board:
    """The state of the dashboard, without a terminal.

    `rows` are by place, and stay until newer ones come. `cursor` is the place of the `selected` skill; `listed` is
    False while it has none, because it is gone or the words do not fit it, and then `cursor` is where it was. `back`
    are the skills, by id and name, that one came from along edges.
    """

    query: Query = field(default_factory=Query)
    listing: Listing | None = None
    rows: dict[int, SkillRow] = field(default_factory=dict)
    cursor: int = 0
    selected: str | None = None
    listed: bool = True
    back: list[tuple[str, str]] = field(default_factory=list)
    _fresh: set[int] = field(default_factory=set)
    _choose: int | None = 0

    @property
    def total(self) -> int:
        """How many skills the list has."""
        return self.listing.total if self.listing else 0

    # What to ask

    def ask(self, top: int, height: int) -> Ask:
        """What the store is to be asked while the rows from `top` on are seen: them, or those around the selected one,
        with its place.
        """
        return replace(self._rows_from(top, height), around=self.selected)

    def lacking(self, top: int, height: int) -> Ask | None:
        """What to ask to see the rows from `top` on; None if they are at hand as they are now."""
        seen = range(top, min(top + height, self.total))
        return None if self._fresh.issuperset(seen) else self._rows_from(top, height)

    def _rows_from(self, top: int, height: int) -> Ask:
        height = max(1, height)
        return Ask(self.query, max(0, top - height), SCREENS_ASKED * height)

    # What came

    def take(self, answer: Listed) -> int | None:
        """Takes an answer. By how many places the selected skill moved; None if the answer is for another query."""
        ask, listing = answer.ask, answer.listing
        if ask.query != self.query:
            return None
        before = self.listing
        if before is None or (before.version, before.total) != (listing.version, listing.total):
            self._fresh.clear()
        if len(self.rows) > ROWS_KEPT:
            self.rows.clear()
            self._fresh.clear()
        self.listing = listing
        found = range(listing.offset, listing.offset + len(listing.rows))
        self.rows = {place: row for place, row in self.rows.items() if place < listing.total}
        self.rows.update(zip(found, listing.rows, strict=True))
        self._fresh.update(found)
        return self._find_selected(ask, listing)

    def _find_selected(self, ask: Ask, listing: Listing) -> int:
        before = self.cursor
        if self.selected is not None and ask.around == self.selected:
            self.listed = listing.place is not None
            if listing.place is not None:
                self.cursor, self._choose = listing.place, None
        self.cursor = min(self.cursor, max(0, listing.total - 1))
        if not listing.total:
            self.listed = False
        elif self._choose is not None and (self.selected is None or not self.listed):
            self.select(self._choose)
        return self.cursor - before

    # What the user does

    def select(self, place: int) -> None:
        """Selects the skill at a place, as far as the list goes; as soon as its row comes, if it is not at hand."""
        if not self.total:
            return
        self.cursor = max(0, min(place, self.total - 1))
        row = self.rows.get(self.cursor)
        self._choose = self.cursor if row is None else None
        if row is None or row.id != self.selected:
            self.back.clear()
        self.selected, self.listed = (row.id if row else None), True

    def move(self, by: int) -> None:
        """Moves the cursor. A selected skill that is not listed counts as lying between two rows."""
        self.select(self.cursor + by - (not self.listed and by > 0))

    def sort(self, order: SkillOrder) -> None:
        """Sorts by a column; the one it is sorted by already, the other way round."""
        down = not self.query.descending if order is self.query.order else order.starts_descending
        self._change(replace(self.query, order=order, descending=down))

    def filter(self, text: str) -> None:
        """Lists only skills with these words. If the selected one is not among them, the first is selected."""
        if text != self.query.text:
            self._change(replace(self.query, text=text))

    def _change(self, query: Query) -> None:
        self.query, self._choose = query, 0
        self._fresh.clear()

    def go(self, skill_id: str, name: str) -> None:
        """Follows an edge to another skill. `name` is that of the one it starts at."""
        if self.selected is not None:
            self.back.append((self.selected, name))
        self.selected, self._choose = skill_id, None

    def go_back(self) -> bool:
        """Goes back to where the last edge was followed; whether there was one."""
        if not self.back:
            return False
        self.selected, self._choose = self.back.pop()[0], None
        return True
