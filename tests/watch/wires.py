"""What does a slow server look like? A proxy that holds its answers back."""

import threading
from urllib.parse import urlsplit

import pytest

from tests.proxy import Proxy

SERVERS = [pytest.param("neo4j", marks=pytest.mark.neo4j), pytest.param("redis", marks=pytest.mark.redis)]
"""The places that are behind a wire."""


class Sluggish(Proxy):
    """Forwards to a server, but holds back its answers while it is told to."""

    def __init__(self, host, port):
        self.flowing = threading.Event()
        self.flowing.set()
        super().__init__(host, port)

    def answered(self, state, data):
        self.flowing.wait()
        return True

    def close(self):
        self.flowing.set()
        super().close()


def sluggish(place):
    """A proxy before the server of a place, and the location that leads through it."""
    address = urlsplit(place.location)
    proxy = Sluggish(address.hostname, address.port)
    location = place.location.replace(f"{address.hostname}:{address.port}", f"127.0.0.1:{proxy.port}", 1)
    return proxy, location.replace("neo4j://", "bolt://", 1)  # a router would name the server itself
