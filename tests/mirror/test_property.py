"""Does a mirror hold what its store holds, and nothing else, whatever was done to either and in which order?"""

import os
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brain.errors import SkillNotFoundError
from tests.contract.samples import AWKWARD, execution, skill
from tests.mirror.conftest import source_of

pytestmark = pytest.mark.redis

IDS = ("a", "b", "c", "d")
TEXTS = (*AWKWARD.values(), "knead the dough", "list every binding", "file the report")
RELATIONS = ("DERIVES_FROM", "COMPLEMENTS", "CONFLICTS_WITH")

ids, texts = st.sampled_from(IDS), st.sampled_from(TEXTS)
operations = st.one_of(
    st.tuples(st.just("learn"), texts, st.booleans()),
    st.tuples(st.just("feedback"), ids, st.booleans()),
    st.tuples(st.just("save"), ids, texts, st.sampled_from((None, 1, 30))),
    st.tuples(st.just("delete"), ids),
    st.tuples(st.just("edge"), ids, ids, st.sampled_from(RELATIONS), texts),
    st.tuples(st.just("sweep")),
    st.tuples(st.just("later"), st.sampled_from((2, 40))),
    st.tuples(st.just("deliver")),
    st.tuples(st.just("sync")),
    st.tuples(st.just("lose")),
    st.tuples(st.just("careless"), ids),
)


class Case:
    """A store with a mirror, and a clock by which both age."""

    def __init__(self, request, tmp_path):
        self.offset = timedelta()
        self.source = source_of(request, tmp_path, lambda: datetime.now(UTC) + self.offset)
        self.brain, self.mirror = self.source.open(), self.source.mirror()
        self.mirror.link()
        self.mirror.claim()

    def run(self, name, *arguments):
        getattr(self, name)(*arguments)

    def learn(self, text, success):
        self.brain.learn(**execution(text, text, "stop", success=success))

    def feedback(self, skill_id, success):
        self.brain.feedback(skill_id, {"task": "t"}, success, {"by": skill_id})

    def save(self, skill_id, text, hours):
        expires_at = "" if hours is None else (self.source.clock() + timedelta(hours=hours)).isoformat()
        tags = [text, "common"] if hours else ["common"]
        self.brain.skill_graph.save_skill(skill(skill_id, text, tags=tags, description=text, expires_at=expires_at))

    def delete(self, skill_id):
        self.brain.skill_graph.delete_skill(skill_id)

    def edge(self, left, right, relation, text):
        if left != right:
            try:
                self.brain.skill_graph.add_edge(left, relation, right, {"said": text})
            except SkillNotFoundError:
                return

    def sweep(self):
        self.brain.cleanup_expired_skills()

    def later(self, hours):
        """Time goes by, in Redis too: what expires there goes, and leaves its traces."""
        self.offset += timedelta(hours=hours)
        client = self.source.client
        for key in list(client.scan_iter(match=f"{self.source.keys.documents}*")):
            left = client.pttl(key)
            if left > 0:
                client.pexpire(key, left - hours * 3_600_000)  # at once, if that is over

    def deliver(self):
        self.mirror.deliver()

    def sync(self):
        self.mirror.sync()

    def lose(self):
        """The server loses everything, without a restart that would tell."""
        self.source.flush()
        self.mirror.claim()

    def careless(self, skill_id):
        """Somebody writes to the mirror itself, and the server then restarts."""
        self.source.client.delete(self.source.keys.document(skill_id))
        self.mirror.claim()
        self.mirror._copy.note_complete("an earlier run")


@pytest.mark.parametrize("request_kind", ["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def test_store_and_mirror_are_the_same_after_any_operations(request_kind, request, tmp_path_factory):
    examples = int(os.environ.get("BRAIN_TEST_EXAMPLES", 40 if request_kind == "sqlite" else 12))

    class Asked:
        param, getfixturevalue = request_kind, staticmethod(request.getfixturevalue)

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.lists(operations, min_size=1, max_size=25))
    def whatever(script):
        case = Case(Asked, tmp_path_factory.mktemp("case"))
        try:
            for operation in script:
                case.run(*operation)
            case.mirror.sync()
            assert [found for page in case.mirror.differences() for found in page] == []
            case.sweep()
            case.mirror.sync()
            assert case.mirror.store.waiting().count == 0
            as_it_is = case.source.dump()
            case.source.flush()
            case.mirror.sync()
            assert as_it_is == case.source.dump()
        finally:
            case.source.close()

    whatever()
