"""What if an answer of the server is lost? A proxy on loopback that swallows one."""

import threading
from urllib.parse import urlsplit

from tests.proxy import Proxy


class Wire(Proxy):
    """Forwards to a Redis, and may once cut the connection instead of forwarding an answer."""

    def __init__(self, url):
        address = urlsplit(url)
        self._swallow: bytes | None = None
        self.swallowed = threading.Event()
        super().__init__(address.hostname, address.port)
        self.url = f"redis://127.0.0.1:{self.port}"

    def swallow_the_answer_to(self, mark):
        """Once, cuts the connection instead of forwarding the answer to what holds `mark`."""
        self.swallowed.clear()
        self._swallow = mark

    def said(self, state, data):
        if self._swallow is not None and self._swallow in data:
            self._swallow, state["lost"] = None, True

    def answered(self, state, data):
        if "lost" in state:
            self.swallowed.set()
            return False
        return True
