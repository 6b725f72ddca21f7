"""The contract suite on the guide's in-memory object: all but what several processes, or several stores, do at once."""

import pytest

from tests.redis.places import MemoryPlace


@pytest.fixture
def place():
    found = MemoryPlace()
    yield found
    found.close()
