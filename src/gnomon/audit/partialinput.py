"""How much does a part of the question give away? A classifier of words sees that part alone.

It is asked in three ways. By split, as the authors divide the set: both ends count, for to be
reliably wrong gives as much away. By group: it never saw the item's group or objects. At random: it
saw other items of the group. In the last two only what is above chance is an alarm: below it lies
every set whose labels are balanced over its words, since what is held out is then missing in
training, and nobody who has not seen the set can use that. A text that is the whole question is
no part of it: that it can be learnt from other items of its group is no fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from gnomon.audit.choicewords import LONGEST_CHOICE, choice_credit
from gnomon.audit.finding import (
    Finding,
    OffChance,
    against,
    alone,
    finding_of,
    most_frequent_or_guess,
    percent,
)
from gnomon.audit.inputs import Input, parts_of_questions
from gnomon.audit.learning import (
    block_scores,
    folds_at_random,
    folds_of_units,
    held_out_scores,
)
from gnomon.audit.signs import Signs
from gnomon.audit.subject import Subject
from gnomon.measures.codes import Floats

CHECK = "partial_input"
LEAST_ITEMS = 40  # fewer teach a classifier nothing
Way = Literal["by split", "by group", "at random"]
HOW: dict[Way, str] = {
    "by split": "and learnt from the training part",
    "by group": "and never saw the item's group",
    "at random": "and saw other items of its group",
}


def partial_input(subject: Subject) -> Iterator[Finding]:
    """Each part of the question, asked in each way that the set allows."""
    answers = subject.answers
    if len(answers) < LEAST_ITEMS:
        yield Finding(
            check=CHECK, says=f"Fewer than {LEAST_ITEMS} items are too few to learn from."
        )
        return
    if not answers.has_labels:
        yield from _choices_alone(subject)
        return
    inputs = list(parts_of_questions(subject))
    ways = _ways(subject)
    for given in inputs:
        for way in ways:
            yield _finding(subject, given, way, len(inputs) * len(ways))


def _ways(subject: Subject) -> list[Way]:
    ways: list[Way] = []
    if subject.splits is not None:
        ways.append("by split")
    if subject.audited.has_groups:
        ways.append("by group")
    return [*ways, "at random"]


def _finding(subject: Subject, given: Input, way: Way, tests: int) -> Finding:
    answers = subject.answers
    asked, scores = _asked(subject, given.signs, way)
    credit = answers.credit(scores)[asked]
    chance = answers.chance[asked]
    reference = most_frequent_or_guess(chance, answers.constant[asked])
    # at random the question is about this very set, not about other groups
    units = alone(len(credit)) if way == "at random" else subject.units[asked]
    off = against(credit, reference, units, tests)

    below = off.below and float(credit.mean()) < float(chance.mean())
    above = off.above and (way == "by group" or not given.whole)
    alarm = above or (below and way == "by split")
    says = _sentence(subject, given, way, off)
    if below and way != "by split":
        says += " Below chance: labels are balanced over these words, so do not divide the set."
    finding = finding_of(off, CHECK, f"{given.name}, {way}", says, n=len(credit), alarm=alarm)
    if not alarm:
        return finding
    return subject.about_answers(finding, np.flatnonzero(asked)[credit == 1])


def _asked(subject: Subject, signs: Signs, way: Way) -> tuple[np.ndarray, Floats]:
    """Which answers are asked for, and the scores of all."""
    answers = subject.answers
    if way != "by split":
        everybody = np.ones(len(answers), dtype=bool)
        return everybody, held_out_scores(signs, answers, _folds(subject, way))

    splits = subject.splits
    assert splits is not None
    *_, train = splits.learnt.values()
    scores = np.zeros((len(answers), len(answers.targets)))
    scores[splits.test] = block_scores(signs, answers, train, splits.test)
    return splits.test, scores


def _folds(subject: Subject, way: Way) -> np.ndarray:
    if way == "at random":
        return folds_at_random(len(subject.answers))
    return folds_of_units([question.kin for question in subject.answered])


def _sentence(subject: Subject, given: Input, way: Way, off: OffChance) -> str:
    how = HOW[way]
    if not subject.audited.has_groups:
        how = how.removesuffix(" of its group")
    return (
        f"A classifier that sees {given.called} alone {how} is right on {percent(off.value)}; "
        f"without it one gets {percent(off.chance)}."
    )


def _choices_alone(subject: Subject) -> Iterator[Finding]:
    """Choices that differ from item to item: do their own words and lengths give one away?"""
    rules = choice_credit(subject)
    for name, credit in rules.items():
        off = against(credit, subject.answers.chance, subject.units, len(rules))
        says = (
            f"Taking the choice by {name} alone, without the question, is right on "
            f"{percent(off.value)} of {len(credit):,} items; a guess gets {percent(off.chance)}."
        )
        alarm = off.above or (off.below and name == LONGEST_CHOICE)  # which learns nothing
        yield finding_of(off, CHECK, name, says, n=len(credit), alarm=alarm)
