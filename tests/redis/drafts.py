"""What do the store tests write? Drafts whose analysis is a plain text: no engine takes part."""

import secrets

from brain import Skill
from brain.store.values import Draft, LearnOrder, Observation


def op():
    return secrets.token_hex(6)


def draft(skill, vector=None):
    return Draft(skill, f"profile of {skill.name}", f"terms of {skill.name}".encode(), f"dedup {skill.name}", vector)


def save(store, *skills):
    store.save_many([draft(skill) for skill in skills], operation=op())


def bare(skill_id, clock, **fields):
    """A skill with an id, a name and little else, as the goldens have them."""
    given = {"name": skill_id, "created_at": clock(), "updated_at": clock(), **fields}
    return Skill(id=skill_id, **given)


def order(skill, *, success=True, twin=None, trace_id="", seen=0, key=None, derived_from=(), find_twin=None):
    """An order to learn `skill`, or to count a use of `twin`."""
    observation = Observation(
        key or trace_id or secrets.token_hex(8), trace_id, "{}", skill.domain, skill.task, success, 0.5
    )
    find = find_twin or (lambda changes, profiles: twin)
    return LearnOrder(draft(skill), observation, seen, find, derived_from=derived_from)


def learn(store, *orders):
    return store.learn(orders, operation=op())


def entry_ids(store):
    return [entry.id for page in store.entries(100, vectors=False) for entry in page]
