"""Where is other people's data for tests? Beside the checkout; a test that needs it is skipped where it is absent."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared_json(name):
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not here: the data that is not ours stands beside the checkout, in shared/data")
    return json.loads(path.read_text("utf-8"))
