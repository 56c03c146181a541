"""Paired comparison of models, corrections, leaderboards, and runs over seeds."""

from dataclasses import replace

import numpy as np
import pytest

from gnomon.contracts import Laws, OrderLaw
from gnomon.errors import UsageError
from gnomon.measures import Table
from gnomon.measures.accuracy import ACCURACY, RECOGNISED_ACCURACY
from gnomon.measures.calibration import ECE
from gnomon.measures.classes import MACRO_F1
from gnomon.measures.comparison import (
    compare,
    detectable_difference,
    difference,
    holm,
    leaderboard,
    swapping_test,
    t_test,
)
from gnomon.measures.pairing import boards, shared
from gnomon.measures.seeds import by_seed, over_seeds, together
from gnomon.measures.statistics import Uncertainty, mean_of
from gnomon.records import Answer, Item
from gnomon.registry import measure

from .conftest import make


def about(table, **fields):
    """The table, with other facts about it."""
    return replace(table, about=replace(table.about, **fields))


def model(name, flags, *, width=5, **more):
    """A table with clusters of `width` items, right where the flags say so."""
    return make(
        ["a", "b"] * (len(flags) // 2),
        [
            gold if flag else ("b" if gold == "a" else "a")
            for gold, flag in zip(["a", "b"] * (len(flags) // 2), flags, strict=True)
        ],
        choices=("a", "b"),
        groups=[i // width for i in range(len(flags))],
        model=name,
        **more,
    )


def test_the_difference_is_first_minus_second_with_an_interval_around_it(rng):
    one, two = model("one", rng.random(200) < 0.8), model("two", rng.random(200) < 0.5)
    [found] = compare([one, two], ACCURACY)
    assert (found.first, found.second, found.n, found.clusters) == ("one", "two", 200, 40)
    assert found.difference == pytest.approx(found.first_value - found.second_value)
    assert found.low < found.difference < found.high
    assert found.bootstrap_low < found.difference < found.bootstrap_high
    assert found.differ
    assert found.low > 0


def test_pairing_finds_what_separate_intervals_hide(rng):
    own = rng.random(40) < 0.5  # whole clusters are hard or easy for both
    base = np.repeat(own, 5)
    better = base | (rng.random(200) < 0.2)
    [found] = compare([model("better", better), model("base", base)], ACCURACY)
    ranks = leaderboard([model("better", better), model("base", base)], ACCURACY, [found])
    assert found.differ
    assert ranks[0].low < ranks[1].high  # their intervals overlap


def test_a_model_does_not_differ_from_itself(rng):
    flags = rng.random(100) < 0.6
    [found] = compare([model("x", flags), model("y", flags)], ACCURACY)
    assert (found.difference, found.p, found.differ) == (0.0, 1.0, False)


def test_with_few_clusters_every_swap_is_tried_and_p_is_exact():
    one, two = mean_of([1, 1, 1, 1], np.arange(4)), mean_of([0, 0, 0, 0], np.arange(4))
    assert swapping_test(one, two) == 2 / 16
    assert swapping_test(mean_of([1, 1, 1], np.arange(3)), mean_of([1, 1, 0], np.arange(3))) == 1.0


def test_the_swapping_test_is_scipys_permutation_test(rng):
    stats = pytest.importorskip("scipy.stats")
    a, b = rng.random(30), rng.random(30) + 0.25
    expected = stats.permutation_test(
        (a, b),
        lambda x, y: np.mean(x - y),
        permutation_type="samples",
        n_resamples=9999,
        rng=np.random.default_rng(0),
    ).pvalue
    assert swapping_test(mean_of(a, np.arange(30)), mean_of(b, np.arange(30))) == pytest.approx(
        expected, abs=0.02
    )


def test_the_t_test_of_single_items_is_the_paired_one_of_scipy(rng):
    stats = pytest.importorskip("scipy.stats")
    a, b = rng.random(30), rng.random(30)
    gap = difference(mean_of(a, np.arange(30)), mean_of(b, np.arange(30)))
    assert t_test(gap) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-6)


def test_equal_models_are_told_apart_about_one_time_in_twenty():
    """A quick seeded simulation; bench/measures.py does 2,000 pairs of seven settings."""
    rng = np.random.default_rng(5)
    codes = np.repeat(np.arange(25), 8)
    found = naive = 0
    for run in range(400):
        level, own = rng.random(25), rng.normal(0, 0.25, 25)
        one, two = rng.random(200) < (level + own)[codes], rng.random(200) < (level - own)[codes]
        found += swapping_test(mean_of(one, codes), mean_of(two, codes), swaps=399, seed=run) < 0.05
        naive += (
            t_test(difference(mean_of(one, np.arange(200)), mean_of(two, np.arange(200)))) < 0.05
        )
    assert 0.025 <= found / 400 <= 0.08
    assert naive / 400 > 0.15


def test_holm_is_that_of_statsmodels(rng):
    p = [0.01, 0.04, 0.03, 0.005, 0.9]
    assert holm(p) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.9])
    assert holm([0.01, float("nan"), 0.02])[::2] == pytest.approx([0.02, 0.02])
    assert np.isnan(holm([float("nan")])[0])


def test_a_leaderboard_gives_ranges_of_ranks_and_ties(rng):
    tables = [
        model(name, rng.random(300) < p)
        for name, p in (("low", 0.3), ("high", 0.8), ("twin", 0.78))
    ]
    ranks = leaderboard(tables, ACCURACY, compare(tables, ACCURACY))
    assert ranks[2].model == "low"
    assert [(r.best, r.worst) for r in ranks] == [(1, 2), (1, 2), (3, 3)]
    assert set(ranks[0].tied) == {"high", "twin"} - {ranks[0].model}
    assert ranks[2].tied == ()


def test_runs_are_joined_by_item_in_whatever_order(rng):
    flags = rng.random(100) < 0.5
    one, two = model("one", flags), model("two", flags)
    shuffled = two.where(rng.permutation(100)[:60])
    [found] = compare([one, shuffled], ACCURACY)
    assert (found.n, found.difference) == (60, 0.0)


def test_any_measure_can_be_compared_even_with_labels_that_only_one_model_uses(rng):
    gold = ["a", "b"] * 50
    one = make(gold, gold, choices=("a", "b"), groups=range(100), model="one")
    two = make(gold, ["a"] * 99 + ["stray"], choices=("a", "b"), groups=range(100), model="two")
    [found] = compare([one, two], MACRO_F1)
    assert found.first_value == 1.0
    assert found.second_value == pytest.approx((2 * 50 / 149 + 0 + 0) / 3)


def test_measures_that_leave_items_out_are_compared_on_what_both_keep():
    gold = ["a", "b"] * 20
    one = make(
        gold,
        [None] * 10 + gold[10:],
        choices=("a", "b"),
        groups=range(40),
        model="one",
        scores=[[0.9, 0.1]] * 40,
    )
    two = make(
        gold,
        gold[:30] + [None] * 10,
        choices=("a", "b"),
        groups=range(40),
        model="two",
        scores=[[0.9, 0.1]] * 30 + [None] * 10,
    )
    assert compare([one, two], RECOGNISED_ACCURACY)[0].n == 20
    assert compare([one, two], ECE)[0].n == 20


def test_the_same_id_must_mean_the_same_question():
    one = make(["a", "b"], ["a", "b"], choices=("a", "b"), model="one")
    two = make(["b", "b"], ["a", "b"], choices=("a", "b"), model="two")
    with pytest.raises(UsageError, match="Item 'i0' is not the same question to one and two"):
        compare([one, two], ACCURACY)
    with pytest.raises(UsageError, match="share no items"):
        compare([one, replace(one, ids=np.array(["x", "y"], dtype=object))], ACCURACY)
    with pytest.raises(UsageError, match="same benchmark"):
        compare([one, about(one, benchmark="other")], ACCURACY)


def test_runs_of_one_model_are_told_apart_by_seed_or_number(rng):
    flags = rng.random(100) < 0.5
    tables = [model("m", flags, seed=1), model("m", flags, seed=2), model("n", flags)]
    assert {c.first for c in compare(tables, ACCURACY)} == {"m (seed 1)", "m (seed 2)"}
    assert compare([model("m", flags), model("m", flags)], ACCURACY)[0][2:4] == ("m #1", "m #2")


def test_items_that_share_an_id_but_not_the_wording_are_not_compared():
    def asked(name, texts):
        rows = [
            (
                Item(id=str(i), form="choice", text=text, choices=("a", "b"), gold=("a",)),
                Answer(item=str(i), choice="a"),
            )
            for i, text in enumerate(texts)
        ]
        return Table.of(rows, benchmark="b", model=name)

    one, two = asked("one", ["x?", "y?", "z?"]), asked("two", ["x?", "other?", "z?"])
    assert compare([one, two], ACCURACY)[0].n == 2
    assert [len(table) for table in shared([one, two])] == [2, 2]
    with pytest.raises(UsageError, match="share no items"):
        compare([one, asked("three", ["p?", "q?", "r?"])], ACCURACY)


def test_pairs_that_share_nothing_do_not_keep_others_from_being_compared(rng):
    flags = rng.random(100) < 0.5
    other = replace(
        model("other", flags), ids=np.array([f"x{i}" for i in range(100)], dtype=object)
    )
    found = compare([model("one", flags), other, model("two", flags)], ACCURACY)
    assert [(each.first, each.second) for each in found] == [("one", "two")]


def test_a_leaderboard_scores_what_its_tables_share(rng):
    one, two = model("one", [True] * 50 + [False] * 50), model("two", [True] * 100)
    part = one.where(np.arange(60))
    ranks = leaderboard([part, two], ACCURACY, compare([part, two], ACCURACY))
    assert {rank.model: (rank.value, rank.n) for rank in ranks} == {
        "one": (pytest.approx(5 / 6), 60),
        "two": (1.0, 60),
    }
    assert boards([part, two, one.where(np.arange(60, 100))]) == [[0, 1, 2]]
    assert boards([part, one.where(np.arange(55, 100))]) == [[0], [1]]


def test_the_detectable_difference_is_found_with_a_chance_of_80_percent(rng):
    error, freedom = 0.02, 59
    least = detectable_difference(Uncertainty(error, freedom))
    stats = pytest.importorskip("scipy.stats")
    power = 1 - stats.nct.cdf(stats.t.ppf(0.975, freedom), freedom, least / error)
    assert power == pytest.approx(0.8, abs=0.01)
    assert np.isnan(detectable_difference(Uncertainty()))


def test_seeds_are_averaged_with_an_interval_for_both_kinds_of_chance(rng):
    tables = [model("m", rng.random(200) < 0.6, seed=s) for s in range(4)]
    found = over_seeds(tables, ACCURACY)
    values = [ACCURACY.statistics(table).value for table in tables]
    assert found.values == pytest.approx(values)
    assert found.score.value == pytest.approx(np.mean(values))
    assert found.deviation == pytest.approx(np.std(values, ddof=1))
    assert (found.score.n, found.score.clusters) == (
        800,
        40,
    )  # the clusters are the same in all seeds
    assert found.score.low < found.score.value < found.score.high


def test_a_difference_that_is_alike_in_all_clusters_is_not_certain():
    one, two = (model(name, [flag] * 10) for name, flag in (("one", True), ("two", False)))
    [pair] = compare([one, two], ACCURACY)
    assert (pair.difference, pair.high, pair.p) == (1.0, 1.0, 0.5)
    assert pair.low < 0, "two clusters are compatible with no difference, as p says"
    [same] = compare([one, about(one, model="same")], ACCURACY)
    assert (same.difference, same.p) == (0.0, 1.0)
    assert same.low < 0 < same.high


def test_groups_and_statements_of_different_seeds_are_not_mixed(rng):
    """Each seed is consistent in itself, and the opposite of the other."""
    laws = Laws(order=OrderLaw(first="a", second="b", greater=("more",), lesser=("less",)))
    tags = [{"a": "x", "b": "y"}, {"a": "y", "b": "x"}]
    tables = [
        make(
            ["more", "less"],
            answers,
            choices=("more", "less"),
            groups="pp",
            tags=tags,
            laws=laws,
            seed=seed,
        )
        for seed, answers in enumerate((["more", "less"], ["less", "more"]))
    ]
    for name in ("symmetry", "group_agreement"):
        both = measure(name).statistics(together(tables))
        assert (both.value, both.n, both.clusters) == (1.0, 2, 1)


def test_more_seeds_do_not_make_the_items_more(rng):
    flags = rng.random(200) < 0.6
    once = over_seeds([model("m", flags)], ACCURACY).score
    often = over_seeds([model("m", flags, seed=s) for s in range(10)], ACCURACY).score
    assert often.high - often.low > 0.9 * (once.high - once.low)
    with pytest.raises(UsageError, match="one model"):
        over_seeds([model("m", flags), model("n", flags)], ACCURACY)


def test_seeds_are_told_from_other_settings(rng):
    flags = rng.random(20) < 0.6
    settings = [
        {"seed": 0, "limit": 20},
        {"seed": 0, "model_seed": 1, "limit": 20},
        {"seed": 0, "limit": 30},
    ]
    tables = [about(model("m", flags), settings=each) for each in settings]
    assert [[table.about.settings for table in group] for group in by_seed(tables)] == [
        settings[:2],
        settings[2:],
    ]
    with pytest.raises(UsageError, match="more than the seed"):
        over_seeds(tables, ACCURACY)
    with pytest.raises(UsageError, match="nor in anything else"):
        by_seed([tables[0], about(tables[1], settings=settings[0])])
    assert together(tables[:2]).about.settings == {"limit": 20}
