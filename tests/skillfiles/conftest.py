"""What do the tests of skill files stand on? Folders made of text, and samples that are not ours."""

import pytest

from tests.conftest import Place
from tests.shared_data import FOLDER

SAMPLES = FOLDER / "skills_md"

PLAIN = """---
name: pour-coffee
description: Pour a cup of coffee with a filter. Use when somebody asks for coffee.
---

# Pour coffee

1. Boil the water
2. Wet the filter
3. Pour slowly in circles
"""


@pytest.fixture
def samples():
    """The folder of skill files from elsewhere; where it is absent, the test is skipped."""
    if not SAMPLES.exists():
        pytest.skip("the skill files that are not ours stand beside the checkout, in shared/data/skills_md")
    return SAMPLES


@pytest.fixture
def write(tmp_path):
    """Writes a skill's folder below `skills/`, with the files beside its SKILL.md; gives the folder of all."""

    def writes(text, folder="pour-coffee", **beside):
        path = tmp_path / "skills" / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / "SKILL.md").write_bytes(text if isinstance(text, bytes) else text.encode())
        for name, content in beside.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / "skills"

    return writes


@pytest.fixture
def brain(file_place, clock):
    """An empty brain, with a clock that stands still."""
    return file_place.open(clock=clock)


@pytest.fixture
def other(tmp_path, clock):
    """Another empty brain."""
    found = Place("sqlite", f"sqlite:///{tmp_path / 'other.db'}", "default")
    yield found.open(clock=clock)
    found.close()
