"""Does what is installed carry everything, far from the checkout?"""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, timeout=300)
    return next(folder.glob("brain-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with the wheel's content alone, to be put on the path; the dependencies are those of this run."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(installed, code, cwd):
    environment = {"PYTHONPATH": str(installed), "PATH": "/usr/bin:/bin", "HOME": str(cwd)}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120
    )


def test_wheel_carries_every_statement_and_migration(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("cypher", "migrations"):
        for path in (ROOT / folder).rglob("*.*"):
            assert f"brain/_data/{path.relative_to(ROOT)}" in names
    assert {"brain/analysis/keywords.toml", "brain/store/sqlite/statements.sql", "brain/py.typed"} <= names
    assert not [name for name in names if name.startswith(("tests/", "examples/", "docker/"))]


def test_installed_package_reads_its_own_statements(installed, tmp_path):
    code = (
        "from brain.store.statements import data_folder, load\n"
        "from brain.store import migrations\n"
        "assert '_data' in str(data_folder('cypher')), data_folder('cypher')\n"
        "files = migrations.load(data_folder('migrations') / 'neo4j')\n"
        "print(len(load(data_folder('cypher'), '*.cypher')), len(files))\n"
    )
    done = run(installed, code, tmp_path)
    assert done.returncode == 0, done.stderr
    statements, files = map(int, done.stdout.split())
    assert statements >= 25 and files >= 2


def test_installed_package_learns_and_recalls(installed, tmp_path):
    code = (
        "from brain import SyncBrain\n"
        "with SyncBrain.open('sqlite:///b.db') as brain:\n"
        "    brain.learn({'steps': ['split it', 'merge it']}, {'task': 'split and merge'}, {'success': True})\n"
        "    print(brain.recall({'task': 'split and merge'})[0].combined_score)\n"
    )
    done = run(installed, code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0.6


def test_every_exported_name_is_there_and_documented():
    import brain

    for name in brain.__all__:
        assert getattr(brain, name).__doc__, name
    assert sorted(brain.__all__) == brain.__all__


@pytest.mark.parametrize("unwanted", ["neo4j", "sentence_transformers", "typer", "textual", "sqlite3"])
def test_records_and_analysis_load_no_driver(unwanted):
    code = f"import sys, brain.model.skill, brain.analysis.analyzer; sys.exit({unwanted!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60).returncode == 0
