"""Can all that is said to be true of one picture, or told in one story, be true at once?

Sentences are given to the prover as loosely as they can be meant; what cannot hold together even so
is a fault of a label or of a story. docs/audit.md says what is taken for granted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import NamedTuple

from msgspec import structs

from gnomon.audit.clauses import PlainClause, clauses
from gnomon.audit.finding import SHOWN, Finding, share
from gnomon.audit.subject import Subject
from gnomon.errors import MissingExtraError
from gnomon.lexicon.relations import Use

CLASH = "clash"
TRUE = frozenset({"true", "yes", "1"})
USES: dict[str, Use] = {"pictures": "pictured", "stories": "loosely"}
MOST_SENTENCES = 12  # sentences of one picture or story that are looked at together


class Told(NamedTuple):
    """A sentence that is said to be true, and the question that says so."""

    clause: PlainClause
    number: int


def clash(subject: Subject) -> Iterator[Finding]:
    """Captions of one picture, and sentences of one story."""
    parts = {"pictures": _pictures(subject), "stories": _stories(subject)}
    if not any(parts.values()):
        says = "No two plain sentences about where things are are told of one picture or story."
        yield Finding(check=CLASH, says=says)
        return
    try:
        for part, told in parts.items():
            if told:
                yield _clash_finding(subject, part, told)
    except MissingExtraError as error:
        yield Finding(check=CLASH, says=f"{error.message} {error.hint}")


def _pictures(subject: Subject) -> list[list[Told]]:
    """What is labelled true of each picture, if that is more than one sentence."""
    told: dict[str, list[Told]] = {}
    for number, question in enumerate(subject.questions):
        if not question.picture or not TRUE.issuperset(map(str.lower, question.gold)):
            continue
        for clause in clauses(question.texts[-1]):
            told.setdefault(question.picture, []).append(Told(clause, number))
    return _of_several(told)


def _stories(subject: Subject) -> list[list[Told]]:
    """The sentences of each context, if there is more than one."""
    told: dict[str, list[Told]] = {}
    for number, question in enumerate(subject.questions):
        story = " ".join(question.texts[:-1])
        if question.picture or story in told:
            continue
        told[story] = [Told(clause, number) for clause in clauses(story)]
    return _of_several(told)


def _of_several(told: dict[str, list[Told]]) -> list[list[Told]]:
    return [said[:MOST_SENTENCES] for said in told.values() if len(said) > 1]


def _clash_finding(subject: Subject, part: str, told: list[list[Told]]) -> Finding:
    cores: list[list[int]] = []
    torn = 0
    for said in told:
        mine = list(_cores(said, USES[part]))
        torn += bool(mine)
        cores += mine
    behind = list(dict.fromkeys(chain.from_iterable(cores)))
    finding = Finding(
        check=CLASH,
        part=part,
        value=share(torn, len(told)),
        chance=0.0,
        alarm=bool(cores),
        says=(
            f"{len(cores):,} sets of sentences cannot be true together, each of one of the "
            f"{len(told):,} {part} with several sentences that can be read."
        ),
        n=len(told),
    )
    together = [subject.audited.example(*dict.fromkeys(core)) for core in cores[:SHOWN]]
    return structs.replace(subject.about(finding, behind), examples=tuple(together))


def _cores(said: list[Told], use: Use) -> Iterator[list[int]]:
    """Pairs of sentences that clash or, if there are none, more of them that do together."""
    read = [one for one in said if one.clause.said.of(use)]
    alone = True
    for pair in combinations(read, 2):
        if _is_about_the_same(*pair) and _clashing(pair, use):
            alone = False
            yield [one.number for one in pair]
    core = _clashing(read, use)
    if alone and core:
        yield [one.number for one in core]


def _clashing(said: Sequence[Told], use: Use) -> list[Told]:
    """The sentences that cannot hold together, as few as there are; none if all can."""
    from gnomon.audit.proving import clashing, shapes_of

    shapes = shapes_of([one.clause for one in said], use)
    if shapes is None:
        return []
    return [said[place] for place in clashing(shapes)]


def _is_about_the_same(one: Told, other: Told) -> bool:
    things = {one.clause.first, one.clause.second}
    return things == {other.clause.first, other.clause.second}
