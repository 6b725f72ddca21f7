"""Are two texts taken for one procedure when they are, and for two when anything turns one around?"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.analysis.duplicates import agreement
from brain.analysis.outline import Outline, outline_of
from brain.analysis.profile import profile_of, profile_of_skill, stored_outline
from brain.analysis.vocabulary import akin
from brain.model.skill import Skill, SkillStep

TASK = "Clean up the disk of the build server"
STEPS = (
    "List the largest folders",
    "Delete the temporary files",
    "Empty the package cache",
    "Check the free space again",
)
WORDS = (
    "split the contract then check each part not from to files delete create 分析 不 сравнить ohne Datei 5 7".split()
)
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
outlines = st.builds(outline_of, texts, st.lists(texts, max_size=4))


def told(task, *steps):
    return profile_of("", task, steps).outline


def with_step(place, step):
    return told(TASK, *STEPS[:place], step, *STEPS[place + 1 :])


@given(outlines)
def test_equal_texts_agree_fully_if_they_say_anything(outline):
    says = any(line.words for line in outline.lines)
    assert agreement(outline, outline) == float(says)


@given(outlines, outlines)
def test_agreement_is_within_zero_and_one_and_symmetric(left, right):
    value = agreement(left, right)
    assert 0 <= value <= 1
    assert value == pytest.approx(agreement(right, left))


@given(outlines)
def test_an_outline_survives_its_text_form(outline):
    assert Outline.from_list(outline.to_list()) == outline


@pytest.mark.parametrize("lines", [None, 5, [], ["en"], "x"])
def test_a_stored_outline_whose_lines_cannot_be_read_is_none(lines):
    stored = profile_of("", TASK, STEPS).to_text()
    assert stored_outline(stored)
    assert stored_outline(json.dumps(json.loads(stored) | {"lines": lines})) is None


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        (
            "Cleaning up the disk on the build server",
            (
                "First list the largest folders",
                "All temporary files are deleted",
                "Empty the cache of packages",
                "Check again how much free space there is",
            ),
        ),
        (TASK, ("List the largest folders and delete the temporary files", *STEPS[2:])),
    ],
)
def test_other_words_and_merged_steps_tell_the_same(task, steps):
    assert 0 < agreement(told(TASK, *STEPS), told(task, *steps)) < 1


@pytest.mark.parametrize(
    ("place", "step"),
    [
        pytest.param(1, "Do not delete the temporary files", id="negation"),
        pytest.param(1, "Restore the temporary files", id="another verb"),
        pytest.param(1, "Delete the production database", id="another object"),
        pytest.param(1, "Delete all temporary files of customers and staff", id="a wider object"),
        pytest.param(2, "Fill the package cache", id="opposite"),
    ],
)
def test_one_step_that_differs_among_equal_ones_is_another_procedure(place, step):
    assert agreement(told(TASK, *STEPS), with_step(place, step)) == 0


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param(
            ("Import customers", "Read the file from the server", "Write the valid rows", "Report the rejected rows"),
            ("Import customers", "Read a file from the server", "Write all rejected rows", "Report all valid rows"),
            id="words exchanged",
        ),
        pytest.param(
            ("Move data", "Copy the tables from staging to production", "Compare the row counts"),
            ("Moving data", "The tables are copied from production to staging", "Compare all the row counts"),
            id="direction",
        ),
        pytest.param(
            ("Run the plant", "Switch the pump on", "Watch the gauge"),
            ("Running the plant", "Switch a pump off", "Watch the gauge"),
            id="particle",
        ),
        pytest.param(
            ("Rest the dough", "Let the dough rest for 5 minutes", "Shape a loaf"),
            ("Resting the dough", "Let a dough rest for 50 minutes", "Shape the loaf"),
            id="number",
        ),
        pytest.param(
            ("Ship it", "Run the tests", "Deploy the service", "Watch the error rate", "Tell the team"),
            ("Shipping it", "Deploy a service", "Run all tests", "Watch the error rates", "Tell the whole team"),
            id="two steps change places",
        ),
        pytest.param(
            ("Translate the contract", "Read the whole text", "Translate it", "Check the result"),
            ("Translating a poem", "Read the text", "It is translated", "The result is checked"),
            id="another object in the task alone",
        ),
        pytest.param(
            ("Das Konto prüfen", "Das Konto öffnen", "Den Betrag prüfen", "Die Sperre einschalten"),
            ("Ein Konto prüfen", "Das Konto öffnen", "Den Betrag prüfen", "Die Sperre ausschalten"),
            id="swapped prefix",
        ),
        pytest.param(
            ("处理退货申请", "核对订单号", "检查商品", "同意退货"),
            ("处理退货申请", "核对订单号", "检查商品", "拒绝退货"),
            id="Chinese",
        ),
        pytest.param(
            ("Ouvrir un compte", "Vérifier la pièce", "Signer le contrat", "Commander la carte"),
            ("Ouvrir un compte", "Vérifier la pièce", "Signer le contrat", "Ne pas commander la carte"),
            id="French",
        ),
        pytest.param(
            ("Repair it", "Open the case", "Clean the fan"),
            ("Es reparieren", "Open the case und dann weiter", "Clean the fan und das Gehäuse"),
            id="another language",
        ),
    ],
)
def test_what_turns_a_procedure_around_is_a_veto(one, two):
    assert agreement(told(*one), told(*two)) == 0


def test_one_step_must_agree_almost_fully():
    one = told("Free some space", "Delete the temporary files of the build server")
    assert agreement(one, told("Freeing space", "The temporary files of the build server are deleted")) > 0
    assert agreement(one, told("Free some space", "Delete the production files of the build server")) == 0
    assert agreement(one, told("Free some space", "Delete the temporary files", "Restart the build server")) == 0


def test_a_task_alone_must_agree_almost_fully():
    assert agreement(told("Bake a plain yeast bread"), told("Baking plain yeast bread")) > 0
    assert agreement(told("Bake a plain yeast bread"), told("Bake a plain yeast cake")) == 0
    assert agreement(told("Bake bread"), told("Do not bake bread")) == 0
    assert agreement(told(TASK), told(TASK, *STEPS)) == 0


def test_the_same_agents_for_another_task_are_another_skill():
    agents = [f"run agent {name}" for name in ("reader", "analyst", "writer", "critic", "editor")]
    summary = told("Summarise the quarterly report", *agents)
    assert agreement(summary, told("Summarising a quarterly report", *agents)) > 0
    assert agreement(summary, told("Diagnose the engine fault", *agents)) == 0


def test_texts_that_say_nothing_or_whose_negations_are_not_known_never_agree():
    assert agreement(told(""), told("")) == 0
    assert agreement(told("", "계약 검토", "보고서 작성"), told("", "계약 검토", "보고서를 작성")) == 0


def test_a_skill_without_task_is_compared_by_its_steps():
    skill = Skill(name="Cleaning", procedure=[SkillStep(order=i, action=step) for i, step in enumerate(STEPS)])
    assert agreement(profile_of_skill(skill).outline, told("", *STEPS)) > 0


def test_stems_of_one_word_are_akin_and_others_are_not():
    assert akin("deliv", "deliveri") and akin("ship", "shipment") is False
    for one, two in (("compar", "comput"), ("assign", "assist"), ("access", "accept"), ("contract", "contrast")):
        assert not akin(one, two)


def test_an_outline_keeps_language_classes_and_negations():
    outline = outline_of("Open the valve", ["Do not close it"])
    assert outline.to_list()[0] == "en"
    assert outline.steps[0].negations == 1
    assert outline.task.verbs == {"open"}
