"""VSR's main finding in a minute: a model that is told where things are learns left and right.

    python scripts/leftright.py [FOLDER] [--pictures 200]

Pictures of a red and a blue box, each with a true and a false caption. A small LXMERT, which sees
the regions of the two boxes with their places, and a small VisualBERT, which sees the same regions
without places, are trained on them from new weights, and then asked about pictures that they have
never seen. FOLDER keeps what is made: items, regions, models and recipes, to be trained and asked
again by `gnomon train` and `gnomon run`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image, ImageDraw
from safetensors.numpy import save_file

from gnomon.items.itemfiles import read_items
from gnomon.items.writing import write_items
from gnomon.models.transformers.hf import hf
from gnomon.models.transformers.loading import quiet
from gnomon.records import Item
from gnomon.train.captions.corpus import trained_tokenizer
from gnomon.train.folder import carry_out
from gnomon.train.recipes import load_recipe
from gnomon.vision.images import describe

SIDE, BOX = 48, 10  # pixels
COLOURS = {"red": (220, 30, 30), "blue": (30, 60, 220)}
FEATURES = 8  # numbers of a region: its colour and noise, nothing of its place
SIZE = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}
STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
SCHEDULE = {
    "epochs": 24,
    "batch": 32,
    "learning_rate": 1.0e-3,
    "clip": 1,
    "evaluate_every": 20,
}
TESTED = 0.3  # share of the pictures that are only asked about


def make_set(folder: Path, pictures: int) -> list[Item]:
    """Pictures with regions, and two captions of each, of which one is true."""
    draw = random.Random(1)
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    (folder / "regions").mkdir(exist_ok=True)
    items = []
    for number in range(pictures):
        red_left = number % 2 == 0
        part = "train"
        if number >= (1 - TESTED) * pictures:
            part = "dev" if number % 4 < 2 else "test"
        file = folder / "pictures" / f"{number:04}.png"
        boxes = _draw(file, red_left, draw)
        _write_regions(folder / "regions" / f"{file.stem}.safetensors", boxes, draw)
        for relation, true in (("left of", red_left), ("right of", not red_left)):
            items.append(_caption(file, relation, true, part))
    write_items(folder / "items.jsonl", items)
    return items


def _draw(file: Path, red_left: bool, draw: random.Random) -> dict[str, tuple[int, int, int, int]]:
    """A picture with a box in each half; where the boxes are, by colour."""
    picture = Image.new("RGB", (SIDE, SIDE), (235, 235, 230))
    pen = ImageDraw.Draw(picture)
    places = {}
    for colour, is_left in (("red", red_left), ("blue", not red_left)):
        left = draw.randrange(0, SIDE // 2 - BOX) + (0 if is_left else SIDE // 2)
        top = draw.randrange(0, SIDE - BOX)
        places[colour] = (left, top, left + BOX, top + BOX)
        pen.rectangle(places[colour], fill=COLOURS[colour])
    picture.save(file)
    return places


def _write_regions(file: Path, boxes: dict[str, Any], draw: random.Random) -> None:
    """What a detector would find: a row for each box, in an order that tells nothing."""
    order = list(boxes)
    draw.shuffle(order)
    features = []
    for colour in order:
        noise = [draw.gauss(0, 0.1) for _ in range(FEATURES - 3)]
        features.append([value / 100 for value in COLOURS[colour]] + noise)
    places = np.array([boxes[colour] for colour in order], dtype=np.float32) / SIDE
    save_file({"features": np.array(features, dtype=np.float32), "boxes": places}, file)


def _caption(file: Path, relation: str, true: bool, part: str) -> Item:
    text = f"The red box is {relation} the blue box."
    return Item(
        id=f"{file.stem}/{relation}",
        form="caption",
        text=text,
        choices=("false", "true"),
        gold=("true" if true else "false",),
        group=file.stem,
        images=(describe(file),),
        tags={"relation": relation, "split": part},
    )


def make_models(folder: Path, items: list[Item]) -> None:
    """LXMERT and VisualBERT of one size, with new weights."""
    tokenizer = trained_tokenizer([item.text for item in items], 200, 32)
    words = {"vocab_size": len(tokenizer), **SIZE}
    layers = {"l_layers": 1, "r_layers": 1, "x_layers": 1}
    labels = {"num_qa_labels": 2, "num_object_labels": 2, "num_attr_labels": 2}
    lxmert = transformers.LxmertConfig(**words, **layers, **labels, visual_feat_dim=FEATURES)
    bert = transformers.VisualBertConfig(
        **words, num_hidden_layers=2, visual_embedding_dim=FEATURES
    )
    torch.manual_seed(1)
    made = {
        "lxmert": transformers.LxmertForPreTraining(lxmert),
        "visualbert": transformers.VisualBertForPreTraining(bert),
    }
    with quiet():
        for name, model in made.items():
            for weights in model.parameters():
                if weights.dim() > 1:
                    torch.nn.init.normal_(weights, std=0.15)  # wide, so that it learns fast
            model.save_pretrained(folder / name)
            tokenizer.save_pretrained(folder / name)


def recipe_for(folder: Path, name: str) -> Path:
    """A recipe that trains one of the models, written into the folder."""
    file = str(folder / "items.jsonl")
    held = {}
    for part in ("dev", "test"):
        held[part] = {"file": file, "where": {"split": part}, "may_share": ["*"]}
    recipe = {
        "kind": "look",
        "model": str(folder / name),
        "data": {"train": {"file": file, "where": {"split": "train"}}, "parts": held},
        "look": {"regions": str(folder / "regions"), "length": 16, "config": STILL},
        "schedule": SCHEDULE,
    }
    written = folder / f"{name}.yaml"
    written.write_text(json.dumps(recipe, indent=1))
    return written


def learnt(folder: Path, name: str) -> float:
    """The share of captions of unseen pictures that a model gets right once it is trained."""
    trained = folder / f"{name}-trained"
    carry_out(load_recipe(str(recipe_for(folder, name))), trained)
    items = [item for item in read_items(folder / "items.jsonl") if item.tags["split"] == "test"]
    answers = hf(str(trained), regions=str(folder / "regions")).answer(items)
    right = [answer.choice == item.gold[0] for item, answer in zip(items, answers, strict=True)]
    return sum(right) / len(right)


def main(words: list[str] | None = None) -> int:
    """Make the set, train both models, and print what they get right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--pictures", type=int, default=200)
    args = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as lent:
        folder = args.folder or Path(lent)
        make_models(folder, make_set(folder, args.pictures))
        for name in ("lxmert", "visualbert"):
            print(f"{name:12} {100 * learnt(folder, name):5.1f} % of unseen pictures' captions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
