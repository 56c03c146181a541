"""Pictures as tensors: each prepared by itself, so that none is padded to the size of another."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from gnomon.errors import DataError
from gnomon.models.comparing import key_of
from gnomon.records import Image
from gnomon.vision.pictures import Seen, pixels, see


def preparing(image_processor: Any) -> Callable[[Image], Any]:
    """Makes of a picture what a model is shown: a tensor of channels, rows and columns."""

    def make(image: Image) -> Any:
        picture = pixels(image)
        try:
            made = image_processor(images=picture, return_tensors="pt")
        except (ValueError, ZeroDivisionError) as error:  # a strip too narrow to be resized
            size = f"{picture.width} x {picture.height}"
            reason = " ".join(str(error).split())[:120]
            raise DataError(
                f"a picture of {size} pixels does not fit the model: {reason}", "", file=image.path
            ) from error
        return made["pixel_values"][0]

    return make


def prepared(images: Sequence[Image], image_processor: Any) -> Iterator[tuple[str, Seen[Any]]]:
    """The key of each picture and what the model is shown of it, or why it cannot be shown."""
    for image, found in zip(images, see(images, preparing(image_processor)), strict=True):
        yield key_of(image), found


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
