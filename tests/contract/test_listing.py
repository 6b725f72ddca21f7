"""Are skills listed, ordered, filtered and counted alike on every store, and does a listing follow every change?"""

import random
from datetime import timedelta
from itertools import chain

import pytest

from brain import SyncBrain
from brain.engine.listing import SkillOrder, fold
from brain.errors import InputError
from tests.contract.raw import raw
from tests.contract.samples import AWKWARD, audit, bread, ids, skill


def listed(brain, *arguments, **options):
    return ids(brain.listing(*arguments, **options).rows)


def fill(brain, clock):
    """Twelve skills, with equal values among them, some that never expire."""
    random_ = random.Random(5)
    made = []
    for i in range(12):
        count = random_.randrange(5)
        lifetime = random_.choice([None, 1, 30, 2_000])
        made.append(
            skill(
                f"s{i:02d}",
                name=random_.choice(["alpha", "Beta", "ÄPFEL", "äpfel", "Ζήτα", "zeta 😀", "zeta \ufffd", ""])
                + f" {i % 3}",
                task="find out" if i % 2 else "",
                domain=random_.choice(["kitchen", "Garage"]),
                tags=random_.choice([("a", "b"), ("B",), (), ("a",)]),
                confidence=random_.choice([0.25, 0.5, 0.75]),
                usage_count=random_.randrange(3),
                success_rate=random_.choice([0.0, 0.5, 1.0]),
                transfer_count=count,
                transfer_successes=random_.randrange(count + 1),
                updated_at=clock.now - timedelta(hours=random_.randrange(4)),
                expires_at=(clock.now + timedelta(hours=lifetime)).isoformat() if lifetime else "",
            )
        )
    random_.shuffle(made)
    brain.skill_graph.save_skills(made)
    return sorted(made, key=lambda one: one.id)


KEYS = {
    "id": lambda s: s.id,
    "name": lambda s: fold(s.name),
    "domain": lambda s: fold(s.domain),
    "confidence": lambda s: s.confidence,
    "usage_count": lambda s: (s.usage_count, s.confidence),
    "success_rate": lambda s: s.success_rate,
    "transfer_count": lambda s: s.transfer_count,
    "tags": lambda s: [fold(tag) for tag in s.tags],
    "expires_at": lambda s: s.expires_at or "9999",
    "updated_at": lambda s: s.updated_at,
}


@pytest.mark.parametrize("descending", [False, True])
def test_every_order_sorts_the_whole_and_breaks_ties_by_id(brain, clock, descending):
    made = fill(brain, clock)
    assert set(KEYS) == set(SkillOrder)
    for order, key in KEYS.items():
        wanted = sorted(made, key=key, reverse=descending)
        assert listed(brain, order, descending=descending) == ids(wanted), order


def test_the_most_used_are_those_of_the_summary(brain, clock):
    fill(brain, clock)
    best = brain.listing("usage_count", descending=True, limit=5).rows
    assert ids(best) == [skill["id"] for skill in brain.get_skill_summary()["top_skills"]]


def test_a_row_says_what_the_skill_says(brain, clock):
    fill(brain, clock)
    brain.feedback("s03", {"domain": "garden"}, success=True)
    learned = brain.observe(**bread()).skill
    for row in brain.listing().rows:
        found = brain.get_skill(row.id)
        assert (row.name, row.domain, list(row.tags)) == (found.name, found.domain, found.tags)
        for field in (
            "confidence",
            "usage_count",
            "success_rate",
            "transfer_count",
            "transfer_successes",
            "updated_at",
        ):
            assert getattr(row, field) == getattr(found, field), (row.id, field)
        assert (row.expires_at.isoformat() if row.expires_at else "") == found.expires_at
        assert row.is_transferable == found.is_transferable
    assert learned.id in listed(brain)


def test_pages_put_together_are_the_whole(brain, clock):
    made = fill(brain, clock)
    whole = listed(brain, "confidence", descending=True)
    pages = [listed(brain, "confidence", descending=True, offset=at, limit=5) for at in (0, 5, 10, 15)]
    assert [len(page) for page in pages] == [5, 5, 2, 0]
    assert list(chain.from_iterable(pages)) == whole
    assert {brain.listing(offset=at, limit=limit).total for at, limit in ((0, 1), (12, 9), (99, 0), (0, None))} == {12}
    assert len(made) == 12


@pytest.mark.parametrize("limit", [1, 4, 5, 12, 50])
def test_the_part_around_a_skill_holds_it(brain, clock, limit):
    fill(brain, clock)
    whole = listed(brain, "name")
    for place, skill_id in enumerate(whole):
        found = brain.listing("name", around=skill_id, limit=limit)
        assert (found.place, ids(found.rows)) == (place, whole[found.offset : found.offset + limit])
        assert skill_id in ids(found.rows)
    missing = brain.listing("name", around="nobody", offset=2, limit=limit)
    assert (missing.place, missing.offset, ids(missing.rows)) == (None, 2, whole[2 : 2 + limit])


def test_words_are_found_in_name_id_domain_and_tags_in_any_case(brain):
    graph = brain.skill_graph
    graph.save_skill(skill("one", "x", name="Straße ÄPFEL Οδός ﬁne", domain="Baking", tags=("Crème brûlée",)))
    graph.save_skill(skill("two", "x", name="ISTANBUL ｆｕｌｌ", domain="travel", tags=("K2", "x[red]")))
    for text, found in {
        "": ["one", "two"],
        "strasse": ["one"],
        "STRASSE äpf": ["one"],
        "ΟΔΌΣ": ["one"],
        "FINE": ["one"],
        "bak": ["one"],
        "CRÈME baking": ["one"],
        "crème travel": [],
        "istanbul": ["two"],
        "FULL": ["two"],
        "TWO": ["two"],
        "x[red]": ["two"],
        "o": ["one", "two"],
        "  one   ": ["one"],
        "%": [],
        "_": [],
        "*": [],
        "one two": [],
    }.items():
        listing = brain.listing("id", text=text)
        assert (ids(listing.rows), listing.total) == (found, len(found)), text
        assert (listing.skills, listing.transferable) == (2, 0)


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_awkward_text_is_listed_byte_for_byte_and_found_by_itself(brain, text):
    brain.skill_graph.save_skill(skill("s", "x", name=text, domain=text, tags=[text]))
    brain.skill_graph.save_skill(skill("other", "x", name="nothing"))
    (row,) = brain.listing(text=text).rows
    assert (row.name, row.domain, row.tags) == (text, text, (text,))
    assert listed(brain, tag=text) == ["s"]


def test_a_tag_is_taken_to_the_letter(brain):
    brain.skill_graph.save_skill(skill("a", tags=("Cook", "cooking")))
    brain.skill_graph.save_skill(skill("b", tags=("cook",)))
    assert (listed(brain, tag="cook"), listed(brain, tag="Cook"), listed(brain, tag="")) == (["b"], ["a"], [])


def test_counts_cover_all_live_skills_whatever_is_asked_for(brain, clock):
    made = fill(brain, clock)
    for text in ("", "alpha", "nothing like it"):
        listing = brain.listing(text=text, limit=1)
        soon = [s for s in made if s.expires_at and s.expires_at <= (clock.now + timedelta(hours=24)).isoformat()]
        transferable = [s for s in made if s.is_transferable]
        assert (listing.skills, listing.expiring, listing.transferable) == (12, len(soon), len(transferable))
        assert soon and transferable


def test_what_expires_leaves_the_listing_without_any_write(brain, clock):
    made = fill(brain, clock)
    brain.listing("expires_at")
    clock.advance(hours=1)
    left = [s.id for s in made if not s.has_expired(clock.now)]
    listing = brain.listing("id")
    assert (ids(listing.rows), listing.total, listing.skills) == (left, len(left), len(left))
    assert len(left) < 12


# Following what changes


def test_a_listing_follows_every_kind_of_write(brain):
    version = brain.listing().version
    for write in (
        lambda: brain.observe(**bread(), skill_id="bread"),
        lambda: brain.observe(**audit(), skill_id="audit"),
        lambda: brain.observe(**bread(), trace_id="again"),
        lambda: brain.feedback("audit", {"domain": "kitchen"}, success=False),
        lambda: brain.skill_graph.save_skill(brain.get_skill("bread").model_copy(update={"name": "renamed"})),
        lambda: brain.skill_graph.delete_skill("audit"),
    ):
        write()
        listing = brain.listing("id")
        assert listing.version > version
        version = listing.version
        seen = {row.id: (row.name, row.usage_count, row.confidence) for row in listing.rows}
        assert seen == {s.id: (s.name, s.usage_count, s.confidence) for s in brain.get_skills()}
    assert list(seen) == ["bread"] and seen["bread"][:2] == ("renamed", brain.get_skill("bread").usage_count)


def test_nothing_written_is_the_same_version(brain):
    brain.observe(**bread())
    assert brain.listing().version == brain.listing("name", text="x").version


def test_a_store_that_was_emptied_or_replaced_is_read_anew(place, brain, clock):
    fill(brain, clock)
    assert brain.listing().total == 12
    raw(place).clear_everything()
    assert brain.listing().total == 0
    place.open(clock=clock).observe(**bread(), skill_id="new")
    assert listed(brain) == ["new"]


@pytest.mark.parametrize("damage", ["damage_text", "damage_field", "damage_number"])
def test_a_damaged_skill_never_hides_the_others(place, clock, caplog, damage):
    place.open(clock=clock).skill_graph.save_skills([skill("good"), skill("bad"), skill("better")])
    getattr(raw(place), damage)("bad")
    brain = place.open(clock=clock)
    for order in SkillOrder:
        found = listed(brain, order)
        assert set(found) - {"bad"} == {"good", "better"}
        assert brain.listing(order, text="skill").total == len(found)
    assert "bad" in found or any("bad" in message for message in caplog.messages)


def test_a_second_reader_sees_what_the_first_writes_page_by_page(place, clock, monkeypatch):
    for store in ("sqlite.skills", "neo4j.skills", "redis.feed"):
        monkeypatch.setattr(f"brain.store.{store}.CHANGES_PAGE", 3)
    monkeypatch.setattr("brain.engine.listing.LOADED_AT_ONCE", 4)
    writer, reader = place.open(clock=clock), place.open(clock=clock)
    fill(writer, clock)
    assert listed(reader, "id") == listed(writer, "id")
    for i in range(12):
        writer.feedback(f"s{i:02d}", {}, success=bool(i % 2))
        if i % 3 == 0:
            writer.skill_graph.delete_skill(f"s{i:02d}")
    assert reader.listing(limit=None).rows == writer.listing(limit=None).rows
    assert len(reader.listing().rows) == 8


# Refusals


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"order": "size"}, "usage_count"),
        ({"order": ""}, "usage_count"),
        ({"offset": -1}, "offset"),
        ({"offset": 1.5}, "offset"),
        ({"limit": -1}, "limit"),
        ({"limit": True}, "limit"),
        ({"text": "\ud800"}, "text"),
        ({"text": None}, "text"),
        ({"tag": "\udfff"}, "tag"),
        ({"tag": 3}, "tag"),
        ({"around": 3}, "skill id"),
    ],
)
def test_what_cannot_be_asked_is_refused(file_place, arguments, word):
    with file_place.open() as brain, pytest.raises(InputError, match=word):
        brain.listing(**arguments)


def test_progress_is_told_while_the_first_listing_is_read(place, clock):
    told = []
    fill(place.open(clock=clock), clock)
    brain = place.open(clock=clock, loading=lambda done, total: told.append((done, total)))
    assert isinstance(brain, SyncBrain) and not told
    brain.listing()
    assert told[-1] == (12, 12) and all(done <= total for done, total in told)
