"""What does a slow server look like? A proxy that holds its answers back."""

import threading
from urllib.parse import urlsplit

from tests.proxy import Proxy


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


def sluggish(kind, server, name):
    """A proxy before a server, and the location of a store behind it; `name` keeps it apart from others."""
    if kind == "neo4j":
        address = urlsplit(server.uri)
        proxy = Sluggish(address.hostname, address.port)
        return proxy, f"bolt://{server.user}:{server.password}@127.0.0.1:{proxy.port}"
    address = urlsplit(server.url)
    proxy = Sluggish(address.hostname, address.port)
    return proxy, f"redis://127.0.0.1:{proxy.port}/0?prefix={name}"
