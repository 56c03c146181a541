"""What models that look are shown of pictures: pixels, or the regions that a detector found.

What was made of a picture is kept in memory while there is room, since each is shown once an epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch.nn.functional import pad

from gnomon.errors import DataError
from gnomon.models.transformers.dual import tensor_of
from gnomon.models.transformers.regions import region_tensors
from gnomon.records import Image
from gnomon.vision.pictures import pixels, see
from gnomon.vision.regions import RegionFiles

KEPT = 2**30  # bytes of pictures in memory
Sight = tuple[torch.Tensor, ...]


class Show(Protocol):
    """Makes of a picture what a model takes, and of several pictures one batch."""

    def sight(self, image: Image) -> Sight:
        """One picture."""
        ...

    def batch(self, sights: Sequence[Sight]) -> dict[str, torch.Tensor]:
        """Several, filled up to one size, with what tells the filling."""
        ...


class Pixels:
    """Pictures as ViLT takes them, which has a dimension for several pictures of a caption."""

    def __init__(self, image_processor: Any, *, like_paper: bool = False) -> None:
        self.image_processor, self.like_paper = image_processor, like_paper

    def sight(self, image: Image) -> Sight:
        """Channels, rows and columns."""
        picture = pixels(image)
        if self.like_paper:  # read with OpenCV, whose order is blue, green, red
            picture = _exchanged(picture)
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
        features = _filled([sight[0] for sight in sights], most)
        if self.boxed:
            boxes = _filled([sight[1] for sight in sights], most)
            seen = {"visual_feats": features, "visual_pos": boxes}
        else:
            kinds = torch.ones_like(mask)  # 1, as in VisualBERT's pre-training
            seen = {"visual_embeds": features, "visual_token_type_ids": kinds}
        return {**seen, "visual_attention_mask": mask}


class Gallery:
    """The pictures of items, each made once while there is room for it."""

    def __init__(self, show: Show) -> None:
        self.show = show
        self._kept: dict[str, Sight] = {}
        self._room = KEPT

    def batch(self, images: Sequence[Image]) -> dict[str, torch.Tensor]:
        """What a model takes of some pictures."""
        keys = [image.identity for image in images]
        absent = dict(zip(keys, images, strict=True))
        found: dict[str, Sight] = {}
        for key in keys:
            if key in self._kept:
                found[key] = self._kept[key]
                absent.pop(key, None)
        found |= self._made(absent)
        return self.show.batch([found[key] for key in keys])

    def _made(self, images: dict[str, Image]) -> dict[str, Sight]:
        """Pictures that are not kept, made by several threads."""
        found = {}
        coming = see(images.values(), self.show.sight)
        for key, seen in zip(images, coming, strict=True):
            if seen.made is None:
                raise DataError(seen.trouble, "Correct the picture, or leave its items out.")
            found[key] = seen.made
            self._keep(key, seen.made)
        return found

    def _keep(self, key: str, sight: Sight) -> None:
        size = sum(part.nbytes for part in sight)
        if size <= self._room:
            self._kept[key] = sight
            self._room -= size


def _filled(rows: Sequence[torch.Tensor], most: int) -> torch.Tensor:
    return torch.stack([pad(row, (0, 0, 0, most - len(row))) for row in rows])


def _exchanged(picture: Any) -> Any:
    from PIL import Image as Pictures

    red, green, blue = picture.split()
    return Pictures.merge("RGB", (blue, green, red))
