"""Does the training part tell the answers of the test part? Look a text up, take or flip its label.

Flipping matters: where each text is asked once true and once false, and a split tears the two
apart, the label that was seen is reliably the wrong one. A text that training lacks gets a guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gnomon.audit.finding import Finding, against, finding_of, percent
from gnomon.audit.sets import Splits
from gnomon.audit.subject import ALL_WORDS, Subject
from gnomon.measures.codes import Floats
from gnomon.measures.columns import Vocabulary

PICTURE = "picture"


class Rule(NamedTuple):
    """Which answer is given, as one of how many tests."""

    check: str
    flipped: bool
    tests: int


class Looked(NamedTuple):
    """What is looked up, in which part of the set."""

    field: str
    keys: list[str]  # for each answer
    learnt: str


def lookup(subject: Subject) -> Iterator[Finding]:
    """The label that the same text has in training."""
    yield from _findings(subject, "lookup", flipped=False)


def flipped_lookup(subject: Subject) -> Iterator[Finding]:
    """Any other label than the same text has in training."""
    yield from _findings(subject, "flipped_lookup", flipped=True)


def _findings(subject: Subject, check: str, *, flipped: bool) -> Iterator[Finding]:
    splits = subject.splits
    if splits is None:
        says = "There is no training part and test part, so nothing was looked up."
        yield Finding(check=check, says=says)
        return
    if not subject.answers.has_labels:
        says = "No label recurs, so none can be looked up."
        yield Finding(check=check, says=says)
        return
    parts = _parts(subject)
    rule = Rule(check, flipped, tests=len(parts) * len(splits.learnt))
    for field, keys in parts.items():
        for learnt in splits.learnt:
            yield _look_up_finding(subject, splits, rule, Looked(field, keys, learnt))


def _parts(subject: Subject) -> dict[str, list[str]]:
    """What can be looked up: each field, all words where there are several, the picture."""
    parts = {field: subject.texts(field) for field in subject.fields}
    if len(parts) > 1:
        parts[ALL_WORDS] = subject.texts(ALL_WORDS)
    pictures = [question.picture for question in subject.answered]
    if any(pictures):
        parts[PICTURE] = pictures
    return parts


def _look_up_finding(subject: Subject, splits: Splits, rule: Rule, looked: Looked) -> Finding:
    answers = subject.answers
    test = np.flatnonzero(splits.test)
    known, scores = _looked_up(looked.keys, answers.votes, splits.learnt[looked.learnt])
    credit = answers.credit(-scores if rule.flipped else scores)[test]
    off = against(credit, answers.chance[test], subject.units[test], rule.tests)

    seen = test[known[test]]
    what = looked.field if looked.field == ALL_WORDS else f"the {looked.field}"
    answer = "another answer than" if rule.flipped else "the answer that"
    says = (
        f"Looking {what} up in {looked.learnt} and giving {answer} it has there is right on "
        f"{percent(off.value)} of {len(test):,} items of {splits.test_name}, where chance is "
        f"{percent(off.chance)}; {len(seen):,} of them can be looked up."
    )
    part = f"{looked.field} in {looked.learnt}"
    alarm = off.alarm and len(seen) > 0
    finding = finding_of(off, rule.check, part, says, n=len(test), alarm=alarm)
    return subject.about_answers(finding, seen)


def _looked_up(keys: list[str], votes: Floats, train: np.ndarray) -> tuple[np.ndarray, Floats]:
    """Whether each key occurs in training, and the votes that it has there."""
    words = Vocabulary()
    codes = np.array([words[key] for key in keys], dtype=np.int64)
    sums = np.zeros((len(words), votes.shape[1]))
    np.add.at(sums, codes[train], votes[train])
    scores = sums[codes]
    return scores.sum(axis=1) > 0, scores
