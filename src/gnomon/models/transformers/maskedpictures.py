"""Masked models that see: the blank of a cloze filled beside a picture, a blank one, or none.

ViLT and FLAVA are shown pixels, VisualBERT and LXMERT regions. What is shown, and which head fills
the blank, differs by class (`READERS`); all else is as of other masked models. Texts of one length
with pictures of one size are read together, so that nothing is padded.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from gnomon.contracts import ANYTHING
from gnomon.errors import UsageError, check_known
from gnomon.models.choices import alike
from gnomon.models.prompts.preview import PromptFormat
from gnomon.models.transformers.backbone import unseen_patch
from gnomon.models.transformers.dual import pictures_in_a_pass, prepared, tensor_of
from gnomon.models.transformers.masked import Blank, Filled, Masked
from gnomon.models.transformers.matchers import (
    look_at_regions,
    region_files,
    region_inputs,
    region_size,
    shapes,
)
from gnomon.records import Image, Item
from gnomon.vision.images import Prepared

PICTURES = ("own", "none", "blank")
NONE, BLANK = "", "blank"  # keys of what is shown where it is not a picture of an item
GREY, SIDE = (128, 128, 128), 384  # of a blank picture

Parts = tuple[torch.Tensor, ...]  # pixels; or features of regions, and their boxes


class TextStates(NamedTuple):
    """What a text has become, token by token, and the head that says which word a token hides."""

    states: torch.Tensor
    head: Callable[[torch.Tensor], torch.Tensor]


class Reader(NamedTuple):
    """How a class reads texts of one length; nothing is shown with them where parts are empty."""

    read: Callable[[Any, torch.Tensor, Parts], TextStates]
    sees: str  # pixels or regions
    needs_picture: bool = False


class MaskedPictures(Masked):
    """A masked model that is shown the picture of an item, a blank one, or none."""

    takes = ANYTHING

    def __init__(
        self,
        *parts: Any,
        processor: Any = None,
        picture: str = "own",
        regions: str = "",
        **how: Any,
    ) -> None:
        super().__init__(*parts, **how)
        self.reader = READERS[type(self.model).__name__]
        self.picture, self.processor = picture, processor
        self._check_picture()
        self.files = None
        if self.reader.sees == "regions" and picture == "own" and regions:
            self.files = region_files(self.spec.removeprefix("hf:"), regions)
        if hasattr(self.model, "vilt"):  # it must see every patch, not some drawn at random
            self.model.config.max_image_length = -1
            self.model.vilt.embeddings.config.max_image_length = -1
        self.batch = 4 * pictures_in_a_pass(self.model)
        self._seen: dict[str, Prepared[Any]] = {}

    def _check_picture(self) -> None:
        check_known("picture to show", self.picture, PICTURES)
        if self.picture == "none" and self.reader.needs_picture:
            raise UsageError(
                f"{self.spec} has layers that must look at something, so it cannot go without.",
                "Give --set picture=blank: one region of zeros.",
            )

    def describe(self) -> dict[str, Any]:
        """What determines the answers."""
        found = {**super().describe(), "picture": self.picture}
        found["without_picture"] = "blank" if self.reader.needs_picture else "none"
        if self.files is not None:
            found |= {"regions": self.files.kind, "regions_hash": self.files.fingerprint()}
        return found

    def asking(self) -> PromptFormat:
        """What shows prompts without the model."""
        from msgspec.structs import replace

        return replace(super().asking(), takes_pictures=self.picture == "own")

    def filled(self, items: Sequence[Item]) -> list[list[Filled]]:
        """For each item its sentence with each word of each choice, and what is shown with it."""
        keys = list(map(self._key, items))
        self._look(items, keys)
        found = []
        for key, ways in zip(keys, super().filled(items), strict=True):
            found.append([way._replace(picture=key) for way in ways])
        return found

    def trouble(self, item: Item, ways: Sequence[Filled]) -> str:
        """Why an item cannot be asked; empty if it can."""
        if self.picture == "own" and len(item.images) > 1:
            return f"the model is shown one picture, the item has {len(item.images)}"
        seen = self._seen.get(ways[0].picture)
        if seen is not None and seen.trouble:
            return seen.trouble
        return super().trouble(item, ways)

    def _key(self, item: Item) -> str:
        """The key of what is shown with an item."""
        if self.picture == "own" and item.images:
            return item.images[0].identity
        if self.picture == "blank" or self.reader.needs_picture:
            return BLANK
        return NONE

    def _look(self, items: Sequence[Item], keys: Sequence[str]) -> None:
        """Look at the pictures of some items, each once."""
        images: dict[str, Image] = {}
        for item, key in zip(items, keys, strict=True):
            if key not in (NONE, BLANK):
                images[key] = item.images[0]
        self._seen = {}
        if BLANK in keys:
            self._seen[BLANK] = Prepared(self._blank())
        if not images:
            return
        if self.reader.sees == "pixels":
            self._seen |= dict(prepared(list(images.values()), self.processor.image_processor))
            return
        if self.files is None:
            self.files = region_files(self.spec.removeprefix("hf:"), "")
        self._seen |= look_at_regions(self.model, self.files, list(images.values()))

    def _blank(self) -> Any:
        """A grey picture as the processor gives it, or one region of zeros, over the whole."""
        if self.reader.sees == "pixels":
            from PIL.Image import new

            grey = new("RGB", (SIDE, SIDE), GREY)
            return tensor_of(grey, Image(path="a blank picture"), self.processor.image_processor)
        size, boxed = region_size(self.model.config)
        features = torch.zeros((1, size))
        if not boxed:
            return (features,)
        return features, torch.tensor([[0.0, 0.0, 1.0, 1.0]])

    def _parts(self, key: str) -> Parts:
        """What is shown under a key, as tensors."""
        if key == NONE:
            return ()
        made = self._seen[key].made
        return made if isinstance(made, tuple) else (made,)

    def batches(self, blanks: Sequence[Blank]) -> Iterator[list[int]]:
        """The numbers of blanks that are read in one pass: of one length, pictures of one size."""
        kinds = [(len(blank.tokens), shapes(self._parts(blank.picture))) for blank in blanks]
        return alike(kinds, pictures_in_a_pass(self.model))

    def logits(self, batch: Sequence[Blank]) -> torch.Tensor:
        """What the model says of the vocabulary at each blank, read in one pass."""
        device, dtype = self.model.device, self.model.dtype
        ids = torch.tensor([blank.tokens for blank in batch], device=device)
        shown = zip(*(self._parts(blank.picture) for blank in batch), strict=True)
        parts = tuple(torch.stack(part).to(device, dtype) for part in shown)
        rows = torch.arange(len(batch), device=device)
        places = torch.tensor([blank.place for blank in batch], device=device)
        with torch.inference_mode():
            states, head = self.reader.read(self.model, ids, parts)
            return head(states[rows, places]).float()


def _vilt(model: Any, ids: torch.Tensor, parts: Parts) -> TextStates:
    if parts:
        pixels = parts[0]
        count, _, height, width = pixels.shape
        whole = torch.ones((count, height, width), dtype=torch.long, device=ids.device)
        seen = {"pixel_values": pixels, "pixel_mask": whole}
    else:
        seen = unseen_patch(model, len(ids))
    output = model.vilt(input_ids=ids, attention_mask=torch.ones_like(ids), **seen)
    return TextStates(output.last_hidden_state[:, : ids.shape[1]], model.mlm_score)


def _flava(model: Any, ids: torch.Tensor, parts: Parts) -> TextStates:
    """With a picture the head of its joint encoder, without one that of its reader of texts."""
    if not parts:
        states = model.flava.text_model(input_ids=ids).last_hidden_state
        return TextStates(states, model.mlm_head)
    output = model.flava(input_ids=ids, pixel_values=parts[0])
    return TextStates(output.multimodal_embeddings[:, -ids.shape[1] :], model.mmm_text_head)


def _visualbert(model: Any, ids: torch.Tensor, parts: Parts) -> TextStates:
    seen = region_inputs(parts) if parts else {}
    states = model.visual_bert(input_ids=ids, **seen).last_hidden_state
    return TextStates(states[:, : ids.shape[1]], model.cls.predictions)


def _lxmert(model: Any, ids: torch.Tensor, parts: Parts) -> TextStates:
    output = model.lxmert(input_ids=ids, **region_inputs(parts))
    return TextStates(output.language_output, model.cls.predictions)


READERS = {
    "ViltForMaskedLM": Reader(_vilt, "pixels"),
    "FlavaForPreTraining": Reader(_flava, "pixels"),
    "VisualBertForPreTraining": Reader(_visualbert, "regions"),
    "LxmertForPreTraining": Reader(_lxmert, "regions", needs_picture=True),
}
