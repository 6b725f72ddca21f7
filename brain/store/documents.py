"""How is a skill kept as one JSON document, and read back when it was damaged?"""

from __future__ import annotations

import json
import logging

from brain.errors import BrainError
from brain.model.skill import Skill

log = logging.getLogger(__name__)


def write_document(skill: Skill) -> str:
    """The skill as JSON text."""
    return json.dumps(skill.to_dict(), allow_nan=False)


def read_document(skill_id: str, document: str, namespace: str, location: str) -> Skill | None:
    """The skill in `document`; None, with a warning that names it, if it cannot be read."""
    try:
        data = json.loads(document)
        return Skill.from_dict({**data, "id": skill_id or data["id"], "namespace": namespace})
    except (ValueError, TypeError, KeyError, BrainError) as error:
        log.warning(
            "%s: skill %r in namespace %r cannot be read and is skipped: %s", location, skill_id, namespace, error
        )
        return None
