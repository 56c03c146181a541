"""What a recipe of kind captions says, beside its schedule and seeds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(gt=0, lt=1)]


class CaptionData(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section `data`: which captions there are, and what is held out of them."""

    files: str | list[str] = []
    least_words: Count = 2  # as ViPhy's authors; shorter captions have no context
    held_out: Share = 0.1  # of the pictures, or of the captions where no picture is named
    most_held_out: Count = 4000  # captions: half choose the best weights, half test them


class CaptionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section `captions`: the model where it is new, its tokens, and what is hidden."""

    config: dict[str, Any] = {}  # of a new model, as its config.json says it; needs model_type
    tokenizer: str = ""  # a name or folder; else the model's, or one that is trained
    vocabulary: Count = 8000  # tokens of one that is trained
    length: Annotated[int, Meta(ge=4)] = 32  # tokens of a row, marks included
    layout: Literal["padded", "packed"] = "padded"  # a caption in a row, or as many as fit
    special_tokens: bool = True  # as models are asked later; ViPhy's authors left them out
    masked: Share = 0.15  # of the tokens
