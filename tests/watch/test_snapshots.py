"""What the dashboard looks like, at a fixed time on a fixed store. `pytest --snapshot-update` accepts a new look.

`snapshot_report.html`, which a failed run writes, shows both looks side by side.
"""

import pytest

from brain import Skill, SyncBrain
from brain.watch.app import WatchApp
from brain.watch.reading import Lost
from tests.clock import FakeClock
from tests.watch.driving import press, settled
from tests.watch.samples import NOW, fill

NARROW, WIDE = (80, 24), (120, 40)
LOST = "redis://localhost:6379/0 does not answer (Connection refused). Start it, or check the address."
ODD = (
    "分析 データ 🍞 wide",
    "[red]not red[/red]",
    "safe\u202etxt.exe",
    "تحليل الأسباب",
    "e\u0301 and 👩🏽‍🔬",
    "\x1b[31mred\x07",
    "",
)


@pytest.fixture
def look(snap_compare):
    """Compares the dashboard after some keys with how it looked."""

    def compare(*keys, size=NARROW, light=False, sample=fill, then=None):
        async def before(pilot):
            await settled(pilot)
            await press(pilot, *keys)
            if then:
                await then(pilot)

        with SyncBrain.open("sqlite://:memory:", clock=FakeClock(), cache=False) as brain:
            sample(brain)
            app = WatchApp(brain, brain._store, light=light, place="sqlite:///skills.db", look_every=60)
            assert snap_compare(app, terminal_size=size, run_before=before)

    return compare


@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])
def test_the_table(look, size, light):
    look("down", size=size, light=light)


def test_help(look):
    look("question_mark")


def test_words_in_the_filter(look):
    look("slash", *"diag")


def test_words_that_fit_nothing(look):
    look("slash", *"xyz")


def test_details_on_a_narrow_screen(look):
    look("down", "enter")


def test_an_edge_that_is_chosen(look):
    look("down", "enter", "tab", "tab", size=WIDE)


def test_where_an_edge_led_to(look):
    look("down", "enter", "tab", "enter", size=WIDE)


def test_a_server_that_is_lost(look):
    async def lose(pilot):
        pilot.app.post_message(pilot.app.Answered(Lost(LOST)))
        await pilot.pause(0)

    look("down", size=WIDE, then=lose)


def test_an_empty_memory(look):
    look(sample=lambda brain: None)


def test_odd_names(look):
    def odd(brain):
        for i, name in enumerate(ODD):
            step = {"action": name or "nothing"}
            brain.skill_graph.save_skill(
                Skill(id=f"odd-{i}", name=name, tags=[name], procedure=[step], created_at=NOW, updated_at=NOW)
            )

    look("1", "home", size=WIDE, sample=odd)
