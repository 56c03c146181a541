"""What a probe costs beside the pass over the frozen model, and whether scikit-learn agrees.

    python bench/probing.py [--json] [--items 10000] [--rounds 3]
    python bench/probing.py --beside DIR [--beside DIR ...]

The first measures CPU seconds on one thread, by turns: one pass of an encoder of MiniLM's shape
over the items, and the whole of `gnomon train probe` on the same items (the same pass, 50 epochs of
probe and control in batches of 8, their scores with intervals, the folder). probe_ratio is the
second divided by the first, the median over rounds; the aim is 1.3.

The second takes folders of trained probes, fits a logistic regression of scikit-learn without
penalty on the same vectors, and prints what both get right.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from gnomon.items.source import load
from gnomon.items.writing import write_items
from gnomon.models.transformers.backbone import open_backbone
from gnomon.models.transformers.loading import quiet
from gnomon.records import Item
from gnomon.train.features import FeatureStore, text_of
from gnomon.train.folder import carry_out
from gnomon.train.probe import read_probe_items
from gnomon.train.probemodel import read_probe
from gnomon.train.probes import label_probabilities
from gnomon.train.probetraining import gold_of
from gnomon.train.recipes import Recipe, load_recipe, recipe_of

AIM = 1.3
SOURCE = "viphy-size@fresh"
DEV_SHARE = 0.1
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_encoder(folder: Path, items: list[Item]) -> None:
    """An encoder of MiniLM's shape with random weights, and a vocabulary of the items' words."""
    splitter = pre_tokenizers.BertPreTokenizer()
    words: dict[str, int] = {word: place for place, word in enumerate(SPECIALS)}
    for item in items:
        for word, _ in splitter.pre_tokenize_str(item.text):
            words.setdefault(word, len(words))
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = splitter
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=384,
        intermediate_size=1536,
        num_hidden_layers=6,
        num_attention_heads=12,
    )
    torch.manual_seed(0)
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    with quiet():
        transformers.BertModel(config).save_pretrained(folder)
        wrapped.save_pretrained(folder)


def draw_items(count: int) -> list[Item]:
    """So many different items to train on, and a tenth as many for development.

    They are about pairs of things of a benchmark, more than it asks of; what is right is no matter.
    """
    names = sorted({item.tags["obj_a"] for item in load(SOURCE, pairs=-1).items()})
    pairs = list(permutations(names, 2))
    wanted = round(count * (1 + DEV_SHARE))
    found = []
    for first, second in Random(0).sample(pairs, wanted):
        found.append(
            Item(
                id=f"{first}/{second}",
                form="choice",
                text=f"size of {first} in comparison to {second}",
                choices=("larger", "smaller"),
                gold=("larger" if len(first) > len(second) else "smaller",),
                group=f"{first}/{second}",
            )
        )
    return found


def recipe_for(folder: Path, items: list[Item], count: int) -> Recipe:
    """Training on the first items, development on the rest; the model is in the same folder."""
    write_items(folder / "train.jsonl", items[:count])
    write_items(folder / "dev.jsonl", items[count:])
    allowed = ["group", "*"]
    return load_recipe(
        "probe",
        [
            f"model=hf:{folder / 'model'}",
            f"data.train.file={folder / 'train.jsonl'}",
            f"data.parts.dev.file={folder / 'dev.jsonl'}",
            f"data.parts.dev.may_share={json.dumps(allowed)}",
            "probe.device=cpu",
        ],
    )


def cpu_seconds(work: Callable[[], Any]) -> float:
    """CPU seconds that some work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(count: int, rounds: int) -> dict[str, float]:
    """The pass and the whole, by turns."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["GNOMON_CACHE"] = str(folder / "cache")
        items = draw_items(count)
        write_encoder(folder / "model", items)
        recipe = recipe_for(folder, items, count)
        backbone = open_backbone(f"hf:{folder / 'model'}", device="cpu")
        texts = [text_of(item, backbone.mask) for item in items]
        backbone.vectors(texts[:256])  # what is loaded once is loaded
        passes, wholes = [], []
        for number in range(rounds):
            passes.append(cpu_seconds(lambda: backbone.vectors(texts)))
            os.environ["GNOMON_CACHE"] = str(folder / f"cache-{number}")
            out = folder / f"probe-{number}"
            wholes.append(cpu_seconds(lambda to=out: carry_out(recipe, to)))
    return {
        "probe_ratio": statistics.median(wholes) / statistics.median(passes),
        "pass_seconds": statistics.median(passes),
        "whole_seconds": statistics.median(wholes),
        "items": len(items),
    }


def beside_sklearn(folder: Path) -> dict[str, Any]:
    """What a trained probe and a logistic regression on the same vectors get right."""
    from sklearn.linear_model import LogisticRegression

    saved = read_probe(folder)
    recipe = _kept_recipe(folder)
    items = read_probe_items(recipe.data, recipe.seeds.data).content.items
    backbone = open_backbone(saved.about.backbone, reading=saved.about.reading)
    store = FeatureStore(backbone)

    def vectors_of(members: list[Item]) -> Any:
        return store.vectors([text_of(i, backbone.mask, saved.about.wording) for i in members])

    gold = gold_of(items.train, saved.about.labels)
    rows, targets = np.nonzero(gold)
    votes = 1 / gold.sum(axis=1)[rows]  # several right labels share one vote
    learner = LogisticRegression(C=np.inf, max_iter=20_000, tol=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(vectors_of(items.train)[rows], targets, sample_weight=votes)
    found: dict[str, Any] = {"folder": str(folder)}
    for part, members in items.parts.items():
        vectors, right = vectors_of(members), gold_of(members, saved.about.labels)
        ours = label_probabilities(vectors, saved.heads["probe"]).argmax(axis=1)
        theirs = learner.predict(vectors)
        every = np.arange(len(right))
        found[part] = {
            "items": len(members),
            "probe": float(right[every, ours].mean()),
            "scikit-learn": float(right[every, theirs].mean()),
        }
    return found


def _kept_recipe(folder: Path) -> Recipe:
    from gnomon.files import read_yaml

    return recipe_of(read_yaml(folder / "recipe.yaml"), name="probe")


def main() -> int:
    """Measure, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", action="append", default=[], metavar="DIR", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.beside:
        for folder in args.beside:
            print(json.dumps(beside_sklearn(folder), indent=2))
        return 0
    found = measure(args.items, args.rounds)
    if args.json:
        print(json.dumps(found))
        return 0
    print(f"{found['items']:,.0f} items")
    print(f"  one pass of the frozen model   {found['pass_seconds']:8.1f} CPU seconds")
    print(f"  the whole of training a probe  {found['whole_seconds']:8.1f} CPU seconds")
    print(f"  ratio {found['probe_ratio']:.3f} (aim: at most {AIM})")
    return 0 if found["probe_ratio"] <= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
