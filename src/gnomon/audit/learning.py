"""A naive Bayes classifier of signs that never saw what it is asked, on sparse counts.

What is held out must not show by its absence. So labels weigh in the end as they do in the whole,
each sign counts by how far labels with it differ from the labels in training, and a sign that
training lacks says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.audit.coding import Answers
from gnomon.audit.signs import Signs
from gnomon.measures.columns import Floats
from gnomon.models.classifiers import assign_folds

FOLDS = 5
PRIOR = 1.0  # how many sightings the share of a label counts for, beside those of a sign
TINY = 1e-12


def folds_at_random(count: int, folds: int = FOLDS) -> np.ndarray:
    """A fold for each row, as a bit; all folds have the same size, or nearly."""
    numbers = np.random.default_rng(0).permutation(count) % folds
    return np.asarray(1 << numbers)


def folds_of_units(units: Sequence[tuple[str, ...]], folds: int = FOLDS) -> np.ndarray:
    """The folds of each row as bits: two are set where its two objects lie in different ones."""
    every = [unit for mine in units for unit in mine]
    fold = assign_folds(every, folds)
    found = np.zeros(len(units), dtype=np.int64)
    for row, mine in enumerate(units):
        for unit in mine:
            found[row] |= 1 << fold[unit]
    return found


def held_out_scores(signs: Signs, answers: Answers, folds: np.ndarray) -> Floats:
    """[rows, targets] what each row's signs speak for, learnt from rows that share no fold."""
    scores = np.zeros((len(answers), len(answers.targets)))
    for block in np.unique(folds):
        asked = folds == block
        scores[asked] = block_scores(signs, answers, (folds & block) == 0, asked)
    return scores


def block_scores(signs: Signs, answers: Answers, train: np.ndarray, asked: np.ndarray) -> Floats:
    """[asked rows, targets] the scores, learnt from the rows in `train`."""
    votes = answers.votes
    prior = _log(votes.sum(axis=0) / max(len(votes), 1))
    number = int(asked.sum())
    if not train.any():
        return np.tile(prior, (number, 1))

    weights = sign_weights(signs, votes, train)
    entries = asked[signs.rows]
    place = (np.cumsum(asked) - 1)[signs.rows[entries]]
    codes = signs.codes[entries]
    found = np.tile(prior, (number, 1))
    for target in range(votes.shape[1]):
        column = weights[:, target]
        found[:, target] += np.bincount(place, weights=column[codes], minlength=number)
    return found


def sign_weights(signs: Signs, votes: Floats, train: np.ndarray) -> Floats:
    """[signs, targets] how much more often each target comes with a sign than without regard."""
    entries = train[signs.rows]
    rows = signs.rows[entries]
    codes = signs.codes[entries]
    shares = votes[train].sum(axis=0) / train.sum()
    seen = np.bincount(codes, minlength=len(signs.names))
    found = np.zeros((len(signs.names), votes.shape[1]))
    for target, share in enumerate(shares):
        if share <= 0:
            continue
        with_target = np.bincount(codes, weights=votes[rows, target], minlength=len(signs.names))
        posterior = (with_target + PRIOR * share) / (seen + PRIOR)
        found[:, target] = _log(posterior) - _log(share)
    return found


def _log(value: Floats | float) -> Floats:
    return np.asarray(np.log(np.maximum(value, TINY)))
