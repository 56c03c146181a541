"""Errors by what items share: pairs of objects, crossed and nested kinds of unit."""

from itertools import combinations
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gnomon.measures import Table
from gnomon.measures.accuracy import ACCURACY, pattern_accuracy_auc
from gnomon.measures.comparison import compare, difference, swapping_test, t_test
from gnomon.measures.intervals import bootstrap, interval
from gnomon.measures.scoring import score
from gnomon.measures.seeds import together
from gnomon.measures.statistics import mean_of, standard_error, uncertainty
from gnomon.measures.units import KindOfUnit, Sharing, Units
from gnomon.records import Answer, Item
from gnomon.registry import benchmark, entries

PAIRS = Sharing((KindOfUnit(("one", "two"), "objects"),))


def pairs_of(objects, times=1):
    """Every two objects, asked so many times."""
    return np.repeat(list(combinations(range(objects), 2)), times, axis=0)


def drawn(rng, units, effect, kinds=(2,)):
    """Right or wrong, where each unit has a random effect in logits."""
    effects = rng.normal(0, effect, int(units.max()) + 1)
    return rng.random(len(units)) < 1 / (1 + np.exp(-0.9 - effects[units].sum(axis=1)))


def asked(units, right, **about):
    """A table of pairs of objects."""
    rows = []
    for place, ((one, two), is_right) in enumerate(zip(units.tolist(), right, strict=True)):
        item = Item(
            id=str(place),
            form="choice",
            text=f"{one} {two} {place}",
            choices=("no", "yes"),
            gold=("yes",),
            group=f"{min(one, two)}/{max(one, two)}",
            tags={"one": f"object {one}", "two": f"object {two}"},
        )
        rows.append((item, Answer(item=item.id, choice="yes" if is_right else "no")))
    return Table.of(rows, **({"sharing": PAIRS, "model": "m", "benchmark": "b"} | about))


def moves(values, parts):
    """How leaving out each part moves the mean, as weights of the rows."""
    found = []
    for part in parts:
        found.append(~part / (~part).sum() - 1 / len(values))
    return np.array(found)


def parts_of(units, count):
    """For each of so many units the rows that have it."""
    return [(units == unit).any(axis=1) for unit in range(count)]


def solved(values, cells, jackknives, sources):
    """The variance of a mean, by deleting rows and by dense algebra.

    A jackknife is a list of parts with their signs, a source a matrix [rows, units].
    """
    sums = []
    expected = []
    for jackknife in [[(1, cells)], *jackknives]:
        weights = [(sign, moves(values, parts)) for sign, parts in jackknife]
        sums.append(sum(sign * ((each @ values) ** 2).sum() for sign, each in weights))
        row = []
        for source in sources:
            row.append(sum(sign * ((each @ source) ** 2).sum() for sign, each in weights))
        expected.append(row)
    adds = [(source.mean(axis=0) ** 2).sum() for source in sources]
    return adds @ np.linalg.solve(expected, sums)


def ends_of(units, count):
    """[rows, units] whether a row has a unit."""
    return np.array(parts_of(units, count), dtype=float).T


@pytest.mark.parametrize("hub", [False, True])
def test_the_error_of_pairs_solves_for_what_objects_and_pairs_add(rng, hub):
    pairs = pairs_of(12)
    if hub:  # the first object is in half of all pairs
        pairs = np.array([pair for pair in pairs.tolist() if pair[0] == 0 or sum(pair) % 5 == 0])
    units = np.repeat(pairs, 2, axis=0)
    values = rng.normal(0, 1, 12)[units].sum(axis=1) + rng.normal(0, 1, len(units))
    cells = [(units == pair).all(axis=1) for pair in pairs]
    objects = parts_of(units, 12)
    sources = [np.array(cells, dtype=float).T, ends_of(units, 12)]
    variance = solved(values, cells, [[(1, objects), (-1, cells)]], sources)
    found = standard_error(mean_of(values, Units(units, (2,))))
    assert found == pytest.approx(sqrt(variance))


def test_the_error_of_crossed_kinds_counts_nothing_twice(rng):
    """What rows show of columns, and columns of rows, is taken off."""
    units = np.stack(np.indices((8, 11)).reshape(2, -1), axis=1)
    units = units[rng.random(len(units)) < 0.6]
    values = rng.normal(0, 1, 8)[units[:, 0]] + rng.normal(0, 1, 11)[units[:, 1]]
    values = values + rng.normal(0, 1, len(units))
    cells = [np.arange(len(units)) == row for row in range(len(units))]
    rows, columns = units[:, :1], units[:, 1:]
    jackknives = [[(1, parts_of(rows, 8))], [(1, parts_of(columns, 11))]]
    sources = [np.eye(len(units)), ends_of(rows, 8), ends_of(columns, 11)]
    variance = solved(values, cells, jackknives, sources)
    found = standard_error(mean_of(values, Units(units, (1, 1), ("rows", "columns"))))
    assert found == pytest.approx(sqrt(variance))


def test_units_that_add_nothing_take_little_off(rng):
    units = pairs_of(6, times=3)
    for _ in range(50):
        values = rng.normal(0, 1, len(units))
        by_pairs = standard_error(mean_of(values, np.repeat(np.arange(15), 3)))
        found = standard_error(mean_of(values, Units(units, (2,))))
        assert found > 0.94 * by_pairs


def test_a_large_unit_moves_figure_and_error_together(rng):
    alike = uncertainty(mean_of(rng.normal(0, 1, 10)[np.arange(200) % 10], np.arange(200) % 10))
    assert alike.freedom == pytest.approx(9)
    assert alike.plain_freedom == pytest.approx(9)
    codes = np.repeat(np.arange(21), [60, *[7] * 20])
    unequal = uncertainty(mean_of(rng.normal(0, 1, 21)[codes], codes))
    assert unequal.plain_freedom < 4
    assert unequal.freedom > 1.3 * unequal.plain_freedom


def test_with_many_objects_it_is_the_double_sum_over_pairs_that_share_an_object(rng):
    """Aronow, Samii and Assenova 2015, equation 2, term by term."""
    units = pairs_of(60)
    effects = rng.normal(0, 1, 60)
    values = effects[units].sum(axis=1) + rng.normal(0, 1, len(units))
    away = values - values.mean()
    total = 0.0
    for i in range(len(units)):
        shares = (units == units[i, 0]).any(axis=1) | (units == units[i, 1]).any(axis=1)
        total += away[i] * away[shares].sum()
    expected = sqrt(total) / len(units)
    found = standard_error(mean_of(values, Units(units, (2,)), bounds=(-np.inf, np.inf)))
    assert found == pytest.approx(expected, rel=0.08)
    assert found > 2 * standard_error(mean_of(values, np.arange(len(values))))


@st.composite
def designs(draw):
    """Values and units: two tags of one kind, or of two."""
    size = draw(st.integers(4, 40))
    codes = st.lists(st.integers(0, 8), min_size=size, max_size=size)
    units = np.array([draw(codes), draw(codes)]).T
    values = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    return np.array(values, dtype=float), units, draw(st.sampled_from([(2,), (1, 1)]))


def both(values, units, kinds):
    return uncertainty(mean_of(values, Units(units, kinds, ("units",) * len(kinds))))


def alike(one, two):
    return one == pytest.approx(two, rel=1e-6, abs=1e-9, nan_ok=True)


@given(designs(), st.permutations(range(9)))
def test_names_of_units_are_no_matter(design, names):
    values, units, kinds = design
    assert alike(both(values, units, kinds), both(values, np.array(names)[units], kinds))


@given(designs(), st.randoms())
def test_the_order_of_rows_is_no_matter(design, random):
    values, units, kinds = design
    order = list(range(len(values)))
    random.shuffle(order)
    assert alike(both(values, units, kinds), both(values[order], units[order], kinds))


@given(designs())
def test_which_object_is_named_first_is_no_matter(design):
    values, units, _ = design
    turned = np.where(np.arange(len(units))[:, None] % 2, units, units[:, ::-1])
    assert alike(both(values, units, (2,)), both(values, turned, (2,)))


@given(designs())
def test_one_unit_an_item_is_the_jackknife_over_clusters(design):
    values, units, _ = design
    one_way = mean_of(values, units[:, 0])
    for more in (units[:, :1], units[:, [0, 0]]):
        kinds = (1,) * more.shape[1]
        assert alike(both(values, more, kinds), uncertainty(one_way))
    assert alike(both(values, units[:, [0, 0]], (2,)), uncertainty(one_way))


@given(designs())
def test_units_within_others_reduce_to_the_coarser(design):
    values, units, _ = design
    families = units[:, 0] // 3
    assume(len(set(families)) > 1)  # one that all share does not vary
    nested = np.stack([families, units[:, 0]], axis=1)
    assert alike(both(values, nested, (1, 1)), uncertainty(mean_of(values, families)))
    types = units // 3
    assume(not any((types == each).any(axis=1).all() for each in range(3)))
    assert alike(both(values, np.hstack([types, units]), (2, 2)), both(values, types, (2,)))


@given(designs())
def test_a_kind_that_has_one_unit_does_not_vary(design):
    values, units, kinds = design
    constant = np.zeros((len(values), 1), dtype=int)
    assert alike(
        both(values, np.hstack([units, constant]), (*kinds, 1)), both(values, units, kinds)
    )


@given(designs(), st.integers(0, 1))
def test_an_interval_over_units_that_overlap_holds_its_value(design, draws):
    values, units, kinds = design
    found = interval(
        mean_of(values, Units(units, kinds, ("units",) * len(kinds))), draws=200 * draws
    )
    if not isnan(found.low):
        assert 0 <= found.low <= found.value + 1e-9
        assert found.value - 1e-9 <= found.high <= 1


def test_objects_that_agree_are_not_certainty():
    values = np.tile([1.0] + [0.0] * 7, 10)
    found = interval(mean_of(values, Units(pairs_of(5, times=8), (2,))))
    assert found.value == 0.125
    assert found.low < 0.1
    assert found.high > 0.4, "five objects say little"


def test_intervals_over_pairs_cover_and_those_that_forget_the_objects_do_not():
    """A quick seeded simulation; bench/measures.py designs does 2,000 runs on the real sets."""
    rng = np.random.default_rng(3)
    units = pairs_of(25)
    covered = {"analytic": 0, "bootstrap": 0, "pairs": 0}
    truth = np.mean([drawn(rng, pairs_of(100), 1.0).mean() for _ in range(200)])
    runs = 200
    for _ in range(runs):
        right = drawn(rng, units, 1.0)
        shared = mean_of(right, Units(units, (2,)))
        found = {
            "analytic": interval(shared),
            "bootstrap": interval(shared, draws=200),
            "pairs": interval(mean_of(right, np.arange(len(right)))),
        }
        for kind, each in found.items():
            covered[kind] += each.low <= truth <= each.high
    assert 0.9 <= covered["analytic"] / runs <= 0.99
    assert 0.9 <= covered["bootstrap"] / runs <= 0.99
    assert covered["pairs"] / runs < 0.75


def test_equal_models_on_crossed_units_are_told_apart_about_one_time_in_twenty():
    rng = np.random.default_rng(4)
    units = np.stack(np.indices((15, 20)).reshape(2, -1), axis=1) + np.array([0, 15])
    found = naive = 0
    for _ in range(300):
        one, two = drawn(rng, units, 0.7), drawn(rng, units, 0.7)
        crossed = Units(units, (1, 1), ("objects", "verbs"))
        found += swapping_test(mean_of(one, crossed), mean_of(two, crossed)) < 0.05
        alone = np.arange(len(units))
        naive += t_test(difference(mean_of(one, alone), mean_of(two, alone))) < 0.05
    assert 0.02 <= found / 300 <= 0.09
    assert naive / 300 > 0.2


def test_the_bootstrap_draws_units_not_cells(rng):
    units = pairs_of(20)
    found = mean_of(drawn(rng, units, 1.0), Units(units, (2,)))
    drawn_values = bootstrap(found, 100)
    assert drawn_values.std() > 0
    assert interval(found, draws=500).error == standard_error(found)


def test_a_table_says_which_units_its_figures_are_over(rng):
    units = pairs_of(12, times=2)
    table = asked(units, drawn(rng, units, 0.5))
    found = score(table, ACCURACY)
    assert (found.n, found.clusters, found.units) == (132, 12, "12 objects")
    groups = asked(units, drawn(rng, units, 0.5), sharing=Sharing())
    assert score(groups, ACCURACY).units == "66 groups"


def test_a_slice_of_one_object_varies_by_the_others(rng):
    units = pairs_of(12, times=2)
    part = dict(asked(units, drawn(rng, units, 0.5)).by("one"))["object 0"]
    found = score(part, ACCURACY)
    assert (found.n, found.clusters) == (22, 12)
    assert found.low < found.value < found.high
    by_pairs = uncertainty(mean_of(part.right, part.group.codes))
    assert uncertainty(mean_of(part.right, part.clusters)) == pytest.approx(by_pairs)


def test_a_slice_of_one_pair_has_a_value_and_no_interval():
    one = asked(np.array([[0, 1]] * 4), [True, True, False, True])
    assert (score(one, ACCURACY).value, score(one, ACCURACY).low) == (0.75, None)


def test_tags_that_the_items_lack_leave_the_groups(rng):
    units = pairs_of(8)
    families = Sharing((KindOfUnit(("family",), "families"),), KindOfUnit(("group",), "patterns"))
    table = asked(units, drawn(rng, units, 0.5), sharing=families)
    assert score(table, ACCURACY).units == "28 patterns"


def test_measures_of_groups_are_over_the_units_of_the_groups(rng):
    units = pairs_of(10, times=3)
    found = pattern_accuracy_auc(asked(units, drawn(rng, units, 0.5)))
    assert (found.clusters, found.units, len(found.sums)) == (10, "10 objects", 45)


def test_models_are_compared_over_objects(rng):
    units = pairs_of(20, times=2)
    one = asked(units, drawn(rng, units, 1.0), model="one")
    two = asked(units, drawn(rng, units, 1.0), model="two")
    by_object = compare([one, two], ACCURACY, draws=200)[0]
    alone = [
        asked(units, table.right, sharing=Sharing(), model=table.model) for table in (one, two)
    ]
    by_pair = compare(alone, ACCURACY, draws=200)[0]
    assert (by_object.units, by_pair.units) == ("20 objects", "190 groups")
    assert by_object.difference == by_pair.difference
    assert by_object.detectable > 1.5 * by_pair.detectable
    assert by_object.high - by_object.low > 1.5 * (by_pair.high - by_pair.low)


def test_the_same_objects_with_two_seeds_are_still_as_many_objects(rng):
    units = pairs_of(10)
    tables = [asked(units, drawn(rng, units, 0.5), seed=seed) for seed in (1, 2)]
    pooled = ACCURACY.statistics(together(tables))
    assert (pooled.n, pooled.clusters, pooled.units) == (90, 10, "10 objects")


def test_too_many_cells_are_put_into_blocks_of_objects(rng, monkeypatch):
    units = rng.integers(0, 300, (20_000, 2))
    values = drawn(rng, units, 0.7)
    whole = mean_of(values, Units(units, (2,)))
    monkeypatch.setattr("gnomon.measures.units.CELLS", 5_000)
    part = mean_of(values, Units(units, (2,)))
    assert len(part.sums) < 2_500 < len(whole.sums)
    assert (part.value, part.clusters) == (whole.value, 300)
    assert standard_error(part) == pytest.approx(standard_error(whole), rel=0.3)


@pytest.mark.parametrize("name", entries("benchmarks"))
def test_every_benchmark_names_each_kind_of_its_units(name):
    about = benchmark(name)
    kinds = Sharing.of(about).kinds
    assert [kind.tags for kind in kinds] == list(about.units)
    assert all(kind.noun.endswith("s") for kind in kinds)
