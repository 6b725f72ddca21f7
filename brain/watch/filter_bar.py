"""Which words are the skills filtered by? `FilterBar`: typed, and at once in force."""

from __future__ import annotations

import asyncio

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label


class FilterBar(Horizontal):
    """A line to type words into, and how many skills they fit."""

    DEFAULT_CSS = """
    FilterBar {
        height: 1;
        padding: 0 1;
        & > #sign { color: $quiet; width: 2; }
        & > Input, & > Input:focus {
            border: none; height: 1; padding: 0; width: 1fr; background: $surface; background-tint: $surface 0%;
        }
        & > #fitting { color: $quiet; width: 28; text-align: right; }
        &:focus-within > #sign { color: $primary; text-style: bold; }
    }
    """

    class Changed(Message):
        """Other words are in force."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__()
        self._words = Input(placeholder="filter by words in name, id, domain and tags", select_on_focus=False)
        self._words.cursor_blink = False
        self._fitting = Label("", id="fitting", markup=False)

    def compose(self) -> ComposeResult:
        yield Label("/", id="sign")
        yield self._words
        yield self._fitting

    def type(self) -> None:
        """Takes what is typed from now on, the very next key too: `focus` would come after it."""
        self.screen.set_focus(self._words)

    @property
    def is_typed_into(self) -> bool:
        """Whether what is typed comes here."""
        return self.screen.focused is self._words

    async def settle(self) -> None:
        """Waits until the line holds what was typed so far."""
        settled = asyncio.Event()
        if self._words.call_later(settled.set):
            await settled.wait()

    @property
    def text(self) -> str:
        """The words."""
        return self._words.value

    def clear(self) -> None:
        """Empties the line."""
        self._words.value = ""

    def tell(self, total: int, skills: int) -> None:
        """Says how many skills the words fit."""
        self.say(f"{total:,} of {skills:,}" if self.text.strip() else "")

    def say(self, text: str) -> None:
        """Says something beside the words."""
        self._fitting.update(text, layout=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))
