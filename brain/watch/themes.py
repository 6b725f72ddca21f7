"""Which colours are there? One dark and one light theme, with the names that the widgets use."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="brain-dark",
    dark=True,
    primary="#7fb0e6",
    secondary="#56708f",
    accent="#7fb0e6",
    foreground="#d9dde4",
    background="#14171c",
    surface="#14171c",
    panel="#1e232b",
    success="#8fc97f",
    warning="#e8c268",
    error="#f2777a",
    variables={"quiet": "#949eab", "faint": "#3a424e", "cursor": "#243348", "cursor-blurred": "#222933"},
)
LIGHT = Theme(
    name="brain-light",
    dark=False,
    primary="#1f5f9f",
    secondary="#7d97b2",
    accent="#1f5f9f",
    foreground="#23282f",
    background="#fbfbf9",
    surface="#fbfbf9",
    panel="#e9ecf0",
    success="#22702a",
    warning="#7a5800",
    error="#b3261e",
    variables={"quiet": "#555e6a", "faint": "#c9cfd6", "cursor": "#cfe0f3", "cursor-blurred": "#e4e9ef"},
)
NAMES = tuple(DARK.variables)
"""Variables of our own, beside those of every theme."""
