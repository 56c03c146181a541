"""The area under the ROC curve and contrastive pairs, against their definitions."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.measures.intervals import interval
from gnomon.measures.scoring import score
from gnomon.measures.seeds import together
from gnomon.measures.statistics import standard_error
from gnomon.registry import measure

from .conftest import make

CHOICES = ("false", "true")
AUC, PAIR_IMAGE, PAIR_RIGHT = map(measure, ("auc", "pair_image", "pair_right"))


def asked(truths, preferences, *, scale="log-probability", choices=CHOICES, **about):
    """A table of captions; a preference is the log-odds of "true"."""
    golds = ["true" if truth else "false" for truth in truths]
    answers = ["true" if value > 0 else "false" for value in preferences]
    scores = []
    for value in preferences:
        by_label = {"false": 0.0, "true": float(value)}
        scores.append([by_label[label] for label in choices])
    return make(golds, answers, choices=choices, scores=scores, scale=scale, **about)


def by_definition(truths, preferences):
    """Every true caption against every false one."""
    wins = []
    for (one, mine), (other, theirs) in product(zip(truths, preferences, strict=True), repeat=2):
        if one and not other:
            wins.append(1.0 if mine > theirs else 0.5 if mine == theirs else 0.0)
    return np.mean(wins)


captions = st.lists(st.tuples(st.booleans(), st.integers(-6, 6)), min_size=2, max_size=40).filter(
    lambda rows: len({truth for truth, _ in rows}) == 2
)


@given(captions)
def test_the_area_is_the_share_of_true_captions_that_score_above_false_ones(rows):
    truths, preferences = zip(*rows, strict=True)
    found = AUC.statistics(asked(truths, preferences)).value
    assert found == pytest.approx(by_definition(truths, preferences))


@given(captions)
def test_no_increasing_change_of_the_scores_changes_the_area(rows):
    truths, preferences = zip(*rows, strict=True)
    changed = [0.1 * value**3 + 7 for value in preferences]
    one, two = asked(truths, preferences), asked(truths, changed)
    assert AUC.statistics(two).value == pytest.approx(AUC.statistics(one).value)


@given(captions)
def test_the_area_of_swapped_labels_is_what_was_missing(rows):
    truths, preferences = zip(*rows, strict=True)
    opposite = [not truth for truth in truths]
    one, two = asked(truths, preferences), asked(opposite, preferences)
    assert AUC.statistics(one).value + AUC.statistics(two).value == pytest.approx(1)


def test_the_area_is_that_of_scikit_learn(rng):
    metrics = pytest.importorskip("sklearn.metrics")
    truths = rng.random(300) < 0.4
    preferences = np.round(rng.normal(size=300) + truths, 1)
    found = AUC.statistics(asked(truths, preferences)).value
    assert found == pytest.approx(metrics.roc_auc_score(truths, preferences))


def test_the_error_of_the_area_is_delongs_where_items_share_nothing(rng):
    truths = np.arange(400) % 3 == 0
    preferences = rng.normal(size=400) + truths
    table = asked(truths, preferences)
    true, false = preferences[truths], preferences[~truths]
    above = (true[:, None] > false[None, :]).mean(axis=1)
    below = (true[:, None] > false[None, :]).mean(axis=0)
    delong = np.sqrt(above.var(ddof=1) / len(true) + below.var(ddof=1) / len(false))
    assert standard_error(AUC.statistics(table)) == pytest.approx(delong, rel=0.01)


def test_the_interval_of_the_area_holds_the_truth_as_often_as_it_says(rng):
    """Scores of a group vary together: an interval that took items for independent would not."""
    held = 0
    for _ in range(200):
        truths = np.tile([True, False], 60)
        groups = np.repeat(np.arange(30), 4)
        shift = rng.normal(size=30)
        signs = np.where(truths, 1, -1)
        preferences = 0.5 * signs + shift[groups] * signs + 0.5 * rng.normal(size=120)
        found = interval(AUC.statistics(asked(truths, preferences, groups=groups)))
        # true less false is normal: mean 1, variance 2 * (1 + 0.5 ** 2)
        held += found.low <= 0.7365 <= found.high
    assert held >= 180


def test_probabilities_count_by_their_share():
    scores = [[0.2, 0.4], [0.3, 0.3], [0.4, 0.1]]
    table = make(["true", "false", "false"], ["true"] * 3, choices=CHOICES, scores=scores)
    assert AUC.statistics(table).value == 1


def test_permuted_choices_and_yes_and_no_mean_the_same():
    truths, preferences = [True, False, True, False], [2, 1, -1, 0]
    plain = AUC.statistics(asked(truths, preferences)).value
    turned = AUC.statistics(asked(truths, preferences, choices=("true", "false"))).value
    said = make(
        ["yes", "no", "yes", "no"],
        ["yes"] * 4,
        choices=("yes", "no"),
        scores=[[value, 0.0] for value in preferences],
        scale="log-probability",
    )
    assert plain == turned == AUC.statistics(said).value == 0.5


def test_rows_without_scores_are_left_out_and_the_count_says_so():
    truths = [True, False, True]
    table = asked(truths, [1, 0, float("nan")])
    found = score(table, AUC)
    assert (found.value, found.n) == (1.0, 2)


def test_chance_is_one_half_and_one_label_alone_has_no_area():
    assert score(asked([True, False] * 5, range(10)), AUC).chance == 0.5
    assert score(asked([True] * 4, range(4)), AUC).value is None


# Contrastive pairs.


def paired(truths, preferences, pairs, groups=None):
    tags = [{"pair": pair} if pair else {} for pair in pairs]
    return asked(truths, preferences, tags=tags, groups=groups or pairs)


def test_of_a_pair_the_true_picture_must_score_higher_and_ties_count_half():
    table = paired([True, False] * 3, [2, 1, 1, 1, 0, 5], ["a", "a", "b", "b", "c", "c"])
    found = score(table, PAIR_IMAGE)
    assert (found.value, found.n, found.chance) == (0.5, 3, 0.5)


def test_both_halves_of_a_pair_must_be_right():
    table = paired([True, False, True, False], [2, 1, 1, -1], ["a", "a", "b", "b"])
    found = score(table, PAIR_RIGHT)
    assert (found.value, found.n) == (0.5, 2)


def test_half_a_pair_is_none():
    table = paired([True, False, True, True, False], [1, 0, 9, 9, 9], ["a", "a", "b", "", ""])
    assert score(table, PAIR_IMAGE).n == 1
    lonely = paired([True, True], [1, 2], ["a", "b"])
    assert score(lonely, PAIR_IMAGE).value is None
    assert score(lonely, PAIR_RIGHT).value is None


def test_a_pair_without_usable_scores_counts_as_missed():
    table = paired([True, False] * 2, [1, 0, float("nan"), 0], ["a", "a", "b", "b"])
    assert score(table, PAIR_IMAGE).value == 0.5


def test_pairs_of_several_seeds_are_not_mixed():
    one = paired([True, False], [1, 0], ["a", "a"])
    two = paired([True, False], [0, 1], ["a", "a"])
    assert score(together([one, two]), PAIR_IMAGE).n == 2


def test_a_model_with_one_answer_for_all_has_no_pair_right_and_chance_area():
    table = paired([True, False] * 4, [1] * 8, [f"p{i // 2}" for i in range(8)])
    assert score(table, PAIR_RIGHT).value == 0
    assert score(table, PAIR_IMAGE).value == 0.5
    assert score(table, AUC).value == 0.5


def test_a_quad_is_right_if_all_four_are():
    table = asked([True, False] * 4, [1, -1, 1, -1, 1, -1, 1, 1], groups=list("aaaabbbb"))
    found = score(table, measure("group_right"))
    assert (found.value, found.n) == (0.5, 2)


def test_what_float_noise_tells_apart_is_a_tie():
    table = paired([True, False], [0.5 + 1e-7, 0.5], ["a", "a"])
    assert AUC.statistics(table).value == 0.5
    assert PAIR_IMAGE.statistics(table).value == 0.5


QUADS = [measure(name) for name in ("quad_text", "quad_image", "quad_group")]


def quads_asked(*quads, against="behind"):
    """Quads of two captions and two pictures: the scores of the captions with each picture."""
    truths, preferences, groups, tags = [], [], [], []
    for number, quad in enumerate(quads):
        for caption, picture in product(range(2), repeat=2):
            truths.append(caption == picture)
            preferences.append(quad[caption][picture])
            groups.append(f"q{number}")
            tags.append({"pair": f"q{number}/{caption}", "against": against})
    return asked(truths, preferences, groups=groups, tags=tags)


@given(st.lists(st.lists(st.integers(-2, 2), min_size=4, max_size=4), min_size=1, max_size=9))
def test_quads_are_scored_as_winoground_scores_them(flat):
    quads = [[quad[:2], quad[2:]] for quad in flat]
    texts, pictures = [], []
    for s in quads:  # s[caption][picture], after the code of the paper
        texts.append(s[0][0] > s[1][0] and s[1][1] > s[0][1])
        pictures.append(s[0][0] > s[0][1] and s[1][1] > s[1][0])
    both = np.array(texts) & np.array(pictures)
    table = quads_asked(*quads)
    for each, wanted in zip(QUADS, (texts, pictures, both), strict=True):
        assert each.statistics(table).value == pytest.approx(np.mean(wanted))


def test_guesses_win_a_quarter_a_quarter_and_a_sixth_of_quads(rng):
    table = quads_asked(*rng.normal(size=(4000, 2, 2)).tolist())
    for each in QUADS:
        assert each.statistics(table).value == pytest.approx(each.chance, abs=0.03)


def test_pairs_that_are_no_quad_are_left_out():
    from gnomon.measures.chance import unmet

    whole = [[3, 0], [0, 3]]
    assert unmet(QUADS[0], quads_asked(whole)) is None
    half = asked([True, False], [1, 0], groups=["q", "q"], tags=[{"pair": "p", "against": "x"}] * 2)
    assert unmet(QUADS[0], half) == "quads"
    assert unmet(QUADS[0], asked([True, False], [1, 0])) == "quads"
