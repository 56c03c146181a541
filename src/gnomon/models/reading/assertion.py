"""Whether a text means a label that it mentions, of which thing, or that nothing follows.

Negated, hedged or conditional mentions do not count. "The stapler is below the monitor" speaks of
the object of "the monitor is ____ the stapler": it says the converse. "The gulls are above" speaks
of neither, and answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from gnomon.models.reading.question import ItemQuestion, things_pattern

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


# --- of which thing of a question a sentence speaks ----------------------------------------------


About = Literal["subject", "object", "nothing said", "other"]

_CLAUSE_STARTS = re.compile(
    r"[,;:.!?\n(]|\b(?:but|because|since|so|while|whereas|although|though|therefore)\b|\s-+\s"
)
_CLAUSE_ENDS = re.compile(r"[,;:.!?\n)]|\b(?:but|because|since|so|while|whereas|although)\b|\s-+\s")
_RELATIVE = re.compile(r"^\s*(?:which|that|who)\b")
_PRONOUN = re.compile(r"\b(?:it|this|that|they|both|he|she|these)\b")
_IT = re.compile(r"\bit\b")
_SENTENCE_END = re.compile(r"[.!?\n]+")
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

    def __init__(self, question: ItemQuestion) -> None:
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


# --- replies that say that nothing follows -------------------------------------------------------


_KNOW = r"(?:tell|say|know|determine|decide|conclude|infer|be sure|verify|confirm|establish)"
_KNOWN = r"(?:told|said|known|determined|decided|concluded|inferred|verified|confirmed|established)"
_STUFF = r"(?:information|info|context|evidence|data|details?)"
_NOT_DECIDED = re.compile(
    rf"\b(?:cannot|can't|can not|couldn't|could not) (?:\w+ )?be (?:\w+ )?{_KNOWN}\b|"
    rf"^\W*(?:cannot|can't|can not) {_KNOW}\b|"
    rf"\b(?:we|one|you|nobody|no one) (?:cannot|can't|can not|can) (?:\w+ )?{_KNOW}\b|"
    r"\b(?:undetermined|indeterminate|indeterminable|inconclusive|undecidable|unspecified|unknown|"
    r"unknowable)\b|"
    rf"\b(?:not|n't|isn't|no|insufficient|too little) (?:\w+ )?(?:enough |sufficient )?{_STUFF}\b|"
    rf"\bimpossible to {_KNOW}\b|\bnot possible to {_KNOW}\b|\bno way (?:to|of) {_KNOW}|"
    r"\b(?:text|passage|premises?|context|story|it|information|author)(?: given)? "
    r"(?:does not|doesn't|do not|don't|did not|didn't|never) "
    r"(?:provide|give|contain|say|says|state|states|specify|specifies|mention|"
    r"mentions|tell|tells|indicate|make)\b|"
    r"\bnot (?:specified|stated|mentioned|determinable|provided)\b|^\W*not given\b|"
    r"\b(?:it is|it's) unclear\b|^\W*unclear\b|\bunclear (?:from|whether|if)\b|"
    r"\b(?:does|do|can)(?:n't| not) (?:necessarily )?follow either way\b"
)
_CAN = re.compile(r"\b(?:we|one|you) can ")
_REFUSED = re.compile(
    r"\b(?:sorry|apologi[sz]e|as an ai|language model|i (?:do not|don't|cannot|can't) (?:have|see|"
    r"access|help|view|assist)|unable to (?:help|assist|see|view))\b"
)


def says_undetermined(text: str) -> bool:
    """Whether a reply says that the text does not decide the question.

    >>> says_undetermined("cannot be determined."), says_undetermined("i can't help with that.")
    (True, False)
    """
    if _REFUSED.search(text):
        return False
    found = _NOT_DECIDED.search(text)
    return found is not None and not _CAN.match(found[0])
