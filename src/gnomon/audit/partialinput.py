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
from typing import Literal, NamedTuple

import numpy as np

from gnomon.audit.chance import OffChance, against, alone, finding_of, most_frequent_or_guess
from gnomon.audit.choicewords import LONGEST_CHOICE, choice_credit
from gnomon.audit.finding import Finding, percent
from gnomon.audit.learning import (
    block_scores,
    folds_at_random,
    folds_of_units,
    held_out_scores,
)
from gnomon.audit.questions import Question
from gnomon.audit.signs import Signs, signs_of, words_of
from gnomon.audit.subject import ALL_WORDS, Subject
from gnomon.measures.codes import Floats

CHECK = "partial_input"
LEAST_ITEMS = 40  # fewer teach a classifier nothing
LONGEST = 40  # words; longer texts count as alike
Way = Literal["by split", "by group", "at random"]


class Input(NamedTuple):
    """A part of the question, and the signs that a classifier sees of it."""

    name: str
    signs: Signs
    whole: bool = False  # whether it is all that there is of the question


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
    inputs = list(_inputs(subject))
    ways = _ways(subject)
    for given in inputs:
        for way in ways:
            yield _finding(subject, given, way, len(inputs) * len(ways))


def _inputs(subject: Subject) -> Iterator[Input]:
    pictures = any(question.picture for question in subject.answered)
    for field in subject.fields:
        whole = len(subject.fields) == 1 and not pictures
        yield Input(field, subject.signs(field), whole)
    if len(subject.fields) > 1 and pictures:
        yield Input(ALL_WORDS, subject.signs(ALL_WORDS))
    named_already = len(subject.fields) == 2 and not pictures and _are_names(subject)
    if all(question.compared for question in subject.answered) and not named_already:
        for place in (0, 1):
            names = [_name(question, place) for question in subject.answered]
            yield Input(("first thing", "second thing")[place], signs_of(names))
    forms = [_form(question) for question in subject.answered]
    yield Input("lengths and shared words", signs_of(forms, str.split))


def _are_names(subject: Subject) -> bool:
    """Whether the fields are the two things themselves."""
    question = subject.answered[0]
    if question.compared is None:
        return False
    return question.texts == (question.compared.first, question.compared.second)


def _name(question: Question, place: int) -> str:
    assert question.compared is not None
    return question.compared.second if place else question.compared.first


def _form(question: Question) -> str:
    """How long the texts of a question are, and how many words they share; no word itself."""
    found = []
    seen: set[str] = set()
    for place, text in enumerate(question.texts):
        words = words_of(text)
        found.append(f"length{place}:{min(len(words), LONGEST)}")
        if seen:
            found.append(f"shared{place}:{len(seen.intersection(words))}")
        seen.update(words)
    return " ".join(found)


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
    says = _sentence(subject, given.name, way, off, below=below)
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


def _sentence(subject: Subject, name: str, way: Way, off: OffChance, *, below: bool) -> str:
    saw = "other items of its group" if subject.audited.has_groups else "other items"
    how = {
        "by split": "and learnt from the training part",
        "by group": "and never saw the item's group",
        "at random": f"and saw {saw}",
    }[way]
    says = (
        f"A classifier that sees {_of(name)} alone {how} is right on {percent(off.value)}; "
        f"without it one gets {percent(off.chance)}."
    )
    if below and way != "by split":
        says += " Below chance: labels are balanced over these words, so do not divide the set."
    return says


def _of(name: str) -> str:
    return name if name.startswith(("lengths", "all ")) else f"the {name}"


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
