"""Models that see regions rather than pixels: LXMERT and VisualBERT, with features from files."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from gnomon.errors import DataError, UsageError
from gnomon.files import read_yaml
from gnomon.models.transformers.matchers import Head, Joint, JointInputs, odds_of_true
from gnomon.records import Image
from gnomon.vision.pictures import Prepared, see
from gnomon.vision.regions import RegionFiles, open_regions


def region_matcher(name: str, model: Any, tokenizer: Any, regions: str) -> Joint:
    """A model that says whether a caption is true of regions, by its class.

    A model that was trained here is shown the regions that its recipe names, if no others are.
    """
    regions = regions or _regions_of_recipe(Path(name))
    if not regions:
        raise UsageError(
            f"{name} sees regions of pictures, which a detector must have found before.",
            "Say where their features are: --set regions=PATH.",
        )
    files = open_regions(regions)
    head = HEADS[type(model).__name__]
    look = partial(_look, model, files)
    about = {"regions": files.kind, "regions_hash": files.fingerprint()}
    return Joint(model, tokenizer, head, look, about=about)


def _regions_of_recipe(folder: Path) -> str:
    """Where the regions are that a model was trained with; empty if that is not said."""
    file = folder / "recipe.yaml"
    if not file.is_file():
        return ""
    recipe = read_yaml(file)
    settings = recipe.get("look") if isinstance(recipe, dict) else None
    if not isinstance(settings, dict):
        return ""
    return str(settings.get("regions") or "")


def _look(model: Any, files: RegionFiles, images: Sequence[Image]) -> dict[str, Prepared[Any]]:
    """What the files have of each picture; one that they do not have is that item's trouble."""
    boxed = hasattr(model.config, "visual_pos_dim")
    size = int(model.config.visual_feat_dim if boxed else model.config.visual_embedding_dim)

    def regions(image: Image) -> tuple[Any, ...]:
        return region_tensors(files, size, image, boxed=boxed)

    found = see(images, regions, threads=1)
    return {image.identity: seen for image, seen in zip(images, found, strict=True)}


def region_tensors(
    files: RegionFiles, size: int, image: Image, *, boxed: bool
) -> tuple[torch.Tensor, ...]:
    """The features of a picture's regions, and their boxes for a model that takes them."""
    features, boxes = files.regions(image).fitted(size, image)
    if not boxed:
        return (torch.tensor(features),)
    if boxes is None:
        raise DataError(
            "the regions have no boxes, which the model needs.",
            "Give the detector's boxes with its features.",
            file=image.path,
        )
    return torch.tensor(features), torch.tensor(boxes)


def _lxmert(reading: JointInputs) -> Any:
    """The head of its pre-training that says whether text and picture belong together."""
    seen = {
        "visual_feats": _stacked(reading, 0),
        "visual_pos": _stacked(reading, 1),
    }
    scores = reading.model(**reading.tokens, **seen).cross_relationship_score
    return odds_of_true(scores, None)


def _visualbert(reading: JointInputs) -> Any:
    features = _stacked(reading, 0)
    everything = torch.ones(features.shape[:2], dtype=torch.long, device=features.device)
    seen = {
        "visual_embeds": features,
        "visual_attention_mask": everything,
        "visual_token_type_ids": everything,  # 1, as in its pre-training
    }
    logits = reading.model(**reading.tokens, **seen).logits
    return odds_of_true(logits, reading.model.config)


def _stacked(reading: JointInputs, part: int) -> Any:
    """The features or boxes of the one picture of each text."""
    rows = torch.stack([picture[part] for (picture,) in reading.shown])
    return rows.to(reading.model.device, reading.model.dtype)


HEADS = {
    "LxmertForPreTraining": Head(_lxmert, "true against false (cross_relationship_score)"),
    "VisualBertForVisualReasoning": Head(_visualbert, "true against false"),
}
