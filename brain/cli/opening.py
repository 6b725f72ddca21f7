"""How does a command reach the skills? The store and the brain that its options name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from brain.cli.output import Output
from brain.config import default_location
from brain.errors import InputError, LocationError, StoreError

if TYPE_CHECKING:
    from brain.engine.live import Loading
    from brain.engine.sync import SyncBrain
    from brain.store.base import Store


@contextmanager
def opened_store(location: str | None, namespace: str, *, existing: bool = False) -> Iterator[Store]:
    """The store at `location`, without touching its schema. An `existing` one is not made where there is none."""
    from brain.engine.memory import check_identifier
    from brain.store.location import is_missing, open_store

    check_identifier(namespace, "namespace")
    _check_location(location)
    if existing and location and is_missing(location):
        raise LocationError(f"There is nothing at {location}. Check the path.", location)
    store = open_store(location or default_location(), namespace=namespace)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def opened(
    location: str | None,
    namespace: str,
    embedder: str | None = None,
    *,
    check_embedding: bool = True,
    loading: Loading | None = None,
    redact: bool = False,
) -> Iterator[SyncBrain]:
    """The brain at `location`, its schema up to date; `loading` is told how far its recall index was read."""
    from brain.engine.sync import SyncBrain

    _check_location(location)
    with SyncBrain.open(
        location,
        embedder=embedder,
        namespace=namespace,
        loading=loading,
        check_embedding=check_embedding,
        redact=redact,
    ) as brain:
        yield brain


def mention_unused_vectors(brain: SyncBrain, embedder: str | None, output: Output) -> None:
    """Tells that the store holds vectors of a model, if the command was given none."""
    if embedder is None and not output.quiet:
        stored = brain.stats().embedding
        if stored:
            output.notice(
                f"The skills have vectors of {stored.model!r}; --embedder or BRAIN_EMBEDDER puts them to use."
            )


def no_skills(brain: SyncBrain, location: str | None) -> str:
    """What to say of a brain without skills that was opened at `location`: whether some wait to be let in."""
    from brain.skillfiles.quarantine import SUFFIX, quarantine_of

    where = f"There are no skills in namespace {brain.namespace!r} at {brain.location}"
    waiting = 0
    if not brain.namespace.endswith(SUFFIX):
        # a namespace whose name is too long has none, and a user of a Redis may be kept from it
        with suppress(InputError, StoreError), opened_store(location, quarantine_of(brain.namespace)) as store:
            waiting = store.count()
    if not waiting:
        return f"{where} yet; brain learn makes some."
    named = "" if brain.namespace == "default" else f" --namespace {brain.namespace}"
    wait = "skill waits" if waiting == 1 else "skills wait"
    return (
        f"{where}, but {waiting} imported {wait} in quarantine: brain approve{named} lists them, with ids or --all it "
        "lets them in."
    )


def _check_location(location: str | None) -> None:
    if location == "":
        raise LocationError("The location is empty. Give one such as sqlite:///skills.db, or leave --store out.")
