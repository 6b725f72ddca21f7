"""Does a file from elsewhere stay word for word, whatever it looks like, before and after its skill was used?"""

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brain.skillfiles.entries import with_entries, without_entries
from brain.skillfiles.exporting import export_skills
from brain.skillfiles.frontmatter import FrontMatter
from brain.skillfiles.importing import import_skills
from brain.skillfiles.kept import body_of
from tests.skillfiles.conftest import PLAIN

FRONT_MATTERS = {
    "plain": "name: x\ndescription: y\n",
    "metadata": "name: x\nmetadata:\n  author: me # a comment\n  n: 1\ndescription: y\n",
    "metadata last": "name: x\ndescription: y\nmetadata:\n      author: me\n      deep:\n        - {b: c}\n",
    "flow metadata": "name: x\nmetadata: {author: me, n: [1, 2]}\ndescription: y\n",
    "empty metadata": "name: x\nmetadata: # nothing yet\ndescription: y\n",
    "empty flow metadata": "name: x\nmetadata: { } # none yet\ndescription: y\n",
    "null metadata": "name: x\nmetadata:  ~ # none yet\ndescription: y\n",
    "null metadata last": "name: x\ndescription: y\nmetadata: null\n",
    "comments": "# before\nname: x # the name\n\n# between\ndescription: y\n# after\n\n",
    "block scalars": "name: x\ndescription: |+\n  line one\n\n  line --- two\n\n",
    "folded": "description: >-\n  folded\n  text\nname: x\n",
    "quotes": 'name: \'x\'\ndescription: "y: \\u00e9 \\"z\\""\n',
    "indented": "  name: x\n  description: y\n",
    "tools": "name: x\ndescription: y\nallowed-tools:\n  - Read\n  - Bash(git:*)\nmodel: haiku\npaths: ['**/*.go']\n",
    "times and numbers": "name: x\ndescription: y\ncreated: 2024-01-02\nversion: 1.10\nflag: yes\nnothing: ~\n",
    "non-latin": "name: 分析\ndescription: テスト用のスキル。使うとき。\n",
    "emoji": "name: x\ndescription: y 🍞\nmetadata:\n  emoji: '⚠️'\n",
}
BODIES = {
    "usual": "\n# X\n\n1. one\n2. two\n",
    "no line end": "text without a line end",
    "a fence": "\n---\nname: not this\n---\n\n***\n---",
    "blanks": "\n\n   \n\t\n  trailing   \n\n\n",
    "controls": "a\x0cb\x7f\x85\u2028\u200bc\ufeff\n",
    "empty": "",
    "old line ends": "a\rb\rc",
}


def used(brain, skill_id):
    """The skill was used, connected and found good."""
    assert brain.feedback(skill_id, {"domain": "elsewhere", "task": "do it"}, True).recorded
    brain.skill_graph.save_skill(brain.get_skill(skill_id).model_copy(update={"id": "friend", "name": "friend"}))
    brain.skill_graph.add_edge(skill_id, "COMPLEMENTS", "friend", {"n": 1})


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("matter", FRONT_MATTERS.values(), ids=FRONT_MATTERS)
@pytest.mark.parametrize("body", [BODIES["usual"], BODIES["a fence"]], ids=["usual", "fences"])
def test_a_file_comes_back_byte_for_byte_and_after_use_with_entries_alone(
    matter, body, newline, write, brain, other, tmp_path
):
    data = f"---\n{matter}---\n{body}".replace("\n", newline).encode()
    (one,) = import_skills(brain, write(b"\xef\xbb\xbf" + data, "x")).imported
    export_skills(brain, tmp_path / "out", [one.skill_id])
    (written,) = (tmp_path / "out").rglob("SKILL.md")
    assert written.read_bytes() == data
    used(brain, one.skill_id)
    export_skills(brain, tmp_path / "used", [one.skill_id])
    (written,) = (tmp_path / "used").rglob("SKILL.md")
    told, before = written.read_bytes().decode(), data.decode()
    assert told != before and told.endswith(before.partition("---")[2].partition("---" + newline)[2])
    assert all(line in told.split(newline) for line in matter.splitlines() if "metadata" not in line)
    values, were = (yaml.safe_load(text.split("---" + newline)[1]) for text in (told, before))
    values["metadata"] = {k: v for k, v in values["metadata"].items() if not k.startswith("brain-")} or None
    nothing = (None, {})
    assert {k: v for k, v in values.items() if v not in nothing} == {k: v for k, v in were.items() if v not in nothing}
    (again,) = import_skills(other, tmp_path / "used").imported
    assert [warning.rule for warning in again.warnings] == [w.rule for w in one.warnings if w.rule != "name-folder"]
    assert other.get_skill(one.skill_id) == brain.get_skill(one.skill_id)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_is_kept_to_the_byte(body, write, brain, tmp_path):
    data = f"---\nname: x\ndescription: y\n---\n{body}".encode()
    (one,) = import_skills(brain, write(data, "x")).imported
    assert body_of(brain.get_skill(one.skill_id)) == body
    export_skills(brain, tmp_path / "out")
    assert (tmp_path / "out" / "x" / "SKILL.md").read_bytes() == data


@pytest.mark.parametrize("metadata", ["[a, b]", "text", "\n  ? a\n  : b"])
def test_metadata_without_room_stays_as_it_is_and_that_is_told(metadata, write, brain, tmp_path):
    data = f"---\nname: x\ndescription: y\nmetadata: {metadata}\n---\nbody\n".encode()
    (one,) = import_skills(brain, write(data, "x")).imported
    used(brain, one.skill_id)
    (done,) = export_skills(brain, tmp_path / "out", ["x"])
    assert "no room" in done.warnings[0]
    assert (tmp_path / "out" / "x" / "SKILL.md").read_bytes() == data


def test_keys_that_only_look_like_entries_are_left(write, brain, tmp_path):
    data = b"---\nname: x\ndescription: y\nmetadata:\n  brain-surgery: 'yes'\n---\nbody\n"
    (one,) = import_skills(brain, write(data, "x")).imported
    export_skills(brain, tmp_path / "out")
    assert (tmp_path / "out" / "x" / "SKILL.md").read_bytes() == data
    assert one.warnings == ()


SCALARS = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), max_size=20)
VALUES = st.recursive(
    SCALARS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SCALARS, inner, max_size=3),
    max_leaves=5,
)
ENTRY_KEYS = st.from_regex(r"\A[a-z][a-z-]{0,12}\Z").filter(lambda key: key != "added")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(SCALARS.filter(lambda key: not key.startswith("brain-")), VALUES, max_size=4),
    st.none() | st.dictionaries(SCALARS.filter(lambda key: not key.startswith("brain-")), VALUES, max_size=3),
    st.dictionaries(
        ENTRY_KEYS, st.text(st.characters(exclude_categories=("Cs",)), max_size=40), min_size=1, max_size=5
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_entries_go_in_and_come_out_of_any_front_matter_without_a_trace(fields, metadata, entries, newline, flow):
    given_fields = {**fields, "name": "x"} | ({} if metadata is None else {"metadata": metadata})
    matter = yaml.safe_dump(
        given_fields, allow_unicode=True, sort_keys=False, default_flow_style=None if flow else False
    )
    text = f"---\n{matter}---\nbody\n".replace("\n", newline)
    if FrontMatter.of(text).fields.get("metadata") not in (None, metadata):
        return  # YAML reads back something else than it was given: a line end that it does not know
    told = with_entries(text, entries)
    if told is None:
        assert metadata is not None or FrontMatter.of(text).root.flow_style  # else there is always room
        return
    assert without_entries(FrontMatter.of(told)) == (text, entries)


# Files beside


def test_files_beside_come_along_and_go_back(write, brain, tmp_path):
    scripts = {"scripts/run.sh": "#!/bin/sh\r\necho hi\n", "references/deep/a.md": "# ü\n", "LICENSE.txt": ""}
    top = write(PLAIN, **scripts)
    (top / "pour-coffee" / "scripts" / "run.sh").chmod(0o755)
    (one,) = import_skills(brain, top).imported
    assert one.warnings == ()
    export_skills(brain, tmp_path / "out")
    out = tmp_path / "out" / "pour-coffee"
    assert {str(p.relative_to(out)): p.read_bytes().decode() for p in out.rglob("*") if p.is_file()} == {
        "SKILL.md": PLAIN,
        **scripts,
    }
    assert (out / "scripts" / "run.sh").stat().st_mode & 0o111
    assert not (out / "LICENSE.txt").stat().st_mode & 0o111
    (again,) = import_skills(brain, tmp_path / "out").imported
    assert again.status == "unchanged"


def test_a_folder_within_is_no_skill_of_its_own(write, brain):
    top = write(PLAIN, **{"examples/other/SKILL.md": PLAIN})
    (one,) = import_skills(brain, top).imported
    assert "examples/other/SKILL.md" in brain.get_skill(one.skill_id).skill_file["files"]


def test_a_single_folder_and_a_single_file_are_taken_too(write, brain):
    top = write(PLAIN)
    assert import_skills(brain, top / "pour-coffee").imported[0].path == "SKILL.md"
    assert import_skills(brain, top / "pour-coffee" / "SKILL.md").imported[0].status == "unchanged"
    (top / "pour-coffee" / "SKILL.md").rename(top / "pour-coffee" / "skill.md")
    assert import_skills(brain, top).imported[0].status == "unchanged"


# The same name again


def test_another_file_of_the_name_gets_an_id_of_its_own(write, brain):
    import_skills(brain, write(PLAIN))
    changed = PLAIN.replace("in circles", "in spirals")
    (one,) = import_skills(brain, write(changed)).imported
    assert one.status == "new" and one.skill_id.startswith("pour-coffee-")
    assert "same-name" in {warning.rule for warning in one.warnings}
    assert import_skills(brain, write(changed)).imported[0].skill_id == one.skill_id
    assert len(brain.get_skills()) == 2


def test_a_newer_file_takes_the_place_of_the_older_and_what_was_seen_stays(write, brain):
    import_skills(brain, write(PLAIN))
    brain.feedback("pour-coffee", {"task": "coffee"}, True)
    was = brain.get_skill("pour-coffee")
    changed = PLAIN.replace("in circles", "in spirals")
    (one,) = import_skills(brain, write(changed), existing="replace").imported
    now = brain.get_skill("pour-coffee")
    assert (one.status, one.skill_id) == ("replaced", "pour-coffee")
    assert now.procedure[-1].action == "Pour slowly in spirals"
    assert (now.confidence, now.transfer_history) == (was.confidence, was.transfer_history)
    assert now.version > was.version
    (skipped,) = import_skills(brain, write(PLAIN), existing="skip").imported
    assert skipped.status == "skipped" and brain.get_skill("pour-coffee") == now


def test_a_learned_skill_is_never_replaced_by_a_file_of_its_name(write, brain):
    from tests.contract.samples import bread

    brain.observe(**bread(), skill_id="pour-coffee")
    (one,) = import_skills(brain, write(PLAIN), existing="replace").imported
    assert one.status == "new" and one.skill_id != "pour-coffee"
    assert brain.get_skill("pour-coffee").task == "bake sourdough bread"


def test_two_of_a_name_in_one_folder_both_come_in_whatever_is_said_of_those_that_are_there(write, brain):
    for existing in ("skip", "replace"):
        for number in (1, 2, 3):
            write(PLAIN.replace("circles", f"{existing} {number}"), f"{existing}-{number}")
        top = write(PLAIN.replace("circles", f"{existing} 3"), f"{existing}-3")
        statuses = [one.status for one in import_skills(brain, top, existing=existing).imported]
        if existing == "skip":
            assert statuses == ["new"] * 3
    assert len({skill.skill_file["text"] for skill in brain.get_skills()}) == 6  # the first of the last is a new one


def test_ids_that_are_all_taken_are_said(write, brain):
    from brain.model.text import digest
    from tests.contract.samples import skill

    whole = digest(PLAIN)
    for skill_id in ("pour-coffee", f"pour-coffee-{whole[:6]}", f"pour-coffee-{whole}"):
        brain.skill_graph.save_skill(skill(skill_id))
    report = import_skills(brain, write(PLAIN))
    assert whole in report.refused[0].faults[0].message and report.imported == []
