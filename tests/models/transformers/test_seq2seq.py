"""Encoder-decoder models against a full pass for each choice."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.errors import UsageError
from gnomon.models.choices import Query
from gnomon.models.transformers import seq2seq
from gnomon.models.transformers.hf import hf
from gnomon.models.transformers.seq2seq import Seq2seq, score
from gnomon.records import Item

PAIRS = [
    Item(
        id=f"e{i}",
        form="entailment",
        context=f"the {a} is in the box." * (1 + i),
        text=f"the box holds {a}.",
        choices=("entailment", "contradiction", "neutral"),
        gold=("entailment",),
    )
    for i, a in enumerate(["ant", "bird", "lamp", "book", "old man"])
]
CLOZE = Item(
    id="z",
    form="cloze",
    text="the ant is [MASK] than the house.",
    choices=("larger", "smaller"),
    gold=("smaller",),
)


def reference(model, source, target):
    """One full pass: encoder, decoder, all logits; the end token belongs to the target."""
    tokenizer = model.tokenizer
    ids = tokenizer(target, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    start = model.model.config.decoder_start_token_id
    with torch.inference_mode():
        logits = (
            model.model(
                input_ids=torch.tensor([tokenizer(source)["input_ids"]]),
                decoder_input_ids=torch.tensor([[start, *ids[:-1]]]),
            )
            .logits[0]
            .log_softmax(-1)
        )
    return [logits[i, token].item() for i, token in enumerate(ids)]


@pytest.mark.parametrize(
    ("make", "prompt"),  # the worked examples are longer than the small BART reads
    [
        ("t5", "t5"),
        ("t5", "unifiedqa"),
        ("t5", "unifiedqa-fewshot"),
        ("bart", "t5"),
        ("bart", "unifiedqa"),
    ],
)
def test_scores_equal_a_full_pass_for_each_choice(folders, make, prompt):
    model = hf(str(folders(make)), prompt=prompt)
    items = [*PAIRS[:3], CLOZE] if "fewshot" not in prompt else PAIRS[:1]
    model.likelihoods.longest = 0
    for item, answer in zip(items, model.answer(items), strict=True):
        wanted = [
            sum(reference(model, model.prompt.context(item), word))
            for (word,) in model.prompt.words(item)
        ]
        assert answer.scores == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("make", ["t5", "bart"])
def test_scores_do_not_depend_on_what_else_is_in_the_batch(folders, make):
    model = hf(str(folders(make)))
    together = model.answer([*PAIRS, CLOZE])
    for item, answer in zip([*PAIRS, CLOZE], together, strict=True):
        assert model.answer([item])[0].scores == pytest.approx(answer.scores, abs=1e-5)


@pytest.mark.parametrize("normalise", ["mean", "byte", "pmi"])
def test_normalisations(folders, normalise):
    model = hf(str(folders("t5")), normalise=normalise)
    (answer,) = model.answer(PAIRS[:1])
    for label, found in zip(PAIRS[0].choices, answer.scores, strict=True):
        tokens = reference(model, model.prompt.context(PAIRS[0]), label)
        wanted = {
            "mean": sum(tokens) / len(tokens),
            "byte": sum(tokens) / len(label),
            "pmi": sum(tokens) - sum(reference(model, "", label)),
        }[normalise]
        assert found == pytest.approx(wanted, abs=1e-4)


def test_the_encoder_reads_each_item_once(folders):
    model = hf(str(folders("t5")))
    seen = []
    hook = model.model.get_encoder().register_forward_hook(
        lambda _, args, kwargs, __: seen.append(kwargs["input_ids"].shape[0]), with_kwargs=True
    )
    try:
        model.answer(PAIRS)
    finally:
        hook.remove()
    assert sum(seen) == len(PAIRS)


def test_replies_do_not_depend_on_padding(folders):
    model = hf(str(folders("t5")), ask="generate", new_tokens=3)
    assert model.answer(PAIRS) == [model.answer([item])[0] for item in PAIRS]
    assert model.scale == "none"


def test_an_unknown_normalisation_is_named(folders):
    with pytest.raises(UsageError, match="median"):
        hf(str(folders("t5")), normalise="median")


def test_a_target_begins_as_the_tokenizer_begins_it(folders):
    """BART's decoder was trained on <s> before every text; it is read, and not scored."""
    from tokenizers import processors

    model = hf(str(folders("bart")))
    tokenizer = model.tokenizer
    tokenizer._tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    opened = Seq2seq("hf:bart", model.model, tokenizer, model.prompt)
    assert opened.opening == [0]
    (answer,) = opened.answer(PAIRS[:1])
    source = torch.tensor([tokenizer(opened.prompt.context(PAIRS[0]))["input_ids"]])
    for label, found in zip(PAIRS[0].choices, answer.scores, strict=True):
        ids = tokenizer(label)["input_ids"]
        with torch.inference_mode():
            logits = opened.model(
                input_ids=source, decoder_input_ids=torch.tensor([[1, *ids[:-1]]])
            ).logits[0]
        wanted = sum(logits.log_softmax(-1)[i, token].item() for i, token in enumerate(ids) if i)
        assert found == pytest.approx(wanted, abs=1e-4)


def test_many_choices_are_scored_in_portions(folders, monkeypatch):
    model = hf(str(folders("t5")))
    room = 4 * model.model.config.vocab_size * 4 * 64  # 64 targets of 4 tokens
    monkeypatch.setattr(seq2seq, "LOGITS", room)
    rng = random.Random(1)
    targets = [[rng.randrange(5, 100) for _ in range(rng.randint(1, 4))] for _ in range(150)]
    sources = [Query([5, 6, 7, 1], targets), Query([8, 9, 1], targets[:2])]
    sizes = []
    hook = model.model.get_output_embeddings().register_forward_hook(
        lambda _, args, __: sizes.append(len(args[0]))
    )
    try:
        together, few = score(model.model, sources)
    finally:
        hook.remove()
    assert max(sizes) <= 64
    assert few == pytest.approx(score(model.model, sources[1:])[0], abs=1e-5)
    assert together == pytest.approx(
        [score(model.model, [Query([5, 6, 7, 1], [target])])[0][0] for target in targets], abs=1e-5
    )


def test_a_text_that_is_too_long_to_reply_to_is_that_items_failure(folders):
    long = Item(
        id="long",
        form="choice",
        text="the ant is in the box. " * 100,
        choices=("yes", "no"),
        gold=("no",),
    )
    first, second = hf(str(folders("bart")), ask="generate", new_tokens=2).answer([long, CLOZE])
    assert "the model takes 128" in first.error
    assert second.reply is not None
