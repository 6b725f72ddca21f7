"""Is what is not valid refused with a clear error, on every path, and is nothing written?"""

import math

import pytest

from brain import BrainError, Limits, Skill, SyncBrain
from brain.errors import InputError, LimitError
from tests.contract.raw import raw
from tests.contract.samples import bread, plain, skill

NAN, INF = math.nan, math.inf
SURROGATE = "lone \ud800 surrogate"


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def shown(value):
    """A short name for a test's value."""
    text = ascii(value)
    return text if len(text) <= 30 else f"{text[:20]}... of {len(text)}"


def circle():
    value = {}
    value["again"] = [value]
    return value


@pytest.fixture
def untouched(brain, place):
    """Checks at the end that the store holds what it held at the beginning: one skill."""
    brain.observe(**bread(), skill_id="stored", trace_id="t")
    before = [plain(s) for s in brain.get_skills()], raw(place).counts()
    yield brain
    assert ([plain(s) for s in brain.get_skills()], raw(place).counts()) == before


TRACE, CONTEXT, OUTCOME = {"steps": ["a step"]}, {"task": "do a thing"}, {"success": True, "quality": 0.5}

LEARN = {
    "no trace": (None, CONTEXT, OUTCOME),
    "trace is text": ('{"steps": []}', CONTEXT, OUTCOME),
    "trace is a list": ([TRACE], CONTEXT, OUTCOME),
    "no context": (TRACE, None, OUTCOME),
    "context is text": (TRACE, "task", OUTCOME),
    "no outcome": (TRACE, CONTEXT, None),
    "outcome is a bool": (TRACE, CONTEXT, True),
    "success is missing": (TRACE, CONTEXT, {"quality": 0.5}),
    "success is text": (TRACE, CONTEXT, {"success": "false"}),
    "success is true as text": (TRACE, CONTEXT, {"success": "true"}),
    "success is a number": (TRACE, CONTEXT, {"success": 1}),
    "success is null": (TRACE, CONTEXT, {"success": None}),
    "quality above one": (TRACE, CONTEXT, {"success": True, "quality": 1.01}),
    "quality below zero": (TRACE, CONTEXT, {"success": True, "quality": -0.01}),
    "quality is text": (TRACE, CONTEXT, {"success": True, "quality": "0.9"}),
    "quality is a bool": (TRACE, CONTEXT, {"success": True, "quality": True}),
    "quality is null": (TRACE, CONTEXT, {"success": True, "quality": None}),
    "quality is not a number": (TRACE, CONTEXT, {"success": True, "quality": NAN}),
    "quality is infinite": (TRACE, CONTEXT, {"success": True, "quality": INF}),
    "quality of a failure": (TRACE, CONTEXT, {"success": False, "quality": 7}),
    "neither task nor steps": ({}, {"domain": "d"}, OUTCOME),
    "empty task and no steps": ({"steps": []}, {"task": " \n"}, OUTCOME),
    "task is a number": (TRACE, {"task": 5}, OUTCOME),
    "domain is a list": (TRACE, {"task": "t", "domain": ["d"]}, OUTCOME),
    "steps are text": ({"steps": "one, two"}, CONTEXT, OUTCOME),
    "steps are an object": ({"steps": {"0": "one"}}, CONTEXT, OUTCOME),
    "a step is empty": ({"steps": ["one", ""]}, CONTEXT, OUTCOME),
    "a step is blank": ({"steps": ["one", " \t\n"]}, CONTEXT, OUTCOME),
    "a step is null": ({"steps": [None]}, CONTEXT, OUTCOME),
    "a step is a number": ({"steps": [1]}, CONTEXT, OUTCOME),
    "a step is a list": ({"steps": [["one"]]}, CONTEXT, OUTCOME),
    "a step has no text": ({"steps": [{"result": "success"}]}, CONTEXT, OUTCOME),
    "a step has an empty action": ({"steps": [{"action": ""}]}, CONTEXT, OUTCOME),
    "an agent is empty": ({"agents": [""]}, CONTEXT, OUTCOME),
    "not a number in a step": ({"steps": [{"action": "a", "parameters": {"deep": [NAN]}}]}, CONTEXT, OUTCOME),
    "infinity in a step": ({"steps": [{"action": "a", "metadata": {"x": -INF}}]}, CONTEXT, OUTCOME),
    "bytes in a step": ({"steps": [{"action": "a", "parameters": {"x": b"x"}}]}, CONTEXT, OUTCOME),
    "a set in a step": ({"steps": [{"action": "a", "parameters": {"x": {1}}}]}, CONTEXT, OUTCOME),
    "an object in a step": ({"steps": [{"action": "a", "parameters": {"x": object()}}]}, CONTEXT, OUTCOME),
    "a key that is no text": ({"steps": [{"action": "a", "parameters": {1: "x"}}]}, CONTEXT, OUTCOME),
    "a key of the trace that is no text": ({**TRACE, 1: 2}, CONTEXT, OUTCOME),
    "a key of the context that is no text": (TRACE, {**CONTEXT, None: 2}, OUTCOME),
    "not a number in the context": (TRACE, {**CONTEXT, "input": [NAN]}, OUTCOME),
    "not a number in the outcome": (TRACE, CONTEXT, {**OUTCOME, "score": INF}),
    "optional is text": ({"steps": [{"action": "a", "is_optional": "yes"}]}, CONTEXT, OUTCOME),
    "description is a number": ({"steps": [{"action": "a", "description": 5}]}, CONTEXT, OUTCOME),
    "surrogate in a step": ({"steps": [SURROGATE]}, CONTEXT, OUTCOME),
    "surrogate in a parameter": ({"steps": [{"action": "a", "parameters": {"x": [SURROGATE]}}]}, CONTEXT, OUTCOME),
    "surrogate in a key": ({"steps": [{"action": "a", "parameters": {SURROGATE: 1}}]}, CONTEXT, OUTCOME),
    "surrogate in a key of a step": ({"steps": [{"action": "a", SURROGATE: 1}]}, CONTEXT, OUTCOME),
    "surrogate in a key of the trace": ({**TRACE, SURROGATE: 1}, CONTEXT, OUTCOME),
    "surrogate in the task": (TRACE, {"task": SURROGATE}, OUTCOME),
    "surrogate in the domain": (TRACE, {"task": "t", "domain": SURROGATE}, OUTCOME),
    "too deep": ({"steps": [{"action": "a", "parameters": {"x": deep(100)}}]}, CONTEXT, OUTCOME),
    "far too deep": ({"steps": [{"action": "a", "parameters": {"x": deep(5_000)}}]}, CONTEXT, OUTCOME),
    "a circle": ({"steps": [{"action": "a", "parameters": circle()}]}, CONTEXT, OUTCOME),
    "a huge integer": ({"steps": [{"action": "a", "parameters": {"x": 10**5_000}}]}, CONTEXT, OUTCOME),
    "too many steps": ({"steps": ["a"] * 1_001}, CONTEXT, OUTCOME),
    "too many agents": ({"agents": ["a"] * 1_001}, CONTEXT, OUTCOME),
    "too many planned steps": (TRACE, {**CONTEXT, "steps": ["a"] * 1_001}, OUTCOME),
    "too much text in a step": ({"steps": ["x" * 1_000_001]}, CONTEXT, OUTCOME),
    "too much text in all": ({"steps": ["x" * 2_000] * 600}, CONTEXT, OUTCOME),
    "too much text in the task": (TRACE, {"task": "x" * 1_000_001}, OUTCOME),
    "too much text in bytes": (TRACE, {"task": "🍞" * 250_001}, OUTCOME),
    "too much text in a key": (TRACE, {**CONTEXT, "x" * 1_000_001: 1}, OUTCOME),
    "too much text in the outcome": (TRACE, CONTEXT, {**OUTCOME, "note": "x" * 1_000_001}),
}


@pytest.mark.parametrize("kind", LEARN)
def test_learn_refuses(untouched, kind):
    with pytest.raises(InputError) as caught:
        untouched.learn(*LEARN[kind])
    assert 10 < len(str(caught.value)) < 2_000


BAD_IDS = [
    "",
    " ",
    "a/b",
    "x" * 201,
    "x" * 300,
    "a b",
    "-a",
    ".a",
    "ä",
    "a\n",
    "\n",
    "a\x00",
    "🍞",
    5,
    None,
    b"a",
    ["a"],
]


@pytest.mark.parametrize("bad", [value for value in BAD_IDS if value is not None], ids=shown)
def test_observe_refuses_malformed_ids(untouched, bad):
    for name in ("skill_id", "trace_id"):
        with pytest.raises(InputError, match=name.replace("_", " ")):
            untouched.observe(TRACE, CONTEXT, OUTCOME, **{name: bad})


NO_IDS = ["", " ", "\n", SURROGATE, "x" * 1_001, "a\0b", 5, None, b"a", ["a"]]
"""What nothing that is stored can have as its id. Others chose ids that `BAD_IDS` lets nobody choose: test_odd_ids."""


@pytest.mark.parametrize("bad", NO_IDS, ids=shown)
def test_every_verb_refuses_what_is_no_id(untouched, bad):
    graph = untouched.skill_graph
    calls = [
        lambda: untouched.get_skill(bad),
        lambda: untouched.feedback(bad, {}, True),
        lambda: graph.get_skill(bad),
        lambda: graph.delete_skill(bad),
        lambda: graph.get_edges(bad),
        lambda: graph.get_related_skills(bad),
        lambda: graph.add_edge(bad, "COMPLEMENTS", "stored"),
        lambda: graph.add_edge("stored", "COMPLEMENTS", bad),
        lambda: untouched.transfer_engine.score_skill(bad, CONTEXT),
        lambda: graph.get_many([bad]),
        lambda: graph.delete_edge(bad, "COMPLEMENTS", "stored"),
        lambda: untouched.get_traces(bad),
        lambda: untouched.why(bad, CONTEXT),
        lambda: untouched.observe(TRACE, CONTEXT, OUTCOME, derived_from=[bad]),
    ]
    for call in calls:
        with pytest.raises(InputError):
            call()


@pytest.mark.parametrize("good", ["a", "A-1", "a.b_c:d@e+f-g", "9" * 200, "1"])
def test_ids_within_the_rules_are_taken(brain, good):
    assert brain.observe(**bread(), skill_id=good, trace_id=good).skill.id == good
    assert brain.get_skill(good).id == good
    assert brain.feedback(good, {}, True).recorded


@pytest.mark.parametrize("bad", BAD_IDS, ids=shown)
def test_a_malformed_namespace_is_refused(place, bad):
    with pytest.raises(InputError, match="namespace"):
        SyncBrain.open(place.location, namespace=bad)


@pytest.mark.parametrize("name", ["", " ", 5, SURROGATE, ["n"], "x" * 1_000_001])
def test_a_bad_name_is_refused(untouched, name):
    with pytest.raises(InputError):
        untouched.learn(TRACE, CONTEXT, OUTCOME, name)


RECALL = {
    "nothing": {},
    "no context": None,
    "text": "task",
    "empty task": {"task": ""},
    "blank task": {"task": "  \n"},
    "a domain alone": {"domain": "d"},
    "task is a number": {"task": 5},
    "a blank step": {"task": "t", "steps": [" "]},
    "surrogate": {"task": SURROGATE},
    "not a number": {"task": "t", "input": NAN},
    "too many steps": {"task": "t", "steps": ["a"] * 1_001},
    "too much text": {"task": "x" * 1_000_001},
    "too deep": {"task": "t", "input": deep(100)},
    "a circle": {"task": "t", "input": circle()},
}


@pytest.mark.parametrize("kind", RECALL)
def test_recall_and_scoring_refuse(untouched, kind):
    for call in (untouched.recall, lambda c: untouched.transfer_engine.score_skill("stored", c)):
        with pytest.raises(InputError):
            call(RECALL[kind])


FEEDBACK = {
    "success is text": (CONTEXT, "true", {}),
    "success is a number": (CONTEXT, 1, {}),
    "success is null": (CONTEXT, None, {}),
    "no context": (None, True, {}),
    "context is text": ("t", True, {}),
    "task is a number": ({"task": 5}, True, {}),
    "adaptations are a list": (CONTEXT, True, ["a"]),
    "adaptations are an empty list": (CONTEXT, True, []),
    "adaptations are text": (CONTEXT, True, "a"),
    "adaptations are empty text": (CONTEXT, True, ""),
    "adaptations are false": (CONTEXT, True, False),
    "not a number": (CONTEXT, True, {"x": NAN}),
    "surrogate": (CONTEXT, True, {"x": SURROGATE}),
    "surrogate in a key": (CONTEXT, True, {SURROGATE: 1}),
    "too much text": (CONTEXT, True, {"x": "x" * 1_000_001}),
    "too deep": (CONTEXT, True, {"x": deep(100)}),
    "too many steps": ({"task": "t", "steps": ["a"] * 1_001}, True, {}),
}


@pytest.mark.parametrize("kind", FEEDBACK)
def test_feedback_refuses(untouched, kind):
    with pytest.raises(InputError):
        untouched.feedback("stored", *FEEDBACK[kind])


def changed(**fields):
    """A skill changed after it was validated, as a program may do."""
    given = skill("new")
    given.__dict__.update(fields)
    return given


SAVE = {
    "an object": lambda: {"id": "new", "name": "n"},
    "nothing": lambda: None,
    "no name and no steps": lambda: Skill(id="new"),
    "a malformed id": lambda: Skill(id="a/b", name="n"),
    "an id without an end": lambda: Skill(id="x" * 1_001, name="n"),
    "an id that is no text": lambda: changed(id=5),
    "too many steps": lambda: Skill(id="new", name="n", procedure=[{"action": "a"}] * 1_001),
    "too many tags": lambda: skill("new", tags=[f"t{i}" for i in range(1_001)]),
    "too much text": lambda: skill("new", description="x" * 1_000_001),
    "too much text in an unknown field": lambda: skill("new", later="x" * 1_000_001),
    "too deep": lambda: Skill(id="new", name="n", source_context={"x": deep(100)}),
    "confidence out of range": lambda: changed(confidence=1.5),
    "confidence is not a number": lambda: changed(confidence=NAN),
    "infinite rate": lambda: changed(success_rate=INF),
    "surrogate in a tag": lambda: changed(tags=[SURROGATE]),
    "surrogate in a name": lambda: changed(name=SURROGATE),
    "features of the wrong kind": lambda: skill("new", source_context_="x").model_copy(
        update={"source_context": {"task_structures": "not a list"}}
    ),
    "complexity out of range": lambda: skill("new").model_copy(update={"source_context": {"complexity": 99}}),
}


@pytest.mark.parametrize("kind", SAVE)
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_saving_refuses(untouched, kind, many):
    given = SAVE[kind]()
    graph = untouched.skill_graph
    with pytest.raises(InputError):
        graph.save_skills([skill("fine"), given]) if many else graph.save_skill(given)


def test_an_edge_with_too_large_metadata_is_refused(untouched):
    untouched.skill_graph.save_skill(skill("b"))
    for metadata in ({"x": "x" * 1_000_001}, {"x": deep(100)}, {SURROGATE: 1}, {"x": SURROGATE}):
        with pytest.raises(InputError):
            untouched.skill_graph.add_edge("stored", "COMPLEMENTS", "b", metadata)
    assert untouched.skill_graph.get_edges("b") == []
    untouched.skill_graph.delete_skill("b")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("levels", [100, 5_000, None], ids=["deep", "far too deep", "a circle"])
def test_metadata_without_an_end_is_refused_and_not_followed_for_ever(untouched, levels):
    with pytest.raises(InputError):
        untouched.skill_graph.add_edge("stored", "COMPLEMENTS", "other", {"x": deep(levels) if levels else circle()})


@pytest.mark.parametrize("tag", [SURROGATE, "\udfff"])
def test_a_tag_that_cannot_be_stored_is_refused_in_a_search(untouched, tag):
    with pytest.raises(InputError):
        untouched.skill_graph.find_by_tag(tag)


# Caps


@pytest.mark.parametrize(
    ("cap", "call"),
    [
        ("steps", lambda b: b.learn({"steps": ["a"] * 4}, CONTEXT, OUTCOME)),
        ("steps", lambda b: b.learn({"agents": ["a"] * 4}, CONTEXT, OUTCOME)),
        ("steps", lambda b: b.learn(TRACE, {**CONTEXT, "steps": ["a"] * 4}, OUTCOME)),
        ("steps", lambda b: b.recall({**CONTEXT, "steps": ["a"] * 4})),
        ("steps", lambda b: b.transfer_engine.score_skill("x", {**CONTEXT, "steps": ["a"] * 4})),
        ("steps", lambda b: b.feedback("x", {**CONTEXT, "steps": ["a"] * 4}, True)),
        ("steps", lambda b: b.skill_graph.save_skill(Skill(name="n", procedure=[{"action": "a"}] * 4))),
        ("text_bytes", lambda b: b.learn({"steps": ["a" * 4_100]}, CONTEXT, OUTCOME)),
        ("text_bytes", lambda b: b.learn(TRACE, {"task": "é" * 2_050}, OUTCOME)),
        ("text_bytes", lambda b: b.learn(TRACE, CONTEXT, OUTCOME, "n" * 4_100)),
        ("text_bytes", lambda b: b.recall({"task": "a" * 4_100})),
        ("text_bytes", lambda b: b.transfer_engine.score_skill("x", {"task": "a" * 4_100})),
        ("text_bytes", lambda b: b.feedback("x", {"task": "a" * 4_100}, True)),
        ("text_bytes", lambda b: b.feedback("x", {}, True, {"k" * 4_100: 1})),
        ("text_bytes", lambda b: b.skill_graph.save_skill(Skill(name="n" * 4_100))),
        ("text_bytes", lambda b: b.skill_graph.add_edge("x", "COMPLEMENTS", "y", {"k": "v" * 4_100})),
        ("tags", lambda b: b.skill_graph.save_skill(Skill(name="n", tags=list("abcd")))),
        ("nesting", lambda b: b.learn({"steps": [{"action": "a", "p": deep(12)}]}, CONTEXT, OUTCOME)),
        ("nesting", lambda b: b.recall({**CONTEXT, "input": deep(12)})),
        ("nesting", lambda b: b.feedback("x", {}, True, {"k": deep(12)})),
        ("nesting", lambda b: b.skill_graph.save_skill(Skill(name="n", source_context={"x": deep(12)}))),
        ("nesting", lambda b: b.skill_graph.add_edge("x", "COMPLEMENTS", "y", {"k": deep(12)})),
    ],
)
def test_a_cap_is_the_same_on_every_path_and_named_in_the_error(place, cap, call):
    limits = Limits(steps=3, text_bytes=4_000, tags=3, nesting=8)
    brain = place.open(limits=limits)
    with pytest.raises(LimitError, match=rf"Limits\({cap}=") as caught:
        call(brain)
    assert (caught.value.limit, caught.value.allowed) == (cap, getattr(limits, cap))
    assert caught.value.actual > caught.value.allowed
    assert brain.get_skills() == []


def test_a_cap_can_be_raised(place):
    brain = place.open(limits=Limits(steps=1_200))
    learned = brain.learn({"steps": [f"step {i}" for i in range(1_100)]}, {"task": "walk"}, OUTCOME)
    assert len(brain.get_skill(learned.id).procedure) == 1_100


def test_what_just_fits_is_taken(brain):
    learned = brain.learn({"steps": ["x" * 480_000]}, {"task": "t"}, OUTCOME)
    assert brain.get_skill(learned.id).procedure[0].description == "x" * 480_000
    steps = brain.learn({"steps": [f"step {i}" for i in range(1_000)]}, {"task": "walk"}, OUTCOME)
    assert len(brain.get_skill(steps.id).procedure) == 1_000


def test_every_refusal_is_one_of_the_packages_errors(brain):
    for arguments in LEARN.values():
        with pytest.raises(BrainError):
            brain.learn(*arguments)
    assert brain.get_skills() == []
