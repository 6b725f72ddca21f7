"""What goes over the wire? A proxy on loopback that counts round trips, and may once swallow an answer."""

import threading
from urllib.parse import urlsplit

from tests.proxy import Proxy


class Wire(Proxy):
    """Forwards to a Redis. A round trip begins when a client speaks while no answer is owed to it."""

    def __init__(self, url):
        address = urlsplit(url)
        self.round_trips = 0
        self._swallow: bytes | None = None
        self.swallowed = threading.Event()
        self._lock = threading.Lock()
        super().__init__(address.hostname, address.port)
        self.url = f"redis://127.0.0.1:{self.port}"

    def swallow_the_answer_to(self, mark):
        """Once, cuts the connection instead of forwarding the answer to what holds `mark`."""
        self.swallowed.clear()
        self._swallow = mark

    def said(self, state, data):
        with self._lock:
            commands = state.setdefault("commands", Values())
            self.round_trips += not state.get("owed") and not commands.rest
            state["owed"] = state.get("owed", 0) + commands.count(data)
        if self._swallow is not None and self._swallow in data:
            self._swallow, state["lost"] = None, True

    def answered(self, state, data):
        if "lost" in state:
            self.swallowed.set()
            return False
        with self._lock:
            state["owed"] = state.get("owed", 0) - state.setdefault("answers", Values()).count(data)
        return True


class Values:
    """Counts the whole values in a stream of RESP, but for what the server says unasked."""

    def __init__(self):
        self._data = b""

    @property
    def rest(self):
        """The beginning of a value that goes on."""
        return self._data

    def count(self, data):
        """How many values `data` completes."""
        self._data += data
        found, start = 0, 0
        while (end := self._end(start)) is not None:
            found += self._data[start : start + 1] != b">"
            start = end
        self._data = self._data[start:]
        return found

    def _end(self, start):
        """Where the value that begins at `start` ends; None if it goes on."""
        line = self._data.find(b"\r\n", start)
        if line < 0:
            return None
        kind, said, end = self._data[start : start + 1], self._data[start + 1 : line], line + 2
        if kind in b"$=!":
            end += int(said) + 2 if int(said) >= 0 else 0
            return end if end <= len(self._data) else None
        for _ in range(int(said) * (1 + (kind == b"%")) if kind in b"*~>%" else 0):
            end = self._end(end)
            if end is None:
                return None
        return end
