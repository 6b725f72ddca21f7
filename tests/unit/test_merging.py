"""Does an index that is merged aside give the same answers before, meanwhile and afterwards?"""

import threading
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain import SyncBrain
from brain.analysis import corpus as corpora
from brain.analysis import postings
from brain.analysis.corpus import Corpus
from brain.analysis.profile import stored_terms
from brain.engine.image import image_of, table_of
from brain.engine.index import RecallIndex
from brain.model.policy import Policy
from brain.store.values import Changes
from tests.bench.skills import Source
from tests.unit.test_index import NOW, entry_of, query_of

PIECE, SKILLS = 25, 900


@pytest.fixture(scope="module")
def entries():
    return [entry_of(skill, None) for skill in Source(5).skills(SKILLS)]


@pytest.fixture(scope="module")
def queries():
    """Tasks and a plan; the first are stored skills' own."""
    source = Source(6)
    own = [{"task": skill.task, "domain": skill.domain} for skill in Source(5).skills(3)]
    contexts = [*own, *(source.task() for _ in range(2)), source.plan()]
    return [query_of(context, with_vector=False) for context in contexts]


def grown(entries):
    """An index that entries came into piece by piece, as from others' writes."""
    index = RecallIndex(Policy(), None)
    index.show("store", 1, index.filling().table)
    for start in range(0, len(entries), PIECE):
        add(index, entries[start : start + PIECE])
    return index


def due(entries):
    """An index with something to merge, that merge, and the entries that are not in the index yet."""
    index = grown(entries[:400])
    for start in range(400, len(entries), PIECE):
        if merging := corpus_of(index).due():
            return index, merging, entries[start:]
        add(index, entries[start : start + PIECE])
    raise AssertionError("nothing to merge")


def add(index, entries, gone=()):
    index.apply(Changes("store", index.version + 1, entries, gone), index.version)


def at_once(entries):
    index = RecallIndex(Policy(), None)
    filling = index.filling()
    filling.add(entries)
    index.show("store", 1, filling.table)
    return index


def answers(index, queries):
    return [index.best(query, NOW, 10, 0.0) for query in queries]


def corpus_of(index):
    return index._table.corpus


def sizes(index):
    return [segment.size for segment in corpus_of(index).segments]


def test_small_segments_are_merged_at_once_and_large_ones_when_asked(entries, queries):
    index, wanted = grown(entries), answers(at_once(entries), queries)
    before = sizes(index)
    assert len(before) < len(entries) / PIECE
    assert index.has_due()
    assert answers(index, queries) == wanted
    index.merge()
    assert not index.has_due()
    assert len(sizes(index)) < len(before)
    assert sum(sizes(index)) == len(entries)
    assert answers(index, queries) == wanted


def test_what_comes_and_goes_while_segments_are_merged_counts(entries, queries):
    index, merging, left = due(entries)
    gone = [entry.id for entry in entries[100:180]]
    add(index, left[:100], gone[:40])
    done = merging.done()
    add(index, left[100:], gone[40:])
    before = sizes(index)
    corpus_of(index).take(merging, done)
    assert len(sizes(index)) == len(before) - 3
    kept = [entry for entry in entries if entry.id not in gone]
    assert answers(index, queries) == answers(at_once(kept), queries)
    index.merge()
    assert answers(index, queries) == answers(at_once(kept), queries)


def test_a_merge_of_rows_that_were_numbered_anew_is_dropped(entries, queries):
    index, merging, left = due(entries)
    done = merging.done()
    index._table.remove(entry.id for entry in entries[:50])
    index._table.compact()
    corpus_of(index).take(merging, done)
    kept = entries[50 : len(entries) - len(left)]
    assert sizes(index) == [len(kept)]
    assert answers(index, queries) == answers(at_once(kept), queries)


def test_a_snapshot_taken_before_a_merge_ends_gives_the_same_answers(entries, queries):
    index, merging, left = due(entries)
    wanted = answers(at_once(entries[: len(entries) - len(left)]), queries)
    image = image_of(index._table, "store", index.version)
    done = merging.done()
    corpus_of(index).take(merging, done)
    again = RecallIndex(Policy(), None)
    again.show("store", image.version, table_of(image, Policy()))
    assert answers(again, queries) == wanted
    again.merge()
    assert answers(again, queries) == answers(index, queries) == wanted


def test_skills_are_recalled_and_written_while_a_thread_merges(entries, queries):
    index, threads = grown(entries[:600]), []
    for start in range(600, SKILLS, PIECE):
        threads.append(threading.Thread(target=index.merge))
        threads[-1].start()
        add(index, entries[start : start + PIECE], [entries[start - 600].id])
        answers(index, queries[:1])
    for thread in threads:
        thread.join()
    gone = {entries[start - 600].id for start in range(600, SKILLS, PIECE)}
    assert answers(index, queries) == answers(at_once([e for e in entries if e.id not in gone]), queries)


def test_a_brain_merges_aside_and_leaves_no_thread(tmp_path):
    source = Source(8)
    with SyncBrain.open(f"sqlite:///{tmp_path / 'brain.db'}", cache=False) as brain:
        brain.recall(source.task())
        for _ in range(5):
            brain._store.save_many([p.draft for p in brain._memory.drafts(list(source.skills(100)))], operation="")
            brain.recall(source.task())
    assert "brain-merge" not in [thread.name for thread in threading.enumerate()]
    assert not brain._memory.index.has_due()
    assert len(sizes(brain._memory.index)) == 2


adding = st.tuples(st.just("add"), st.lists(st.integers(0, 7), min_size=1, max_size=5))
changing = st.tuples(st.sampled_from(["remove", "compact", "ask"]), st.integers(0, 99))
merging = st.tuples(st.sampled_from(["find", "make", "take"]), st.integers(0, 99))
beginning = st.lists(adding, min_size=4, max_size=6)


@pytest.mark.parametrize("most_rows", [6, postings.MOST_ROWS])
@settings(deadline=None)
@given(beginning, st.lists(st.one_of(adding, changing, merging), min_size=5, max_size=40))
def test_a_corpus_is_exact_whatever_happens_between_the_steps_of_a_merge(entries, queries, most_rows, first, then):
    """One finds a merge due, makes it and takes it in; others may do the same, add and remove meanwhile."""
    with patch.object(postings, "MOST_ROWS", most_rows), patch.object(corpora, "MOST_ROWS", most_rows):
        corpus = played(entries, queries, first + then)
    assert all(segment.size <= most_rows for segment in corpus.segments)


def played(entries, queries, steps):
    """A corpus after some steps, compared with one that was made at once."""
    terms = [stored_terms(entry.terms) for entry in entries[:8]]
    corpus, kept, begun = Corpus(), list[int | None](), []
    corpus.merged_at_once = 3
    for what, number in steps:
        live = [row for row, kind in enumerate(kept) if kind is not None]
        if what == "add":
            corpus.add([terms[kind] for kind in number])
            kept += number
        elif what == "remove" and live:
            row = live[number % len(live)]
            corpus.remove(np.array([row]))
            kept[row] = None
        elif what == "compact" and number < 30:
            corpus.compact()
            kept = [kind for kind in kept if kind is not None]
        elif what == "ask":  # computes what is kept of each segment
            corpus.topic(queries[0].profile.terms).bounds(slice(0, len(corpus)))
        elif what == "find" and (found := corpus.due()):
            begun.append((found, None))
        elif what == "make" and begun:
            found, _ = begun[number % len(begun)]
            begun[number % len(begun)] = found, found.done()
        elif what == "take" and begun:
            found, done = begun.pop(number % len(begun))
            corpus.take(found, done or found.done())
    compare(corpus, kept, terms, queries)
    return corpus


def test_more_rows_than_one_segment_holds(entries, queries):
    """16 bits number the rows of a segment: those around the last one are told apart."""
    terms = [stored_terms(entry.terms) for entry in entries[:2]]
    count = postings.MOST_ROWS + 3
    kept = [0] * count
    for row in (0, 7, count - 4, count - 3, count - 1):
        kept[row] = 1
    corpus = Corpus()
    corpus.add([terms[number] for number in kept])
    assert [segment.size for segment in corpus.segments] == [postings.MOST_ROWS, 3]
    check_rows(corpus, kept, queries)
    gone = [5, 6, count - 2]
    corpus.remove(np.array(gone))
    corpus.compact()
    left = [number for row, number in enumerate(kept) if row not in gone]
    assert [segment.size for segment in corpus.segments] == [len(left)]
    check_rows(corpus, left, queries)


def check_rows(corpus, kept, queries):
    """Rows of the same terms score the same, those of a query's own terms the most."""
    rows, kinds = np.arange(len(kept)), np.array(kept)
    for number, query in enumerate(queries[:2]):
        alike = corpus.topic(query.profile.terms).similarities(rows)
        (own,), (other,) = (set(alike[kinds == kind].tolist()) for kind in (number, 1 - number))
        assert own > other
    (own,), (other,) = (set(corpus.procedure(queries[-1].profile.terms).similarities(rows)[kinds == k]) for k in (0, 1))
    assert own != other


def compare(corpus, kept, terms, queries):
    """A corpus and one of the same live rows that was made at once."""
    whole = Corpus()
    whole.add([terms[number] for number in kept if number is not None])
    live = np.array([row for row, number in enumerate(kept) if number is not None], np.int64)
    assert corpus.documents == len(live)
    if not len(live):
        return
    for query in queries:
        words, rows = query.profile.terms, np.arange(len(live))
        assert corpus.rarities(words, live[:3]) == whole.rarities(words, rows[:3])
        assert (corpus.procedure(words).similarities(live) == whole.procedure(words).similarities(rows)).all()
        topic = corpus.topic(words)
        bounds, exact = topic.bounds(slice(0, len(corpus)))[live], topic.similarities(live)
        assert (bounds >= exact - 1e-12).all()
        assert np.allclose(exact, whole.topic(words).similarities(rows), rtol=1e-12)
