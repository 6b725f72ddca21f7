"""A dashboard on a brain that holds the sample."""

import asyncio

import pytest

from brain.watch.app import WatchApp
from tests.watch.driving import settled
from tests.watch.samples import fill

LOOK_EVERY = 0.05
"""Seconds between two looks at the store: tests need not wait for the usual second."""


@pytest.fixture
def filled(brain):
    """The sample, on each store."""
    fill(brain)
    return brain


@pytest.fixture
def drive():
    """Runs a dashboard of a brain, and in it a test's coroutine function, which gets the pilot."""

    def run(brain, steps, size=(110, 32), look_every=LOOK_EVERY, **options):
        async def driven():
            app = WatchApp(brain, brain._store, look_every=look_every, **options)
            async with app.run_test(size=size) as pilot:
                await settled(pilot)
                return await steps(pilot)

        return asyncio.run(driven())

    return run
