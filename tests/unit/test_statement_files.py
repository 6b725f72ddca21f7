"""Are faults in statement and migration files told with file and line, and statements split where they end?"""

import pytest

from brain.errors import SchemaError, StatementError
from brain.store import migrations, statements
from brain.store.base import Migration
from brain.store.migrations import Applied, MigrationFile

GOOD = """// What the file is for.

// name: find_it
// Finds a thing.
// mode: read
// try: :param id => "…";
MATCH (n {id: $id, text: "not a $parameter"}) // a remark
RETURN n;

// name: put_it
// Writes a thing;
// in two lines.
// mode: write
CREATE (n {id: $id, note: $note_2});
"""


def test_statements_are_read_with_head_body_and_parameters():
    found, put = statements.parse(GOOD, "things.cypher")
    assert (found.name, found.mode, found.source) == ("find_it", "read", "things.cypher:3")
    assert found.doc == "Finds a thing."
    assert found.parameters == {"id"}
    assert found.try_line.startswith(":param id")
    assert not found.text.endswith(";")
    assert (put.name, put.mode, put.source, put.parameters) == (
        "put_it",
        "write",
        "things.cypher:10",
        {"id", "note_2"},
    )
    assert put.doc == "Writes a thing; in two lines."


def test_slots_are_filled_from_the_closed_set():
    text = "// name: link\n// Links.\n// mode: write\nCREATE (a)-[:{{relation}}]->(b)\n"
    (statement,) = statements.parse(text, "f.cypher")
    assert statement.filled(relation="COMPLEMENTS") == "CREATE (a)-[:COMPLEMENTS]->(b)"


@pytest.mark.parametrize(
    ("bad", "line", "says"),
    [
        ("// name: Bad-Name\n// Does.\n// mode: read\nRETURN 1", 3, "Bad-Name"),
        ("// name: no_mode\n// Does.\nRETURN 1", 3, "mode"),
        ("// name: odd_mode\n// Does.\n// mode: reed\nRETURN 1", 3, "mode"),
        ("// name: no_sentence\n// mode: read\nRETURN 1", 3, "sentence"),
        ("// name: no_body\n// Does.\n// mode: read\n", 3, "statement"),
        ("// name: odd_slot\n// Does.\n// mode: read\nRETURN {{anything}}", 3, "anything"),
    ],
)
def test_a_fault_is_told_with_file_and_line(tmp_path, bad, line, says):
    (tmp_path / "bad.cypher").write_text(f"// Head.\n\n{bad}\n", "utf-8")
    with pytest.raises(StatementError, match=rf"bad\.cypher:{line}: .*{says}"):
        statements.load(tmp_path, "*.cypher")


def test_a_name_used_twice_is_told_with_both_places(tmp_path):
    one = "// name: same\n// Does.\n// mode: read\nRETURN 1;\n"
    (tmp_path / "a.cypher").write_text(one)
    (tmp_path / "b.cypher").write_text(f"\n{one}")
    with pytest.raises(StatementError, match=r"b\.cypher:2: 'same' is also in a\.cypher:1"):
        statements.load(tmp_path, "*.cypher")


def test_a_folder_without_statements_is_an_error(tmp_path):
    with pytest.raises(StatementError, match="No statements"):
        statements.load(tmp_path, "*.cypher")


@pytest.mark.parametrize("kind", ["cypher", "migrations"])
def test_the_packages_own_files_are_found(kind):
    assert statements.data_folder(kind).is_dir()


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("A; B;", ["A", "B"]),
        ("A;\n\n;B", ["A", "B"]),
        ("", []),
        (" \n;;\n", []),
        ("A 'x;y'; B", ["A 'x;y'", "B"]),
        ('A "x;y"; B', ['A "x;y"', "B"]),
        ("A `x;y`; B", ["A `x;y`", "B"]),
        ("A 'it''s;'; B", ["A 'it''s;'", "B"]),
        (r"A 'it\'s;'; B", [r"A 'it\'s;'", "B"]),
        ("// one; two\nA;\nB", ["// one; two\nA", "B"]),
        ("-- one; two\nA;\nB", ["-- one; two\nA", "B"]),
        ("A // one; two\n;B", ["A // one; two", "B"]),
        ("A -- one; two\n;B", ["A -- one; two", "B"]),
        ("A // it's\n;B 'x'", ["A // it's", "B 'x'"]),
        ("A /* one; two */;B", ["A /* one; two */", "B"]),
        ("A '// no comment'; B", ["A '// no comment'", "B"]),
        ("A;\n// the end; really\n", ["A"]),
    ],
)
def test_statements_end_at_a_semicolon_outside_strings_and_comments(text, pieces):
    assert list(migrations.split(text)) == pieces


def local(version, checksum="sum"):
    return MigrationFile(version, f"m{version}", checksum, ("RETURN 1",))


def applied(version, checksum="sum"):
    return Applied(version, f"m{version}", checksum)


@pytest.mark.parametrize(
    ("files", "history", "states"),
    [
        ([], [], []),
        ([local(1), local(2)], [], ["pending", "pending"]),
        ([local(1), local(2)], [applied(1)], ["applied", "pending"]),
        ([local(1)], [applied(1)], ["applied"]),
        ([local(1)], [applied(1, "other")], ["changed_after_apply"]),
        ([local(1)], [applied(1), applied(2)], ["applied", "missing_locally"]),
        ([local(2)], [applied(2), applied(1)], ["missing_locally", "applied"]),
    ],
)
def test_every_state_of_a_migration_is_named(files, history, states):
    found = migrations.analyse(files, history)
    assert [migration.state for migration in found] == states
    assert [migration.version for migration in found] == sorted({m.version for m in [*files, *history]})


@pytest.mark.parametrize(
    ("state", "says"), [("missing_locally", "Upgrade"), ("changed_after_apply", "Restore the file")]
)
def test_a_schema_that_does_not_fit_is_an_error_that_names_it(state, says):
    with pytest.raises(SchemaError, match=f"V007__odd.*{says}") as caught:
        migrations.check_usable([Migration(7, "odd", "sum", state)], "bolt://here")
    assert caught.value.location == "bolt://here"


def test_what_is_applied_or_pending_is_usable():
    found = [Migration(1, "a", "s", "applied"), Migration(2, "b", "s", "pending")]
    migrations.check_usable(found, "here")
    assert migrations.pending([local(2), local(1)], found) == [local(2)]


def test_pending_files_come_in_order():
    files = [local(1), local(2), local(3)]
    assert migrations.pending(files, migrations.analyse(files, [applied(2)])) == [local(1), local(3)]


@pytest.mark.parametrize("name", ["V1__short.cypher", "V001_one.cypher", "v001__low.cypher", "V001__x.txt", "notes"])
def test_a_migration_with_a_bad_name_is_refused(tmp_path, name):
    (tmp_path / name).write_text("RETURN 1;")
    with pytest.raises(StatementError, match=name):
        migrations.load(tmp_path)


def test_two_migrations_with_one_version_are_refused(tmp_path):
    for name in ("V001__a.cypher", "V001__b.cypher"):
        (tmp_path / name).write_text("RETURN 1;")
    with pytest.raises(StatementError, match="share a version"):
        migrations.load(tmp_path)
