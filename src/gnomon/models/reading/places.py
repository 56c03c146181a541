"""Where the answer of a reply may stand: the rules of reading, surest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gnomon.models.reading.cleaning import lines_of, sentences_of


class Rule(NamedTuple):
    """A rule gives segments of a reply; the first in which a label is asserted decides."""

    name: str
    segments: Callable[[str], Iterator[str]]
    alone: bool = False  # the segment must be the label and nothing else
    prose: bool = False  # here only "(b)" and "option b" are letters, since "a" is a word


_BOXED = re.compile(
    r"\\boxed\s*\{([^{}]*)\}|<answer>(.*?)</answer>|"
    r"\"(?:final[_ ]answer|answer|label|choice|prediction|verdict)\"\s*:\s*\"([^\"\n]*)\"",
    re.DOTALL,
)
_ANNOUNCED = re.compile(
    r"\b(?:answer|verdict|prediction|"
    r"(?:correct|right|best|final|true) (?:choice|option|label|relation|word|response))"
    r"\s*(?:to [^.:\n]{1,80}? )?[\"']?\s*"
    r"(?:(?:is|would be|should be|must be|will be)\b(?!n't)\s*[:=]?|[:=]|-+(?=\s))\s*|"
    r"\bi(?:'d| would|'ll| will)? (?:choose|pick|select|say|answer|go with|opt for)\b\s*:?\s*"
)
_APPROVED = re.compile(
    r"\b(?:is|fits|would be) (?:the )?(?:best|correct|right)\b(?! (?:of|to|side)\b)"
)
_TAKEN_BACK = re.compile(
    r"\b(?:wait|on second thought|scratch that|i take that back|let me re(?:consider|think))\b"
)
_CORRECTED = re.compile(rf"(?:{_TAKEN_BACK.pattern}|(?:^|[.!?\n]\s*)(?:actually|correction)\b)")
_WITHHELD = re.compile(
    r"^\W*(?:not (?:possible|clear|known|given|certain)|impossible|unclear|unknown|uncertain|"
    r"cannot|can't|undetermined)\b"
)
_CONCLUDED = re.compile(
    r"(?:^|[,;:]\s*|\band )(?:so|therefore|thus|hence|consequently|in conclusion|in short|overall|"
    r"we can conclude that|this means(?: that)?|it follows that)\b(?!\s+that)"
)
_END_OF_LEAD = re.compile(r"[.,;:!]|\s-+\s|\bbecause\b|\bsince\b|\bas\b")
_END_OF_SENTENCE = re.compile(r"[.!?](?:\s|$)|\n")
_END_OF_CLAUSE = re.compile(r"[.,;:!?\n]")


def takes_back(text: str) -> bool:
    """Whether a reply says "wait" or the like: what it said before no longer holds."""
    return _TAKEN_BACK.search(text) is not None


def withholds(text: str) -> bool:
    """Whether a reply announces that there is no answer: "The answer is not possible"."""
    return any(_WITHHELD.search(segment) for segment in _announced(text))


def conclusions(text: str) -> Iterator[str]:
    """What follows "so", "therefore" ..., the last such sentence first."""
    for sentence in reversed(sentences_of(text)):
        marks = list(_CONCLUDED.finditer(sentence))
        if marks:
            yield sentence[marks[-1].end() :]


def _whole(text: str) -> Iterator[str]:
    yield text


def _boxed(text: str) -> Iterator[str]:
    for match in reversed(list(_BOXED.finditer(text))):
        yield match[1] or match[2] or match[3] or ""


def _announced(text: str) -> Iterator[str]:
    for match in reversed(list(_ANNOUNCED.finditer(text))):
        rest = text[match.end() :].lstrip()
        yield _END_OF_SENTENCE.split(rest, maxsplit=1)[0]


def _corrected(text: str) -> Iterator[str]:
    marks = list(_CORRECTED.finditer(text))
    if marks:
        yield "\n".join(sentences_of(text[marks[-1].end() :]))


def _lone_lines(text: str) -> Iterator[str]:
    yield " \n ".join(lines_of(text))


def _lead(text: str) -> Iterator[str]:
    lines = lines_of(text)
    if lines:
        yield _END_OF_LEAD.split(lines[0], maxsplit=1)[0]


def _last_line(text: str) -> Iterator[str]:
    lines = lines_of(text)
    if len(lines) > 1 and sentences_of(lines[-1]):
        yield lines[-1]


def _approved(text: str) -> Iterator[str]:
    for match in reversed(list(_APPROVED.finditer(text))):
        yield _END_OF_CLAUSE.split(text[: match.start()])[-1]


def _everywhere(text: str) -> Iterator[str]:
    yield "\n".join(sentences_of(text))


RULES: tuple[Rule, ...] = (
    # the reply is a label and nothing else: "**Larger**.", "(b)"
    Rule("whole", _whole, alone=True),
    # the last \boxed{...} or <answer>...</answer>
    Rule("boxed", _boxed),
    # after the last "the answer is", "Answer:", "correct option:" that names a label
    Rule("announced", _announced),
    # what follows the last "wait", "on second thought", "Actually"
    Rule("corrected", _corrected, prose=True),
    # a line that is a label and nothing else
    Rule("line", _lone_lines, alone=True),
    # the reply opens with a label: "Yes, because ..."; unless its conclusion says otherwise
    Rule("lead", _lead, alone=True),
    # after "so", "therefore" ... in the last such sentence that names a label
    Rule("concluded", conclusions, prose=True),
    # the last of several lines
    Rule("last line", _last_line, prose=True),
    # the words before "is correct", "is right", "fits best"
    Rule("approved", _approved),
    # the only label that the whole reply asserts
    Rule("sole", _everywhere, prose=True),
)
