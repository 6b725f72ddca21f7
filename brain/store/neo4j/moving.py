"""How do skills move elsewhere and back, with all that is kept of them? Inside one transaction."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from brain.store.base import keys_taken_along
from brain.store.neo4j.connection import Row, Transaction
from brain.store.neo4j.reading import read_trace
from brain.store.neo4j.rows import Written
from brain.store.neo4j.skills import Lock, Skills, Stored
from brain.store.values import KeptSkill, SeenTrace

log = logging.getLogger(__name__)


def kept(skills: Skills, skill_ids: Sequence[str]) -> list[KeptSkill]:
    """All that is kept of the live skills among `skill_ids`."""
    beside = {row["id"]: row for row in skills.tx.rows("kept_beside", ids=list(skill_ids), now=skills.now)}
    found = []
    for skill in skills.live(skill_ids):
        row = beside.get(skill.id)
        if row is None or row["version"] != skill.version:
            skills.tx.doubt(skill.id, skill.version, row and row["version"])
        if row:
            traces = tuple(readable_traces(skills.tx, skill.id, row["traces"]))
            found.append(KeptSkill(skill, row["profile"], row["terms"], row["dedup_key"], row["vector"], traces))
    return found


def restore(skills: Skills, moved: Sequence[KeptSkill], stored: dict[str, Stored], lock: Lock) -> None:
    """See `Store.restore`."""
    keys = _dedup_keys(skills, moved)
    written = [
        Written.restored(k, k.skill.model_copy(update={"namespace": skills.namespace}), keys.get(k.skill.id))
        for k in moved
    ]
    live = [skill_id for skill_id, found in stored.items() if found.live]
    if live:
        skills.tx.rows("clear_traces", ids=live)
    skills.write(written, stored, lock)


def _dedup_keys(skills: Skills, moved: Sequence[KeptSkill]) -> dict[str, str]:
    """Which of the moved skills take their dedup key along: another live skill's stays with it, a live one's goes
    before an expired one's.
    """
    wanted = [k for k in moved if k.dedup_key is not None]
    moving = {k.skill.id for k in moved}
    held = set()
    for row in skills.tx.rows("holders", keys=list({k.dedup_key for k in wanted}), now=skills.now):
        if row["live"] and row["id"] not in moving:
            held.add(row["key"])
        else:
            skills.tx.rows("clear_dedup_key", id=row["id"])
    return keys_taken_along(wanted, held, skills.now)


def readable_traces(tx: Transaction, skill_id: str, nodes: Iterable[Row]) -> list[SeenTrace]:
    """The traces in some nodes, without those that cannot be read."""
    found = []
    for node in nodes:
        try:
            found.append(read_trace(node))
        except (KeyError, TypeError, ValueError) as error:
            tx.doubt(skill_id, node)
            log.warning("trace %r of skill %r cannot be read and is skipped: %s", node.get("key"), skill_id, error)
    return found
