"""Are the asynchronous verbs the synchronous ones, and do both close what they opened?"""

import asyncio
import inspect

import pytest

from brain import Brain, FeedbackReceipt, LearnOutcome, Policy, SyncBrain
from brain.errors import BrainError
from tests.contract.samples import BREAD, audit, bread, ids, skill

VERBS = (
    "learn",
    "observe",
    "learn_many",
    "recall",
    "feedback",
    "get_skills",
    "get_skill",
    "get_skill_summary",
    "iter_skills",
    "cleanup_expired_skills",
    "reembed",
    "preview",
    "why",
    "listing",
    "stats",
    "get_traces",
    "examine",
    "dump",
    "load",
)
ONLY_ASYNC = ("stream_skills",)
"""What a program without an event loop has no use for: `iter_skills` does it."""
ATTRIBUTES = ("skill_graph", "transfer_engine", "context_analyzer", "location", "namespace")


def parameters(function):
    signature = inspect.signature(function)
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()], signature.return_annotation


@pytest.mark.parametrize("verb", [*VERBS, "close", "open", "__init__"])
def test_both_brains_have_the_same_signatures(verb):
    assert parameters(getattr(Brain, verb)) == parameters(getattr(SyncBrain, verb))


def test_no_public_verb_is_missing_on_either_side():
    for kind, more in ((Brain, ONLY_ASYNC), (SyncBrain, ())):
        public = {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}
        assert public == {*VERBS, *more, "close"}


@pytest.mark.parametrize("name", [*VERBS, "context_analyzer", "location", "namespace", "close", "open"])
def test_both_brains_say_the_same_of_a_verb(name):
    assert inspect.getdoc(getattr(Brain, name))
    assert inspect.getdoc(getattr(Brain, name)) == inspect.getdoc(getattr(SyncBrain, name))


def test_only_what_the_guide_shows_without_await_and_the_iterator_are_not_awaited():
    waiting = {verb for verb in VERBS if not inspect.iscoroutinefunction(getattr(Brain, verb))}
    assert waiting == {"cleanup_expired_skills", "iter_skills"}


def test_the_guides_life_cycle_runs_without_blocking(place, clock):
    async def cycle():
        async with Brain.open(place.location, namespace=place.namespace, clock=clock) as brain:
            learned = await brain.learn(**bread(), skill_name="Bread")
            receipt = await brain.observe(**audit(), trace_id="t", skill_id="audit", derived_from=[learned.id])
            candidates = await brain.recall(context={"domain": "kitchen", "task": BREAD}, top_k=3, min_score=0.3)
            told = await brain.feedback(
                skill_id=candidates[0].skill.id, context={"task": "t"}, success=True, adaptations={"a": 1}
            )
            summary, skills = await asyncio.gather(brain.get_skill_summary(), brain.get_skills())
            one = await brain.get_skill("audit")
            for name in ATTRIBUTES:
                assert getattr(brain, name) is not None
            assert brain.cleanup_expired_skills() == {"deleted": 0, "checked": 2}
            assert len(brain.skill_graph.get_edges("audit")) == 2
            return learned, receipt, candidates, told, summary, skills, one

    learned, receipt, candidates, told, summary, skills, one = asyncio.run(cycle())
    assert receipt.outcome == LearnOutcome.CREATED
    assert candidates[0].skill.id == learned.id
    assert isinstance(told, FeedbackReceipt)
    assert told.recorded
    assert (summary["total_skills"], summary["total_transfers"]) == (2, 1)
    assert ids(skills) == sorted([learned.id, "audit"])
    assert one.id == "audit"


def test_many_tasks_share_one_brain(place, clock):
    async def together():
        async with Brain.open(place.location, namespace=place.namespace, clock=clock) as brain:
            learned = await brain.learn(**bread())
            await asyncio.gather(
                *(brain.feedback(learned.id, {"task": f"t{i}"}, True) for i in range(20)),
                *(brain.recall({"task": BREAD}) for _ in range(10)),
                *(brain.learn(**bread()) for _ in range(10)),
            )
            return await brain.get_skills()

    (found,) = asyncio.run(together())
    assert (found.usage_count, found.transfer_count, found.version) == (31, 20, 31)


def test_all_skills_are_streamed_in_pages(place, clock, monkeypatch):
    monkeypatch.setattr("brain.engine.brain.PAGE", 2)

    async def streamed(**options):
        async with Brain.open(place.location, namespace=place.namespace, clock=clock) as brain:
            brain.skill_graph.save_skills([skill(f"s{i}", tags=[str(i % 2)]) for i in range(5)])
            return [found.id async for found in brain.stream_skills(**options)]

    assert asyncio.run(streamed()) == ["s0", "s1", "s2", "s3", "s4"]
    assert asyncio.run(streamed(tag="1")) == ["s1", "s3"]


def test_one_brain_serves_several_event_loops(place, clock):
    brain = Brain.open(place.location, namespace=place.namespace, clock=clock)
    with brain:
        learned = asyncio.run(brain.learn(**bread()))
        assert asyncio.run(brain.get_skill(learned.id)).id == learned.id
        assert brain.sync.get_skill(learned.id).id == learned.id


def test_a_closed_brain_says_so_and_closes_twice(place):
    with SyncBrain.open(place.location, namespace=place.namespace) as brain:
        brain.get_skills()
    brain.close()
    with pytest.raises(BrainError):
        brain.get_skills()


def test_an_error_in_the_block_is_not_swallowed(place):
    class MineError(Exception):
        pass

    with pytest.raises(MineError), SyncBrain.open(place.location, namespace=place.namespace):
        raise MineError

    async def raising():
        async with Brain.open(place.location, namespace=place.namespace):
            raise MineError

    with pytest.raises(MineError):
        asyncio.run(raising())


def test_a_brain_can_be_made_from_a_location_as_its_memory(place, clock):
    with Brain(place.location, namespace=place.namespace, clock=clock, policy=Policy(ttl=False)) as brain:
        learned = asyncio.run(brain.learn(**bread()))
        assert learned.expires_at == ""
    assert ids(place.open(clock=clock).get_skills()) == [learned.id]


@pytest.mark.parametrize("memory", [None, 5, object(), ["sqlite://:memory:"]])
def test_what_names_no_store_is_refused(memory):
    with pytest.raises(BrainError):
        Brain(memory)


def test_neither_password_nor_user_is_shown(place):
    brain = place.open()
    assert "@" not in brain.location
    assert brain.location.split("://")[0] == place.location.split("://")[0]


def test_an_async_error_is_the_sync_one(place, clock):
    async def wrong():
        async with Brain.open(place.location, namespace=place.namespace, clock=clock) as brain:
            brain.skill_graph.save_skill(skill("s"))
            with pytest.raises(BrainError):
                await brain.learn({}, {}, {"success": True})
            with pytest.raises(BrainError):
                await brain.get_skill(" ")
            assert (await brain.feedback("nobody", {}, True)).recorded is False

    asyncio.run(wrong())
