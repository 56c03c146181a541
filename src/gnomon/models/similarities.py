"""A dual encoder as the stages of vision ask it: how alike texts and pictures are."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.contracts import Model
from gnomon.errors import DataError, UsageError
from gnomon.models.comparing import Comparer, Comparing, TextPair
from gnomon.records import Image


class Similarities:
    """The similarities that a model which compares texts with pictures gives."""

    def __init__(self, comparer: Comparer) -> None:
        self._comparer = comparer

    def similarities(self, images: Sequence[Image], texts: Sequence[str]) -> list[list[float]]:
        """For each picture one number for each text, scaled as the model was trained."""
        seen = self._comparer.look(images)
        found = []
        for image in images:
            key = image.identity
            if seen[key].made is None:
                raise DataError(seen[key].trouble, "Check the picture.", file=image.path)
            found.append(self._comparer.odds([TextPair(text, (key,)) for text in texts], seen))
        return found


def similarities_of(model: Model) -> Similarities:
    """The similarities of a model that was opened; an error if it is none that compares."""
    if not isinstance(model, Comparing) or model.comparer.pictures != 1:
        raise UsageError(
            f"{model.spec} does not compare texts with pictures.",
            "Choose a dual encoder, such as hf:openai/clip-vit-base-patch32, or conse.",
        )
    return Similarities(model.comparer)
