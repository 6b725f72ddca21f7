"""What can one ask of a brain, without `await`? `SyncBrain`: learn, recall, feedback, forgetting, looking around."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from brain.analysis.analyzer import ContextAnalyzer
from brain.config import DEFAULT_MIN_SCORE, DEFAULT_TOP_K, Limits, cache_folder, default_location
from brain.engine import listing
from brain.engine.delivery import delivery_to
from brain.engine.embedding import Embedder, Embedding, embedding_of
from brain.engine.graph import SkillGraph
from brain.engine.learning import Learner
from brain.engine.listing import Listing, LiveListing, SkillOrder
from brain.engine.live import Loading
from brain.engine.memory import SkillMemory, check_identifier, check_skill_id
from brain.engine.opening import (
    LanguageModel,
    Memory,
    check_options,
    checked_rules,
    location_of,
    store_of,
)
from brain.engine.snapshot import SnapshotFile, Snapshots
from brain.engine.stats import EXPIRING, TRACES, stats_of, summary_of, traces_of
from brain.engine.telemetry import FEEDBACK, LEARN, LEARN_MANY
from brain.engine.telling import LearningLog
from brain.engine.transfer import SkillTransferEngine
from brain.errors import InputError
from brain.model.candidate import RecallVerdict, TransferCandidate
from brain.model.inputs import ContextLike, Execution, OutcomeLike, TraceLike
from brain.model.policy import Policy
from brain.model.provenance import StoredTrace
from brain.model.receipts import FeedbackReceipt, LearnReceipt, LearnReport
from brain.model.skill import PROCEDURAL, Skill
from brain.model.stats import Stats
from brain.store.base import Clock, Store
from brain.store.values import EmbeddingStamp, new_operation

if TYPE_CHECKING:
    from brain.engine.doctor import Diagnosis
    from brain.engine.dump import Dumped
    from brain.engine.moving import Moved

log = logging.getLogger(__name__)

LEARNED_AT_ONCE = 100
"""Executions that `learn_many` learns in one transaction."""
REEMBED_BATCH = 64
"""Texts that are embedded at a time."""


class SyncBrain:
    """The verbs of `Brain` without `await`, made and opened by the same arguments. `brain.sync` is one."""

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
        rules, caps = checked_rules(policy, limits)
        check_options(llm_client, cache, loading, mirror, redact)
        embedding = embedding_of(embedder, rules)
        found = store_of(memory, namespace, clock, auth)
        try:
            store = found.store
            store.migrate()
            if embedding and check_embedding:
                embedding.check(store.embedding_stamp(), store.location)
            snapshots = _snapshots(store, embedding, rules) if cache else None
            self._delivery = delivery_to(mirror, store)
        except BaseException:
            if found.is_ours:
                found.store.close()
            raise
        self._store = self._delivery.around(store) if self._delivery else store
        self._memory = SkillMemory(
            self._store,
            analyzer=ContextAnalyzer(llm_client, rules),
            embedding=embedding,
            policy=rules,
            limits=caps,
            snapshots=snapshots,
            loading=loading,
            redact=redact,
        )
        self._listing = LiveListing(self._store, loading)
        self._learner = Learner(self._memory, LearningLog(found.log).tell if found.log else None)
        self.skill_graph = SkillGraph(self._memory)
        self.transfer_engine = SkillTransferEngine(self._memory)

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

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.location!r}, namespace={self.namespace!r})"

    def close(self) -> None:
        if self._delivery:
            self._delivery.close()
        self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def location(self) -> str:
        return self._store.location

    @property
    def redacted(self) -> dict[str, int]:
        return self._memory.secrets.counts

    @property
    def namespace(self) -> str:
        return self._store.namespace

    @property
    def context_analyzer(self) -> ContextAnalyzer:
        return self._memory.analyzer

    # Learn, recall, feedback

    def learn(
        self,
        execution_trace: TraceLike,
        context: ContextLike,
        outcome: OutcomeLike,
        skill_name: str | None = None,
    ) -> Skill | None:
        return self.observe(execution_trace, context, outcome, skill_name).skill

    def observe(
        self,
        execution_trace: TraceLike,
        context: ContextLike,
        outcome: OutcomeLike,
        skill_name: str | None = None,
        *,
        trace_id: str | None = None,
        skill_id: str | None = None,
        derived_from: Sequence[str] = (),
        skill_type: str = PROCEDURAL,
    ) -> LearnReceipt:
        execution = {
            "execution_trace": execution_trace,
            "context": context,
            "outcome": outcome,
            "skill_name": skill_name,
            "trace_id": trace_id,
            "skill_id": skill_id,
            "derived_from": derived_from,
            "skill_type": skill_type,
        }
        with self._memory.telemetry.operation(LEARN) as tell:
            receipt = self._learner.observe(execution)
            tell(receipt)
        log.info("%s", receipt.reason)
        return receipt

    def learn_many(
        self,
        executions: Iterable[Execution | Mapping[str, Any]],
        *,
        batch_size: int = LEARNED_AT_ONCE,
        each: Callable[[int, LearnReceipt], Any] | None = None,
    ) -> LearnReport:
        with self._memory.telemetry.operation(LEARN_MANY) as tell:
            report = self._learner.learn_many(executions, batch_size, each)
            tell(report)
        return report

    def preview(
        self,
        execution_trace: TraceLike,
        context: ContextLike,
        outcome: OutcomeLike,
        skill_name: str | None = None,
    ) -> Skill:
        parts = {"execution_trace": execution_trace, "context": context, "outcome": outcome}
        return self._learner.preview({**parts, "skill_name": skill_name})

    def recall(
        self,
        context: ContextLike,
        top_k: int = DEFAULT_TOP_K,
        min_score: float = DEFAULT_MIN_SCORE,
        *,
        skill_types: Collection[str] | None = None,
    ) -> list[TransferCandidate]:
        found = self.transfer_engine.find_transferable_skills(context, top_k, min_score, skill_types=skill_types)
        self._memory.sweep_lazily()
        return found

    def why(
        self,
        skill_id: str,
        context: ContextLike,
        top_k: int = DEFAULT_TOP_K,
        min_score: float = DEFAULT_MIN_SCORE,
        *,
        skill_types: Collection[str] | None = None,
    ) -> RecallVerdict:
        return self.transfer_engine.why(skill_id, context, top_k, min_score, skill_types=skill_types)

    def feedback(
        self,
        skill_id: str,
        context: ContextLike,
        success: bool,
        adaptations: dict[str, Any] | None = None,
        *,
        feedback_id: str | None = None,
    ) -> FeedbackReceipt:
        with self._memory.telemetry.operation(FEEDBACK) as tell:
            receipt = self._learner.feedback(skill_id, context, success, adaptations, feedback_id)
            tell(receipt)
        log.log(logging.INFO if receipt.recorded else logging.WARNING, "%s", receipt.reason)
        return receipt

    # Looking around

    def get_skills(self) -> list[Skill]:
        return self.skill_graph.list_skills()

    def iter_skills(self, tag: str | None = None) -> Iterator[Skill]:
        return self.skill_graph.iter_skills(tag)

    def get_skill(self, skill_id: str) -> Skill | None:
        return self.skill_graph.get_skill(skill_id)

    def get_skill_summary(self) -> dict[str, Any]:
        return summary_of(self._store)

    def listing(
        self,
        order: str | SkillOrder = SkillOrder.NAME,
        *,
        descending: bool = False,
        text: str = "",
        tag: str | None = None,
        around: str | None = None,
        offset: int = 0,
        limit: int | None = 50,
    ) -> Listing:
        return self._listing.look(listing.checked(order, descending, text, tag, around, offset, limit))

    def get_traces(self, skill_id: str, limit: int = TRACES) -> list[StoredTrace]:
        return traces_of(self._store, check_skill_id(skill_id), limit)

    def stats(self, expiring_within: timedelta = EXPIRING) -> Stats:
        return stats_of(self._store, expiring_within)

    # Upkeep

    def examine(self, *, repair: bool = False, progress: Callable[[int], Any] | None = None) -> Diagnosis:
        from brain.engine.doctor import examine

        return examine(self._memory, repair=repair, progress=progress or (lambda _: None))

    def dump(self, path: str | os.PathLike[str], *, progress: Callable[[int], Any] | None = None) -> Dumped:
        from brain.engine.dump import dump

        return dump(self._store, Path(path), progress=progress or (lambda _: None))

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        existing: str | None = None,
        vectors: bool = True,
        renew: bool = False,
        progress: Callable[[int], Any] | None = None,
    ) -> Moved:
        from brain.engine.dump import load_file

        told = progress or (lambda _: None)
        return load_file(Path(path), self._store, existing=existing, vectors=vectors, renew=renew, progress=told)

    def cleanup_expired_skills(self, progress: Callable[[int], Any] | None = None) -> dict[str, int]:
        return self._memory.sweep(progress)

    def reembed(self, progress: Callable[[int], Any] | None = None) -> int:
        embedding = self._memory.embedding
        if embedding is None:
            raise InputError("There is no embedder to embed with. Open the brain with one.")
        count = 0
        for page in self._store.pages(size=REEMBED_BATCH):
            vectors = embedding.encode([self._memory.embedded_text(skill) for skill in page])
            if not count:  # from here to the end, a run that is cut short is noticed at the next open
                self._stamp_vectors(embedding.unfinished_stamp)
            rows = [(skill.id, vector.tobytes()) for skill, vector in zip(page, vectors, strict=True)]
            self._store.set_vectors(rows, operation=new_operation())
            count += len(page)
            if progress:
                progress(len(page))
        self._stamp_vectors(embedding.stamp)
        return count

    def _stamp_vectors(self, stamp: EmbeddingStamp) -> None:
        self._store.set_embedding_stamp(stamp, self._store.embedding_stamp(), operation=new_operation())


def memory_of(brain: SyncBrain) -> SkillMemory:
    """What a brain works on, for the packages of this house that bring skills in and out as a whole."""
    return brain._memory


def _snapshots(store: Store, embedding: Embedding | None, policy: Policy) -> Snapshots | None:
    """Where the recall index of a store is kept. Nowhere for one in memory, or by the guide: it reads texts."""
    if store.location.endswith(":memory:") or policy.semantic == "guide":
        return None
    model = embedding.stamp.to_json() if embedding else ""
    file = SnapshotFile(cache_folder(), store.location, store.namespace, model)
    return Snapshots(file, lambda mark: store.note_mark(mark, operation=new_operation()))
