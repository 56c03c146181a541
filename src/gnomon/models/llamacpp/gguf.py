"""Models in GGUF files, run by llama.cpp: the log-probability of each choice after its context, or
a reply to read.

All that is asked in a batch is a tree of tokens; it is walked in depth-first order with one cache,
so that every shared beginning (instruction, examples, premises, choices that begin alike) is
computed once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from gnomon.contracts import Scale
from gnomon.errors import ModelError, UsageError
from gnomon.fetching.catalogue import sha256_of
from gnomon.models.chat import Writer, chat_template, conversation
from gnomon.models.likelihood import log_sum
from gnomon.models.llamacpp.library import Llama, Wanted
from gnomon.models.reading.replies import as_answer
from gnomon.models.transformers.rows import shared
from gnomon.options import neutral
from gnomon.probing.prompts import Prompt, load_prompt
from gnomon.records import Answer, Item, pick

Normalise = Literal["sum", "mean", "byte", "pmi"]
Ask = Literal["score", "generate"]
Known = dict[tuple[tuple[int, ...], int], float]  # (what stands before, token) -> log-probability
MAGIC = b"GGUF"


@neutral("threads")
def gguf(
    name: str,
    *,
    prompt: str = "",
    shots: int | None = None,
    normalise: Normalise = "sum",
    ask: Ask = "score",
    new_tokens: int = 32,
    chat: bool | None = None,
    context: int = 4096,
    threads: int = 0,
) -> Gguf:
    """A GGUF file by its path. `chat` puts items through the model's chat template; by default
    where it has one.

    `ask` is score (the likelihood of each choice) or generate (a reply of at most `new_tokens`
    tokens, which is read).
    """
    if not name:
        raise UsageError(
            "gguf needs a file.", "Write gguf:PATH, for instance gguf:models/llama-3.2-1b.gguf"
        )
    return Gguf(
        f"gguf:{name}",
        Path(name).expanduser(),
        prompt=prompt,
        shots=shots,
        normalise=normalise,
        ask=ask,
        new_tokens=new_tokens,
        chat=chat,
        context=context,
        threads=threads,
    )


class Choice(NamedTuple):
    """One way to say one choice: all tokens of its text, of which those from `start` on are the
    answer's."""

    tokens: tuple[int, ...]
    start: int
    word: str


class Gguf:
    """A decoder model in a GGUF file."""

    batch = 64

    def __init__(
        self,
        spec: str,
        file: Path,
        *,
        prompt: str,
        shots: int | None,
        normalise: Normalise,
        ask: Ask,
        new_tokens: int,
        chat: bool | None,
        context: int,
        threads: int,
    ) -> None:
        if normalise not in get_args(Normalise):
            raise UsageError(
                f"There is no normalisation '{normalise}'.",
                f"Known: {', '.join(get_args(Normalise))}.",
            )
        if ask not in get_args(Ask):
            raise UsageError(
                f"A model cannot be asked by '{ask}'.", f"Known: {', '.join(get_args(Ask))}."
            )
        check_file(file)
        self.spec, self.file, self.normalise = spec, file, normalise
        self.ask, self.new_tokens = ask, new_tokens
        self.scale: Scale = "log-probability" if ask == "score" else "none"
        self._llama = Llama(file, context=context, threads=threads or _cores())
        template = self._llama.chat_template()
        if chat and not template:
            raise UsageError(f"{file.name} has no chat template.", "Leave out chat=yes.")
        self.chat = bool(template) if chat is None else chat
        self.prompt: Prompt = load_prompt(prompt or ("chat" if self.chat else "plain")).with_shots(
            shots
        )
        self._opening = (
            self._llama.bos if self._llama.bos >= 0 else max(self._llama.eos, 0)
        )  # stands for nothing
        self._beginning = self._llama.token_text(self._llama.bos)
        self._alone: dict[
            tuple[int, ...], float
        ] = {}  # log-probability of an answer's tokens after nothing
        self._template = _template(template, self._llama) if self.chat else None

    def describe(self) -> dict[str, Any]:
        """File, checksum, quantisation, prompt and binding: all that determines the scores."""
        from importlib.metadata import version

        how = (
            {"normalise": self.normalise}
            if self.ask == "score"
            else {"new_tokens": self.new_tokens}
        )
        return {
            "kind": "gguf",
            "file": self.file.name,
            "sha256": sha256_of(self.file),
            "weights": self._llama.describe(),
            "parameters": self._llama.parameters,
            "prompt": self.prompt.describe(),
            "chat": self.chat,
            "ask": self.ask,
            **how,
            "context": self._llama.window,
            "xllamacpp": version("xllamacpp"),
        }

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The log-probability of each choice of each item, or a reply; an item that does not fit is
        an error."""
        if self.ask == "generate":
            return [self._replied(item) for item in items]
        asked = [self._choices(item) for item in items]
        window = self._llama.window
        fits = [
            max(len(way.tokens) for ways in choices for way in ways) <= window for choices in asked
        ]
        paths = [
            way
            for choices, fit in zip(asked, fits, strict=True)
            if fit
            for ways in choices
            for way in ways
        ]
        known = self._walk(paths)
        if self.normalise == "pmi":
            self._learn_alone(way.tokens[way.start :] for way in paths)
        return [
            self._answer(item, choices, known) if fit else self._too_long(item)
            for item, choices, fit in zip(items, asked, fits, strict=True)
        ]

    def _replied(self, item: Item) -> Answer:
        context = (
            conversation(self._template, self.prompt.chat(item))
            if self._template
            else self.prompt.context(item)
        )
        tokens = self._tokens(context) or [self._opening]
        if len(tokens) >= self._llama.window:
            return self._too_long(item)
        return as_answer(
            item, self._llama.reply(tokens, self.new_tokens), self.prompt.answers(item)
        )

    def _too_long(self, item: Item) -> Answer:
        return Answer(
            item=item.id,
            error=f"the prompt is longer than the context of {self._llama.window} tokens",
        )

    def close(self) -> None:
        """Free the model's memory."""
        self._llama.close()

    def _choices(self, item: Item) -> list[list[Choice]]:
        """For each choice each way to say it, as tokens. All are split from the context at the same
        token."""
        if self._template:
            context = conversation(self._template, self.prompt.chat(item), answered=True)
            words = self.prompt.answers(item)
        else:
            context, words = self.prompt.context(item), self.prompt.words(item)
        before = self._tokens(context)
        whole = [[self._tokens(context + word) for word in ways] for ways in words]
        start = min(shared(before, tokens) for ways in whole for tokens in ways)
        opening: list[int] = []
        if not start:  # nothing stands before the answer
            opening, start = [self._opening], 1
        return [
            [
                Choice((*opening, *tokens), start, word)
                for tokens, word in zip(said, ways, strict=True)
            ]
            for said, ways in zip(whole, words, strict=True)
        ]

    def _tokens(self, text: str) -> list[int]:
        """A text as tokens, begun once as the model wants it: many a chat template writes the
        beginning itself."""
        begun = self.chat and bool(self._beginning) and text.startswith(self._beginning)
        return self._llama.tokenize(text, special=self.chat, begin=not begun)

    def _walk(self, paths: Sequence[Choice]) -> Known:
        """The log-probability of each token of each answer after what stands before it."""
        wanted: dict[tuple[int, ...], set[int]] = {}
        for way in paths:
            for n in range(way.start, len(way.tokens)):
                wanted.setdefault(way.tokens[:n], set()).add(way.tokens[n])
        known: Known = {}
        for chain in _chains(sorted(wanted)):
            places = [Wanted(len(prefix), tuple(sorted(wanted[prefix]))) for prefix in chain]
            found = self._llama.log_probabilities(chain[-1], places)
            for prefix, place, values in zip(chain, places, found, strict=True):
                known.update(
                    ((prefix, token), value)
                    for token, value in zip(place.tokens, values, strict=True)
                )
        return known

    def _answer(self, item: Item, choices: list[list[Choice]], known: Known) -> Answer:
        return pick(
            item, tuple(log_sum(self._score(way, known) for way in ways) for ways in choices)
        )

    def _score(self, way: Choice, known: Known) -> float:
        total = sum(known[way.tokens[:n], way.tokens[n]] for n in range(way.start, len(way.tokens)))
        if self.normalise == "pmi":
            return total - self._alone[way.tokens[way.start :]]
        per = {"sum": 1, "mean": len(way.tokens) - way.start, "byte": len(way.word.encode())}[
            self.normalise
        ]
        return total / max(per, 1)

    def _learn_alone(self, answers: Iterable[tuple[int, ...]]) -> None:
        """How likely each answer's tokens are after nothing: what PMI takes off, so that common
        words gain nothing."""
        for answer in dict.fromkeys(answers):
            if answer not in self._alone:
                tokens = (self._opening, *answer)
                known = self._walk([Choice(tokens, 1, "")])
                self._alone[answer] = sum(
                    known[tokens[:n], tokens[n]] for n in range(1, len(tokens))
                )


def check_file(file: Path) -> None:
    """Say what is wrong with a file that is not there or is no GGUF, before llama.cpp sees it."""
    try:
        with file.open("rb") as stream:
            head = stream.read(8)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise ModelError(
            f"{file}: {reason}.", "Give the path of a .gguf file: gguf:PATH."
        ) from None
    if head[:4] != MAGIC or len(head) < 8:
        raise ModelError(
            f"{file} is not a GGUF file: it does not begin as one.",
            "Models in other formats load with hf:PATH.",
        )


def _chains(prefixes: Sequence[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    """Sorted prefixes cut into runs in which each continues the one before, so that a run is
    computed in one go."""
    chain: list[tuple[int, ...]] = []
    for prefix in prefixes:
        if chain and prefix[: len(chain[-1])] != chain[-1]:
            yield chain
            chain = []
        chain.append(prefix)
    if chain:
        yield chain


def _template(source: str, llama: Llama) -> Writer:
    return chat_template(
        source, {"bos_token": llama.token_text(llama.bos), "eos_token": llama.token_text(llama.eos)}
    )


def _cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
