"""Do the inputs that broke comparable software work here, each with its whole kind, on every store?"""

import json
import logging
import math
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone

import pytest

from brain import LearnOutcome, Skill, SyncBrain
from brain.errors import BrainError, ConflictError, InputError
from tests.contract.raw import raw
from tests.contract.samples import BREAD, NESTED, RESERVED, audit, bread, execution, ids, plain, skill

SUCCESS = {"success": True, "quality": 0.5}


def learned_back(brain, *steps):
    learned = brain.learn({"steps": list(steps)}, {"task": "read the log"}, SUCCESS)
    return brain.get_skill(learned.id)


# I01 nested values


@pytest.mark.parametrize("where", ["metadata", "parameters", "arguments", "deeply odd key"])
@pytest.mark.parametrize(
    "value", [{"title": "Apache Kafka", "info": {"k": [1, {"z": 2}]}}, NESTED], ids=["case", "kind"]
)
def test_i01_nested_values_survive_reload_and_export_and_no_other_step_is_lost(brain, place, where, value):
    found = learned_back(brain, "open", {"action": "consume", where: value}, "close")
    assert [step.action for step in found.procedure] == ["open", "consume", "close"]
    assert found.to_dict()["procedure"][1][where] == value
    exported = json.loads(json.dumps(found.to_dict()))
    other = place.open(namespace=f"{place.namespace}.copy")
    assert other.skill_graph.save_skill(Skill.from_dict(exported)).to_dict()["procedure"][1][where] == value


# I04 lists


@pytest.mark.parametrize(
    "value",
    [["a", 1, True], [1, 2.5], [None, "x"], [["a"], ["b"]], [], [[]], [{}], [True, 1, 1.0], [2**70, -0.0], ["", None]],
    ids=repr,
)
@pytest.mark.parametrize("key", ["arguments", "parameters"])
def test_i04_lists_come_back_with_their_types(brain, key, value):
    step = learned_back(brain, {"action": "call", key: value}).to_dict()["procedure"][0]
    kept = step["parameters"]["value"] if key == "parameters" else step[key]
    assert repr(kept) == repr(value)


# I05 empty queries; zero vectors are in test_embeddings


@pytest.mark.parametrize("task", ["", " ", "\n\t", "\u3000", None])
def test_i05_an_empty_query_is_an_error_at_the_call(brain, task):
    brain.learn(**bread())
    with pytest.raises(InputError, match="task"):
        brain.recall({"task": task})


@pytest.mark.parametrize("task", ["?", "...", "🍞", "\x00", "\u200b", "的"])
def test_i05_a_query_without_words_gives_no_nan_and_a_stable_order(brain, task):
    brain.learn(**bread())
    brain.skill_graph.save_skill(skill("s", task))
    found = [[(c.skill.id, c.combined_score) for c in brain.recall({"task": task}, min_score=0.0)] for _ in range(3)]
    assert found[0] == found[1] == found[2]
    assert all(math.isfinite(score) for _, score in found[0])


# I08 empty text


def test_i08_empty_parts_beside_filled_ones_are_skipped(brain):
    trace = {"steps": [{"action": "answer", "description": "", "parameters": {}}], "agents": [], "strategy": ""}
    learned = brain.learn(trace, {"task": "", "domain": "", "input": ""}, SUCCESS)
    assert [step.action for step in learned.procedure] == ["answer"]
    assert learned.name.strip()
    assert plain(brain.get_skill(learned.id)) == plain(learned)


@pytest.mark.parametrize("trace", [{}, {"steps": []}, {"steps": None, "agents": None}, {"steps": [], "agents": []}])
def test_i08_a_task_without_steps_is_learned(brain, trace):
    learned = brain.learn(trace, {"task": "answer the letter"}, SUCCESS)
    assert learned.procedure == []
    assert brain.recall({"task": "answer the letter"})[0].skill.id == learned.id


@pytest.mark.parametrize("task", ["", "   ", "\n", None])
def test_i08_a_skill_learned_without_a_task_has_a_name(brain, task):
    assert brain.learn({"steps": ["knead the dough"]}, {"task": task}, SUCCESS).name == "Knead the dough"


@pytest.mark.parametrize("step", ["", " ", {"action": ""}, {"name": ""}, {"action": "", "result": "success"}])
def test_i08_a_step_named_nothing_is_an_error_at_the_call(brain, step):
    with pytest.raises(InputError, match="step 1"):
        brain.learn({"steps": ["fine", step]}, {"task": "t"}, SUCCESS)
    assert brain.get_skills() == []


# I09 search syntax

SYNTAX = (
    "/b testing|cause/solutions.|a AND|AND|OR NOT|foo:bar~ ^2 [x TO y}|\\|\"unclosed|'|(|)|*|?|+|-|!|&&|[|]|{|}|~|^|:|"
    "a*|*a|%|_|a%'; --|NEAR/3|{a b}|title:|\\\\|\\u0022|$task|`|//|/* x"
).split("|")


@pytest.mark.parametrize("query", [part for part in SYNTAX if part])
def test_i09_search_syntax_is_text(brain, query):
    brain.learn(**bread())
    assert ids(brain.skill_graph.find_by_tag(query)) == []
    brain.recall({"task": query, "domain": query, "steps": [query]}, min_score=0.0)
    learned = brain.learn({"steps": [query]}, {"task": query}, SUCCESS)
    assert brain.recall({"task": query})[0].skill.id == learned.id


# I13 tag filters

TAGS = [
    "a|b",
    "a",
    "b",
    "a,b",
    "a.b",
    "a:b",
    "a/b",
    "a\\b",
    "a{b}",
    "a*b",
    "a b",
    "{a}",
    "*",
    "-a",
    "@a",
    "(a|b)",
    "\\",
    "|",
]


def test_i13_a_tag_filter_finds_only_exactly_that_tag(brain):
    for i, tag in enumerate(TAGS):
        brain.skill_graph.save_skill(skill(f"s{i:02}", tags=(tag,)))
    for i, tag in enumerate(TAGS):
        assert ids(brain.skill_graph.find_by_tag(tag)) == [f"s{i:02}"]
        assert ids(brain.iter_skills(tag)) == [f"s{i:02}"]


# I15 relation names: texts in parameters, not the six relations


@pytest.mark.parametrize("name", ["non-compliant", "co-worker", "ICP-Kriterien", "A->B", "has space", "ÄÖÜ", "", "`x`"])
def test_i15_names_of_transitions_in_parameters_come_back(brain, name):
    parameters = {"transitions": [{"relation": name, name: [name]}], name: name}
    assert learned_back(brain, {"action": "move", "parameters": parameters}).procedure[0].parameters == parameters


@pytest.mark.parametrize("name", ["non-compliant", "co-worker", "ICP-Kriterien"])
def test_i15_a_relation_beyond_the_six_is_refused(brain, name):
    for skill_id in ("a", "b"):
        brain.skill_graph.save_skill(skill(skill_id))
    with pytest.raises(InputError, match="COMPLEMENTS"):
        brain.skill_graph.add_edge("a", name, "b")
    brain.skill_graph.add_edge("a", "COMPLEMENTS", "b", {"relation": name})
    assert brain.skill_graph.get_edges("a")[0].metadata == {"relation": name}


# I18 quoting


@pytest.mark.parametrize(
    "text",
    [
        "`tick` ``",
        "it's",
        'say "so"',
        "$param",
        "{curly}",
        "ends with \\",
        "all `'\"$p {c} \\",
        "'; DROP TABLE skill; --",
    ],
)
def test_i18_quoting_comes_back_byte_for_byte(brain, text):
    learned = brain.learn({"steps": [text, {"name": text, "tool": text}]}, {"task": text}, SUCCESS, text)
    found = brain.get_skill(learned.id)
    assert (found.name, found.task) == (text, text)
    assert [step.action for step in found.procedure] == [text, text]
    assert found.procedure[1].model_extra == {"tool": text}


# I19 long values


@pytest.mark.parametrize(
    "name",
    ["x" * 8_164, "x" * 8_165, "x" * 20_000, "🍞" * 3_000, "é" * 33_000, "x y " * 5_000],
    ids=lambda n: f"{n[:3]}*{len(n)}",
)
def test_i19_long_names_and_all_that_is_looked_up_are_stored(brain, name):
    learned = brain.observe(
        {"steps": [name, name]}, {"task": name, "domain": name}, SUCCESS, name, trace_id="t" * 200, skill_id="s" * 200
    ).skill
    brain.skill_graph.save_skill(learned.model_copy(update={"tags": [name, name + "2"], "skill_type": name}))
    found = brain.get_skill("s" * 200)
    assert (found.name, found.task, found.domain, found.skill_type) == (name,) * 4
    assert ids(brain.skill_graph.find_by_tag(name + "2")) == ["s" * 200]
    assert brain.recall({"task": name, "domain": name})[0].skill.id == "s" * 200
    assert brain.feedback("s" * 200, {"task": name, "domain": name}, True).recorded


# I22 date and time

MOMENTS = [
    "2026-03-01T08:00:00",
    "2026-03-01T09:00:00Z",
    "2026-03-01T12:00:00+02:00",
    datetime(2026, 3, 1, 11),
    datetime(2026, 3, 1, 14, tzinfo=timezone(timedelta(hours=2))),
    datetime(2026, 3, 1, 13, 0, 0, 1, tzinfo=UTC),
]


def test_i22_times_of_every_notation_are_one_zone_in_the_right_order(brain):
    for i, moment in enumerate(MOMENTS):
        brain.skill_graph.save_skill(skill(f"s{i}", created_at=moment, updated_at=moment))
    found = brain.get_skills()
    assert ids(sorted(found, key=lambda s: s.updated_at)) == [f"s{i}" for i in range(len(MOMENTS))]
    assert [s.created_at.hour for s in found] == [8, 9, 10, 11, 12, 13]
    for moved in found:
        assert moved.created_at.utcoffset() == timedelta(0)
        assert brain.feedback(moved.id, {}, True).recorded


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
def test_i22_an_expiry_of_every_notation_is_kept_and_holds(place, moment):
    instant = Skill(name="n", updated_at=moment).updated_at
    now = [instant - timedelta(microseconds=1)]
    brain = place.open(clock=lambda: now[0])
    brain.skill_graph.save_skill(skill("s", BREAD, expires_at=moment))
    assert datetime.fromisoformat(brain.get_skill("s").expires_at) == instant
    assert len(brain.recall({"task": BREAD})) == 1
    now[0] = instant
    assert brain.get_skill("s") is None
    assert brain.recall({"task": BREAD}) == []


def test_i22_a_clock_without_zone_is_taken_as_utc(place):
    brain = place.open(clock=lambda: datetime(2026, 3, 1, 12))
    learned = brain.learn(**bread())
    assert learned.created_at == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert brain.recall({"task": BREAD, "domain": "kitchen"})[0].skill.id == learned.id
    assert brain.feedback(learned.id, {}, True).recorded
    assert brain.cleanup_expired_skills()["deleted"] == 0


def test_i22_a_clock_of_another_zone_is_the_same_moment(place):
    brain = place.open(clock=lambda: datetime(2026, 3, 1, 14, tzinfo=timezone(timedelta(hours=2))))
    learned = brain.learn(**bread())
    brain.feedback(learned.id, {}, True)
    found = brain.get_skill(learned.id)
    for moment in (found.created_at, found.updated_at, found.transfer_history[0].timestamp):
        assert moment == datetime(2026, 3, 1, 12, tzinfo=UTC)
        assert moment.utcoffset() == timedelta(0)


# I24 JSON output


def test_i24_every_answer_is_plain_json(brain):
    learned = brain.learn(**bread())
    other = brain.observe(**audit(), derived_from=[learned.id]).skill
    told = brain.feedback(learned.id, {"task": "t", "domain": "d"}, True, {"a": [1]})
    candidate = brain.recall({"task": BREAD})[0]
    answers = [
        candidate.to_dict(),
        candidate.explain(),
        [s.to_dict() for s in brain.get_skills()],
        [e.to_dict() for e in brain.skill_graph.get_edges(other.id)],
        [s.to_dict() for s in brain.skill_graph.get_related_skills(other.id)],
        told.skill.to_dict(),
        brain.get_skill_summary(),
        brain.cleanup_expired_skills(),
    ]
    text = json.dumps(answers, allow_nan=False)
    again = json.loads(text)[2][0]
    for key in ("created_at", "updated_at", "expires_at"):
        assert datetime.fromisoformat(again[key]).utcoffset() == timedelta(0)
    for moment in (candidate.skill.created_at, told.skill.transfer_history[0].timestamp):
        assert type(moment) is datetime


# I25 and I30 are in test_concurrency, I34 and the zero vectors of I05 in test_embeddings


# I26 repeated learning


@pytest.mark.parametrize("way", ["the same", "with other spacing", "without steps", "as a failure", "with an id"])
def test_i26_learning_three_times_adds_nothing_after_the_first(brain, place, way):
    given = bread()
    if way == "without steps":
        given = execution(BREAD)
    brain.learn(**given)
    counts = []
    for _ in range(3):
        if way == "with other spacing":
            brain.learn(**execution(BREAD.upper(), *(f" {s}  " for s in given["execution_trace"]["steps"])))
        elif way == "as a failure":
            brain.learn(**bread(success=False))
        elif way == "with an id":
            brain.observe(**given, trace_id="one")
        else:
            brain.learn(**given)
        counts.append(raw(place).counts())
    assert counts[0] == counts[1] == counts[2]
    assert len(brain.get_skills()) == 1


# I29 the caller's ids


def test_i29_an_id_is_created_then_reinforced_by_its_trace_and_refused_for_another(brain):
    assert brain.observe(**bread(), skill_id="my-id-1").outcome == LearnOutcome.CREATED
    again = brain.observe(**bread(), skill_id="my-id-1")
    assert (again.outcome, again.skill.id) == (LearnOutcome.REINFORCED, "my-id-1")
    with pytest.raises(ConflictError, match="my-id-1"):
        brain.observe(**audit(), skill_id="my-id-1")
    assert ids(brain.get_skills()) == ["my-id-1"]


@pytest.mark.parametrize("bad", ["", " ", "a/b", "x" * 300])
def test_i29_invalid_ids_are_refused(brain, bad):
    with pytest.raises(InputError, match="skill id"):
        brain.observe(**bread(), skill_id=bad)
    assert brain.get_skills() == []


# I37 an empty database


def test_i37_an_empty_place_answers_everything_without_a_sound(place, clock, caplog, capfd):
    caplog.set_level(logging.WARNING)
    brain = place.open(namespace=f"{place.namespace}.fresh", clock=clock)
    assert brain.recall({"task": BREAD}) == []
    assert brain.get_skills() == brain.skill_graph.find_by_tag("t") == brain.skill_graph.get_edges("s") == []
    assert brain.skill_graph.get_related_skills("s") == []
    assert brain.get_skill("s") is None
    assert brain.skill_graph.delete_skill("s") is False
    assert brain.get_skill_summary()["total_skills"] == 0
    assert brain.cleanup_expired_skills() == {"deleted": 0, "checked": 0}
    assert brain.learn(**bread(success=False)) is None
    assert caplog.records == []
    assert brain.feedback("s", {}, True).recorded is False
    assert Counter(r.name.split(".")[0] for r in caplog.records) == {"brain": 1}
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


# I42 namespaces

NAMES = [
    "a.b:c",
    "a.b.c",
    "a:b:c",
    "a:b.c",
    "user.1",
    "user.10",
    "user:1",
    "user:10",
    "user@1",
    "User.1",
    "user.1.0",
    "1",
]


def test_i42_namespaces_that_look_alike_are_kept_apart(place, clock):
    brains = {name: place.open(namespace=f"{place.namespace}.{name}", clock=clock) for name in NAMES}
    for name, brain in brains.items():
        brain.observe(**execution(f"bake bread for {name}", f"bake it for {name}"), skill_id="same")
        brain.skill_graph.save_skill(skill("only", name, tags=(name,)))
    for name, brain in brains.items():
        assert brain.get_skill("same").task == f"bake bread for {name}"
        assert ids(brain.get_skills()) == ["only", "same"]
        assert {c.skill.task for c in brain.recall({"task": "bake bread"}, top_k=99)} == {f"bake bread for {name}"}
        for other in NAMES:
            assert ids(brain.skill_graph.find_by_tag(other)) == (["only"] if other == name else [])
    brains["user.1"].skill_graph.delete_skill("same")
    assert brains["user.1"].get_skill("same") is None
    assert all(brain.get_skill("same") for name, brain in brains.items() if name != "user.1")


@pytest.mark.parametrize("bad", ["", " ", "a/b", "a b", "user\n", "*", "x" * 201])
def test_i42_a_namespace_that_is_no_name_is_refused(place, bad):
    with pytest.raises(BrainError, match="namespace"):
        SyncBrain.open(place.location, namespace=bad)


# I44 reserved keys


@pytest.mark.parametrize("where", ["metadata", "parameters", "the step itself"])
def test_i44_reserved_keys_come_back_beside_the_own_fields(brain, where):
    own = {key: value for key, value in RESERVED.items() if key != "order"}
    step = {"action": "a", **own} if where == "the step itself" else {"action": "a", where: RESERVED}
    found = learned_back(brain, step).to_dict()["procedure"][0]
    assert (found["action"], found["order"], found["is_optional"]) == ("a", 0, False)
    if where == "the step itself":
        assert {key: found.get(key) for key in own} == own
    else:
        assert found[where] == RESERVED


@pytest.mark.parametrize("key", sorted(RESERVED))
def test_i44_reserved_keys_of_context_trace_and_outcome_disturb_nothing(brain, key):
    given = bread()
    for part in given.values():
        part.setdefault(key, RESERVED[key])
    learned = brain.learn(**given)
    assert learned.id != RESERVED["id"]
    assert plain(brain.get_skill(learned.id)) == plain(learned)
