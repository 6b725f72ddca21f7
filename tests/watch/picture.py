"""The picture of the dashboard in the README. `python -m tests.watch.picture` draws it anew."""

import asyncio
import sys
from pathlib import Path

from brain import SyncBrain
from brain.watch.app import WatchApp
from tests.clock import FakeClock
from tests.watch.driving import settled
from tests.watch.samples import fill

FILE = Path(__file__).resolve().parents[2] / "examples" / "pictures" / "watch.svg"
SIZE = (118, 32)


async def drawn() -> str:
    """The picture, as SVG."""
    with SyncBrain.open("sqlite://:memory:", clock=FakeClock(), cache=False) as brain:
        fill(brain)
        app = WatchApp(brain, brain._store, place="sqlite:///skills.db")
        async with app.run_test(size=SIZE) as pilot:
            await settled(pilot)
            await pilot.press("down")
            await settled(pilot)
            return app.export_screenshot()


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(asyncio.run(drawn()), "utf-8")
    sys.stderr.write(f"{FILE}\n")
