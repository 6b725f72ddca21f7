"""Do SQLite and Neo4j give the same answers to the same calls? Random calls on both, one clock.

`HYPOTHESIS_PROFILE=soak` draws many more and longer lists of calls, and shortens one that fails.
"""

import os
import uuid
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from brain import BrainError, Policy, Relation, Skill, SyncBrain
from tests.clock import FakeClock
from tests.contract.raw import raw
from tests.contract.samples import AWKWARD, skill

SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
CALLS = settings(
    max_examples=300 if SOAK else 20,
    stateful_step_count=60 if SOAK else 30,
    derandomize=not SOAK,
    phases=list(Phase) if SOAK else [Phase.generate],
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)

IDS = st.sampled_from(["a", "b", "c", "d", "B", "a.1"])
KNOWN_OR_NOT = st.one_of(IDS, IDS, IDS, st.sampled_from(["nobody", "a/b", ""]))
TASKS = st.sampled_from(
    [
        "bake sourdough bread",
        "Bake  SOURDOUGH bread",
        "bake rye bread",
        "audit kubernetes RBAC",
        "split the report, analyze each part and combine the findings",
        "split a report, analyze every part and combine the findings",
        "do not delete the backups",
        "烤一个酸面包",
        "",
        AWKWARD["quotes"],
    ]
)
STEPS = st.sampled_from(
    [
        [],
        ["knead the dough", "bake it"],
        ["bake it", "knead the dough"],
        ["split it into parts", {"action": "analyze each part", "metadata": {"k": [1, None]}}, "combine the findings"],
        [{"name": "list the roles", "parameters": [1, "a"]}],
        ["x" * 300],
        [""],
    ]
)
DOMAINS = st.sampled_from(["kitchen", "security", "", AWKWARD["emoji"]])
TAGS = st.sampled_from(["cooking", "kitchen", "a|b", "decomposition", "nothing", ""])
RELATIONS = st.sampled_from([*(relation.value for relation in Relation), "COMPLEMENTS", "COMPLEMENTS", "KNOWS"])
METADATA = st.sampled_from([None, {}, {"n": 1}, {"text": AWKWARD["quotes"], "deep": [{"a": [1.5, None]}]}])
UNIT = st.sampled_from([0.0, 0.3, 0.5, 0.85, 1.0])
VERSIONS = st.sampled_from([None, None, None, 0, 1, 2, 5])
KINDS = st.sampled_from(["procedural", "procedural", "declarative", "anti_pattern"])
HOURS = st.sampled_from([1, 5, 100, 400, 2_000])


def answer_of(work):
    """What a call gives, or the error that it raises, as plain values."""
    try:
        return plain(work())
    except BrainError as error:
        told = {k: v for k, v in vars(error).items() if k != "location"}
        return ["raised", type(error).__name__, told]


def plain(value):
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return str(value) if isinstance(value, str) else value


def differences(left, right, where="answer"):
    """Where two answers differ. Numbers may by a rounding, an expiry by a millisecond."""
    if where.endswith(".expires_at") and left and right:
        apart = datetime.fromisoformat(left) - datetime.fromisoformat(right)
        return [] if abs(apart) <= timedelta(milliseconds=1) else [f"{where}: {left} and {right}"]
    if type(left) is not type(right):
        return [f"{where}: {left!r} and {right!r}"]
    if isinstance(left, dict):
        found = [] if left.keys() == right.keys() else [f"{where}: keys {sorted(left)} and {sorted(right)}"]
        return found + [d for k in left.keys() & right.keys() for d in differences(left[k], right[k], f"{where}.{k}")]
    if isinstance(left, list):
        found = [] if len(left) == len(right) else [f"{where}: {len(left)} and {len(right)} of them"]
        pairs = enumerate(zip(left, right, strict=False))
        return found + [d for i, (a, b) in pairs for d in differences(a, b, f"{where}[{i}]")]
    same = left == pytest.approx(right, abs=1e-9) if isinstance(left, float) else left == right
    return [] if same else [f"{where}: {left!r} and {right!r}"]


class SameAnswers(RuleBasedStateMachine):
    """The same calls on both stores. `places` and `policy` are set by the test."""

    places = ()
    policy = Policy()

    def __init__(self):
        super().__init__()
        self.clock = FakeClock()
        namespace = f"test-{uuid.uuid4().hex}"
        for place in self.places:
            place.namespace = namespace
        self.brains = [
            SyncBrain.open(place.location, namespace=namespace, clock=self.clock, policy=self.policy)
            for place in self.places
        ]

    def teardown(self):
        for brain in self.brains:
            brain.close()
        raw(self.places[1]).clear()

    def same(self, work):
        answers = [answer_of(lambda brain=brain: work(brain)) for brain in self.brains]
        assert differences(*answers) == []
        return answers[0]

    @initialize(first=IDS, second=IDS)
    def two_skills_are_there(self, first, second):
        for skill_id in (first, second):
            given = skill(skill_id, f"carry crate {skill_id}")
            self.same(lambda b, given=given: b.skill_graph.save_skill(given))

    @rule(
        task=TASKS,
        steps=STEPS,
        domain=DOMAINS,
        success=st.sampled_from([True, True, True, False]),
        quality=UNIT,
        skill_id=KNOWN_OR_NOT,
        trace_id=st.sampled_from([None, None, "run-1", "run-2"]),
        used=st.lists(KNOWN_OR_NOT, max_size=2),
        name=st.sampled_from([None, "Named", AWKWARD["backticks"]]),
        kind=KINDS,
    )
    def observe(self, task, steps, domain, success, quality, skill_id, trace_id, used, name, kind):
        self.same(
            lambda b: b.observe(
                {"steps": steps, "agents": ["one"]},
                {"task": task, "domain": domain},
                {"success": success, "quality": quality},
                name,
                trace_id=trace_id,
                skill_id=skill_id,
                derived_from=used,
                skill_type=kind,
            )
        )

    @rule(
        skill_id=IDS,
        task=TASKS,
        domain=DOMAINS,
        tags=st.lists(TAGS, max_size=3),
        hours=st.one_of(st.none(), HOURS, st.just(-1)),
        confidence=UNIT,
        uses=st.integers(0, 9),
        expected=VERSIONS,
        kind=KINDS,
    )
    def save(self, skill_id, task, domain, tags, hours, confidence, uses, expected, kind):
        expires = "" if hours is None else (self.clock.now + timedelta(hours=hours, seconds=11)).isoformat()
        given = skill(
            skill_id,
            task,
            domain=domain,
            tags=tags,
            expires_at=expires,
            confidence=confidence,
            usage_count=uses,
            skill_type=kind,
            later={"deep": [1]},
        )
        self.same(lambda b: b.skill_graph.save_skill(given, expected_version=expected))

    @rule(skill_id=IDS, expected=VERSIONS)
    def read_and_save(self, skill_id, expected):
        def work(brain):
            found = brain.get_skill(skill_id)
            return found and brain.skill_graph.save_skill(found, expected_version=expected)

        self.same(work)

    @rule(names=st.lists(IDS, max_size=4), hours=st.one_of(st.none(), HOURS))
    def save_many(self, names, hours):
        expires = "" if hours is None else (self.clock.now + timedelta(hours=hours, seconds=11)).isoformat()
        given = [Skill(id=n, name=f"{n} {i}", tags=["cooking"], expires_at=expires) for i, n in enumerate(names)]
        self.same(lambda b: b.skill_graph.save_skills(given))

    @rule(
        skill_id=KNOWN_OR_NOT,
        success=st.booleans(),
        task=TASKS,
        domain=DOMAINS,
        adaptations=METADATA,
        known_by=st.sampled_from([None, None, "message-1", "message-2"]),
    )
    def feedback(self, skill_id, success, task, domain, adaptations, known_by):
        context = {"task": task, "domain": domain}
        self.same(lambda b: b.feedback(skill_id, context, success, adaptations, feedback_id=known_by))

    @rule(skill_id=KNOWN_OR_NOT)
    def delete(self, skill_id):
        self.same(lambda b: b.skill_graph.delete_skill(skill_id))

    @rule(ends=st.tuples(KNOWN_OR_NOT, KNOWN_OR_NOT), relation=RELATIONS, metadata=METADATA)
    def add_edge(self, ends, relation, metadata):
        self.same(lambda b: b.skill_graph.add_edge(ends[0], relation, ends[1], metadata))

    @rule(ends=st.tuples(KNOWN_OR_NOT, KNOWN_OR_NOT), relation=RELATIONS)
    def delete_edge(self, ends, relation):
        self.same(lambda b: b.skill_graph.delete_edge(ends[0], relation, ends[1]))

    @rule(skill_id=KNOWN_OR_NOT)
    def edges(self, skill_id):
        self.same(lambda b: b.skill_graph.get_edges(skill_id))

    @rule(skill_id=KNOWN_OR_NOT, relation=st.one_of(st.none(), RELATIONS), depth=st.integers(0, 4))
    def related(self, skill_id, relation, depth):
        self.same(lambda b: b.skill_graph.related_with_distance(skill_id, relation, depth))

    @rule(tag=TAGS)
    def tagged(self, tag):
        self.same(lambda b: b.skill_graph.find_by_tag(tag))

    @rule(hours=HOURS)
    def time_passes(self, hours):
        self.clock.advance(hours=hours, seconds=7)

    @rule()
    def sweep(self):
        self.same(lambda b: b.cleanup_expired_skills())

    @rule(
        task=TASKS,
        domain=DOMAINS,
        steps=st.one_of(st.just([]), STEPS),
        top_k=st.sampled_from([1, 2, 10, 0]),
        least=st.sampled_from([0.0, 0.3, 0.6]),
        kinds=st.sampled_from([None, None, ["procedural"], ["anti_pattern", "declarative"]]),
    )
    def recall(self, task, domain, steps, top_k, least, kinds):
        context = {"task": task, "domain": domain, "steps": steps}
        self.same(lambda b: b.recall(context, top_k, least, skill_types=kinds))

    @rule(skill_id=KNOWN_OR_NOT, task=TASKS)
    def score(self, skill_id, task):
        self.same(lambda b: b.transfer_engine.score_skill(skill_id, {"task": task}))

    @rule()
    def summary(self):
        self.same(lambda b: b.get_skill_summary())

    @rule(hours=HOURS)
    def expiring(self, hours):
        self.same(lambda b: b.stats(timedelta(hours=hours)).expiring_skills)

    @rule(skill_id=KNOWN_OR_NOT)
    def get(self, skill_id):
        self.same(lambda b: b.get_skill(skill_id))

    @rule()
    def skills(self):
        self.same(lambda b: b.get_skills())

    @precondition(lambda self: len(self.brains) == 2)
    @rule(which=st.sampled_from([0, 1]))
    def one_is_opened_again(self, which):
        self.brains[which].close()
        place = self.places[which]
        self.brains[which] = SyncBrain.open(
            place.location, namespace=place.namespace, clock=self.clock, policy=self.policy
        )


class Where:
    def __init__(self, kind, location):
        self.kind, self.location, self.namespace = kind, location, ""


@pytest.mark.neo4j
@pytest.mark.timeout(0 if SOAK else 300)
@pytest.mark.parametrize("rules", [Policy(), Policy.guide()], ids=["default", "guide"])
def test_both_stores_give_the_same_answers(neo4j_server, tmp_path, rules):
    class Calls(SameAnswers):
        places = (Where("sqlite", f"sqlite:///{tmp_path / 'brain.db'}"), Where("neo4j", neo4j_server.location))
        policy = rules

    run_state_machine_as_test(Calls, settings=CALLS)
