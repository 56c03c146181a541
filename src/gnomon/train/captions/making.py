"""From files of captions to tokens on disk, with memory only for what is held out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from gnomon.errors import DataError
from gnomon.items.writing import is_running
from gnomon.train.captions.reading import Caption, Damage, Damages, Report, read_captions
from gnomon.train.captions.splitting import Half, Part, Split, split, text_hash
from gnomon.train.captions.tokenizing import trained_tokenizer

AT_ONCE = 2000  # captions that are tokenised together
FACTS = "corpus.json"


class Wanted(NamedTuple):
    """How captions are to be made into tokens."""

    files: tuple[Path, ...]
    tokenizer: str  # a name or folder; empty to train one
    vocabulary: int  # tokens of one that is trained
    reads: int  # tokens that the model can read, for the tokenizer to say
    longest: int  # tokens of a caption; what is beyond is cut off
    least_words: int
    held_out: float  # share of the pictures
    most_held_out: int  # captions
    seed: int


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the captions of some files."""

    captions: int  # that were read
    short: int  # of them, with too few words
    training: int
    development: int  # held out to choose the best weights, each text once
    test: int  # held out to test them
    shared: int  # left out of training: their texts are held out
    damaged: int  # lines or elements that could not be read
    damages: list[str]  # the first of them, with their places


def make_corpus(wanted: Wanted, folder: Path) -> None:
    """Write a corpus; it takes its place when it is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(folder)
    workshop = folder.with_name(f"{folder.name}.{os.getpid()}")
    workshop.mkdir()
    try:
        facts = _Making(wanted).write(workshop)
        (workshop / FACTS).write_bytes(msgspec.json.encode(facts))
        _put(workshop, folder)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _put(workshop: Path, folder: Path) -> None:
    """Give a corpus its place; another process may have been quicker, with the same."""
    try:
        workshop.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _remove_leftovers(folder: Path) -> None:
    """What a killed process left unfinished."""
    for workshop in folder.parent.glob(f"{folder.name}.*"):
        process = workshop.suffix.removeprefix(".")
        if process.isdigit() and not is_running(int(process)):
            shutil.rmtree(workshop, ignore_errors=True)


class _Making:
    """Reads the files to choose what is held out, to learn words, and to write tokens."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.damages = Damages()
        self.captions = self.short = self.shared = 0

    def write(self, folder: Path) -> Facts:
        """All of a corpus; what became of the captions."""
        wanted = self.wanted
        chosen = split(self._first_reading(), wanted.held_out, wanted.most_held_out, wanted.seed)
        tokenizer = self._tokenizer(chosen)
        tokenizer.save_pretrained(folder / "tokenizer")

        writer = _Writer(tokenizer, wanted.longest, folder)
        training = writer.write("training", self._texts(chosen, "training"))
        halves: dict[Half, list[str]] = {"development": [], "test": []}
        for caption in _once(self._captions(chosen, "held out")):
            halves[chosen.half(caption)].append(caption.text)
        development = writer.write("development", iter(halves["development"]))
        test = writer.write("test", iter(halves["test"]))
        self._check(training, development, test)
        return Facts(
            captions=self.captions,
            short=self.short,
            training=training,
            development=development,
            test=test,
            shared=self.shared,
            damaged=self.damages.count,
            damages=self.damages.first,
        )

    def _first_reading(self) -> Iterator[Caption]:
        """All captions that are long enough; what is left out is counted."""
        for caption in self._read(self.damages):
            self.captions += 1
            if self._is_short(caption):
                self.short += 1
            else:
                yield caption

    def _tokenizer(self, chosen: Split) -> Any:
        if not self.wanted.tokenizer:
            texts = self._texts(chosen, "training")
            return trained_tokenizer(texts, self.wanted.vocabulary, self.wanted.reads)

        from gnomon.models.transformers.checkpoint import explained
        from gnomon.models.transformers.hf import place_of
        from gnomon.models.transformers.loading import quiet
        from gnomon.models.transformers.processors import load_tokenizer

        name = self.wanted.tokenizer
        with quiet(), explained(name, allow_pickle=False):
            return load_tokenizer(place_of(name).path)

    def _texts(self, chosen: Split, part: Part) -> Iterator[str]:
        for caption in self._captions(chosen, part):
            yield caption.text

    def _captions(self, chosen: Split, part: Part) -> Iterator[Caption]:
        self.shared = 0
        for caption in self._read(_pass_over):
            if self._is_short(caption):
                continue
            found = chosen.part(caption)
            if found == part:
                yield caption
            elif found == "shared":
                self.shared += 1

    def _read(self, report: Report) -> Iterator[Caption]:
        for file in self.wanted.files:
            for text, image in read_captions(file, report):
                yield Caption(" ".join(text.split()), image)

    def _is_short(self, caption: Caption) -> bool:
        return len(caption.text.split()) < self.wanted.least_words

    def _check(self, training: int, development: int, test: int) -> None:
        named = ", ".join(file.name for file in self.wanted.files)
        if not training:
            raise DataError(
                f"{named}: of {self.captions:,} captions none is left to train on.",
                f"Give more captions, of {self.wanted.least_words} or more words each.",
            )
        if not development or not test:
            empty = "test" if development else "choose the best weights"
            raise DataError(
                f"{named}: of {self.captions:,} captions none is held out to {empty}.",
                "Give captions of more pictures, or a larger share: --set data.held_out=0.2",
            )


class _Writer:
    """Writes the tokens of captions, and where each caption ends."""

    def __init__(self, tokenizer: Any, longest: int, folder: Path) -> None:
        self.tokenizer, self.longest, self.folder = tokenizer, longest, folder

    def write(self, part: str, texts: Iterator[str]) -> int:
        """How many there are; one without a token (white space of rare kinds) is left out."""
        count = last = 0
        tokens_file, ends_file = self.folder / f"{part}.tokens", self.folder / f"{part}.ends"
        with tokens_file.open("wb") as tokens, ends_file.open("wb") as ends:
            while some := list(islice(texts, AT_ONCE)):
                rows = self._tokenised(some)
                sizes = np.array([len(row) for row in rows], dtype=np.int64)
                for row in rows:
                    tokens.write(np.array(row, dtype=np.int32).tobytes())
                ends.write((last + np.cumsum(sizes)).tobytes())
                last += int(sizes.sum())
                count += len(rows)
        return count

    def _tokenised(self, texts: list[str]) -> list[list[int]]:
        made = self.tokenizer(
            texts, add_special_tokens=False, truncation=True, max_length=self.longest
        )
        return list(filter(None, made["input_ids"]))


def _once(captions: Iterable[Caption]) -> Iterator[Caption]:
    """Each text where it comes first."""
    known = set()
    for caption in captions:
        key = text_hash(caption.text)
        if key not in known:
            known.add(key)
            yield caption


def _pass_over(damage: Damage) -> None:
    """It was told when the files were read for the first time."""
