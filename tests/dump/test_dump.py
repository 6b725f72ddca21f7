"""Does a dump bring everything back, on any store, and does one that is not whole change nothing?"""

import base64
import gzip
import hashlib
import json
import os
import stat
import subprocess
import sys
import zlib
from datetime import UTC, datetime, timedelta

import pytest

from brain import SyncBrain
from brain.engine.dump import check, dump, load
from brain.engine.dumpfile import DumpFile
from brain.engine.moving import BAD_ID, HAS_EXPIRED, NO_END, THERE, Existing
from brain.errors import DumpError, EmbeddingError, InputError
from brain.store.location import open_store
from brain.store.redis.layout import Keys
from tests.contract.samples import bread, skill
from tests.mirror.test_moving import PLACES, Bag, all_of, lived_in, many

pytestmark = pytest.mark.redis

MANY = int(os.environ.get("BRAIN_TEST_IMPORTED", "3000"))
"""Skills that are dumped and loaded to see how much memory that takes."""


def loaded(path, target, **options):
    """Checks and loads, as the command does."""
    existing, renew = options.get("existing"), options.get("renew", False)
    with DumpFile(path) as file:
        check(file, target, existing=existing, renew=renew)
        return load(file, target, **options)


def lines(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).splitlines(keepends=True)


def signed(*values):
    """A dump of these lines, with an end that fits."""
    whole = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    counts = {f"{kind}s": sum(kind in value for value in values[1:]) for kind in ("skill", "trace", "edge")}
    end = {"end": counts, "digest": hashlib.blake2b(whole, digest_size=32).hexdigest()}
    return whole + json.dumps(end).encode() + b"\n"


def says_the_same(data, whole):
    """Whether two files hold the same lines, however they are compressed."""
    try:
        return whole[:2] == b"\x1f\x8b" and gzip.decompress(data) == gzip.decompress(whole)
    except (OSError, EOFError, zlib.error):
        return False


HEAD = {"brain_dump": 1, "namespace": "default", "from": "elsewhere", "written_at": "now", "embedding": None}


def row(skill_id, **more):
    return {"skill": {"id": skill_id, "name": skill_id}, "dedup_key": None, "vector": None} | more


@pytest.fixture
def full(place, tmp_path):
    """A dump of a store in which a lot happened, and what was in it."""
    store = lived_in(place("sqlite"), Bag())
    dump(store, tmp_path / "full.jsonl")
    return tmp_path / "full.jsonl", all_of(store)


@pytest.mark.parametrize("target", PLACES)
@pytest.mark.parametrize("source", PLACES)
def test_a_dump_of_any_store_loads_into_any_other_whole(source, target, place, tmp_path):
    here, there = lived_in(place(source), Bag()), place(target)
    before = all_of(here)
    done = dump(here, tmp_path / "one.jsonl")
    moved = loaded(tmp_path / "one.jsonl", there)
    assert all_of(there) == before == all_of(here)
    assert (moved.written, moved.edges) == (done.skills, done.edges) == (len(before[0]), len(before[1]))
    assert done.traces == sum(len(kept[5]) for kept in before[0].values()) == 3
    assert not moved.skipped
    assert set(done.skipped) <= {("skill", HAS_EXPIRED)}  # a Redis keeps it until it is swept, and tells
    dump(there, tmp_path / "two.jsonl")
    assert lines(tmp_path / "one.jsonl")[1:-1] == lines(tmp_path / "two.jsonl")[1:-1]
    with SyncBrain(there, embedder=Bag(), cache=False) as brain:
        assert brain.observe(**bread(), trace_id="t1").outcome == "already_seen"
        assert brain.observe(**bread()).skill.id == "bread"


@pytest.mark.parametrize("name", ["skills.jsonl", "skills.jsonl.gz"])
def test_a_name_says_whether_it_is_compressed_and_the_content_how_it_is_read(name, place, tmp_path):
    store, there = lived_in(place("sqlite")), place("sqlite")
    path = tmp_path / name
    dump(store, path)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    renamed = path.rename(tmp_path / "other.dat")
    loaded(renamed, there)
    assert all_of(there)[:2] == all_of(store)[:2]
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]


@pytest.mark.parametrize("name", ["whole.jsonl", "whole.jsonl.gz"])
def test_a_dump_that_is_cut_or_changed_anywhere_is_refused_before_anything_is_written(name, place, tmp_path):
    store, there = place("sqlite"), place("sqlite")
    with SyncBrain(store, cache=False) as brain:
        brain.observe(**bread(), skill_id="bread", trace_id="t1")
        brain.skill_graph.save_skill(skill("other"))
        brain.skill_graph.add_edge("bread", "COMPLEMENTS", "other")
    dump(open_store(store.location, namespace="default"), tmp_path / name)
    whole, broken = (tmp_path / name).read_bytes(), tmp_path / "broken"
    places = sorted({*range(0, len(whole), max(1, len(whole) // 150)), *range(len(whole) - 40, len(whole))})
    for at in places:
        flipped = whole[:at] + bytes([whole[at] ^ 0x04]) + whole[at + 1 :]
        for data in (whole[:at], flipped):
            broken.write_bytes(data)
            if says_the_same(data, whole):
                continue  # gzip has bits that mean nothing: the time, the system, what fills up the last byte
            with pytest.raises(DumpError) as refusal:
                loaded(broken, there)
            assert str(broken) in str(refusal.value) and refusal.value.line >= 1
    broken.write_bytes(whole + b"{}\n")
    with pytest.raises(DumpError):
        loaded(broken, there)
    assert there.count() == 0
    broken.write_bytes(whole)
    assert loaded(broken, there).written == 2


def test_a_dump_that_fails_leaves_the_earlier_one_and_no_rest(place, tmp_path):
    store, path = lived_in(place("sqlite")), tmp_path / "skills.jsonl"
    dump(store, path)
    before = path.read_bytes()

    def fail(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dump(store, path, progress=fail)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir() if "jsonl" in one.name] == [path.name]
    dump(store, path)
    assert lines(path)[1:-1] == before.splitlines(keepends=True)[1:-1]


def test_a_file_that_is_no_dump_is_not_replaced(place, tmp_path):
    store, path = place("sqlite"), tmp_path / "notes.txt"
    path.write_text("my notes")
    with pytest.raises(InputError, match="no dump"):
        dump(store, path)
    assert path.read_text() == "my notes"
    with pytest.raises(InputError, match="not a file"):
        dump(store, tmp_path)
    with pytest.raises(InputError, match="cannot be written"):
        dump(store, tmp_path / "nowhere" / "skills.jsonl")
    empty = tmp_path / "empty"
    empty.touch()
    assert dump(store, empty).skills == 0


def test_other_skills_of_the_same_id_are_in_the_way_unless_it_is_said_which_stay(full, place):
    path, (skills, edges, _) = full
    there = place("sqlite")
    with SyncBrain(place("sqlite", there.location), cache=False) as brain:
        brain.skill_graph.save_skill(skill("bread", "something else"))
        brain.skill_graph.save_skill(skill("mine"))
    before = all_of(there)
    with pytest.raises(InputError, match=r"same id: bread\. .*--replace.*--skip"):
        loaded(path, there)
    assert all_of(there) == before
    told = []
    moved = loaded(path, there, existing=Existing.SKIP, tell=told.append)
    assert moved.written == len(skills) - 1
    assert [(one.subject, one.reason) for one in told] == [("bread", THERE)]
    assert all_of(there)[0]["bread"] == before[0]["bread"]
    assert all_of(there)[1] == edges
    with pytest.raises(InputError, match="same id: bread"):
        loaded(path, there)
    assert loaded(path, there, existing=Existing.REPLACE).written == len(skills)
    assert {**skills, "mine": before[0]["mine"]} == all_of(there)[0]


def test_skipping_leaves_the_edges_between_what_stays(full, place):
    path, _ = full
    there = place("sqlite")
    loaded(path, there)
    with SyncBrain(place("sqlite", there.location), cache=False) as brain:
        brain.skill_graph.add_edge("s1", "COMPLEMENTS", "s2", {"mine": True})
        mine = all_of(there)[1]
        loaded(path, there, existing=Existing.SKIP)
        assert all_of(there)[1] == mine
        loaded(path, there, existing=Existing.REPLACE)
        assert all_of(there)[1] != mine


def test_the_same_dump_loads_again_and_changes_nothing(full, place):
    path, before = full
    there = place("sqlite")
    for _ in range(2):
        moved = loaded(path, there)
        assert all_of(there) == before
        assert sum(moved.skipped.values()) == 0


def test_a_load_that_was_cut_short_goes_on(place, tmp_path):
    store, there = place("sqlite"), place("sqlite")
    with SyncBrain(place("sqlite", store.location), cache=False) as brain:
        brain.skill_graph.save_skills([skill(f"s{i:04}", f"task {i}") for i in range(450)])
    dump(store, tmp_path / "many.jsonl")
    seen = []

    def fail(count):
        seen.append(count)
        if len(seen) == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        loaded(tmp_path / "many.jsonl", there, progress=fail)
    assert 0 < there.count() < 450
    loaded(tmp_path / "many.jsonl", there)
    assert all_of(there) == all_of(store)


def test_vectors_of_another_model_are_named_and_can_be_left(full, place):
    path, (skills, _, _) = full
    there = lived_in(place("sqlite"), Bag("other", 7))
    stamp = there.embedding_stamp()
    with pytest.raises(EmbeddingError, match=r"other.*bag.*without-vectors"):
        loaded(path, there, existing=Existing.REPLACE)
    loaded(path, there, existing=Existing.REPLACE, vectors=False)
    assert there.embedding_stamp() == stamp
    assert all(kept[4] is None for skill_id, kept in all_of(there)[0].items() if skill_id in skills)


def test_what_has_expired_since_is_left_out_or_lives_on(place, tmp_path):
    path, now = tmp_path / "old.jsonl", datetime(2026, 1, 1, tzinfo=UTC)
    location = place("sqlite").location
    store = open_store(location, namespace="default", clock=lambda: now)
    with SyncBrain(store, cache=False) as brain:
        brain.skill_graph.save_skill(skill("short", expires_at=(now + timedelta(hours=1)).isoformat()))
        brain.skill_graph.save_skill(skill("long"))
        brain.skill_graph.add_edge("short", "COMPLEMENTS", "long")
        dump(store, path)
    for renew in (False, True, True):
        there, told = place("sqlite"), []
        moved = loaded(path, there, renew=renew, tell=told.append)
        if renew:
            assert (moved.written, moved.edges, told) == (2, 1, [])
            assert not there.get_many(["short"])[0].has_expired(there.clock())
            loaded(path, there, renew=True)  # again, as after an interruption
        else:
            assert {one.reason for one in told} == {HAS_EXPIRED, NO_END}
            assert (moved.written, moved.edges) == (1, 0)


ENDLESS = "x" * 1_001  # an id that no place looks for


def test_ids_that_no_place_could_find_are_told_and_left_out(place, redis_server, tmp_path):
    import redis

    store = place("redis")
    keys = Keys(store.location.partition("prefix=")[2], "default")
    with redis.Redis.from_url(redis_server.url) as client:
        for skill_id in ("good", "a whole sentence", ENDLESS, "zz"):
            client.set(keys.document(skill_id), json.dumps({"id": skill_id, "name": skill_id}))
            client.hset(keys.index, skill_id, skill_id)
    told = []
    done = dump(store, tmp_path / "wild.jsonl", tell=told.append)
    assert [(one.subject, one.reason) for one in told] == [(ENDLESS, BAD_ID)]
    assert done.skills == 3 and done.skipped["skill", BAD_ID] == 1
    there = place("sqlite")
    assert loaded(tmp_path / "wild.jsonl", there).written == 3


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("second", "word"),
    [
        (row("a", skill={"id": "a", "name": 5}), "name"),
        (row("a", skill={"id": "a", "name": "a", "confidence": 2.0}), "confidence"),
        (row("a", skill=[]), "record"),
        (row("a", skill={"id": "a", "name": "a", "x": deep(300)}), "record"),
        (row("a", vector="AAAA"), "vector"),
        (row("a", vector="no base64!"), "record"),
        (row("a", dedup_key=7), "record"),
        ({"skill": {"id": "a", "name": "a"}}, "record"),
        ({"trace": {}, "of": "a"}, "does not follow"),
        ({"edge": {"source": "a", "target": "b", "relation": "LIKES"}}, "relation"),
        ({"edge": {"source": "a"}}, "record"),
        ({"something": 1}, "nothing that belongs here"),
        ([1], "nothing that belongs here"),
    ],
)
def test_a_record_that_is_not_valid_is_refused_with_its_line_though_the_digest_fits(second, word, place, tmp_path):
    there, path = place("sqlite"), tmp_path / "made.jsonl"
    path.write_bytes(signed(HEAD, second))
    with pytest.raises(DumpError, match=word) as refusal:
        loaded(path, there)
    assert refusal.value.line == 2
    assert there.count() == 0


def test_a_dump_of_a_newer_format_says_to_upgrade(place, tmp_path):
    path = tmp_path / "made.jsonl"
    path.write_bytes(signed({**HEAD, "brain_dump": 99}, row("a")))
    with pytest.raises(DumpError, match=r"format '99'.*Upgrade brain"):
        loaded(path, place("sqlite"))


TRACE = {"key": "k", "trace_id": "", "content": "", "domain": "", "task": "", "seen_at": "2026-01-01T00:00:00+00:00"}


@pytest.mark.parametrize(
    "third",
    [
        {"trace": {**TRACE, "success": 1, "quality": 0.5}, "of": "a"},
        {"trace": {**TRACE, "success": True, "quality": 7}, "of": "a"},
        {"trace": {**TRACE, "success": True, "quality": 0.5}, "of": "b"},
        {"trace": {**TRACE, "success": True, "quality": 0.5, "seen_at": "yesterday"}, "of": "a"},
        row("a"),
        row("A"),
    ],
)
def test_what_follows_a_skill_wrongly_is_refused(third, place, tmp_path):
    there, path = place("sqlite"), tmp_path / "made.jsonl"
    path.write_bytes(signed(HEAD, row("a"), third))
    with pytest.raises(DumpError) as refusal:
        loaded(path, there)
    assert refusal.value.line == 3
    assert there.count() == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"{}\n",
        b'{"skill": {}}\n',
        b"\x1f\x8b",
        b"PK\x03\x04",
        b"\x00" * 5000,
        signed({**HEAD, "brain_dump": 2}),
        signed({**HEAD, "namespace": 3}),
        signed({"brain_dump": 1}),
        signed({**HEAD, "embedding": {"model": "m", "dimension": 3, "text": "t", "probe": "AAAA"}}),
        signed({**HEAD, "embedding": {"model": "m"}}),
        b'{"brain_dump": 1, "x": ' + b"[" * 100_000,
        b'{"brain_dump": NaN}\n',
    ],
)
def test_what_is_no_dump_is_refused(data, place, tmp_path):
    path = tmp_path / "no.jsonl"
    path.write_bytes(data)
    with pytest.raises(DumpError):
        loaded(path, place("sqlite"))


def test_a_bomb_is_refused_in_little_memory(place, tmp_path):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(json.dumps(HEAD).encode() + b"\n" + b'{"skill": "')
        for _ in range(80):
            file.write(b"a" * 2**20)
    with pytest.raises(DumpError, match="too long"):
        loaded(path, place("sqlite"))


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_read(make, tmp_path):
    make(tmp_path / "x")
    with pytest.raises(InputError, match="not a file"):
        DumpFile(tmp_path / "x")
    with pytest.raises(InputError, match="cannot be read"):
        DumpFile(tmp_path / "absent")


def test_vectors_are_written_as_they_are(full):
    path, (skills, _, stamp) = full
    head, *rows = map(json.loads, lines(path))
    assert head["embedding"]["dimension"] == stamp.dimension == 26
    told = {value["skill"]["id"]: base64.b64decode(value["vector"]) for value in rows if "skill" in value}
    assert told == {skill_id: kept[4] for skill_id, kept in skills.items()}


MOVING = """
import resource, sys
from pathlib import Path
from brain.engine.dump import check, dump, load
from brain.engine.dumpfile import DumpFile
from brain.store.location import open_store
dump(open_store(sys.argv[1], namespace="default"), Path(sys.argv[2]))
with DumpFile(Path(sys.argv[2])) as file:
    target = open_store(sys.argv[3], namespace="default")
    contents = check(file, target)
    print(load(file, target).written, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.timeout(3600)
def test_a_large_store_is_dumped_and_loaded_in_little_memory(place, redis_server, tmp_path):
    memory = {}
    for name, count in (("few", MANY // 10), ("all", MANY)):
        source = place("redis")
        many(redis_server.url, source.location.partition("prefix=")[2], count)
        target = f"sqlite:///{tmp_path / name}.db"
        command = [sys.executable, "-c", MOVING, source.location, str(tmp_path / f"{name}.jsonl.gz"), target]
        written, memory[name] = map(int, subprocess.run(command, check=True, capture_output=True).stdout.split())
        assert written == count
    print(f"{MANY} skills: {memory['all']} MB, a tenth of them: {memory['few']} MB")
    assert memory["all"] - memory["few"] < 40 + MANY // 1000
