"""Back-translation with translation models made on disk: Marian's and T5's classes, very small."""

from __future__ import annotations

import itertools

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from gnomon.errors import UsageError
from gnomon.models.prompts.candidates import CandidateList, kinds_of, sift
from gnomon.models.transformers.loading import quiet
from gnomon.records import Item
from gnomon.train.backtranslation import back_translated
from gnomon.train.translation import Translating, translators
from tests.models.conftest import save

NOUNS = {"horse": "pferd", "house": "haus", "snail": "schnecke", "mouse": "maus"}
PAIRS = list(itertools.product(["horse", "house"], ["snail", "mouse"]))
THERE = {"larger": "groesser", "smaller": "kleiner"}
# coming back, each word has two translations
BACK = {"groesser": ("larger", "bigger"), "kleiner": ("smaller", "tinier")}
ITEMS = [
    Item(
        id=f"{a}/{b}",
        form="cloze",
        text=f"A {a} is [MASK] than a {b}.",
        choices=("larger", "smaller"),
        gold=("larger",),
        tags={"obj_a": a, "obj_b": b},
    )
    for a, b in PAIRS
]
SEEDS = CandidateList(templates=("{tag:obj_a} is {answer} than {tag:obj_b}.",))


def sentences():
    """The two directions, as pairs of sentences."""
    there, back = [], []
    for (a, b), (word, foreign) in itertools.product(PAIRS, THERE.items()):
        abroad = f"ein {NOUNS[a]} ist {foreign} als ein {NOUNS[b]} ."
        there.append((f"a {a} is {word} than a {b} .", abroad))
        back += [(abroad, f"a {a} is {said} than a {b} .") for said in BACK[foreign]]
    return there, back


def word_tokenizer(pairs):
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordLevel

    words = sorted({word for pair in pairs for text in pair for word in text.split()})
    known = {word: number for number, word in enumerate(["<pad>", "</s>", "<unk>", *words])}
    tokenizer = Tokenizer(WordLevel(known, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    special = {"eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def marian(pairs, folder, steps):
    """A Marian model of one layer that has learned the pairs."""
    torch.manual_seed(0)
    tokenizer = word_tokenizer(pairs)
    config = transformers.MarianConfig(
        vocab_size=len(tokenizer),
        d_model=48,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=32,
        dropout=0.0,
        init_std=0.1,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=0,
        decoder_start_token_id=0,
        forced_eos_token_id=None,
    )
    with quiet():
        model = transformers.MarianMTModel(config)
    source = tokenizer([one for one, _ in pairs], return_tensors="pt", padding=True)
    target = tokenizer([two for _, two in pairs], return_tensors="pt", padding=True)
    inputs = {"input_ids": source["input_ids"], "attention_mask": source["attention_mask"]}
    labels = target["input_ids"].masked_fill(target["input_ids"] == 0, -100)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        model(**inputs, labels=labels).loss.backward()
        optimizer.step()
    return save(model.eval(), tokenizer, folder)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    there, back = sentences()
    folder = tmp_path_factory.mktemp("translation")
    return f"{marian(there, folder / 'there', 60)},{marian(back, folder / 'back', 60)}"


def test_a_round_trip_finds_other_answer_words(pair):
    there, back = translators(pair, sample=False, seed=0)
    found = back_translated(SEEDS, ITEMS, there, back, 4)
    kept = sift(found.candidates, kinds_of(ITEMS)).candidates
    assert {"larger": "bigger", "smaller": "tinier"} in [each.answers for each in kept]
    assert {each.template for each in kept} == {SEEDS.templates[0]}, "the sentence is the same"


def test_beams_come_likeliest_first_and_without_repetitions(pair):
    there, _ = translators(pair, sample=False, seed=0)
    (renderings,) = there(["A horse is larger than a snail."], 4)
    assert renderings[0].text == "ein pferd ist groesser als ein schnecke ."
    scores = [each.score for each in renderings]
    assert scores == sorted(scores, reverse=True)
    assert len({each.text for each in renderings}) == len(renderings) > 1


def test_drawn_translations_are_the_same_for_the_same_seed(pair):
    _, back = pair.split(",")
    texts = ["ein pferd ist groesser als ein maus .", "ein haus ist kleiner als ein maus ."]
    drawn = [Translating(back, sample=True, seed=seed)(texts, 3) for seed in (1, 1, 2, 3, 4)]
    assert drawn[0] == drawn[1]
    assert any(each != drawn[0] for each in drawn[2:])


def test_translations_of_random_weights_are_dropped_and_counted(folders):
    name = f"{folders('t5')}=translate English to German: "
    there, back = Translating(name), Translating(name)
    found = back_translated(SEEDS, ITEMS[:1], there, back, 2)
    assert found.candidates.templates == SEEDS.templates
    assert found.dropped["lost an object"] > 0


def test_one_name_is_no_pair_of_translation_models():
    with pytest.raises(UsageError, match="does not name two"):
        translators("opus-mt-en-de", sample=False, seed=0)
