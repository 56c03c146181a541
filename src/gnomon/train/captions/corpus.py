"""Captions as tokens on disk: read, split and tokenised once, and then looked up by number.

Files may hold millions of captions, so nothing is kept in memory but what is held out. The tokens
lie in the cache under a name that says which files and settings they were made from: a training
that was stopped, or another with the same captions, finds them there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.downloads.catalogue import cache_folder
from gnomon.errors import DataError, ModelError
from gnomon.files import read_json
from gnomon.fingerprint import fingerprint, sha256_of
from gnomon.items.writing import is_running
from gnomon.train.captions import files
from gnomon.train.captions.files import CorpusCaption, Half, Part, Report, Split

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
    said = msgspec.json.encode([VERSION, digests, _settings(wanted)])
    folder = cache_folder() / "captions" / sha256(said).hexdigest()[:32]
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


def _settings(wanted: CorpusRequest) -> dict[str, Any]:
    settings = wanted._replace(files=())._asdict()
    if wanted.tokenizer and Path(wanted.tokenizer).is_dir():  # "" would be this folder
        settings["tokenizer"] = fingerprint(Path(wanted.tokenizer))
    return settings


# The tokenizer of captions: WordPiece, trained on the captions of training alone.


SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class Marks(NamedTuple):
    """The tokens that stand around captions and in their gaps."""

    first: tuple[int, ...]  # before a row: [CLS], or nothing
    last: tuple[int, ...]  # behind each caption: [SEP], or nothing
    pad: int
    mask: int


def marks_of(tokenizer: Any, *, special: bool) -> Marks:
    """The marks of a tokenizer; without special tokens, captions are read bare."""
    if tokenizer.mask_token_id is None:
        raise ModelError(
            "The tokenizer has no mask, so nothing can be hidden from the model.",
            "Choose the tokenizer of a masked model, or leave it out to train one.",
        )
    pad = tokenizer.pad_token_id
    pad = tokenizer.mask_token_id if pad is None else pad  # it is never looked at
    around = []
    for token in (tokenizer.cls_token_id, tokenizer.sep_token_id):
        around.append((token,) if special and token is not None else ())
    first, last = around
    return Marks(first, last, pad, tokenizer.mask_token_id)


def trained_tokenizer(texts: Iterable[str], size: int, longest: int) -> Any:
    """BERT's uncased WordPiece with at most so many tokens, learnt from some texts."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
    from tokenizers.processors import TemplateProcessing
    from tokenizers.trainers import WordPieceTrainer
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # noqa: S106 - no secret
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = WordPieceTrainer(vocab_size=size, special_tokens=list(SPECIAL), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", SPECIAL.index("[CLS]")), ("[SEP]", SPECIAL.index("[SEP]"))],
    )
    marks = {f"{mark.strip('[]').lower()}_token": mark for mark in SPECIAL}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=longest, **marks)


# From files of captions to tokens on disk, with memory only for what is held out.


AT_ONCE = 2000  # captions that are tokenised together
FACTS = "corpus.json"


class CorpusRequest(NamedTuple):
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


class CorpusFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the captions of some files."""

    captions: int  # that were read
    short: int  # of them, with too few words
    training: int
    development: int  # held out to choose the best weights, each text once
    test: int  # held out to test them
    shared: int  # left out of training: their texts are held out
    damaged: int  # lines or elements that could not be read
    damages: list[str]  # the first of them, with their places


def make_corpus(wanted: CorpusRequest, folder: Path) -> None:
    """Write a corpus; it takes its place when it is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(folder)
    workshop = folder.with_name(f"{folder.name}.{os.getpid()}")
    workshop.mkdir()
    try:
        facts = _Making(wanted).write(workshop)
        (workshop / FACTS).write_bytes(msgspec.json.encode(facts))
        workshop.rename(folder)
    except OSError:
        if not folder.is_dir():  # another process may have been quicker, with the same
            raise
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _remove_leftovers(folder: Path) -> None:
    """What a killed process left unfinished."""
    for workshop in folder.parent.glob(f"{folder.name}.*"):
        process = workshop.suffix.removeprefix(".")
        if process.isdigit() and not is_running(int(process)):
            shutil.rmtree(workshop, ignore_errors=True)


class _Making:
    """Reads the files to choose what is held out, to learn words, and to write tokens."""

    def __init__(self, wanted: CorpusRequest) -> None:
        self.wanted = wanted
        self.damages = files.Damages()
        self.captions = self.short = self.shared = 0

    def write(self, folder: Path) -> CorpusFacts:
        """All of a corpus; what became of the captions."""
        wanted = self.wanted
        held_out = wanted.held_out, wanted.most_held_out
        chosen = files.split(self._first_reading(), *held_out, wanted.seed)
        tokenizer = self._tokenizer(chosen)
        tokenizer.save_pretrained(folder / "tokenizer")

        write = partial(_write_tokens, tokenizer, wanted.longest)
        training = write(folder / "training", self._texts(chosen, "training"))
        halves: dict[Half, list[str]] = {"development": [], "test": []}
        for caption in _once(self._captions(chosen, "held out")):
            halves[chosen.half(caption)].append(caption.text)
        development = write(folder / "development", iter(halves["development"]))
        test = write(folder / "test", iter(halves["test"]))
        self._check(training, development, test)
        return CorpusFacts(
            captions=self.captions,
            short=self.short,
            training=training,
            development=development,
            test=test,
            shared=self.shared,
            damaged=self.damages.count,
            damages=self.damages.first,
        )

    def _first_reading(self) -> Iterator[CorpusCaption]:
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

    def _captions(self, chosen: Split, part: Part) -> Iterator[CorpusCaption]:
        self.shared = 0
        for caption in self._read(lambda _: None):  # told when the files were read first
            if self._is_short(caption):
                continue
            found = chosen.part(caption)
            if found == part:
                yield caption
            elif found == "shared":
                self.shared += 1

    def _read(self, report: Report) -> Iterator[CorpusCaption]:
        for file in self.wanted.files:
            for text, image in files.read_captions(file, report):
                yield CorpusCaption(" ".join(text.split()), image)

    def _is_short(self, caption: CorpusCaption) -> bool:
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


def _write_tokens(tokenizer: Any, longest: int, file: Path, texts: Iterator[str]) -> int:
    """Write the tokens of captions, and where each caption ends; how many there are.

    One without a token (white space of rare kinds) is left out.
    """
    tokenise = partial(tokenizer, add_special_tokens=False, truncation=True, max_length=longest)
    count = last = 0
    with (
        file.with_suffix(".tokens").open("wb") as tokens,
        file.with_suffix(".ends").open("wb") as ends,
    ):
        while some := list(islice(texts, AT_ONCE)):
            rows = list(filter(None, tokenise(some)["input_ids"]))  # nothing else is held
            sizes = np.array([len(row) for row in rows], dtype=np.int64)
            for row in rows:
                tokens.write(np.array(row, dtype=np.int32).tobytes())
            ends.write((last + np.cumsum(sizes)).tobytes())
            last += int(sizes.sum())
            count += len(rows)
    return count


def _once(captions: Iterable[CorpusCaption]) -> Iterator[CorpusCaption]:
    """Each text where it comes first."""
    known = set()
    for caption in captions:
        key = files.text_hash(caption.text)
        if key not in known:
            known.add(key)
            yield caption
