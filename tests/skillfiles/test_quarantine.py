"""Do imported skills stay out of recall until they are approved, on every store, and then come out whole?"""

import pytest

from brain.errors import ConflictError, InputError, SkillNotFoundError
from brain.model.text import parse_time
from brain.skillfiles.exporting import export_skills
from brain.skillfiles.importing import import_skills
from brain.skillfiles.quarantine import approve, quarantine_of
from brain.store.values import new_operation
from tests.contract.samples import audit, bread, skill
from tests.mirror.test_moving import Bag
from tests.skillfiles.conftest import PLAIN
from tests.skillfiles.test_round_trip import edges, kept

COFFEE = {"task": "pour a cup of coffee with a filter"}


@pytest.fixture
def main(place, clock):
    return place.open(clock=clock)


@pytest.fixture
def waiting(place, main, clock):
    return place.open(quarantine_of(main.namespace), clock=clock)


def test_what_waits_is_not_recalled_learned_from_or_found_and_is_once_it_is_approved(main, waiting, write):
    import_skills(waiting, write(PLAIN), waiting_for=main)
    assert main.recall(COFFEE) == [] and main.get_skills() == [] and main.get_skill("pour-coffee") is None
    learned = main.observe(
        {"steps": ["Boil the water", "Wet the filter", "Pour slowly in circles"]}, COFFEE, {"success": True}
    )
    assert learned.outcome == "created"
    main.skill_graph.delete_skill(learned.skill.id)
    assert approve(waiting, main, ["pour-coffee"]) == ["pour-coffee"]
    assert main.recall(COFFEE)[0].skill.id == "pour-coffee"
    assert waiting.get_skills() == []


def test_an_approved_skill_is_as_if_it_had_been_imported_at_once(main, waiting, place, clock, tmp_path):
    source = place.open(f"{place.namespace}-source", clock=clock)
    source.observe(**bread(), skill_id="bread", trace_id="t1")
    source.observe(**audit(), skill_id="audit", derived_from=["bread"])
    export_skills(source, tmp_path / "out")
    import_skills(waiting, tmp_path / "out", waiting_for=main)
    assert edges(waiting) == []
    approve(waiting, main, ["audit"])
    assert edges(main) == []
    approve(waiting, main, ["bread"])
    assert kept(main) == kept(source)
    assert edges(main) == edges(source) != []
    assert main.observe(**bread(), trace_id="t1").outcome == "already_seen"


@pytest.mark.parametrize("used", [False, True])
def test_an_approval_that_was_cut_short_goes_on_and_undoes_nothing(used, main, waiting, write, monkeypatch):
    write(PLAIN.replace("pour-coffee", "tea").replace("coffee", "tea"), "tea")
    import_skills(waiting, write(PLAIN), waiting_for=main)
    store, delete = waiting._memory.store, waiting._memory.store.delete

    def cut(skill_id, *, operation):
        if skill_id == "tea":
            raise KeyboardInterrupt
        return delete(skill_id, operation=operation)

    with monkeypatch.context() as patch:
        patch.setattr(store, "delete", cut, raising=False)
        with pytest.raises(KeyboardInterrupt):
            approve(waiting, main, ["pour-coffee", "tea"])
    assert len(waiting.get_skills()) == 1 and len(main.get_skills()) == 2
    if used:
        main.feedback("tea", COFFEE, True)
    was = main.get_skill("tea")
    assert approve(waiting, main, ["pour-coffee", "tea"]) == ["tea"]
    assert waiting.get_skills() == [] and main.get_skill("tea") == was


def test_another_skill_of_the_id_is_in_the_way_unless_it_is_to_be_replaced(main, waiting, write):
    import_skills(waiting, write(PLAIN), waiting_for=main)
    main.skill_graph.save_skill(skill("pour-coffee", "something else"))
    with pytest.raises(ConflictError):
        approve(waiting, main, ["pour-coffee"])
    assert len(waiting.get_skills()) == 1
    approve(waiting, main, ["pour-coffee"], replacing=True)
    assert main.get_skill("pour-coffee").name == "pour-coffee"


def test_ids_are_chosen_so_that_nothing_is_in_the_way(main, waiting, write):
    main.skill_graph.save_skill(skill("pour-coffee", "mine"))
    (one,) = import_skills(waiting, write(PLAIN), waiting_for=main).imported
    assert one.skill_id != "pour-coffee"
    approve(waiting, main, [one.skill_id])
    assert len(main.get_skills()) == 2
    (again,) = import_skills(waiting, write(PLAIN), waiting_for=main).imported
    assert again.status == "unchanged" and waiting.get_skills() == []


def test_what_does_not_wait_is_said_before_anything_is_moved(main, waiting, write):
    import_skills(waiting, write(PLAIN), waiting_for=main)
    with pytest.raises(SkillNotFoundError):
        approve(waiting, main, ["pour-coffee", "nobody"])
    assert main.get_skills() == []


def test_vectors_go_along_where_the_model_is_the_same(place, main, clock, write):
    waiting = place.open(quarantine_of(main.namespace), clock=clock, embedder=Bag())
    import_skills(waiting, write(PLAIN), waiting_for=main)
    approve(waiting, main, ["pour-coffee"])
    (one,) = [one for page in main._memory.store.export() for one in page]
    assert one.vector is not None and main._memory.store.embedding_stamp().dimension == 26


def test_vectors_of_another_model_stay_behind(place, main, clock, write):
    place.open(clock=clock, embedder=Bag("other", 7)).skill_graph.save_skill(skill("mine"))
    waiting = place.open(quarantine_of(main.namespace), clock=clock, embedder=Bag())
    import_skills(waiting, write(PLAIN), waiting_for=main)
    approve(waiting, main, ["pour-coffee"])
    vectors = {one.skill.id: one.vector for page in main._memory.store.export() for one in page}
    assert vectors["pour-coffee"] is None and len(vectors["mine"]) == 28


def test_a_quarantine_has_none_of_its_own_and_a_name_that_fits():
    assert quarantine_of("default") == "default.quarantine"
    with pytest.raises(InputError, match="quarantine itself"):
        quarantine_of("default.quarantine")
    with pytest.raises(InputError):
        quarantine_of("x" * 195)


def test_waiting_skills_that_are_removed_are_gone(main, waiting, write):
    import_skills(waiting, write(PLAIN), waiting_for=main)
    assert waiting._memory.store.delete("pour-coffee", operation=new_operation())
    with pytest.raises(SkillNotFoundError):
        approve(waiting, main, ["pour-coffee"])


def test_what_waits_already_is_known_again(main, waiting, place, clock, tmp_path):
    source = place.open(f"{place.namespace}-source", clock=clock)
    source.observe(**bread(), skill_id="bread")
    source.observe(**audit(), skill_id="audit", derived_from=["bread"])
    export_skills(source, tmp_path / "out")
    for status in ("new", "unchanged"):
        report = import_skills(waiting, tmp_path / "out", waiting_for=main)
        assert {one.status for one in report.imported} == {status}
    approve(waiting, main, ["audit", "bread"])
    assert {one.status for one in import_skills(waiting, tmp_path / "out", waiting_for=main).imported} == {"unchanged"}


@pytest.mark.parametrize("hours", [1, 5000])
def test_what_waits_does_not_expire(hours, main, waiting, place, clock, tmp_path):
    source = place.open(f"{place.namespace}-source", clock=clock)
    was = source.observe(**bread(), skill_id="bread").skill
    export_skills(source, tmp_path / "out")
    import_skills(waiting, tmp_path / "out", waiting_for=main)
    clock.advance(hours=hours)
    waiting.cleanup_expired_skills()
    approve(waiting, main, ["bread"])
    now = main.get_skill("bread")
    if hours == 1:
        assert now == was.model_copy(update={"namespace": now.namespace})
    else:
        assert parse_time(now.expires_at) > clock() and now.procedure == was.procedure
