"""What does a broken wire look like? A proxy on loopback that forwards everything; subclasses listen or cut."""

import contextlib
import socket
import threading

BOOKMARK = b"bookmark"
COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""A Bolt message of two bytes (a structure without fields, signature COMMIT) and its end."""


class Proxy:
    """Forwards to a server. Each connection has a state of its own, for `said` and `answered`."""

    def __init__(self, host, port):
        self._target = (host, port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._ends, self._threads = [], []
        self._start(self._serve)

    def said(self, state, data):
        """Hears what a client says, before it is forwarded."""

    def answered(self, state, data):
        """Hears what the server answers; False cuts the connection instead of forwarding it."""
        return True

    def cut_everything(self):
        """Ends every connection at both ends, whatever is on its way."""
        self._shut_down(*self._ends)

    def close(self):
        self._shut_down(self._listening, *self._ends)
        for thread in self._threads:
            thread.join(5)
        for end in [self._listening, *self._ends]:
            end.close()

    @staticmethod
    def _shut_down(*ends):
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

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
                state = {}
                self._start(self._up, client, server, state)
                self._start(self._down, client, server, state)

    def _up(self, client, server, state):
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 20):
                self.said(state, data)
                server.sendall(data)

    def _down(self, client, server, state):
        with contextlib.suppress(OSError):
            while data := server.recv(1 << 20):
                if not self.answered(state, data):
                    break
                client.sendall(data)
        self._shut_down(client, server)


class CommitThief(Proxy):
    """Forwards to a Neo4j, and once swallows the answer that tells of a commit.

    That is the one with a bookmark, to a COMMIT or to a statement that is committed on its own.
    """

    def __init__(self, host, port):
        self._armed, self.cut = threading.Event(), threading.Event()
        super().__init__(host, port)

    def lose_the_next_commit(self, of=COMMIT):
        """Of the transaction in which a client says `of`, a part of a message."""
        self._words = of
        self.cut.clear()
        self._armed.set()

    def said(self, state, data):
        if self._armed.is_set() and self._words in data:
            self._armed.clear()
            state["lost"] = True

    def answered(self, state, data):
        if "lost" in state and BOOKMARK in data:
            self.cut.set()
            return False
        return True
