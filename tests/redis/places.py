"""Where do the Redis tests keep skills, beside a server? On the guide's in-memory object."""

from brain import SyncBrain
from brain.model.skill import utc_now
from brain.store.redis import of_memory
from brain.store.redis.opening import say_once_that_it_is_not_atomic
from tests.redis.fake import FakeMemory


class MemoryPlace:
    """A place of the contract suite on an object with ten methods. Every brain opened here shares the object."""

    utc = staticmethod(utc_now)
    kind, namespace, location = "memory", "default", "memory://FakeMemory"

    def __init__(self):
        self.memory, self._opened = FakeMemory(), []
        say_once_that_it_is_not_atomic(self.location)  # so that no test of the suite is the first to open one

    def open(self, namespace=None, clock=utc_now, **options):
        store = of_memory(self.memory, namespace or self.namespace, clock)
        self._opened.append(SyncBrain(store, **options))
        return self._opened[-1]

    def close(self):
        for brain in self._opened:
            brain.close()
