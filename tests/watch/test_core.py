"""The dashboard without a terminal: times left, cells, columns, pages, and what is on the board."""

import subprocess
import sys
import unicodedata
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from brain import Edge, Relation, Skill
from brain.engine.listing import SkillOrder
from brain.model.shown import visible
from brain.store.values import SkillRow
from brain.watch.board import Board
from brain.watch.cells import compact, fit, fit_end, wrap
from brain.watch.columns import ALL, cell, columns, heading
from brain.watch.details import Details, read_details
from brain.watch.lifetime import Urgency, time_left, urgency
from brain.watch.page import LONGEST_TEXT, page
from brain.watch.reading import Ask, Listed, Query
from tests.clock import FakeClock
from tests.contract.samples import AWKWARD
from tests.watch.samples import NOW, fill

TEXTS = st.one_of(st.text(max_size=80), st.sampled_from(list(AWKWARD.values())), st.sampled_from(["[red]x[/red]"] * 2))
ROW = SkillRow("id", "name", "domain", ("a", "b"), 0.5, 3, 1.0, 4, 3, None, NOW)


# Times


@pytest.mark.parametrize(
    ("left", "text", "colour"),
    [
        (None, "never", Urgency.NEVER),
        ({"days": -1}, "over", Urgency.HOURS),
        ({"seconds": 0}, "over", Urgency.HOURS),
        ({"seconds": 1}, "<1 min", Urgency.HOURS),
        ({"seconds": 59}, "<1 min", Urgency.HOURS),
        ({"minutes": 1}, "1 min", Urgency.HOURS),
        ({"minutes": 59, "seconds": 59}, "59 min", Urgency.HOURS),
        ({"hours": 1}, "1 h", Urgency.HOURS),
        ({"hours": 24, "microseconds": -1}, "23 h", Urgency.HOURS),
        ({"hours": 24}, "1 d", Urgency.DAYS),
        ({"days": 7, "microseconds": -1}, "6 d", Urgency.DAYS),
        ({"days": 7}, "1 w", Urgency.WEEKS),
        ({"days": 30, "microseconds": -1}, "4 w", Urgency.WEEKS),
        ({"days": 30}, "1 mo", Urgency.MONTHS),
        ({"days": 729}, "24 mo", Urgency.MONTHS),
        ({"days": 730}, "2 y", Urgency.MONTHS),
        ({"days": 365 * 7_000}, "7000 y", Urgency.MONTHS),
    ],
)
def test_what_is_left_is_told_and_coloured_by_its_unit(left, text, colour):
    expires_at = None if left is None else NOW + timedelta(**left)
    assert (time_left(expires_at, NOW), urgency(expires_at, NOW)) == (text, colour)
    assert len(text) <= 6


# Text


@settings(deadline=None)  # a busy machine is no fault
@given(TEXTS, st.integers(0, 40))
def test_a_cell_is_exactly_as_wide_as_it_is_to_be_and_holds_no_commands(text, width):
    for shown in (fit(text, width), fit(text, width, right=True)):
        assert cell_len(shown) == width
        assert shown == visible(shown)
    assert cell_len(fit_end(text, width)) <= width


@settings(deadline=None)  # a busy machine is no fault
@given(TEXTS, st.integers(1, 40))
def test_wrapped_text_stays_within_its_width_and_loses_nothing_but_blanks(text, width):
    lines = list(wrap(text, width))
    assert all(line == visible(line) for line in lines)
    if width > 1:  # a wide character does not fit into one column
        assert all(cell_len(line) <= width for line in lines)
    said = "".join(visible(part) for part in text.splitlines())
    assert "".join(lines).replace(" ", "") == said.replace(" ", "")


def test_long_text_is_cut_with_an_ellipsis_and_short_text_filled_up():
    assert fit("abcdef", 4) == "abc…"
    assert fit("abcd", 4) == "abcd"
    assert fit("ab", 4) == "ab  " and fit("ab", 4, right=True) == "  ab"
    assert fit("分析分析", 5) == "分析…"
    assert fit("x" * 10**6, 3) == "xx…"
    assert fit_end("sqlite:///a/b/skills.db", 10) == "…skills.db"
    assert fit_end("short", 10) == "short"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (9_999, "9999"),
        (10_000, "10k"),
        (12_999, "12k"),
        (10**7, "10M"),
        (10**13 - 1, "9999G"),
        (2**62, "many"),
    ],
)
def test_counts_fit_into_five_columns(number, text):
    assert compact(number) == text and len(text) <= 5


# Columns


@pytest.mark.parametrize("width", range(1, 200))
def test_columns_fill_the_width_and_never_more(width):
    found = columns(width)
    used = sum(column.width + column.gap for column in found)
    assert used == width or (used > width and width < 10)
    assert found[0].order is SkillOrder.NAME and found[-1].order is SkillOrder.EXPIRY
    for column in found:
        assert cell_len(heading(column, column.order, True)) == column.width
        text, role = cell(column, ROW, NOW)
        assert cell_len(text) == column.width and role


def test_a_usual_terminal_shows_all_columns():
    assert [column.order for column in columns(77)] == [column.order for column in ALL]
    assert [column.place for column in ALL] == list(range(1, 8))


def test_a_heading_says_which_way_the_table_is_sorted():
    name, confidence = ALL[0], ALL[1]
    assert heading(confidence, SkillOrder.CONFIDENCE, True) == "▼conf"
    assert heading(confidence, SkillOrder.CONFIDENCE, False) == "▲conf"
    assert heading(confidence, SkillOrder.NAME, True) == " conf"
    wide = columns(77)[0]
    assert heading(wide, SkillOrder.NAME, False).startswith("name▲") and name.width == 0


def test_a_skill_without_a_name_goes_by_its_id_and_one_never_used_has_no_rate():
    row = SkillRow("the-id", "", "", (), 0.5, 0, 0.0, 0, 0, None, NOW)
    found = {column.order: cell(column, row, NOW)[0].strip() for column in columns(77)}
    assert found[SkillOrder.NAME] == "the-id"
    assert (found[SkillOrder.SUCCESS], found[SkillOrder.TRANSFERS], found[SkillOrder.USES]) == ("", "", "0")


# Pages


@pytest.fixture
def brain(file_place):
    found = file_place.open(clock=FakeClock())
    fill(found)
    return found


def text_of(lines):
    return "\n".join(line.text for line in lines)


def test_a_page_tells_all_there_is_to_know(brain):
    details = read_details(brain._store, "diagnosis")
    said = text_of(page(details, 60, NOW, back="Restart and hope"))
    for part in (
        "← Restart and hope",
        "Diagnosis by elimination",
        "0.913",
        "41, 95% successful",
        "3 mo, 2026-04-02 18:00 UTC",
        "1,509 h from a success",
        "medicine",
        "diagnosis, hypothesis",
        "Find out what ails a patient",
        "1  List the findings, oldest first",
        "6  Treat it, and see whether it helps",
        "before     findings of one case",
        "after      one confirmed cause",
        "→ complements  Validate, classify, route",
        "← source of  Root cause from a timeline",
        "→ transferred to  Triangulate sources",
        "domain journalism",
        "transfers (12 of 13 successful, the latest 4)",
        "✓ 2025-12-19 12:00  law",
        "✗ 2025-12-01 12:00  car repair",
        "findings log lines",
        "2025-12-30 19:00 UTC, v1",
    ):
        assert part in said, part


def test_both_ends_of_every_relation_are_said_in_words():
    skill = Skill(id="s", name="s")
    for relation in Relation:
        both = [Edge(source="s", target="o", relation=relation, direction=way) for way in ("out", "in")]
        said = text_of(page(Details("s", skill, both), 60, NOW))
        assert f"→ {relation.lower().replace('_', ' ')}  o" in said
        assert "← " in said and "_" not in said


@settings(deadline=None)  # a busy machine is no fault
@given(TEXTS, st.integers(20, 60))
def test_a_page_is_harmless_and_within_its_width_whatever_a_skill_says(text, width):
    said = text or "x"
    skill = Skill(
        id="s",
        name=text,
        description=text,
        procedure=[{"action": said if said.strip() else "x", "description": text, "parameters": {text: [text, 1.5]}}],
        preconditions=[{"predicate": said if said.strip() else "x"}],
        tags=[text],
        source_context={"metadata": {"domain": text, "task": text}},
        transfer_history=[
            {"target_context": {"metadata": {"domain": text}}, "success": True, "adaptations": {"a": text}}
        ],
    )
    edges = [Edge(source="s", target="o", relation=Relation.SPECIALIZES, metadata={"why": text})]
    other = SkillRow("o", text, "", (), 0.5, 0, 0.0, 0, 0, None, NOW)
    for line in page(Details("s", skill, edges, {"o": other}), width, NOW, back=said):
        assert cell_len(line.text) <= width, line
        assert line.text == visible(line.text)


def test_endless_text_is_cut_and_says_how_much_is_missing():
    steps = [{"action": f"step {i} " + "very " * 100} for i in range(1_000)]
    skill = Skill(id="s", name="s", description="d" * 10**6, procedure=steps)
    lines = page(Details("s", skill), 60, NOW)
    said = text_of(lines).replace("\n", "")
    assert f"({10**6 - LONGEST_TEXT:,} more)" in said
    assert "more; brain show s prints all." in said
    for odd, typed in (("a b", "'a b'"), ("-x", "-- -x"), ("a;b", "'a;b'")):
        assert f"brain show {typed} prints all." in text_of(
            page(Details(odd, skill.model_copy(update={"id": odd})), 60, NOW)
        )
    assert len(lines) < 2_500


def test_only_the_first_of_very_many_edges_are_shown(brain, monkeypatch):
    monkeypatch.setattr("brain.watch.details.EDGES_SHOWN", 2)
    details = read_details(brain._store, "diagnosis")
    assert (len(details.edges), len(details.others), details.more_edges) == (2, 2, 1)
    assert "… and 1 more; brain show diagnosis prints all." in text_of(page(details, 60, NOW))


def test_a_skill_that_is_gone_says_so_and_stays_readable(brain):
    details = read_details(brain._store, "diagnosis")
    said = text_of(page(details, 60, NOW, gone=True))
    assert "This skill is gone" in said and "Choose the most telling test" in said
    assert "This skill is gone" in text_of(page(read_details(brain._store, "nobody"), 60, NOW))


# The board


def answered(board, brain, top=0, height=5, ask=None):
    """What the reading thread would do: asks, and hands the answer to the board."""
    ask = ask or board.ask(top, height)
    query = ask.query
    listing = brain.listing(
        query.order,
        descending=query.descending,
        text=query.text,
        around=ask.around,
        offset=ask.offset,
        limit=ask.limit,
    )
    return board.take(Listed(ask, listing))


def test_the_first_listing_selects_the_first_row(brain):
    board = Board()
    assert board.lacking(0, 5) is None or board.total == 0
    answered(board, brain)
    assert (board.selected, board.cursor, board.listed, board.total) == ("checklist", 0, True, 12)
    assert board.query == Query(SkillOrder.USES, True, "")


def test_only_what_is_seen_and_a_screen_around_it_is_asked_for(brain):
    board = Board()
    answered(board, brain, height=3)
    assert sorted(board.rows) == list(range(9))
    assert board.lacking(0, 3) is None and board.lacking(6, 3) is None
    assert board.lacking(8, 3) == Ask(board.query, 5, 9)
    answered(board, brain, ask=board.lacking(8, 3))
    assert board.lacking(9, 3) is None


def test_the_cursor_stops_at_both_ends(brain):
    board = Board()
    answered(board, brain, height=12)
    board.move(-1)
    assert board.cursor == 0
    board.move(99)
    assert (board.cursor, board.selected) == (11, "rehearse")
    board.move(1)
    assert board.cursor == 11


def test_the_selection_stays_with_its_skill_when_the_order_changes(brain):
    board = Board()
    answered(board, brain)
    board.move(3)
    assert (board.selected, board.cursor) == ("refinement", 3)
    for _ in range(80):
        brain.feedback("restart", {}, success=True)
    assert answered(board, brain) == 1
    assert (board.selected, board.cursor, board.listed) == ("refinement", 4, True)
    board.sort(SkillOrder.NAME)
    answered(board, brain)
    assert (board.selected, board.rows[board.cursor].id) == ("refinement", "refinement")


def test_sorting_again_turns_round_and_each_column_begins_its_own_way():
    board = Board()
    for order, first in ((SkillOrder.NAME, False), (SkillOrder.CONFIDENCE, True), (SkillOrder.EXPIRY, False)):
        board.sort(order)
        assert (board.query.order, board.query.descending) == (order, first)
        board.sort(order)
        assert board.query.descending is not first


def test_words_that_do_not_fit_the_selection_select_the_first_that_they_fit(brain):
    board = Board()
    answered(board, brain)
    board.filter("comparison")
    answered(board, brain)
    assert (board.total, board.selected, board.cursor) == (2, "reconcile", 0)
    board.filter("blind comparison")
    answered(board, brain)
    assert board.selected == "tasting"
    board.filter("")
    answered(board, brain)
    assert (board.total, board.selected, board.rows[board.cursor].id) == (12, "tasting", "tasting")


def test_words_that_fit_nothing_keep_what_was_selected_for_later(brain):
    board = Board()
    answered(board, brain)
    board.move(2)
    board.filter("nothing like it")
    answered(board, brain)
    assert (board.total, board.listed, board.selected) == (0, False, "triage")
    board.filter("")
    answered(board, brain)
    assert (board.listed, board.selected, board.rows[board.cursor].id) == (True, "triage", "triage")


def test_an_answer_to_an_earlier_query_is_not_taken(brain):
    board = Board()
    early = board.ask(0, 5)
    board.filter("x")
    assert answered(board, brain, ask=early) is None
    assert board.listing is None


def test_a_skill_that_vanishes_leaves_the_cursor_between_its_neighbours(brain):
    board = Board()
    answered(board, brain, height=12)
    board.move(3)
    brain.skill_graph.delete_skill(board.selected)
    answered(board, brain, height=12)
    assert (board.selected, board.listed, board.cursor, board.total) == ("refinement", False, 3, 11)
    board.move(1)
    assert (board.selected, board.cursor, board.listed) == ("reconcile", 3, True)
    brain.skill_graph.delete_skill("reconcile")
    answered(board, brain, height=12)
    board.move(-1)
    assert (board.selected, board.cursor) == ("triage", 2)


def test_the_last_skills_may_vanish_too(brain):
    board = Board()
    answered(board, brain, height=12)
    board.move(99)
    for skill in brain.get_skills():
        brain.skill_graph.delete_skill(skill.id)
    answered(board, brain, height=12)
    board.move(1)
    assert (board.total, board.cursor, board.listed, board.rows) == (0, 0, False, {})


def test_a_row_that_is_not_at_hand_is_selected_when_it_comes(brain):
    board = Board()
    answered(board, brain, height=1)
    board.move(11)
    assert (board.selected, board.cursor) == (None, 11)
    answered(board, brain, top=11, height=1)
    assert (board.selected, board.cursor) == ("rehearse", 11)


def test_an_edge_is_followed_and_one_comes_back(brain):
    board = Board()
    answered(board, brain)
    board.move(1)
    board.go("sources", "Diagnosis by elimination")
    answered(board, brain)
    assert (board.selected, board.rows[board.cursor].id) == ("sources", "sources")
    board.go("triage", "Triangulate sources")
    assert board.back == [("diagnosis", "Diagnosis by elimination"), ("sources", "Triangulate sources")]
    assert board.go_back() and board.go_back() and not board.go_back()
    answered(board, brain)
    assert (board.selected, board.cursor) == ("diagnosis", 1)


def test_an_edge_leads_out_of_the_filter_without_changing_it(brain):
    board = Board()
    board.filter("medicine")
    answered(board, brain)
    board.go("sources", "Diagnosis by elimination")
    answered(board, brain)
    assert (board.selected, board.listed, board.total) == ("sources", False, 1)
    board.move(1)
    assert (board.selected, board.back) == ("diagnosis", [])


# What is loaded


HEADLESS = ("board", "cells", "columns", "details", "lifetime", "page", "reading", "terminal")


@pytest.mark.parametrize("modules", [("brain",), ("brain.cli.app",), tuple(f"brain.watch.{name}" for name in HEADLESS)])
def test_without_a_screen_no_textual_is_loaded(modules):
    code = f"import sys, {', '.join(modules)}; sys.exit('textual' in sys.modules)"
    root = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env={"PYTHONPATH": root}, timeout=60)
    assert done.returncode == 0


def test_the_core_is_all_that_does_not_draw():
    folder = Path(__file__).parents[2] / "brain" / "watch"
    without = {path.stem for path in folder.glob("*.py") if "textual" not in path.read_text("utf-8")}
    assert without == {*HEADLESS, "__init__"}


def test_a_name_from_right_to_left_keeps_the_next_column_in_its_place():
    for name, mark in (("תיקון", True), ("تحليل", True), ("café 分析", False)):
        text, _ = cell(columns(77)[0], replace(ROW, name=name), NOW)
        assert text.endswith("\u200e") is mark and cell_len(text) == columns(77)[0].width


def test_every_cell_of_the_awkward_texts_keeps_its_own_letters():
    """Right-to-left letters, emoji and wide ones are shown as they are; only what commands a terminal is escaped."""
    for name in ("emoji", "scripts", "combining"):
        text = unicodedata.normalize("NFC", AWKWARD[name])
        assert fit(text, 200).rstrip() == text
