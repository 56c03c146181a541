"""Captions as tokens on disk: read, split and tokenised once, and then looked up by number.

Files may hold millions of captions, so nothing is kept in memory but what is held out. The tokens
lie in the cache under a name that says which files and settings they were made from: a training
that was stopped, or another with the same captions, finds them there.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.downloads.catalogue import cache_folder
from gnomon.errors import DataError
from gnomon.files import read_json
from gnomon.fingerprint import fingerprint, sha256_of
from gnomon.train.captions.making import FACTS, CorpusFacts, CorpusRequest, make_corpus

VERSION = 2  # of what lies in the cache


class Captions:
    """Tokens of many captions, which stay on disk until they are asked for."""

    def __init__(self, folder: Path, part: str) -> None:
        self.ends = np.fromfile(folder / f"{part}.ends", dtype=np.int64)
        file = folder / f"{part}.tokens"
        empty = not file.stat().st_size
        self.tokens: NDArray[np.int32] = (
            np.zeros(0, dtype=np.int32) if empty else np.memmap(file, dtype=np.int32, mode="r")
        )

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> NDArray[np.int32]:
        start = self.ends[number - 1] if number else 0
        return self.tokens[start : self.ends[number]]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The tokens of each caption."""
        return np.diff(self.ends, prepend=0)


class Corpus(NamedTuple):
    """The captions of training and those held out, with the tokenizer that made them tokens."""

    digests: list[str]  # of the files
    facts: CorpusFacts
    tokenizer: Any
    training: Captions
    development: Captions
    test: Captions

    def about(self) -> dict[str, Any]:
        """What became of the captions, for data.json and the card."""
        found: dict[str, Any] = msgspec.to_builtins(self.facts)
        return {**found, "tokens": len(self.training.tokens), "vocabulary": len(self.tokenizer)}


def open_corpus(wanted: CorpusRequest) -> Corpus:
    """The corpus that some files make, from the cache if it was made before."""
    from transformers import AutoTokenizer

    from gnomon.models.transformers.loading import quiet

    digests = [_digest(file) for file in wanted.files]
    folder = cache_folder() / "captions" / _name(wanted, digests)
    if not folder.is_dir():
        make_corpus(wanted, folder)
    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(folder / "tokenizer")
    facts = read_json(folder / FACTS, CorpusFacts)
    parts = Captions(folder, "training"), Captions(folder, "development"), Captions(folder, "test")
    return Corpus(digests, facts, tokenizer, *parts)


def _digest(file: Path) -> str:
    try:
        return sha256_of(file)
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Check the path.", file=file) from None


def _name(wanted: CorpusRequest, digests: list[str]) -> str:
    """Which files, in which order, and which settings."""
    said = msgspec.json.encode([VERSION, digests, _settings(wanted)])
    return sha256(said).hexdigest()[:32]


def _settings(wanted: CorpusRequest) -> dict[str, Any]:
    settings = wanted._replace(files=())._asdict()
    if Path(wanted.tokenizer).is_dir():
        settings["tokenizer"] = fingerprint(Path(wanted.tokenizer))
    return settings
