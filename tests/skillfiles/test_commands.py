"""The commands for skill files and dumps, as a user meets them."""

import json

import pytest
from typer.testing import CliRunner

from brain import SyncBrain
from brain.cli.app import app
from tests.contract.samples import audit, bread
from tests.skillfiles.conftest import PLAIN


@pytest.fixture
def location(tmp_path):
    return f"sqlite:///{tmp_path / 'skills.db'}"


@pytest.fixture
def run(location):
    def runs(*arguments, code=0, **more):
        environment = {"BRAIN_STORE": location, "BRAIN_EMBEDDER": None, "COLUMNS": "100", "TERM": "dumb"} | more
        result = CliRunner(env=environment).invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == code, (result.stdout, result.stderr)
        return result

    return runs


@pytest.fixture
def data(run):
    def runs(*arguments, code=0):
        return json.loads(run(*arguments, "--json", code=code).stdout)

    return runs


@pytest.fixture
def learned(location):
    with SyncBrain.open(location, cache=False) as brain:
        brain.observe(**bread(), skill_id="bread", skill_name="Bread")
        brain.observe(**audit(), skill_id="audit", skill_name="Audit", derived_from=["bread"])
        return [skill.to_dict() for skill in brain.get_skills()]


def bad(**parts):
    fields = {"name": "tea", "description": "Pour tea"} | parts
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in fields.items() if value) + "---\nbody\n"


def test_export_then_import_elsewhere_shows_the_same(run, data, learned, tmp_path):
    done = data("export", "bread", "audit", tmp_path / "out")
    assert [one["id"] for one in done] == ["audit", "bread"]
    elsewhere = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    report = data("import", tmp_path / "out", "--store", elsewhere)
    assert [one["status"] for one in report["imported"]] == ["new", "new"]
    assert report["refused"] == [] == report["passed_over"] and report["redacted"] == {}
    for skill_id in ("bread", "audit"):
        assert data("show", skill_id, "--store", elsewhere) == data("show", skill_id)


def test_export_wants_to_know_which(run, learned, tmp_path):
    for arguments in ([], ["bread", "--all"], ["--all", "--tag", "x"]):
        result = run("export", *arguments, tmp_path / "out", code=2)
        assert "one of the three" in result.stderr and result.stdout == ""
    assert run("export", "nobody", tmp_path / "out", code=1).stdout == ""
    run("export", "--all", tmp_path / "out")
    assert "--force" in run("export", "--all", tmp_path / "out", code=2).stderr
    run("export", "--all", tmp_path / "out", "--force")
    assert "No skill has this tag" in run("export", "--tag", "x", tmp_path / "none").stderr


def test_import_says_line_and_rule_of_what_it_refuses_and_takes_the_rest(run, data, write, tmp_path):
    write(bad(description=None), "tea")
    top = write(PLAIN)
    result = run("import", top, code=2)
    assert "new          pour-coffee" in result.stdout
    assert "line 1: there is no description in the front matter  (description-missing)" in result.stdout
    assert "1 new" in result.stdout
    report = data("import", top, code=2)
    assert report["imported"][0]["status"] == "unchanged"
    assert report["refused"] == [
        {
            "path": "tea/SKILL.md",
            "faults": [
                {
                    "line": 1,
                    "rule": "description-missing",
                    "message": "there is no description in the front matter",
                }
            ],
        }
    ]


def test_a_dry_run_writes_nothing_not_even_a_store(data, write, tmp_path):
    write(bad(name="'a/b'"), "bad")
    report = data("import", write(PLAIN), "--dry-run", code=2)
    assert report["dry_run"] and [one["status"] for one in report["imported"]] == ["new"]
    assert len(report["refused"]) == 1
    assert not (tmp_path / "skills.db").exists()


def test_quarantine_and_approval(run, data, write):
    report = data("import", write(PLAIN), "--quarantine")
    assert report["quarantine"] == "default.quarantine"
    task = ("recall", "pour a cup of coffee with a filter")
    assert data(*task) == []
    assert [skill["id"] for skill in data("approve")] == ["pour-coffee"]
    assert "pour-coffee" in run("approve").stdout
    assert run("show", "pour-coffee", "--namespace", "default.quarantine").stdout.startswith("pour-coffee")
    assert "1 approved: pour-coffee" in run("approve", "pour-coffee").stdout
    assert data(*task)[0]["skill"]["id"] == "pour-coffee"
    assert "does not wait" in run("approve", "pour-coffee").stderr
    assert "Nothing waits" in run("approve").stderr
    run("approve", "nobody", code=1)
    run("approve", "--all")
    run("approve", "x", "--all", code=2)


def test_secrets_are_replaced_and_counted_unless_asked_not_to(run, data, write):
    top = write(PLAIN + "\nAsk jane.doe@corp-mail.com\n")
    assert data("import", top, "--dry-run")["redacted"] == {"email": 1}
    assert "1 email" in run("import", top).stdout
    assert data("import", top, "--dry-run", "--no-redact")["redacted"] == {}


def test_replace_and_skip_exclude_each_other(run, write, learned, tmp_path):
    assert "exclude each other" in run("import", write(PLAIN), "--replace", "--skip", code=2).stderr
    run("export", "bread", tmp_path / "out")
    with SyncBrain.open(f"sqlite:///{tmp_path / 'skills.db'}", cache=False) as brain:
        brain.feedback("bread", {"task": "again"}, True)
    assert "differs" in run("import", tmp_path / "out", code=2).stdout
    assert "1 skipped" in run("import", tmp_path / "out", "--skip").stdout
    assert "1 replaced" in run("import", tmp_path / "out", "--replace").stdout
    assert "1 unchanged" in run("import", tmp_path / "out").stdout


def test_names_of_any_form_are_taken_when_asked(run, write):
    top = write(bad(name="Pour Tea"), "tea")
    assert "name-form" in run("import", top, code=2).stdout
    assert "Pour Tea" in run("import", top, "--any-name").stdout


def test_terminal_codes_in_names_and_paths_are_shown_as_escapes(run, write):
    top = write(bad(description="'x \u202e \u200b'", name="'\u202etea'"), "\x1b[31mred")
    result = run("import", top, code=2)
    assert "\x1b[31m" not in result.stdout and "\u202e" not in result.stdout


def test_dump_and_load(run, data, learned, tmp_path):
    file, elsewhere = tmp_path / "skills.jsonl.gz", f"sqlite:///{tmp_path / 'elsewhere.db'}"
    done = data("dump", file)
    assert (done["skills"], done["traces"], done["edges"], done["skipped"]) == (2, 2, 2, [])
    assert data("load", file, "--store", elsewhere, "--dry-run") | {"from": "", "to": ""} == {
        "from": "",
        "to": "",
        "skills": 2,
        "traces": 2,
        "edges": 2,
    }
    assert data("skills", "--store", elsewhere) == []
    moved = data("load", file, "--store", elsewhere)
    assert (moved["written"], moved["edges"], moved["skipped"]) == (2, 2, [])
    for skill_id in ("bread", "audit"):
        assert data("show", skill_id, "--store", elsewhere) == data("show", skill_id)
    with SyncBrain.open(elsewhere, cache=False) as brain:
        brain.feedback("bread", {"task": "again"}, True)
    assert "same id: bread" in run("load", file, "--store", elsewhere, code=2).stderr
    assert "the target has one with this id" in run("load", file, "--store", elsewhere, "--skip").stdout
    assert "skills written  2" in run("load", file, "--store", elsewhere, "--replace").stdout
    file.write_bytes(file.read_bytes()[:-30])
    assert "damaged" in run("load", file, "--store", elsewhere, code=2).stderr
    assert "no dump" in run("dump", tmp_path / "skills.db", code=2).stderr


def test_a_brain_dumps_and_loads_itself(learned, location, tmp_path):
    import asyncio

    from brain import Brain
    from brain.errors import InputError

    async def there_and_back():
        async with Brain.open(location, cache=False) as brain:
            assert (await brain.dump(tmp_path / "x.jsonl")).skills == 2
        async with Brain.open(f"sqlite:///{tmp_path / 'y.db'}", cache=False) as brain:
            assert (await brain.load(str(tmp_path / "x.jsonl"), existing="skip")).written == 2
            with pytest.raises(InputError, match="existing must be one of"):
                await brain.load(tmp_path / "x.jsonl", existing="everything")
            return [skill.to_dict() for skill in await brain.get_skills()]

    assert asyncio.run(there_and_back()) == learned
