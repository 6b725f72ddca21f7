"""Are types of skills told apart, and is what is not to be done never given as advice, on every store?"""

import pytest

from brain import LearnOutcome
from brain.errors import InputError
from tests.contract.samples import BREAD, bread, ids, skill

WARNING = {"skill_type": "anti_pattern", "skill_id": "warning"}


def recalled(brain, **options):
    return ids(found.skill for found in brain.recall({"task": BREAD, "domain": "kitchen"}, **options))


@pytest.fixture
def mixed(brain):
    """The same lesson learned as three types."""
    brain.observe(**bread(), skill_id="advice")
    brain.observe(**bread(), **WARNING)
    brain.observe(**bread(), skill_id="fact", skill_type="declarative")
    return brain


def test_skills_of_different_types_are_different_skills(mixed):
    assert {found.id: found.skill_type for found in mixed.get_skills()} == {
        "advice": "procedural",
        "warning": "anti_pattern",
        "fact": "declarative",
    }
    again = mixed.observe(**bread(), skill_type="anti_pattern")
    assert (again.outcome, again.skill.id) == (LearnOutcome.REINFORCED, "warning")


def test_an_anti_pattern_is_no_advice(mixed):
    assert sorted(recalled(mixed)) == ["advice", "fact"]
    assert sorted(recalled(mixed, top_k=1)) != ["warning"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (["anti_pattern"], ["warning"]),
        (("procedural",), ["advice"]),
        ({"anti_pattern", "declarative"}, ["fact", "warning"]),
        (["procedural", "anti_pattern", "declarative"], ["advice", "fact", "warning"]),
        (["episodic"], []),
    ],
)
def test_only_the_types_that_are_asked_for_are_recalled(mixed, place, clock, asked, found):
    assert sorted(recalled(mixed, skill_types=asked)) == found
    assert sorted(recalled(place.open(clock=clock), skill_types=asked)) == found, "a new process too"


def test_what_is_left_out_takes_nobodys_place(brain):
    for i in range(8):
        kind = "anti_pattern" if i % 2 else "procedural"
        brain.skill_graph.save_skill(skill(f"s{i}", BREAD, skill_type=kind, confidence=i / 10))
    assert recalled(brain, top_k=3) == ["s6", "s4", "s2"]
    assert recalled(brain, top_k=3, skill_types=["anti_pattern"]) == ["s7", "s5", "s3"]


def test_a_skill_whose_type_is_changed_is_recalled_as_what_it_is(mixed):
    changed = mixed.get_skill("advice")
    changed.skill_type = "anti_pattern"
    mixed.skill_graph.save_skill(changed)
    assert recalled(mixed) == ["fact"]
    assert sorted(recalled(mixed, skill_types=["anti_pattern"])) == ["advice", "warning"]


def test_why_says_that_the_type_is_the_reason(mixed):
    verdict = mixed.why("warning", {"task": BREAD})
    assert not verdict.returned
    assert "'anti_pattern'" in verdict.reason and "asked for" in verdict.reason
    assert mixed.why("warning", {"task": BREAD}, skill_types=["anti_pattern"]).returned
    verdict = mixed.why("advice", {"task": BREAD}, skill_types=["anti_pattern"])
    assert not verdict.returned
    assert "'procedural'" in verdict.reason
    assert verdict.candidate.evidence["rank"] is None


@pytest.mark.parametrize("wrong", ["procedural", [], (), [5], 7, [None]])
def test_types_that_are_none_are_refused(mixed, wrong):
    for call in (mixed.recall, lambda context, **o: mixed.why("advice", context, **o)):
        with pytest.raises(InputError, match="skill_types"):
            call({"task": BREAD}, skill_types=wrong)


@pytest.mark.parametrize("wrong", ["", "  ", None, 5, ["a"]])
def test_a_type_that_is_none_is_refused(brain, wrong):
    if wrong is None:
        assert brain.observe(**bread(), skill_type=wrong).skill.skill_type == "procedural", "as if it were left out"
        return
    with pytest.raises(InputError, match="skill_type"):
        brain.observe(**bread(), skill_type=wrong)


def test_a_type_is_learned_from_an_execution_too(brain):
    report = brain.learn_many([{**bread(), **WARNING}])
    assert report.learned == 1
    assert brain.get_skill("warning").skill_type == "anti_pattern"
