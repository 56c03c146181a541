"""What a GGUF model is given is what its preview shows."""

from __future__ import annotations

import msgspec
import pytest

from gnomon.models.llamacpp.gguf import gguf
from gnomon.models.llamacpp.projector import SIGN
from gnomon.models.prompts.preview import PromptFormat
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


def queries_of(model, monkeypatch) -> list:
    """A list that gets every query whose continuations the model scores from now on."""
    asked = []
    score = model.likelihoods.score

    def remembered(queries):
        asked.extend(queries)
        return score(queries)

    monkeypatch.setattr(model.likelihoods, "score", remembered)
    return asked


def test_scored_tokens_follow_what_the_preview_shows(tiny, monkeypatch):
    model = gguf(str(tiny), threads=1)
    shown = model.preview(ITEM)
    asked = queries_of(model, monkeypatch)
    model.answer([ITEM])
    ((context, continuations),) = asked
    assert tuple(context) == shown.ids
    assert [tuple(each) for each in continuations] == [each.ids for each in shown.scored]
    assert "".join(shown.scored[0].tokens).strip().startswith("larger")
    told = msgspec.convert(msgspec.to_builtins(model.asking()), PromptFormat).preview(ITEM)
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


CHAT = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
CHAT_THAT_BEGINS = "{{ bos_token }}" + CHAT


@pytest.fixture(scope="module")
def eyes(tmp_path_factory, write_eyes):
    return write_eyes(tmp_path_factory.mktemp("eyes") / "mmproj.gguf")


@pytest.mark.parametrize("template", ["", CHAT, CHAT_THAT_BEGINS])
@pytest.mark.parametrize("pictures", [0, 1, 2])
def test_with_eyes_the_text_is_what_becomes_the_tokens(
    template, pictures, eyes, write_model, photo, tmp_path, monkeypatch
):
    pytest.importorskip("PIL")
    file = write_model(tmp_path / "model.gguf", context=512, template=template)
    model = gguf(str(file), threads=1, mmproj=str(eyes))
    images = tuple(photo(number) for number in range(pictures))
    item = msgspec.structs.replace(ITEM, images=images)
    shown = model.preview(item)
    asked = queries_of(model, monkeypatch)
    model.answer([item])
    ((context, continuations),) = asked
    assert shown.ids == tuple(context)
    assert [each.ids for each in shown.scored] == [tuple(each) for each in continuations]
    assert shown.images == pictures
    assert shown.text.count(SIGN) == pictures
    assert sum(token < 0 for token in shown.ids) == 16 * pictures
    assert shown.ids[0] == model.llama.bos
    assert shown.text.startswith("<s>")
    assert not shown.text.startswith("<s><s>")
    told = msgspec.convert(msgspec.to_builtins(model.asking()), PromptFormat).preview(item)
    assert told.text == shown.text
    model.close()
