"""Where pictures stand: templates of every style that models are published with."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.models.choices import contexts
from gnomon.models.prompts.library import load_prompt
from gnomon.models.transformers.imageinputs import PicturePlaces
from gnomon.records import Item

ITEM = Item(
    id="1",
    form="caption",
    text="The cat is on the mat.",
    choices=("true", "false"),
    gold=("true",),
)
# style -> template, marks that the processor names, what two pictures look like in it
STYLES = {
    "pictures first, by a filter": (
        "{% for m in messages %}{{ m.role }}> {% for part in m.content | selectattr('type',"
        " 'equalto', 'image') %}<image>\n{% endfor %}{% for part in m.content |"
        " selectattr('type', 'equalto', 'text') %}{{ part.text }} {% endfor %}{% endfor %}"
        "{% if add_generation_prompt %}assistant>{% endif %}",
        {"image_token": "<image>"},
        "<image>\n<image>",
    ),
    "strings or parts, with a frame": (
        "{% for m in messages %}[{{ m.role }}]{% if m.content is string %}{{ m.content }}"
        "{% else %}{% for part in m.content %}{% if part.type == 'image' %}<|see|><|pad|><|seen|>"
        "{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}[end]\n{% endfor %}"
        "{% if add_generation_prompt %}[assistant]{% endif %}",
        {"image_token": "<|pad|>"},
        "<|pad|><|seen|><|see|><|pad|>",
    ),
    "a mark that is not the picture's token, and no system message": (
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}"
        "<{{ m.role }}>{% for part in m.content %}{% if part.type == 'image' %}<begin>"
        "{% else %}{{ part.text | trim }}{% endif %}{% endfor %}</{{ m.role }}>{% endfor %}"
        "{% if add_generation_prompt %}<assistant>{% endif %}",
        {"boi_token": "<begin>", "image_token": "<soft>"},
        "<begin><begin>",
    ),
    "plain texts": (
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
        "{% if add_generation_prompt %}assistant: {% endif %}",
        {"image_token": "<image>"},
        "<image><image>",
    ),
}


def placing(style):
    template, marks, _ = STYLES[style]
    tokenizer = SimpleNamespace(special_tokens_map={})
    return PicturePlaces(
        SimpleNamespace(tokenizer=tokenizer, chat_template=template, **marks), chat=True
    )


@pytest.mark.parametrize("style", STYLES)
def test_pictures_stand_between_the_instruction_and_the_question(style):
    place = placing(style)
    assert place.stretch(2) == STYLES[style][2]
    (text,) = contexts(load_prompt("chat"), [ITEM], place.writer(2))
    assert text.count(place.mark) == 2
    assert text.index("Statement: The cat") > text.index(place.stretch(2))
    assert text.count("Answer the question.") == 1
    assert "{'type'" not in text
    assert not place.trouble(text, 2)
    assert place.trouble(text, 1)


@pytest.mark.parametrize("style", STYLES)
def test_without_pictures_the_question_is_the_same(style):
    place = placing(style)
    (seeing,) = contexts(load_prompt("chat"), [ITEM], place.writer(1))
    (blind,) = contexts(load_prompt("chat"), [ITEM], place.writer(0))
    assert place.mark not in blind
    question = "Is the statement true? Answer with one of: true, false."
    assert seeing.endswith(blind[blind.index(question) :])
