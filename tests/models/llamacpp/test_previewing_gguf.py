"""What a GGUF model is given is what its preview shows."""

from __future__ import annotations

import msgspec
import pytest

from gnomon.models.asking import Asking
from gnomon.models.llamacpp.gguf import gguf
from gnomon.records import Item

pytest.importorskip("xllamacpp")
pytestmark = pytest.mark.usefixtures("own_cache")

ITEM = Item(
    id="1",
    form="cloze",
    text="ant is [MASK] than a bird.",
    choices=("larger", "smaller"),
    gold=("smaller",),
)


def test_scored_tokens_follow_what_the_preview_shows(tiny, monkeypatch):
    model = gguf(str(tiny), threads=1)
    shown = model.preview(ITEM)
    asked = []
    score = model._likelihoods.score
    monkeypatch.setattr(
        model._likelihoods, "score", lambda queries: asked.extend(queries) or score(queries)
    )
    model.answer([ITEM])
    ((context, continuations),) = asked
    assert tuple(context) == shown.ids
    assert [tuple(each) for each in continuations] == [each.ids for each in shown.scored]
    assert "".join(shown.scored[0].tokens).strip().startswith("larger")
    told = msgspec.convert(msgspec.to_builtins(model.asking()), Asking).preview(ITEM)
    assert told.text == shown.text
    model.close()


def test_a_reply_follows_what_the_preview_shows(tiny, monkeypatch):
    model = gguf(str(tiny), threads=1, ask="generate", new_tokens=2)
    shown = model.preview(ITEM)
    asked = []
    reply = model.llama.reply
    monkeypatch.setattr(
        model.llama,
        "reply",
        lambda prompt, most: asked.append(tuple(prompt)) or reply(prompt, most),
    )
    model.answer([ITEM])
    assert asked == [shown.ids]
    assert shown.limits["new_tokens"] == 2
    assert not shown.scored
    model.close()
