"""What is the front door? `Brain`: the guide's verbs, asynchronous; `brain.sync` has the same without `await`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from brain.analysis.analyzer import CompletesPrompts, ContextAnalyzer
from brain.config import DEFAULT_MIN_SCORE, DEFAULT_TOP_K, Limits
from brain.engine.embedding import Embedder
from brain.engine.graph import SkillGraph
from brain.engine.live import Loading
from brain.engine.memory import check_identifier
from brain.engine.sync import LEARNED_AT_ONCE, SyncBrain
from brain.engine.transfer import SkillTransferEngine
from brain.errors import InputError, LocationError
from brain.model.candidate import RecallVerdict, TransferCandidate
from brain.model.policy import Policy
from brain.model.receipts import FeedbackReceipt, LearnReceipt, LearnReport
from brain.model.skill import Skill, utc_now
from brain.store.base import Clock, Store


class Brain:
    """A procedural skill memory: learn from one task, recall for another, let feedback decide what lasts.

        async with Brain.open("sqlite:///brain.db") as brain:
            skill = await brain.learn(execution_trace, context, outcome)
            candidates = await brain.recall({"domain": "software_qa", "task": "find out why the build fails"})
            await brain.feedback(candidates[0].skill.id, {"domain": "software_qa"}, success=True)

    The work runs in a thread, so the event loop stays free; one brain serves many tasks, threads and loops.
    `memory` is a location (see `open`), a store, a Redis client, an object with one in `.redis` or `.client`, or one
    with `get`, `set`, `delete` and the like (guide, "Redis Storage Layout"); its `log`, if it has one, is told of what
    was learned. `namespace` and `clock` go with all but a store, `auth` with a location.
    """

    def __init__(
        self,
        memory: str | Store | Any,
        embedder: str | Embedder | None = None,
        llm_client: CompletesPrompts | Callable[[str], str] | None = None,
        *,
        namespace: str | None = None,
        policy: Policy | None = None,
        limits: Limits | None = None,
        clock: Clock | None = None,
        auth: Any = None,
        cache: bool = True,
        loading: Loading | None = None,
        mirror: str | None = None,
    ) -> None:
        if isinstance(memory, str):
            self.sync = SyncBrain.open(
                memory,
                embedder=embedder,
                namespace="default" if namespace is None else namespace,
                policy=policy,
                llm_client=llm_client,
                limits=limits,
                clock=clock or utc_now,
                auth=auth,
                cache=cache,
                loading=loading,
                mirror=mirror,
            )
            return
        store, log_to = _store_of(memory, namespace, clock, auth)
        self.sync = SyncBrain(
            store,
            embedder=embedder,
            llm_client=llm_client,
            policy=policy,
            limits=limits,
            cache=cache,
            loading=loading,
            mirror=mirror,
            log_to=log_to,
        )

    @classmethod
    def open(
        cls,
        location: str | None = None,
        *,
        embedder: str | Embedder | None = None,
        namespace: str = "default",
        policy: Policy | None = None,
        llm_client: CompletesPrompts | Callable[[str], str] | None = None,
        limits: Limits | None = None,
        clock: Clock = utc_now,
        auth: Any = None,
        cache: bool = True,
        loading: Loading | None = None,
        mirror: str | None = None,
    ) -> Self:
        """Opens the brain at `location`, by default the one in `BRAIN_STORE`, else a file in the user's data folder.

        Locations: `sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite://:memory:`, `neo4j://host:7687`,
        `bolt://host:7687`, with `+s` for TLS, `user:password@` before the host and `?database=name` behind it.
        `embedder` is an object with `encode(texts)` or a model's name for sentence-transformers. `clock` gives the
        time (UTC). `auth` is what the Neo4j driver takes as such.

        The first recall reads what it needs of every skill, and keeps that in the user's cache folder from 1 000 skills
        on, so that the next process begins at once; `cache=False` does without. `loading(done, total)` is called while
        it is read.

        `mirror` is a Redis (`redis://host:6379/0`) that is to hold what the store holds, in OrKa's layout. The store
        notes it, so that every process delivers to it; a mirror that is down holds up nobody, and catches up later. See
        `brain redis --help`.

        Raises `LocationError`, `StoreUnavailableError`, `AuthenticationError`, `SchemaError`, `EmbeddingError`.
        """
        brain = cls.__new__(cls)
        brain.sync = SyncBrain.open(
            location,
            embedder=embedder,
            namespace=namespace,
            policy=policy,
            llm_client=llm_client,
            limits=limits,
            clock=clock,
            auth=auth,
            cache=cache,
            loading=loading,
            mirror=mirror,
        )
        return brain

    def close(self) -> None:
        """Frees the store's connections."""
        self.sync.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def location(self) -> str:
        """Where the skills are kept, without credentials."""
        return self.sync.location

    @property
    def namespace(self) -> str:
        """The namespace that every verb reads and writes."""
        return self.sync.namespace

    @property
    def skill_graph(self) -> SkillGraph:
        """Skills and edges directly; synchronous, as in the guide."""
        return self.sync.skill_graph

    @property
    def transfer_engine(self) -> SkillTransferEngine:
        """Scoring of skills against a task; synchronous."""
        return self.sync.transfer_engine

    @property
    def context_analyzer(self) -> ContextAnalyzer:
        """The analysis that every verb uses."""
        return self.sync.context_analyzer

    async def learn(
        self,
        execution_trace: dict[str, Any],
        context: dict[str, Any],
        outcome: dict[str, Any],
        skill_name: str | None = None,
    ) -> Skill | None:
        """Turns an execution into a skill, or reinforces the stored skill that does the same (guide, "1. Learn").

        `execution_trace` has `steps` (texts, or objects with `action`), else `agents`; `context` a `task` and its
        `domain`; `outcome` has `success` (true or false) and a `quality` of 0..1. Returns the skill as stored; None if
        the outcome was a failure and nothing stored matches. Raises `InputError` and writes nothing if the input is
        not valid.
        """
        return await asyncio.to_thread(self.sync.learn, execution_trace, context, outcome, skill_name)

    async def observe(
        self,
        execution_trace: dict[str, Any],
        context: dict[str, Any],
        outcome: dict[str, Any],
        skill_name: str | None = None,
        *,
        trace_id: str | None = None,
        skill_id: str | None = None,
        derived_from: Sequence[str] = (),
    ) -> LearnReceipt:
        """`learn` with a receipt that says what happened and why.

        The same `trace_id` again changes nothing ("already_seen"). `skill_id` is the id of a new skill; it is refused
        with `ConflictError` if another skill has it. `derived_from` names skills that were recalled and used: the
        skill gets a DERIVES_FROM edge to each, and each gets a TRANSFERRED_TO edge back where the domain differs.
        """
        return await asyncio.to_thread(
            self.sync.observe,
            execution_trace,
            context,
            outcome,
            skill_name,
            trace_id=trace_id,
            skill_id=skill_id,
            derived_from=derived_from,
        )

    async def learn_many(
        self,
        executions: Iterable[Mapping[str, Any]],
        *,
        batch_size: int = LEARNED_AT_ONCE,
        each: Callable[[int, LearnReceipt], Any] | None = None,
    ) -> LearnReport:
        """`observe` for many executions, a batch in one transaction: all of it or none.

        Each execution is an object with `execution_trace`, `context` and `outcome`, and optionally `skill_name`,
        `trace_id`, `skill_id` and `derived_from`; they are read one batch at a time. One that is not valid, or names a
        skill that is missing or taken, is refused and reported with its place, and the others are learned.
        `each(place, receipt)` is called, in the thread that works, for every one that was learned. Raises `InputError`
        for a wrong `batch_size`; a `StoreError` leaves the batches before it learned and its own not.
        """
        return await asyncio.to_thread(self.sync.learn_many, executions, batch_size=batch_size, each=each)

    async def preview(
        self,
        execution_trace: dict[str, Any],
        context: dict[str, Any],
        outcome: dict[str, Any],
        skill_name: str | None = None,
    ) -> Skill:
        """The skill that `learn` would create if nothing stored did the same, without storing it.

        It has an id of its own. Whether the outcome was a success makes no difference. Raises `InputError`.
        """
        return await asyncio.to_thread(self.sync.preview, execution_trace, context, outcome, skill_name)

    async def recall(
        self, context: dict[str, Any], top_k: int = DEFAULT_TOP_K, min_score: float = DEFAULT_MIN_SCORE
    ) -> list[TransferCandidate]:
        """The `top_k` stored skills that fit a task best, with a combined score of at least `min_score` (0..1).

        `context` has a `task`, optionally its `domain` and planned `steps`. At most once an hour, expired skills are
        removed on the way (guide, "Cleanup"). Raises `InputError`.
        """
        return await asyncio.to_thread(self.sync.recall, context, top_k, min_score)

    async def why(
        self,
        skill_id: str,
        context: dict[str, Any],
        top_k: int = DEFAULT_TOP_K,
        min_score: float = DEFAULT_MIN_SCORE,
    ) -> RecallVerdict:
        """Why `recall` with the same arguments returns a skill, or does not, with all that its score rests on.

        A skill is left out below `min_score`, below the policy's floor of semantic evidence, or because `top_k` others
        fit better. Raises `SkillNotFoundError` if there is no such skill or it has expired, `InputError`.
        """
        return await asyncio.to_thread(self.sync.why, skill_id, context, top_k, min_score)

    async def feedback(
        self,
        skill_id: str,
        context: dict[str, Any],
        success: bool,
        adaptations: dict[str, Any] | None = None,
    ) -> FeedbackReceipt:
        """Records how an applied skill did: confidence, success rate, history and expiry move (guide, "4. Feedback").

        An unknown id raises nothing: a warning is logged and the receipt says `recorded=False`.
        """
        return await asyncio.to_thread(self.sync.feedback, skill_id, context, success, adaptations)

    async def get_skills(self) -> list[Skill]:
        """All live skills, by id. `iter_skills` does not hold them all at once."""
        return await asyncio.to_thread(self.sync.get_skills)

    async def get_skill(self, skill_id: str) -> Skill | None:
        """The live skill with this id, or None."""
        return await asyncio.to_thread(self.sync.get_skill, skill_id)

    async def get_skill_summary(self) -> dict[str, Any]:
        """Totals over the live skills, and the five most used (guide, "Introspection")."""
        return await asyncio.to_thread(self.sync.get_skill_summary)

    def iter_skills(self, tag: str | None = None) -> Iterator[Skill]:
        """All live skills, or those with exactly this tag, by id, read a page at a time. Synchronous."""
        return self.sync.iter_skills(tag)

    def cleanup_expired_skills(self, progress: Callable[[int], Any] | None = None) -> dict[str, int]:
        """Removes every expired skill: {"deleted": N, "checked": M}. Synchronous, as in the guide.

        `progress` is told how many each batch removed.
        """
        return self.sync.cleanup_expired_skills(progress)

    async def reembed(self, progress: Callable[[int], Any] | None = None) -> int:
        """Embeds every live skill anew with the embedder at hand; how many. `progress` is told of each batch."""
        return await asyncio.to_thread(self.sync.reembed, progress)


def _store_of(
    memory: Any, namespace: str | None, clock: Clock | None, auth: Any
) -> tuple[Store, Callable[..., Any] | None]:
    """The store that `memory` is or holds, and the log that is to be told of what was learned."""
    if hasattr(memory, "namespace") and hasattr(memory, "outbox"):
        if not (namespace is None and clock is None and auth is None):
            raise InputError("A store has its own namespace, clock and credentials. Give them when you open it.")
        return memory, None
    if auth is not None:
        raise InputError("auth goes with a location; this memory has its credentials already.")
    try:
        from brain.store.redis import of_memory
    except ImportError as error:
        raise LocationError(
            f"memory is a {type(memory).__name__}; give a location such as sqlite:///brain.db, or a store. "
            'A Redis needs its client library: pip install "brain[redis]".'
        ) from error
    name = "default" if namespace is None else check_identifier(namespace, "namespace")
    log_to = getattr(memory, "log", None)
    return of_memory(memory, name, clock or utc_now), log_to if callable(log_to) else None
