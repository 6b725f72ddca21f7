"""The dashboard as a user meets it, by keys and by mouse, on every store."""

import asyncio
import re

import pytest
from textual.events import Key

from brain import Skill, SyncBrain
from brain.engine.listing import SkillOrder
from brain.watch.app import WatchApp
from brain.watch.help_screen import HelpScreen
from brain.watch.reading import Listed
from brain.watch.themes import DARK, LIGHT
from tests.clock import FakeClock
from tests.contract.samples import AWKWARD, skill
from tests.watch.driving import lines, names, panel, press, press_at_once, screen, settled, until
from tests.watch.samples import SKILLS, fill

NARROW, WIDE = (80, 24), (120, 40)


@pytest.fixture
def sample(file_place):
    """The sample in a file, for what no store has a part in."""
    found = file_place.open(clock=FakeClock())
    fill(found)
    return found


def test_every_store_shows_counts_rows_and_details(filled, drive):
    async def steps(pilot):
        head = lines(pilot.app)[0]
        assert all(part in head for part in ("12 skills", "10 transferable", "1 expiring soon")), head
        assert names(pilot.app)[:3] == ["Pre-flight checklist", "Diagnosis by elimination", "Validate, classify, route"]
        await press(pilot, "down")
        row = lines(pilot.app)[4]
        for cell in ("Diagnosis by elimin", "0.913", "41", "95%", "12/13", "3 mo"):
            assert cell in row
        assert "Choose the most telling test" in panel(pilot.app)
        assert "→ transferred to  Triangulate" in panel(pilot.app)

    drive(filled, steps)


def test_every_store_is_followed_as_it_changes(filled, drive):
    async def steps(pilot):
        app = pilot.app
        await press(pilot, "down", "down", "down")
        assert app.board.selected == "refinement"
        await asyncio.to_thread(
            lambda: [filled.feedback("restart", {"domain": "law"}, success=True) for _ in range(60)]
        )
        await until(pilot, lambda: names(app)[0] == "Restart and hope", "the new order")
        await settled(pilot)
        assert (app.board.selected, app.board.cursor) == ("refinement", 4)
        await asyncio.to_thread(filled.feedback, "refinement", {"domain": "cooking"}, False)
        await until(pilot, lambda: "cooking" in panel(app), "the new transfer")
        await asyncio.to_thread(filled.skill_graph.save_skill, skill("new", name="Brand new"))
        await until(pilot, lambda: "13 skills" in screen(app), "the new count")

    drive(filled, steps)


def test_a_skill_that_vanishes_while_it_is_shown_says_so(filled, drive):
    async def steps(pilot):
        app = pilot.app
        await press(pilot, "down")
        await asyncio.to_thread(filled.skill_graph.delete_skill, "diagnosis")
        await until(pilot, lambda: "This skill is gone" in panel(app), "the news")
        assert "Choose the most telling test" in panel(app)  # the last that was seen stays readable
        assert app.board.listed is False and "11 skills" in screen(app)
        await press(pilot, "down")
        assert app.board.selected == "triage" and "gone" not in panel(app)

    drive(filled, steps)


def test_words_filter_as_they_are_typed(filled, drive):
    async def steps(pilot):
        app = pilot.app
        await press(pilot, "slash", *"DIAG")
        assert names(app) == ["Diagnosis by elimination", "Root cause from a timeline"]
        assert "2 of 12" in screen(app)
        await press(pilot, "space", *"medi")
        assert names(app) == ["Diagnosis by elimination"]
        await press(pilot, *"xyz")
        assert names(app) == [] and "No skill has these words" in screen(app)
        await press(pilot, "escape")
        assert len(names(app)) == 12 and app._filter.is_typed_into
        await press(pilot, "escape", "end")
        assert app.board.selected == "rehearse"

    drive(filled, steps)


def test_words_that_are_typed_at_once_lose_no_letter(sample, drive):
    async def steps(pilot):
        for key in ("/", *"diag"):
            pilot.app.post_message(Key("slash" if key == "/" else key, key))
        await settled(pilot)
        assert names(pilot.app) == ["Diagnosis by elimination", "Root cause from a timeline"]

    drive(sample, steps)


def test_what_a_filter_leaves_out_is_found_again(sample, drive):
    async def steps(pilot):
        app = pilot.app
        await press(pilot, "down", "down", "slash", *"audit", "enter")
        assert app.board.selected == "reconcile" and app._table.has_focus
        await press(pilot, "escape")
        assert (app.board.total, app.board.selected, app.board.cursor) == (12, "reconcile", 4)
        assert app._table.shows_cursor

    drive(sample, steps)


def test_every_column_sorts_by_its_number_and_again_the_other_way(sample, drive):
    async def steps(pilot):
        app = pilot.app
        for place in "1234567":
            await press(pilot, place)
            first, query = names(app), app.board.query
            assert first == [row.name for row in sample.listing(query.order, descending=query.descending).rows]
            await press(pilot, place)
            assert app.board.query.descending is not query.descending
            assert names(app) != first

    drive(sample, steps, size=NARROW)


def test_sorting_goes_round_the_columns(sample, drive):
    async def steps(pilot):
        app = pilot.app
        seen = []
        for _ in range(7):
            await press(pilot, "s")
            seen.append(app.board.query.order)
        assert seen == [
            SkillOrder.SUCCESS,
            SkillOrder.TRANSFERS,
            SkillOrder.TAGS,
            SkillOrder.EXPIRY,
            SkillOrder.NAME,
            SkillOrder.CONFIDENCE,
            SkillOrder.USES,
        ]
        await press(pilot, "r")
        assert app.board.query.descending is False
        assert names(app)[0] == "Rehearse the handover"

    drive(sample, steps)


def test_an_edge_is_followed_by_keys_and_one_comes_back(filled, drive):
    async def steps(pilot):
        app = pilot.app
        await press(pilot, "down", "enter", "tab", "tab", "tab")
        assert app._panel.edge == 2
        await press(pilot, "enter")
        assert app.board.selected == "sources" and "Triangulate sources" in panel(app)
        assert app.board.rows[app.board.cursor].id == "sources"
        assert panel(app).startswith("← Diagnosis by elimination")
        assert "Back" in lines(app)[-1]
        await press(pilot, "backspace")
        assert app.board.selected == "diagnosis" and "Back" not in lines(app)[-1]
        assert (app.board.cursor, panel(app).splitlines()[0]) == (1, "Diagnosis by elimination")

    drive(filled, steps)


def test_the_only_edge_needs_no_choosing(sample, drive):
    async def steps(pilot):
        await press(pilot, "enter", "enter")
        assert pilot.app.board.selected == "hazards"

    drive(sample, steps)


def test_tab_leaves_the_details_behind_the_last_edge(sample, drive):
    async def steps(pilot):
        app = pilot.app
        await press(pilot, "enter", "tab")
        assert app._panel.edge == 0
        await press(pilot, "tab")
        assert app._panel.edge is None and not app._panel.has_focus

    drive(sample, steps)


def test_an_edge_is_followed_out_of_a_filter(sample, drive):
    async def steps(pilot):
        app = pilot.app
        await press(pilot, "slash", *"medicine", "enter", "enter", "tab", "enter")
        assert app.board.selected == "triage" and "Validate, classify, route" in panel(app)
        assert names(app) == ["Diagnosis by elimination"] and not app.board.listed
        await press(pilot, "b")
        assert app.board.selected == "diagnosis" and app.board.listed

    drive(sample, steps)


def test_the_mouse_selects_sorts_and_follows(sample, drive):
    async def steps(pilot):
        app = pilot.app
        await pilot.click(app._table, offset=(5, 2))
        await settled(pilot)
        assert app.board.selected == "diagnosis"
        await pilot.click(app._table, offset=(3, 0))
        await settled(pilot)
        assert (app.board.query.order, app.board.query.descending) == (SkillOrder.NAME, False)
        assert app.board.selected == "diagnosis"
        link = next(y for y, line in enumerate(app._panel._lines) if "complements" in line.text)
        app._panel.scroll_to(y=link, animate=False)
        await pilot.pause()
        await pilot.click(app._panel, offset=(20, link - app._panel.scroll_offset.y))
        await settled(pilot)
        assert app.board.selected == "triage"

    drive(sample, steps)


def test_a_double_click_opens_the_details_on_a_narrow_screen(sample, drive):
    async def steps(pilot):
        app = pilot.app
        assert not app._panel.display
        await pilot.click(app._table, offset=(5, 3), times=2)
        await settled(pilot)
        assert app._panel.display and not app._table.display
        assert "Validate, classify, route" in screen(app)
        await press(pilot, "escape")
        assert app._table.display and app._table.has_focus

    drive(sample, steps, size=NARROW)


def test_a_terminal_that_changes_its_size_is_laid_out_anew(sample, drive):
    async def steps(pilot):
        app = pilot.app
        for width, height in ((120, 40), (60, 10), (30, 6), (10, 3), (1, 1), (200, 60), (80, 24)):
            await pilot.resize_terminal(width, height)
            await settled(pilot)
            assert app._panel.display is (width >= 100)
        assert "Pre-flight checklist" in screen(app)

    drive(sample, steps)


def test_help_is_shown_whole_and_leaves_again(sample, drive):
    async def steps(pilot):
        app = pilot.app
        await press(pilot, "question_mark")
        assert isinstance(app.screen, HelpScreen)
        said = screen(app)
        for part in ("filter by words", "follow the edge", "months", "soon forgotten", "quit", "click a heading"):
            assert part in said
        await press(pilot, "escape", "slash", "question_mark")
        assert not isinstance(app.screen, HelpScreen) and "?" in lines(app)[1]
        await press(pilot, "f1")
        assert isinstance(app.screen, HelpScreen)

    drive(sample, steps, size=NARROW)


TYPED_AHEAD = {
    "words, then a key of the table": (["slash", *"alp", "enter", "j"], "table", "alp"),
    "words, left downwards": (["slash", *"alp", "down", "s"], "table", "alp"),
    "words, emptied, left": (["slash", *"alp", "escape", "escape", "j"], "table", ""),
    "words, emptied, other words": (["slash", *"alp", "escape", *"bet"], "filter", "bet"),
    "words, then the whole list": (["slash", *"alp", "enter", "escape", "j"], "table", ""),
    "details, then words": (["enter", "slash", "x"], "filter", "x"),
    "details, the table, words": (["enter", "escape", "slash", "x"], "filter", "x"),
    "details, and down in them": (["enter", "j"], "panel", ""),
}
"""Keys, where the focus ends, and the words that are in force."""


@pytest.mark.parametrize("case", TYPED_AHEAD)
def test_what_is_typed_ahead_goes_where_it_would_go_if_typed_slowly(case, sample, drive):
    keys, focus, words = TYPED_AHEAD[case]

    async def steps(pilot):
        app = pilot.app
        press_at_once(pilot, *keys)
        await settled(pilot)
        assert app.screen.focused is {"table": app._table, "panel": app._panel, "filter": app._filter._words}[focus]
        assert (app._filter.text, app.board.query.text) == (words, words)
        press_at_once(pilot, *(["enter"] if focus == "filter" else []), "q")
        await until(pilot, lambda: app._exit, "the end")

    drive(sample, steps)


def test_nothing_behind_the_help_takes_a_key(sample, drive):
    async def steps(pilot):
        app = pilot.app
        await press(pilot, "question_mark", "slash", "s", "down", "t")
        assert isinstance(app.screen, HelpScreen)
        await press(pilot, "escape")
        assert app._table.has_focus
        assert (app.board.cursor, app.board.query.order, app.theme) == (0, SkillOrder.USES, DARK.name)

    drive(sample, steps)


def test_turned_light_it_looks_as_if_it_had_begun_so(sample, drive):
    async def picture(pilot):
        return re.sub(r"terminal-\d+", "terminal", pilot.app.export_screenshot())

    async def turned(pilot):
        await press(pilot, "t")
        return await picture(pilot)

    assert drive(sample, turned) == drive(sample, picture, light=True) != drive(sample, picture)


def test_dark_turns_light_and_back(sample, drive):
    async def steps(pilot):
        found = [pilot.app.theme]
        for _ in range(2):
            await press(pilot, "t")
            found.append(pilot.app.theme)
        return found

    assert drive(sample, steps) == [DARK.name, LIGHT.name, DARK.name]
    assert drive(sample, steps, light=True) == [LIGHT.name, DARK.name, LIGHT.name]


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
def test_every_colour_can_be_read(theme):
    """Contrast by WCAG 2: 4.5 for text."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(part * share for part, share in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))

    def contrast(one, other):
        light, dark = sorted((luminance(one), luminance(other)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    texts = [theme.foreground, theme.success, theme.warning, theme.error, theme.primary, theme.variables["quiet"]]
    backgrounds = [theme.background, theme.panel, theme.variables["cursor"], theme.variables["cursor-blurred"]]
    for text in texts:
        for background in backgrounds:
            assert contrast(text, background) >= 4.5, (text, background)


# What is on the screen when there is little, or much, or something odd


def test_an_empty_memory_says_what_to_do(brain, drive):
    async def steps(pilot):
        app = pilot.app
        assert "brain learn FILE" in screen(app) and "0 skills" in screen(app)
        await press(pilot, "down", "enter", "s", "slash", "x", "escape", "escape")
        await asyncio.to_thread(brain.skill_graph.save_skill, skill("first", name="The first one"))
        await until(pilot, lambda: "The first one" in screen(app), "the first skill")
        assert app.board.selected == "first" and "1 skill " in screen(app)

    drive(brain, steps)


ODD = {**AWKWARD, "rich markup": "[red]x[/red]", "escapes": "\x1b]0;title\x07\x1b[2J", "endless": "a" * 5_000}


def test_odd_text_is_shown_harmlessly_everywhere(file_place, drive):
    brain = file_place.open()
    for i, text in enumerate(ODD.values()):
        odd = Skill(
            id=f"odd-{i:02d}",
            name=text,
            description=text,
            procedure=[{"action": text, "description": text, "parameters": {text: text}}],
            preconditions=[{"predicate": text}],
            tags=[text],
            source_context={"metadata": {"domain": text, "task": text}},
        )
        brain.skill_graph.save_skill(odd)
        if i:
            brain.skill_graph.add_edge(f"odd-{i - 1:02d}", "COMPLEMENTS", odd.id, {text: text})

    async def steps(pilot):
        app = pilot.app
        seen = ""
        await press(pilot, "1", "home")
        for _ in ODD:
            assert not any(ord(c) < 32 or c in "\x7f\x9b\u202e" for line in lines(app) for c in line)
            seen += screen(app)
            await press(pilot, "down")
        await pilot.resize_terminal(*NARROW)
        await press(pilot, "enter")
        seen += screen(app)
        for text in ("[red]x[/red]", "\\x1b]0;title", "before\\x00after", "safe\\u202etxt.exe", "分析 تحليل"):
            assert text in seen, text

    drive(brain, steps, size=WIDE)


def test_only_what_is_seen_is_held(file_place, drive):
    brain = file_place.open()
    brain.skill_graph.save_skills([Skill(id=f"s{i:04d}", name=f"skill {i:04d}") for i in range(1_500)])

    async def steps(pilot):
        app = pilot.app
        assert len(app.board.rows) < 120
        await press(pilot, "1", "end")
        assert names(app)[-1] == "skill 1499" and app.board.selected == "s1499"
        await press(pilot, "pageup", "home")
        assert names(app)[0] == "skill 0000" and app.board.selected == "s0000"
        app._table.scroll_to(y=700, animate=False)
        await settled(pilot)
        assert names(app)[0] == "skill 0700" and app.board.selected == "s0000"
        brain.feedback("s0000", {}, success=True)
        await until(pilot, lambda: app.board.rows[0].usage_count == 1, "the change")
        await settled(pilot)
        assert names(app)[0] == "skill 0700"  # what is looked at stays, though the selected one is elsewhere
        await press(pilot, "down")
        assert app.board.selected == "s0001" and app._table.shows_cursor

    drive(brain, steps)


def test_times_left_go_on_without_any_change(filled, drive, clock):
    async def steps(pilot):
        app = pilot.app
        assert "9 h" in screen(app)
        clock.advance(hours=8, minutes=30)
        await until(pilot, lambda: "29 min" in screen(app) or "30 min" in screen(app), "the time")
        clock.advance(hours=1)
        await until(pilot, lambda: "11 skills" in screen(app), "the end of the skill")
        assert "Restart and hope" not in names(app)

    drive(filled, steps)


def test_warnings_are_told_once_and_harmlessly(sample, drive):
    async def steps(pilot):
        app = pilot.app
        for _ in range(3):
            app.post_message(app.Warned("skill [red]x[/red] cannot be listed"))
        await pilot.pause()
        assert [(n.message, n.markup) for n in app._notifications] == [("skill [red]x[/red] cannot be listed", False)]

    drive(sample, steps)


def test_a_namespace_is_named_and_kept_to(place, clock, drive):
    fill(place.open(clock=clock))
    other = place.open(namespace="team-a", clock=clock)
    other.skill_graph.save_skill(skill("theirs", name="Their skill"))

    async def steps(pilot):
        assert "team-a" in lines(pilot.app)[0]
        assert names(pilot.app) == ["Their skill"]

    drive(other, steps)


def test_a_defect_ends_the_dashboard_instead_of_freezing_it(sample):
    class Broken(SyncBrain):
        def listing(self, *arguments, **options):
            raise ZeroDivisionError("a defect")

    broken = Broken(sample._store)

    async def run():
        async with WatchApp(broken, sample._store).run_test() as pilot:
            await until(pilot, lambda: not pilot.app.is_running, "the end")

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())


def test_the_picture_of_the_readme_shows_the_sample():
    from tests.watch.picture import FILE, drawn

    def said(svg):
        return {
            name: svg.count(name.replace(" ", "&#160;")) for name in (*(row[1][:18] for row in SKILLS), "expiring soon")
        }

    assert said(FILE.read_text("utf-8")) == said(asyncio.run(drawn()))


def test_an_answer_that_comes_late_changes_nothing(sample, drive):
    async def steps(pilot):
        app = pilot.app
        early = app.board.ask(0, 5)
        answer = Listed(early, sample.listing("usage_count", descending=True, limit=5))
        await press(pilot, "1")
        before = names(app)
        app.post_message(app.Answered(answer))
        await pilot.pause()
        assert names(app) == before and app.board.query.order is SkillOrder.NAME

    drive(sample, steps)
