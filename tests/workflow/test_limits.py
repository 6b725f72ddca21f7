"""A template ends in time and size, whatever its author or a model wrote; what is within the limits is made."""

import pytest

from brain.errors import PayloadError
from tests.workflow.views import rendered, text


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        "{% for i in range(1000000000) %}{% endfor %}",
        "{{ 'x' * 1000000000 }}",
        "{{ ['x'] * 1000000000 }}",
        "{{ 10 ** 1000000 }}",
        "{{ 'x' | center(1000000000) }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{{ '%1000000000d' | format(1) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '{:>1000000000}'.format(1) }}",
        "{{ 'x' | indent(1000000000) }}",
        "{% set n = namespace(x='xxxxxxxxxx') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
        "{% set n = namespace(x='xxxxxxxxxx') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
        "{% for i in range(100000) %}{{ input }}{% endfor %}",
        "{{ range(100000) | join(input) }}",
        "{{ input | replace('', input) }}",
        "{{ input.replace('', input) }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% set n = namespace(x='x') %}{% for i in range(40) %}{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}{% endfor %}",
        "{% set n = namespace(x=7) %}{% for i in range(60) %}{% set n.x = n.x * n.x %}{% endfor %}",
        "{{ '{:>{w}}'.format(1, w='1000000000') }}",
        "{{ '%(x)1000000000d' | format(x=1) }}",
        "{{ ('x' * 100000) | wordwrap(1, true, input) }}",
        "{{ ('x\\n' * 100000) | indent(9999) }}",
        "{{ ('x\\n' * 100000) | indent('y' * 9999) }}",
        "{{ ('x' * 100000) | wordwrap(1, wrapstring=input) }}",
        "{{ input.join(range(100000) | map('string')) }}",
    ],
)
def test_a_template_ends_in_time_and_size(template):
    with pytest.raises(PayloadError, match="agent 'here': prompt"):
        rendered(template, "y" * 5_000)


@pytest.mark.parametrize("method", ["translate({120: 'y' * 10000})", "expandtabs(9999)", "encode()", "format_map({})"])
def test_methods_of_text_that_no_prompt_needs_are_not_there(method):
    with pytest.raises(PayloadError, match="text has no"):
        rendered(f"{{{{ 'x'.{method} }}}}")


def test_formats_indents_and_wraps_within_the_limits_are_made():
    assert text("{{ '{:*^7}|{{}}'.format('x') }} {{ '%5s%%' | format('x') }}") == "***x***|{}     x%"
    assert text("{{ 'a\\nb' | indent }}|{{ 'a\\nb' | indent('> ', true) }}") == "a\n    b|> a\n> b"
    assert text("{{ 'aabb' | wordwrap(2, break_long_words=false) }}") == "aabb"
    assert text("{{ 'aa bb cc' | wordwrap(5) }}|{{ 'aa bb' | wordwrap(2, wrapstring='/') }}") == "aa bb\ncc|aa/bb"
    assert text("{{ '-'.join(['a', 'b']) }} {{ '{} {}'.format('67890', 1) }}") == "a-b 67890 1"


def test_a_large_prompt_within_the_limits_is_made():
    assert len(text("{% for i in range(1000) %}{{ input }}{% endfor %}", "y" * 1_000)) == 1_000_000
