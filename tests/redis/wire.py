"""What goes over the wire? A proxy on loopback that counts round trips, and may once swallow an answer."""

import contextlib
import socket
import threading
from urllib.parse import urlsplit


class Wire:
    """Forwards to a Redis. A round trip begins when a client speaks while no answer is owed to it."""

    def __init__(self, url):
        address = urlsplit(url)
        self._target = (address.hostname, address.port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listening.getsockname()[1]}"
        self.round_trips = 0
        self._swallow: bytes | None = None
        self.swallowed = threading.Event()
        self._lock = threading.Lock()
        self._ends, self._threads = [], []
        self._start(self._serve)

    def swallow_the_answer_to(self, mark):
        """Once, cuts the connection instead of forwarding the answer to what holds `mark`."""
        self.swallowed.clear()
        self._swallow = mark

    def close(self):
        for end in [self._listening, *self._ends]:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for end in [self._listening, *self._ends]:
            end.close()

    def _start(self, work, *arguments):
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._target)
                for end in (client, server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._ends += [client, server]
                state = {"owed": 0, "lost": False}
                self._start(self._up, client, server, state)
                self._start(self._down, client, server, state)

    def _up(self, client, server, state):
        commands = Values()
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 20):
                with self._lock:
                    self.round_trips += state["owed"] == 0 and not commands.rest
                    state["owed"] += commands.count(data)
                if self._swallow is not None and self._swallow in data:
                    self._swallow, state["lost"] = None, True
                server.sendall(data)

    def _down(self, client, server, state):
        answers = Values()
        with contextlib.suppress(OSError):
            while data := server.recv(1 << 20):
                if state["lost"]:
                    self.swallowed.set()
                    break
                with self._lock:
                    state["owed"] -= answers.count(data)
                client.sendall(data)
        for end in (client, server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


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
