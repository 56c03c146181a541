"""What a model that compares is given: each text with its special tokens."""

from __future__ import annotations

import msgspec
import pytest

pytest.importorskip("torch")

from gnomon.lexicon.statements import question
from gnomon.models.prompts.preview import PromptFormat
from gnomon.models.transformers.hf import hf


def test_a_dual_encoder_reads_the_texts_of_the_preview(seeing, captions):
    model = hf(str(seeing("clip")))
    item = captions[0]
    shown = model.preview(item)
    read = []
    encode = model.comparer.model.get_text_features

    def remember(**inputs):
        for ids, there in zip(inputs["input_ids"], inputs["attention_mask"], strict=True):
            read.append(tuple(ids[there.bool()].tolist()))
        return encode(**inputs)

    model.comparer.model.get_text_features = remember
    try:
        model.answer([item])
    finally:
        del model.comparer.model.get_text_features
    assert {each.ids for each in shown.scored} == set(read)
    assert [each.choice for each in shown.scored] == ["false", "true"]
    assert shown.images == 1
    told = msgspec.convert(msgspec.to_builtins(model.asking()), PromptFormat).preview(item)
    assert [each.text for each in told.scored] == [each.text for each in shown.scored]
    assert item.text in told.scored[-1].text


@pytest.mark.parametrize("make", ["blip", "vilt", "vilt vqa"])
def test_a_matcher_reads_the_texts_of_the_preview(seeing, captions, make, monkeypatch):
    model = hf(str(seeing(make)))
    item = captions[1]
    shown = model.preview(item)
    read = []
    head = model.comparer.head

    def remember(reading):
        tokens = reading.tokens
        for ids, there in zip(tokens["input_ids"], tokens["attention_mask"], strict=True):
            read.append(tuple(ids[there.bool()].tolist()))
        return head.odds(reading)

    monkeypatch.setattr(model.comparer, "head", head._replace(odds=remember))
    model.answer([item])
    assert {each.ids for each in shown.scored} == set(read)
    assert shown.images == 1
    told = msgspec.convert(msgspec.to_builtins(model.asking()), PromptFormat).preview(item)
    assert [each.text for each in told.scored] == [each.text for each in shown.scored]
    asked = question(item.text) if make == "vilt vqa" else item.text
    assert asked in told.scored[-1].text
