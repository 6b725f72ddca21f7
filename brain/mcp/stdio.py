"""How does a client that started the server talk to it? Line by line over standard input and output.

The SDK's own reader sits in a thread until a line comes, so that Ctrl-C would wait for it; it drops what it cannot read
without an answer, and at the end of input the requests that are still worked on. This one can be given up at any time,
has a cap on the length of a message, answers nonsense with the protocol's errors, and lets requests be finished.
Writing is left to the SDK, which also sends to stderr what anything prints by accident.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, Self, cast

import anyio
import anyio.from_thread
import anyio.lowlevel
from anyio.abc import ObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from brain.errors import ServingError

log = logging.getLogger(__name__)

LONGEST_MESSAGE = 4 * 1024 * 1024
"""Bytes of one message; the SDK has the same cap for HTTP."""
FINISHING_SECONDS = 30.0
"""How long requests may still be worked on after the end of input."""
_CHUNK = 65_536

RequestId = str | int


class Stdio:
    """The transport of a server that its client has started."""

    def __init__(self) -> None:
        if sys.stdin is None or sys.stdout is None:
            raise ServingError("Standard input or output is closed. Let the client start the server with both open.")
        self._scope: anyio.CancelScope | None = None
        self._ended = False

    async def serve(self, server: Server[Any]) -> None:
        """Answers until the client closes standard input, or `end` is called."""
        requests = _OpenRequests()
        lines = _Lines(os.dup(sys.stdin.fileno()), requests)
        with anyio.CancelScope() as self._scope:
            if self._ended:
                return
            async with (
                stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (read, write),
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(lines.answer_faults, write)
                await server.run(read, _Answers(write, requests), server.create_initialization_options())
                tasks.cancel_scope.cancel()

    def end(self) -> None:
        """Lets `serve` end without waiting for input."""
        self._ended = True
        if self._scope:
            self._scope.cancel()


class _OpenRequests:
    """The requests that have no answer yet, by their ids."""

    def __init__(self) -> None:
        self._ids: set[RequestId] = set()
        self._none = anyio.Event()

    def came(self, message: dict[str, Any]) -> None:
        """A message of the client's: a request, or the word that one is no longer waited for."""
        request = _id_of(message, "id")
        if "method" in message and request is not None:
            self._ids.add(request)
        elif message.get("method") == "notifications/cancelled" and isinstance(message.get("params"), dict):
            self.settled(_id_of(message["params"], "requestId"))

    def settled(self, request: RequestId | None) -> None:
        """A request was answered, or is not to be."""
        if request is not None:
            self._ids.discard(request)
        if not self._ids:
            self._none.set()

    async def none_is_left(self) -> None:
        """Waits until every request has its answer."""
        while self._ids:
            self._none = anyio.Event()
            await self._none.wait()


class _Answers:
    """Where the server writes; notes which requests have their answer."""

    def __init__(self, write: ObjectSendStream[SessionMessage], requests: _OpenRequests) -> None:
        self._write, self._requests = write, requests

    async def send(self, item: SessionMessage, /) -> None:
        await self._write.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._requests.settled(item.message.id)

    async def aclose(self) -> None:
        await self._write.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Lines:
    """The messages that come in, a line each, as text."""

    def __init__(self, descriptor: int, requests: _OpenRequests) -> None:
        self._descriptor, self._requests = descriptor, requests
        self._lines, self._come = anyio.create_memory_object_stream[bytes | None](0)
        self._faults, self._found = anyio.create_memory_object_stream[JSONRPCError](0)

    async def answer_faults(self, write: ObjectSendStream[SessionMessage]) -> None:
        """Sends the errors for what could not be read."""
        async for fault in self._found:
            await write.send(SessionMessage(fault))

    async def __aiter__(self) -> AsyncIterator[str]:
        """Every line that is a message; the others are answered. Ends when the requests before the end are answered."""
        token = anyio.lowlevel.current_token()
        threading.Thread(target=self._read, args=(token,), daemon=True, name="brain-mcp-stdin").start()
        async for line in self._come:
            text = "" if line is None else line.decode("utf-8", "replace")
            message = _too_long() if line is None else _message_in(text)
            if isinstance(message, dict):
                self._requests.came(message)
                yield text
            elif line is None or text.strip():
                await self._faults.send(message)
        with anyio.move_on_after(FINISHING_SECONDS):
            await self._requests.none_is_left()

    def _read(self, token: Any) -> None:
        """Reads until the end, in a thread that may be left behind: it holds nothing that the others need."""
        try:
            for line in _split(self._descriptor):
                anyio.from_thread.run(self._lines.send, line, token=token)
            anyio.from_thread.run(self._lines.aclose, token=token)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, RuntimeError) as error:
            log.debug("Standard input is no longer read: %r", error)  # the server has ended


def _split(descriptor: int) -> Iterator[bytes | None]:
    """The lines that are read; None for one that is longer than `LONGEST_MESSAGE`."""
    parts: list[bytes] = []
    size = 0
    while chunk := _chunk(descriptor):
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            size += len(end)
            yield b"".join([*parts, end]) if size <= LONGEST_MESSAGE else None
            parts, size = [], 0
        size += len(rest)
        if size <= LONGEST_MESSAGE:
            parts.append(rest)
        else:
            parts.clear()
    if size:
        yield b"".join(parts) if size <= LONGEST_MESSAGE else None


def _chunk(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError as error:  # a terminal that is gone
        log.warning("Standard input cannot be read any more: %s", error)
        return b""


def _message_in(text: str) -> dict[str, Any] | JSONRPCError:
    """The message that a line holds, or what is wrong with it, under its id if that can be told."""
    message = _as_json(text)
    request = _id_of(message, "id")
    try:
        jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        if fault["type"] == "json_invalid":
            return _error(PARSE_ERROR, f"{fault['msg']}. Send one JSON-RPC message a line.", request)
        return _error(INVALID_REQUEST, "This is no JSON-RPC message: an object with jsonrpc, id and method.", request)
    if not isinstance(message, dict) or ("method" in message and "id" in message and request is None):
        return _error(INVALID_REQUEST, "The id of a request must be a text or a whole number.")
    return message


def _as_json(text: str) -> Any:
    """What a line says to a reader that takes more than JSON has, such as half of a pair of surrogates; None if
    nothing.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _id_of(message: Any, name: str) -> RequestId | None:
    """An id by which a request can be answered; None if there is none."""
    found = message.get(name) if isinstance(message, dict) else None
    if isinstance(found, str):
        return found if found.encode("utf-8", "ignore").decode() == found else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _too_long() -> JSONRPCError:
    return _error(PARSE_ERROR, f"The message is longer than {LONGEST_MESSAGE} bytes. Send less at a time.")


def _error(code: int, message: str, request: RequestId | None = None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=message))
