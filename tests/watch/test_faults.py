"""What does the dashboard do when its server is slow, dies, and comes back? It says so, answers keys, and goes on."""

import asyncio
import os
import signal
from urllib.parse import urlsplit

import pytest
import redis
from textual.events import Key

from brain import SyncBrain
from brain.watch.app import WatchApp
from tests.clock import FakeClock
from tests.services import own_redis
from tests.watch.driving import lines, names, panel, press, screen, settled, until
from tests.watch.samples import fill
from tests.watch.wires import SERVERS, sluggish


@pytest.fixture
def kept(tmp_path):
    """Options of a redis-server that keeps what it holds while it is down."""
    return ("--appendonly", "yes", "--appendfsync", "always", "--dir", str(tmp_path))


def opened(location, **options):
    brain = SyncBrain.open(location, clock=FakeClock(), cache=False, **options)
    fill(brain)
    return brain


async def keys_are_answered(pilot):
    """Moving, typing and leaving need no store, which says nothing while they are answered."""
    app = pilot.app
    place = app.board.cursor
    for key, holds in (
        ("down", lambda: app.board.cursor == place + 1),
        ("slash", lambda: app._filter.is_typed_into),
        ("h", lambda: "/ h" in lines(app)[1]),
        ("escape", lambda: "/ h" not in lines(app)[1]),
        ("escape", lambda: app._table.has_focus),
    ):
        pilot.app.post_message(Key(key, key if len(key) == 1 else None))
        await until(pilot, holds, f"an answer to {key}")


@pytest.mark.redis
def test_a_server_that_dies_is_missed_and_found_again(kept):
    server = own_redis(*kept)
    brain = opened(f"{server.url}/0")

    async def steps():
        nonlocal server
        async with WatchApp(brain, brain._store, look_every=0.05).run_test(size=(110, 32)) as pilot:
            app = pilot.app
            await settled(pilot)
            await press(pilot, "down")
            server.stop()
            await until(pilot, lambda: "No Redis answers" in screen(app), "the notice")
            assert app._notice.text.endswith("Asking again.")
            assert len(names(app)) == 12 and "Diagnosis by elimination" in panel(app)
            await keys_are_answered(pilot)
            server = own_redis(*kept, port=urlsplit(server.url).port)
            await until(pilot, lambda: not app._notice.text, "the end of the notice")
            await settled(pilot)
            assert app.board.selected == "triage" and "Validate, classify, route" in panel(app)
            await press(pilot, "slash", *"blind")
            assert names(app) == ["Blind comparison"]

    try:
        asyncio.run(steps())
    finally:
        brain.close()
        server.stop()


@pytest.mark.redis
def test_a_server_that_stops_answering_is_named_after_a_moment_and_holds_up_no_key(kept):
    server = own_redis(*kept)
    brain = opened(f"{server.url}/0")
    with redis.Redis.from_url(server.url) as client:
        process = int(client.info("server")["process_id"])

    async def steps():
        async with WatchApp(brain, brain._store, look_every=0.05).run_test(size=(110, 32)) as pilot:
            app = pilot.app
            await settled(pilot)
            os.kill(process, signal.SIGSTOP)
            try:
                await until(pilot, lambda: "No answer for" in app._notice.text, "the notice")
                await keys_are_answered(pilot)
            finally:
                os.kill(process, signal.SIGCONT)
            await until(pilot, lambda: not app._notice.text, "the end of the notice")
            await settled(pilot)
            assert "Diagnosis by elimination" in panel(app)

    try:
        asyncio.run(steps())
    finally:
        brain.close()
        server.stop()


@pytest.mark.parametrize("place", SERVERS, indirect=True)
def test_a_wire_that_is_slow_and_cut_is_waited_for(place, clock, drive):
    fill(place.open(clock=clock))
    proxy, location = sluggish(place)
    brain = SyncBrain.open(location, namespace=place.namespace, clock=clock, cache=False)

    async def steps(pilot):
        app = pilot.app
        proxy.flowing.clear()
        await until(pilot, lambda: "No answer for" in app._notice.text, "the notice")
        await keys_are_answered(pilot)
        proxy.flowing.set()
        await until(pilot, lambda: not app._notice.text, "the end of the notice")
        proxy.cut_everything()
        await press(pilot, "slash", *"blind")
        await until(pilot, lambda: names(app) == ["Blind comparison"], "an answer on a new wire")

    try:
        drive(brain, steps)
    finally:
        brain.close()
        proxy.close()
