"""What do the tests of intake stand on? The command in this process, and values read as if from a file."""

import io
import json

import pytest
from typer.testing import CliRunner

from brain import SyncBrain
from brain.cli.app import app
from brain.traces import read


@pytest.fixture
def store_folder(tmp_path_factory):
    """Where the store of this test lies: not among the files that are learned."""
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def location(store_folder):
    return f"sqlite:///{store_folder / 'skills.db'}"


@pytest.fixture
def run(location, store_folder):
    """Runs `brain` with a store of this test."""
    environment = {"BRAIN_STORE": location, "BRAIN_EMBEDDER": None, "COLUMNS": "500", "TERM": "dumb"}
    environment["BRAIN_CACHE_DIR"] = str(store_folder / "cache")

    def runs(*arguments, input=None):
        return CliRunner(env=environment).invoke(app, [str(argument) for argument in arguments], input=input)

    return runs


@pytest.fixture
def learn(run):
    """Learns with --json, and gives what is printed; the command must end with `code`."""

    def learns(*arguments, input=None, code=0):
        result = run("learn", *arguments, "--json", input=input)
        assert result.exit_code == code, (result.exit_code, result.stderr)
        return json.loads(result.stdout)

    return learns


@pytest.fixture
def stored(location):
    """The skills that are stored now."""

    def skills():
        with SyncBrain.open(location, cache=False) as brain:
            return brain.get_skills()

    return skills


@pytest.fixture
def traces_in():
    """The traces that a file with this content holds."""

    def reads(content, **options):
        if not isinstance(content, str | bytes):
            content = json.dumps(content)
        data = content.encode() if isinstance(content, str) else content
        return list(read(io.BytesIO(data), name="a file", **options))

    return reads
