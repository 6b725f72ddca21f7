"""What does another process do? Functions that a spawned process imports and runs."""

import secrets
from datetime import UTC, datetime

from brain import SkillTransferRecord
from brain.store.location import open_store

NOW = datetime(2026, 11, 30, 13, tzinfo=UTC)


def give_feedback(location, skill_id, times):
    """Gives feedback, every other a success; how often it was recorded."""
    store = open_store(location, namespace="default", clock=lambda: NOW)
    done = 0
    for i in range(times):
        record = SkillTransferRecord(target_context={"i": i}, success=i % 2 == 0, timestamp=NOW)
        done += store.feedback(skill_id, record, ttl=True, operation=secrets.token_hex(8)) is not None
    store.close()
    return done
