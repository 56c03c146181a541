"""Pictures as tensors: each prepared by itself, so that none is padded to the size of another."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from gnomon.errors import DataError
from gnomon.models.transformers.limits import on_cpu
from gnomon.records import Image
from gnomon.vision.images import Pixels
from gnomon.vision.pictures import Prepared, pixels, see


def tensor_of(picture: Pixels, image: Image, image_processor: Any) -> Any:
    """What a model is shown of a picture: channels, rows and columns."""
    try:
        made = image_processor(images=picture, return_tensors="pt")
    except (ValueError, ZeroDivisionError) as error:  # a strip too narrow to be resized
        size = f"{picture.width} x {picture.height}"
        reason = " ".join(str(error).split())[:120]
        raise DataError(
            f"a picture of {size} pixels does not fit the model: {reason}",
            "Crop the picture.",
            file=image.path,
        ) from error
    return made["pixel_values"][0]


def prepared(images: Sequence[Image], image_processor: Any) -> Iterator[tuple[str, Prepared[Any]]]:
    """The key of each picture and what the model is shown of it, or why it cannot be shown."""

    def make(image: Image) -> Any:
        return tensor_of(pixels(image), image, image_processor)

    for image, found in zip(images, see(images, make), strict=True):
        yield image.identity, found


def pictures_in_a_pass(model: Any) -> int:
    """How many pictures are computed at once: few fill a CPU."""
    return 8 if on_cpu(model) else 64


def shape_of(tensor: Any) -> tuple[int, ...]:
    """The size of a tensor."""
    return tuple(tensor.shape)


def alike(kinds: Sequence[Hashable], most: int) -> Iterator[list[int]]:
    """Numbers of things in batches of one kind, of at most so many; kinds as they first come.

    >>> list(alike(["a", "b", "a", "a"], 2))
    [[0, 2], [3], [1]]
    """
    members: dict[Hashable, list[int]] = {}
    for number, kind in enumerate(kinds):
        members.setdefault(kind, []).append(number)
    for numbers in members.values():
        for start in range(0, len(numbers), most):
            yield numbers[start : start + most]
