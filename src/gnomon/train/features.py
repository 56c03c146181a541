"""What a frozen model makes of texts, computed once and kept on disk.

A text's vector is found again by the digest of the text, whatever set it is asked for with: a
probe on a part of the data, its control and the questions after it cost no second pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gnomon.downloads.catalogue import cache_folder
from gnomon.grouped import chunks
from gnomon.keep import DEFAULT_BYTES, KeptTensors, TensorKeep, key_of
from gnomon.models.prompts.wording import BLANK
from gnomon.records import MASK, Item

if TYPE_CHECKING:
    from gnomon.models.transformers.backbone import Backbone

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
