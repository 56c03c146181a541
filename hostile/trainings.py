"""A training that is killed, and what must hold afterwards.

A folder that says it is finished holds the model of an unbroken training; the same command always
completes it, to the same bytes in every file, and leaves no checkpoint and nothing half written.
"""

from __future__ import annotations

from pathlib import Path

from gnomon import Item
from gnomon.items.writing import write_items
from hostile.command import command
from hostile.scenarios import Scenario, in_fork, same
from hostile.tally import Tally

LABELS = ("entailment", "neutral", "contradiction")
WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "ann",
    "bob",
    "is",
    "in",
    "near",
    "not",
    "the",
    "house",
)
RECIPE = """
kind: classify
model: small
data:
  train: {file: items.jsonl}
  parts: {dev: {by: item, count: 2}, test: {by: item, count: 2}}
schedule: {epochs: 3, batch: 4, learning_rate: 0.003, save_every: 2, evaluate_every: 3}
classify: {device: cpu}
"""


def small_model() -> None:
    """A BERT of a few thousand weights, and its words."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = Tokenizer(models.WordLevel(dict(zip(WORDS, range(len(WORDS)), strict=True)), "[UNK]"))
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=32,
    )
    transformers.BertModel(config).save_pretrained("small")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]"
    )
    tokenizer.save_pretrained("small")


def items() -> list[Item]:
    """Three patterns, eight samples each."""
    made = []
    for number in range(24):
        label = LABELS[number % 3]
        word = {"entailment": "in", "neutral": "near", "contradiction": "not in"}[label]
        who = ("ann", "bob")[number // 3 % 2]
        made.append(
            Item(
                id=str(number),
                form="entailment",
                context=f"{who} is in the house {number}.",
                text=f"{who} is {word} the house.",
                choices=LABELS,
                gold=(label,),
                group=label,
            )
        )
    return made


def train() -> int:
    return command("train", "recipe.yaml", "--quiet", "-o", "trained").code


def prepare() -> None:
    """The model, the items, the recipe, and what comes of them."""
    small_model()
    write_items(Path("items.jsonl"), items())
    Path("recipe.yaml").write_text(RECIPE)
    assert train() == 0
    Path("trained").rename("reference")


def check(tally: Tally, where: str) -> None:
    """What must hold after a kill, and after the next try."""
    folder, reference = Path("trained"), Path("reference")
    model = "model.safetensors"
    if (folder / "training.json").exists() and not same(folder / model, reference / model):
        tally.fault("wrong", f"{where}: the folder says it is finished, but is not")
    if in_fork(train) != 0:
        return tally.fault("failed", f"{where}: the next try failed")
    for file in reference.iterdir():
        if not same(folder / file.name, file):
            tally.fault("wrong", f"{where}: {file.name} is wrong after the next try")
    left = sorted(
        {file.name for file in folder.iterdir()} - {file.name for file in reference.iterdir()}
    )
    if left:
        tally.fault("wrong", f"{where}: left behind: {left[:3]}")
    return None


TRAINING = Scenario("train", prepare, train, check)
