"""A name that is neither a folder nor in the cache, but much like a folder here, is a slip."""

from __future__ import annotations

import os
from pathlib import Path

from gnomon.errors import ModelError
from gnomon.modelpaths import near_paths


def check_no_slip(name: str) -> None:
    """Refuse a name that a folder here is much like, before the hub is asked about it for long."""
    path = Path(name).expanduser()
    if path.exists() or _is_cached(name):
        return
    for near in near_paths(path, folders_only=True):
        if (Path(near) / "config.json").is_file():
            raise ModelError(
                f"There is no folder {name} here, and no such model in the cache.",
                f"Did you mean hf:{near}? A model of the hub is named with its owner: "
                "hf:OWNER/NAME.",
            )


def _is_cached(name: str) -> bool:
    """Whether a model of the hub is on this machine."""
    from huggingface_hub.constants import HF_HUB_CACHE

    folder = f"models--{name.replace('/', '--')}"
    return os.path.isdir(os.path.join(HF_HUB_CACHE, folder))
