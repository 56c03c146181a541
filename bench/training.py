"""What the loop costs: CPU seconds of a finetuning epoch against a bare loop of torch.

    python bench/training.py [--json]

The same small encoder, the same items in the same batches, on one thread, by turns; the bare loop
has nothing but forward, backward, clipping and step. loop_ratio is ours divided by the bare loop's,
the median over rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from gnomon.items.source import load
from gnomon.train.classify import ClassifyLearner
from gnomon.train.loop import train
from gnomon.train.recipes import Recipe, kind, recipe_of

AIM = 1.05
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def small_encoder(folder: Path) -> None:
    """Four layers of BERT with random weights, and a vocabulary of the benchmark's words."""
    splitter = pre_tokenizers.BertPreTokenizer()
    words: dict[str, int] = {word: place for place, word in enumerate(SPECIALS)}
    for item in load("spacenli@fresh", per_group=2).items():
        for word, _ in splitter.pre_tokenize_str(f"{item.context} {item.text}"):
            words.setdefault(word, len(words))
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = splitter
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=256,
        intermediate_size=1024,
        num_hidden_layers=4,
        num_attention_heads=4,
    )
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", sep_token="[SEP]"
    ).save_pretrained(folder)


def recipe(model: Path, items: int) -> Recipe:
    """An epoch over so many items, a tenth of which are for development."""
    return recipe_of(
        {
            "kind": "classify",
            "model": str(model),
            "data": {
                "train": {"source": "spacenli@fresh", "percent": 100 * items / 1080},
                "parts": {"dev": {"by": "item", "count": 1, "limit": 16}},
            },
            "schedule": {"epochs": 1, "learning_rate": 1e-4, "warmup": 0.1},
            "classify": {"device": "cpu"},
        }
    )


def bare(learner: ClassifyLearner, wanted: Recipe) -> float:
    """CPU seconds of a loop that has nothing but what learning needs."""
    batches = [learner.inputs(batch) for batch in learner.batches(0)]
    schedule = wanted.schedule
    optimizer = torch.optim.AdamW(
        learner.module.parameters(), lr=schedule.learning_rate, fused=True
    )
    torch.manual_seed(0)
    learner.module.train()
    started = time.process_time()
    for inputs, right in batches:
        optimizer.zero_grad()
        logits = learner.module(**inputs).logits
        torch.nn.functional.cross_entropy(logits, right.int().argmax(-1)).backward()
        torch.nn.utils.clip_grad_norm_(learner.module.parameters(), schedule.clip)
        optimizer.step()
    return time.process_time() - started


def ours(learner: ClassifyLearner, wanted: Recipe) -> float:
    """CPU seconds of our loop without the evaluation, which the bare loop has not."""
    spent = 0.0
    plain = learner.score

    def timed() -> dict[str, float]:
        nonlocal spent
        started = time.process_time()
        found = plain()
        spent += time.process_time() - started
        return found

    learner.score = timed  # type: ignore[method-assign]
    learner.test = dict  # type: ignore[method-assign]
    learner.save = lambda folder: None  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        train(learner, wanted.schedule, Path(folder), seeds=wanted.seeds)
        return time.process_time() - started - spent


def measured(items: int, rounds: int) -> dict[str, Any]:
    """The ratio of each round, and their median."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        small_encoder(Path(place))
        wanted = recipe(Path(place), items)
        shape = kind("classify")
        material = shape.read(wanted)
        seconds: dict[str, list[float]] = {"bare": [], "ours": []}
        for number in range(rounds + 1):
            turns = [("bare", bare), ("ours", ours)]
            for name, loop in turns[:: 1 if number % 2 else -1]:  # whoever is second has it easier
                taken = loop(shape.open_learner(wanted, material), wanted)  # type: ignore[arg-type]
                if number:  # the first round warms up
                    seconds[name].append(taken)
    ratios = [one / two for one, two in zip(seconds["ours"], seconds["bare"], strict=True)]
    return {
        "loop_ratio": round(statistics.median(ratios), 3),
        "aim": AIM,
        "ratios": [round(ratio, 3) for ratio in ratios],
        "bare_seconds": round(statistics.median(seconds["bare"]), 2),
        "our_seconds": round(statistics.median(seconds["ours"]), 2),
        "items": items,
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--items", type=int, default=480)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    found = measured(args.items, args.rounds)
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name}: {value}")
    return 0 if found["loop_ratio"] <= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
