"""The blank of an item with each choice written in, and which tokens are then the choice's own.

A choice is encoded within its sentence, so that spaces, capitals and pieces of words are those the
tokenizer really makes. Where a token joins a choice with what stands next to it (a Korean noun and
its particle), all choices of the item are scored over that stretch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.errors import UsageError
from gnomon.models.choices import flat
from gnomon.models.prompts.library import Prompt
from gnomon.records import Item


class Filled(NamedTuple):
    """A sentence with a choice written in: its tokens, and which of them are the choice's own."""

    tokens: list[int]
    span: range


class _Sentence(NamedTuple):
    """A sentence with a choice written in, and where the choice stands, in characters."""

    text: str
    start: int
    end: int


class Way(NamedTuple):
    """A sentence as tokens, with the characters of each."""

    sentence: _Sentence
    tokens: list[int]
    offsets: Sequence[tuple[int, int]]


def fill(tokenizer: Any, prompt: Prompt, items: Sequence[Item]) -> list[list[Filled]]:
    """For each item its sentence with each word of each choice."""
    sentences = [_sentences(prompt, item) for item in items]
    texts = [sentence.text for each in sentences for sentence in each]
    encoded = tokenizer(texts, return_offsets_mapping=True)
    found = zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)

    filled = []
    for each in sentences:
        ways = [Way(sentence, *next(found)) for sentence in each]
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


def _with_spans(ways: Sequence[Way]) -> list[Filled]:
    """An item's sentences with the tokens of their choices, all over the same stretch of text."""
    left = right = 0  # characters beside the choice that some token joins with it
    while True:
        spans = [_span(way, left, right) for way in ways]
        before = after = 0
        for way, span in zip(ways, spans, strict=True):
            if span:
                before = max(before, _joined_before(way, span))
                after = max(after, _joined_after(way, span))
        if before <= left and after <= right:
            return [Filled(way.tokens, span) for way, span in zip(ways, spans, strict=True)]
        left, right = max(before, left), max(after, right)


def _span(way: Way, left: int, right: int) -> range:
    """The tokens that hold any character of the choice, or of so many beside it."""
    start, end = way.sentence.start - left, way.sentence.end + right
    inside = [n for n, (one, two) in enumerate(way.offsets) if one < end and two > start]
    return range(inside[0], inside[-1] + 1) if inside else range(0)


def _joined_before(way: Way, span: range) -> int:
    """Characters before the choice, spaces aside, that its tokens hold."""
    text, start, _ = way.sentence
    return len(text[way.offsets[span[0]][0] : start].lstrip())


def _joined_after(way: Way, span: range) -> int:
    """Characters after the choice, spaces aside, that its tokens hold."""
    text, _, end = way.sentence
    return len(text[end : way.offsets[span[-1]][1]].rstrip())
