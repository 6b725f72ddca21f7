"""What do the store tests write? Drafts, orders to learn, records of use: as the engine would hand them over."""

import hashlib
import itertools

import numpy as np

from brain.model.relations import Edge, Relation
from brain.model.skill import Skill, SkillTransferRecord
from brain.store.values import Draft, LearnOrder, Observation

_operations = itertools.count()

KINDS = [["sequential"], ["filter", "aggregate"], ["decompose", "merge", "route"], []]


def operation():
    """An id that no other write has."""
    return f"operation-{next(_operations)}"


def number(text, size):
    """A whole number below `size` that depends on the text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big") % size


def vector(text, dimension=8):
    """Float32 bytes that depend on the text."""
    return np.random.default_rng(number(text, 2**32)).standard_normal(dimension).astype(np.float32).tobytes()


def skill(skill_id, text="", **fields):
    text = text or skill_id
    context = {"task_structures": KINDS[number(text, 4)], "metadata": {"domain": "kitchen", "task": text}}
    defaults = {
        "name": f"Skill {text}",
        "procedure": [{"action": f"begin {text}"}, {"action": "stop", "order": 1}],
        "preconditions": [{"predicate": "there is input"}],
        "source_context": context,
        "tags": ["all", text],
    }
    return Skill(id=skill_id, **{**defaults, **fields})


def draft(skill_id, text="", *, with_vector=True, **fields):
    text = text or skill_id
    made = skill(skill_id, text, **fields)
    data = vector(text) if with_vector else None
    return Draft(made, f"profile of {text}", f"terms of {text}".encode(), f"key of {text}", data)


def nobody(changes, profiles):
    """Finds no twin."""
    return


def order(skill_id, text="", *, success=True, seen=0, find_twin=nobody, trace_id="", like=None, used=(), **fields):
    text = text or skill_id
    observation = Observation(
        key=f"id {trace_id}" if trace_id else f"content {skill_id} {text}",
        trace_id=trace_id,
        content=f'{{"task": "{text}"}}',
        domain="kitchen",
        task=text,
        success=success,
        quality=0.75,
    )
    made = draft(skill_id, text, usage_count=1, success_rate=1.0, **fields)
    return LearnOrder(made, observation, seen, find_twin, like, tuple(used))


def record(success=True, domain="workshop", **fields):
    return SkillTransferRecord(
        target_context={"metadata": {"domain": domain}, "task_structures": ["sequential"]}, success=success, **fields
    )


def edge(source, target, relation=Relation.COMPLEMENTS, **metadata):
    return Edge(source=source, target=target, relation=relation, metadata=metadata)


def save(store, *skill_ids, **fields):
    for skill_id in skill_ids:
        store.save(draft(skill_id, **fields), expected_version=None, operation=operation())


def stored(store):
    """Every live skill by id, as plain data."""
    return {found.id: found.to_dict() for page in store.pages() for found in page}


def entries(store, size=3, vectors=True):
    """Every entry by id, read a few at a time."""
    return {entry.id: entry for page in store.entries(size, vectors=vectors) for entry in page}
