"""Blind rules that learn: label rates and naive Bayes, asked only about what they never saw.

A rule is tried twice. Cross-fitted it learns from all other folds: that is the figure people read.
In sequence it learns only from the folds before: then, if labels have nothing to do with what it
sees, each answer is right as often as a guess whatever came before, and the figure can be tested.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from gnomon.audit.subject import Answers, Signs, best_credit
from gnomon.measures.columns import Floats
from gnomon.models.classifiers import assign_folds

FOLDS = 8
RIGHT, OFFERED = 0.25, 1.0  # sightings that a label's rate begins with
PRIOR = 1.0  # how many sightings the rate of a label counts for, beside those of a sign
MOST_COUNTS = 2_000_000  # signs times labels that are counted in one fold: the most frequent ones
BASKETS = 512  # in which the second classifier counts signs
RIDGE = 1.0  # by how much of the mean square its weights are held back
AT_ONCE = 4096  # rows
TINY = 1e-12


class SumRule(Protocol):
    """A rule whose knowledge is a sum over the rows that it saw."""

    def counts(self, rows: np.ndarray) -> Floats:
        """What some rows teach."""

    def scores(self, counts: Floats, rows: np.ndarray) -> Floats:
        """[rows, width] how much speaks for each choice of some rows."""


class Tried(NamedTuple):
    """What a rule earns on each row: learnt from all other folds, and from those before."""

    shown: Floats
    tested: Floats


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


def held_out_scores(learner: SumRule, answers: Answers, folds: np.ndarray) -> Floats:
    """[rows, width] what speaks for each choice, learnt from all other folds; 0 without any."""
    found = np.where(answers.choices >= 0, 0.0, -np.inf)
    blocks, block_of = np.unique(folds, return_inverse=True)
    rows_of = [np.flatnonzero(block_of == block) for block in range(len(blocks))]
    counted = [learner.counts(rows) for rows in rows_of]
    for bits, rows in zip(blocks.tolist(), rows_of, strict=True):
        apart = [
            mine for mine, other in zip(counted, blocks.tolist(), strict=True) if not other & bits
        ]
        if apart:
            found[rows] = learner.scores(sum(apart[1:]) + apart[0], rows)
    return found


def tried(learner: SumRule, answers: Answers, folds: np.ndarray) -> Tried:
    """What a rule earns that never saw a row of the same fold; a guess where it saw nothing."""
    blocks, block_of = np.unique(folds, return_inverse=True)
    rows_of = [np.flatnonzero(block_of == block) for block in range(len(blocks))]
    counted = [learner.counts(rows) for rows in rows_of]
    credits = (answers.chance.copy(), answers.chance.copy())
    for bits, rows in zip(blocks.tolist(), rows_of, strict=True):
        apart = [place for place, other in enumerate(blocks.tolist()) if not other & bits]
        before = [place for place in apart if _last(blocks[place]) < _last(bits)]
        for credit, seen in zip(credits, (apart, before), strict=True):
            if seen:
                known = sum(counted[place] for place in seen[1:]) + counted[seen[0]]
                credit[rows] = best_credit(learner.scores(known, rows), answers.gold[rows])
    return Tried(*credits)


def _last(bits: int) -> int:
    return int(bits).bit_length()


def learnt_once(learner: SumRule, answers: Answers, train: np.ndarray, asked: np.ndarray) -> Floats:
    """What a rule earns on the rows in `asked` that has learnt from those in `train`."""
    known = learner.counts(np.flatnonzero(train))
    scores = learner.scores(known, np.flatnonzero(asked))
    return best_credit(scores, answers.gold[asked])


class LabelRates:
    """Of the labels offered take the one that is right most often when it is offered.

    Counted for all rows together or, given codes, among the rows with the same code.
    """

    def __init__(self, answers: Answers, codes: np.ndarray | None = None) -> None:
        self._answers = answers
        self._offered = answers.choices >= 0
        self._size = len(answers.targets)
        base = answers.choices
        if codes is not None:
            base = base + codes[:, None] * self._size
            self._size *= int(codes.max(initial=0)) + 1
        self._keys = np.where(self._offered, base, 0)

    def counts(self, rows: np.ndarray) -> Floats:
        """[2, labels] how often each was right and offered."""
        offered = self._offered[rows]
        keys = self._keys[rows][offered]
        share = self._answers.shares[rows][offered]
        right = np.bincount(keys, weights=share, minlength=self._size)
        return np.stack([right, np.bincount(keys, minlength=self._size)])

    def scores(self, counts: Floats, rows: np.ndarray) -> Floats:
        """The rates of the labels that are offered."""
        rates = (counts[0] + RIGHT) / (counts[1] + OFFERED)
        return np.where(self._offered[rows], rates[self._keys[rows]], -np.inf)


class NaiveBayes:
    """How much more often than elsewhere each label is right, where offered, beside each sign.

    Labels weigh in the end by how often they are right when they are offered. A sign that training
    lacks says nothing; one that occurs once cannot be in training and be asked about.
    """

    def __init__(self, signs: Signs, answers: Answers) -> None:
        self._answers = answers
        self._targets = len(answers.targets)
        self._signs = signs.frequent(max(1, MOST_COUNTS // max(1, self._targets)))
        self._width = len(self._signs.names) + 1  # the last stands for having been there at all
        self._offers = answers.offered_targets

    def counts(self, rows: np.ndarray) -> Floats:
        """[2, signs, targets] how often each target was right, and offered, beside each sign."""
        votes = self._answers.votes[rows]
        codes, place = self._signs.of_rows(rows)
        found = np.zeros((2, self._width, self._targets))
        found[0, -1] = votes.sum(axis=0)
        found[1, -1] = self._offers[rows].sum(axis=0)
        seen = np.bincount(codes, minlength=self._width - 1)
        for target in range(self._targets):
            with_target = np.bincount(codes, votes[place, target], self._width - 1)
            found[0, :-1, target] = with_target
            found[1, :-1, target] = seen
        if not self._answers.same_offer:
            for target in range(self._targets):
                there = self._offers[rows][place, target]
                found[1, :-1, target] = np.bincount(codes, there, self._width - 1)
        return found

    def scores(self, counts: Floats, rows: np.ndarray) -> Floats:
        """The logarithm of what speaks for each choice."""
        answers = self._answers
        rates = (counts[0, -1] + RIGHT) / (counts[1, -1] + OFFERED)
        right, offered = counts[0, :-1], counts[1, :-1]
        weights = _log((right + PRIOR * rates) / (offered + PRIOR)) - _log(rates)
        codes, place = self._signs.of_rows(rows)
        found = np.tile(_log(rates), (len(rows), 1))
        for target in range(self._targets):
            found[:, target] += np.bincount(place, weights[codes, target], len(rows))
        return answers.by_choice(found, rows)


class ChoiceBayes:
    """Each choice is a text of its own that is right or wrong, by its signs."""

    def __init__(self, signs: Signs, answers: Answers) -> None:
        self._answers = answers
        self._signs = signs.frequent(MOST_COUNTS)  # of every choice, row by row
        self._offered = answers.choices >= 0
        numbers = np.cumsum(self._offered.ravel()) - 1
        self._number = numbers.reshape(self._offered.shape)  # of each choice among all

    def counts(self, rows: np.ndarray) -> Floats:
        """[2, signs] how often a choice with each sign was right, and there."""
        offered = self._offered[rows]
        right = self._answers.shares[rows][offered]
        codes, place = self._signs.of_rows(self._number[rows][offered])
        size = len(self._signs.names)
        found = np.zeros((2, size + 1))
        found[0, :-1] = np.bincount(codes, right[place], size)
        found[1, :-1] = np.bincount(codes, minlength=size)
        found[:, -1] = right.sum(), len(right)
        return found

    def scores(self, counts: Floats, rows: np.ndarray) -> Floats:
        """How much more often choices with the signs are right than wrong."""
        rate = (counts[0, -1] + RIGHT) / (counts[1, -1] + OFFERED)
        right = (counts[0, :-1] + PRIOR * rate) / (counts[1, :-1] + PRIOR)
        wrong = _log((1 - right) / (1 - rate))
        weights = _log(right / rate) - wrong
        offered = self._offered[rows]
        codes, place = self._signs.of_rows(self._number[rows][offered])
        found = np.full(offered.shape, -np.inf)
        found[offered] = np.bincount(place, weights[codes], int(offered.sum()))
        return found


class Ridge:
    """A second classifier of another kind: linear, over numbers of signs in so many baskets.

    Its knowledge is a sum over rows, too: how baskets go together, and how they go with answers.
    """

    def __init__(self, signs: Signs, answers: Answers) -> None:
        self._answers = answers
        self._signs = signs
        lengths = np.diff(signs.starts)
        self._scale = 1 / np.sqrt(np.maximum(lengths, 1))

    def _baskets(self, rows: np.ndarray) -> Floats:
        codes, place = self._signs.of_rows(rows)
        cells = place * BASKETS + codes % BASKETS
        sign = np.where(codes // BASKETS % 2, -1.0, 1.0)  # so that signs in one basket cancel
        found = np.bincount(cells, weights=sign, minlength=len(rows) * BASKETS)
        scaled = found.reshape(len(rows), BASKETS) * self._scale[rows][:, None]
        return np.concatenate([scaled, np.ones((len(rows), 1))], axis=1)

    def counts(self, rows: np.ndarray) -> Floats:
        """[baskets, baskets and targets] the products of baskets with baskets and with answers."""
        answers = self._answers
        offered = answers.offered_targets[rows]
        gaps = answers.votes[rows] - offered / offered.sum(axis=1, keepdims=True)
        found = np.zeros((BASKETS + 1, BASKETS + 1 + gaps.shape[1]))
        for begin in range(0, len(rows), AT_ONCE):
            part = slice(begin, begin + AT_ONCE)
            baskets = self._baskets(rows[part])
            found += baskets.T @ np.concatenate([baskets, gaps[part]], axis=1)
        return found

    def scores(self, counts: Floats, rows: np.ndarray) -> Floats:
        """What the baskets of a row predict for each choice."""
        size = BASKETS + 1
        penalty = RIDGE * max(1.0, float(np.trace(counts[:, :size])) / size)
        weights = np.linalg.solve(counts[:, :size] + penalty * np.eye(size), counts[:, size:])
        found = np.concatenate(
            [
                self._baskets(rows[begin : begin + AT_ONCE]) @ weights
                for begin in range(0, len(rows), AT_ONCE)
            ]
        )
        return self._answers.by_choice(found, rows)


def _log(value: Floats | float) -> Floats:
    return np.asarray(np.log(np.maximum(value, TINY)))
