"""How far each person can be relied on: by repeats and catch items, and without right labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.agreement import Judgements
from gnomon.measures.columns import Floats
from gnomon.people.order import Extra, read_extras
from gnomon.people.votes import Votes, person_of
from gnomon.runs import Run


class ShareOf(NamedTuple):
    """So many of so many."""

    n: int = 0
    good: int = 0

    @property
    def share(self) -> float | None:
        """None of nothing."""
        return self.good / self.n if self.n else None

    def plus(self, other: ShareOf) -> ShareOf:
        """Both together."""
        return ShareOf(self.n + other.n, self.good + other.good)


class Care(NamedTuple):
    """How carefully a person works."""

    again: ShareOf = ShareOf()  # items that they judged twice, and how often alike
    catch: ShareOf = ShareOf()  # items whose answer is known, and how often they gave it

    def plus(self, other: Care) -> Care:
        """Both together."""
        return Care(self.again.plus(other.again), self.catch.plus(other.catch))


def care_in_votes(votes: Votes) -> dict[str, Care]:
    """For each person how often a further vote on an item is their first one again."""
    row, person, code = votes.repeats.T
    first = votes.said[row, person]
    shown = np.bincount(person[first >= 0], minlength=len(votes.people))
    alike = np.bincount(person[first == code], minlength=len(votes.people))
    found = {}
    for name, n, same in zip(votes.people, shown.tolist(), alike.tolist(), strict=True):
        found[name] = Care(again=ShareOf(n, same))
    return found


def care_in_runs(runs: Iterable[Run]) -> dict[str, Care]:
    """For each person what stands beside the answers of their runs."""
    found: dict[str, Care] = {}
    for run in runs:
        name = person_of(run.model)
        if name:
            mine = _care(read_extras(run.path))
            found[name] = found.get(name, Care()).plus(mine)
    return found


def _care(extras: Iterable[Extra]) -> Care:
    given = [extra for extra in extras if not extra.skipped]
    first = {extra.item: extra.response for extra in given if extra.kind == "item"}
    again = catch = ShareOf()
    for extra in given:
        if extra.kind == "repeat" and extra.item in first:
            again = again.plus(ShareOf(1, extra.response == first[extra.item]))
        elif extra.kind == "catch":
            catch = catch.plus(ShareOf(1, bool(extra.right)))
    return Care(again, catch)


LEAST_PEOPLE = 3  # two people can always explain each other's votes
ADDED = 0.2  # to each row of a person's table, in answers
ADDED_ITEMS = 0.1  # to the items of which each label is true
LEAST = 1e-12  # of a cell, so that it has a logarithm
MOST_STEPS = 1000
ENOUGH = 1e-9  # a step that improves the fit by less than this share of it is the last


class Reliability(NamedTuple):
    """What the votes say about people and items."""

    people: Floats  # [people] how likely each says what is true
    tables: Floats  # [people, labels, labels] how likely each says a label where another is true
    shares: Floats  # [labels] how often each label is true
    labels: Floats  # [items, labels] how likely each label is true of an item
    steps: int
    converged: bool


class _Made(NamedTuple):
    """The votes one by one, in the order of the items."""

    row: NDArray[np.int64]
    person: NDArray[np.int64]
    code: NDArray[np.int64]
    items: int
    people: int
    labels: int


def reliability_of(votes: Votes) -> Reliability | None:
    """The estimate; none with fewer than three people, or where no two judged the same item."""
    shared = votes.made.sum(axis=1) >= 2
    if len(votes.people) < LEAST_PEOPLE or not shared.any():
        return None
    possible = np.zeros((len(votes.items), len(votes.labels)), dtype=bool)
    for kind, choices in enumerate(votes.table.kinds.choices):
        rows = np.flatnonzero(votes.table.kind == kind)
        possible[np.ix_(rows, choices[choices >= 0])] = True
    return dawid_skene(votes.said, len(votes.labels), possible)


def dawid_skene(
    said: Judgements, labels: int, possible: NDArray[np.bool_] | None = None
) -> Reliability:
    """People's tables and the true labels, from a matrix [items, people] of codes, -1 for none.

    `possible` [items, labels] says which labels an item may have, if not all.
    """
    row, person = np.nonzero(said >= 0)
    made = _Made(row, person, said[row, person], len(said), said.shape[1], labels)
    if possible is None:
        possible = np.ones((len(said), labels), dtype=bool)

    prior = _prior(possible)
    truth = _vote_shares(made, possible)
    before, steps, converged = -np.inf, 0, False
    while not converged and steps < MOST_STEPS:
        tables, shares = _estimated(made, truth, prior)
        truth, fit = _expected(made, possible, tables, shares, prior)
        converged = bool(fit - before <= ENOUGH * abs(fit))
        before = fit
        steps += 1
    right = np.diagonal(tables, axis1=1, axis2=2)
    people = right @ truth.mean(axis=0)
    return Reliability(people, tables, shares, truth, steps, converged)


def _prior(possible: NDArray[np.bool_]) -> Floats:
    """[labels, labels] what is added to a table: each row's share to labels offered beside its own.

    Items may have labels of their own, which nobody can take for those of other items.
    """
    offered = possible.astype(float)
    beside = offered.T @ offered > 0
    count = beside.sum(axis=1, keepdims=True)
    return np.asarray(ADDED * beside / np.maximum(count, 1))


def _vote_shares(made: _Made, possible: NDArray[np.bool_]) -> Floats:
    """Where to begin: an item's labels are as likely as they have votes."""
    place = made.row * made.labels + made.code
    counts = np.bincount(place, minlength=made.items * made.labels)
    shares = counts.reshape(made.items, made.labels) + 1e-3 * possible
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _estimated(made: _Made, truth: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Each person's table and the share of each label, if the labels are as likely as this."""
    tables = np.empty((made.people, made.labels, made.labels))
    place = made.person * made.labels + made.code
    for label in range(made.labels):
        weights = truth[made.row, label]
        flat = np.bincount(place, weights=weights, minlength=made.people * made.labels)
        tables[:, label] = flat.reshape(made.people, made.labels)
    tables += np.maximum(prior, LEAST)
    tables /= tables.sum(axis=2, keepdims=True)
    shares = truth.sum(axis=0) + ADDED_ITEMS
    return tables, shares / shares.sum()


def _expected(
    made: _Made, possible: NDArray[np.bool_], tables: Floats, shares: Floats, prior: Floats
) -> tuple[Floats, float]:
    """How likely each label is of each item by people's tables, and how well that fits the votes.

    The fit is what each step improves: the log-likelihood of the votes with the prior's.
    """
    logs = np.where(possible, np.log(shares), -np.inf)
    of_votes = np.log(tables).transpose(0, 2, 1)[made.person, made.code]  # [votes, labels]
    judged, first = np.unique(made.row, return_index=True)
    logs[judged] += np.add.reduceat(of_votes, first, axis=0)
    most = logs.max(axis=1, keepdims=True)
    likely = np.exp(logs - most)
    total = likely.sum(axis=1, keepdims=True)
    of_tables = float((prior * np.log(tables)).sum())
    of_shares = ADDED_ITEMS * float(np.log(shares).sum())
    fit = float((most + np.log(total)).sum()) + of_tables + of_shares
    return likely / total, fit
