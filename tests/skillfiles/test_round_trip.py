"""Does a skill that this package wrote come back as it was, and do other readers take the file?"""

import json

import pytest
import skills_ref
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brain import Skill, SkillCondition, SkillStep, SkillTransferRecord, SyncBrain
from brain.errors import InputError, SkillNotFoundError
from brain.skillfiles.exporting import export_skills, skill_md
from brain.skillfiles.importing import import_skills
from brain.skillfiles.origin import is_origin
from brain.skillfiles.record import Record
from brain.skillfiles.rendering import slug
from brain.skillfiles.skillfile import SkillFile
from brain.store.values import new_operation
from tests.contract.samples import AWKWARD, NESTED, RESERVED, audit, bread, skill


def kept(brain):
    """All that is to come back of every skill, as plain values."""
    found = {}
    for page in brain._memory.store.export():
        for one in page:
            seen = [trace for trace in one.traces if not is_origin(trace)]
            about = [
                (t.observation.key, t.observation.trace_id, t.observation.domain, t.observation.task) for t in seen
            ]
            ends = [(t.observation.success, t.observation.quality, t.seen_at) for t in seen]
            fields = one.skill.to_dict() | {"namespace": ""}
            found[one.skill.id] = fields, sorted(zip(about, ends, strict=True)), one.dedup_key
    return found


def edges(brain):
    return sorted(
        (edge.source, edge.relation, edge.target, json.dumps(edge.metadata, sort_keys=True))
        for page in brain._memory.store.export_edges()
        for edge in page
    )


@pytest.fixture
def lived(brain_of_each, clock):
    """A brain in which a lot happened."""
    brain = brain_of_each
    brain.observe(**bread(), skill_id="bread", trace_id="t1")
    brain.observe(**bread(), trace_id="t2")
    brain.observe(**audit(), skill_id="audit", derived_from=["bread"])
    for number, text in enumerate(AWKWARD.values()):
        brain.skill_graph.save_skill(skill(f"s{number}", text, tags=[text], name=text, description=text, future=NESTED))
    brain.skill_graph.save_skill(skill("reserved", nested=NESTED).model_copy(update={"source_context": RESERVED}))
    for i in range(103):
        clock.advance(minutes=1)
        record = SkillTransferRecord(target_context={"i": i}, success=i % 3 > 0, timestamp=clock(), adaptations=NESTED)
        brain._memory.store.feedback("audit", record, ttl=True, operation=new_operation())
    brain.skill_graph.add_edge("s1", "COMPLEMENTS", "s2", {"nested": NESTED, **AWKWARD})
    brain.skill_graph.save_skill(skill("s1", "changed", description="---\n# a fence --- in it\n---"))
    return brain


@pytest.fixture
def brain_of_each(place, clock):
    return place.open(clock=clock)


def test_what_is_exported_is_valid_and_comes_back_equal_on_every_store(lived, place, clock, tmp_path):
    done = export_skills(lived, tmp_path / "one")
    assert len(done) == len(kept(lived)) == len(AWKWARD) + 3
    for one in done:
        assert skills_ref.validate(tmp_path / "one" / one.folder) == [], one
    target = place.open(f"{place.namespace}-target", clock=clock)
    report = import_skills(target, tmp_path / "one", redact=False)
    assert report.refused == [] == report.passed_over
    assert {one.status for one in report.imported} == {"new"}
    assert {warning.rule for one in report.imported for warning in one.warnings} <= {
        "invisible-characters",
        "description-tags",
    }
    assert kept(target) == kept(lived)
    assert edges(target) == edges(lived)
    assert len(edges(lived)) == 3 and lived.get_skill("audit").transfer_count == 103
    assert [
        origin for page in target._memory.store.export() for one in page for origin in one.traces if is_origin(origin)
    ]
    export_skills(target, tmp_path / "two")
    for one in done:
        first, second = (tmp_path / side / one.folder / "SKILL.md" for side in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()


def test_what_came_back_is_learned_and_recalled_as_before(lived, place, clock, tmp_path):
    export_skills(lived, tmp_path / "out", ["bread"])
    target = place.open(f"{place.namespace}-target", clock=clock)
    import_skills(target, tmp_path / "out")
    assert target.observe(**bread(), trace_id="t1").outcome == "already_seen"
    assert target.observe(**bread()).skill.id == "bread"
    assert target.recall({"task": "bake sourdough bread"})[0].skill.id == "bread"
    (imported,) = [trace for trace in target.get_traces("bread") if "imported_from" in trace.execution_trace]
    assert imported.execution_trace["imported_from"]["path"].endswith("/SKILL.md")


def test_the_file_reads_well_and_says_what_the_format_has_no_field_for(brain, tmp_path):
    brain.observe(**bread(), skill_id="bread", skill_name="Bäcker's bread: sourdough")
    (one,) = export_skills(brain, tmp_path)
    assert one.folder == "backers-bread-sourdough"
    text = (tmp_path / one.folder / "SKILL.md").read_text("utf-8")
    properties = skills_ref.read_properties(tmp_path / one.folder)
    assert properties.name == one.folder
    assert "bake sourdough bread" in properties.description
    metadata = properties.metadata
    assert (metadata["brain-id"], metadata["brain-name"]) == ("bread", "Bäcker's bread: sourdough")
    assert json.loads(metadata["brain-procedure"])[0]["action"] == "feed the starter"
    assert float(metadata["brain-confidence"]) == brain.get_skill("bread").confidence
    assert "1. feed the starter\n2. knead the dough\n" in text
    assert set(yaml.safe_load(text.split("---")[1])) == {"name", "description", "metadata"}


def test_a_licence_and_what_it_runs_with_stand_in_their_fields(brain, tmp_path):
    fields = {"license": "MIT", "compatibility": "any", "allowed_tools": "Read Bash(git:*)", "extra": 1}
    brain.skill_graph.save_skill(skill("s", **fields))
    export_skills(brain, tmp_path)
    found = skills_ref.read_properties(tmp_path / "skill-s")
    assert (found.license, found.compatibility, found.allowed_tools) == ("MIT", "any", "Read Bash(git:*)")
    assert skills_ref.validate(tmp_path / "skill-s") == []


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
SPOKEN = TEXT.filter(str.strip)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
STEPS = st.builds(SkillStep, action=SPOKEN, description=TEXT, parameters=st.dictionaries(TEXT, JSON, max_size=2))
CONDITIONS = st.builds(SkillCondition, predicate=SPOKEN, description=TEXT, required=st.booleans())
SKILLS = st.builds(
    Skill,
    id=st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._:@+-]{0,40}\Z"),
    name=SPOKEN,
    description=TEXT,
    procedure=st.lists(STEPS, max_size=4),
    preconditions=st.lists(CONDITIONS, max_size=2),
    tags=st.lists(TEXT, max_size=3, unique=True),
    unknown=JSON,
    license=TEXT,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SKILLS)
def test_any_skill_is_valid_to_the_reference_and_comes_back(tmp_path_factory, made):
    top = tmp_path_factory.mktemp("any")
    with SyncBrain.open("sqlite://:memory:") as brain, SyncBrain.open("sqlite://:memory:") as other:
        brain.skill_graph.save_skill(made)
        (one,) = export_skills(brain, top)
        assert skills_ref.validate(top / one.folder) == []
        assert one.warnings == ()
        report = import_skills(other, top, redact=False)
        assert report.refused == []
        assert other.get_skills() == brain.get_skills()


# Names and folders


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Diagnosis by Elimination", "diagnosis-by-elimination"),
        ("Ängstliche Kätzchen!", "angstliche-katzchen"),
        ("  --a__b--  ", "a-b"),
        ("分析", "skill-the-id"),
        ("分析 report", "report"),
        ("../../etc/passwd", "etc-passwd"),
        ("x" * 200, "x" * 64),
        ("", "skill-the-id"),
        ("con\x00cat", "con-cat"),
    ],
)
def test_a_name_becomes_a_slug(name, expected):
    assert slug(skill("the id".replace(" ", "-"), name=name)) == expected


def test_skills_of_one_name_are_told_apart_the_same_way_every_time(brain, tmp_path):
    for skill_id in ("c", "a", "b"):
        brain.skill_graph.save_skill(skill(skill_id, skill_id, name="Twins!"))
    folders = {one.skill_id: one.folder for one in export_skills(brain, tmp_path / "all")}
    assert folders["a"] == "twins"
    assert len(set(folders.values())) == 3 and all(folder.startswith("twins") for folder in folders.values())
    again = {one.skill_id: one.folder for one in export_skills(brain, tmp_path / "some", ["b", "a"])}
    assert again == {key: folders[key] for key in ("a", "b")}
    assert all(skills_ref.validate(tmp_path / "all" / folder) == [] for folder in folders.values())


def test_a_folder_that_is_there_is_written_into_only_when_told(brain, tmp_path):
    brain.skill_graph.save_skill(skill("a", name="one"))
    brain.skill_graph.save_skill(skill("b", name="two"))
    export_skills(brain, tmp_path, ["a"])
    mine = tmp_path / "one" / "notes.txt"
    mine.write_text("mine")
    with pytest.raises(InputError, match=r"one already.*--force"):
        export_skills(brain, tmp_path)
    assert not (tmp_path / "two").exists()
    export_skills(brain, tmp_path, force=True)
    assert mine.read_text() == "mine" and (tmp_path / "two" / "SKILL.md").exists()
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_what_cannot_be_written_is_said(brain, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="not a folder"):
        export_skills(brain, tmp_path / "file")
    with pytest.raises(SkillNotFoundError):
        export_skills(brain, tmp_path / "out", ["nobody"])
    assert export_skills(brain, tmp_path / "out") == []
    assert export_skills(brain, tmp_path / "out", tag="none") == []


def test_by_tag(brain, tmp_path):
    brain.skill_graph.save_skill(skill("a", tags=["x"]))
    brain.skill_graph.save_skill(skill("b", tags=["y"]))
    assert [one.skill_id for one in export_skills(brain, tmp_path, tag="x")] == ["a"]


# What was edited since


def edited(folder, before, after):
    path = folder / "SKILL.md"
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")


def test_an_edited_file_gives_its_text_and_keeps_the_history(brain, other, tmp_path):
    brain.observe(**bread(), skill_id="bread", skill_name="Bread")
    brain.feedback("bread", {"task": "again"}, True)
    export_skills(brain, tmp_path)
    edited(tmp_path / "bread", "2. knead the dough\n", "2. fold the dough four times\n3. shape the loaf\n")
    (one,) = import_skills(other, tmp_path).imported
    assert [warning.rule for warning in one.warnings] == ["edited"]
    was, now = brain.get_skill("bread"), other.get_skill("bread")
    assert [step.action for step in now.procedure][1:3] == ["fold the dough four times", "shape the loaf"]
    assert (now.confidence, now.transfer_history, now.usage_count) == (
        was.confidence,
        was.transfer_history,
        was.usage_count,
    )
    assert (now.name, now.description, now.task) == (was.name, was.description, was.task)
    export_skills(other, tmp_path / "again")
    assert "fold the dough four times" in (tmp_path / "again" / "bread" / "SKILL.md").read_text("utf-8")
    (again,) = import_skills(brain, tmp_path / "again", existing="replace").imported
    assert (again.status, again.warnings) == ("replaced", ())
    assert brain.get_skill("bread").to_dict() == now.to_dict()


def test_an_edited_description_leaves_the_steps(brain, other, tmp_path):
    step = SkillStep(action="knead", description="until smooth", parameters={"minutes": 5}, is_optional=True)
    brain.skill_graph.save_skill(skill("bread", "bake", name="Bread", procedure=[step]))
    export_skills(brain, tmp_path)
    edited(tmp_path / "bread", "description: 'Bread. Use when: bake'", "description: Bake bread at home")
    import_skills(other, tmp_path)
    found = other.get_skill("bread")
    assert (found.description, found.procedure) == ("Bake bread at home", brain.get_skill("bread").procedure)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("brain-confidence: '", "brain-confidence: '9"),
        ("brain-procedure: '[", "brain-procedure: '["[:-1]),
        ("brain-id: 'bread'", "brain-id: ' '"),
        ("brain-format: '1'", "brain-format: '2'"),
        ("brain-created-at: '", "brain-created-at: 'never "),
        ("brain-traces: '[", "brain-traces: '[5, "),
    ],
)
def test_damaged_entries_are_refused(before, after, brain, other, tmp_path):
    brain.observe(**bread(), skill_id="bread", skill_name="Bread")
    export_skills(brain, tmp_path)
    edited(tmp_path / "bread", before, after)
    report = import_skills(other, tmp_path)
    assert len(report.refused) == 1 and report.imported == [] == other.get_skills()


def test_what_has_expired_since_lives_on(brain, other, clock, tmp_path):
    brain.observe(**bread(), skill_id="bread", skill_name="Bread")
    export_skills(brain, tmp_path)
    clock.advance(hours=5000)
    (one,) = import_skills(other, tmp_path).imported
    assert [warning.rule for warning in one.warnings] == ["expired"]
    assert other.get_skill("bread").confidence == 0.66


def test_only_so_many_traces_travel(brain):
    brain.observe(**bread(), skill_id="bread")
    (kept_one,) = [one for page in brain._memory.store.export() for one in page]
    many = [kept_one.traces[0] for _ in range(500)]
    text, warnings = skill_md(Record(kept_one.skill, traces=many))
    entries = yaml.safe_load(text.split("---")[1])["metadata"]
    assert len(json.loads(entries["brain-traces"])) == 100 and warnings == ()
    assert SkillFile.parse(text.encode()).name


def test_lines_that_somebody_puts_among_the_entries_are_kept(brain, other, tmp_path):
    brain.observe(**bread(), skill_id="bread", skill_name="Bread")
    export_skills(brain, tmp_path)
    edited(tmp_path / "bread", "  brain-name: 'Bread'\n", "  author: me # mine\n  brain-name: 'Bread'\n")
    edited(tmp_path / "bread", "  brain-added: 'metadata'\n", "  brain-added: 'metadata'\n  last: 1\n")
    (one,) = import_skills(other, tmp_path).imported
    assert "edited" in {warning.rule for warning in one.warnings}
    kept_text = other.get_skill("bread").skill_file["text"]
    assert "  author: me # mine\n" in kept_text and "  last: 1\n" in kept_text and "brain-" not in kept_text
    assert other.get_skill("bread").procedure == brain.get_skill("bread").procedure
    export_skills(other, tmp_path / "again")
    metadata = yaml.safe_load((tmp_path / "again" / "bread" / "SKILL.md").read_text("utf-8").split("---\n")[1])[
        "metadata"
    ]
    assert (metadata["author"], metadata["last"], metadata["brain-id"]) == ("me", 1, "bread")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("extra", {"skill_file": {"text": "forged"}, "waiting": {"edges": [5]}, "id": "forged", "mine": 1}),
        ("edges", [{"relation": "COMPLEMENTS", "target": "bread", "direction": "out"}]),
        ("edges", {"not": "a list"}),
        ("traces", [{"key": "", "success": True, "quality": 0.5, "seen_at": "2026-01-01"}]),
        ("transfer-history", [{"success": "yes"}]),
    ],
)
def test_forged_entries_do_no_harm(key, value, brain, other, tmp_path):
    brain.observe(**bread(), skill_id="bread", skill_name="Bread")
    export_skills(brain, tmp_path)
    path = tmp_path / "bread" / "SKILL.md"
    lines = [line for line in path.read_text("utf-8").splitlines(True) if not line.startswith(f"  brain-{key}:")]
    lines.insert(lines.index("metadata:\n") + 1, f"  brain-{key}: {json.dumps(json.dumps(value))}\n")
    path.write_text("".join(lines), "utf-8")
    report = import_skills(other, tmp_path)
    if key == "extra":
        found = other.get_skill("bread").to_dict()
        assert found["mine"] == 1 and "waiting" not in found and "forged" not in json.dumps(found)
    else:
        assert len(report.refused) == 1 and other.get_skills() == []


def test_an_edge_to_a_skill_that_is_not_there_is_told(brain, other, tmp_path):
    brain.observe(**bread(), skill_id="bread")
    brain.observe(**audit(), skill_id="audit", derived_from=["bread"])
    export_skills(brain, tmp_path, ["audit"])
    report = import_skills(other, tmp_path)
    assert sorted(what for what, _ in report.passed_over) == ["audit DERIVES_FROM bread", "bread TRANSFERRED_TO audit"]
    assert other.get_skill("audit") is not None
