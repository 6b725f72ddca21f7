"""What does a skill look like as a SKILL.md folder? Reading and writing, by the Agent Skills specification.

    from brain.skillfiles import approve, export_skills, import_skills

    with SyncBrain.open("sqlite:///skills.db") as brain:
        report = import_skills(brain, Path("skills"))
        export_skills(brain, Path("out"), ["pdf-forms"])

Every function works on a `SyncBrain`; `brain.sync` is one. `body_of` gives the text that an imported skill came with.
"""

from brain.skillfiles.exporting import Exported, export_skills
from brain.skillfiles.importing import Imported, ImportReport, Refused, import_skills
from brain.skillfiles.kept import body_of
from brain.skillfiles.quarantine import approve, quarantine_of
from brain.skillfiles.rules import Finding

__all__ = [
    "Exported",
    "Finding",
    "ImportReport",
    "Imported",
    "Refused",
    "approve",
    "body_of",
    "export_skills",
    "import_skills",
    "quarantine_of",
]
