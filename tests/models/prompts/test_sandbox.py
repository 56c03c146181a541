"""Chat templates that never end, or flood the memory, or reach for what is not theirs."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("jinja2")

from gnomon.errors import ModelError
from gnomon.models.prompts import sandbox
from gnomon.models.prompts.chat import chat_template, conversation
from gnomon.models.prompts.sandbox import BoundedTemplate, OutOfBoundsError

TURNS = [{"role": "user", "content": "Is an ant large?"}]
NESTED = "{% for a in range(99999) %}{% for b in range(99999) %}"
ENDLESS = {
    "loops within loops": NESTED + "{% endfor %}{% endfor %}",
    "loops that write nothing": NESTED + "{% set c = a %}{% endfor %}{% endfor %}",
    "a count that is shadowed": "{% set count_step = 1 %}{% set environment = 1 %}"
    + NESTED
    + "{% endfor %}{% endfor %}",
    "a macro that calls itself twice": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}"
    "{% endif %}{% endmacro %}{{ f(60) }}",
    "a loop that calls itself": "{% for a in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "filters within loops": "{% for a in range(99999) %}"
    "{{ range(99999)|map('string')|list|length }}{% endfor %}",
}
FLOODS = {
    "dummy text": "{{ lipsum(n=1000000) }}",
    "links": "{{ ('a ' * 2000000)|urlize|length }}",
    "a product": "{{ 'a' * 10000000000 }}",
    "a product of lists": "{{ ([1] * 100000) * 100000 }}",
    "a power": "{{ 10 ** 10 ** 10 }}",
    "a large range": "{{ range(10000000000)|list }}",
    "much text": "{% for a in range(99999) %}" + "a" * 100 + "{% endfor %}",
}
GROWTHS = {
    "doubling": "{% set x = 'ab' * 1000 %}" + "{% set x = x ~ x %}" * 40 + "{{ x|length }}",
    "doubling by blocks": "{% set x = 'ab' * 1000 %}"
    + "{% set x %}{{ x }}{{ x }}{% endset %}" * 40
    + "{{ x|length }}",
    "padding": "{{ 'a'|center(10000000000)|length }}",
    "replacing": "{% set x = 'a' * 1000000 %}{{ x|replace('a', x)|length }}",
    "formatting": "{{ ('%9999999999d' % 1)|length }}",
}


@pytest.mark.parametrize("source", ENDLESS.values(), ids=ENDLESS)
def test_a_template_without_an_end_is_ended(source):
    with pytest.raises(ModelError, match=r"does not end within|recursion"):
        conversation(chat_template(source, {}), TURNS)


@pytest.mark.parametrize("source", FLOODS.values(), ids=FLOODS)
def test_a_template_that_floods_is_stopped(source):
    with pytest.raises(ModelError, match="chat template"):
        conversation(chat_template(source, {}), TURNS)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps a limit of memory")
@pytest.mark.parametrize("source", GROWTHS.values(), ids=GROWTHS)
def test_a_value_that_grows_without_end_is_stopped(source):
    with pytest.raises(ModelError, match="chat template"):
        conversation(chat_template(source, {}), TURNS)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps a limit of memory")
def test_the_limit_of_memory_is_lifted_again():
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(MemoryError):
        BoundedTemplate(GROWTHS["replacing"]).write()
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_steps_are_counted_anew_for_each_conversation(monkeypatch):
    monkeypatch.setattr(sandbox, "STEPS", 10)
    template = BoundedTemplate("{% for m in messages %}{{ m }}{% endfor %}")
    for _ in range(3):
        assert template.write(messages="abcdef") == "abcdef"
    with pytest.raises(OutOfBoundsError, match="10 steps"):
        template.write(messages="abcdefghijk")


def test_what_the_templates_of_the_hub_use_is_there():
    source = (
        "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}"
        "{% if tools is none %}{% generation %}<{{ m.role }}>{{ m.content|trim }}"
        "{% endgeneration %}{% endif %}{% if loop.last %}{% break %}{% endif %}{% endfor %}"
        "{{ ns.n }}{{ {'é': '<'}|tojson }}{{ '-' * 3 }}{{ strftime_now('%Y') }}{{ bos_token }}"
    )
    text = conversation(chat_template(source, {"bos_token": "<s>"}), TURNS)
    assert text == '<user>Is an ant large?1{"é": "<"}---<s>'


def test_a_template_nested_too_deeply_cannot_be_read():
    with pytest.raises(ModelError, match="cannot be read"):
        chat_template("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", {})
