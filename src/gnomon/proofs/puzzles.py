"""What a story answers under each reading: yes or no, which relation, or whether it can be true.

Published sets ask in these three ways. An answer is the choice that follows; where none follows,
the reading leaves the question open.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gnomon.errors import GnomonError
from gnomon.lexicon.relations import Relation, lexicon, reply_words
from gnomon.lexicon.statements import bare, read_which
from gnomon.proofs.meaning.relations.directions import SIDES
from gnomon.proofs.meaning.stories import reading_named
from gnomon.proofs.meaning.texts import StatedText
from gnomon.proofs.solver import Case, formula_of, text_of

READINGS = ("ordinary", "exact directions", "single steps")
OPEN = ""  # the answer of a reading that decides nothing
YES, NO = frozenset({"yes", "true"}), frozenset({"no", "false"})
TENABLE = frozenset({"satisfiable", "consistent", "possible"})
UNTENABLE = frozenset({"unsatisfiable", "inconsistent", "impossible"})
_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_LETTER = re.compile(r"\b[A-Z]\b")
Answers = dict[str, str]  # by reading


def answers(story: str, question: str, choices: Sequence[str]) -> Answers:
    """The choice that follows under each reading; empty if the words cannot be read.

    >>> yes_or_no = ["yes", "no"]
    >>> answers("The cup is left of the jug.", "Is the jug left of the cup?", yes_or_no)["ordinary"]
    'no'
    >>> sides = ["left", "upper-left"]
    >>> answers("A is above B. C is left of A.", "Where is C relative to B?", sides)["single steps"]
    'upper-left'
    """
    letters: dict[str, str] = {}  # the same story about other letters has the same answers

    def renamed(letter: re.Match[str]) -> str:
        return letters.setdefault(letter[0], chr(ord("A") + len(letters)))

    story = _LETTER.sub(renamed, story)
    question = _LETTER.sub(renamed, question)
    return dict(_answers(story, question, tuple(choices)))


@lru_cache(maxsize=20_000)
def _answers(story: str, question: str, choices: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    sentences = [sentence for sentence in _SENTENCES.split(story.strip()) if sentence]
    try:
        return tuple(_read(sentences, question, choices).items())
    except GnomonError:  # not understood, or too hard for the solver
        return ()


def _read(sentences: list[str], question: str, choices: tuple[str, ...]) -> Answers:
    offered = {choice.lower(): choice for choice in choices}
    if offered.keys() <= TENABLE | UNTENABLE:
        told = [*sentences, *_SENTENCES.split(question)] if question else sentences
        text = text_of(told, [])
        return {reading: _choice(offered, _tenable(text, reading)) for reading in READINGS}
    if offered.keys() <= YES | NO | reply_words().undetermined:
        text = text_of(sentences, [question])
        return {reading: _choice(offered, _yes_or_no(text, reading)) for reading in READINGS}
    return _which(sentences, question, choices)


def _case(text: StatedText, reading: str) -> Case:
    return Case(*text.formulas(reading_named(reading)), only_verdicts=True)


def _tenable(text: StatedText, reading: str) -> frozenset[str]:
    return TENABLE if _case(text, reading).can_hold else UNTENABLE


def _yes_or_no(text: StatedText, reading: str) -> frozenset[str]:
    verdict = _case(text, reading).proof(needed=False).verdict
    if verdict == "neutral":
        return reply_words().undetermined
    return {"entailment": YES, "contradiction": NO}.get(verdict, frozenset())


def _choice(offered: dict[str, str], words: frozenset[str]) -> str:
    """The choice that is one of some words."""
    for word, choice in offered.items():
        if word in words:
            return choice
    return OPEN


def _which(sentences: list[str], question: str, choices: tuple[str, ...]) -> Answers:
    """Which of the relations that are offered is the only one between two things."""
    asked = read_which(question)
    relations = [relation_called(choice) for choice in choices]
    if asked is None or None in relations:
        return {}
    text = text_of(sentences, [])
    found = {}
    for reading in READINGS:
        story, premises, _ = text.formulas(reading_named(reading))
        claims = []
        for relation in relations:
            assert relation is not None
            sides = [side for side in relation.facts.loosely if side in SIDES]
            claims.append(formula_of(story, ("only_toward", *map(_name, asked), *sides)))
        case = Case(story, premises, claims, only_verdicts=True)
        found[reading] = _following(case, choices)
    return found


def _following(case: Case, choices: Sequence[str]) -> str:
    """The choice whose claim follows; of several with the same meaning the last."""
    for number in reversed(range(len(choices))):
        if case.follows(number):
            return choices[number]
    return OPEN


class Following(NamedTuple):
    """Which relations follow between two things, and which cannot be, by their words."""

    yes: tuple[str, ...]
    no: tuple[str, ...]


def relations_between(
    premises: Sequence[str], first: str, second: str, *, reading: str = "ordinary"
) -> Following:
    """What a story says of where one thing is in relation to another.

    Of words with the same meaning, the first one of the lexicon stands for all; words that are
    debatable of a picture (grade c) are left out.

    >>> relations_between(["The cup is left of the jug."], "the cup", "the jug").yes
    ('outside', 'left of', 'at the left side of')
    """
    words: dict[str, str] = {}  # by meaning
    for relation in lexicon().relations.values():
        clear = relation.grade != "c" or relation.facts.loosely
        if clear and relation.proof and relation.name not in lexicon().verbs:
            words.setdefault(str(relation.proof), relation.name)
    found: dict[str, list[str]] = {"entailment": [], "contradiction": []}
    for word in words.values():
        text = text_of(premises, [f"{first} is {word} {second}"])
        verdict = _case(text, reading).proof(needed=False).verdict
        if verdict in found:
            found[verdict].append(word)
    return Following(tuple(found["entailment"]), tuple(found["contradiction"]))


def _name(noun: str) -> str:
    plain = bare(noun).replace(" ", "-")
    return plain.upper() if len(plain) == 1 else plain


def relation_called(answer: str) -> Relation | None:
    """The direction that a short answer names: "lower-left", "above", "north".

    >>> relation_called("lower-left").name, relation_called("overlap").name
    ('lower left of', 'overlapping')
    """
    words = answer.lower().replace("-", " ")
    for said in (words, f"{words} of", f"to the {words} of"):
        relation = lexicon().find(said)
        if relation is not None and relation.facts.loosely:
            return relation
    return None
