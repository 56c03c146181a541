"""Of which thing a sentence says what it says: the question's subject, its object, or another.

"The stapler is below the monitor" speaks of the object of "the monitor is ____ the stapler": it
says the converse. "The gulls are above" speaks of neither, and answers nothing.
"""

from __future__ import annotations

import re
from typing import Literal

from gnomon.models.reading.assertion import REACH
from gnomon.models.reading.question import Question, things_pattern

About = Literal["subject", "object", "nothing said", "other"]

_CLAUSE_STARTS = re.compile(
    r"[,;:.!?\n(]|\b(?:but|because|since|so|while|whereas|although|though|therefore)\b|\s-+\s"
)
_CLAUSE_ENDS = re.compile(r"[,;:.!?\n)]|\b(?:but|because|since|so|while|whereas|although)\b|\s-+\s")
_RELATIVE = re.compile(r"^\s*(?:which|that|who)\b")
_PRONOUN = re.compile(r"\b(?:it|this|that|they|both|he|she|these)\b")
_IT = re.compile(r"\bit\b")
_SENTENCE = re.compile(r"[.!?\n]+")
_LEADING = re.compile(r"^\W*(?:(?:and|then|here|thus|hence|as|in short|overall)\b\W*)*")
_NOUN_PHRASE = re.compile(r"(?:(?:an?|the|some|all|most|many)\s+[\w'-]+\s+[\w' -]+|\w+s\s+\w+)")
_NOUN_IS = re.compile(r"\w+\s+(?:is|are|was|were)\b")
# Nouns and the like that speak of the answer, not of a thing.
_OF_THE_ANSWER = frozenset(
    """answer answers word words option choice statement blank relation relationship label text
    premise sentence claim hypothesis result solution response correct best right one it this that
    there which what he she they we i you both color colour size height position conclusion verdict
    term phrase fit object objects things these those thing letter most only missing proper
    lot bit little deal good""".split()
)


class Aboutness:
    """Of which thing of a question a mention of a relation is said."""

    def __init__(self, question: Question) -> None:
        self._things = things_pattern(question)
        self.known = bool(question.subject)

    def names(self, sentence: str) -> bool:
        """Whether a sentence names one of the two things, or points at one by a pronoun."""
        return bool(self._named(sentence)) or _PRONOUN.search(sentence) is not None

    def of(self, segment: str, start: int, end: int) -> About:
        """Of what the words at a place of a segment are said."""
        segment = segment[max(0, start - REACH) : end + REACH]
        start, end = min(start, REACH), min(start, REACH) + end - start
        opening = _last_end(_CLAUSE_STARTS, segment[:start])
        before = segment[opening:start]
        after = _CLAUSE_ENDS.split(segment[end:], maxsplit=1)[0]
        named_before = self._named(before)
        named_after = self._named(after)
        if len(named_before) == 1:
            return named_before.pop()
        if named_before:
            return _other_than(named_after)

        if _RELATIVE.match(before):
            return self._last_named(segment[:opening])
        if _PRONOUN.search(before):
            return self._of_pronoun(segment[:opening], before, named_after)
        if _has_subject_of_its_own(before):
            return "other"
        if named_after == {"subject"}:
            return "other"  # "larger than a bee": of what?
        return "nothing said"

    def _of_pronoun(self, earlier: str, before: str, named_after: set[About]) -> About:
        if len(named_after) == 1:
            return _other_than(named_after)
        sentences = [part for part in _SENTENCE.split(earlier) if part.strip()]
        if sentences and _IT.search(before) and self._named(sentences[-1]) == {"object"}:
            return "other"  # "An apple is a fruit. It is larger.": which of them?
        return "nothing said"

    def _named(self, text: str) -> set[About]:
        found: set[About] = set()
        for match in self._things.finditer(text):
            found.add("subject" if match["subject"] else "object")
        return found

    def _last_named(self, text: str) -> About:
        last: About = "other"
        for match in self._things.finditer(text):
            last = "subject" if match["subject"] else "object"
        return last


def _other_than(named: set[About]) -> About:
    """Of what a comparison is said that names one of two things after it."""
    if named == {"object"}:
        return "subject"
    if named == {"subject"}:
        return "object"
    return "other"


def _has_subject_of_its_own(before: str) -> bool:
    """Whether what stands before a relation opens with a noun that is neither of the two things."""
    clause = before[_LEADING.match(before).end() :]  # type: ignore[union-attr]
    found = _NOUN_PHRASE.match(clause) or _NOUN_IS.match(clause)
    if found is None:
        return False
    words = set(re.findall(r"\w+", found[0]))
    return not words & _OF_THE_ANSWER


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    end = 0
    for match in pattern.finditer(text):
        end = match.end()
    return end
