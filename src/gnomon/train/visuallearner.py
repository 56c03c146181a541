"""A model that learns to say whether a caption is true of a picture: kind `look`.

The three models of VSR's paper (table 7) as they are finetuned, and what they are shown: pixels, or
the regions that a detector found. The paper's settings are plain: cross-entropy over false and
true, AdamW on all weights alike, no schedule, no clipping, accuracy on dev every 100 steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy, pad

from gnomon.errors import DataError, ModelError, UsageError
from gnomon.grouped import chunks
from gnomon.models.comparison import TRUE
from gnomon.models.transformers.checkpoint import check_device, check_folder, explained
from gnomon.models.transformers.dual import tensor_of
from gnomon.models.transformers.hf import place_of
from gnomon.models.transformers.loading import best_device, libraries, quiet, set_threads
from gnomon.models.transformers.matchers import region_inputs, region_size, region_tensors
from gnomon.models.transformers.processors import load_processor, load_tokenizer
from gnomon.records import Image, Item
from gnomon.train.items import Items
from gnomon.train.recipes import Schedule
from gnomon.train.visual import LookSettings
from gnomon.vision.images import pixels, see
from gnomon.vision.regions import RegionFiles, open_regions

IN_A_PASS = 16  # items that are scored together, as in the authors' code


class LookBatch(NamedTuple):
    """Items that are learnt together: which of the training part."""

    epoch: int
    number: int
    items: NDArray[np.int64]


class LookLearner:
    """A model with its items and their pictures."""

    def __init__(
        self, looker: Looker, items: Items, settings: LookSettings, schedule: Schedule, seed: int
    ) -> None:
        self.module, self.looker, self.items = looker.model, looker, items
        self.settings, self.schedule, self.seed = settings, schedule, seed
        self.gallery = TrainingPictures(looker.show)
        self.batches_in_epoch: int | None = ceil(len(items.train) / schedule.batch)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """All weights decay alike, as with torch's defaults."""
        return [{"params": list(self.module.parameters())}]

    def batches(self, epoch: int) -> Iterator[LookBatch]:
        """All items in an order of the epoch's own."""
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.items.train))
        size = self.schedule.batch
        for number, start in enumerate(range(0, len(order), size)):
            yield LookBatch(epoch, number, order[start : start + size])

    def loss(self, batch: LookBatch) -> torch.Tensor:
        """The cross-entropy over false and true."""
        if self.settings.like_paper:
            self.module.train(not self._was_evaluated(batch))
        items = [self.items.train[number] for number in batch.items]
        return cross_entropy(self._logits(items), self._truth(items))

    def score(self) -> dict[str, float]:
        """Accuracy and loss on the development part."""
        return self._scored(self.items.dev)

    def test(self) -> dict[str, dict[str, float]]:
        """The same on every other part."""
        return self.items.scored(self._scored)

    def save(self, folder: Path) -> None:
        """Weights, config, tokenizer and processor, as transformers loads them."""
        with quiet():
            self.module.save_pretrained(folder)
            self.looker.tokenizer.save_pretrained(folder)
            if self.looker.processor is not None:
                self.looker.processor.save_pretrained(folder)

    def _scored(self, items: Sequence[Item]) -> dict[str, float]:
        if not items:
            return {}
        right, loss = 0, 0.0
        for some in chunks(items, IN_A_PASS):
            logits = self._logits(some)
            truth = self._truth(some)
            right += int((logits.argmax(-1) == truth).sum())
            loss += float(cross_entropy(logits, truth, reduction="sum"))
        return {"accuracy": right / len(items), "loss": loss / len(items)}

    def _logits(self, items: Sequence[Item]) -> torch.Tensor:
        """For each item, those of false and true."""
        texts = self._tokens([item.text for item in items])
        seen = self.gallery.batch([item.images[0] for item in items])
        inputs = {name: tensor.to(self.module.device) for name, tensor in {**texts, **seen}.items()}
        logits: torch.Tensor = getattr(self.module(**inputs), self.looker.output)
        return logits.float()

    def _truth(self, items: Sequence[Item]) -> torch.Tensor:
        """1 for each caption that is true of its picture, else 0."""
        truth = [item.gold[0] in TRUE for item in items]
        return torch.tensor(truth, device=self.module.device).long()

    def _tokens(self, texts: list[str]) -> dict[str, torch.Tensor]:
        """Captions of one length, with what tells the padding; the authors' ViLT is not told."""
        shows_padding = self.settings.like_paper and self.looker.processor is not None
        made = self.looker.tokenizer(
            texts,
            padding="max_length" if shows_padding else True,
            truncation=True,
            max_length=self.settings.length,
            return_tensors="pt",
        )
        if shows_padding:
            made.pop("attention_mask")
        return dict(made)

    def _was_evaluated(self, batch: LookBatch) -> bool:
        """Whether dev was scored in this epoch before the batch.

        The authors switch dropout on at the start of an epoch, and off at each evaluation.
        """
        every = self.schedule.evaluate_every
        if not every:
            return False
        begun = batch.epoch * ceil(len(self.items.train) / self.schedule.batch)
        return (begun + batch.number) // every > begun // every


# The three models of VSR's paper (table 7), as they are finetuned: which class, and which output.
#
# Class 1 says that a caption is true. LXMERT has such a head from its pre-training; ViLT and
# VisualBERT get a new one.


LABELS = ("false", "true")


class Looker(NamedTuple):
    """A model to be finetuned, and what goes with it."""

    model: Any
    tokenizer: Any
    show: Pixels | RegionRows
    output: str  # which of the model's outputs is the logits of false and true
    processor: Any = None  # of a model that sees pixels


class Make(NamedTuple):
    """How a type of model is made to say true or false."""

    maker: str
    head: str  # what the names of weights begin with that may be new; empty if none
    config: dict[str, Any]
    sees_regions: bool
    output: str = "logits"


NAMES = {"id2label": dict(enumerate(LABELS)), "label2id": {"false": 0, "true": 1}}
MAKES = {
    "vilt": Make(
        "ViltForImagesAndTextClassification", "classifier.", {**NAMES, "num_images": 1}, False
    ),
    "lxmert": Make("LxmertForPreTraining", "", {}, True, "cross_relationship_score"),
    "visual_bert": Make("VisualBertForVisualReasoning", "cls.", NAMES, True),
}


def load_looker(name: str, settings: LookSettings, weights_seed: int) -> Looker:
    """The model of a folder or hub name, with a head that says whether a caption is true."""
    torch, transformers = libraries()
    if not name:
        raise UsageError(
            "The recipe does not say which model to begin with.",
            "Write model: with a folder or a name of the hub.",
        )
    path = place_of(name).path
    set_threads(0)
    check_device(settings.device or best_device())
    check_folder(path, allow_pickle=settings.allow_pickle)
    with quiet(), explained(name, allow_pickle=settings.allow_pickle):
        make = _make_of(transformers.AutoConfig.from_pretrained(path), name)
        torch.manual_seed(weights_seed)
        model, report = getattr(transformers, make.maker).from_pretrained(
            path,
            dtype=torch.float32,
            use_safetensors=None if settings.allow_pickle else True,
            output_loading_info=True,
            **{**make.config, **settings.config},
        )
        _check_weights(name, model, report["missing_keys"], make)
        processor = None if make.sees_regions else load_processor(path)
        tokenizer = processor.tokenizer if processor else load_tokenizer(path)
    model = model.to(settings.device or best_device())
    show = _show(name, model, processor, settings)

    return Looker(model, tokenizer, show, make.output, processor)


def _make_of(config: Any, name: str) -> Make:
    if config.model_type not in MAKES:
        raise UsageError(
            f"{name} is a {config.model_type}, which cannot be trained to look.",
            f"Choose one of these types: {', '.join(MAKES)}.",
        )
    return MAKES[config.model_type]


def _check_weights(name: str, model: Any, missing: Any, make: Make) -> None:
    """Refuse a model that lacks weights other than those of its new head."""
    absent = []
    for key, _ in model.named_parameters():
        is_new = bool(make.head) and key.startswith(make.head)
        if key in missing and not is_new:
            absent.append(key)
    if absent:
        raise ModelError(
            f"{name} has no weights for {absent[0]} and {len(absent) - 1} others.",
            "Give a model of the same type that was pretrained.",
        )


def _show(name: str, model: Any, processor: Any, settings: LookSettings) -> Pixels | RegionRows:
    if processor is not None:
        return Pixels(processor.image_processor, like_paper=settings.like_paper)
    if not settings.regions:
        raise UsageError(
            f"{name} sees regions of pictures, which a detector must have found before.",
            "Say where their features are: --set regions=PATH",
        )
    size, boxed = region_size(model.config)
    return RegionRows(open_regions(settings.regions), size, boxed=boxed)


# What models that look are shown of pictures: pixels, or the regions that a detector found.


KEPT = 2**30  # bytes of pictures in memory
Sight = tuple[torch.Tensor, ...]


class Pixels:
    """Pictures as ViLT takes them, which has a dimension for several pictures of a caption."""

    def __init__(self, image_processor: Any, *, like_paper: bool = False) -> None:
        self.image_processor, self.like_paper = image_processor, like_paper

    def sight(self, image: Image) -> Sight:
        """Channels, rows and columns."""
        picture = pixels(image)
        if self.like_paper:  # read with OpenCV, whose order is blue, green, red
            from PIL.Image import merge

            red, green, blue = picture.split()
            picture = merge("RGB", (blue, green, red))
        return (tensor_of(picture, image, self.image_processor),)

    def batch(self, sights: Sequence[Sight]) -> dict[str, torch.Tensor]:
        """Pictures with zeros right and below, up to the highest and the widest."""
        height = max(picture.shape[1] for (picture,) in sights)
        width = max(picture.shape[2] for (picture,) in sights)
        rows, masks = [], []
        for (picture,) in sights:
            room = (0, width - picture.shape[2], 0, height - picture.shape[1])
            rows.append(pad(picture, room))
            masks.append(pad(torch.ones(picture.shape[1:], dtype=torch.long), room))
        found = {"pixel_values": torch.stack(rows).unsqueeze(1)}
        if not self.like_paper:
            found["pixel_mask"] = torch.stack(masks).unsqueeze(1)
        return found


class RegionRows:
    """Regions from files: features of a size, with boxes for a model that takes them."""

    def __init__(self, files: RegionFiles, size: int, *, boxed: bool) -> None:
        self.files, self.size, self.boxed = files, size, boxed

    def sight(self, image: Image) -> Sight:
        """Features, and boxes where they are wanted."""
        return region_tensors(self.files, self.size, image, boxed=self.boxed)

    def batch(self, sights: Sequence[Sight]) -> dict[str, torch.Tensor]:
        """Regions with rows of zeros behind them, up to the most."""
        most = max(len(sight[0]) for sight in sights)
        mask = torch.zeros((len(sights), most), dtype=torch.long)
        for number, sight in enumerate(sights):
            mask[number, : len(sight[0])] = 1
        parts = [_filled(part, most) for part in zip(*sights, strict=True)]
        return region_inputs(parts, mask)


class TrainingPictures:
    """The pictures of items, each made once while there is room for it."""

    def __init__(self, show: Pixels | RegionRows) -> None:
        self.show = show
        self._kept: dict[str, Sight] = {}
        self._room = KEPT

    def batch(self, images: Sequence[Image]) -> dict[str, torch.Tensor]:
        """What a model takes of some pictures."""
        wanted = {image.identity: image for image in images}
        found = {key: self._kept[key] for key in wanted if key in self._kept}
        absent = {key: image for key, image in wanted.items() if key not in found}
        coming = see(absent.values(), self.show.sight)  # by several threads
        for key, seen in zip(absent, coming, strict=True):
            if seen.made is None:
                raise DataError(seen.trouble, "Correct the picture, or leave its items out.")
            found[key] = seen.made
            size = sum(part.nbytes for part in seen.made)
            if size <= self._room:
                self._kept[key] = seen.made
                self._room -= size
        return self.show.batch([found[image.identity] for image in images])


def _filled(rows: Sequence[torch.Tensor], most: int) -> torch.Tensor:
    return torch.stack([pad(row, (0, 0, 0, most - len(row))) for row in rows])
