"""Where a text names the labels, and whether it means them: negated, hedged or conditional mentions
do not count."""

from __future__ import annotations

import re
from typing import NamedTuple

_EDGE = r"""[\s.,;:!?"'()\[\]{}-]*"""
_NEGATOR = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|hardly|without|rather than|instead of|opposed to|"
    r"far from)|n't)(?! only\b)(?P<between>(?:[ \t]+[\w'\"()]+){0,4}?)[ \t]+[\"'(]*$"
)
_NO_NOUN = re.compile(r"\bno[ \t]+[\"'(]*$")  # "no contradiction"
_DENIED = re.compile(
    r"\b(?:not (?:the case|true|correct)|incorrect|wrong|false) (?:that|to say)\b[^,;]*$"
)
_UNDECIDED = re.compile(
    r"(?:\b(?:insufficient|whether|if|unclear|unsure|"
    r"no (?:information|evidence|indication|mention|way|reason)|nothing (?:to|that|says)|"
    r"(?:can't|cannot) (?:tell|say|be determined)|(?:impossible|hard|difficult|unable) to)|"
    r"(?:\bnot|n't) (?:enough|sufficient|know|say|state|mention|specify|indicate|clear|certain|sure|possible))"
    r"\b[^.;\n]*$"
)
_HEDGED = re.compile(
    r"\b(?:might|may|could|possibly|perhaps)\b|\b(?:partially|partly|mostly|half|somewhat|almost|nearly)[ -]$"
)
_OTHERWISE = re.compile(r"\botherwise\b,?\s*$")
_CONCEDED = re.compile(r"\b(?:while|although|though|even if)\b[^,;:.!?\n]*$")
_ASIDE = re.compile(  # words that point at the text: "none of the above", "see below"
    r"\b(?:(?:none|all|any|both|either) of (?:the|these)|"
    r"mentioned|described|stated|shown|given|noted|see|explained)\s+$"
)
_TAKEN_OFF = re.compile(  # what follows a label takes it back
    r"[\"')]*(?:\s+(?:is|are|was|would be|must be|can be) (?:both |clearly |also )?"
    r"(?:wrong|incorrect|ruled out|excluded|not\b)|"
    r"\s+(?:cannot|can't|isn't|is impossible)\b|"
    r"[^.!?\n]*\bbut (?:it is |it's |this is |that is |that's )?not (?:certain|sure|definite|guaranteed)|"
    r"\s+(?:only )?(?:if|when|unless|provided|assuming)\b|"
    r"[^.!?\n,;]* if (?:it|the|he|she|they|we|there)\b[^.!?\n]*\b(?:were|was|had)\b)"
)
_CLAUSE = re.compile(r"[,;:.!?\n]|\bbut\b|\bbecause\b|\bsince\b|\s-+\s")
_TRUTH = (("true", "false"), ("yes", "no"), ("correct", "incorrect"), ("right", "wrong"))
_ONLY_ALONE = frozenset(
    {"no", "yes"}
)  # "there is no doubt": these answer only as a clause of their own
_OPENS = re.compile(
    r"(?:^|[.,;:!?\n\"'(]|\b(?:say|is|be|answer|think|guess|but|so|a|clear|definite|definitely|clearly|simply|just|"
    r"probably|certainly|firm))\s*[\"'(]*$"
)
_CLOSES = re.compile(r"\W*(?:$|[.,;:!\n]|because\b)")


_INFLECTED = {  # verbs of labels that are nouns
    "entailment": ("entails", "entailed"),
    "contradiction": ("contradicts", "contradicted", "contradictory"),
}


class _Mention(NamedTuple):
    choices: frozenset[int]
    word: str
    start: int
    end: int


class Vocabulary:
    """The words of all choices, compiled: longest first, so that "not entailed" is found before
    "entailed"."""

    def __init__(self, words: tuple[tuple[str, ...], ...], letters: bool) -> None:
        self.size = len(words)
        table: dict[str, set[int]] = {}
        own: dict[str, int] = {}  # letters that are answers themselves: the prompt asked for them
        for index, group in enumerate(words):
            for word in group:
                key = " ".join(word.replace("_", " ").split())
                if len(key) == 1 and key.isalpha():
                    own[key] = index
                elif key:
                    table.setdefault(key, set()).add(index)
        for noun, verbs in _INFLECTED.items():
            for verb in verbs if noun in table else ():
                table.setdefault(verb, table[noun])
        self.table = {word: frozenset(found) for word, found in table.items()}
        longest_first = sorted(table, key=len, reverse=True) or ["(no words)"]
        alternatives = "|".join(
            re.escape(word).replace(r"\ ", r"[\s_-]+") for word in longest_first
        )
        self.pattern = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w|'t\b)")
        in_order = (
            {chr(ord("a") + index): index for index in range(min(self.size, 26))} if letters else {}
        )
        self.letters = own or in_order
        some = "".join(self.letters) or "-"
        after = r"(?=\)|[.,:;!]|\W*$|\s+(?:because|since|as|but|not|and|or|rather|instead)\b|\s+-)"
        self.loose = re.compile(rf"(?<![\w'])([{some}]){after}")
        self.strict = re.compile(
            rf"\(([{some}])\)|\b(?:option|choice|answer|choose|pick) \(?([{some}])\b(?! \w)"
        )
        self.opposite = self._opposites()

    def _opposites(self) -> dict[str, int]:
        """ "not true" is false where true and false are the only two choices; "not larger" is not
        smaller."""
        found: dict[str, int] = {}
        for pair in _TRUTH:
            sides = [self.table.get(word) for word in pair]
            if self.size == 2 and all(side is not None and len(side) == 1 for side in sides):
                for word, other in ((pair[0], pair[1]), (pair[1], pair[0])):
                    found[word] = next(iter(self.table[other]))
        return found

    def mentions(self, segment: str) -> list[_Mention]:
        """Each word of a choice, where it stands."""
        found = []
        for match in self.pattern.finditer(segment):
            word = re.sub(r"[\s_-]+", " ", match[0])
            known = self.table.get(word) or self.table.get(match[0])
            if known:
                found.append(_Mention(known, word, match.start(), match.end()))
        return found

    def asserted(self, segment: str, *, alone: bool, strict: bool) -> set[int]:
        """The choices that a segment asserts; with `alone`, only if a line of it is a label and
        nothing else."""
        if alone:
            return set().union(*(self._alone(line) for line in segment.split(" \n ")))
        found: set[int] = set()
        for mention in self.mentions(segment):
            found |= self._judged(segment, mention)
        return found | self._letters(segment, strict)

    def _alone(self, line: str) -> set[int]:
        mentions = self.mentions(line)
        letter = self._letters(line, strict=False)
        rest = line
        for mention in reversed(mentions):
            rest = rest[: mention.start] + rest[mention.end :]
        dress = rf"{_EDGE}(?:option |choice |answer )?[a-z]?{_EDGE}" if letter else _EDGE
        if not re.fullmatch(dress, rest):
            return set()
        return letter.union(*(mention.choices for mention in mentions))

    def _judged(self, segment: str, mention: _Mention) -> set[int]:
        before, after = segment[: mention.start], segment[mention.end :]
        if mention.word in _ONLY_ALONE and not (_OPENS.search(before) and _CLOSES.match(after)):
            return set()
        clause = _CLAUSE.split(before)[-1]
        sentence = re.split(r"[.!?;\n]", before)[-1]
        if (
            _DENIED.search(clause)
            or _UNDECIDED.search(re.split(r"\bbut\b", sentence)[-1])
            or _CONCEDED.search(sentence)
        ):
            return set()
        if (
            _OTHERWISE.search(before)
            or _ASIDE.search(before)
            or _TAKEN_OFF.match(after)
            or _HEDGED.search(clause)
        ):
            return set()
        if before.endswith("the ") and after.startswith(" the "):  # "the larger the better"
            return set()
        negator = _NEGATOR.search(clause)
        if negator and not mention.word.startswith("not "):
            direct = negator["between"].strip() in ("", "quite", "at all", "actually", "really")
            denies = re.match(r"(?:not|n't|never)", negator[0]) is not None
            return (
                {self.opposite[mention.word]}
                if direct and denies and mention.word in self.opposite
                else set()
            )
        if _NO_NOUN.search(clause) and mention.word not in _ONLY_ALONE:
            return set()
        return set(mention.choices)

    def _letters(self, segment: str, strict: bool) -> set[int]:
        if not self.letters:
            return set()
        found: set[int] = set()
        for match in (
            *self.strict.finditer(segment),
            *(() if strict else self.loose.finditer(segment)),
        ):
            letter = match[match.lastindex or 1]
            found |= self._judged(
                segment, _Mention(frozenset({self.letters[letter]}), letter, *match.span())
            )
        return found
