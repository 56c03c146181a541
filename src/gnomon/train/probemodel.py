"""A linear probe that was trained on a frozen model (`gnomon train probe`), asked like any model.

The backbone reads an item, and the probe's linear layer says how probable each label is. In the
folder, probe.json says what the probe looks at, and model.safetensors holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gnomon.contracts import Benchmark, Scale
from gnomon.errors import DataError, ModelError, UsageError
from gnomon.files import read_json
from gnomon.fingerprint import sha256_of
from gnomon.items.writing import atomic_file
from gnomon.keep import bytes_of
from gnomon.models.transformers.checkpoint import training_of
from gnomon.options import neutral
from gnomon.records import Answer, Item, pick
from gnomon.train.features import FeatureStore, text_of
from gnomon.train.probes import Learnt, label_probabilities

if TYPE_CHECKING:
    from gnomon.models.transformers.backbone import Backbone


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


# A linear probe that was trained on a frozen model (`gnomon train probe`), asked like any model.


@neutral("device", "threads", "features", "backbone")
def probe(
    name: str,
    *,
    control: bool = False,
    backbone: str = "",
    device: str = "",
    threads: int = 0,
    features: str = "on",
) -> Probed:
    """A trained probe: the folder that `gnomon train probe` made.

    control    ask its control instead, which was trained on shuffled labels
    backbone   where the frozen model is, if it was moved: hf:FOLDER
    device     cpu, cuda, cuda:1, mps ...; by default the fastest there is
    threads    torch's threads; by default no more than the cores of this process
    features   keep what the frozen model makes of texts: on (2 GB), off, or a size such as 8GB
    """
    from gnomon.models.transformers.backbone import open_backbone

    if not name:
        raise UsageError("probe needs a folder.", "Write probe:DIR, as gnomon train made it.")
    room = bytes_of(features)
    folder = Path(name).expanduser()
    saved = read_probe(folder)
    about = saved.about
    opened = open_backbone(
        backbone or about.backbone,
        reading=about.reading,
        most_tokens=about.most_tokens,
        dtype=str(about.seen["dtype"]),
        device=device,
        threads=threads,
    )
    _check_same(opened, saved)
    return Probed(f"probe:{name}", saved, opened, control=control, most_kept=room, folder=folder)


class Probed:
    """A frozen model and the linear layer on top of it."""

    scale: Scale = "log-probability"
    batch = 1024
    learns = False  # it was trained before, and only looks whether it knows the choices

    def __init__(
        self,
        spec: str,
        saved: SavedProbe,
        backbone: Backbone,
        *,
        control: bool,
        most_kept: int,
        folder: Path,
    ) -> None:
        self.spec, self.saved, self.backbone = spec, saved, backbone
        self.head = "control" if control else "probe"
        self._folder = folder
        self._store = FeatureStore(backbone, most_kept)
        self._place = {label: place for place, label in enumerate(saved.about.labels)}

    def describe(self) -> dict[str, Any]:
        """Backbone, head and the folder's contents."""
        about = self.saved.about
        return {
            **self.backbone.describe(),
            **training_of(str(self._folder)),
            "kind": "probe",
            "backbone": about.backbone,
            "backbone_kind": self.backbone.kind,
            "head": self.head,
            "epoch": about.epochs[self.head],
            "labels": list(about.labels),
            "wording": about.wording,
            "folder": str(self._folder),
            "weights_sha256": sha256_of(self._folder / WEIGHTS),
            "trained_on": about.train_sha256,
        }

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Refuse a benchmark none of whose items has choices that the probe knows."""
        offered: dict[str, None] = {}
        for item in items:
            if self._knows(item):
                return
            offered |= dict.fromkeys(item.choices)
        labels = ", ".join(self.saved.about.labels)
        raise UsageError(
            f"{self.spec} knows the labels {labels}, but the items offer {', '.join(offered)}.",
            "Ask it the benchmark that it was trained on, with the same options (such as prompt).",
        )

    def size(self, item: Item) -> int:
        """About how many tokens an item has; an exact count would cost as much as reading it."""
        return 1 + len(item.context + item.text) // 4

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The probability of each choice, among the choices of the item."""
        known = [item for item in items if self._knows(item)]
        texts = [text_of(item, self.backbone.mask, self.saved.about.wording) for item in known]
        rows: dict[str, Any] = {}
        if known:
            vectors = self._store.vectors(texts)
            found = label_probabilities(vectors, self.saved.heads[self.head])
            rows = {item.id: row for item, row in zip(known, found, strict=True)}
        return [self._answer(item, rows.get(item.id)) for item in items]

    def _knows(self, item: Item) -> bool:
        return bool(item.choices) and all(choice in self._place for choice in item.choices)

    def _answer(self, item: Item, row: Any) -> Answer:
        if row is None:
            strange = [choice for choice in item.choices if choice not in self._place]
            return Answer(item=item.id, error=f"the probe has no label '{strange[0]}'")
        chosen = row[[self._place[choice] for choice in item.choices]]
        chosen = chosen - np.logaddexp.reduce(chosen)
        return pick(item, tuple(chosen.tolist()))


def _check_same(backbone: Backbone, saved: SavedProbe) -> None:
    """Refuse a backbone with other weights: the probe would read something else."""
    now, then = backbone.describe().get("revision"), saved.about.seen.get("revision")
    if then and now != then:
        raise ModelError(
            f"{saved.about.backbone} has changed since the probe was trained: it was {then} "
            f"and is {now}.",
            "Give the frozen model as it was with --set backbone=hf:FOLDER, or train the "
            "probe again.",
        )


# What a frozen model makes of texts, computed once and kept on disk.
#
