"""What do all verbs share? `SkillMemory`: the store, the analysis, the embedding, the recall index and the rules."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from pydantic import BaseModel

from brain.analysis.analyzer import ContextAnalyzer
from brain.analysis.duplicates import agreement
from brain.analysis.profile import (
    Profile,
    planned_steps,
    profile_of_context,
    profile_of_skill,
    semantic_text,
    stored_outline,
)
from brain.analysis.words import normalise
from brain.config import Limits
from brain.engine.embedding import Embedding
from brain.engine.index import RecallIndex
from brain.engine.live import LiveIndex, Loading
from brain.engine.scoring import Query
from brain.engine.secrets import Secrets
from brain.engine.snapshot import Snapshots
from brain.engine.telemetry import SWEEP, Telemetry
from brain.errors import InputError, StoreError
from brain.model.context import ContextFeatures
from brain.model.inputs import Context, check_size, misspelt, read_input
from brain.model.policy import Policy
from brain.model.skill import Skill
from brain.model.text import check_id, check_known_id, digest
from brain.store.base import Store
from brain.store.values import Changes, Draft, ReadProfiles, RecallEntry, new_operation

log = logging.getLogger(__name__)

SWEEP_INTERVAL = timedelta(hours=1)
"""Least time between two lazy sweeps of a namespace (guide, "Cleanup")."""
CLAIM_INTERVAL = timedelta(minutes=1)
"""Least time between two questions whether a lazy sweep is due."""
SWEEP_BATCH = 200
"""Skills that one transaction of a sweep removes at most; other writers wait for it."""


class Prepared(NamedTuple):
    """A skill ready to be written, with the profile that was made of it."""

    draft: Draft
    profile: Profile


class SkillMemory:
    """One namespace of a store, with everything needed to read and write it."""

    def __init__(
        self,
        store: Store,
        *,
        analyzer: ContextAnalyzer,
        embedding: Embedding | None,
        policy: Policy,
        limits: Limits,
        snapshots: Snapshots | None = None,
        loading: Loading | None = None,
        redact: bool = False,
    ) -> None:
        self.secrets = Secrets(redact)
        self.store, self.analyzer, self.embedding = store, analyzer, embedding
        self.policy, self.limits = policy, limits
        self.dimension = embedding.stamp.dimension if embedding else None
        self.telemetry = Telemetry(store.location, store.namespace)
        self.live = LiveIndex(store, policy, self.dimension, snapshots=snapshots, loading=loading)
        self._sweep_due: datetime | None = None
        self._mentioned: set[tuple[str, str]] = set()

    @property
    def index(self) -> RecallIndex:
        """What recall looks into; `live` keeps it fresh."""
        return self.live.index

    @property
    def now(self) -> datetime:
        """The time by the store's clock, UTC."""
        return self.store.clock()

    # Writing

    def draft(self, skill: object, *, embedded: bool = True) -> Prepared:
        """`skill` ready to be written: checked, analysed, embedded if there is an embedder. Raises `InputError`."""
        return self.drafts([skill], embedded=embedded)[0]

    def drafts(self, skills: Sequence[object], *, embedded: bool = True) -> list[Prepared]:
        """As `draft`, embedding all of them at once."""
        checked = [self.checked(skill) for skill in skills]
        vectors: list[bytes | None] = [None] * len(checked)
        if self.embedding is not None and embedded and checked:
            self.embedding.note(self.store, new_operation())
            texts = [self.embedded_text(skill) for skill in checked]
            vectors = [vector.tobytes() for vector in self.embedding.encode(texts)]
        profiles = [profile_of_skill(skill) for skill in checked]
        return [
            Prepared(Draft(skill, profile.to_text(), profile.to_bytes(), dedup_key(skill), vector), profile)
            for skill, profile, vector in zip(checked, profiles, vectors, strict=True)
        ]

    def checked(self, skill: object) -> Skill:
        """A validated copy of `skill` in this namespace, its steps numbered. Raises `InputError`."""
        if not isinstance(skill, Skill):
            raise InputError(f"A {type(skill).__name__} is no Skill. Make one with Skill(...) or Skill.from_dict(...).")
        data = skill.to_dict()
        sized = {key: value for key, value in data.items() if key != "transfer_history"}
        check_size(sized, "the skill", self.limits, steps=len(skill.procedure), tags=len(skill.tags))
        check_skill_id(skill.id)
        copy = Skill.from_dict({**data, "namespace": self.store.namespace})
        ContextFeatures.from_dict(copy.source_context)  # refuses what later reads could not take
        if len(set(copy.tags)) < len(copy.tags):
            copy.tags = list(dict.fromkeys(copy.tags))
        for i, step in enumerate(copy.procedure):
            if step.order != i:  # most are numbered; to assign is to validate
                step.order = i
        if not copy.name.strip() and not copy.procedure:
            raise InputError("A skill needs a name or at least one step.")
        return copy

    def embedded_text(self, skill: Skill) -> str:
        """The text of a skill that is embedded under the policy."""
        if self.policy.semantic == "guide":
            return skill.to_embedding_text()
        task = skill.task or f"{skill.name}\n{skill.description}"
        return semantic_text(skill.domain, task, [step.full_text for step in skill.procedure])

    # Reading

    def mention(self, kind: type[BaseModel], data: object, name: str) -> None:
        """Warns of keys that look like a known one which is not given; once for each known one."""
        for key, known in misspelt(kind, data).items():
            if (name, known) not in self._mentioned:
                self._mentioned.add((name, known))
                log.warning("The key %r of %s is not read; %r would be. Is it misspelt?", key, name, known)

    def context(self, data: object) -> Context:
        """`data` as a context within the limits. Raises `InputError`."""
        self.mention(Context, data, "context")
        context = read_input(Context, self.secrets.out_of(data), "context")
        check_size(context.to_dict(), "the context", self.limits, steps=len(context.steps))
        return context

    def query(self, context: Context, features: ContextFeatures) -> Query:
        """What to look for when `context` is the task."""
        text = features.to_embedding_text()
        vector = None
        if self.embedding is not None:
            wanted = text if self.policy.semantic == "guide" else self._query_text(context)
            vector = self.embedding.encode([wanted])[0]
        return Query(profile_of_context(context), features.shape, text, vector)

    def _query_text(self, context: Context) -> str:
        return semantic_text(context.domain, context.task, planned_steps(context))

    def twin(self, prepared: Prepared, read_profiles: ReadProfiles) -> str | None:
        """The skill that does the same as a new one by the view at hand, or None (guide, "Skill Deduplication").

        By default the texts decide alone, whatever their features: they must tell the same procedure. With the guide's
        0.70 of structure beside that, or no features on either side, 44 of the 64 same pairs of the labelled set are
        found, without it 55, and no different one either way.
        """
        return self._twin_in(self.live.index, prepared, read_profiles)

    def _twin_in(
        self,
        index: RecallIndex,
        prepared: Prepared,
        read_profiles: ReadProfiles,
        among: Collection[str] | None = None,
    ) -> str | None:
        skill = prepared.draft.skill
        if self.policy.duplicates == "guide":
            return index.same_features(skill.features, skill.skill_type, self.now)
        likely = index.alike(prepared.profile, skill.skill_type, self.now, among)
        best = (0.0, "")
        for skill_id, text in read_profiles(likely).items() if likely else ():
            outline = stored_outline(text)
            score = agreement(prepared.profile.outline, outline) if outline else 0.0
            best = min(best, (-score, skill_id)) if score else best
        return best[1] or None

    def likes(self, prepared: Sequence[Prepared], may_be_created: Sequence[bool]) -> list[int | None]:
        """For each of some new skills the place of the first before it that does the same and may be created."""
        if len(prepared) < 2:
            return [None] * len(prepared)
        index, found, places = RecallIndex(self.policy, None), list[int | None](), dict[str, int]()
        first = {p.draft.skill.id: p for p in reversed(prepared)}
        by_words = self.policy.duplicates != "guide"
        if by_words:  # an index of all at once is made in a fifth of the time
            index.apply(Changes("", 0, [_entry_of(one) for one in first.values()]), 0)
        for place, one in enumerate(prepared):
            twin = self._twin_in(index, one, lambda ids: {i: first[i].draft.profile for i in ids}, places)
            found.append(None if twin is None else places[twin])
            if twin is None and may_be_created[place] and one.draft.skill.id not in places:
                places[one.draft.skill.id] = place
                if not by_words:
                    index.apply(Changes("", 0, [_entry_of(one)]), 0)
        return found

    def close(self) -> None:
        """Waits for a snapshot that is being written, and frees the store."""
        self.live.close()
        self.store.close()

    # Forgetting

    def sweep(self, progress: Callable[[int], Any] | None = None) -> dict[str, int]:
        """Removes every expired skill: {"deleted": N, "checked": M}, M the skills that were stored before."""
        with self.telemetry.operation(SWEEP) as tell:
            done = {"deleted": 0, "checked": self.store.count()}
            while removed := self.store.sweep(SWEEP_BATCH, operation=new_operation()):
                done["deleted"] += removed
                if progress:
                    progress(removed)
            tell(done)
        return done

    def sweep_lazily(self) -> None:
        """A sweep, if the last one of any process is `SWEEP_INTERVAL` ago; asks the store once in that time."""
        now = self.now
        if self._sweep_due is not None and now < self._sweep_due:
            return
        self._sweep_due = now + CLAIM_INTERVAL
        try:
            if self.store.claim_sweep(SWEEP_INTERVAL, operation=new_operation()):
                self._sweep_due = now + SWEEP_INTERVAL
                log.debug("Lazy sweep: %s", self.sweep())
        except StoreError as error:  # what was recalled is good without it
            log.warning("Expired skills could not be removed now: %s", error)


def _entry_of(prepared: Prepared) -> RecallEntry:
    """What recall would know of a new skill, but for its expiry."""
    skill, terms = prepared.draft.skill, prepared.draft.terms
    return RecallEntry(
        skill.id, skill.skill_type, skill.features.shape, skill.confidence, 0, 0, None, skill.fingerprint(), terms
    )


def dedup_key(skill: Skill) -> str:
    """Digest of skill type, normalised task and normalised procedure."""
    return digest(skill.skill_type, normalise(skill.task), *(normalise(step.full_text) for step in skill.procedure))


def check_identifier(value: object, what: str) -> str:
    """`value` if a caller may choose it as an id; raises `InputError` that says what may."""
    try:
        return check_id(value, what)
    except ValueError as error:
        raise InputError(f"{error}.") from None


def check_skill_id(value: object) -> str:
    """`value` if a stored skill may have it as its id, whoever chose it; raises `InputError` that says what may."""
    try:
        return check_known_id(value, "skill id")
    except ValueError as error:
        raise InputError(f"{error}.") from None
