"""The folder of a trained probe: probe.json says what it looks at, model.safetensors holds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import DataError
from gnomon.files import read_json
from gnomon.items.writing import atomic_file
from gnomon.train.probes import Learnt

ABOUT, WEIGHTS = "probe.json", "model.safetensors"
HEADS = ("probe", "control")


class ProbeDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What a probe looks at, and how its two heads came out."""

    backbone: str  # hf:NAME or hf:FOLDER, as it was given
    seen: dict[str, Any]  # what determined the backbone's vectors
    reading: str
    most_tokens: int
    wording: str
    labels: tuple[str, ...]  # in the order of the head's rows
    epochs: dict[str, int]  # the best one of each head
    dev: dict[str, float]  # the score of each head there, on labels of its own
    train_sha256: str  # of the items that it was trained on


class SavedProbe(msgspec.Struct, frozen=True):
    """A probe as it is on disk."""

    about: ProbeDescription
    heads: dict[str, Learnt]


def write_probe(folder: Path, about: ProbeDescription, heads: dict[str, Learnt]) -> None:
    """Write both files, each whole or not at all."""
    from safetensors.numpy import save_file

    tensors = {}
    for name, learnt in heads.items():
        tensors[f"{name}.weight"] = learnt.weights
        tensors[f"{name}.bias"] = learnt.bias
    with atomic_file(folder / WEIGHTS) as part:
        save_file(tensors, part)
    with atomic_file(folder / ABOUT) as part:
        part.write_bytes(msgspec.json.format(msgspec.json.encode(about), indent=2) + b"\n")


def read_probe(folder: Path) -> SavedProbe:
    """The probe of a folder; an error if it is none, or not whole."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    if not (folder / ABOUT).is_file():
        raise DataError(
            f"there is no {ABOUT} here, so this is not the folder of a trained probe.",
            "Train one: gnomon train probe --set model=hf:NAME --set benchmark=NAME -o DIR.",
            file=folder,
        )
    about = read_json(folder / ABOUT, ProbeDescription)
    try:
        tensors = load_file(folder / WEIGHTS)
        heads = {}
        for name in HEADS:
            weights, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
            heads[name] = Learnt(weights, bias, about.epochs[name], about.dev[name])
    except (SafetensorError, OSError, KeyError) as error:
        raise DataError(
            f"the weights of the probe cannot be read: {error}.",
            "Train it again in a new folder.",
            file=folder / WEIGHTS,
        ) from None
    for learnt in heads.values():
        if len(learnt.weights) != len(about.labels) or len(learnt.bias) != len(about.labels):
            raise DataError(
                f"the probe has {len(learnt.weights)} rows for {len(about.labels)} labels.",
                "Train it again in a new folder.",
                file=folder / WEIGHTS,
            )
    return SavedProbe(about, heads)
