"""Models in GGUF files, run by llama.cpp: the log-probability of each choice, or a reply to read.

With a projector they see: the pictures of an item stand before its question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from gnomon.contracts import ANYTHING, TEXT, Takes
from gnomon.errors import UsageError
from gnomon.fingerprint import sha256_of
from gnomon.models.asking import HOW, MOST_PICTURES, Asking, continuations, frames
from gnomon.models.chat import Writer, chat_template
from gnomon.models.choices import (
    Likelihoods,
    Query,
    Reply,
    check_way_to_ask,
    describe_asking,
    flat,
    read_tokens,
    replied,
    reply_room,
    scale_of,
)
from gnomon.models.keeping import is_kept, kept
from gnomon.models.likelihood import check_normalisation
from gnomon.models.llamacpp.checking import available_cores, check_file, check_sizes
from gnomon.models.llamacpp.eyes import Eyes, Picture
from gnomon.models.llamacpp.llama import Llama
from gnomon.models.llamacpp.sight import (
    SIGN,
    answer_seeing,
    contexts_with_signs,
    split_at_signs,
    writer_with_signs,
)
from gnomon.models.llamacpp.trial import check_loads
from gnomon.models.llamacpp.walking import walk
from gnomon.models.prompts.library import load_prompt
from gnomon.models.transformers.rows import shared
from gnomon.records import Answer, Continuation, Item, Preview
from gnomon.vision.decoding import check_decoder

Normalise = Literal["sum", "mean", "byte", "pmi"]
Ask = Literal["score", "generate"]
_CONTROL = re.compile(r"<\|[^<>|\s]+\|>|</?[a-z_]+>|\[/?[A-Z]+\]")  # as templates write them


class Gguf:
    """A decoder model in a GGUF file, with eyes where a projector is given."""

    batch = 64
    takes: frozenset[Takes] = TEXT

    def __init__(
        self,
        spec: str,
        file: Path,
        *,
        prompt: str,
        wording: int,
        shots: int | None,
        examples: str = "",
        normalise: Normalise,
        ask: Ask,
        new_tokens: int | None,
        chat: bool | None,
        context: int,
        threads: int,
        mmproj: Path | None = None,
    ) -> None:
        check_way_to_ask(ask)
        check_normalisation(normalise)
        check_sizes(context, reply_room(new_tokens, ""), threads)
        check_file(file)
        threads = threads or available_cores()
        check_loads(file, context=context, threads=threads)
        if mmproj:
            check_decoder()
            check_file(mmproj, "Give the projector's GGUF file with --set mmproj=FILE.")
            check_loads(file, context=context, threads=threads, mmproj=mmproj)
        self.spec, self.file = spec, file
        self.ask = ask
        self.scale = scale_of(ask)
        weights = ("llama", file, context, threads)
        self.llama = kept(weights, lambda: Llama(file, context=context, threads=threads))
        self._eyes: Eyes | None = None
        self._pictures: Sequence[Picture] = ()  # that the items which are asked now show
        try:
            if mmproj:
                self._eyes = Eyes(mmproj, self.llama, threads=threads)
                self.takes = ANYTHING
            self._choose_way_to_write(chat)
            usual = "chat" if self.chat else "plain"
            self.prompt = load_prompt(prompt or usual, wording).with_shots(shots, examples)
            self.lists_choices = self.prompt.lists_choices
            template = self.llama.chat_template() if self.chat else ""
            self.new_tokens = reply_room(new_tokens, template)
        except BaseException:
            self.close()
            raise
        self._beginning = self.llama.token_text(self.llama.bos)
        self._nothing = [_stand_in(self.llama)]
        self._likelihoods = Likelihoods(
            self._log_probabilities,
            normalise=normalise,
            nothing=self._nothing,
            longest=self.llama.window,
            size=self._size,
        )

    def _choose_way_to_write(self, chat: bool | None) -> None:
        template = self.llama.chat_template()
        if chat and not template:
            raise UsageError(f"{self.file.name} has no chat template.", "Leave out chat=yes.")
        self.chat = bool(template) if chat is None else chat
        self._write = _writer(template, self.llama) if self.chat else None

    def describe(self) -> dict[str, Any]:
        """File, checksum, quantisation, prompt and binding: all that determines the scores."""
        from importlib.metadata import version

        seeing = {"mmproj": self._eyes.describe()} if self._eyes else {}
        return {
            "kind": "gguf",
            "file": self.file.name,
            "sha256": sha256_of(self.file),
            **seeing,
            "weights": self.llama.describe(),
            "parameters": self.llama.parameters,
            "prompt": self.prompt.describe(),
            "chat": self.chat,
            **describe_asking(self.ask, self._likelihoods.normalise, self.new_tokens),
            "context": self.llama.window,
            "xllamacpp": version("xllamacpp"),
        }

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The log-probability of each choice, or a reply; an item that does not fit is an error."""
        if self._eyes is None:
            return self._answer_shown(items, ())
        return answer_seeing(items, self._eyes, self._answer_shown)

    def _answer_shown(self, items: Sequence[Item], pictures: Sequence[Picture]) -> list[Answer]:
        """Answers to items that show the same pictures, or none."""
        self._pictures = pictures
        if self.ask == "generate":
            return self._replies(items)
        words = [self._words(item) for item in items]
        before = self._contexts(items, answered=True)
        queries = [self._query(text, flat(said)) for text, said in zip(before, words, strict=True)]
        return self._likelihoods.answers(items, words, queries)

    def preview(self, item: Item) -> Preview:
        """What the model reads for an item, and the tokens that are scored."""
        if self._eyes is None:
            return self._preview_shown(item, ())
        made = []

        def look(_: Sequence[Item], pictures: Sequence[Picture]) -> list[Answer]:
            made.append(self._preview_shown(item, pictures))
            return [Answer(item=item.id)]

        (answer,) = answer_seeing([item], self._eyes, look)
        if made:
            return made[0]
        found = self.asking()
        return Preview(how=HOW[found.way], images=len(item.images), trouble=answer.error or "")

    def _preview_shown(self, item: Item, pictures: Sequence[Picture]) -> Preview:
        self._pictures = pictures
        found = self.asking()
        (text,) = self._contexts([item], answered=self.ask == "score")
        scored: tuple[Continuation, ...] = ()
        if self.ask == "generate":
            (ids,) = self._prompts([text])
        else:
            words = self._words(item)
            ids, tokens = self._query(text, flat(words))
            scored = continuations(item, words, tokens, self.llama.piece)
        text = self._opened(text)
        return Preview(
            text=text,
            scored=scored,
            images=len(pictures),
            tokens=len(ids),
            ids=tuple(ids),
            special=tuple(token for token in found.special if token in text),
            how=HOW[found.way],
            limits=found.limits,
        )

    def asking(self) -> Asking:
        """What shows prompts without the model."""
        write = self._write
        framed = None
        if write is not None:
            most = MOST_PICTURES if self._eyes else 0
            answered = self.ask == "score"
            framed = frames(
                self.prompt,
                lambda pictures: writer_with_signs(write, pictures),
                answered=answered,
                most_pictures=most,
            )
            for name, (before, after) in framed.items():
                framed[name] = (self._opened(before), after)
        limits: dict[str, Any] = {}
        if self.ask == "generate":
            limits = {
                "new_tokens": self.new_tokens,
                "stops": [self.llama.token_text(self.llama.eos)],
                "draws": "always the likeliest token",
            }
        return Asking(
            way=self.ask,
            prompt=replace(self.prompt, paraphrases=()),
            frames=framed,
            bare=write is not None,
            opening=self._opening,
            takes_pictures=self._eyes is not None,
            mark=SIGN,
            special=tuple(filter(None, (self._beginning, *_template_tokens(framed)))),
            limits=limits,
        )

    def close(self) -> None:
        """Free the model's memory."""
        if self._eyes:
            self._eyes.close()
        if not is_kept(self.llama):
            self.llama.close()

    def _contexts(self, items: Sequence[Item], *, answered: bool) -> list[str]:
        count = len(self._pictures)
        return contexts_with_signs(self.prompt, items, self._write, count, answered=answered)

    def _replies(self, items: Sequence[Item]) -> list[Answer]:
        tokens = self._prompts(self._contexts(items, answered=False))
        room = 1 + self._more_room()
        window = self.llama.window
        return replied(items, self.prompt, tokens, self._generate, longest=window, room=room)

    def _prompts(self, texts: Sequence[str]) -> list[list[int]]:
        """What the model reads before it writes."""
        tokens = [self.tokenize(text) or self._nothing for text in texts]
        for each in tokens:
            _check_text_follows(each)
        return tokens

    def _generate(self, prompts: Sequence[Sequence[int]]) -> list[Reply]:
        return [
            self._reply(prompt, self.llama.reply(prompt, self.new_tokens)) for prompt in prompts
        ]

    def _reply(self, prompt: Sequence[int], said: Sequence[int]) -> Reply:
        cut = len(said) == self.new_tokens
        return Reply(self.llama.text(said), len(prompt) + len(said), cut, len(said))

    def _words(self, item: Item) -> Sequence[Sequence[str]]:
        """The ways to say each choice."""
        return self.prompt.answers(item) if self._write else self.prompt.words(item)

    def _query(self, context: str, words: Sequence[str]) -> Query:
        """A context and what may follow it, as tokens, all split at the same one."""
        before = self.tokenize(context)
        whole = [self.tokenize(context + word) for word in words]
        start = min(shared(before, tokens) for tokens in whole)
        _check_text_follows(before[:start])
        continuations = [tokens[start:] for tokens in whole]
        return Query(before[:start] or self._nothing, continuations)

    @property
    def _opening(self) -> str:
        """What every text begins with, written out."""
        return "".join(map(self.llama.token_text, self.llama.opening))

    def _opened(self, text: str) -> str:
        """A text with what it begins with."""
        return text if self._is_begun(text) else self._opening + text

    def _is_begun(self, text: str) -> bool:
        """Whether a text has its beginning: many a chat template writes it."""
        return self.chat and bool(self._beginning) and text.startswith(self._beginning)

    def tokenize(self, text: str) -> list[int]:
        """A text as tokens, begun once."""
        first, *rest = split_at_signs(text, len(self._pictures))
        begin = not self._is_begun(text)
        tokens = self.llama.tokenize(first, special=self.chat, begin=begin)
        for picture, part in zip(self._pictures, rest, strict=True):
            tokens += picture.path
            tokens += self.llama.tokenize(part, special=self.chat, begin=False)
        return tokens

    def _log_probabilities(self, queries: Sequence[Query]) -> list[list[float]]:
        """The log-probability of each continuation, summed over its tokens."""
        return walk(self.llama, queries)

    def _size(self, query: Query) -> int:
        return read_tokens(query) + self._more_room()

    def _more_room(self) -> int:
        """What the pictures take of the window beyond their length in the path."""
        return sum(picture.more for picture in self._pictures)


def _check_text_follows(context: Sequence[int]) -> None:
    """llama.cpp says nothing of what comes directly after a picture."""
    if context and context[-1] < 0:
        raise ValueError("the prompt has no text between the picture and the answer")


def _template_tokens(framed: Mapping[str, tuple[str, str]] | None) -> list[str]:
    """What looks like a control token in what a chat template writes."""
    found: dict[str, None] = {}
    for before, after in (framed or {}).values():
        found |= dict.fromkeys(_CONTROL.findall(before + after))
    return list(found)


def _writer(source: str, llama: Llama) -> Writer:
    special = {"bos_token": llama.token_text(llama.bos), "eos_token": llama.token_text(llama.eos)}
    return chat_template(source, special)


def _stand_in(llama: Llama) -> int:
    """The token that stands for nothing before an answer that begins a text."""
    if llama.bos >= 0:
        return llama.bos
    return max(llama.eos, 0)
