"""How a model's text is read: plain, fenced, after thinking, in prose, cut off, mended, a list, or nothing."""

import json

import pytest

from brain.workflow.answers import read_answer

STEPS = [{"action": "gather", "result": "ok"}, {"action": "test", "result": "ok"}]
GOOD = {"response": 'It is "x" {y}', "steps": STEPS, "confidence": 0.9, "internal_reasoning": "because"}
PLAIN = json.dumps(GOOD)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (PLAIN, "json"),
        (f"\ufeff  {PLAIN}\n", "json"),
        (f"```json\n{PLAIN}\n```", "fenced"),
        (f"Here you are:\n\n```\n{json.dumps(GOOD, indent=2)}\n```\nAnything else?", "fenced"),
        (f"```json\n{PLAIN}", "fenced"),
        (f'<think>Maybe {{"response": 1}}?</think>\n{PLAIN}', "json"),
        (f"<THINKING>a\nb</THINKING>{PLAIN}", "json"),
        (f"half a thought</think>\n{PLAIN}", "json"),
        (f"<think>a</think> So:\n```json\n{PLAIN}\n```", "fenced"),
        (f"Sure {{x}}! {PLAIN} Hope that {{helps}}.", "embedded"),
        (f'First {{"a": 1}}, then {PLAIN}', "embedded"),
        (f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{PLAIN}", "json"),
    ],
)
def test_an_object_is_found_wherever_a_model_puts_it(text, form):
    found = read_answer(text)
    assert (found.form, found.is_repaired, found.is_truncated) == (form, False, False)
    assert found.fields == GOOD | {"confidence": "0.9"}


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace('"', "'").replace("'x'", "x"),
        f"{PLAIN[:-1]},}}",
        PLAIN.replace('"steps"', '// the steps\n"steps"'),
        "{'response': 'x', 'ok': True, 'none': None}",
        '{"response": "a", "v": NaN}',
        '{"response": "lone \\ud800 half"}',
        '{"response": "deep", "v": ' + "[" * 80 + "]" * 80 + "}",
        '{"response": "long", "v": ' + "9" * 4_000 + "}",
    ],
)
def test_what_has_to_be_mended_is_marked(text):
    found = read_answer(text)
    assert found.is_repaired
    assert not found.is_truncated
    json.dumps(found.fields, allow_nan=False).encode()


@pytest.mark.parametrize("end", range(60, len(PLAIN) - 1, 7))
def test_an_answer_that_is_cut_off_anywhere_is_marked_and_has_no_half_step(end):
    found = read_answer(PLAIN[:end])
    assert found.is_truncated
    assert found.is_repaired
    for step in found.fields["steps"]:
        assert step["action"] in ("gather", "test")


def test_a_fenced_answer_that_is_cut_off_is_marked():
    found = read_answer(f"Sure:\n```json\n{PLAIN[:-40]}")
    assert (found.is_truncated, found.is_repaired) == (True, True)
    assert found.fields["steps"] == STEPS


@pytest.mark.parametrize("text", [PLAIN, "only prose"])
def test_an_answer_at_the_limit_of_tokens_is_marked_even_if_it_looks_whole(text):
    assert read_answer(text, cut_off=True).is_truncated


@pytest.mark.parametrize("text", ["It is a {strange} thing.", "null", "3", '"words"', "{ not json at all", "{" * 5_000])
def test_text_is_the_response_without_a_confidence(text):
    found = read_answer(text)
    assert found.form == "text"
    assert found.fields == {"response": text, "confidence": "0.0", "internal_reasoning": ""}
    assert not found.fields["confidence"].is_stated


def test_a_list_is_the_response_and_its_items_are_steps_if_they_say_something():
    found = read_answer('["gather", {"action": "test"}]')
    assert (found.form, found.fields["steps"]) == ("list", ["gather", {"action": "test"}])
    assert found.fields["response"] == '["gather", {"action": "test"}]'
    assert found.fields["confidence"] == "0.0"
    assert "steps" not in read_answer("[1, 2]").fields


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "{}", "<think>only this</think>", "<think>cut off", '{"response": "", "steps": []}', '{"a": null}'],
)
def test_an_empty_answer_is_none(text):
    assert read_answer(text) is None


@pytest.mark.parametrize(
    ("given", "seen", "is_stated"),
    [
        (0.5, "0.5", True),
        ("0.5", "0.5", True),
        (1, "1", True),
        (None, "0.0", False),
        ("high", "high", None),
        (True, "True", None),
    ],
)
def test_a_confidence_is_text(given, seen, is_stated):
    confidence = read_answer(json.dumps({"response": "x", "confidence": given})).fields["confidence"]
    assert confidence == seen
    assert getattr(confidence, "is_stated", None) is is_stated


def test_an_object_without_a_response_says_what_stands_for_one():
    assert read_answer('{"answer": "this", "n": 1}').fields["response"] == "this"
    assert read_answer('{"n": 1}').fields["response"] == '{"n": 1}'


def test_large_answers_are_read_in_time():
    big = json.dumps({"response": "x" * 500_000, "steps": ["step"] * 5_000})
    assert len(read_answer(big).fields["steps"]) == 5_000
    assert read_answer("{" * 100_000 + "x").form == "text"
    assert read_answer('{"a" ' * 20_000) is not None


def test_words_of_thinking_inside_an_answer_stay():
    said = {"response": "Models write <think>…</think> before <|message|>."}
    assert read_answer(json.dumps(said)).fields["response"] == said["response"]


def test_half_characters_are_replaced_in_prose_too():
    assert read_answer("half \ud800 of it").fields["response"] == "half \ufffd of it"
