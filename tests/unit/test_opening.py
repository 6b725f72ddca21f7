"""Is a brain opened with what is right, without holding up an event loop, and does it say what is wrong?"""

import asyncio
import threading
from datetime import date

import pytest

from brain import Brain, EmbeddingError, InputError, Limits, LocationError, Policy, StoreError, SyncBrain
from brain.errors import LimitError

BRAINS = pytest.mark.parametrize("kind", [Brain, SyncBrain])

WRONG = {
    "policy": ["guide", {}, Policy, 0],
    "limits": [{}, {"steps": 5}, 1_000, False],
    "embedder": [5, object(), ["model"], lambda texts: texts, {}],
    "clock": ["now", 0, date.today, lambda: 5, lambda: "noon", lambda now: now],
    "llm_client": ["gpt", {}, object()],
    "cache": ["/tmp", 0, None],
    "loading": [True, "yes"],
    "mirror": [5, ["redis://localhost"]],
    "namespace": [5, "", "a b"],
}


@BRAINS
@pytest.mark.parametrize(("option", "value"), [(o, v) for o, values in WRONG.items() for v in values])
def test_an_option_of_another_kind_is_refused_by_name(kind, option, value, tmp_path):
    path = tmp_path / "brain.db"
    for call in (kind.open, kind):
        with pytest.raises(InputError, match=option) as caught:
            call(f"sqlite:///{path}", **{option: value})
        assert len(str(caught.value)) > 40, "it says what would be right"
    assert not path.exists()


@pytest.mark.parametrize(
    "given",
    [
        {"ttl": "no"},
        {"ttl": 0},
        {"ttl": None},
        {"floor": "0.1"},
        {"floor": True},
        {"floor": float("nan")},
        {"floor": 1.5},
        {"least_shared": 1.5},
        {"least_shared": True},
        {"least_shared": -1},
        {"least_names": 2.0},
        {"unknown_is_evidence": "yes"},
        {"features": ["guide"]},
        {"features": "all"},
        {"semantic": None},
        {"transfer": True},
    ],
    ids=str,
)
def test_a_policy_of_another_kind_is_refused(given):
    (name,) = given
    with pytest.raises(InputError, match=rf"Policy\.{name} must be"):
        Policy(**given)


def test_numbers_of_either_kind_are_a_floor():
    assert Policy(floor=0).floor == 0
    assert Policy(floor=1).floor == 1


def test_limits_come_from_the_environment(monkeypatch, in_memory):
    monkeypatch.setenv("BRAIN_LIMITS", " steps=2, tags = 7 ")
    assert Limits.from_environment() == Limits(steps=2, tags=7)
    with pytest.raises(LimitError) as caught:
        in_memory().learn({"steps": ["a", "b", "c"]}, {"task": "t"}, {"success": True})
    for way in ("Limits(steps=3)", "BRAIN_LIMITS=steps=3"):
        assert way in str(caught.value), "the remedy in a program and on the command line"
    assert in_memory(limits=Limits()).learn({"steps": ["a", "b", "c"]}, {"task": "t"}, {"success": True})


@pytest.mark.parametrize("text", ["steps", "steps=", "steps=0", "steps=many", "steps=-1", "stepz=5", "steps=5;tags=5"])
def test_limits_that_cannot_be_read_are_refused(monkeypatch, text):
    monkeypatch.setenv("BRAIN_LIMITS", text)
    with pytest.raises(InputError, match="steps"):
        Limits.from_environment()


@BRAINS
def test_a_path_is_an_sqlite_file(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a name with spaces.db"
    with kind.open(path) as brain, kind(path.relative_to(tmp_path)) as again:
        assert brain.location == again.location == f"sqlite:///{path}"
    assert path.is_file()


@BRAINS
@pytest.mark.parametrize("place", [5, b"sqlite:///x.db", ["x.db"], object()])
def test_what_is_no_location_is_refused(kind, place):
    with pytest.raises(LocationError, match=type(place).__name__):
        kind.open(place)


@BRAINS
def test_open_makes_a_subclass_by_its_own_init(kind, tmp_path):
    class Named(kind):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            self.name = "mine"

    with Named.open(tmp_path / "brain.db", namespace="n", policy=Policy(ttl=False)) as brain:
        assert (type(brain), brain.name, brain.namespace) == (Named, "mine", "n")


@BRAINS
def test_a_brain_shows_where_it_is_and_no_credentials(kind, tmp_path):
    with kind.open(tmp_path / "brain.db", namespace="team") as brain:
        assert repr(brain) == f"{kind.__name__}('sqlite:///{tmp_path / 'brain.db'}', namespace='team')"


def test_an_embedder_that_cannot_embed_is_refused_before_a_store_is_opened(tmp_path):
    class Broken:
        def encode(self, texts):
            return [[float("nan")]] * len(texts)

    with pytest.raises(EmbeddingError):
        Brain.open(tmp_path / "brain.db", embedder=Broken())
    assert not (tmp_path / "brain.db").exists()


def test_a_store_that_cannot_be_opened_raises_where_no_loop_runs(tmp_path):
    with pytest.raises(StoreError):
        Brain.open(tmp_path)  # a folder


class Slow:
    """An embedder that waits until the event loop has moved on."""

    def __init__(self):
        self.loop_has_moved, self.asked = threading.Event(), threading.Event()

    def encode(self, texts):
        self.asked.set()
        assert self.loop_has_moved.wait(60), "the event loop was held up"
        return [[1.0, 0.0]] * len(texts)


async def _move(slow):
    await asyncio.to_thread(slow.asked.wait, 60)
    slow.loop_has_moved.set()


@pytest.mark.parametrize("way", ["async with", "first verb"])
def test_opening_does_not_hold_up_the_event_loop(way, tmp_path):
    slow = Slow()

    async def opened():
        moving = asyncio.create_task(_move(slow))
        brain = Brain.open(tmp_path / "brain.db", embedder=slow)
        assert "not open" in repr(brain)
        if way == "async with":
            async with brain:
                await moving
                return await brain.get_skills()
        try:
            return await brain.get_skills()
        finally:
            await moving
            brain.close()

    assert asyncio.run(opened()) == []


def test_many_tasks_that_begin_at_once_open_it_once(tmp_path, monkeypatch):
    opened = []

    class Counted(SyncBrain):
        def __init__(self, *args, **options):
            opened.append(1)
            super().__init__(*args, **options)

    async def together():
        brain = Brain.open(tmp_path / "brain.db")
        with brain:
            return await asyncio.gather(*(brain.get_skills() for _ in range(8)))

    monkeypatch.setattr("brain.engine.lifecycle.SyncBrain", Counted)
    assert asyncio.run(together()) == [[]] * 8
    assert opened == [1]


def test_inside_a_loop_an_error_of_opening_is_raised_where_it_is_opened(tmp_path):
    async def wrong():
        brain = Brain.open(tmp_path)
        with pytest.raises(StoreError):
            async with brain:
                raise AssertionError("a folder was opened")
        with pytest.raises(StoreError):
            await brain.get_skills()
        with pytest.raises(InputError, match="policy"):
            async with Brain.open(tmp_path / "brain.db", policy="guide"):
                raise AssertionError("text was taken for a policy")

    asyncio.run(wrong())


def test_a_brain_that_was_closed_before_it_was_opened_stays_closed(tmp_path):
    async def closed():
        brain = Brain.open(tmp_path / "brain.db")
        brain.close()
        with pytest.raises(StoreError, match="closed"):
            await brain.get_skills()

    asyncio.run(closed())
    assert not (tmp_path / "brain.db").exists()


def test_opening_that_was_cancelled_leaves_nothing_open(tmp_path):
    slow = Slow()

    async def cancelled():
        brain = Brain.open(tmp_path / "brain.db", embedder=slow)
        entering = asyncio.create_task(brain.__aenter__())
        await asyncio.to_thread(slow.asked.wait, 60)
        entering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await entering
        slow.loop_has_moved.set()
        return brain

    brain = asyncio.run(cancelled())  # which waits for its threads
    with pytest.raises(StoreError, match="closed"):
        brain.sync.get_skills()
