"""Replies are read in every wording of the prompts that ask for one, in any order of the choices."""

from __future__ import annotations

import pytest

from gnomon.models.prompts.library import load_prompt
from gnomon.models.reading.replies import read_item
from gnomon.records import Item

ITEM = Item(
    id="e",
    form="entailment",
    context="Ann is in the car.",
    text="Ann is outside.",
    choices=("neutral", "entailment", "contradiction"),
    gold=("contradiction",),
)
PROMPTS = []
for name in ("chat", "multiple-choice", "reasoning"):
    for wording in range(1, load_prompt(name).wordings + 1):
        PROMPTS.append((name, wording))


@pytest.mark.parametrize(("name", "wording"), PROMPTS)
def test_every_answer_that_a_wording_offers_is_read(name, wording):
    prompt = load_prompt(name, wording)
    read = 0
    for place, ways in enumerate(prompt.accepted(ITEM)):
        for way in ways:
            for reply in (way, f"{way.lower()}.", f"Let me think.\nAnswer: {way}"):
                assert read_item(ITEM, reply, prompt).place == place, reply
                read += 1
    assert read >= 9


@pytest.mark.parametrize(("name", "wording"), PROMPTS)
@pytest.mark.parametrize("reply", ["It cannot be determined.", "Not enough information."])
def test_what_cannot_be_told_is_neutral_in_every_wording(name, wording, reply):
    prompt = load_prompt(name, wording)
    assert read_item(ITEM, reply, prompt).place == ITEM.choices.index("neutral")
