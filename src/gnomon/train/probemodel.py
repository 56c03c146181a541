"""A linear probe that was trained on a frozen model, asked like any model; its vectors are kept.

The backbone reads an item, and the probe's linear layer says how probable each label is. In the
folder, probe.json says what the probe looks at, and model.safetensors holds it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.contracts import Benchmark, Scale
from gnomon.downloads.catalogue import cache_folder
from gnomon.errors import DataError, ModelError, UsageError
from gnomon.files import read_json
from gnomon.fingerprint import sha256_of
from gnomon.grouped import chunks
from gnomon.items.writing import atomic_file
from gnomon.keep import DEFAULT_BYTES, KeptTensors, TensorKeep, bytes_of, key_of
from gnomon.models.prompts.wording import BLANK
from gnomon.models.transformers.checkpoint import training_of
from gnomon.options import neutral
from gnomon.records import MASK, Answer, Item, pick
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
# A text's vector is found again by the digest of the text, whatever set it is asked for with: a
# probe on a part of the data, its control and the questions after it cost no second pass.


Vectors = NDArray[np.float32]
Watch = Callable[[int, int], None]

FOLDER = "text-features"  # of the cache
IN_A_FILE = 2048  # texts; what a killed pass loses at most
DIGEST = 16  # bytes
# What decides a vector, of what a backbone says about itself.
DECIDING = ("architecture", "revision", "dtype", "reading", "most_tokens", "transformers")


def text_of(item: Item, mask: str = "", wording: str = "") -> str:
    """What of an item is read: its context and its text, or what a wording makes of them.

    >>> from gnomon.records import Item
    >>> item = Item(id="1", form="cloze", text="An ant is [MASK] than a cow.",
    ...             choices=("larger", "smaller"), gold=("smaller",))
    >>> text_of(item), text_of(item, "<mask>", "so {text}")
    ('An ant is ____ than a cow.', 'so An ant is <mask> than a cow.')
    """
    text = item.text
    if item.form == "cloze":
        text = text.replace(MASK, mask or BLANK)
    if not wording:
        return f"{item.context.strip()} {text}".strip()
    context = item.context.strip()
    # the item's own words come last: they are never read as a field
    sides = [side.replace("{context}", context) for side in wording.split("{text}")]
    return text.join(sides).strip()


class FeatureStore:
    """The vectors of one reader, of which the folder of the cache keeps those used last."""

    def __init__(self, reader: Backbone, most_bytes: int = DEFAULT_BYTES) -> None:
        self.reader = reader
        about = reader.describe()
        self._cache = TensorKeep(cache_folder() / FOLDER, most_bytes)
        # weights without a name (a hub's model whose commit is not known) are not kept
        self._keeps = bool(most_bytes and about.get("revision"))
        deciding = {name: about.get(name) for name in DECIDING}
        self._start = key_of(json.dumps(deciding, sort_keys=True, default=str))[:32]

    def vectors(self, texts: Sequence[str], watch: Watch | None = None) -> Vectors:
        """One row for each text; `watch` is told how many texts are known, of how many."""
        wanted = {_digest(text): text for text in texts}
        found = self._kept(wanted)
        missing = [digest for digest in wanted if digest not in found]
        for part in chunks(missing, IN_A_FILE):
            known = len(found)
            made = self._made([wanted[digest] for digest in part], known, len(wanted), watch)
            found.update(zip(part, made, strict=True))
            self._keep(part, made)
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack([found[_digest(text)] for text in texts])

    def _made(self, texts: list[str], known: int, total: int, watch: Watch | None) -> Vectors:
        def count(more: int) -> None:
            nonlocal known
            known += more
            if watch:
                watch(known, total)

        return self.reader.vectors(texts, count)

    def _kept(self, wanted: Iterable[bytes]) -> dict[bytes, Vectors]:
        """What the cache holds of the texts that are wanted, by their digests."""
        by_file: dict[str, list[tuple[bytes, int]]] = {}
        for digest in wanted:
            if digest in self._index:
                file, row = self._index[digest]
                by_file.setdefault(file, []).append((digest, row))
        found: dict[bytes, Vectors] = {}
        for file, members in by_file.items():
            entry = self._cache.read(file, ["vectors"])
            if entry is None:  # somebody made room
                continue
            vectors = entry.tensors["vectors"].numpy()
            found.update({digest: vectors[row] for digest, row in members})
        return found

    @cached_property
    def _index(self) -> dict[bytes, tuple[str, int]]:
        """For each text that is kept, by its digest, the file and the row of its vector."""
        found: dict[bytes, tuple[str, int]] = {}
        if not self._keeps:
            return found
        for file in self._cache.keys(f"{self._start}-"):
            entry = self._cache.read(file, ["digests"])
            if entry is None:
                continue
            for row, digest in enumerate(entry.tensors["digests"].numpy()):
                found[digest.tobytes()] = (file, row)
        return found

    def _keep(self, digests: list[bytes], vectors: Vectors) -> None:
        if not self._keeps:
            return
        import torch

        joined = b"".join(digests)
        names = np.frombuffer(joined, dtype=np.uint8).reshape(len(digests), DIGEST).copy()
        tensors = {"digests": torch.from_numpy(names), "vectors": torch.from_numpy(vectors)}
        file = f"{self._start}-{sha256(joined).hexdigest()[:32]}"
        self._cache.write(file, KeptTensors(tensors, {}))
        self._index.update({digest: (file, row) for row, digest in enumerate(digests)})


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()[:DIGEST]
