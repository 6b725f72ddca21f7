"""The thread that reads: what it asks, what it hands on, and when."""

import json
import threading
import time
from contextlib import contextmanager
from itertools import product
from random import Random

import pytest

from brain.engine.listing import SkillOrder
from brain.watch.details import Details
from brain.watch.reading import UNKNOWN_VERSION, Ask, Listed, Progress, Query, Reading
from tests.conftest import Place
from tests.redis.raw import RedisRaw
from tests.watch.samples import fill

PATIENCE = 20.0
BY_NAME = Query(SkillOrder.NAME, False)


class Answers:
    """What was handed on, in order; the test waits for what it wants."""

    def __init__(self):
        self._news, self.all = threading.Condition(), []

    def __call__(self, answer):
        with self._news:
            self.all.append(answer)
            self._news.notify_all()

    def wait_for(self, holds):
        with self._news:
            assert self._news.wait_for(lambda: any(map(holds, self.all)), PATIENCE), self.all
            return next(filter(holds, self.all))

    def count(self, kind):
        return sum(isinstance(answer, kind) for answer in self.all)


@contextmanager
def reading(brain, look_every=0.02):
    answers = Answers()
    found = Reading(brain, brain._store, answers, look_every=look_every)
    found.start()
    try:
        yield found, answers
    finally:
        found.stop()


def is_whole(answer):
    return isinstance(answer, Listed) and answer.listing.version != UNKNOWN_VERSION


def test_the_most_used_come_before_the_whole_is_read(place, clock, monkeypatch):
    monkeypatch.setattr("brain.engine.listing.LOADED_AT_ONCE", 5)
    fill(place.open(clock=clock))
    progress = Progress()
    brain = place.open(clock=clock, loading=progress)
    with reading(brain) as (asked, answers):
        asked.list(Ask(Query(), 0, 4))
        whole = answers.wait_for(is_whole).listing
    first = answers.all[0].listing
    assert first.version == UNKNOWN_VERSION
    assert (first.rows, first.total, first.skills, first.transferable) == (whole.rows, 12, 12, 10)
    assert progress.over and progress.total == 12


def test_all_that_is_read_is_at_hand_when_progress_is_over(place, clock):
    fill(place.open(clock=clock))
    over = []
    progress = Progress(then=lambda: over.append((progress.done, progress.total)))
    place.open(clock=clock, loading=progress).listing()
    assert over == [(12, 12)]


def test_what_was_asked_before_never_shows_in_an_answer(file_place, clock):
    brain = file_place.open(clock=clock)
    fill(brain)
    asked = list(
        product(("usage_count", "name", "tags", "id"), (False, True), ("", "t", "ti", "ri", "no such"), (None, "risk"))
    )
    random = Random(5)
    for turn in range(150):
        if turn % 50 == 49:
            brain.feedback("canary", {"domain": "law"}, success=bool(turn % 2))
        order, descending, text, tag = random.choice(asked)
        options = {
            "descending": descending,
            "text": text,
            "tag": tag,
            "around": random.choice(("canary", "triage", None)),
        }
        assert brain.listing(order, **options) == file_place.open(clock=clock).listing(order, **options)


def test_another_order_waits_for_the_whole(brain):
    fill(brain)
    with reading(brain) as (asked, answers):
        asked.list(Ask(BY_NAME, 0, 4))
        answers.wait_for(is_whole)
    assert is_whole(answers.all[0])


def test_nothing_new_is_not_handed_on_again(brain):
    fill(brain)
    looks = []
    changes = brain._store.changes
    brain._store.changes = lambda since: looks.append(since) or changes(since)
    with reading(brain) as (asked, answers):
        asked.list(Ask(BY_NAME, 0, 4))
        asked.describe("diagnosis")
        answers.wait_for(lambda answer: isinstance(answer, Details))
        begun, deadline = len(looks), time.monotonic() + PATIENCE
        while len(looks) < begun + 10 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(looks) >= begun + 10
        assert (answers.count(Listed), answers.count(Details)) == (1, 1)
        brain.feedback("diagnosis", {"domain": "law"}, success=True)
        answers.wait_for(lambda answer: isinstance(answer, Details) and answer.skill.usage_count == 42)
        assert answers.count(Listed) == 2


def test_what_is_asked_again_is_answered_again(brain):
    fill(brain)
    ask = Ask(BY_NAME, 0, 4)
    with reading(brain, look_every=60) as (asked, answers):
        for count in (1, 2, 3):
            asked.list(ask)
            answers.wait_for(lambda _, count=count: answers.count(Listed) == count)


def test_an_edge_that_is_new_is_seen_though_no_skill_changed(brain, monkeypatch):
    monkeypatch.setattr("brain.watch.reading.DETAILS_EVERY", 0.05)
    fill(brain)
    with reading(brain) as (asked, answers):
        asked.list(Ask(BY_NAME, 0, 4))
        asked.describe("canary")
        assert answers.wait_for(lambda answer: isinstance(answer, Details)).edges == []
        brain.skill_graph.add_edge("canary", "COMPLEMENTS", "hazards")
        found = answers.wait_for(lambda answer: isinstance(answer, Details) and answer.edges)
    assert found.name_of("hazards") == "Hazard walk-through"


def test_only_the_latest_question_is_asked(file_place, clock):
    """While the store is busy with one question, the next ones replace each other."""
    brain = file_place.open(clock=clock)
    fill(brain)
    go_on = threading.Event()
    listing = brain.listing

    def slowly(*arguments, **options):
        found = listing(*arguments, **options)
        go_on.wait(PATIENCE)
        return found

    brain.listing = slowly
    with reading(brain, look_every=60) as (asked, answers):
        for word in ("", "d", "di", "dia", "diag"):
            asked.list(Ask(Query(SkillOrder.NAME, False, word), 0, 4))
            if not word:
                while not asked.waiting:
                    time.sleep(0.001)
        go_on.set()
        answers.wait_for(lambda answer: isinstance(answer, Listed) and answer.ask.query.text == "diag")
    assert [answer.ask.query.text for answer in answers.all] == ["", "diag"]


@pytest.mark.redis
@pytest.mark.parametrize("skill_id", ["an id with spaces", "ключ/1"])
def test_what_others_wrote_under_ids_of_their_own_is_read(redis_server, skill_id):
    """OrKa's ids need not look like ours."""
    place = Place("redis", f"{redis_server.url}/0?prefix=test-watch-ids", "default")
    document = {"id": skill_id, "name": "from OrKa", "procedure": [{"action": "look"}], "tags": ["theirs"]}
    try:
        with RedisRaw(place)._client as client:
            client.set(RedisRaw(place).keys.document(skill_id), json.dumps(document))
            client.hset(RedisRaw(place).keys.index, skill_id, "from OrKa")
        with reading(place.open()) as (asked, answers):
            asked.list(Ask(BY_NAME, 0, 4))
            (row,) = answers.wait_for(is_whole).listing.rows
            assert (row.id, row.name, row.tags) == (skill_id, "from OrKa", ("theirs",))
            asked.describe(skill_id)
            assert answers.wait_for(lambda answer: isinstance(answer, Details)).skill.procedure[0].action == "look"
    finally:
        place.close()
        RedisRaw(place).clear()
