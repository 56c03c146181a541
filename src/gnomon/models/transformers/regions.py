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
    files = region_files(name, regions)
    head = HEADS[type(model).__name__]
    look = partial(look_at_regions, model, files)
    about = {"regions": files.kind, "regions_hash": files.fingerprint()}
    return Joint(model, tokenizer, head, look, about=about)


def region_files(name: str, regions: str) -> RegionFiles:
    """The files with the regions that a model is shown: those named, else those of its recipe."""
    regions = regions or _regions_of_recipe(Path(name))
    if not regions:
        raise UsageError(
            f"{name} sees regions of pictures, which a detector must have found before.",
            "Say where their features are: --set regions=PATH.",
        )
    return open_regions(regions)


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


def look_at_regions(
    model: Any, files: RegionFiles, images: Sequence[Image]
) -> dict[str, Prepared[Any]]:
    """What the files have of each picture; one that they do not have is that item's trouble."""
    size, boxed = region_size(model.config)

    def regions(image: Image) -> tuple[Any, ...]:
        return region_tensors(files, size, image, boxed=boxed)

    found = see(images, regions, threads=1)
    return {image.identity: seen for image, seen in zip(images, found, strict=True)}


def region_size(config: Any) -> tuple[int, bool]:
    """The features of a region that a model takes, and whether it takes boxes, too."""
    if hasattr(config, "visual_pos_dim"):
        return int(config.visual_feat_dim), True
    return int(config.visual_embedding_dim), False


def region_inputs(regions: Sequence[Any], mask: Any = None) -> dict[str, Any]:
    """Features of regions, and boxes where there are some, as LXMERT or VisualBERT takes them.

    `mask` says which regions count: all of them, if it is not given.
    """
    features = regions[0]
    if mask is None:
        mask = torch.ones(features.shape[:2], dtype=torch.long, device=features.device)
    if len(regions) > 1:
        seen = {"visual_feats": features, "visual_pos": regions[1]}
    else:
        kinds = torch.ones_like(mask)  # 1, as in VisualBERT's pre-training
        seen = {"visual_embeds": features, "visual_token_type_ids": kinds}
    return {**seen, "visual_attention_mask": mask}


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
    return odds_of_true(_output(reading).cross_relationship_score, None)


def _visualbert(reading: JointInputs) -> Any:
    return odds_of_true(_output(reading).logits, reading.model.config)


def _output(reading: JointInputs) -> Any:
    """What a model gives for texts, each with the regions of its one picture."""
    shown = [picture for (picture,) in reading.shown]
    stacked = [torch.stack(part) for part in zip(*shown, strict=True)]
    device, dtype = reading.model.device, reading.model.dtype
    seen = region_inputs([part.to(device, dtype) for part in stacked])
    return reading.model(**reading.tokens, **seen)


HEADS = {
    "LxmertForPreTraining": Head(_lxmert, "true against false (cross_relationship_score)"),
    "VisualBertForVisualReasoning": Head(_visualbert, "true against false"),
}
