"""Are the skill files that others wrote read as their index says, kept word for word, and recalled?"""

import json

import pytest
import skills_ref

from brain import SyncBrain
from brain.skillfiles.exporting import export_skills
from brain.skillfiles.importing import import_skills
from tests.skillfiles.conftest import SAMPLES

RULES = {
    "no name": "name-missing",
    "no description": "description-missing",
    "name is a bool": "name-type",
    "NUL byte": "nul-byte",
    "front matter never closes": "front-matter-unclosed",
    "front matter is not valid YAML": "yaml",
}
"""The faults of the index, and the rule that refuses each."""
ODD = {
    "name differs from the folder": "name-folder",
    "tags in the description": "description-tags",
    "nested metadata": "metadata-values",
    "allowed-tools is a list": "allowed-tools-type",
    "invisible characters": "invisible-characters",
    "extra keys": "unknown-key",
}
"""What the index calls odd, and the warning that tells it."""
TASKS = {
    "write the company newsletter for this month": "internal-comms",
    "draw an ASCII architecture diagram for the README": "graph-easy",
    "wrap and log errors in our Go HTTP handlers": "golang-error-handling",
    "save a summary of this conversation to my Obsidian vault": "obsidian-tldr",
    "compute profit and loss of my portfolio from a file of holdings": "analysis-portfolio",
    "apply the Anthropic brand colors and typography to these slides": "brand-guidelines",
    "the implementation is complete and all tests pass: decide how to integrate the work": (
        "finishing-a-development-branch"
    ),
    "modernise this Angular component with signals and inject": "angular-modern-apis",
    "turn an album idea from IDEAS.md into an album project": "promote-idea",
    "prepare a website review consultation with a questionnaire for the client": "site-diagnosis",
}
"""Tasks that the descriptions fit, in other words than theirs where people would use others."""
BOM = b"\xef\xbb\xbf"


def index():
    path = SAMPLES / "index.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else [pytest.param(None, id="absent")]


def faults_of(entry):
    return [rule for odd in entry["odd"] for fault, rule in RULES.items() if odd.startswith(fault)]


def named(entry):
    return entry["file"] if isinstance(entry, dict) else None


def in_the_store(skill):
    """All of a skill but what the store it came into knows better: when it came."""
    fields = skill.to_dict()
    return {key: value for key, value in fields.items() if key not in ("created_at", "updated_at")}


@pytest.mark.parametrize("entry", index(), ids=named)
def test_each_file_is_read_as_the_index_says(entry, samples, brain, other, tmp_path):
    path = samples / entry["file"]
    report = import_skills(brain, path)
    assert report.redacted.total() == 0  # none of them holds a secret
    wrong = faults_of(entry)
    if wrong:
        assert report.imported == [] == brain.get_skills()
        (refused,) = report.refused
        assert [fault.rule for fault in refused.faults] == wrong
        assert all(1 <= fault.line <= path.read_bytes().count(b"\n") + 1 for fault in refused.faults)
        return
    assert report.refused == []
    (one,) = report.imported
    told = {warning.rule for warning in one.warnings}
    assert {rule for odd in entry["odd"] for start, rule in ODD.items() if odd.startswith(start)} <= told
    export_skills(brain, tmp_path / "out")
    (written,) = (tmp_path / "out").rglob("SKILL.md")
    assert written.read_bytes() == path.read_bytes().removeprefix(BOM)
    assert import_skills(other, tmp_path / "out").refused == []
    assert in_the_store(other.get_skill(one.skill_id)) == in_the_store(brain.get_skill(one.skill_id))
    if not skills_ref.validate(path.parent):
        assert skills_ref.validate(written.parent) == []


def test_all_at_once_every_good_one_comes_in_and_goes_out_by_its_name(samples, brain, tmp_path):
    report = import_skills(brain, samples)
    good = [entry for entry in index() if not faults_of(entry)]
    assert {one.path for one in report.imported} == {entry["file"] for entry in good}
    assert len(report.refused) == len(index()) - len(good) == 6
    export_skills(brain, tmp_path / "out")
    found = {path.read_bytes() for path in (tmp_path / "out").rglob("SKILL.md")}
    assert found == {(samples / entry["file"]).read_bytes().removeprefix(BOM) for entry in good}
    names = [skills_ref.read_properties(path.parent) for path in (tmp_path / "out" / "setup").rglob("SKILL.md")]
    assert [name.name for name in names] == ["setup"]


def test_importing_again_changes_nothing(samples, brain):
    import_skills(brain, samples)
    before = [skill.to_dict() for skill in brain.get_skills()]
    again = import_skills(brain, samples)
    assert {one.status for one in again.imported} == {"unchanged"}
    assert [skill.to_dict() for skill in brain.get_skills()] == before


@pytest.fixture(scope="module")
def filled():
    """A brain that holds all the samples."""
    if not SAMPLES.exists():
        pytest.skip("the skill files that are not ours stand beside the checkout, in shared/data/skills_md")
    with SyncBrain.open("sqlite://:memory:") as brain:
        import_skills(brain, SAMPLES)
        yield brain


@pytest.mark.parametrize(("task", "expected"), TASKS.items())
def test_a_task_that_a_description_fits_recalls_its_skill_first(task, expected, filled):
    found = filled.recall({"task": task})
    assert found and found[0].skill.id == expected


def test_each_skill_is_recalled_by_its_own_description_and_says_steps(filled):
    for skill in filled.get_skills():
        assert skill.procedure and "imported" in skill.tags and skill.expires_at == ""
        assert filled.recall({"task": skill.description})[0].skill.name == skill.name
    assert filled.recall({"task": "bake sourdough bread"}) == []
