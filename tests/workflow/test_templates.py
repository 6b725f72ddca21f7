"""What templates become: values as OrKa's templates expect them, nothing deleted, nothing evaluated."""

import json

import pytest

from brain.errors import PayloadError
from brain.workflow.compiling import compiled
from brain.workflow.rendering import make_environment
from brain.workflow.values import input_value
from tests.workflow.views import ANSWER, outputs, rendered, text

# Values


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ previous_outputs.a.domain }}", "medicine"),
        ("{{ previous_outputs['a']['domain'] }}", "medicine"),
        ("{{ previous_outputs['my-agent'].response }}", "hyphened"),
        ("{{ previous_outputs.a.steps[0].action }}", "look"),
        ("{{ previous_outputs.a.steps | map(attribute='action') | join(' → ') }}", "look → test"),
        ("{{ previous_outputs.a.steps | length }}", "2"),
        ("{{ previous_outputs.a.domain | upper }}", "MEDICINE"),
        ("{{ previous_outputs.a.domain.upper() }}", "MEDICINE"),
        ("{{ previous_outputs.a.domain ~ '!' }}", "medicine!"),
        ("{{ previous_outputs.a.items }}", "['own']"),
        ("{{ previous_outputs.a.get('domain', 'x') }}", "medicine"),
        ("{{ previous_outputs.a.domain == 'medicine' }}", "True"),
        ("{{ 'yes' if previous_outputs.a.domain in ['medicine'] else 'no' }}", "yes"),
        (
            "{% for s in previous_outputs.a.steps %}{{ loop.index }}/{{ loop.length }}{{ s.action }};{% endfor %}",
            "1/2look;2/2test;",
        ),
        ("{% set n = namespace(x=0) %}{% for s in [1, 2] %}{% set n.x = n.x + s %}{% endfor %}{{ n.x }}", "3"),
        ("{% set b %}{{ previous_outputs.a.domain }}{% endset %}{{ 'same' if b == 'medicine' else 'other' }}", "same"),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(previous_outputs.a.domain) | upper }}", "<MEDICINE>"),
        ("{% filter upper %}{{ previous_outputs.a.domain }}{% endfilter %}", "MEDICINE"),
        ("{{ previous_outputs.a.result.domain }}", "medicine"),
        ("{{ previous_outputs.a.status }} {{ previous_outputs.a.execution_time_ms }}", "success 12.5"),
        ("{{ 'abcdefghij' | truncate(5) }}|{{ 'abc' | truncate(5) }}", "ab...|abc"),
        ("{{ 'abcdefghij' | truncate(5, '…') }}|{{ 'abcdefghij' | truncate(5, True, '…') }}", "abcd…|abcd…"),
        ("{{ {'ä': '<b>'} | tojson }}", '{"ä": "<b>"}'),
        ("{{ {'a': [1, none, true]} | to_json_string }}", '{"a": [1, null, true]}'),
        ("{{ true }} {{ none }} {{ 'x' }} {{ 1.50 }}", "True None x 1.5"),
        ("a {# a remark #}b {% raw %}{{ x }}{% endraw %}", "a b {{ x }}"),
    ],
)
def test_values_are_what_a_reader_expects(template, expected):
    assert text(template) == expected
    assert rendered(template).missing == []


def test_all_of_an_output_prints_as_a_python_object_as_in_orka():
    assert text("{{ previous_outputs.a }}").startswith(
        "{'response': 'Most likely a \"torn\" ligament.\\nRest.', 'domain': 'medicine'"
    )


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("c", "0.85"),
        ("c ~ ''", "0.85"),
        ("c | float + 1", "1.85"),
        ("c + 1", "1.85"),
        ("1 - c", "0.15"),
        ("c * 100", "85.0"),
        ("(c * 100) | round | int", "85"),
        ("c > 0.8", "True"),
        ("0.8 < c", "True"),
        ("c >= 0.9", "False"),
        ("c == '0.85'", "True"),
        ("c == 0.85", "True"),
        ("c | round(1)", "0.8"),
        ("'%.1f' | format(c)", "0.8"),
        ("c.startswith('0')", "True"),
        ("'{:.1f}'.format(c)", "0.8"),
        ("'{:.1%}'.format(c)", "85.0%"),
        ("'{:>6}|{}'.format(c, c)", "  0.85|0.85"),
        ("{'c': c} | tojson", '{"c": "0.85"}'),
    ],
)
def test_a_confidence_is_text_and_calculates(expression, expected):
    given = text(f"{{% set c = previous_outputs.a.confidence %}}{{{{ {expression} }}}}")
    assert given == expected or float(given) == pytest.approx(float(expected))


# The input


JSON_TEXT = '{"task": "mend \\"it\\"", "title": "T", "n": 3, "trace": {"steps": [{"action": "a"}, {"action": "b"}]}}'


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ input }}", JSON_TEXT),
        ("{{ get_input() }}", JSON_TEXT),
        ("{{ input.task }}", 'mend "it"'),
        ("{{ input['task'] }}", 'mend "it"'),
        ("{{ input.task | default(input) }}", 'mend "it"'),
        ("{{ input.zz | default(input) }}", JSON_TEXT),
        ("{{ input.title }}", "T"),
        ("{{ input.get('n', 1) + 1 }}", "4"),
        ("{{ get_input_field(input, 'task', 'x') }}", 'mend "it"'),
        ("{% for s in input.trace.steps %}{{ s.action }}{% endfor %}", "ab"),
        ("{% if input.trace %}yes{% endif %}{% if input.nothing %}no{% endif %}", "yes"),
        ("{{ input | tojson }}", json.dumps(json.loads(JSON_TEXT))),
        ("{% for k, v in input.items() %}{{ k }} {% endfor %}", "task title n trace "),
        ("{{ input | length }}", str(len(JSON_TEXT))),
        ("{{ input | truncate(9) }}", '{"task...'),
        ("{{ 'mend' in input }}", "True"),
    ],
)
def test_json_text_is_its_text_and_has_its_fields(template, expected):
    assert text(template, input_value(JSON_TEXT)) == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ input }}", "plain {{ x }} text"),
        ("{{ input.task | default(input) }}", "plain {{ x }} text"),
        ("{{ input.task | default(input.title | default(input)) }}", "plain {{ x }} text"),
        ("{{ input.domain | default('general') }}", "general"),
        ("{{ get_input_field(input, 'task', 'none') }}", "none"),
        ("{% if input.execution_trace %}yes{% else %}no{% endif %}", "no"),
    ],
)
def test_plain_text_has_no_fields_not_even_those_of_text_itself(template, expected):
    assert text(template, input_value("plain {{ x }} text")) == expected


def test_a_json_value_is_the_value_itself():
    given = input_value('{"input": "inner", "task": "t"}', as_json=True)
    assert text("{{ input }}", given) == "{'input': 'inner', 'task': 't'}"
    assert text("{{ get_input() }} {{ input.task }}", given) == "inner t"
    assert text("{% for x in input %}{{ x }},{% endfor %}", input_value("[1, 2]", as_json=True)) == "1,2,"
    assert text("{{ input[1] }}{% for x in input %}-{{ x }}{% endfor %}", input_value("[1, 2]")) == "2-1-2"


# What is missing


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ previous_outputs.a.zz | default('d') }}", "d"),
        ("{{ previous_outputs.zz.x | default('d') }}", "d"),
        ("{{ previous_outputs.zz.x.y[0] | default('d') }}", "d"),
        ("{{ previous_outputs.zz | default({}) }}", "{}"),
        ("{{ previous_outputs['zz'].x | default([]) | length }}", "0"),
        ("{{ previous_outputs.zz.x is defined }}", "False"),
        ("{{ previous_outputs.zz.x if previous_outputs.zz is defined else 'd' }}", "d"),
        ("{{ previous_outputs.zz.x or 'd' }}", "d"),
        ("{% if previous_outputs.zz %}x{% else %}d{% endif %}", "d"),
        ("{{ previous_outputs.a.zz.title | default('d') }}", "d"),
        ("{{ safe_get(previous_outputs.a, 'zz', 'd') }}{{ safe_get(previous_outputs.a, 'domain') }}", "dmedicine"),
        ("{{ safe_get(previous_outputs.zz, 'x', 'd') }}", "d"),
        ("{{ safe_get_response('zz', 'd') }} {{ safe_get_response('zz', 'd', previous_outputs) }}", "d d"),
        ("{{ has_context('a') }} {{ has_context('zz') }}", "True False"),
    ],
)
def test_what_is_missing_takes_its_default_and_the_rest_of_the_text_stays(template, expected):
    found = rendered(f"before  {template}\n  after")
    assert found.text == f"before  {expected}\n  after"
    assert found.missing == []


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ previous_outputs.a.zz }}", "previous_outputs.a has no 'zz' (it has response, domain"),
        ("{{ previous_outputs.a.zz | upper }}", "previous_outputs.a has no 'zz'"),
        ("{{ 'x' ~ previous_outputs.a.zz }}", "previous_outputs.a has no 'zz'"),
        ("{% for x in previous_outputs.a.zz %}{% endfor %}", "previous_outputs.a has no 'zz'"),
        ("{{ previous_outputs.zz.x }}", "previous_outputs has no 'zz'"),
        ("{{ input.zz }}", "text has no 'zz'"),
        ("{{ previous_outputs.a.zz | tojson }}", "previous_outputs.a has no 'zz'"),
        ("{{ get_agent_response('zz') }}", "'zz' has given no answer"),
    ],
)
def test_what_is_inserted_as_nothing_is_noted(template, said):
    assert said in " ".join(rendered(f"before {template} after").missing)
    assert rendered(f"before {template} after").text.startswith("before ")


def test_the_answer_of_nobody_is_a_sentence():
    assert text("{{ get_agent_response('zz') }}") == "No response found for zz"


def test_calculating_with_what_is_missing_names_it():
    with pytest.raises(PayloadError, match=r"agent 'here': prompt: previous_outputs.a has no 'zz'") as error:
        rendered("{{ previous_outputs.a.zz + 1 }}")
    assert (error.value.agent, error.value.key) == ("here", "prompt")


@pytest.mark.parametrize("template", ["{{ 'a' + 1 }}", "{{ 1 / 0 }}", "{{ previous_outputs.a.domain | int + [] }}"])
def test_an_expression_that_cannot_be_computed_is_an_error_that_says_so(template):
    with pytest.raises(PayloadError, match="cannot be computed"):
        rendered(template)


def test_what_a_filter_gives_bit_by_bit_is_a_list():
    assert text("{{ [1, 2] | reverse }} {{ ['a'] | map('upper') }} {{ [0, 1] | select }}") == "[2, 1] ['A'] [1]"
    assert text('{"steps": {{ previous_outputs.a.steps | map(attribute="action") }}}') == '{"steps": ["look", "test"]}'


@pytest.mark.parametrize("template", ["{{ 'x'['y'] ~ 1 }}", "{{ {}.a ~ '' }}", "{{ [][1] | upper }}"])
def test_a_constant_that_has_not_what_is_read_is_known_when_it_is_rendered(template):
    assert compiled(make_environment(), template, lambda *_: "").faults == []
    assert len(rendered(template).missing) == 1


@pytest.mark.parametrize(
    ("template", "word"),
    [
        ("{{ previous_outputs.a + 1 }}", "'an output' and 'int'"),
        ("{{ previous_outputs < 1 }}", "'previous_outputs' and 'int'"),
        ("{{ previous_outputs.a.confidence - 'x' }}", "'text' and 'str'"),
    ],
)
def test_an_error_names_values_as_their_reader_does(template, word):
    with pytest.raises(PayloadError, match=word):
        rendered(template)


# Helpers


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ get_agent_response('a') }}", ANSWER["response"]),
        ("{{ safe_get_response('a', 'x') }}", ANSWER["response"]),
        ("{{ get_agent_response('nested') }}", "inner"),
        ("{{ safe_get_response('empty', 'fallback') }}", "fallback"),
        ("{{ joined_results() | length }}", "3"),
        ("{{ get_fork_responses() | length }}", "3"),
        ("{{ get_loop_number() }}{{ has_past_loops() }}{{ get_past_loops() }}", "1False[]"),
        ("{{ truncate_text('abcdef', 5) }}", "ab..."),
        ("{{ safe_str(none) }}|{{ safe_str(3) }}", "|3"),
        ("{{ normalize_bool('Yes') }} {{ normalize_bool({'response': 'no'}) }}", "True False"),
        ("{{ get_execution_artifacts(previous_outputs).nodes_executed | join(' ') }}", "a my-agent nested empty"),
    ],
)
def test_helpers_of_orka(template, expected):
    seen = outputs(nested={"response": {"response": "inner"}}, empty={})
    assert text(template, seen=seen) == expected


# Values in JSON


NASTY = 'He said "no" \\ and\n\tleft: }} {{ 7 * 7 }} {% if x %} ä 𝄞 </script>'


def test_text_that_is_put_into_a_json_prompt_cannot_break_it():
    seen = outputs(b={"response": NASTY, "ok": "false", "list": [NASTY], "n": 0.5, "none": None, "yes": True})
    template = """
    {
      "in quotes": "{{ previous_outputs.b.response }}",
      "amid": "<{{ previous_outputs.b.response }}|{{ previous_outputs.b.n }}>",
      "bare text": {{ previous_outputs.b.response }},
      "bare word": {{ previous_outputs.b.ok }},
      "list": {{ previous_outputs.b.list }},
      "filtered": {{ previous_outputs.b.list | tojson }},
      "object in quotes": "{{ previous_outputs.b.list }}",
      "number": {{ previous_outputs.b.n }},
      "null": {{ previous_outputs.b.none }},
      "true": {{ previous_outputs.b.yes }},
      "default": {{ previous_outputs.b.zz | default([]) }},
      {% for item in previous_outputs.b.list %}"{{ loop.index }}": "{{ item }}",{% endfor %}
      "{{ previous_outputs.b.n }}": 1
    }
    """
    found = rendered(template, seen=seen)
    assert found.is_json
    assert json.loads(found.text) == {
        "in quotes": NASTY,
        "amid": f"<{NASTY}|0.5>",
        "bare text": NASTY,
        "bare word": False,
        "list": [NASTY],
        "filtered": [NASTY],
        "object in quotes": json.dumps([NASTY], ensure_ascii=False),
        "number": 0.5,
        "null": None,
        "true": True,
        "default": [],
        "1": NASTY,
        "0.5": 1,
    }


def test_text_in_a_prompt_that_is_no_json_is_inserted_as_it_is():
    seen = outputs(b={"response": NASTY})
    assert text("Say: {{ previous_outputs.b.response }}", seen=seen) == f"Say: {NASTY}"


def test_json_that_its_author_wrote_wrong_is_told_apart_from_text():
    found = rendered('{"a": "{{ input }}",}')
    assert not found.is_json
    assert "line 1" in found.fault
    assert rendered("{{ input }}", '{"a": 1,}').fault == ""


# Nothing that is inserted is evaluated, nothing private is read


@pytest.mark.parametrize(
    "given", ["{{ 7 * 7 }}", "{% for x in y %}", "{{ ''.__class__ }}", "}}", "{#", "\ue0001;", NASTY]
)
def test_text_of_users_and_models_is_never_a_template(given):
    seen = outputs(b={"response": given})
    expected = f"<{given}> <{given}>"
    assert text("<{{ input }}> <{{ previous_outputs.b.response }}>", given, seen) == expected


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__ }}",
        "{{ ''['__class__'] }}",
        "{{ ().__class__.__bases__[0].__subclasses__() }}",
        "{{ get_input.__globals__ }}",
        "{{ previous_outputs.__init__ }}",
        "{{ input.__class__ | default('x') }}",
        "{{ '{0.__class__}'.format(input) }}",
        "{{ '{x.__class__}'.format_map({'x': input}) }}",
        "{{ [input] | map(attribute='__class__') | list }}",
        "{{ previous_outputs.a.update({'domain': 'x'}) }}",
        "{{ previous_outputs.a.steps.append(1) }}",
        "{{ self.__init__ }}",
    ],
)
def test_a_template_reads_no_private_attributes_and_changes_nothing(template):
    before = outputs()
    with pytest.raises(PayloadError, match="agent 'here'"):
        rendered(template, seen=before)
    assert before == outputs()


@pytest.mark.parametrize("name", ["run", "field", "copy", "pop", "raw", "value", "is_stated", "mro"])
def test_what_is_behind_a_value_is_not_a_field_of_it(name):
    template = f"{{{{ previous_outputs.a.{name} | default('d') }}}}{{{{ input.{name} | default('d') }}}}"
    assert text(template, input_value(JSON_TEXT)) == "dd"
