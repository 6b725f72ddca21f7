"""Does what is remembered of words change what is read? And are lists that were changed in place checked anew?"""

import pytest

from brain.analysis.outline import outline_of
from brain.analysis.profile import profile_of, profile_of_skill
from brain.analysis.wordclasses import LONGEST_KEPT, WordClass, words_of
from brain.errors import InputError
from brain.model.skill import ELLIPSIS, Skill, SkillStep

SENTENCE = "Split the report, then don't plan the light book. 分析合同 der Plan. "


@pytest.mark.parametrize("language", [None, "en", "de", "fr", "zh"])
def test_a_text_too_long_to_be_remembered_is_read_as_a_short_one(language):
    times = LONGEST_KEPT // len(SENTENCE) + 1
    language = "en" if language is None else language
    assert list(words_of(SENTENCE * times, language)) == list(words_of(SENTENCE, language)) * times


def test_a_word_is_read_by_its_neighbours_whichever_reading_came_first():
    for clause, kind in (("plan the trip", "V"), ("the plan", "N"), ("plan the trip", "V"), ("the plan", "N")):
        assert next(word.kind for word in words_of(clause, "en") if word.text == "plan") == kind


def test_a_word_is_read_in_each_language_by_itself():
    for name, kind in (("en", WordClass.NOUN), ("de", WordClass.FUNCTION), ("en", WordClass.NOUN)):
        assert words_of("der", name)[0].kind == kind


def test_a_word_class_is_found_by_its_letter():
    assert {kind: kind.name for kind in WordClass}["V"] == "VERB"


@pytest.mark.parametrize("actions", [("Open it",), (ELLIPSIS,), ("Open it", ELLIPSIS)])
@pytest.mark.parametrize("task", ["", " ", "Open the valve"])
def test_the_profile_of_a_skill_has_the_outline_of_its_task_and_every_step(task, actions):
    skill = Skill(
        name="A name",
        procedure=[SkillStep(action=action) for action in actions],
        source_context={"metadata": {"task": task}},
    )
    steps = [step.full_text for step in skill.procedure]
    profile = profile_of_skill(skill)
    assert profile.outline == outline_of(task, steps)
    assert profile.terms == profile_of("", task, steps).terms


@pytest.mark.parametrize("tag", [5, None, ["a"], {"a": 1}])
def test_a_tag_that_is_no_text_is_refused_though_the_list_was_changed_in_place(in_memory, tag):
    skill = Skill(name="A name")
    skill.tags.append(tag)
    with pytest.raises(InputError, match="tags"):
        in_memory().skill_graph.save_skills([skill])
