"""Which items a limit takes: nested, spread evenly, never in step with the order of the items."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.items.limits import groups_within, spread

TOTALS = st.integers(0, 5000)


@given(TOTALS, st.integers(0, 500))
def test_as_many_indices_as_wanted_in_order(total, most):
    found = spread(total, most)
    assert len(found) == min(total, most)
    assert found == sorted(set(found))
    assert all(0 <= index < total for index in found)


@given(TOTALS, st.integers(0, 500), st.integers(0, 500))
def test_a_larger_limit_contains_a_smaller_one(total, most, more):
    assert set(spread(total, most)) <= set(spread(total, most + more))


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 8))
def test_every_stretch_gets_its_share(total, most, stretches):
    """Of `most`, a stretch of the whole gets its part, but for a few where the halves meet."""
    most = min(total, most)
    found = spread(total, most)
    edges = [number * total // stretches for number in range(stretches + 1)]
    for low, high in pairwise(edges):
        held = sum(low <= index < high for index in found)
        assert abs(held - most * (high - low) / total) <= 4


@pytest.mark.parametrize("period", [2, 3, 4, 5, 8, 16])
def test_what_alternates_in_a_benchmark_is_met_about_equally(period):
    found = spread(4096, 512)
    for phase in range(period):
        share = sum(index % period == phase for index in found) / len(found)
        assert 0.5 / period < share < 1.6 / period


def test_any_item_may_be_the_first_that_is_taken():
    firsts = {spread(total, 1)[0] * 8 // total for total in range(100, 400)}
    assert firsts == set(range(8))


@given(st.lists(st.integers(1, 9), max_size=60), st.integers(0, 200), st.integers(0, 100))
def test_groups_are_whole_fit_the_limit_and_are_nested(sizes, most, more):
    fewer, larger = groups_within(sizes, most), groups_within(sizes, most + more)
    assert sum(sizes[group] for group in fewer) <= most
    assert set(fewer) <= set(larger)
    if sum(sizes) <= most:
        assert fewer == list(range(len(sizes)))
    else:
        one_more = spread(len(sizes), len(fewer) + 1)
        assert sum(sizes[group] for group in one_more) > most
