"""Recipes of kind look: captions with a picture each, and a model that says true or false."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from gnomon.errors import DataError, UsageError
from gnomon.models.comparison import TRUTHS
from gnomon.records import Item
from gnomon.train.items import ItemData, Items, read_material
from gnomon.train.recipes import Material, Recipe, TrainingKind

if TYPE_CHECKING:
    from gnomon.train.visuallearner import LookLearner


class LookSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section `look`."""

    regions: str = ""  # LXMERT, VisualBERT: what a detector found (a folder, or a table of VinVL)
    length: Annotated[int, Meta(ge=4)] = 32  # tokens of a caption; what is beyond is cut off
    config: dict[str, Any] = {}  # fields of the model's config to change, such as dropout
    # As the authors' code, with its faults: dropout stays off from the first evaluation to the end
    # of the epoch; ViLT sees padding, and pictures with red and blue exchanged.
    like_paper: bool = False
    allow_pickle: bool = False  # load pickled weights, which can run any code
    device: str = ""


# Recipes of kind look: captions with a picture each, and a model that says true or false.


def read(recipe: Recipe) -> Material:
    """The items, each a caption with one picture; and which region files there are."""
    material = read_material(recipe.data, recipe.seeds.data)
    items: Items = material.content
    for part, members in items.every().items():
        for item in members:
            _check(item, part)
    if not recipe.settings.regions:
        return material

    from gnomon.vision.regions import open_regions

    regions = open_regions(recipe.settings.regions)
    found: dict[str, Any] = {"kind": regions.kind, "sha256": regions.fingerprint()}
    return Material(items, {**material.digests, "regions": found})


def open_learner(recipe: Recipe, material: Material) -> LookLearner:
    """Load the model with a head that says true or false."""
    from gnomon.train.visuallearner import LookLearner, load_looker

    looker = load_looker(recipe.model, recipe.settings, recipe.seeds.weights)
    return LookLearner(
        looker, material.content, recipe.settings, recipe.schedule, recipe.seeds.order
    )


def _check(item: Item, part: str) -> None:
    """Refuse an item that has no picture, or that is neither true nor false."""
    if item.form != "caption" or frozenset(item.choices) not in TRUTHS:
        raise UsageError(
            f"A model that looks learns from captions that are true or false, but '{item.id}' of "
            f"{part} is a {item.form} with the choices {', '.join(item.choices)[:60]}.",
            "Choose a benchmark or a file of captions.",
        )
    if len(item.images) != 1:
        raise DataError(
            f"the item '{item.id}' of {part} has {len(item.images)} pictures, where one is shown.",
            "Leave it out, or give its picture.",
        )


KIND = TrainingKind(
    summary="a model that looks, finetuned to say whether captions are true",
    data=ItemData,
    settings=LookSettings,
    read=read,
    open_learner=open_learner,
    shorthand={"regions": "look.regions"},
    measures=("accuracy", "loss"),
)
