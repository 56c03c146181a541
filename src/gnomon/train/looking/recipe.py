"""What a recipe of kind look says, beside its data, schedule and seeds."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta


class LookSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section `look`."""

    regions: str = ""  # LXMERT, VisualBERT: what a detector found (a folder, or a table of VinVL)
    length: Annotated[int, Meta(ge=4)] = 32  # tokens of a caption; what is beyond is cut off
    config: dict[str, Any] = {}  # fields of the model's config to change, such as dropout
    # As the authors' code, with its faults: dropout stays off from the first evaluation to the end
    # of the epoch; ViLT sees padding, and pictures with red and blue exchanged.
    like_paper: bool = False
    allow_pickle: bool = False  # load pickled weights, which can run any code
    device: str = ""
