"""Who knows every answer and says it in plain English is read on every own benchmark."""

from __future__ import annotations

from itertools import islice

import pytest

import gnomon
from gnomon.models.prompts.library import load_prompt
from gnomon.models.reading.replies import read_item

ITEMS = 40
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
OWN = (
    "scales",
    "spacenli",
    "viphy-color",
    "viphy-size",
    "viphy-size-subtype",
    "viphy-spatial",
    "vsr",
    "posrel",
    "spatialqa",
    "chains",
    "calculus",
)


def said(name, item):
    (gold,) = item.gold[:1]
    if name == "calculus":
        return POSSIBLE[gold]
    plain = (gold, f"I think it is {gold}.", f"It's {gold}.")
    return SAID.get(gold, plain)


@pytest.mark.parametrize("prompt", ["chat", "multiple-choice"])
@pytest.mark.parametrize("name", OWN)
def test_plain_english_is_read_on_every_own_benchmark(name, prompt):
    put = load_prompt(prompt)
    asked = right = 0
    for item in islice(gnomon.load(f"{name}@fresh"), 0, 7 * ITEMS, 7):
        for reply in said(name, item):
            found = read_item(item, reply, put)
            asked += 1
            right += found.place is not None and item.choices[found.place] in item.gold
    assert asked >= 60
    assert right / asked >= 0.98
