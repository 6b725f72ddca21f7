"""How does a server run, from its start to its end? It answers at once, opens the brain meanwhile, and ends cleanly."""

from __future__ import annotations

import logging
import signal
import sys
from typing import Any, Protocol

import anyio
from anyio import to_thread
from mcp.server.lowlevel import Server

from brain.errors import BrainError, StoreUnavailableError
from brain.mcp.memory import Memory
from brain.mcp.server import build

log = logging.getLogger(__name__)


class Transport(Protocol):
    """How clients reach a server."""

    async def serve(self, server: Server[Any]) -> None:
        """Answers until the client has gone or `end` is called."""

    def end(self) -> None:
        """Lets `serve` end."""


def run(memory: Memory, transport: Transport, *, read_only: bool = False, redacting: bool = True) -> None:
    """Serves until the client has gone or the process is told to end, then frees the store.

    After Ctrl-C it raises `KeyboardInterrupt`. A store that is down when the server starts is waited for: the calls
    fail until it is there. Anything else that stands against opening the brain ends the server, and is raised.
    """
    running = _Running(memory, transport)
    try:
        anyio.run(running.serve, build(memory, read_only=read_only, redacting=redacting))
    except* BrokenPipeError:
        log.debug("The client went away without reading its answers.")
    finally:
        memory.close()
    if running.failure:
        raise running.failure
    if running.interrupted:
        raise KeyboardInterrupt


class _Running:
    def __init__(self, memory: Memory, transport: Transport) -> None:
        self._memory, self._transport = memory, transport
        self.failure: BrainError | None = None
        self.interrupted = False

    async def serve(self, server: Server[Any]) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._open)
            if sys.platform != "win32":  # its event loop knows no signals: Ctrl-C is a KeyboardInterrupt there
                tasks.start_soon(self._end_at_a_signal)
            await self._transport.serve(server)
            tasks.cancel_scope.cancel()

    async def _open(self) -> None:
        try:
            await to_thread.run_sync(self._memory.brain, abandon_on_cancel=True)
        except StoreUnavailableError as error:
            log.warning("%s Until then the tools answer so; nothing has to be started anew.", error)
        except BrainError as error:
            self.failure = error
            self._transport.end()

    async def _end_at_a_signal(self) -> None:
        """Ends at Ctrl-C or SIGTERM; at a second one the process is gone at once, whatever it was doing."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                self.interrupted = number == signal.SIGINT
                break
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        self._transport.end()
