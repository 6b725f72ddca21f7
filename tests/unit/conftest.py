"""What do unit tests stand on? Brains that live in memory only."""

import pytest

from brain import SyncBrain
from tests.clock import FakeClock


@pytest.fixture
def in_memory():
    """Opens brains in memory, each on its own, and closes them at the end."""
    opened = []

    def open_brain(**options):
        opened.append(SyncBrain.open("sqlite://:memory:", clock=FakeClock(), **options))
        return opened[-1]

    yield open_brain
    for brain in opened:
        brain.close()
