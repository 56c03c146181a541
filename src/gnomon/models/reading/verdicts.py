"""What a reply to a yes-or-no question amounts to that says neither: a verdict, or the fact.

A verdict speaks of the claim itself: "That is not the case", "It can't be". Every word of such a
sentence is known (data/lexicon/verdicts.yaml); it is the sign of its predicate times that of its
negations. A fact speaks of the things: "A bee is not larger".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import msgspec

from gnomon.files import package_data, read_yaml
from gnomon.lexicon.relations import Words, any_of, lexicon, phrase, reply_words
from gnomon.models.reading.assertion import POSSIBLE, ItemQuestion
from gnomon.models.reading.claims import statements
from gnomon.models.reading.segments import conclusions, sentences_of
from gnomon.models.reading.vocabulary import ChoiceVocabulary

LONGEST = 120  # characters of a sentence that only speaks of the claim
_SIGNS = {"affirms": 1, "denies": -1, "allows": 1, "forbids": -1}
_POSSIBILITY = frozenset({"allows", "forbids"})
_VERBS = frozenset({"verbs", "can", "must"})
_PAIRS = (
    ("entailment", "contradiction"),
    ("possible", "impossible"),
    ("yes", "no"),
    ("true", "false"),
    ("correct", "incorrect"),
    ("right", "wrong"),
)
_WRITTEN_OUT = (
    (re.compile(r"\bcan(?:no|')t\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\buntrue\b"), "not true"),
    (re.compile(r"(?<=\w)'(?:s|re|m)\b"), " is"),
    (re.compile(r"(?<=\w)'d\b"), " would"),
    (re.compile(r"(?<=\w)'ll\b"), " will"),
)
_SIDE = re.compile(r"\b(?:to|on|at) (?:the|its|his|her) (?:far )?right\b")
_GAP = re.compile(r"[\s,;:.!\"()-]+")


class _TruthPlaces(NamedTuple):
    """Which choice says that a claim holds, and which that it does not."""

    yes: int
    no: int
    exhaustive: bool  # what is not the one is the other
    of_fact: bool  # asked is whether something is so: "It isn't" denies that
    of_possibility: bool  # asked is whether it can be


class ClaimVerdicts:
    """What the sentences of a reply say to a question whether a claim holds."""

    def __init__(
        self, places: _TruthPlaces | None, relations: ChoiceVocabulary | None, claim: str = ""
    ) -> None:
        self._places = places  # none where the choices are statements
        self._relations = relations
        self._claim = claim

    @classmethod
    def on(cls, question: ItemQuestion, known: ChoiceVocabulary) -> ClaimVerdicts | None:
        """How sentences answer a question, if choices affirm and deny, or are statements."""
        places = _truth_places(known.own, question.asked == POSSIBLE)
        if places:
            return cls(places, _relations_asked(question, places), question.claim)
        relations = _relations_offered(known.own)
        return cls(None, relations) if relations else None

    def judged(self, text: str) -> set[int]:
        """The choices that verdicts on the claim amount to."""
        found: set[int] = set()
        if self._places is None:
            return found
        sentences = sentences_of(text)
        for sentence in sentences:
            sign = _sign_of(sentence, self._places, alone=len(sentences) == 1)
            if sign:
                found.add(self._places.yes if sign > 0 else self._places.no)
        return found

    def stated(self, text: str) -> set[int]:
        """The choices that statements about the two things of the question amount to."""
        found = self._repeated(text)
        if self._relations is None:
            return found
        for sentence in sentences_of(text):
            if phrase("none_there").search(sentence):
                continue  # "there is no cup on the table"
            denies = sentence.startswith("not ")  # "Not larger."
            pointed = self._places is not None  # "it" is no thing of two statements
            if denies or self._relations.names_a_thing(sentence, pointed=pointed):
                found |= self._relations.asserted(sentence, prose=True)
        return found

    def _repeated(self, text: str) -> set[int]:
        """What a reply says that is the claim itself, or its denial, or concludes one of them."""
        if not self._claim or self._places is None:
            return set()
        said = [text] if len(sentences_of(text)) == 1 else list(conclusions(text))
        for segment in said:
            statement = phrase("we_conclude").sub("", segment).strip(" ,.!")
            if statement == self._claim:
                return {self._places.yes}
            if statement.replace("n't", " not").replace(" not ", " ", 1) == self._claim:
                return {self._places.no}
        return set()


def _relations_asked(question: ItemQuestion, places: _TruthPlaces) -> ChoiceVocabulary | None:
    """What the relation of a question and its converse say to it."""
    relation = question.relation
    if not relation:
        return None
    known = reply_words()
    converse = known.converse.get(relation, relation)
    denied = {relation: places.no}
    denied.update(dict.fromkeys(known.strong.get(relation, ()), places.no))
    words: list[list[str]] = [[] for _ in range(max(places.yes, places.no) + 1)]
    words[places.yes] = [*lexicon().alike(relation)]
    words[places.no] = [] if converse == relation else [*lexicon().alike(converse)]
    found = lexicon().find(relation)
    for excluded in found.excludes if found else ():
        words[places.no] += lexicon().alike(excluded)
    things = question._replace(relation="")
    return ChoiceVocabulary(words, letters=False, question=things, opposite=denied)


def _relations_offered(own: Sequence[set[str]]) -> ChoiceVocabulary | None:
    """The relations of choices that are statements about the same two things, in either order."""
    clauses = statements([min(group, default="") for group in own])
    if not clauses:
        return None
    converse = reply_words().converse
    subject, ground = clauses[0].subject, clauses[0].ground
    words = []
    for clause in clauses:
        things = (clause.subject, clause.ground)
        relation = clause.relation
        if things == (ground, subject):
            relation = converse.get(relation, "")
        elif things != (subject, ground):
            return None
        words.append([relation])
    return ChoiceVocabulary(words, letters=False, question=ItemQuestion(subject, ground))


def _truth_places(own: Sequence[set[str]], of_possibility: bool) -> _TruthPlaces | None:
    for yes, no in _PAIRS:
        affirming = [place for place, words in enumerate(own) if yes in words]
        denying = [place for place, words in enumerate(own) if no in words]
        if len(affirming) == len(denying) == 1 and affirming != denying:
            asks = of_possibility or yes == "possible"
            of_two = len(own) == 2
            return _TruthPlaces(affirming[0], denying[0], of_two, of_two or yes == "yes", asks)
    return None


def _sign_of(sentence: str, places: _TruthPlaces, *, alone: bool) -> int:
    """1 if a sentence says that the claim holds, -1 if that it does not, 0 if neither."""
    if len(sentence) <= LONGEST:
        kinds = _kinds(sentence)
        if kinds:
            return _sign(kinds, places, alone)
    opening = phrase("end_of_lead").split(sentence, maxsplit=1)[0]
    if len(opening) > LONGEST or opening == sentence:
        return 0
    kinds = _kinds(opening)
    return _sign(kinds, places, alone=False) if _predicates(kinds) else 0


def _sign(kinds: Sequence[str], places: _TruthPlaces, alone: bool) -> int:
    if "hedges" in kinds:
        return 0
    predicates = _predicates(kinds)
    speaks_of_it = "claims" in kinds and not _VERBS.isdisjoint(kinds)
    if not predicates and not speaks_of_it:
        return _of_manner(kinds, alone)
    if len(predicates) > 1:
        return 0
    predicate = predicates[0] if predicates else "affirms"
    denials = kinds.count("negates") + kinds.count("refuses")
    denied = denials % 2 == 1
    sign = -_SIGNS[predicate] if denied else _SIGNS[predicate]
    if places.of_possibility:
        is_open = "can" in kinds and predicate == "denies"
        return 0 if is_open else sign
    if "can" in kinds or predicate in _POSSIBILITY:
        return min(sign, 0)  # what can be need not be; what cannot be is not
    decides = places.exhaustive if predicates else places.of_fact
    return 0 if denied and not decides else sign


def _of_manner(kinds: Sequence[str], alone: bool) -> int:
    """ "Certainly.", "Not at all.": an answer where nothing else is said."""
    said = set(kinds) - {"passes", "verbs"}
    if said == {"refuses"}:
        return -1
    return 1 if alone and said == {"polite"} else 0


def _predicates(kinds: Sequence[str]) -> list[str]:
    return [kind for kind in kinds if kind in _SIGNS]


def _kinds(sentence: str) -> list[str]:
    """The kind of each word of a sentence; none if one of its words is of no kind."""
    if _SIDE.search(sentence):
        return []
    for pattern, words in _WRITTEN_OUT:
        sentence = pattern.sub(words, sentence)
    sentence = _GAP.sub(" ", sentence).strip()
    known, pattern = _words()
    kinds = []
    end = 0
    for match in pattern.finditer(sentence):
        if match.start() != end:
            return []
        kinds.append(known[match[1]])
        end = match.end()
    return kinds if end == len(sentence) else []


@cache
def _words() -> tuple[dict[str, str], re.Pattern[str]]:
    """The kind of each word or words, and a pattern for any of them with the gap behind it."""
    file = package_data("lexicon/verdicts.yaml")
    known: dict[str, str] = {}
    for kind, words in msgspec.convert(read_yaml(file), Words).items():
        for word in words:
            known.setdefault(word, kind)
    return known, re.compile(rf"({any_of(known)})(?: |$)")
