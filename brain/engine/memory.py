"""What do all verbs share? `SkillMemory`: the store, the analysis, the embedding, the recall index and the rules."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter, ValidationError

from brain.analysis.analyzer import ContextAnalyzer
from brain.analysis.profile import planned_steps, profile_of_context, profile_of_skill, semantic_text
from brain.analysis.words import normalise
from brain.config import Limits
from brain.engine.embedding import Embedding
from brain.engine.index import RecallIndex
from brain.engine.scoring import Query
from brain.errors import InputError, StoreError
from brain.model.context import ContextFeatures
from brain.model.inputs import Context, check_size
from brain.model.policy import Policy
from brain.model.record import validated
from brain.model.skill import Skill
from brain.model.text import Identifier, digest
from brain.store.base import PAGE, Changes, Draft, Store

log = logging.getLogger(__name__)

SWEEP_INTERVAL = timedelta(hours=1)
"""Least time between two lazy sweeps of a namespace (guide, "Cleanup")."""
SWEEP_BATCH = 1_000
"""Skills that one transaction of a sweep removes at most."""

_IDENTIFIER = TypeAdapter(Identifier)


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
    ) -> None:
        self.store, self.analyzer, self.embedding = store, analyzer, embedding
        self.policy, self.limits = policy, limits
        self.index = RecallIndex(policy)
        self._sweep_due: datetime | None = None

    @property
    def now(self) -> datetime:
        """The time by the store's clock, UTC."""
        return self.store.clock()

    # Writing

    def draft(self, skill: object, *, embedded: bool = True) -> Draft:
        """`skill` ready to be written: checked, analysed, embedded if there is an embedder. Raises `InputError`."""
        return self.drafts([skill], embedded=embedded)[0]

    def drafts(self, skills: Sequence[object], *, embedded: bool = True) -> list[Draft]:
        """As `draft`, embedding all of them at once."""
        checked = [self.checked(skill) for skill in skills]
        vectors: list[bytes | None] = [None] * len(checked)
        if self.embedding is not None and embedded and checked:
            self.embedding.note(self.store, new_operation())
            texts = [self.embedded_text(skill) for skill in checked]
            vectors = [vector.tobytes() for vector in self.embedding.encode(texts)]
        return [
            Draft(skill, profile_of_skill(skill).to_json(), dedup_key(skill), vector)
            for skill, vector in zip(checked, vectors, strict=True)
        ]

    def checked(self, skill: object) -> Skill:
        """A validated copy of `skill` in this namespace, its steps numbered. Raises `InputError`."""
        if not isinstance(skill, Skill):
            raise InputError(f"A {type(skill).__name__} is no Skill. Make one with Skill(...) or Skill.from_dict(...).")
        data = skill.to_dict()
        sized = {key: value for key, value in data.items() if key != "transfer_history"}
        check_size(sized, "the skill", self.limits, steps=len(skill.procedure), tags=len(skill.tags))
        check_identifier(skill.id, "skill id")
        copy = Skill.from_dict({**data, "namespace": self.store.namespace, "tags": list(dict.fromkeys(skill.tags))})
        ContextFeatures.from_dict(copy.source_context)  # refuses what later reads could not take
        for i, step in enumerate(copy.procedure):
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

    def context(self, data: object) -> Context:
        """`data` as a context within the limits. Raises `InputError`."""
        context = validated(Context, data, "context")
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

    def refresh(self) -> None:
        """Makes the index ready to be scored: read once, and nothing in it unread."""
        if self.index.version == 0:
            self.index.apply(self.store.changes(0))
        self._read_unread()

    def apply(self, changes: Changes) -> None:
        """Brings `changes` into the index and reads the skills that have to be analysed anew."""
        self.index.apply(changes)
        self._read_unread()

    def _read_unread(self) -> None:
        """Analyses, a page at a time, the skills whose text has to be read before they can be scored."""
        unread, version = self.index.unread(), self.index.version
        for start in range(0, len(unread), PAGE):
            page = unread[start : start + PAGE]
            found = self.store.get_many(page)
            for skill in found:
                self.index.read(skill, profile_of_skill(skill))
            self.index.drop(set(page) - {skill.id for skill in found}, as_of=version)

    # Forgetting

    def sweep(self, progress: Callable[[int], Any] | None = None) -> dict[str, int]:
        """Removes every expired skill: {"deleted": N, "checked": M}, M the skills that were stored before."""
        checked = self.store.count()
        deleted = 0
        while removed := self.store.sweep(SWEEP_BATCH, operation=new_operation()):
            deleted += removed
            if progress:
                progress(removed)
        return {"deleted": deleted, "checked": checked}

    def sweep_lazily(self) -> None:
        """A sweep, if the last one of any process is `SWEEP_INTERVAL` ago; asks the store once in that time."""
        now = self.now
        if self._sweep_due is not None and now < self._sweep_due:
            return
        self._sweep_due = now + SWEEP_INTERVAL
        try:
            if self.store.claim_sweep(SWEEP_INTERVAL, operation=new_operation()):
                log.debug("Lazy sweep: %s", self.sweep())
        except StoreError as error:  # what was recalled is good without it
            log.warning("Expired skills could not be removed now: %s", error)


def new_operation() -> str:
    """An id for one write, by which a store knows a repeated attempt."""
    return secrets.token_urlsafe(9)


def dedup_key(skill: Skill) -> str:
    """Digest of skill type, normalised task and normalised procedure."""
    return digest(skill.skill_type, normalise(skill.task), *(normalise(step.full_text) for step in skill.procedure))


def check_identifier(value: object, what: str) -> str:
    """`value` if it may be an id; raises `InputError` that says what may."""
    try:
        return _IDENTIFIER.validate_python(value)
    except ValidationError:
        raise InputError(
            f"{str(value)[:60]!r} is not a valid {what}: use 1 to 200 letters, digits and . _ : @ + -, "
            "beginning with a letter or digit."
        ) from None
