"""Items for each task, with what must never be seen in their ids, tags, groups and file names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.people.answering import AskedItems
from gnomon.records import Image, Item

SECRET = "zqgold"  # stands wherever a browser must not look
RELATIONS = (
    *("under", "over", "in", "on", "contains", "left of", "right of", "behind", "near", "beside"),
    *("facing", "touching", "into", "congruent"),
)
LABELS = ("entailment", "neutral", "contradiction")


def picture(file: Path, colour: str) -> Image:
    """A small picture, whose file also holds words that must not be seen."""
    from PIL import Image as Pixels
    from PIL.PngImagePlugin import PngInfo

    from gnomon.vision.images import describe

    notes = PngInfo()
    notes.add_text("scene", f"{SECRET} left of")
    Pixels.new("RGB", (64, 48), colour).save(file, pnginfo=notes)
    return describe(file)


def hidden(**tags: str) -> dict[str, str]:
    return {"relation": f"{SECRET}-relation", **tags}


def entailments(gold: int = 0, count: int = 6) -> list[Item]:
    return [
        Item(
            id=f"{SECRET}-{LABELS[(n + gold) % 3]}-{n}",
            form="entailment",
            context=f"Lamp {n} stands on the table.",
            text=f"Lamp {n} is above the floor.",
            choices=LABELS,
            gold=(LABELS[(n + gold) % 3],),
            group=f"{SECRET}-group",
            tags=hidden(),
        )
        for n in range(count)
    ]


def captions(folder: Path, gold: int = 0, count: int = 3) -> list[Item]:
    shown = picture(folder / f"{SECRET}-true.png", "teal")
    return [
        Item(
            id=f"{SECRET}-{n}",
            form="caption",
            text=f"The cat is left of box {n}." if n else "The cat is on the box.",
            choices=("false", "true"),
            gold=(("false", "true")[(n + gold) % 2],),
            group=f"{SECRET}-group",
            tags=hidden(),
            images=(shown,),
        )
        for n in range(count)
    ]


def contrasts(folder: Path, count: int = 2) -> list[Item]:
    images = (
        picture(folder / f"{SECRET}-a.png", "maroon"),
        picture(folder / f"{SECRET}-b.png", "olive"),
    )
    return [
        Item(
            id=f"{SECRET}-{n}",
            form="choice",
            text="",
            choices=RELATIONS,
            tags=hidden(subj="cat", obj="box", task="contrast"),
            images=images,
        )
        for n in range(count)
    ]


def paintings(folder: Path, gold: int = 0, count: int = 2) -> list[Item]:
    shown = picture(folder / f"{SECRET}-larger.png", "navy")
    return [
        Item(
            id=f"{SECRET}-{n}",
            form="scene",
            text=f"{SECRET} An ant and a bird.",
            choices=("larger", "smaller"),
            gold=(("larger", "smaller")[gold],),
            tags=hidden(thing_a="ant", thing_b="bird"),
            images=(shown,),
        )
        for n in range(count)
    ]


def items_of(kind: str, folder: Path, gold: int = 0) -> list[Item]:
    made: dict[str, Any] = {
        "choose": lambda: entailments(gold),
        "scale": lambda: entailments(gold),
        "validate": lambda: captions(folder, gold),
        "contrast": lambda: contrasts(folder),
        "picture": lambda: paintings(folder, gold),
    }
    return made[kind]()


@pytest.fixture
def asked_of():
    """asked_of(kind, folder, gold=0): what people are asked, for a kind of task."""

    def make(kind: str, folder: Path, gold: int = 0) -> AskedItems:
        return AskedItems(f"{kind}-set@file", {}, None, tuple(items_of(kind, folder, gold)))

    return make


@pytest.fixture
def rng():
    return np.random.default_rng(7)
