"""Masked language models: choices in their sentence, whole vocabulary, spaces and capitals of every
tokenizer."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.errors import ModelError, UsageError
from gnomon.models.prompts.library import load_prompt
from gnomon.models.transformers.hf import hf
from gnomon.models.transformers.masked import Masked, fill
from gnomon.records import Item

MAKES = ["bert", "bert, cased", "roberta", "albert", "electra", "deberta"]


def cloze(text="the ant is [MASK] than the house.", choices=("larger", "smaller"), **fields):
    return Item(id=text, form="cloze", text=text, choices=choices, gold=choices[:1], **fields)


def one_mask(model, text):
    """Log-probabilities over the vocabulary at the one mask of a text, as the tokenizer itself
    writes masks."""
    inputs = model.tokenizer(
        text.replace("[MASK]", model.tokenizer.mask_token), return_tensors="pt"
    )
    place = inputs["input_ids"][0].tolist().index(model.tokenizer.mask_token_id)
    with torch.inference_mode():
        return model.model(**inputs).logits[0, place].log_softmax(-1)


@pytest.mark.parametrize("make", ["bert", "bert, cased", "electra"])
def test_choices_of_one_token_share_the_probability_at_the_mask(folders, make):
    model = hf(str(folders(make)))
    item = cloze()
    (answer,) = model.answer([item])
    ids = [model.tokenizer(word, add_special_tokens=False)["input_ids"] for word in item.choices]
    assert all(len(one) == 1 for one in ids)
    wanted = torch.tensor([one_mask(model, item.text)[one[0]] for one in ids]).softmax(-1).tolist()
    assert answer.scores == pytest.approx(wanted, abs=1e-5)
    assert model.scale == "probability"


def test_visualbert_fills_a_blank_without_a_picture(folders):
    """Table 3 of ViPhy asks it so; its head for words is one of several."""
    model = hf(str(folders("visualbert")))
    item = cloze()
    (answer,) = model.answer([item])
    inputs = model.tokenizer(item.text, return_tensors="pt")
    place = inputs["input_ids"][0].tolist().index(model.tokenizer.mask_token_id)
    with torch.inference_mode():
        logits = model.model(**inputs).prediction_logits[0, place]
    ids = model.tokenizer.convert_tokens_to_ids(list(item.choices))
    assert answer.scores == pytest.approx(logits[ids].softmax(-1).tolist(), abs=1e-5)


def test_a_byte_level_tokenizer_is_asked_for_the_word_with_its_space(folders):
    model = hf(str(folders("roberta")))
    item = cloze()
    spaced = [
        model.tokenizer(" " + word, add_special_tokens=False)["input_ids"] for word in item.choices
    ]
    bare = [model.tokenizer(word, add_special_tokens=False)["input_ids"] for word in item.choices]
    assert all(len(one) == 1 for one in spaced)
    assert spaced != bare
    tokens = model.tokenizer("the ant is", add_special_tokens=False)["input_ids"]
    rest = model.tokenizer(" than the house.", add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        ids = torch.tensor([[*tokens, model.tokenizer.mask_token_id, *rest]])
        logits = model.model(ids).logits[0, len(tokens)]
    wanted = logits[[one[0] for one in spaced]].softmax(-1).tolist()
    assert model.answer([item])[0].scores == pytest.approx(wanted, abs=1e-5)


def by_hand(model, before, word, after, way):
    """Score a word of several tokens by explicit masking, one pass for each of its tokens."""
    encoded = model.tokenizer(before + word + after, return_offsets_mapping=True)
    ids = encoded["input_ids"]
    span = [
        i
        for i, (a, b) in enumerate(encoded["offset_mapping"])
        if a < len(before + word) and b > len(before)
    ]
    total = 0.0
    for place in span:
        hidden = [p for p in span if p >= place] if way == "l2r" else [place]
        masked = [
            model.tokenizer.mask_token_id if i in hidden else token for i, token in enumerate(ids)
        ]
        with torch.inference_mode():
            total += (
                model.model(torch.tensor([masked]))
                .logits[0, place]
                .log_softmax(-1)[ids[place]]
                .item()
            )
    return total, len(span)


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("way", ["l2r", "pll"])
def test_choices_of_several_tokens_are_filled_over_their_span(folders, make, way):
    model = hf(str(folders(make)), span=way)
    item = cloze("the ant is [MASK] the box.", ("inside", "outsider than", "zanily beyond"))
    (answer,) = model.answer([item])
    found = [by_hand(model, "the ant is ", word, " the box.", way) for word in item.choices]
    assert max(size for _, size in found) > 2
    wanted = torch.tensor([score for score, _ in found], dtype=torch.float64).softmax(-1).tolist()
    assert answer.scores == pytest.approx(wanted, abs=1e-5)
    mean = hf(str(folders(make)), span=way, normalise="mean").answer([item])[0]
    wanted = (
        torch.tensor([score / size for score, size in found], dtype=torch.float64)
        .softmax(-1)
        .tolist()
    )
    assert mean.scores == pytest.approx(wanted, abs=1e-5)


def test_choices_are_scored_over_the_same_stretch_of_text(folders):
    """Where a tokenizer joins one choice with what is written next to it, the other choices take
    that along."""
    model = hf(str(folders("roberta")))
    item = cloze("the ant is [MASK]er than the house.", ("small", "zan"))
    whole, pieces = fill(model.tokenizer, model.prompt, [item])[0]
    assert [len(whole.span), len(pieces.span) > 1] == [1, True]
    said = [
        model.tokenizer.decode([one.tokens[place] for place in one.span]) for one in (whole, pieces)
    ]
    assert [text.strip() for text in said] == ["smaller", "zaner"]
    found = [
        by_hand(model, "the ant is ", word, " than the house.", "l2r")
        for word in ("smaller", "zaner")
    ]
    wanted = torch.tensor([score for score, _ in found], dtype=torch.float64).softmax(-1).tolist()
    assert model.answer([item])[0].scores == pytest.approx(wanted, abs=1e-5)
    top = hf(str(folders("roberta")), top_k=model.tokenizer.vocab_size).answer([item])[0]
    assert top.choice == "small", "the joined token is the choice's own"


def test_choices_that_the_tokenizer_cannot_tell_apart_are_that_items_failure(folders):
    model = hf(str(folders("bert")))
    answers = model.answer([cloze(choices=("Ω", "☃")), cloze(), cloze(choices=("larger", "Ω"))])
    assert "both unknown" in answers[0].error
    assert answers[1].choice in ("larger", "smaller")
    assert answers[2].scores is not None


@pytest.mark.parametrize("make", MAKES)
def test_scores_do_not_depend_on_what_else_is_in_the_batch(folders, make):
    model = hf(str(folders(make)))
    items = [
        cloze(),
        cloze("the red car stands [MASK] the old house.", ("above", "below")),
        cloze("[MASK] is inside.", ("Mary", "John")),
        cloze(context="the ant is in the box. the box is large."),
    ]
    for item, answer in zip(items, model.answer(items), strict=True):
        assert model.answer([item])[0].scores == pytest.approx(answer.scores, abs=1e-5)


def test_words_that_mean_the_same_add_up(folders):
    model = hf(str(folders("bert")), prompt="viphy")
    (answer,) = model.answer([cloze()])
    row = one_mask(model, "the ant is [MASK] than the house.").exp()
    larger, bigger, smaller = (
        row[model.tokenizer.convert_tokens_to_ids(word)].item()
        for word in ("larger", "bigger", "smaller")
    )
    total = larger + bigger + smaller
    assert answer.scores == pytest.approx(((larger + bigger) / total, smaller / total), abs=1e-5)


def test_the_likeliest_words_of_the_whole_vocabulary_must_hold_the_answer(folders):
    item = cloze()
    model = hf(str(folders("bert")), top_k=3)
    row = one_mask(model, item.text)
    best = [model.tokenizer.decode([token]).strip() for token in row.topk(3).indices.tolist()]
    words = [word for word in best if word.isalpha()]
    (nothing,) = model.answer([item])
    assert nothing.reply == ", ".join(best)
    assert nothing.choice == next((word for word in best if word in item.choices), None)
    found = cloze(choices=("zebra", words[0]))
    (answer,) = model.answer([found])
    assert answer.choice == words[0]
    wanted = row.exp()[model.tokenizer.convert_tokens_to_ids(words[0])].item()
    assert answer.scores[1] == pytest.approx(wanted, abs=1e-6)
    all_of_it = hf(str(folders("bert")), top_k=model.tokenizer.vocab_size)
    scores = hf(str(folders("bert"))).answer([item])[0]
    assert all_of_it.answer([item])[0].choice == scores.choice


def test_other_forms_become_a_blank_by_the_prompt(folders):
    model = hf(str(folders("bert")))
    pair = Item(
        id="e",
        form="entailment",
        context="the ant is inside the box.",
        text="the box holds the ant.",
        choices=("entailment", "neutral", "contradiction"),
        gold=("entailment",),
    )
    scores = model.answer([pair])[0].scores
    assert sum(scores) == pytest.approx(1)
    with pytest.raises(UsageError, match="scene"):
        model.answer([Item(id="s", form="scene", text="a box", choices=("a", "b"), gold=("a",))])
    with pytest.raises(UsageError, match="no blank"):
        hf(str(folders("bert")), prompt="t5").answer([pair])


def test_a_text_that_cannot_be_asked_is_that_items_failure(folders):
    model = hf(str(folders("bert")))
    items = [
        cloze(context="the ant is inside. " * 100),
        cloze(choices=("larger", "\u200b")),
        cloze(),
    ]
    long, empty, good = model.answer(items)
    assert "the model takes 128" in long.error
    assert "no token" in empty.error
    assert good.choice in ("larger", "smaller")


def test_a_model_without_a_mask_is_refused(tokenizers):
    with pytest.raises(ModelError, match="mask token"):
        Masked("hf:t5", None, tokenizers("unigram"), load_prompt("masked"))


@pytest.mark.parametrize("options", [{"normalise": "pmi"}, {"span": "r2l"}, {"top_k": -1}])
def test_options_that_do_not_exist_are_named(folders, options):
    with pytest.raises(UsageError, match=str(next(iter(options.values())))):
        hf(str(folders("bert")), **options)
