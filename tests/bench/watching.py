"""How long does the dashboard take to show a store, and to answer a key? Without a terminal: only we are timed."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from typing import Any

from textual.events import Key

from brain.watch.app import WatchApp
from brain.watch.board import Board
from brain.watch.columns import ALL
from brain.watch.reading import UNKNOWN_VERSION
from tests.bench.case import Case
from tests.bench.timing import Times

SIZE = (120, 40)
WORD = "the"
"""Typed into the filter letter by letter; most skills have it."""
ROUNDS = 40


def dashboard(case: Case) -> None:
    """Times of the first paint, each time by a brain that has read nothing, and of keys of every kind."""
    frame, first, whole, keys = Times(), Times(), Times(), dict[str, Times]()
    gc.freeze()  # as the command does
    for _ in range(case.rounds(10)):
        with case.place.open(cache=False) as brain:
            case.place.floor()
            for times, seconds in zip((frame, first, whole), asyncio.run(_first_paint(brain)), strict=True):
                times.seconds.append(seconds)
    with case.place.open(cache=False) as brain:
        asyncio.run(_keys(brain, case.rounds(ROUNDS), keys))
    case.note("dashboard,", {"frame": frame, "first paint": first, "whole list": whole, **keys})


async def _first_paint(brain: Any) -> tuple[float, float, float]:
    """Seconds from an open store until the frame stands on the screen, until its rows do, and until all are listed."""
    begun = time.perf_counter()
    app = WatchApp(brain, brain._store)
    async with app.run_test(size=SIZE) as pilot:
        frame = time.perf_counter() - begun
        await _until(lambda: bool(app.board.rows))
        await pilot.pause(0)
        first = time.perf_counter() - begun
        await _until(lambda: _is_whole(app))
        return frame, first, time.perf_counter() - begun


async def _keys(brain: Any, rounds: int, keys: dict[str, Times]) -> None:
    app = WatchApp(brain, brain._store)
    board = app.board
    async with app.run_test(size=SIZE) as pilot:
        await _until(lambda: _is_whole(app) and app.reading.idle)

        async def press(what: str, key: str, answered: Callable[[], bool]) -> None:
            await pilot.pause(0)
            await _until(lambda: app.reading.idle)
            begun = time.perf_counter()
            app.post_message(Key(key, "/" if key == "slash" else key if len(key) == 1 else None))
            await _until(answered)
            await pilot.pause(0)
            keys.setdefault(what, Times()).seconds.append(time.perf_counter() - begun)

        for i in range(rounds):
            await press("move by a row", "down", _at(board, board.cursor + 1))
            await press("move by a screen", "pagedown", _at(board, board.cursor + app._table.rows_seen - 1))
            await press("go to the last row", "end", _at(board, board.total - 1))
            await press("go to the first row", "home", _at(board, 0))
            order = ALL[i % len(ALL)].order
            await press(
                "sort by a column", str(i % len(ALL) + 1), lambda o=order: board.query.order is o and _shown(app)
            )
            if i % 5 == 0:
                await press("begin the filter", "slash", lambda: app._filter.is_typed_into)
                for end, letter in enumerate(WORD, 1):
                    await press("type a letter", letter, lambda t=WORD[:end]: board.query.text == t and _shown(app))
                await press("clear the filter", "escape", lambda: not board.query.text and _shown(app))
                await press("leave the filter", "escape", lambda: app._table.has_focus)


def _at(board: Board, place: int) -> Callable[[], bool]:
    """Whether the row at a place is selected, and there to be seen."""
    return lambda: board.cursor == place and board.selected is not None


def _is_whole(app: WatchApp) -> bool:
    return app.board.listing is not None and app.board.listing.version != UNKNOWN_VERSION


def _shown(app: WatchApp) -> bool:
    """Whether the rows are those of the present query."""
    return app.board.lacking(app._table.top, app._table.rows_seen) is None and app.reading.idle


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.0005)
