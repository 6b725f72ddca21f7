"""A file that is no workflow is told with its line; YAML that explodes ends in time; every encoding is read."""

import time

import pytest

from brain.errors import WorkflowError
from brain.workflow.check import load
from brain.workflow.document import parse_document
from tests.workflow.writing import llm, workflow


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("", 1, "is empty, not a mapping"),
        ("- a\n- b\n", 1, "is a list, not a mapping"),
        ("hello", 1, "not a mapping"),
        ("orchestrator:\n\tid: x\n", 2, "Indent with spaces"),
        ("a:\n  b: 1\n\tc: 2\n", 3, "Indent with spaces"),
        ("a: @x\n", 1, "begins with '@'. Put it into quotes"),
        ("a: b: c\n", 1, "Put the value into quotes"),
        ("a: [1, 2\n", 2, "Correct the YAML there"),
        ('b: 1\na: "x\n\n\n', 2, "a quote that is not closed"),
        ("b: 1\na: 'it's'\n", 2, "Correct the YAML there"),
        ("a: 1\n---\nb: 2\n", 2, "remove '---'"),
        ("a: &x [*x]\n", 1, "an alias that contains itself"),
        ("a: *nothing\n", 1, "undefined alias"),
        ("a: 1\nb: 2\na: 3\n", 3, "the key 'a' stands here again (first in line 1)"),
        ('a: !!python/object/apply:os.system ["echo"]\n', 1, "the tag !!python/object/apply:os.system is not allowed"),
        ("a: !!binary aGk=\n", 1, "the tag !!binary is not allowed"),
        ("? [a]\n: 1\n", 1, "Keys are text"),
        ("a: {{ input }}\n", 1, "needs quotes"),
        ("a: " + "[" * 5_000, 1, "Flatten it"),
        ("a: " + "[" * 60 + "]" * 60, 1, "Flatten it"),
        ("a: " + "9" * 5_000, 1, "not a number that can be read"),
        ("b: 1\na: x\0y", 2, "a character that YAML does not allow (#x0000)"),
        ("b: 1\n\na: x\ay", 3, "a character that YAML does not allow (#x0007)"),
        ("a: 1\nb: {<<: [1]}\n", 2, "'<<' takes a mapping"),
    ],
)
def test_a_file_that_is_no_workflow_is_told_with_its_line(text, line, word):
    with pytest.raises(WorkflowError) as error:
        parse_document(text, "wf.yml")
    assert error.value.problems[0].line == line
    assert word in str(error.value)
    assert str(error.value).startswith("wf.yml")


def test_aliases_that_explode_are_refused_in_time():
    lines = ["a: &a [" + ", ".join("x" * 9) + "]"]
    lines += [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    begun = time.monotonic()
    with pytest.raises(WorkflowError, match="Use fewer aliases"):
        parse_document("\n".join(lines))
    assert time.monotonic() - begun < 10


def test_aliases_and_merged_mappings_are_read():
    found = parse_document("x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\nz: [*x, {<<: [*x, {c: 4}]}]\n").values
    assert found["y"] == {"a": 1, "b": 3}
    assert found["z"] == [{"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 4}]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_file_is_read_in_every_encoding_of_unicode(tmp_path, encoding):
    path = tmp_path / "wf.yml"
    path.write_bytes(workflow(llm("a", '"ä {{ input }}"')).encode(encoding))
    assert load(path).steps[0].agent.prompt == "ä {{ input }}"


def test_another_encoding_is_told_with_its_byte_and_line(tmp_path):
    path = tmp_path / "wf.yml"
    path.write_bytes(workflow(llm("a", '"é"')).encode("latin-1"))
    with pytest.raises(WorkflowError, match=r"wf.yml:7:1: byte \d+ is not UTF-8 text. Save the file as UTF-8"):
        load(path)


@pytest.mark.parametrize(
    ("name", "said"), [("none.yml", "No such file"), ("", "Is a directory"), ("a\0b", "null byte")]
)
def test_a_file_that_cannot_be_read_is_told(tmp_path, name, said):
    with pytest.raises(WorkflowError, match=f"cannot be read: .*{said}"):
        load(f"{tmp_path}/{name}")


def test_a_file_that_is_too_large_is_refused_without_being_parsed(tmp_path):
    path = tmp_path / "wf.yml"
    path.write_bytes(b"# " + b"x" * 2_000_001)
    with pytest.raises(WorkflowError, match="larger than 2,000,000 bytes"):
        load(path)
