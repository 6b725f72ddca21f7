"""How do skills move elsewhere and back, with all that is kept of them? Inside one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence

from brain.model.relations import Edge
from brain.store.base import batches, keys_taken_along
from brain.store.sqlite.rows import Written, seen_trace, time, trace_row
from brain.store.sqlite.skills import WRITE_BATCH, Skills
from brain.store.values import KeptSkill, SeenTrace


def kept(skills: Skills, skill_ids: Sequence[str]) -> list[KeptSkill]:
    """All that is kept of the live skills among `skill_ids`."""
    ids = json.dumps(list(skill_ids))
    beside = {skill_id: row for skill_id, *row in skills.run("kept_of", ids=ids)}
    traces: dict[str, list[SeenTrace]] = {}
    for skill_id, *values in skills.run("traces_of", ids=ids):
        traces.setdefault(skill_id, []).append(seen_trace(values))
    found = []
    for skill in skills.live(skill_ids):
        profile, terms, dedup_key, vector = beside[skill.id]
        found.append(KeptSkill(skill, profile, terms, dedup_key, vector, tuple(traces.get(skill.id, ()))))
    return found


def restore(skills: Skills, moved: Sequence[KeptSkill]) -> None:
    """See `Store.restore`."""
    version, keys = skills.raise_version(), _dedup_keys(skills, moved)
    for batch in batches(moved, WRITE_BATCH):
        stored = skills.stored([k.skill.id for k in batch])
        skills.write([Written.restored(k, keys.get(k.skill.id)) for k in batch], stored, version)
    skills.run_many("clear_traces", ({"id": k.skill.id} for k in moved))
    skills.run_many("put_trace", (trace_row(t.observation, t.seen_at, k.skill.id) for k in moved for t in k.traces))


def restore_edges(skills: Skills, edges: Sequence[Edge]) -> list[Edge]:
    """See `Store.restore_edges`."""
    ends = list({end for edge in edges for end in (edge.source, edge.target)})
    live = {skill_id for skill_id, found in skills.stored(ends).items() if found.live}
    fit = [edge for edge in edges if edge.source in live and edge.target in live]
    if fit:
        skills.note_write()
        skills.put_edges(fit)
    return [edge for edge in edges if edge.source not in live or edge.target not in live]


def _dedup_keys(skills: Skills, moved: Sequence[KeptSkill]) -> dict[str, str]:
    """Which of the moved skills take their dedup key along: another live skill's stays with it, a live one's goes
    before an expired one's.
    """
    now = skills.now()
    wanted = [k for k in moved if k.dedup_key is not None]
    listed = json.dumps([k.dedup_key for k in wanted])
    skills.run("give_up_dedup_keys", dedup_keys=listed, now=now, ids=json.dumps([k.skill.id for k in moved]))
    held = {row[0] for row in skills.run("held_dedup_keys", dedup_keys=listed)}
    return keys_taken_along(wanted, held, time(now))
