"""What a preview shows is what the model's `forward` is given, and what the manifest can retell."""

from __future__ import annotations

import warnings

import msgspec
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.models.prompts.preview import PromptFormat
from gnomon.models.transformers.hf import hf
from gnomon.records import Item

CLOZE = Item(
    id="1",
    form="cloze",
    text="the ant is [MASK] than a bird.",
    choices=("larger", "smaller"),
    gold=("smaller",),
)
ENTAILMENT = Item(
    id="2",
    form="entailment",
    context="the ant is inside\nthe box.",
    text="the box holds the ant.",
    choices=("entailment", "neutral", "contradiction"),
    gold=("entailment",),
)
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}{{ eos_token }}"
    "{% endfor %}{% if add_generation_prompt %}[assistant] {% endif %}"
)


def load(folder, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # random weights may look permuted
        return hf(str(folder), **options)


def rows_read(model, item):
    """The tokens of every row that `forward` was given while an item was asked, without padding."""
    rows = []

    def remember(_module, _args, inputs):
        ids, seen = inputs["input_ids"], inputs.get("attention_mask")
        for number, row in enumerate(ids.tolist()):
            if seen is None:
                rows.append(tuple(row))
            else:
                kept = zip(row, seen[number].tolist()[-len(row) :], strict=True)
                rows.append(tuple(token for token, there in kept if there))

    hook = model.model.register_forward_pre_hook(remember, with_kwargs=True)
    try:
        model.answer([item])
    finally:
        hook.remove()
    return rows


def retold(model, item):
    """What a manifest that was written and read again says of an item."""
    kept = msgspec.json.encode(msgspec.to_builtins(model.asking()))
    return msgspec.json.decode(kept, type=PromptFormat).preview(item)


def check_retold(model, item):
    shown, told = model.preview(item), retold(model, item)
    assert told.text == shown.text
    assert [each.text for each in told.scored] == [each.text for each in shown.scored]
    assert (told.how, told.limits) == (shown.how, shown.limits)


@pytest.mark.parametrize("make", ["gpt2", "llama"])
@pytest.mark.parametrize("prompt", ["plain", "fewshot"])
def test_a_decoder_reads_the_preview_and_then_each_continuation(folders, make, prompt):
    model = load(folders(make), prompt=prompt, trees=False)
    shown = model.preview(CLOZE)
    read = rows_read(model, CLOZE)
    wanted = {shown.ids + each.ids[:-1] for each in shown.scored}
    assert wanted <= set(read)
    assert [each.choice for each in shown.scored] == ["larger", "smaller"]
    assert all(each.tokens for each in shown.scored)
    assert shown.tokens == len(shown.ids)
    assert shown.text.endswith("the ant is")
    check_retold(model, CLOZE)


def test_special_tokens_of_a_decoder_are_written_out(folders, tokenizers):
    from gnomon.models.prompts.library import load_prompt
    from gnomon.models.transformers.causal import Causal

    weights = load(folders("gpt2")).model
    model = Causal(
        "hf:x", weights, tokenizers("bpe without words"), load_prompt("plain"), trees=False
    )
    shown = model.preview(CLOZE)
    assert shown.special == ("<s>",)
    assert shown.text == "<s>the ant is"
    check_retold(model, CLOZE)


@pytest.mark.parametrize("ask", ["score", "generate"])
def test_a_conversation_is_shown_as_the_template_writes_it(folders, ask):
    model = load(folders("gpt2"))
    model.tokenizer.chat_template = TEMPLATE
    from gnomon.models.prompted import Manner
    from gnomon.models.prompts.library import load_prompt
    from gnomon.models.transformers.causal import Causal

    manner = Manner(ask=ask, new_tokens=3, chat=True)
    parts = (model.model, model.tokenizer, load_prompt("chat"))
    chat = Causal("hf:x", *parts, manner, trees=False)
    model.tokenizer.chat_template = None
    shown = chat.preview(ENTAILMENT)
    assert "[user] " in shown.text
    assert shown.text.endswith("[assistant] ")
    longest = max(rows_read(chat, ENTAILMENT), key=len)
    assert longest[: len(shown.ids)] == shown.ids
    assert (shown.limits.get("new_tokens") == 3) == (ask == "generate")
    check_retold(chat, ENTAILMENT)


def test_a_question_that_a_template_may_treat_otherwise_is_not_retold(folders):
    from gnomon.models.prompts.chat import chat_template
    from gnomon.models.prompts.library import load_prompt
    from gnomon.models.prompts.preview import frames

    prompt = load_prompt("chat")
    write = chat_template(TEMPLATE, {"bos_token": "<s>", "eos_token": "</s>"})
    framed = frames(prompt, lambda _: write, answered=True)
    asking = PromptFormat(way="score", prompt=prompt, frames=framed, bare=True)
    assert asking.preview(ENTAILMENT) is not None
    odd = msgspec.structs.replace(ENTAILMENT, text="the box holds <think> the ant.")
    assert asking.preview(odd) is None


def test_a_template_that_changes_questions_is_not_retold():
    from gnomon.models.prompts.chat import chat_template
    from gnomon.models.prompts.library import load_prompt
    from gnomon.models.prompts.preview import frames

    loud = chat_template("{% for m in messages %}{{ m.content | upper }}{% endfor %}", {})
    assert frames(load_prompt("chat"), lambda _: loud, answered=False) == {}


@pytest.mark.parametrize("make", ["t5", "bart"])
@pytest.mark.parametrize("ask", ["score", "generate"])
def test_an_encoder_reads_the_preview(folders, make, ask):
    model = load(folders(make), ask=ask)
    shown = model.preview(ENTAILMENT)
    assert shown.ids in rows_read_by_encoder(model, ENTAILMENT)
    assert shown.text.endswith("</s>") == (make == "t5"), "an end token is written out"
    check_retold(model, ENTAILMENT)


def rows_read_by_encoder(model, item):
    rows = []
    encoder = model.model.get_encoder()

    def remember(_module, args, inputs):
        ids = inputs["input_ids"] if "input_ids" in inputs else args[0]
        rows.extend(tuple(row) for row in ids.tolist())

    hook = encoder.register_forward_pre_hook(remember, with_kwargs=True)
    try:
        model.answer([item])
    finally:
        hook.remove()
    return rows


@pytest.mark.parametrize("make", ["bert", "roberta", "deberta"])
def test_a_masked_model_reads_the_text_with_its_mask(folders, make):
    model = load(folders(make))
    shown = model.preview(CLOZE)
    assert shown.ids in rows_read(model, CLOZE)
    assert model.tokenizer.mask_token in shown.text
    assert model.tokenizer.mask_token in shown.special
    assert "".join(shown.scored[1].tokens).strip().lstrip("▁") == "smaller"
    check_retold(model, CLOZE)


def test_a_classifier_of_pairs_reads_premise_and_hypothesis(folders):
    model = load(folders("nli"))
    shown = model.preview(ENTAILMENT)
    assert shown.ids in rows_read(model, ENTAILMENT)
    assert shown.text == "[CLS]the ant is inside the box.[SEP]the box holds the ant.[SEP]"
    check_retold(model, ENTAILMENT)
