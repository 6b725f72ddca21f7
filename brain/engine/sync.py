"""What can one ask of a brain, without `await`? `SyncBrain`: learn, recall, feedback, forgetting, looking around."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from brain.analysis.analyzer import CompletesPrompts, ContextAnalyzer
from brain.config import DEFAULT_MIN_SCORE, DEFAULT_TOP_K, Limits, cache_folder, default_location
from brain.engine.delivery import delivery_to
from brain.engine.embedding import Embedder, Embedding, load_embedder
from brain.engine.graph import SkillGraph
from brain.engine.learning import Learner
from brain.engine.live import Loading
from brain.engine.memory import SkillMemory, check_identifier
from brain.engine.snapshot import SnapshotFile, Snapshots
from brain.engine.telling import LearningLog
from brain.engine.transfer import SkillTransferEngine
from brain.errors import InputError
from brain.model.candidate import RecallVerdict, TransferCandidate
from brain.model.policy import Policy
from brain.model.receipts import FeedbackReceipt, LearnReceipt, LearnReport
from brain.model.skill import Skill, utc_now
from brain.store.base import Clock, Store
from brain.store.location import open_store
from brain.store.values import EmbeddingStamp, new_operation

log = logging.getLogger(__name__)

TOP_SKILLS = 5
"""Skills that a summary names."""
LEARNED_AT_ONCE = 100
"""Executions that `learn_many` learns in one transaction."""
REEMBED_BATCH = 64
"""Texts that are embedded at a time."""


class SyncBrain:
    """The verbs of `Brain` without `await`. `brain.sync` is one; `Brain` says what each verb does."""

    def __init__(
        self,
        store: Store,
        *,
        embedder: str | Embedder | None = None,
        llm_client: CompletesPrompts | Callable[[str], str] | None = None,
        policy: Policy | None = None,
        limits: Limits | None = None,
        check_embedding: bool = True,
        cache: bool = True,
        loading: Loading | None = None,
        mirror: str | None = None,
        log_to: Callable[..., Any] | None = None,
    ) -> None:
        policy = policy or Policy()
        loaded = load_embedder(embedder)
        kind = "guide" if policy.semantic == "guide" else "procedure"
        name = embedder if isinstance(embedder, str) else ""
        embedding = Embedding(loaded, kind, name) if loaded is not None else None
        self._store = store
        self._memory = SkillMemory(
            store,
            analyzer=ContextAnalyzer(llm_client, policy),
            embedding=embedding,
            policy=policy,
            limits=limits or Limits(),
            snapshots=_snapshots(store, embedding, policy) if cache else None,
            loading=loading,
        )
        self._learner = Learner(self._memory)
        self.skill_graph = SkillGraph(self._memory)
        self.transfer_engine = SkillTransferEngine(self._memory)
        store.migrate()
        if embedding and check_embedding:
            embedding.check(store.embedding_stamp(), store.location)
        self._log = LearningLog(log_to) if log_to else None
        self._delivery = delivery_to(mirror, store)

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
        check_identifier(namespace, "namespace")
        store = open_store(location or default_location(), namespace=namespace, clock=clock, auth=auth)
        try:
            return cls(
                store,
                embedder=embedder,
                llm_client=llm_client,
                policy=policy,
                limits=limits,
                cache=cache,
                loading=loading,
                mirror=mirror,
            )
        except BaseException:
            store.close()
            raise

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
    def namespace(self) -> str:
        return self._store.namespace

    @property
    def context_analyzer(self) -> ContextAnalyzer:
        return self._memory.analyzer

    # Learn, recall, feedback

    def learn(
        self,
        execution_trace: dict[str, Any],
        context: dict[str, Any],
        outcome: dict[str, Any],
        skill_name: str | None = None,
    ) -> Skill | None:
        return self.observe(execution_trace, context, outcome, skill_name).skill

    def observe(
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
        receipt = self._learner.observe(execution_trace, context, outcome, skill_name, trace_id, skill_id, derived_from)
        log.info("%s", receipt.reason)
        if self._log:
            self._log.tell(receipt, context, outcome)
        return receipt

    def learn_many(
        self,
        executions: Iterable[Mapping[str, Any]],
        *,
        batch_size: int = LEARNED_AT_ONCE,
        each: Callable[[int, LearnReceipt], Any] | None = None,
    ) -> LearnReport:
        if self._log:
            executions, each = self._log.following(executions, each)
        return self._learner.learn_many(executions, batch_size, each)

    def preview(
        self,
        execution_trace: dict[str, Any],
        context: dict[str, Any],
        outcome: dict[str, Any],
        skill_name: str | None = None,
    ) -> Skill:
        return self._learner.preview(execution_trace, context, outcome, skill_name)

    def recall(
        self, context: dict[str, Any], top_k: int = DEFAULT_TOP_K, min_score: float = DEFAULT_MIN_SCORE
    ) -> list[TransferCandidate]:
        found = self.transfer_engine.find_transferable_skills(context, top_k, min_score)
        self._memory.sweep_lazily()
        return found

    def why(
        self,
        skill_id: str,
        context: dict[str, Any],
        top_k: int = DEFAULT_TOP_K,
        min_score: float = DEFAULT_MIN_SCORE,
    ) -> RecallVerdict:
        return self.transfer_engine.why(skill_id, context, top_k, min_score)

    def feedback(
        self,
        skill_id: str,
        context: dict[str, Any],
        success: bool,
        adaptations: dict[str, Any] | None = None,
    ) -> FeedbackReceipt:
        receipt = self._learner.feedback(skill_id, context, success, adaptations)
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
        summary = self._store.summary(TOP_SKILLS)
        summary["top_skills"] = [
            {
                "name": skill.name,
                "id": skill.id,
                "confidence": skill.confidence,
                "usage_count": skill.usage_count,
                "transfer_count": skill.transfer_count,
            }
            for skill in summary["top_skills"]
        ]
        return summary

    # Upkeep

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


def _snapshots(store: Store, embedding: Embedding | None, policy: Policy) -> Snapshots | None:
    """Where the recall index of a store is kept. Nowhere for one in memory, or by the guide: it reads texts."""
    if store.location.endswith(":memory:") or policy.semantic == "guide":
        return None
    model = embedding.stamp.to_json() if embedding else ""
    file = SnapshotFile(cache_folder(), store.location, store.namespace, model)
    return Snapshots(file, lambda mark: store.note_mark(mark, operation=new_operation()))
