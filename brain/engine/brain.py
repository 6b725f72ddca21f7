"""What is the front door? `Brain`: the guide's verbs, asynchronous; `brain.sync` has the same without `await`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from brain.analysis.analyzer import ContextAnalyzer
from brain.config import DEFAULT_MIN_SCORE, DEFAULT_TOP_K
from brain.engine.docstrings import share_docstrings
from brain.engine.graph import SkillGraph
from brain.engine.lifecycle import Opening
from brain.engine.listing import Listing, SkillOrder
from brain.engine.stats import EXPIRING, TRACES
from brain.engine.sync import LEARNED_AT_ONCE, SyncBrain
from brain.engine.transfer import SkillTransferEngine
from brain.model.candidate import RecallVerdict, TransferCandidate
from brain.model.inputs import ContextLike, Execution, OutcomeLike, TraceLike
from brain.model.provenance import StoredTrace
from brain.model.receipts import FeedbackReceipt, LearnReceipt, LearnReport
from brain.model.skill import PROCEDURAL, Skill
from brain.model.stats import Stats
from brain.store.base import PAGE

if TYPE_CHECKING:
    from brain.engine.doctor import Diagnosis
    from brain.engine.dump import Dumped
    from brain.engine.moving import Moved


class Brain(Opening):
    """A procedural skill memory: learn from one task, recall for another, let feedback decide what lasts.

        async with Brain.open("sqlite:///brain.db") as brain:
            skill = await brain.learn(execution_trace, context, outcome)
            candidates = await brain.recall({"domain": "software_qa", "task": "find out why the build fails"})
            await brain.feedback(candidates[0].skill.id, {"domain": "software_qa"}, success=True)

    The work runs in a thread, so the event loop stays free; one brain serves many tasks, threads and loops. Whatever
    takes a context, a trace or an outcome takes a dict or a `Context`, `ExecutionTrace` or `Outcome`.

    `memory` is a location or a path (see `open`), a store, a Redis client, an object with one in `.redis` or
    `.client`, or one with `get`, `set`, `delete` and the like (guide, "Redis Storage Layout"); its `log`, if it has
    one, is told of what was learned. `namespace` and `clock` go with all but a store, `auth` with a location.

    Made where no event loop runs, the brain opens its store at once. Inside one it does not hold it up: `async with`
    opens the store in a thread, or else the first verb, and raises then what opening raises.
    """

    @property
    def location(self) -> str:
        """Where the skills are kept, without credentials."""
        return self.sync.location

    @property
    def redacted(self) -> dict[str, int]:
        """How many secrets of each kind were replaced since the brain was opened, where it was with `redact`."""
        return self.sync.redacted

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
        execution_trace: TraceLike,
        context: ContextLike,
        outcome: OutcomeLike,
        skill_name: str | None = None,
    ) -> Skill | None:
        """Turns an execution into a skill, or reinforces the stored skill that does the same (guide, "1. Learn").

        `execution_trace` has `steps` (texts, or objects with `action`), else `agents`; `context` a `task` and its
        `domain`; `outcome` has `success` (true or false) and a `quality` of 0..1. Returns the skill as stored; None if
        the outcome was a failure and nothing stored matches. Raises `InputError` and writes nothing if the input is
        not valid.
        """
        return await self._do(SyncBrain.learn, execution_trace, context, outcome, skill_name)

    async def observe(
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
        """`learn` with a receipt that says what happened and why.

        The same `trace_id` again changes nothing ("already_seen"). `skill_id` is the id of a new skill; it is refused
        with `ConflictError` if another skill has it. `derived_from` names skills that were recalled and used: the
        skill gets a DERIVES_FROM edge to each, and each gets a TRANSFERRED_TO edge back where the domain differs.
        `skill_type` is any text; only skills of one type are taken for the same. An "anti_pattern" is what is not to be
        done, and `recall` leaves it out unless it is asked for.
        """
        return await self._do(
            SyncBrain.observe,
            execution_trace,
            context,
            outcome,
            skill_name,
            trace_id=trace_id,
            skill_id=skill_id,
            derived_from=derived_from,
            skill_type=skill_type,
        )

    async def learn_many(
        self,
        executions: Iterable[Execution | Mapping[str, Any]],
        *,
        batch_size: int = LEARNED_AT_ONCE,
        each: Callable[[int, LearnReceipt], Any] | None = None,
    ) -> LearnReport:
        """`observe` for many executions, a batch in one transaction: all of it or none.

        Each is an `Execution` or an object with `execution_trace` (or `trace`), `context` and `outcome`, and optionally
        `skill_name`, `skill_type`, `trace_id`, `skill_id` and `derived_from`; they are read one batch at a time. Other
        keys are not read, and named once in a warning. One that is not valid, or names a skill that is missing or
        taken, is refused and reported with its place, and the others are learned.
        `each(place, receipt)` is called, in the thread that works, for every one that was learned. Raises `InputError`
        for a wrong `batch_size`; a `StoreError` leaves the batches before it learned and its own not.
        """
        return await self._do(SyncBrain.learn_many, executions, batch_size=batch_size, each=each)

    async def preview(
        self,
        execution_trace: TraceLike,
        context: ContextLike,
        outcome: OutcomeLike,
        skill_name: str | None = None,
    ) -> Skill:
        """The skill that `learn` would create if nothing stored did the same, without storing it.

        It has an id of its own. Whether the outcome was a success makes no difference. Raises `InputError`.
        """
        return await self._do(SyncBrain.preview, execution_trace, context, outcome, skill_name)

    async def recall(
        self,
        context: ContextLike,
        top_k: int = DEFAULT_TOP_K,
        min_score: float = DEFAULT_MIN_SCORE,
        *,
        skill_types: Collection[str] | None = None,
    ) -> list[TransferCandidate]:
        """The `top_k` stored skills that fit a task best, with a combined score of at least `min_score` (0..1).

        `context` has a `task`, optionally its `domain` and planned `steps`. Only skills of `skill_types` are looked
        among; by default all but "anti_pattern", which is no advice. At most once an hour, expired skills are removed
        on the way (guide, "Cleanup"). Raises `InputError`.
        """
        return await self._do(SyncBrain.recall, context, top_k, min_score, skill_types=skill_types)

    async def why(
        self,
        skill_id: str,
        context: ContextLike,
        top_k: int = DEFAULT_TOP_K,
        min_score: float = DEFAULT_MIN_SCORE,
        *,
        skill_types: Collection[str] | None = None,
    ) -> RecallVerdict:
        """Why `recall` with the same arguments returns a skill, or does not, with all that its score rests on.

        A skill is left out below `min_score`, below the policy's floor of semantic evidence, because of its type, or
        because `top_k` others fit better. Raises `SkillNotFoundError` if there is no such skill or it has expired,
        `InputError`.
        """
        return await self._do(SyncBrain.why, skill_id, context, top_k, min_score, skill_types=skill_types)

    async def feedback(
        self,
        skill_id: str,
        context: ContextLike,
        success: bool,
        adaptations: dict[str, Any] | None = None,
        *,
        feedback_id: str | None = None,
    ) -> FeedbackReceipt:
        """Records how an applied skill did: confidence, success rate, history and expiry move (guide, "4. Feedback").

        An unknown id raises nothing: a warning is logged and the receipt says `recorded=False`.

        The same `feedback_id` again on the same skill counts once, from whichever process, and the receipt says
        `repeated=True`. It stands in the skill's transfer history, so it is known among the latest 100 applications of
        that skill.
        """
        return await self._do(SyncBrain.feedback, skill_id, context, success, adaptations, feedback_id=feedback_id)

    async def get_skills(self) -> list[Skill]:
        """All live skills, by id. `iter_skills` does not hold them all at once."""
        return await self._do(SyncBrain.get_skills)

    async def get_skill(self, skill_id: str) -> Skill | None:
        """The live skill with this id, or None."""
        return await self._do(SyncBrain.get_skill, skill_id)

    async def get_skill_summary(self) -> dict[str, Any]:
        """Totals over the live skills, and the five most used (guide, "Introspection")."""
        return await self._do(SyncBrain.get_skill_summary)

    def iter_skills(self, tag: str | None = None) -> Iterator[Skill]:
        """All live skills, or those with exactly this tag, by id, read a page at a time. Synchronous."""
        return self.sync.iter_skills(tag)

    async def stream_skills(self, tag: str | None = None) -> AsyncIterator[Skill]:
        """`iter_skills` for `async for`: each page is read in a thread."""
        found = await self._do(SyncBrain.iter_skills, tag)
        while page := await asyncio.to_thread(lambda: list(islice(found, PAGE))):
            for skill in page:
                yield skill

    async def listing(
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
        """A part of the live skills in an order, ties by id: `limit` of them (None: all) from place `offset` on.

        `order` is a name in `SkillOrder`. Every word of `text` must stand somewhere in name, id, domain or tags,
        without regard to case; `tag` is a tag to the letter. `around` is an id: the part is moved so that this skill is
        in it, if it is among them. The first call reads a few fields of every skill, later ones what changed. Raises
        `InputError`.
        """
        return await self._do(
            SyncBrain.listing,
            order,
            descending=descending,
            text=text,
            tag=tag,
            around=around,
            offset=offset,
            limit=limit,
        )

    async def get_traces(self, skill_id: str, limit: int = TRACES) -> list[StoredTrace]:
        """The executions that a live skill was learned from, the latest first, at most `limit`; none if unknown."""
        return await self._do(SyncBrain.get_traces, skill_id, limit)

    async def stats(self, expiring_within: timedelta = EXPIRING) -> Stats:
        """How the namespace stands: totals, what expires soon, vectors, mirror, schema; what `brain stats` prints."""
        return await self._do(SyncBrain.stats, expiring_within)

    async def examine(self, *, repair: bool = False, progress: Callable[[int], Any] | None = None) -> Diagnosis:
        """Checks every rule that the store keeps, as `brain doctor` does; with `repair`, mends what can be mended.

        A repair removes what has expired, as a sweep does. `progress` is told how many skills were looked at; each is
        looked at twice. Others may read and write meanwhile. Raises `StoreError`.
        """
        return await self._do(SyncBrain.examine, repair=repair, progress=progress)

    async def dump(self, path: str | os.PathLike[str], *, progress: Callable[[int], Any] | None = None) -> Dumped:
        """Writes all live skills to one file, with edges, history, versions, expiry, vectors and traces.

        A name that ends with `.gz` is compressed. The file is there when it is whole, and replaces an earlier dump;
        only this user may read it. `progress` is told how many skills were written. Raises `InputError`, `StoreError`.
        """
        return await self._do(SyncBrain.dump, path, progress=progress)

    async def load(
        self,
        path: str | os.PathLike[str],
        *,
        existing: str | None = None,
        vectors: bool = True,
        renew: bool = False,
        progress: Callable[[int], Any] | None = None,
    ) -> Moved:
        """Brings back the skills of a file that `dump` wrote; it is checked to its end before anything is written.

        `existing` says what becomes of a skill that is here, has the id of one that comes, and differs: "replace" it,
        "skip" the one that comes, or keep the "newer"; by default the file is refused. Without `vectors` those stay
        behind. What has expired since is left out; with `renew` it lives on from now. Raises `DumpError`, `InputError`,
        `EmbeddingError` for vectors of another model, `StoreError`.
        """
        return await self._do(SyncBrain.load, path, existing=existing, vectors=vectors, renew=renew, progress=progress)

    def cleanup_expired_skills(self, progress: Callable[[int], Any] | None = None) -> dict[str, int]:
        """Removes every expired skill: {"deleted": N, "checked": M}. Synchronous, as in the guide.

        `progress` is told how many each batch removed.
        """
        return self.sync.cleanup_expired_skills(progress)

    async def reembed(self, progress: Callable[[int], Any] | None = None) -> int:
        """Embeds every live skill anew with the embedder at hand; how many. `progress` is told of each batch."""
        return await self._do(SyncBrain.reembed, progress)


share_docstrings(Brain, SyncBrain)
