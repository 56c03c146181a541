"""Small models made on disk, and items that a small model can learn."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from gnomon.records import Item
from tests.models.conftest import folders  # noqa: F401 - small models of every make

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

LABELS = ("entailment", "neutral", "contradiction")
PEOPLE = ("ann", "bob", "cleo", "dan", "eve", "finn")
PLACES = ("garden", "house", "river", "tower")
WORDS = {"entailment": "in", "neutral": "near", "contradiction": "outside"}
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SMALL = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 64,
    "initializer_range": 0.2,
}


def pairs(each: int = 16, seed: int = 0) -> list[Item]:
    """Three patterns with samples: the word of the hypothesis gives the label away."""
    draw = Random(seed)
    every = [(who, where) for who in PEOPLE for where in PLACES]
    made = []
    for number, label in enumerate(LABELS):
        for who, where in draw.sample(every, each):
            made.append(
                Item(
                    id=f"{label}/{who}/{where}",
                    form="entailment",
                    context=f"{who} is in the {where}.",
                    text=f"{who} is {WORDS[label]} the {where}.",
                    choices=LABELS,
                    gold=(label,),
                    group=f"pattern {number}",
                    tags={"family": f"family {number // 2}", "who": who},
                )
            )
    return made


@pytest.fixture
def items_file(tmp_path: Path) -> Path:
    """The pairs in a file."""
    from gnomon.items.writing import write_items

    file = tmp_path / "items.jsonl"
    write_items(file, pairs())
    return file


def vocabulary() -> dict[str, int]:
    """Every word that the prompts and the pairs have."""
    from tokenizers.pre_tokenizers import BertPreTokenizer

    from gnomon.models.prompts.library import load_prompt

    texts = ["a", "true false neither yes no maybe entailment neutral contradiction ?"]
    for item in pairs(each=24):
        for name in ("plain", "t5", "masked"):
            prompt = load_prompt(name)
            texts.append(prompt.context(item))
            for words in prompt.words(item):
                texts += words
        texts.append(f"{item.context} {item.text}")
    found = {word: place for place, word in enumerate(SPECIALS)}
    for text in texts:
        for word, _ in BertPreTokenizer().pre_tokenize_str(text.lower()):
            found.setdefault(word, len(found))
    return found


def small_tokenizer():
    """Words, as BERT puts them."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel(vocabulary(), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = dict(zip(("pad", "unk", "cls", "sep", "mask"), SPECIALS, strict=True))
    special = {f"{name}_token": token for name, token in names.items()}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="[SEP]", **special)


MAKES = {
    "encoder": ("BertModel", "BertConfig", SMALL),
    "masked": ("BertForMaskedLM", "BertConfig", SMALL),
    "causal": (
        "GPT2LMHeadModel",
        "GPT2Config",
        {"n_embd": 32, "n_layer": 2, "n_head": 2, "initializer_range": 0.2},
    ),
    "seq2seq": (
        "T5ForConditionalGeneration",
        "T5Config",
        {
            "d_model": 32,
            "d_kv": 16,
            "d_ff": 64,
            "num_layers": 2,
            "num_heads": 2,
            "decoder_start_token_id": 0,
            "eos_token_id": 3,
        },
    ),
}


@pytest.fixture(scope="session")
def small_model(tmp_path_factory):
    """The folder of a small model with random weights, written once."""
    torch = pytest.importorskip("torch")
    import transformers

    from gnomon.models.transformers.loading import quiet

    made: dict[str, Path] = {}

    def get(make: str) -> Path:
        if make not in made:
            model, config, settings = MAKES[make]
            tokenizer = small_tokenizer()
            torch.manual_seed(1)
            folder = tmp_path_factory.mktemp(make)
            wanted = getattr(transformers, config)(
                vocab_size=len(tokenizer), pad_token_id=0, **settings
            )
            with quiet():
                getattr(transformers, model)(wanted).save_pretrained(folder)
                tokenizer.save_pretrained(folder)
            made[make] = folder
        return made[make]

    return get


@pytest.fixture
def make_pairs():
    """A maker of pairs: how many of each pattern, by which seed."""
    return pairs


@pytest.fixture
def reversed_nli(tmp_path):
    """An NLI model with an order of classes of its own, which says contradiction to all pairs."""
    torch = pytest.importorskip("torch")
    import transformers

    classes = dict(enumerate(["CONTRADICTION", "NEUTRAL", "ENTAILMENT"]))
    tokenizer = small_tokenizer()
    config = transformers.BertConfig(vocab_size=len(tokenizer), id2label=classes, **SMALL)
    model = transformers.BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.bias.copy_(torch.tensor([50.0, 0.0, 0.0]))
    model.save_pretrained(tmp_path / "nli")
    tokenizer.save_pretrained(tmp_path / "nli")
    return tmp_path / "nli"


@pytest.fixture
def make_tokenizer():
    """A maker of tokenizers that know the words of the pairs."""
    return small_tokenizer
