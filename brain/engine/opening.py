"""What may a brain be opened with? The store that a location or an object stands for, and options of the right kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from brain.analysis.analyzer import CompletesPrompts
from brain.config import Limits
from brain.engine.memory import check_identifier
from brain.errors import InputError, LocationError
from brain.model.policy import Policy
from brain.model.skill import utc_now
from brain.model.text import parse_time
from brain.store.base import Clock, Store
from brain.store.location import open_store

Memory = str | os.PathLike[str] | Store | Any
LanguageModel = CompletesPrompts | Callable[[str], str]


class Found(NamedTuple):
    """A store, whether it was opened here, and the log that is to be told of what was learned."""

    store: Store
    is_ours: bool
    log: Callable[..., Any] | None = None


def store_of(memory: Memory, namespace: str | None, clock: Clock | None, auth: Any) -> Found:
    """The store that `memory` names, is or holds: see `Brain`. Raises `InputError`, `StoreError`."""
    if not isinstance(memory, str | os.PathLike) and hasattr(memory, "namespace") and hasattr(memory, "outbox"):
        if not (namespace is None and clock is None and auth is None):
            raise InputError("A store has its own namespace, clock and credentials. Give them when you open it.")
        return Found(memory, is_ours=False)
    name = check_identifier("default" if namespace is None else namespace, "namespace")
    ticking = checked_clock(clock)
    if isinstance(memory, str | os.PathLike):
        return Found(open_store(location_of(memory), namespace=name, clock=ticking, auth=auth), is_ours=True)
    if auth is not None:
        raise InputError("auth goes with a location; this memory has its credentials already. Leave auth out.")
    try:
        from brain.store.redis import of_memory
    except ImportError as error:
        raise LocationError(
            f"memory is a {type(memory).__name__}; give a location such as sqlite:///brain.db, or a store. "
            'A Redis needs its client library: pip install "brain[redis]".'
        ) from error
    log = getattr(memory, "log", None)
    return Found(of_memory(memory, name, ticking), is_ours=True, log=log if callable(log) else None)


def location_of(place: object) -> str:
    """A location as it is; a path as that of an SQLite file. Raises `LocationError` for anything else."""
    if isinstance(place, os.PathLike):
        return f"sqlite:///{Path(os.fsdecode(place)).expanduser().absolute()}"
    if isinstance(place, str):
        return place
    raise LocationError(f"A location is text such as sqlite:///brain.db, or a path; this is a {type(place).__name__}.")


def checked_clock(clock: Clock | None) -> Clock:
    """The clock, by default the wall clock. Raises `InputError` if it gives no time."""
    if clock is None:
        return utc_now
    try:
        parse_time(clock())
    except (TypeError, ValueError) as error:
        raise InputError(
            f"clock must be a function without arguments that gives a datetime (UTC), not {clock!r}: {error}."
        ) from error
    return clock


def checked_rules(policy: Policy | None, limits: Limits | None) -> tuple[Policy, Limits]:
    """Policy and limits, by default the usual ones. Raises `InputError` for anything else."""
    if not isinstance(policy, Policy | None):
        raise InputError(f"policy must be a Policy, such as Policy() or Policy.guide(), not {policy!r}.")
    if not isinstance(limits, Limits | None):
        raise InputError(f"limits must be Limits, such as Limits(steps=2000), not {limits!r}.")
    return policy or Policy(), limits or Limits.from_environment()


def check_options(llm_client: object, cache: object, loading: object, mirror: object, redact: object) -> None:
    """Raises `InputError` for an option of another kind."""
    if llm_client is not None and not callable(llm_client) and not callable(getattr(llm_client, "complete", None)):
        raise InputError(
            f"llm_client must be a function from a prompt to an answer, or an object with complete(prompt), "
            f"not {llm_client!r}."
        )
    if not isinstance(cache, bool):
        raise InputError(f"cache must be True or False, not {cache!r}. BRAIN_CACHE_DIR names the folder.")
    if not isinstance(redact, bool):
        raise InputError(f"redact must be True or False, not {redact!r}.")
    if loading is not None and not callable(loading):
        raise InputError(f"loading must be a function of two whole numbers, done and total, not {loading!r}.")
    if not isinstance(mirror, str | None):
        raise InputError(f"mirror must be the location of a Redis, such as redis://localhost:6379/0, not {mirror!r}.")
