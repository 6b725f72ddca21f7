"""What does reading do with files that are large, odd, broken, or no traces at all?"""

import json
import os
import random
import subprocess
import sys
import threading
import zipfile

import pytest

from brain import TraceLimits
from brain.errors import InputError, NotATraceError, TraceError
from brain.traces import format_names, read, read_one
from tests.shared_data import FOLDER
from tests.traces.corpus import KINDS, guide, openai_chat, some
from tests.traces.test_formats import FORMS
from tests.traces.test_samples import OWN

CHAT = openai_chat(1)

BAD = {
    # name: (bytes, error, words)
    "empty": (b"", NotATraceError, "is not JSON: it is empty"),
    "blank": (b" \n\n", NotATraceError, "is not JSON: it is empty"),
    "cut short": (json.dumps(CHAT).encode()[:100], TraceError, "seems cut short"),
    "a stray comma": (b'{"messages": [,]}', TraceError, "line 1, column 15. Correct it there."),
    "UTF-16": (json.dumps(CHAT).encode("utf-16"), TraceError, "is not UTF-8 text but UTF-16. Convert it"),
    "UTF-16 without a mark": (json.dumps(CHAT).encode("utf-16-le"), TraceError, "is not UTF-8 text but UTF-16"),
    "UTF-16 the other way": (json.dumps(CHAT).encode("utf-16-be"), TraceError, "is not UTF-8 text but UTF-16"),
    "UTF-32": (json.dumps(CHAT).encode("utf-32"), TraceError, "is not UTF-8 text but UTF-32. Convert it"),
    "Latin-1": ('{"messages": "é"}'.encode("latin-1"), TraceError, "is not UTF-8 text (byte 14). Convert it"),
    "binary": (b'{"a": \x00\x01}', NotATraceError, "is binary, not JSON"),
    "zip": (b"PK\x03\x04 and so on", NotATraceError, "is a zip archive, not a trace"),
    "gzip": (b"\x1f\x8b\x08 and so on", NotATraceError, "is compressed by gzip"),
    "a picture": (b"\x89PNG\r\n\x1a\n", NotATraceError, "is a picture"),
    "prose": (b"# Notes\n", NotATraceError, "is not JSON: it begins with neither { nor ["),
    "a number": (b"3", NotATraceError, "must hold a JSON object, not a number"),
    "text": (b'"x"', NotATraceError, "must hold a JSON object, not text"),
    "null": (b"null", NotATraceError, "must hold a JSON object, not null"),
    "an endless number": (b'{"a": ' + b"1" * 5000 + b"}", TraceError, "is not usable JSON"),
    "nested too deeply": (b"[" * 100_000, TraceError, "is nested too deeply"),
    "nested too deeply inside": (b'{"messages": ' + b"[" * 100_000, TraceError, "is nested too deeply"),
    "an empty list": (b"[]", NotATraceError, "holds an empty list"),
    "a list of numbers": (b"[1, 2]", NotATraceError, "is of no known trace format"),
    "something else": (
        b'{"name": "x", "dependencies": {}}',
        NotATraceError,
        "is of no known trace format. Known are: ",
    ),
    "spans of no agent": (
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t", "name": "GET /", "attributes": []}]}]}]}',
        NotATraceError,
        "none of an agent",
    ),
}


@pytest.mark.parametrize(("data", "kind", "words"), BAD.values(), ids=BAD)
def test_what_is_no_trace_is_refused_with_the_reason(data, kind, words, traces_in):
    with pytest.raises(kind) as caught:
        traces_in(data)
    assert words in str(caught.value) and str(caught.value).startswith("a file ")
    assert caught.value.source == "a file" and "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(TraceError, match=r"gone\.json cannot be read: No such file"):
        list(read(tmp_path / "gone.json"))
    with pytest.raises(TraceError, match="cannot be read: Is a directory"):
        list(read(tmp_path))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["bare", "with a byte order mark"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_marks_and_line_ends_are_no_faults(mark, end, traces_in):
    rows = [json.dumps(guide(n)).encode() for n in (1, 2)]
    assert len(traces_in(mark + end.join(rows))) == 2
    assert len(traces_in(mark + json.dumps(guide(1), indent=2).encode().replace(b"\n", end))) == 1


def test_a_broken_line_is_raised_or_told_and_the_others_are_read(traces_in):
    content = "\n".join([json.dumps(guide(1)), '{"broken', json.dumps(guide(2))])
    with pytest.raises(TraceError, match="line 2 is not JSON: Unterminated string at column 2"):
        traces_in(content)
    faults = []
    assert len(traces_in(content, on_fault=faults.append)) == 2
    assert [fault.source for fault in faults] == ["a file, line 2"]


BROKEN = {
    "in Latin-1": '{"a": "é"}'.encode("latin-1"),
    "no text": b"\xff\xfe\x00",
    "cut": b'{"a',
    "prose": b"error: no",
}


@pytest.mark.parametrize("line", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("count", [1, 4])
def test_no_kind_of_broken_line_takes_others_with_it(line, count, traces_in):
    content = b"\n".join([json.dumps(guide(1)).encode(), *[line] * count, json.dumps(guide(2)).encode()])
    faults = []
    assert len(traces_in(content, on_fault=faults.append)) == 2
    assert [fault.source for fault in faults] == [f"a file, line {n + 2}" for n in range(count)]


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems hold no such names")
def test_a_name_that_is_no_unicode_is_told_with_escapes(tmp_path):
    file = tmp_path / os.fsdecode(b"bad\xffname")
    file.write_text(json.dumps(CHAT))
    assert read_one(file).source.endswith(r"bad\udcffname")


def test_a_session_that_was_cut_off_is_read_as_far_as_it_goes(traces_in):
    content = (OWN / "claude_code.jsonl").read_text("utf-8")[:-300]
    faults = []
    (trace,) = traces_in(content, on_fault=faults.append)
    assert len(trace.steps) == 6 and len(faults) == 1


def test_an_item_of_no_known_format_is_told_and_the_others_are_read(traces_in):
    faults = []
    assert len(traces_in([guide(1), {"a": 1}, guide(2)], on_fault=faults.append)) == 2
    assert [(type(fault), fault.source) for fault in faults] == [(NotATraceError, "a file, item 1")]


def test_a_format_may_be_named(traces_in):
    assert traces_in(CHAT, format="openai_chat")[0].format == "openai_chat"
    with pytest.raises(NotATraceError, match="is not of the format codex"):
        traces_in(CHAT, format="codex")
    with pytest.raises(InputError, match=r"'nonsense' is not a trace format\. Use one of: "):
        traces_in(CHAT, format="nonsense")


def test_exactly_one_trace_may_be_wanted(tmp_path):
    file = tmp_path / "a"
    file.write_text(json.dumps(CHAT))
    assert read_one(file).success
    file.write_text(json.dumps([CHAT, CHAT]))
    with pytest.raises(TraceError, match="more than one trace"):
        read_one(file)


def test_a_pipe_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(json.dumps([guide(1), guide(2)]),))
    writer.start()
    assert len(list(read(pipe))) == 2
    writer.join()


def test_equal_traces_have_equal_digests_wherever_they_stand(traces_in):
    (alone,), (_, second) = traces_in(openai_chat(7)), traces_in([openai_chat(8), openai_chat(7)])
    assert alone.digest == second.digest != traces_in(openai_chat(9))[0].digest
    assert (alone.source, second.source) == ("a file", "a file, item 1")


def test_long_texts_and_lists_are_cut(traces_in):
    messages = [
        {"role": "user", "content": "x" * 50_000},
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {"a": ["y" * 9_000] * 500}}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "z" * 50_000},
    ]
    (trace,) = traces_in(messages)
    step = trace.steps[0]
    assert len(trace.task) == len(step.result) == len(step.parameters["a"][0]) == TraceLimits().text
    assert trace.task.endswith("…") and step.parameters["a"][-1] == "… 400 more"
    (short,) = traces_in(messages, limits=TraceLimits(text=10))
    assert short.task == "x" * 9 + "…"


def test_a_trace_with_more_steps_than_the_cap_is_refused(traces_in):
    calls = [{"role": "assistant", "tool_calls": [{"name": "f", "args": {}}]} for _ in range(12)]
    with pytest.raises(TraceError, match="has more than 10 steps"):
        traces_in({"messages": calls}, limits=TraceLimits(steps=10))


def test_unicode_is_kept_and_lone_surrogates_are_replaced(traces_in):
    text = "Größe 日本語 👩‍👧 \u202e می‌خواهم"
    (trace,) = traces_in({"messages": [{"role": "user", "content": text}, *CHAT["messages"][2:]]})
    assert trace.task == text
    (trace,) = traces_in('{"messages": [{"role": "user", "content": "a\\ud800b"}]}')
    assert trace.task == "a\N{REPLACEMENT CHARACTER}b"


JUNK = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    [],
    {},
    "x",
    [None],
    [[]],
    {"a": None},
    {"type": 5},
    "{bad",
    "[1]",
    10**30,
    "\ud800",
]


def changed(value, chance, share):
    """`value` with a share of what is in it replaced, dropped or moved."""
    if chance.random() < share:
        return chance.choice(JUNK)
    if isinstance(value, dict):
        return {key: changed(item, chance, share) for key, item in value.items() if chance.random() > share / 2}
    if isinstance(value, list):
        found = [changed(item, chance, share) for item in value if chance.random() > share / 2]
        if chance.random() < share:
            chance.shuffle(found)
        return found
    return value


def samples():
    """Something of every format, as values."""
    for content, *_ in FORMS.values():
        if not isinstance(content, str):
            yield content
        elif content.startswith("{"):
            yield [json.loads(line) for line in content.splitlines()]
    yield from (kind(3) for kind in KINDS)
    for file in sorted((FOLDER / "traces").glob("*.*")):
        if file.suffix in (".json", ".traj") and file.name != "index.json":
            yield json.loads(file.read_text("utf-8"))


def test_whatever_is_changed_in_a_trace_it_is_read_or_refused(traces_in):
    chance, every, read_so_far = random.Random(20), list(samples()), 0
    for _ in range(1_500):
        value = changed(chance.choice(every), chance, chance.choice([0.002, 0.01, 0.05, 0.2]))
        try:
            for trace in traces_in(json.dumps(value)):
                json.dumps(trace.to_dict()).encode()
                read_so_far += 1
        except TraceError as error:
            assert "cannot be read as" not in str(error), error  # a reader stumbled
    assert read_so_far > 700


def test_what_a_reader_stumbles_over_ends_its_file_only(traces_in, monkeypatch):
    from brain.traces.formats.openai_chat import OpenAIChat

    monkeypatch.setattr(OpenAIChat, "read", lambda *_: iter([1 / 0]))
    with pytest.raises(TraceError, match=r"cannot be read as openai_chat \(ZeroDivisionError"):
        traces_in(CHAT)
    faults = []
    assert len(traces_in([guide(1), CHAT, guide(2)], on_fault=faults.append)) == 2
    assert len(faults) == 1


PEAK = (
    "import resource, sys\n"
    "from brain.traces import read\n"
    "count = sum(1 for _ in read(sys.argv[1]))\n"
    "print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
)
LARGE = 20_000_000


def write_large(file, layout):
    """A file of `LARGE` bytes, mostly of one list; how many traces are in it."""
    spans = layout == "object"
    with file.open("w") as out:
        out.write({"lines": "", "list": "[", "object": '{"resourceSpans": ['}[layout])
        size = count = 0
        while size < LARGE:
            value = KINDS[3](count)["resourceSpans"][0] if spans else KINDS[count % len(KINDS)](count)
            if value.get("messages"):
                value["messages"][-1]["content"] = "and so on " * 600
            text = json.dumps(value)
            out.write(("" if not count else "\n" if layout == "lines" else ",") + text)
            size, count = size + len(text), count + 1
        out.write({"lines": "\n", "list": "]", "object": "]}"}[layout])
    return count


def peak(file):
    done = subprocess.run([sys.executable, "-c", PEAK, str(file)], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    count, kilobytes = map(int, done.stdout.split())
    return count, kilobytes * 1024


@pytest.mark.parametrize("layout", ["lines", "list", "object"])
def test_a_large_file_is_read_in_bounded_memory(layout, tmp_path):
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_text(json.dumps(CHAT))
    written = write_large(large, layout)
    count, most = peak(large)
    assert count == written
    assert most - peak(small)[1] < LARGE


def test_one_string_of_50_mb_is_cut(tmp_path):
    file = tmp_path / "long"
    file.write_text(json.dumps({"messages": [{"role": "user", "content": "x" * 50_000_000}, *CHAT["messages"][2:]]}))
    trace = read_one(file)
    assert len(trace.task) == TraceLimits().text and trace.steps


def test_a_large_file_that_was_cut_off_is_refused(tmp_path):
    file = tmp_path / "cut"
    file.write_text('{"messages": [' + ",".join(json.dumps(row) for row in CHAT["messages"] * 20_000))
    with pytest.raises(TraceError, match="is not JSON from some point on"):
        list(read(file))


def test_a_line_over_the_cap_is_left_out(traces_in):
    content = f"{json.dumps(guide(1))}\n{json.dumps(guide(2) | {'x': 'y' * 3_000_000})}\n{json.dumps(guide(3))}"
    faults = []
    found = traces_in(content, limits=TraceLimits(record_bytes=2_000_000), on_fault=faults.append)
    assert len(found) == 2 and "line 2 is longer than 2 MB" in str(faults[0])


def test_reading_loads_no_streaming_parser_for_small_files(tmp_path):
    file = tmp_path / "a"
    file.write_text(json.dumps(CHAT))
    code = "import sys, brain\nlist(brain.traces.read(sys.argv[1]))\nprint([m for m in sys.modules if 'ijson' in m])"
    shown = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_a_zip_of_traces_is_named_as_one(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.json", "w") as archive:
        archive.writestr("b.json", json.dumps(CHAT))
    with pytest.raises(NotATraceError, match="is a zip archive"):
        list(read(tmp_path / "a.json"))


def test_some_of_every_kind_are_told_apart(traces_in):
    assert {trace.format for trace in traces_in(list(some(len(KINDS))))} <= set(format_names())
    assert [len(traces_in(kind(5))) for kind in KINDS] == [1] * len(KINDS)
