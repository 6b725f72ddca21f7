"""How do the widgets that draw their own lines look alike? `Drawn`: one scrollbar, and one colour for each role."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from textual.scroll_view import ScrollView


class Drawn(ScrollView, can_focus=True):
    """Lines that are drawn as they are seen. A role says what a piece of text is; those of all widgets are here."""

    DEFAULT_CSS = """
    Drawn {
        scrollbar-size-vertical: 1;
        scrollbar-color: $faint;
        scrollbar-color-hover: $secondary;
        scrollbar-color-active: $primary;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        overflow-x: hidden;
        & > .role--text { color: $foreground; }
        & > .role--quiet { color: $quiet; }
        & > .role--heading { color: $primary; text-style: bold; }
        & > .role--never { color: $foreground; }
        & > .role--months { color: $success; }
        & > .role--weeks { color: $warning; }
        & > .role--days { color: $error; }
        & > .role--hours { color: $error; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"role--{role}" for role in "text quiet heading never months weeks days hours".split()
    }

    def style(self, role: str, *, partial: bool = False) -> Style:
        """How a role looks; `partial` leaves what the role does not say to the style it is added to."""
        return self.get_component_rich_style(f"role--{role}", partial=partial)
