"""Dawid and Skene's estimate, against people whose reliability is known because they are made."""

import numpy as np
import pytest

from gnomon.people.reliability import dawid_skene, reliability_of
from gnomon.people.votes import PersonVote, Votes
from gnomon.records import Item
from tests.people.voting import votes_of


def simulated(rng, tables, shares, items, missing=0.0):
    """Truth and votes of people who follow these tables [people, labels, labels]."""
    truth = rng.choice(len(shares), size=items, p=shares)
    said = np.empty((items, len(tables)), dtype=np.int64)
    for person, table in enumerate(tables):
        drawn = rng.random((items, 1))
        said[:, person] = (np.cumsum(table[truth], axis=1) < drawn).sum(axis=1)
    said[rng.random(said.shape) < missing] = -1
    return truth, said


def table_of(right, labels):
    """Right so often, and else any other label."""
    found = np.full((labels, labels), (1 - right) / (labels - 1))
    np.fill_diagonal(found, right)
    return found


@pytest.fixture
def people():
    return np.stack([table_of(right, 3) for right in (0.95, 0.85, 0.7, 0.6, 1 / 3)])


def test_reliability_is_found_again_with_gaps_and_without_right_labels(rng, people):
    truth, said = simulated(rng, people, [0.5, 0.3, 0.2], 3000, missing=0.3)
    found = dawid_skene(said, 3)
    assert found.converged
    assert found.people == pytest.approx([0.95, 0.85, 0.7, 0.6, 1 / 3], abs=0.04)
    assert found.tables == pytest.approx(people, abs=0.09)
    assert found.shares == pytest.approx([0.5, 0.3, 0.2], abs=0.03)
    consensus = (found.labels.argmax(axis=1) == truth).mean()
    counts = np.stack([(said == label).sum(axis=1) for label in range(3)], axis=1)
    plain = (counts.argmax(axis=1) == truth).mean()
    assert consensus > plain + 0.02


def test_a_person_who_turns_two_labels_round_is_seen_through(rng):
    turned = np.array([[0.1, 0.9], [0.9, 0.1]])
    tables = np.stack([table_of(0.9, 2)] * 3 + [turned])
    truth, said = simulated(rng, tables, [0.5, 0.5], 2000)
    found = dawid_skene(said, 2)
    assert found.people[3] == pytest.approx(0.1, abs=0.03)
    assert (found.labels.argmax(axis=1) == truth).mean() > 0.95


def test_the_estimate_does_not_depend_on_the_order_of_people_and_items(rng, people):
    _, said = simulated(rng, people, [0.5, 0.3, 0.2], 400, missing=0.2)
    found = dawid_skene(said, 3)
    order, rows = rng.permutation(5), rng.permutation(400)
    other = dawid_skene(said[rows][:, order], 3)
    assert other.people == pytest.approx(found.people[order], abs=1e-4)
    assert other.labels == pytest.approx(found.labels[rows], abs=1e-2)


def test_two_people_cannot_be_told_apart():
    assert reliability_of(votes_of([[0, 0], [1, 0]])) is None


def test_an_item_nobody_judged_has_the_usual_labels(rng, people):
    _, said = simulated(rng, people, [0.5, 0.3, 0.2], 300)
    said[0] = -1
    found = dawid_skene(said, 3)
    assert found.labels[0] == pytest.approx(found.shares)


def test_an_item_never_gets_a_label_that_it_does_not_list(rng):
    said = rng.integers(0, 2, (50, 3))
    possible = np.ones((50, 3), dtype=bool)
    possible[:, 2] = False
    assert dawid_skene(said, 3, possible).labels[:, 2].max() == 0.0


@pytest.mark.parametrize("own", [False, True])
def test_people_who_always_agree_are_reliable_also_where_items_have_labels_of_their_own(own):
    judged = []
    for number in range(60):
        of_item = number if own else ""
        choices = tuple(f"{of_item}{letter}" for letter in "abcd")
        item = Item(id=str(number), form="choice", text="?", choices=choices)
        judged.append((item, [PersonVote(name, choices[0]) for name in ("ann", "ben", "cleo")]))
    found = reliability_of(Votes.of("items@file", judged))
    assert found.converged
    assert found.people.min() > 0.85


def test_people_who_share_no_item_cannot_be_compared():
    said = np.full((30, 3), -1)
    said[np.arange(30), np.arange(30) % 3] = np.arange(30) % 2
    assert reliability_of(votes_of(said)) is None
