"""Does the recall index find what scoring every skill would find, whatever came and went before?"""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from brain.analysis.analyzer import ContextAnalyzer
from brain.analysis.profile import profile_of_context, profile_of_skill
from brain.engine.image import image_of, table_of
from brain.engine.index import RecallIndex
from brain.engine.scoring import Query
from brain.engine.snapshot import SnapshotFile
from brain.model.inputs import Context
from brain.model.policy import Policy
from brain.store.values import Changes, RecallEntry
from tests.bench.skills import DIMENSION, Source, WordEmbedder

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SKILLS, LATER = 2_100, 150


def ids_in(index):
    with index.shown(NOW) as table:
        return table.live_ids()


def entry_of(skill, vector, expires_at=None):
    return RecallEntry(
        skill.id,
        skill.skill_type,
        skill.features.shape,
        skill.confidence,
        skill.transfer_count,
        skill.transfer_count // 2,
        expires_at,
        skill.fingerprint(),
        profile_of_skill(skill).to_bytes(),
        vector,
    )


def query_of(context, with_vector):
    known = Context(**context)
    features = ContextAnalyzer(None, Policy()).analyze(known, ask_model=False)
    text = " ".join([known.task, *map(str, context.get("steps", ()))])
    vector = WordEmbedder().encode([text])[0].astype(np.float32) if with_vector else None
    return Query(profile_of_context(known), features.shape, features.to_embedding_text(), vector)


@pytest.fixture(scope="module")
def entries():
    """Skills, one in seven of them without a vector, one in ten soon expired, and some of the same text."""
    source = Source(3)
    skills = list(source.skills(SKILLS + LATER))
    skills[7] = skills[5].model_copy(update={"id": "same-text"})
    texts = [" ".join([s.task, *(step.action for step in s.procedure)]) for s in skills]
    vectors = WordEmbedder().encode(texts).astype(np.float32)
    soon = int((NOW + timedelta(hours=1)).timestamp() * 1_000_000)
    return [
        entry_of(skill, None if i % 7 == 0 else vector.tobytes(), soon if i % 10 == 0 else None)
        for i, (skill, vector) in enumerate(zip(skills, vectors, strict=True))
    ]


@pytest.fixture(scope="module")
def queries():
    """Bare tasks and plans; the first is a stored skill's own."""
    source = Source(99)
    own = {"task": next(Source(3).skills(1)).task, "domain": next(Source(3).skills(1)).domain}
    return [own, *(source.task() for _ in range(8)), *(source.plan() for _ in range(8))]


@pytest.fixture(params=[True, False], ids=["vectors", "words"])
def index(request, entries):
    made = RecallIndex(Policy(), DIMENSION if request.param else None)
    filling = made.filling()
    for start in range(0, SKILLS, 700):
        filling.add(entries[start : min(start + 700, SKILLS)])
    made.show("store", 1, filling.table, filling.unread)
    return made


def apply(index, changes):
    """What a reader at the view's version is told."""
    index.apply(changes, min(index.version, changes.version))


def has_vectors(index):
    return index._table.vectors is not None


def exhaustive(index, query, now, top_k, min_score):
    """The same by scoring every live skill."""
    index.best(query, now, 1, 1.0)  # drops what has expired
    rows = np.flatnonzero(index._table.column("alive"))
    exact = index._scoring(query).exact(rows)
    scored = [index._scored(int(row), exact, i) for i, row in enumerate(rows)]
    found = [s for s in scored if s.combined >= min_score - 1e-9 and s.semantic >= Policy().floor]
    return sorted(found, key=lambda s: s.rank)[:top_k]


def check(index, queries, now=NOW):
    with_vector = has_vectors(index)
    for context in queries[::4]:
        query = query_of(context, with_vector)
        for top_k, min_score in ((5, 0.3), (50, 0.0)):
            assert index.best(query, now, top_k, min_score) == exhaustive(index, query, now, top_k, min_score)


def test_the_best_are_those_of_scoring_every_skill(index, queries):
    check(index, queries)


def test_a_skill_scores_the_same_alone(index, queries):
    query = query_of(queries[1], has_vectors(index))
    for scored in exhaustive(index, query, NOW, 20, 0.0):
        assert index.score(query, NOW, scored.skill_id) == scored


def test_expired_skills_are_not_found(index, queries):
    check(index, queries, NOW + timedelta(hours=2))
    assert len(index) == SKILLS - SKILLS // 10


def test_changes_deletions_and_compaction_leave_the_answers_exact(index, entries, queries):
    check(index, queries[:5])
    used = [RecallEntry(**{**vars(e), "confidence": 0.95, "transfer_count": 3}) for e in entries[:200]]
    rewritten = [RecallEntry(**{**vars(e), "terms": entries[i + 900].terms}) for i, e in enumerate(entries[300:400])]
    apply(index, Changes("store", 2, used))
    apply(index, Changes("store", 3, rewritten, [e.id for e in entries[500:640]]))
    for start in range(SKILLS, SKILLS + LATER, 75):
        apply(index, Changes("store", 4, entries[start : start + 75]))
        check(index, queries[4:5])
    check(index, queries)
    gone = [e.id for e in entries[640:1_900]]
    apply(index, Changes("store", 5, (), gone))
    assert index._table.dead == 0, "removed rows are given up"
    assert len(index) == SKILLS + LATER - 140 - len(gone)
    check(index, queries)


def test_changes_that_are_older_or_of_another_store_change_nothing(index, entries):
    before = ids_in(index)
    apply(index, Changes("store", 9, entries[:1]))
    apply(index, Changes("store", 8, (), [entries[0].id]))
    apply(index, Changes("other", 10, (), [entries[0].id]))
    index.drop([entries[0].id], as_of=8)
    assert ids_in(index) == before
    assert not index.fits(Changes("store", 12, stale=True))


def test_changes_that_begin_after_the_view_are_not_brought_in(index, entries):
    before = ids_in(index)
    index.apply(Changes("store", 9, (), [entries[0].id]), 5)
    assert (ids_in(index), index.version) == (before, 1)
    table = index.filling().table
    apply(index, Changes("store", 4))
    index.show("store", 3, table)
    assert (ids_in(index), index.version) == (before, 4), "an older table of the same store does not replace the view"


def test_numbers_beyond_32_bits_are_kept(index, entries, queries):
    many = RecallEntry(**{**vars(entries[1]), "transfer_count": 2**62, "transfer_successes": 3_000_000_000})
    apply(index, Changes("store", 2, [many]))
    check(index, queries)


def test_vectors_that_nearly_equal_a_pivot_are_not_lost(entries):
    random = np.random.default_rng(4)
    centres = random.standard_normal((12, DIMENSION))
    index = RecallIndex(Policy(), DIMENSION)
    filling, made = index.filling(), []
    for i in range(2_400):
        vector = centres[i % 12] + random.standard_normal(DIMENSION) * 10.0 ** -random.uniform(1, 5)
        data = (vector / np.linalg.norm(vector)).astype(np.float32).tobytes()
        made.append(RecallEntry(**{**vars(entries[i % 900]), "id": f"near-{i}", "vector": data, "expires_at": None}))
    filling.add(made)
    vectors = filling.table.vectors
    vectors.prepare()
    for row in random.choice(2_400, 200):
        query = centres[row % 12] + random.standard_normal(DIMENSION) * 1e-3
        query = (query / np.linalg.norm(query)).astype(np.float32)
        cosines = vectors.compared(query)
        exact = cosines.exact(np.arange(2_400))
        assert (cosines.bounds(slice(0, 2_400)) >= exact).all()
        assert (cosines.bounds(slice(700, 1_900)) >= exact[700:1_900]).all()


def test_equal_texts_are_ranked_by_their_id(index, entries):
    query = query_of({"task": "anything", "domain": ""}, has_vectors(index))
    found = index.best(query, NOW, SKILLS, 0.0)
    assert found == sorted(found, key=lambda s: s.rank)


def test_bounds_are_never_below_scores(index, queries):
    table = index._table
    for context in queries:
        work = index._scoring(query_of(context, has_vectors(index)))
        bounds, exact = work.bounds(), work.exact(np.arange(len(table.ids)))
        assert (bounds.semantic >= exact.semantic - 1e-9).all()
        assert (bounds.combined >= exact.combined - 1e-9).all()


def test_a_table_survives_its_snapshot(index, entries, queries, tmp_path):
    apply(index, Changes("store", 2, entries[SKILLS : SKILLS + 50], [entries[3].id]))
    file = SnapshotFile(tmp_path, "place", "default", "")
    file.write(index.image())
    image = file.read()
    assert (image.store_id, image.version) == ("store", 2)
    again = RecallIndex(Policy(), DIMENSION if has_vectors(index) else None)
    again.show(image.store_id, image.version, table_of(image, Policy()))
    check(again, queries)
    for change in (Changes("store", 3, entries[SKILLS + 50 :]), Changes("store", 4, (), [entries[9].id])):
        apply(index, change)
        apply(again, change)
    for context in queries:
        query = query_of(context, has_vectors(index))
        assert again.best(query, NOW, 9, 0.0) == index.best(query, NOW, 9, 0.0)


def test_an_image_does_not_change_with_its_table(index, entries):
    image = image_of(index._table, "store", 1)
    before = {name: [part.copy() for part in parts] for name, parts in image.arrays.items()}
    used = RecallEntry(**{**vars(entries[1]), "confidence": 0.99})
    apply(index, Changes("store", 2, [used, *entries[SKILLS:]], [entries[2].id]))
    for name, parts in image.arrays.items():
        assert all((a == b).all() for a, b in zip(parts, before[name], strict=True)), name


@pytest.fixture
def file(tmp_path, entries):
    index = RecallIndex(Policy(), DIMENSION)
    filling = index.filling()
    filling.add(entries[:40])
    index.show("store", 1, filling.table)
    file = SnapshotFile(tmp_path, "place", "default", "model")
    file.write(index.image())
    return file


def test_a_snapshot_is_for_its_owner_alone(file):
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in file.path.parent.iterdir()] == [file.path.name], "nothing is left beside it"


def test_one_damaged_byte_anywhere_makes_a_snapshot_as_good_as_none(file):
    whole = file.path.read_bytes()
    assert file.read()
    for place in np.random.default_rng(5).choice(len(whole), 300, replace=False):
        damaged = bytearray(whole)
        damaged[place] ^= 0x40
        file.path.write_bytes(damaged)
        image = file.read()
        assert image is None or whole[place] == 0, f"byte {place}"  # filling between arrays is not read
    for length in (0, 7, 100, len(whole) - 1):
        file.path.write_bytes(whole[:length])
        assert file.read() is None


@pytest.mark.parametrize(
    "other", [("elsewhere", "default", "model"), ("place", "other", "model"), ("place", "default", "another model")]
)
def test_a_snapshot_of_something_else_is_not_read(file, tmp_path, other):
    foreign = SnapshotFile(tmp_path, *other)
    foreign.path.write_bytes(file.path.read_bytes())
    foreign.path.chmod(0o600)
    assert foreign.read() is None
    assert file.read()


def test_a_snapshot_that_others_could_have_written_is_not_read(file, tmp_path):
    file.path.chmod(0o666)
    assert file.read() is None
    file.path.chmod(0o600)
    target = tmp_path / "real"
    file.path.rename(target)
    file.path.symlink_to(target)
    assert file.read() is None
