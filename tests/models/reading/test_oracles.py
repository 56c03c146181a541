"""Who knows every answer and says it in plain English is read on every own benchmark."""

from __future__ import annotations

from itertools import islice

import pytest

import gnomon
from gnomon import registry
from gnomon.forms import credit
from gnomon.lexicon.quantities import quantities, unit_in_words
from gnomon.models.prompts.library import load_prompt
from gnomon.models.reading.replies import as_answer

ITEMS = 40
PROMPTS = ("chat", "multiple-choice")
SAID = {
    "higher up than": ("higher up", "It is higher.", "It's above it."),
    "lower down than": ("lower down", "It is lower.", "It's below it."),
    "at the same height as": (
        "They are at the same height.",
        "Same height.",
        "They are level with each other.",
    ),
    "inside": ("He's in it.", "in it", "It is inside."),
    "below": ("Under it.", "beneath it", "It is below."),
    "above": ("On top of it.", "over it", "It is above."),
    "beside": ("Next to it.", "at its side", "It is beside it."),
    "yes": ("Yes, it is.", "That's right.", "It is."),
    "no": ("No, it is not.", "That is false.", "It isn't."),
    "cannot tell": ("It cannot be determined.", "I can't tell.", "Not enough information."),
    "true": ("Yes, that is true.", "The statement is correct.", "It is."),
    "false": ("No.", "The statement is incorrect.", "It isn't."),
    "entailment": ("True.", "The statement follows from the text.", "It must be true."),
    "contradiction": ("False.", "The statement contradicts the text.", "It is false."),
    "neutral": ("Neither.", "It cannot be determined.", "The text does not say."),
}
POSSIBLE = {
    "yes": ("It is possible.", "Yes, it could be.", "That is possible."),
    "no": ("It is impossible.", "No, it could not.", "That is not possible."),
}
NUMBERS = ("{number:g} {unit}", "It is about {number:g} {unit}.", "I would say {number:g}.")
# options that put the questions of a benchmark in another form, beside its usual one
OTHER_FORMS = {
    "chains": ({"ask": "pairs"},),
    "posrel": ({"form": "choice"},),
    "posrel-general": ({"form": "choice"},),
    "vsr": ({"form": "text"},),
    "viphy-size": ({"prompt": "question"},),
    "viphy-spatial": ({"prompt": "question"},),
    "viphy-color": ({"prompt": "question"},),
}


def own_sets():
    """Every benchmark of the registry that makes its own items, in each of its forms."""
    for name in registry.entries("benchmarks"):
        for source in sorted({"fresh", "numbers"} & set(registry.benchmark(name).sources)):
            for options in ({}, *OTHER_FORMS.get(name, ())):
                if source == "fresh" or not options:
                    yield pytest.param(f"{name}@{source}", options, id=f"{name}@{source}{options}")


def said(spec, item):
    (gold,) = item.gold[:1]
    if item.form == "number":
        amount = quantities(gold)[0]
        unit = unit_in_words(amount.unit)
        return [style.format(number=amount.middle, unit=unit) for style in NUMBERS]
    if spec.startswith("calculus"):
        return POSSIBLE[gold]
    plain = (gold, f"I think it is {gold}.", f"It's {gold}.")
    return SAID.get(gold, plain)


@pytest.mark.parametrize(("spec", "options"), list(own_sets()))
def test_plain_english_is_read_on_every_own_benchmark(spec, options):
    asked = right = 0
    missed = set()
    for item in islice(gnomon.load(spec, **options).without_pictures(), 0, 7 * ITEMS, 7):
        for prompt in PROMPTS:
            for reply in said(spec, item):
                answer = as_answer(item, reply, load_prompt(prompt))
                asked += 1
                right += credit(item, answer.choice) == 1
                if credit(item, answer.choice) != 1:
                    missed.add((prompt, item.text, item.choices, reply, answer.choice))
    assert asked >= 60
    assert right / asked >= 0.98, sorted(missed, key=str)[:10]
