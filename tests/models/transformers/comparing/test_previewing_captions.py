"""What a model that compares is given: each text with its special tokens."""

from __future__ import annotations

import msgspec
import pytest

pytest.importorskip("torch")

from gnomon.models.asking import Asking
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
    told = msgspec.convert(msgspec.to_builtins(model.asking()), Asking).preview(item)
    assert [each.text for each in told.scored] == [each.text for each in shown.scored]
    assert item.text in told.scored[-1].text
