"""What goes wrong while a model of transformers is loaded, in words for people."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError, ModelError, UsageError

# What a message of the libraries holds -> what it means, and what to do.
KNOWN = (
    (
        "trust_remote_code",
        "brings code of its own, which would run on this machine.",
        "If you have read it and trust it, add --set trust_remote_code=yes.",
    ),
    (
        "gated repo",
        "is given only to those whom its authors let in.",
        "Ask for access on its page of the hub, then log in: `hf auth login`, or set HF_TOKEN.",
    ),
    (
        "does not recognize this architecture",
        "has an architecture that this version of transformers does not know.",
        "Update it: pip install -U transformers.",
    ),
    (
        "Unrecognized configuration class",
        "is not a model of the kind that was asked for.",
        "Leave kind out, or give another: causal, seq2seq, masked, nli, vlm, dual, match, regions.",
    ),
    (
        "requires the Torchvision library",
        "has an image processor that needs torchvision.",
        "Install it: pip install torchvision.",
    ),
    (
        "instantiate the backend tokenizer",
        "has no tokenizer that can be read.",
        "Put tokenizer.json (or tokenizer.model with tokenizer_config.json) next to config.json.",
    ),
    (
        "ignore_mismatched_sizes",
        "has weights of other shapes than its config.json says.",
        "Fetch config.json and weights again, both of one revision.",
    ),
)


@contextmanager
def explained(name: str, *, allow_pickle: bool) -> Iterator[None]:
    """While inside, what the libraries raise about a model's files becomes an error for people."""
    try:
        yield
    except GnomonError:
        raise
    except Exception as error:
        raise _explanation(name, error, allow_pickle=allow_pickle) from error


def check_folder(name: str, *, allow_pickle: bool) -> None:
    """Say what a folder lacks before anything tries to read it."""
    folder = Path(name)
    if not folder.is_dir() and not folder.is_file() and not _is_path(name):
        return  # a name of the hub
    if not folder.is_dir():
        raise ModelError(
            f"{name}: there is no such folder.",
            "Give the folder that holds the model's config.json.",
        )

    endings = set()
    for file in folder.iterdir():
        endings.add(file.suffix)
        if file.exists() and not file.is_file() and not file.is_dir():
            raise ModelError(
                f"{file} is a pipe or a device, not a file.", "Fetch or copy the model again."
            )
    if ".safetensors" in endings:
        return
    if not endings & {".bin", ".pt", ".pth"}:
        raise ModelError(f"{name} holds no weights.", "Put the model's .safetensors files there.")
    if not allow_pickle:
        raise _pickled(name)


def check_complete(name: str, kind: str, model: Any, missing: Collection[str]) -> None:
    """Refuse a model some of whose weights are not in its files: they would be random."""
    absent = [key for key, _ in model.named_parameters() if key in missing]
    if not absent:
        return
    some = ", ".join(absent[:2])
    if len(absent) > 2:
        some += f" and {len(absent) - 2} more"
    raise ModelError(
        f"{name} has no weights for {some}: asked as kind {kind}, it would answer at random.",
        "Give a model that was trained for this, or another kind with --set kind=KIND.",
    )


def check_device(device: str) -> None:
    """Refuse a device that this machine does not have."""
    import torch

    here = ["cpu"]
    if torch.cuda.is_available():
        here.append("cuda")
    if torch.backends.mps.is_available():
        here.append("mps")
    try:
        kind = torch.device(device).type
    except RuntimeError:
        kind = ""
    # Of devices that are neither of these (xpu, hpu ...), torch itself says whether they are there.
    if not kind or (kind in ("cuda", "mps") and kind not in here):
        raise UsageError(
            f"There is no device '{device}' here.",
            f"Choose one of: {', '.join(here)}. Without it, the fastest is used.",
        )


def _explanation(name: str, error: Exception, *, allow_pickle: bool) -> ModelError:
    text = " ".join(str(error).split())
    for sign, what, advice in KNOWN:
        if sign in text:
            return ModelError(f"{name} {what}", advice)
    if not allow_pickle and "safetensors" in text and "file named" in text:
        return _pickled(name)
    if type(error).__name__ == "SafetensorError":
        return ModelError(
            f"{name}: its weights cannot be read ({text}).",
            "The file is damaged or not whole: fetch it again (git lfs pull, if it came by git).",
        )
    return ModelError(
        f"{name} cannot be loaded: {text[:300] or type(error).__name__}", _advice(name)
    )


def _pickled(name: str) -> ModelError:
    return ModelError(
        f"{name} has its weights only as a Python pickle, which can run any code when it is read.",
        "Prefer a revision with .safetensors files; if you trust its author, add "
        "--set allow_pickle=yes.",
    )


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name


def _advice(name: str) -> str:
    if Path(name).is_dir():
        return "Put config.json, tokenizer and .safetensors files there, all of one model."
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        return (
            "HF_HUB_OFFLINE is set and the model is not in the cache: "
            "unset it once, or give a local folder."
        )
    return "Check the name and the network, or give a local folder: hf:path/to/folder."
