"""Whether a text means a label that it mentions.

Negated, hedged or conditional mentions do not count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

REACH = 300  # characters around a label that can change what it means

_NEGATOR = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|hardly|without|rather than|instead of|opposed to|"
    r"far from|[a-z] over)|n't)(?! only\b)(?P<between>(?:[ \t]+[\w'\"()]+){0,4}?)[ \t]+[\"'(]*$"
)
_NO_NOUN = re.compile(r"\bno[ \t]+[\"'(]*$")  # "no contradiction"
_DENIED = re.compile(
    r"\b(?:not (?:the case|true|correct)|incorrect|wrong|false) (?:that|to say)\b[^,;]*$"
)
_UNDECIDED = re.compile(
    r"(?:\b(?:insufficient|whether|if|unclear|unsure|"
    r"no (?:information|evidence|indication|mention|way|reason)|nothing (?:to|that|says)|"
    r"(?:can't|cannot) (?:tell|say|be determined)|(?:impossible|hard|difficult|unable) to)|"
    r"(?:\bnot|n't) (?:enough|sufficient|know|say|state|mention|specify|indicate|clear|certain|"
    r"sure|possible))"
    r"\b[^.;\n]*$"
)
_HEDGED = re.compile(
    r"\b(?:might|may|could|possibly|perhaps)\b|"
    r"\b(?:partially|partly|mostly|half|somewhat|almost|nearly|\w+ish)[ -]$"
)
_OTHERWISE = re.compile(r"\botherwise\b[^.;!?\n]*$")
_NEGATED_LIST = re.compile(  # "not inside, above or"
    r"(?:\bnot|n't|\bnever)\s+(?:[\w'\"-]+(?: with| of)?,\s*){1,8}"
    r"(?P<last>(?:[\w'\"-]+,?\s*)?\b(?:or|nor)\s+)?[\"']*$"
)
_LIST_GOES_ON = re.compile(r"[\"']*(?:,\s*[\w'\"-]+){0,8},?\s*\b(?:or|nor)\b")
_CONCEDED = re.compile(r"\b(?:while|although|though|even if)\b[^,;:.!?\n]*$")
_ASIDE = re.compile(  # words that point at the text: "none of the above", "see below"
    r"\b(?:(?:none|all|any|both|either) of (?:the|these)|"
    r"mentioned|described|stated|said|shown|given|noted|see|explained|discussed|listed|"
    r"(?:given|considering|from|per|based on) the)\s+$"
)
_IN_A_LIST = (
    r"(?:(?:,\s*[\"'(]*[\w-]+(?: \w+)?[\"')]*){0,8},?\s*"
    r"(?:/|\b(?:or|and|nor)\b)\s*[\"'(]*[\w-]+(?: with| of)?[\"')]*)?"
)
_TAKEN_OFF = re.compile(  # what follows a label, or the list that it stands in, takes it back
    r"[\"')]*" + _IN_A_LIST + r"(?:"
    r"\s+(?:is|are|was|would be|must be|can be) (?:both |clearly |also )?"
    r"(?:wrong|incorrect|ruled out|excluded|not\b)|"
    r"\s+(?:cannot|can't|isn't|aren't|is impossible)\b|"
    r"\s+(?:would|do|does|did|could)(?: not|n't)\b|"
    r"\s+(?:are|is|were|seem|would be) (?:all |both |each |also |equally )?possible\b|"
    r"[^.!?\n]*\bbut (?:it is |it's |this is |that is |that's )?"
    r"not (?:certain|sure|definite|guaranteed)|"
    r"\s+(?:only )?(?:if|when|unless|provided|assuming)\b|"
    r"[^.!?\n,;]* if (?:it|the|he|she|they|we|there)\b[^.!?\n]*\b(?:were|was|had)\b)"
)
_CLAUSE = re.compile(r"[,;:.!?\n]|\bbut\b|\bbecause\b|\bsince\b|\s-+\s")
_SENTENCE = re.compile(r"[.!?;\n]")
_BUT = re.compile(r"\bbut\b")
_DENIES = re.compile(r"not|n't|never")
_DIRECTLY = frozenset({"", "quite", "at all", "actually", "really"})  # between "not" and the label
_OPENS = re.compile(
    r"(?:^|[.,;:!?\n\"'(]|'s|'re|\b(?:say|is|are|was|be|answer|think|guess|but|so|a|"
    r"clear|definite|definitely|"
    r"clearly|simply|just|probably|certainly|firm))\s*[\"'(]*$"
)
_CLOSES = re.compile(r"\W*(?:$|[.,;:!\n]|because\b)")
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
    before = segment[max(0, mention.start - REACH) : mention.start]
    after = segment[mention.end : mention.end + REACH]
    if mention.weak and not (_OPENS.search(before) and _CLOSES.match(after)):
        return _NOTHING
    if _is_undone_before(before) or _is_undone_after(before, after):
        return _NOTHING
    clause = _CLAUSE.split(before)[-1]
    negator = _NEGATOR.search(clause)
    if negator and not mention.word.startswith("not "):
        return _denied(negator, mention, opposite)
    if _NO_NOUN.search(clause) and not mention.weak:
        return _NOTHING
    return mention.choices


def _is_undone_before(before: str) -> bool:
    """Whether what stands before a label denies it, doubts it or sets it aside."""
    clause = _CLAUSE.split(before)[-1]
    sentence = _SENTENCE.split(before)[-1]
    since_but = _BUT.split(sentence)[-1]
    marks = (
        _DENIED.search(clause),
        _HEDGED.search(clause),
        _UNDECIDED.search(since_but),
        _CONCEDED.search(sentence),
        _OTHERWISE.search(before),
        _ASIDE.search(before),
    )
    return any(marks)


def _is_undone_after(before: str, after: str) -> bool:
    """Whether what follows a label takes it back, or makes it "the larger the better"."""
    negated = _NEGATED_LIST.search(before)
    if negated and (negated["last"] or _LIST_GOES_ON.match(after)):
        return True
    compares = before.endswith("the ") and after.startswith(" the ")
    return compares or _TAKEN_OFF.match(after) is not None


def _denied(
    negator: re.Match[str], mention: Mention, opposite: Mapping[str, int]
) -> frozenset[int]:
    """What "not LABEL" asserts: the other of two labels that are true and false, else nothing."""
    directly = negator["between"].strip() in _DIRECTLY
    if directly and _DENIES.match(negator[0]) and mention.word in opposite:
        return frozenset({opposite[mention.word]})
    return _NOTHING
