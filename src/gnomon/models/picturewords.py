"""A trained baseline that sees pictures alone: which colours they have, and where.

What it gets right above chance, the pictures give away by themselves, whatever is said of them. It
is trained as the baselines of words are, and never on another item with the same picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gnomon.contracts import Benchmark
from gnomon.errors import DataError, ModelError
from gnomon.models.classifiers import Classifier
from gnomon.records import Answer, Image, Item
from gnomon.vision.images import Pixels
from gnomon.vision.pictures import Prepared, pixels, see

CELLS = 4  # a side: the picture is a grid of so many cells by as many
LEVELS = 4  # of brightness of a channel, in a cell
FINE = 32  # pixels a side, of which colours are counted
SHADES = 3  # of a channel, in the count of colours
LEAST = 0.05  # the share of the picture that a colour must fill to be named


def picture_only(name: str, *, folds: int = 5, hold_out: str = "") -> PictureClassifier:
    """Sees the colours of the picture and where they are, and none of the words.

    folds      into how many parts the items are divided: each is answered by a classifier that was
               trained on the others
    hold_out   tags of what must not be in training and test at once, beside the picture, such as
               "family; obj_a, obj_b": the first list of which an item has every tag counts, and
               its group if it has none (default: what the benchmark says)
    """
    return PictureClassifier(name, folds, hold_out)


class PictureClassifier(Classifier):
    """The classifier of words, with colours in the place of words."""

    batch = 256

    def __init__(self, name: str, folds: int, hold_out: str) -> None:
        super().__init__("picture-only", name, self._colours, folds, hold_out)
        self._seen: dict[str, Prepared[list[str]]] = {}

    def describe(self) -> dict[str, Any]:
        """How it is trained, and on what of a picture."""
        grid = f"brightness of red, green and blue in {CELLS} by {CELLS} cells, and main colours"
        return {**super().describe(), "features": grid}

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Look at all pictures, and train one classifier for each fold."""
        kept = list(items)
        self._look(kept)
        if not any(self._trouble(item) == "" for item in kept):
            raise ModelError(
                "picture-only sees nothing but pictures, and none of these items has one here.",
                "Run it on items with pictures that are on this machine.",
            )
        super().prepare(kept, benchmark)

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The probability of each choice; an item whose picture cannot be seen fails."""
        self._look(items)
        troubles = [self._trouble(item) for item in items]
        clear = [item for item, trouble in zip(items, troubles, strict=True) if not trouble]
        answered = iter(super().answer(clear))
        answers = []
        for item, trouble in zip(items, troubles, strict=True):
            answers.append(Answer(item=item.id, error=trouble) if trouble else next(answered))
        return answers

    def units(self, item: Item) -> tuple[str, ...]:
        """What is held out of training: as for words, and every item with the same picture.

        The tag `image` names a picture that is also shown changed, as in a mirror.
        """
        pictures = [f"picture {image.identity}" for image in item.images]
        if "image" in item.tags:
            pictures = [f"picture {item.tags['image']}"]
        return (*super().units(item), *pictures)

    def _look(self, items: Iterable[Item]) -> None:
        new: dict[str, Image] = {}
        for item in items:
            for image in item.images:
                if image.identity not in self._seen:
                    new[image.identity] = image
        for key, seen in zip(new, see(new.values(), _picture_words), strict=True):
            self._seen[key] = seen

    def _trouble(self, item: Item) -> str:
        if not item.images:
            return "there is no picture to look at"
        for image in item.images:
            seen = self._seen[image.identity]
            if seen.trouble:
                return seen.trouble
        return ""

    def _colours(self, item: Item) -> list[str]:
        found: list[str] = []
        for number, image in enumerate(item.images):
            words = self._seen[image.identity].made or []
            found += [f"{number} {word}" for word in words]
        return found


def colour_words(picture: Pixels) -> list[str]:
    """What stands where in a picture: a word for each cell and channel, and each main colour."""
    from PIL.Image import Resampling

    words = []
    small = picture.resize((CELLS, CELLS), Resampling.BOX)
    for place in range(CELLS * CELLS):
        across, down = place % CELLS, place // CELLS
        levels = _steps(small.getpixel((across, down)), LEVELS)
        for channel, level in zip("rgb", levels, strict=True):
            words.append(f"{across},{down} {channel}{level}")

    fine = picture.resize((FINE, FINE), Resampling.BOX)
    counts: dict[tuple[int, ...], int] = {}
    for count, value in fine.getcolors(FINE * FINE) or ():
        shade = _steps(value, SHADES)
        counts[shade] = counts.get(shade, 0) + count
    for shade, count in sorted(counts.items()):
        if count >= LEAST * FINE * FINE:
            words.append("main " + "".join(map(str, shade)))
    return words


def _picture_words(image: Image) -> list[str]:
    if image.path.startswith(("http://", "https://")):
        raise DataError("the picture is not on this machine.", "Fetch it first.", file=image.path)
    return colour_words(pixels(image))


def _steps(value: Any, steps: int) -> tuple[int, ...]:
    return tuple(channel * steps // 256 for channel in value)
