"""Can all that is said to be true of one picture, or told in one story, be true at once?

Sentences are given to the prover as loosely as they can be meant; what cannot hold together even so
is a fault of a label or of a story. docs/audit.md says what is taken for granted.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from gnomon.audit.clauses import Clause, Use, clauses
from gnomon.audit.finding import SHOWN, Finding, share
from gnomon.audit.questions import Question
from gnomon.audit.subject import Subject
from gnomon.errors import MissingExtraError

CHECK = "clash"
TRUE = frozenset({"true", "yes", "1"})
MOST = 12  # sentences of one picture or story that are looked at together


class Told(NamedTuple):
    """A sentence that is said to be true, and the question that says so."""

    clause: Clause
    number: int


def clash(subject: Subject) -> Iterator[Finding]:
    """Captions of one picture, and sentences of one story."""
    pictures = _pictures(subject)
    stories = _stories(subject)
    if not pictures and not stories:
        says = "No two plain sentences about where things are are told of one picture or story."
        yield Finding(check=CHECK, says=says)
        return
    try:
        for part, told in (("pictures", pictures), ("stories", stories)):
            if told:
                yield _finding(subject, part, told)
    except MissingExtraError as error:
        yield Finding(check=CHECK, says=f"{error.message} {error.hint}")


def _pictures(subject: Subject) -> dict[str, list[Told]]:
    """What is labelled true of each picture."""
    told: dict[str, list[Told]] = {}
    for number, question in enumerate(subject.questions):
        if question.picture and _is_true(question):
            for clause in clauses(question.texts[-1]):
                told.setdefault(question.picture, []).append(Told(clause, number))
    return {picture: said for picture, said in told.items() if len(said) > 1}


def _is_true(question: Question) -> bool:
    return len(question.gold) == 1 and question.gold[0].lower() in TRUE


def _stories(subject: Subject) -> dict[str, list[Told]]:
    """The sentences of each context of two or more."""
    told: dict[str, list[Told]] = {}
    for number, question in enumerate(subject.questions):
        if question.picture or len(question.texts) < 2:
            continue
        story = " ".join(question.texts[:-1])
        if story not in told:
            told[story] = [Told(clause, number) for clause in clauses(story)]
    return {story: said for story, said in told.items() if len(said) > 1}


def _finding(subject: Subject, part: str, told: dict[str, list[Told]]) -> Finding:
    cores: list[list[int]] = []
    torn = 0
    for said in told.values():
        mine = list(_cores(said[:MOST], "pictured" if part == "pictures" else "loosely"))
        torn += bool(mine)
        cores += mine
    behind = [number for core in cores for number in core]
    return Finding(
        check=CHECK,
        part=part,
        value=share(torn, len(told)),
        chance=0.0,
        alarm=bool(cores),
        says=(
            f"{len(cores):,} sets of sentences cannot be true together, each of one of the "
            f"{len(told):,} {part} with several sentences that can be read."
        ),
        n=len(told),
        behind=len(set(behind)),
        items=subject.ids(dict.fromkeys(behind)),
        examples=tuple(subject.audited.example(*dict.fromkeys(core)) for core in cores[:SHOWN]),
    )


def _cores(said: list[Told], use: Use) -> Iterator[list[int]]:
    """Pairs of sentences that clash or, if there are none, more of them that do together."""
    from gnomon.audit.proving import clashing, shapes_of

    read = [one for one in said if shapes_of([one.clause], use)]
    found = False
    for pair in combinations(read, 2):
        shapes = shapes_of([one.clause for one in pair], use)
        if _is_about_the_same(*pair) and shapes and clashing(shapes):
            found = True
            yield [one.number for one in pair]
    shapes = shapes_of([one.clause for one in read], use)
    if not found and len(read) > 2 and shapes:
        core = clashing(shapes)
        if core:
            yield [read[place].number for place in core]


def _is_about_the_same(one: Told, other: Told) -> bool:
    things = {one.clause.first, one.clause.second}
    return things == {other.clause.first, other.clause.second}
