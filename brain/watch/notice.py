"""What is wrong at the moment? `Notice`: a line above the keys, there only while it has something to say."""

from __future__ import annotations

from textual.widgets import Static

from brain.model.shown import one_line


class Notice(Static):
    """A notice: "lost" if the store failed, "slow" if it is waited for."""

    DEFAULT_CSS = """
    Notice {
        display: none;
        height: auto;
        max-height: 3;
        padding: 0 1;
        color: $background;
        background: $error;
        text-style: bold;
        &.slow { background: $warning; }
    }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self.text = ""

    def say(self, text: str, kind: str = "lost") -> None:
        """Shows a text."""
        if text != self.text:
            self.text = text
            self.set_class(kind == "slow", "slow")
            self.update(one_line(text))
            self.display = True

    def clear(self) -> None:
        """Shows nothing."""
        if self.text:
            self.text = ""
            self.display = False
