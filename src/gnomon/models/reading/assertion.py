"""Whether a text means a label that it mentions, of which thing, or that nothing follows.

Negated, hedged or conditional mentions do not count. "The stapler is below the monitor" speaks of
the object of "the monitor is ____ the stapler": it says the converse. "The gulls are above" speaks
of neither, and answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from gnomon.lexicon.replies import phrase, reply_words
from gnomon.models.reading.question import ItemQuestion, things_pattern

REACH = 300  # characters around a label that can change what it means

_SENTENCE = re.compile(r"[.!?;\n]")
_BUT = re.compile(r"\bbut\b")
_DENIES = re.compile(r"not|n't|never|(?:(?:any|every)thing|all) but")
_DIRECTLY = frozenset(
    {"", "quite", "at all", "actually", "really", "the", "a", "an", "on the", "to the", "in the"}
)  # between "not" and the label
_NOTHING: frozenset[int] = frozenset()


class Mention(NamedTuple):
    """A word of a choice, and where it stands in a segment."""

    choices: frozenset[int]
    word: str
    start: int
    end: int
    weak: bool = False  # it answers only as a clause of its own: "there is no doubt" is no answer


def asserted(segment: str, mention: Mention, opposite: Mapping[str, int]) -> frozenset[int]:
    """The choices that a mention asserts: its own, none, or the opposite of what it denies."""
    opening = _sentence_start(segment, mention.start)
    before = segment[opening : mention.start]
    after = segment[mention.end : mention.end + REACH]
    if mention.weak and not (phrase("opens").search(before) and phrase("closes").match(after)):
        return _NOTHING
    if _is_undone_after(before, after):
        return _NOTHING
    if not phrase("may_undo").search(before):
        return mention.choices
    if _is_undone_before(before):
        return _NOTHING
    clause = phrase("clause").split(before)[-1]
    negator = phrase("negator").search(clause)
    if negator and not mention.word.startswith("not "):
        return _denied(negator, mention, opposite)
    if phrase("no_noun").search(clause) and not mention.weak:
        return _NOTHING
    return mention.choices


def _sentence_start(segment: str, end: int) -> int:
    """Where the sentence opens that holds a place, not farther before it than is looked at."""
    start = max(0, end - REACH)
    for sign in ".!?;\n":
        start = max(start, segment.rfind(sign, start, end) + 1)
    return start


def _is_undone_before(before: str) -> bool:
    """Whether what stands before a label denies it, doubts it or sets it aside."""
    clause = phrase("clause").split(before)[-1]
    sentence = _SENTENCE.split(before)[-1]
    since_but = _BUT.split(sentence)[-1]
    marks = (
        phrase("compared").search(clause),
        phrase("denied").search(clause),
        phrase("hedged").search(clause),
        phrase("undecided").search(since_but),
        phrase("conceded").search(sentence),
        phrase("otherwise").search(before),
        phrase("aside").search(before),
    )
    return any(marks)


def _is_undone_after(before: str, after: str) -> bool:
    """Whether what follows a label takes it back, or makes it "the larger the better"."""
    negated = phrase("negated_list").search(before)
    if negated and (negated["last"] or phrase("list_goes_on").match(after)):
        return True
    compares = before.endswith("the ") and after.startswith(" the ")
    return compares or phrase("taken_off").match(after) is not None


def _denied(
    negator: re.Match[str], mention: Mention, opposite: Mapping[str, int]
) -> frozenset[int]:
    """What "not LABEL" asserts: the other of two labels that are true and false, else nothing."""
    directly = negator["between"].strip() in _DIRECTLY
    if directly and _DENIES.match(negator[0]) and mention.word in opposite:
        return frozenset({opposite[mention.word]})
    return _NOTHING


# --- of which thing of a question a sentence speaks ----------------------------------------------


About = Literal["subject", "object", "nothing said", "other"]

_IT = re.compile(r"\bit\b")
_SENTENCE_END = re.compile(r"[.!?\n]+")


class Aboutness:
    """Of which thing of a question a mention of a relation is said."""

    def __init__(self, question: ItemQuestion) -> None:
        self._things = things_pattern(question)
        self.known = bool(question.subject)
        self._known_ground = bool(question.object)

    def names(self, sentence: str) -> bool:
        """Whether a sentence names one of the two things, or points at one by a pronoun."""
        return bool(self._named(sentence)) or phrase("pronoun").search(sentence) is not None

    def of(self, segment: str, start: int, end: int) -> About:
        """Of what the words at a place of a segment are said."""
        segment = segment[max(0, start - REACH) : end + REACH]
        start, end = min(start, REACH), min(start, REACH) + end - start
        opening = _last_end(phrase("clause_starts"), segment[:start])
        before = segment[opening:start]
        after = phrase("clause_ends").split(segment[end:], maxsplit=1)[0]
        named_before = self._named(before)
        named_after = self._named(after)
        if phrase("possessive").search(before):
            return _other_than({self._last_named(before)})  # "to the car's left"
        if self._known_ground and not named_after and phrase("of_another").match(after):
            return "other"  # "left of the tree"
        if len(named_before) == 1:
            return named_before.pop()
        if named_before:
            return _other_than(named_after)

        if phrase("relative").match(before):
            return self._last_named(segment[:opening])
        if phrase("pronoun").search(before):
            return self._of_pronoun(segment[:opening], before, named_after)
        if _has_subject_of_its_own(before):
            return "other"
        if named_after == {"subject"}:
            return "other"  # "larger than a bee": of what?
        return "nothing said"

    def _of_pronoun(self, earlier: str, before: str, named_after: set[About]) -> About:
        if len(named_after) == 1:
            return _other_than(named_after)
        sentences = [part for part in _SENTENCE_END.split(earlier) if part.strip()]
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
    clause = before[phrase("leading").match(before).end() :]  # type: ignore[union-attr]
    found = phrase("noun_phrase").match(clause) or phrase("noun_is").match(clause)
    if found is None:
        return False
    words = set(re.findall(r"\w+", found[0]))
    return not words & reply_words().of_the_answer


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    end = 0
    for match in pattern.finditer(text):
        end = match.end()
    return end


# --- replies that say that nothing follows -------------------------------------------------------


_CAN = re.compile(r"\b(?:we|one|you) can ")


def says_undetermined(text: str) -> bool:
    """Whether a reply says that the text does not decide the question.

    >>> says_undetermined("cannot be determined."), says_undetermined("i can't help with that.")
    (True, False)
    """
    if phrase("refused").search(text):
        return False
    found = phrase("not_decided").search(text)
    return found is not None and not _CAN.match(found[0])
