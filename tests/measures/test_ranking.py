"""The order that contradicts the fewest statements: exact for small tangles, bounded for large ones."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.measures import beliefs as ranking
from gnomon.measures.beliefs import components, contradicted, rank


@st.composite
def statements(draw, most=6):
    """How often each of a few objects was said to be over each other one."""
    size = draw(st.integers(1, most))
    cells = draw(st.lists(st.integers(0, 2), min_size=size * size, max_size=size * size))
    weights = np.array(cells, dtype=np.int64).reshape(size, size)
    np.fill_diagonal(weights, 0)
    return weights


def by_trying_all(weights):
    return min(contradicted(weights, order) for order in permutations(range(len(weights))))


def of_order(order, pairs):
    """Statements that follow an order, about some pairs of places in it."""
    weights = np.zeros((len(order), len(order)), dtype=np.int64)
    for one, two in pairs:
        over, under = min(one, two), max(one, two)
        weights[order[over], order[under]] += 1
    return weights


@given(statements())
def test_small_tangles_are_solved_exactly(weights):
    found = rank(weights)
    assert sorted(found.order) == list(range(len(weights)))
    assert found.changes == by_trying_all(weights) == contradicted(weights, found.order)
    assert found.exact


@given(statements())
def test_bounds_hold_the_exact_number_between_them(weights):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "EXACT", 1)
        found = rank(weights)
    assert found.least <= by_trying_all(weights) <= found.changes
    assert contradicted(weights, found.order) == found.changes


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 60), flips=st.integers(0, 8))
def test_planted_flips_are_the_most_that_must_change(seed, size, flips):
    random = np.random.default_rng(seed)
    order = random.permutation(size)
    pairs = [
        pair for pair in random.integers(0, size, (4 * size, 2)).tolist() if pair[0] != pair[1]
    ]
    weights = of_order(order, pairs)
    assert rank(weights).changes == 0
    assert not rank(weights).tangles
    planted = 0
    for over, under in random.permutation(np.argwhere(weights > 0))[:flips].tolist():
        weights[over, under] -= 1
        weights[under, over] += 1
        planted += 1
    found = rank(weights)
    assert found.least <= planted
    if found.exact:
        assert found.changes <= planted


def test_of_two_opposite_answers_one_must_change():
    found = rank(np.array([[0, 3], [2, 0]]))
    assert (found.order, found.changes, found.exact) == ((0, 1), 2, True)
    assert found.tangles == ()


def test_a_circle_loses_its_weakest_statement():
    weights = np.array([[0, 3, 0], [0, 0, 1], [2, 0, 0]])
    found = rank(weights)
    assert found.changes == 1
    assert found.order == (2, 0, 1)
    assert found.tangles == ((0, 1, 2),)


def test_tangles_apart_are_counted_apart():
    circle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    weights = np.zeros((6, 6), dtype=np.int64)
    weights[:3, :3] = weights[3:, 3:] = circle
    weights[0, 5] = 1
    found = rank(weights)
    assert found.changes == 2
    assert found.tangles == ((0, 1, 2), (3, 4, 5))
    assert set(found.order[:3]) == {0, 1, 2}


def test_components_come_in_the_order_of_what_is_said():
    weights = np.zeros((4, 4), dtype=np.int64)
    weights[3, 0] = weights[0, 1] = weights[1, 0] = weights[1, 2] = 1
    assert [sorted(found) for found in components(weights)] == [[3], [0, 1], [2]]


def test_a_large_circle_is_solved_by_its_bounds():
    size = ranking.EXACT + 10
    weights = np.roll(np.eye(size, dtype=np.int64), 1, axis=1)
    found = rank(weights)
    assert (found.changes, found.least) == (1, 1)
    assert len(found.tangles[0]) == size
