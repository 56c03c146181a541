"""Masked language models: the blank of a cloze item filled with each choice, or with the whole
vocabulary.

A choice is written into the sentence, encoded there, and its own tokens are masked: so spaces,
capitals and pieces of words are those the tokenizer really makes. Where a token joins a choice with
what stands next to it (a Korean noun and its particle), all choices of the item are scored over
that stretch. A choice of several tokens is filled from left to right, each token given those before
it and with those after it masked (the word-wise pseudo-log-likelihood of Kauf & Ivanova 2023), so
that long words gain nothing from their endings; span=pll masks one at a time (Salazar et al. 2020).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import exp
from typing import Any, NamedTuple

import torch

from gnomon.contracts import Scale
from gnomon.errors import ModelError, UsageError
from gnomon.models.transformers.causal import gather, longest, token_budget
from gnomon.models.transformers.passes import logits_at
from gnomon.probing.prompts import Prompt
from gnomon.records import Answer, Item, pick

OUTPUTS = 256  # masked places in a pass


class Filled(NamedTuple):
    """A sentence with a choice written in: its tokens, and which of them are the choice's own."""

    tokens: list[int]
    span: range


class Way(NamedTuple):
    """A sentence with a choice written in: its tokens, the characters of each, and those of the
    choice."""

    text: str
    tokens: list[int]
    offsets: Sequence[tuple[int, int]]
    start: int
    end: int


class Blank(NamedTuple):
    """A masked sentence and the place of the mask that is asked for."""

    tokens: tuple[int, ...]
    place: int


class Masked:
    """A masked language model of transformers, asked with a prompt."""

    scale: Scale = "probability"

    def __init__(
        self,
        spec: str,
        model: Any,
        tokenizer: Any,
        prompt: Prompt,
        *,
        normalise: str = "sum",
        top_k: int = 0,
        span: str = "l2r",
        about: dict[str, Any] | None = None,
    ) -> None:
        _check(spec, tokenizer, normalise, span, top_k)
        self.spec, self.model, self.tokenizer, self.prompt = spec, model, tokenizer, prompt
        self.normalise, self.top_k, self.span, self.about = normalise, top_k, span, about or {}
        self.batch, self.budget = 256, token_budget(model)
        self.longest = longest(model, tokenizer)
        self.tokens = 2048 if next(model.parameters()).device.type == "cpu" else 16384

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
        """One answer for each item: probabilities over its choices, or over the vocabulary with
        `top_k`."""
        filled = self._filled(items)
        troubles = [self._trouble(item, ways) for item, ways in zip(items, filled, strict=True)]
        asked = [number for number, trouble in enumerate(troubles) if not trouble]
        ask = self._top if self.top_k else self._over_choices
        found = dict(
            zip(asked, ask([items[n] for n in asked], [filled[n] for n in asked]), strict=True)
        )
        return [
            found[number] if number in found else Answer(item=item.id, error=troubles[number])
            for number, item in enumerate(items)
        ]

    def _trouble(self, item: Item, ways: Sequence[Filled]) -> str:
        longest = max(len(one.tokens) for one in ways)
        if self.longest and longest > self.longest:
            return f"the text has {longest} tokens, the model takes {self.longest}"
        if not all(one.span for one in ways):
            return "the tokenizer makes no token of one of the choices"
        texts = iter([tuple(one.tokens) for one in ways])
        said = [{next(texts) for _ in words} for words in self.prompt.answers(item)]
        if len(set().union(*said)) < sum(map(len, said)):
            return "to the tokenizer two of the choices are the same, or both unknown"
        return ""

    def _filled(self, items: Sequence[Item]) -> list[list[Filled]]:
        """For each item its sentence with each answer word of each choice."""
        texts: list[str] = []
        places: list[tuple[int, int]] = []
        counts: list[int] = []
        for item in items:
            parts = self.prompt.parts(item)
            if not parts.inline:
                raise UsageError(
                    f"The prompt '{self.prompt.name}' has no blank for a masked model to fill.",
                    "Its template must hold {answer}; see --prompt masked.",
                )
            before = self.prompt.prefix(item.form) + parts.before + parts.lead
            words = [word for alternatives in parts.answers for word in alternatives]
            texts += [before + word + parts.after for word in words]
            places += [(len(before), len(before) + len(word)) for word in words]
            counts.append(len(words))
        encoded = self.tokenizer(texts, return_offsets_mapping=True)
        found = zip(texts, encoded["input_ids"], encoded["offset_mapping"], places, strict=True)
        made = (Way(text, ids, offsets, *place) for text, ids, offsets, place in found)
        return [_fill(list(islice(made, count))) for count in counts]

    def _over_choices(
        self, items: Sequence[Item], filled: Sequence[Sequence[Filled]]
    ) -> list[Answer]:
        blanks: dict[Blank, list[tuple[int, int, int]]] = {}
        for number, ways in enumerate(filled):
            for word, one in enumerate(ways):
                for blank, token in self._blanks(one):
                    blanks.setdefault(blank, []).append((token, number, word))
        totals = [[0.0] * len(ways) for ways in filled]
        for batch in self._alike(list(blanks)):
            logits = self._logits(batch)
            logits = logits - logits.logsumexp(-1, keepdim=True)
            for row, blank in enumerate(batch):
                for token, number, word in blanks[blank]:
                    totals[number][word] += logits[row, token].item()
        answers = []
        for item, scores, ways in zip(items, totals, filled, strict=True):
            if self.normalise == "mean":
                scores = [score / len(one.span) for score, one in zip(scores, ways, strict=True)]
            logs = gather(scores, self.prompt.answers(item))
            weights = [exp(value - max(logs)) for value in logs]
            answers.append(pick(item, tuple(weight / sum(weights) for weight in weights)))
        return answers

    def _blanks(self, one: Filled) -> Iterator[tuple[Blank, int]]:
        mask = self.tokenizer.mask_token_id
        for place in one.span:
            hidden = range(place, one.span.stop) if self.span == "l2r" else range(place, place + 1)
            yield (
                Blank(tuple(mask if i in hidden else t for i, t in enumerate(one.tokens)), place),
                one.tokens[place],
            )

    def _top(self, items: Sequence[Item], filled: Sequence[Sequence[Filled]]) -> list[Answer]:
        """The ViPhy zero-shot rule: an answer counts only if its word is among the k likeliest of
        the vocabulary."""
        blanks: dict[Blank, list[int]] = {}
        for number, ways in enumerate(filled):
            tokens, span = ways[0]
            masked = (*tokens[: span.start], self.tokenizer.mask_token_id, *tokens[span.stop :])
            blanks.setdefault(Blank(masked, span.start), []).append(number)
        answers: dict[int, Answer] = {}
        for batch in self._alike(list(blanks)):
            for blank, row in zip(batch, self._logits(batch).softmax(-1), strict=True):
                best = row.topk(min(self.top_k, len(row))).indices.tolist()
                answers |= {
                    number: self._read(items[number], filled[number], best, row)
                    for number in blanks[blank]
                }
        return [answers[number] for number in range(len(items))]

    def _read(
        self, item: Item, ways: Sequence[Filled], best: Sequence[int], row: torch.Tensor
    ) -> Answer:
        choices = self.prompt.answers(item)
        single = iter(
            [row[one.tokens[one.span.start]].item() if len(one.span) == 1 else 0.0 for one in ways]
        )
        scores = tuple(sum(next(single) for _ in words) for words in choices)
        accepted = {word.lower(): place for place, words in enumerate(choices) for word in words}
        places = iter([place for place, words in enumerate(choices) for _ in words])
        tokens = {
            one.tokens[one.span.start]: place
            for one, place in zip(ways, places, strict=True)
            if len(one.span) == 1
        }
        words = [self.tokenizer.decode([token]).strip() for token in best]
        found = (
            tokens.get(token, accepted.get(word.lower()))
            for token, word in zip(best, words, strict=True)
        )
        place = next((place for place in found if place is not None), None)
        return Answer(
            item=item.id,
            scores=scores,
            reply=", ".join(words),
            choice=None if place is None else item.choices[place],
        )

    def _logits(self, batch: Sequence[Blank]) -> torch.Tensor:
        size = max(len(blank.tokens) for blank in batch)
        pad = self.tokenizer.pad_token_id or 0
        ids = [[*blank.tokens, *[pad] * (size - len(blank.tokens))] for blank in batch]
        seen = [[1] * len(blank.tokens) + [0] * (size - len(blank.tokens)) for blank in batch]
        device = self.model.device
        inputs = {
            "input_ids": torch.tensor(ids, device=device),
            "attention_mask": torch.tensor(seen, device=device),
        }
        places = torch.tensor(
            [row * size + blank.place for row, blank in enumerate(batch)], device=device
        )
        return logits_at(self.model, inputs, places)

    def _alike(self, blanks: Sequence[Blank]) -> Iterator[list[Blank]]:
        batch: list[Blank] = []
        for blank in sorted(blanks, key=lambda blank: len(blank.tokens), reverse=True):
            if batch and (
                (len(batch) + 1) * len(batch[0].tokens) > self.tokens or len(batch) == OUTPUTS
            ):
                yield batch
                batch = []
            batch.append(blank)
        if batch:
            yield batch


def _fill(ways: Sequence[Way]) -> list[Filled]:
    """An item's sentences with the tokens of their choices: for all choices those of the same
    stretch of text."""
    left = right = (
        0  # characters around the choice, beyond spaces, that some token holds together with it
    )
    while True:
        spans = [_span(way.offsets, way.start - left, way.end + right) for way in ways]
        found = [(way, span) for way, span in zip(ways, spans, strict=True) if span]
        before = max(
            (len(way.text[way.offsets[span[0]][0] : way.start].lstrip()) for way, span in found),
            default=0,
        )
        after = max(
            (len(way.text[way.end : way.offsets[span[-1]][1]].rstrip()) for way, span in found),
            default=0,
        )
        if before <= left and after <= right:
            return [Filled(way.tokens, span) for way, span in zip(ways, spans, strict=True)]
        left, right = max(before, left), max(after, right)


def _span(offsets: Sequence[tuple[int, int]], start: int, end: int) -> range:
    """The tokens that hold any character from `start` to `end`."""
    inside = [place for place, (one, two) in enumerate(offsets) if one < end and two > start]
    return range(inside[0], inside[-1] + 1) if inside else range(0)


def _check(spec: str, tokenizer: Any, normalise: str, span: str, top_k: int) -> None:
    if normalise not in ("sum", "mean"):
        raise UsageError(f"A masked model has no normalisation '{normalise}'.", "Known: sum, mean.")
    if span not in ("l2r", "pll"):
        raise UsageError(f"There is no way '{span}' to score several tokens.", "Known: l2r, pll.")
    if top_k < 0:
        raise UsageError(
            f"top_k is {top_k}.", "Give how many words of the vocabulary to look at, 1 or more."
        )
    if tokenizer.mask_token_id is None or not tokenizer.is_fast:
        raise ModelError(
            f"The tokenizer of {spec} has no mask token, or no fast version that tells where words stand.",
            "Ask it as another kind with --model-set kind=KIND.",
        )
