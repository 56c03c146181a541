"""Which comparer a model of transformers has, by its kind."""

from __future__ import annotations

from gnomon.models.comparing import Comparer
from gnomon.models.transformers.dual import DualEncoder
from gnomon.models.transformers.loading import Loaded
from gnomon.models.transformers.matching import matcher
from gnomon.models.transformers.regions import region_matcher


def comparer_of(name: str, loaded: Loaded, *, regions: str, most_kept: int) -> Comparer:
    """How a model compares texts with pictures.

    `regions` is where a detector's features are, `most_kept` how many bytes of features of pictures
    may be kept on disk.
    """
    model, tokenizer, processor = loaded.model, loaded.tokenizer, loaded.processor
    if loaded.kind == "dual":
        return DualEncoder(model, tokenizer, processor, about=loaded.about, most_kept=most_kept)
    if loaded.kind == "match":
        return matcher(model, tokenizer, processor)
    return region_matcher(name, model, tokenizer, regions)
