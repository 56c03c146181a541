"""What choices that differ from item to item give away by themselves: their words and lengths."""

from __future__ import annotations

import numpy as np

from gnomon.audit.partialinput import folds_at_random, folds_of_units, held_out_scores
from gnomon.audit.subject import Answers, Subject, signs_of, words_of
from gnomon.measures.codes import Floats

LONGEST_CHOICE = "length, the longest"
WRONG, RIGHT = "wrong", "right"


def choice_credit(subject: Subject) -> dict[str, Floats]:
    """What each rule earns on each item: the longest choice, and a classifier of their words."""
    return {
        LONGEST_CHOICE: _longest(subject),
        "words of the choices": _words(subject),
    }


def _longest(subject: Subject) -> Floats:
    answers = subject.answers
    lengths = np.full(answers.choices.shape, -np.inf)
    for row, question in enumerate(subject.answered):
        lengths[row, : len(question.choices)] = list(map(len, question.choices))
    return _best(answers, lengths)


def _words(subject: Subject) -> Floats:
    """Each choice is a text of its own that is right or wrong."""
    answers = subject.answers
    row, place = np.nonzero(answers.choices >= 0)
    texts = []
    for number, at in zip(row, place, strict=True):
        texts.append(subject.answered[number].choices[at])
    right = answers.gold[row, place]
    every = np.tile(np.array([0, 1]), (len(row), 1))
    alone = Answers(np.arange(len(row)), (WRONG, RIGHT), every, np.stack([~right, right], axis=1))

    scores = held_out_scores(signs_of(texts, words_of), alone, _folds(subject)[row])
    found = np.full(answers.choices.shape, -np.inf)
    found[row, place] = scores[:, 1] - scores[:, 0]
    return _best(answers, found)


def _folds(subject: Subject) -> np.ndarray:
    if not subject.audited.has_groups:
        return folds_at_random(len(subject.answers))
    return folds_of_units([question.kin for question in subject.answered])


def _best(answers: Answers, scores: Floats) -> Floats:
    """What the choice with the highest score earns; equally good ones share."""
    best = scores >= scores.max(axis=1, keepdims=True) - 1e-9
    return np.asarray((best & answers.gold).sum(axis=1) / best.sum(axis=1))
