"""When is the store of an asynchronous brain opened, and how closed? `Opening`: never in the way of an event loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from brain.config import Limits, default_location
from brain.engine.embedding import Embedder
from brain.engine.live import Loading
from brain.engine.memory import check_identifier
from brain.engine.opening import LanguageModel, Memory, location_of
from brain.engine.sync import SyncBrain
from brain.errors import StoreError
from brain.model.policy import Policy
from brain.store.base import Clock

P = ParamSpec("P")
T = TypeVar("T")


class Opening:
    """What `Brain` has beside its verbs: it is made, opened and closed, and works in a thread."""

    def __init__(
        self,
        memory: Memory,
        embedder: str | Embedder | None = None,
        llm_client: LanguageModel | None = None,
        *,
        namespace: str | None = None,
        policy: Policy | None = None,
        limits: Limits | None = None,
        clock: Clock | None = None,
        auth: Any = None,
        cache: bool = True,
        loading: Loading | None = None,
        mirror: str | None = None,
        redact: bool = False,
        check_embedding: bool = True,
    ) -> None:
        self._open = partial(
            SyncBrain,
            memory,
            embedder,
            llm_client,
            namespace=namespace,
            policy=policy,
            limits=limits,
            clock=clock,
            auth=auth,
            cache=cache,
            loading=loading,
            mirror=mirror,
            redact=redact,
            check_embedding=check_embedding,
        )
        self._opened: SyncBrain | None = None
        self._closed, self._opening = False, threading.Lock()
        if not _in_event_loop():
            self._opened = self._open()

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str] | None = None,
        *,
        embedder: str | Embedder | None = None,
        llm_client: LanguageModel | None = None,
        namespace: str = "default",
        policy: Policy | None = None,
        limits: Limits | None = None,
        clock: Clock | None = None,
        auth: Any = None,
        cache: bool = True,
        loading: Loading | None = None,
        mirror: str | None = None,
        redact: bool = False,
        check_embedding: bool = True,
    ) -> Self:
        """Opens the brain at `location`, by default the one in `BRAIN_STORE`, else a file in the user's data folder.

        Locations: `sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite://:memory:`, `neo4j://host:7687`,
        `bolt://host:7687`, with `+s` for TLS, `user:password@` before the host and `?database=name` behind it,
        `redis://host:6379/0`. A `pathlib.Path` is an SQLite file.

        `embedder` is an object with `encode(texts)` or a model's name for sentence-transformers. `llm_client` is asked
        for a context's features when something is learned. `limits` are by default those of `BRAIN_LIMITS`. `clock`
        gives the time (UTC). `auth` is what the Neo4j driver takes as such.

        The first recall reads what it needs of every skill, and keeps that in the user's cache folder from 1 000 skills
        on, so that the next process begins at once; `cache=False` does without. `loading(done, total)` is called while
        it is read.

        `mirror` is a Redis (`redis://host:6379/0`) that is to hold what the store holds, in OrKa's layout. The store
        notes it, so that every process delivers to it; a mirror that is down holds up nobody, and catches up later. See
        `brain redis --help`.

        With `redact`, API keys, tokens, passwords, private keys and e-mail addresses are replaced in whatever is
        learned, fed back or saved, before it is stored; `redacted` counts them. Contexts to recall for are treated
        alike.

        `check_embedding=False` lets `reembed` replace the vectors of another model; do nothing else before.

        Raises `InputError`, `LocationError`, `StoreUnavailableError`, `AuthenticationError`, `SchemaError`,
        `EmbeddingError`.
        """
        return cls(
            location_of(default_location() if location in (None, "") else location),
            embedder,
            llm_client,
            namespace=check_identifier(namespace, "namespace"),
            policy=policy,
            limits=limits,
            clock=clock,
            auth=auth,
            cache=cache,
            loading=loading,
            mirror=mirror,
            redact=redact,
            check_embedding=check_embedding,
        )

    @property
    def sync(self) -> SyncBrain:
        """The same verbs without `await`. Opens the store now if it is not open yet."""
        with self._opening:
            if self._opened is None:
                if self._closed:
                    raise StoreError("The brain was closed. Open it again.")
                self._opened = self._open()
            return self._opened

    def close(self) -> None:
        """Frees the store's connections."""
        with self._opening:
            self._closed = True
            if self._opened:
                self._opened.close()

    async def __aenter__(self) -> Self:
        try:
            await asyncio.to_thread(lambda: self.sync)
        except asyncio.CancelledError:  # the thread goes on; what it opens is closed by another that waits for it
            asyncio.get_running_loop().run_in_executor(None, self.close)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        _ = self.sync
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        opened = self._opened
        if opened is None:
            return f"<{type(self).__name__}, not open>"
        return f"{type(self).__name__}({opened.location!r}, namespace={opened.namespace!r})"

    async def _do(self, verb: Callable[Concatenate[SyncBrain, P], T], /, *args: P.args, **named: P.kwargs) -> T:
        """What a verb of `SyncBrain` gives, in a thread."""
        return await asyncio.to_thread(lambda: verb(self.sync, *args, **named))


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
