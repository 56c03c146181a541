"""Masked language models: the blank of a cloze item filled with each choice, or with any word.

A choice of several tokens is filled from left to right, each token given those before it and with
those after it masked (the word-wise pseudo-log-likelihood of Kauf & Ivanova 2023), so that long
words gain nothing from their endings; span=pll masks one at a time (Salazar et al. 2020).

A choice is encoded within its sentence, so that spaces, capitals and pieces of words are those the
tokenizer really makes. Where a token joins a choice with what stands next to it (a Korean noun and
its particle), all choices of the item are scored over that stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import exp
from typing import Any, NamedTuple

import torch
from msgspec.structs import replace

from gnomon.contracts import Scale
from gnomon.errors import ModelError, UsageError, check_known
from gnomon.forms import is_written
from gnomon.models.choices import (
    ask_those_without_trouble,
    by_length,
    check_normalisation,
    comparable,
    flat,
    gather,
    take,
    too_long,
)
from gnomon.models.comparison import log_softmax
from gnomon.models.prompted import Prompted
from gnomon.models.prompts.library import Prompt
from gnomon.models.prompts.preview import PromptFormat, continuations
from gnomon.models.transformers.loading import longest_text, token_budget, tokens_in_a_pass
from gnomon.models.transformers.passes import logits_at, padded
from gnomon.models.transformers.tokens import surrounding_tokens
from gnomon.records import Answer, Item, Preview, pick

OUTPUTS = 256  # masked places in a pass
SPANS = ("l2r", "pll")


class Blank(NamedTuple):
    """A masked sentence and the place of the mask that is asked for."""

    tokens: tuple[int, ...]
    place: int
    picture: str = ""  # the key of what is shown with it; empty for nothing


class _Wanted(NamedTuple):
    """A token that is asked for at a blank, and the word that it belongs to."""

    token: int
    item: int
    word: int


class Masked(Prompted):
    """A masked language model of transformers, asked with a prompt."""

    batch = 256

    def __init__(self, *parts: Any, top_k: int = 0, span: str = "l2r", **how: Any) -> None:
        super().__init__(*parts, **how)
        check_normalisation(self.normalise, ("sum", "mean"))
        check_known("way to score several tokens", span, SPANS)
        if top_k < 0:
            raise UsageError(
                f"top_k is {top_k}.", "Give how many words of the vocabulary to look at, 1 or more."
            )
        if self.tokenizer.mask_token_id is None or not self.tokenizer.is_fast:
            raise ModelError(
                f"The tokenizer of {self.spec} has no mask token, or does not tell where words "
                "stand.",
                "Ask it as another kind with --set kind=KIND.",
            )
        self.scale: Scale = "probability"
        self.top_k, self.span = top_k, span
        self.budget = token_budget(self.model)
        self.longest = longest_text(self.model, self.tokenizer)
        self.in_a_pass = tokens_in_a_pass(self.model)

    def describe(self) -> dict[str, Any]:
        """What determines the answers."""
        return {
            **self.about,
            "prompt": self.prompt.describe(),
            "normalise": self.normalise,
            "span": self.span,
            "top_k": self.top_k,
        }

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item: probabilities over its choices.

        With `top_k` they are probabilities over the vocabulary.
        """
        filled = self.filled(items)
        troubles = []
        for item, ways in zip(items, filled, strict=True):
            written = "its answer must be written, and a masked model only chooses"
            troubles.append(written if is_written(item) else self.trouble(item, ways))

        def ask(numbers: Sequence[int]) -> list[Answer]:
            chosen, ways = take(items, numbers), take(filled, numbers)
            if self.top_k:
                return self._likeliest(chosen, ways)
            return self._over_choices(chosen, ways)

        return ask_those_without_trouble(items, troubles, ask)

    def preview(self, item: Item) -> Preview:
        """The text with the mask, and the tokens that are asked for there."""
        (ways,) = self.filled([item])
        words = self.prompt.answers(item)
        tokens = [way.tokens[way.span.start : way.span.stop] for way in ways]
        scored = continuations(item, words, tokens, self.piece)
        blank = next(self.blanks(ways[0]), None)
        read = () if blank is None else blank.tokens
        made = self.previewed(item, self.asking().text(item), read, scored)
        return replace(made, trouble=self.trouble(item, ways))

    def filled(self, items: Sequence[Item]) -> list[list[Filled]]:
        """For each item its sentence with each word of each choice."""
        return fill(self.tokenizer, self.prompt, items)

    def asking(self) -> PromptFormat:
        """What shows prompts without the model."""
        return PromptFormat(
            way="fill",
            prompt=self.kept_prompt,
            blank=self.tokenizer.mask_token,
            bare=True,
            **surrounding_tokens(self.tokenizer),
        )

    def trouble(self, item: Item, ways: Sequence[Filled]) -> str:
        """Why an item cannot be asked; empty if it can."""
        long = too_long(max(len(way.tokens) for way in ways), self.longest, "text")
        if long:
            return long
        if not all(way.span for way in ways):
            return "the tokenizer makes no token of one of the choices"
        if _confuses_choices(self.prompt.answers(item), ways):
            return "to the tokenizer two of the choices are the same, or both unknown"
        return ""

    def _over_choices(
        self, items: Sequence[Item], filled: Sequence[Sequence[Filled]]
    ) -> list[Answer]:
        answers = []
        for item, scores, ways in zip(items, self._scores(filled), filled, strict=True):
            words = self.prompt.answers(item)
            normal = []
            for score, word, way in zip(scores, flat(words), ways, strict=True):
                normal.append(comparable(score, self.normalise, word, len(way.span)))
            answer = pick(item, tuple(map(exp, log_softmax(gather(normal, words)))))
            read = sum(len(way.tokens) * len(way.span) for way in ways)  # each token, once hidden
            answers.append(replace(answer, tokens_read=read))
        return answers

    def _scores(self, filled: Sequence[Sequence[Filled]]) -> list[list[float]]:
        """The log-probability of each word of each item, summed over its tokens."""
        blanks: dict[Blank, list[_Wanted]] = {}
        for item, ways in enumerate(filled):
            for word, way in enumerate(ways):
                for blank in self.blanks(way):
                    wanted = _Wanted(way.tokens[blank.place], item, word)
                    blanks.setdefault(blank, []).append(wanted)

        totals = [[0.0] * len(ways) for ways in filled]

        def add(blank: Blank, logits: torch.Tensor) -> None:
            for wanted in blanks[blank]:
                totals[wanted.item][wanted.word] += logits[wanted.token].item()

        self._each(list(blanks), torch.log_softmax, add)
        return totals

    def blanks(self, way: Filled) -> Iterator[Blank]:
        """The sentence with a token of the word hidden, once for each of its tokens."""
        mask = self.tokenizer.mask_token_id
        for place in way.span:
            end = way.span.stop if self.span == "l2r" else place + 1
            hidden = [mask] * (end - place)
            yield Blank((*way.tokens[:place], *hidden, *way.tokens[end:]), place, way.picture)

    def _likeliest(self, items: Sequence[Item], filled: Sequence[Sequence[Filled]]) -> list[Answer]:
        """ViPhy's zero-shot rule: only a word among the k likeliest of the vocabulary counts."""
        blanks: dict[Blank, list[int]] = {}
        for number, ways in enumerate(filled):
            tokens, span, picture = ways[0]
            masked = (*tokens[: span.start], self.tokenizer.mask_token_id, *tokens[span.stop :])
            blanks.setdefault(Blank(masked, span.start, picture), []).append(number)

        answers: dict[int, Answer] = {}

        def read(blank: Blank, row: torch.Tensor) -> None:
            for number in blanks[blank]:
                answers[number] = self._read(items[number], filled[number], row)

        self._each(list(blanks), torch.softmax, read)
        return [answers[number] for number in range(len(items))]

    def _read(self, item: Item, ways: Sequence[Filled], row: torch.Tensor) -> Answer:
        """The likeliest word that is an answer; words of several tokens cannot be one."""
        scores = [0.0] * len(item.choices)
        by_token: dict[int, int] = {}
        by_word: dict[str, int] = {}
        left = iter(ways)
        for place, words in enumerate(self.prompt.answers(item)):
            for word in words:
                by_word[word.lower()] = place
                way = next(left)
                if len(way.span) == 1:
                    token = way.tokens[way.span.start]
                    scores[place] += row[token].item()
                    by_token[token] = place

        said: list[str] = []
        found = None
        for token in row.topk(min(self.top_k, len(row))).indices.tolist():
            word = self.tokenizer.decode([token]).strip()
            said.append(word)
            if found is None:
                found = by_token.get(token, by_word.get(word.lower()))
        return Answer(
            item=item.id,
            scores=tuple(scores),
            reply=", ".join(said),
            choice=None if found is None else item.choices[found],
        )

    def _each(
        self,
        blanks: Sequence[Blank],
        normal: Callable[[torch.Tensor, int], torch.Tensor],
        use: Callable[[Blank, torch.Tensor], None],
    ) -> None:
        """Hand over each blank with what the model says of the vocabulary there."""
        for numbers in self.batches(blanks):
            batch = take(blanks, numbers)
            for blank, row in zip(batch, normal(self.logits(batch), -1), strict=True):
                use(blank, row)

    def batches(self, blanks: Sequence[Blank]) -> Iterator[list[int]]:
        """The numbers of blanks that are read in one pass."""
        lengths = [len(blank.tokens) for blank in blanks]

        def overfull(batch: Sequence[int]) -> bool:
            return len(batch) * lengths[batch[0]] > self.in_a_pass or len(batch) > OUTPUTS

        return by_length(lengths, overfull)

    def logits(self, batch: Sequence[Blank]) -> torch.Tensor:
        """What the model says of the vocabulary at each blank, read in one pass."""
        device = self.model.device
        rows = [blank.tokens for blank in batch]
        ids, seen = padded(rows, self.tokenizer.pad_token_id or 0, device)
        places = [row * ids.shape[1] + blank.place for row, blank in enumerate(batch)]
        inputs = {"input_ids": ids, "attention_mask": seen}
        return logits_at(self.model, inputs, torch.tensor(places, device=device))


def _confuses_choices(words: Sequence[Sequence[str]], ways: Sequence[Filled]) -> bool:
    """Whether words of different choices are the same tokens."""
    owners: dict[tuple[int, ...], int] = {}
    choices = [choice for choice, alternatives in enumerate(words) for _ in alternatives]
    for choice, way in zip(choices, ways, strict=True):
        if owners.setdefault(tuple(way.tokens), choice) != choice:
            return True
    return False


# --- blanks with a choice written in -------------------------------------------------------------


class Filled(NamedTuple):
    """A sentence with a choice written in: its tokens, and which of them are the choice's own."""

    tokens: Sequence[int]
    span: range
    picture: str = ""  # the key of what is shown with it


class _Sentence(NamedTuple):
    """A sentence with a choice written in, and where the choice stands, in characters."""

    text: str
    start: int
    end: int
    tokens: Sequence[int] = ()
    offsets: Sequence[tuple[int, int]] = ()  # the characters of each token

    def span(self, left: int, right: int) -> range:
        """The tokens that hold any character of the choice, or of so many beside it."""
        start, end = self.start - left, self.end + right
        inside = [n for n, (one, two) in enumerate(self.offsets) if one < end and two > start]
        return range(inside[0], inside[-1] + 1) if inside else range(0)


def fill(tokenizer: Any, prompt: Prompt, items: Sequence[Item]) -> list[list[Filled]]:
    """For each item its sentence with each word of each choice."""
    sentences = [_sentences(prompt, item) for item in items]
    texts = [sentence.text for each in sentences for sentence in each]
    encoded = tokenizer(texts, return_offsets_mapping=True)
    found = zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)

    filled = []
    for each in sentences:
        ways = [_Sentence(*sentence[:3], *next(found)) for sentence in each]
        filled.append(_with_spans(ways))
    return filled


def _sentences(prompt: Prompt, item: Item) -> list[_Sentence]:
    parts = prompt.parts(item)
    if not parts.inline:
        raise UsageError(
            f"The prompt '{prompt.name}' has no blank for a masked model to fill.",
            "Its template must hold {answer}; see --prompt masked.",
        )
    before = prompt.prefix(item.form, prompt.shown_to(item)) + parts.before + parts.lead
    start = len(before)
    found = []
    for word in flat(parts.answers):
        found.append(_Sentence(before + word + parts.after, start, start + len(word)))
    return found


def _with_spans(ways: Sequence[_Sentence]) -> list[Filled]:
    """An item's sentences with the tokens of their choices, all over the same stretch of text."""
    left = right = 0  # characters beside the choice that some token joins with it
    while True:
        spans = [way.span(left, right) for way in ways]
        before = after = 0  # characters, spaces aside, that the tokens of a choice hold beside it
        for way, span in zip(ways, spans, strict=True):
            if span:
                first, last = way.offsets[span[0]], way.offsets[span[-1]]
                before = max(before, len(way.text[first[0] : way.start].lstrip()))
                after = max(after, len(way.text[way.end : last[1]].rstrip()))
        if before <= left and after <= right:
            return [Filled(way.tokens, span) for way, span in zip(ways, spans, strict=True)]
        left, right = max(before, left), max(after, right)
