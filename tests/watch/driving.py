"""How is the dashboard driven in a test? By keys, and by waiting until everything that was asked is answered."""

import time

from textual.events import Key

TYPED = {"space": " ", "slash": "/", "question_mark": "?"}
"""What some keys type."""
PATIENCE = 20.0
"""Seconds after which a test gives up waiting."""


async def until(pilot, holds, what="what was waited for"):
    """Lets the dashboard run until `holds()`; fails if it never does."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come: {screen(pilot.app)}"
        await pilot.pause(0.005)


async def settled(pilot):
    """Lets the dashboard run until every question is answered and drawn."""
    app = pilot.app
    await until(pilot, lambda: app.board.listing is not None and app.board.listing.version >= 0, "the first listing")
    for _ in range(2):  # an answer leads to other questions: rows that are lacking, details of what is selected
        await pilot.pause(0)
        await until(pilot, lambda: app.reading.idle, "an answer")
    await pilot.pause(0)


def press_at_once(pilot, *keys):
    """Presses keys faster than anything can come of the first."""
    for key in keys:
        pilot.app.post_message(Key(key, TYPED.get(key, key if len(key) == 1 else None)))


async def press(pilot, *keys):
    """Presses keys one after the other, and waits for what they lead to."""
    for key in keys:
        press_at_once(pilot, key)
        await settled(pilot)


def lines(app):
    """What stands on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


def screen(app):
    """What stands on the screen."""
    return "\n".join(lines(app))


def panel(app):
    """What the detail panel says."""
    return "\n".join(line.text for line in app._panel._lines)


def names(app):
    """The names in the table, as far as they are seen."""
    table = app._table
    return [app.board.rows[place].name for place in range(table.top, min(table.top + table.rows_seen, app.board.total))]
