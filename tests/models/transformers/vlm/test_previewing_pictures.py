"""What a model that sees is shown: the preview has one mark a picture, `forward` its tokens."""

from __future__ import annotations

import msgspec
import pytest

pytest.importorskip("torch")

from gnomon.models.prompts.preview import PromptFormat


def longest_row(model, item):
    rows = []

    def remember(_module, _args, inputs):
        ids = inputs.get("input_ids")
        if ids is not None:
            rows.extend(tuple(row) for row in ids.tolist())

    hook = model.model.register_forward_pre_hook(remember, with_kwargs=True)
    try:
        model.answer([item])
    finally:
        hook.remove()
    return max(rows, key=len)


@pytest.mark.parametrize("make", ["llava", "qwen2-vl"])
def test_forward_reads_what_the_preview_shows(asked, items, make):
    model = asked(make, ask="generate", new_tokens=1)
    item = items[0]
    shown = model.preview(item)
    assert longest_row(model, item)[: len(shown.ids)] == shown.ids
    assert shown.text.count(model.places.mark) == shown.images == 1
    assert shown.tokens == len(shown.ids)
    assert item.text in shown.text


@pytest.mark.parametrize("make", ["llava", "qwen2-vl"])
def test_the_manifest_retells_the_text_with_its_marks(asked, items, make):
    model = asked(make)
    kept = msgspec.json.encode(msgspec.to_builtins(model.asking()))
    told = msgspec.json.decode(kept, type=PromptFormat)
    for item in (items[0], items[-1]):
        shown = model.preview(item)
        assert told.preview(item).text == shown.text
        assert [each.text for each in told.preview(item).scored] == [
            each.text for each in shown.scored
        ]


def test_a_picture_that_is_missing_is_named(asked, items):
    from gnomon.records import Image

    lost = msgspec.structs.replace(items[0], images=(Image(path="nowhere.png"),))
    shown = asked("llava").preview(lost)
    assert "nowhere.png" in shown.trouble
    assert shown.tokens is None
