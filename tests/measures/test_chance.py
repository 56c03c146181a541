"""Chance: what a guess is worth, computed in one place and said in words."""

from __future__ import annotations

import pytest

from gnomon.measures.accuracy import ACCURACY, PARTIAL_CREDIT, RECOGNISED_ACCURACY
from gnomon.measures.chance import chance_of, verdict
from gnomon.measures.scoring import score
from gnomon.measures.table import Table
from gnomon.records import Answer, Item


def asked(choices, gold, number, *, group="", category=""):
    item = Item(
        id=str(number),
        form="choice",
        text="?",
        choices=tuple(choices),
        gold=tuple(gold),
        group=group,
        tags={"category": category} if category else {},
    )
    return item, Answer(item=item.id, choice=gold[0])


def test_chance_is_the_mean_share_of_choices_that_are_right():
    rows = [asked("ab", "a", 1), asked("abc", "c", 2), asked("abcd", "ab", 3)]
    assert chance_of(ACCURACY, Table.of(rows)) == pytest.approx((1 / 2 + 1 / 3 + 2 / 4) / 3)


def test_chance_of_a_mean_over_categories_weighs_categories_not_items():
    rows = [asked("ab", "a", 1, group="g", category="near")]
    for number in range(2, 11):
        rows.append(asked("abc", "a", number, group=f"g{number}", category="far"))
    assert chance_of(PARTIAL_CREDIT, Table.of(rows)) == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert chance_of(ACCURACY, Table.of(rows)) == pytest.approx((1 / 2 + 9 / 3) / 10)


def test_a_measure_that_cannot_be_guessed_has_no_chance():
    table = Table.of([asked("ab", "a", 1)])
    assert chance_of(RECOGNISED_ACCURACY, table) is None
    assert chance_of(ACCURACY, Table.of([])) is None


def test_every_score_carries_the_chance_of_its_own_items():
    rows = [asked("ab", "a", 1), asked("abc", "c", 2)]
    assert score(Table.of(rows), ACCURACY).chance == pytest.approx(5 / 12)
    assert score(Table.of(rows[1:]), ACCURACY).chance == pytest.approx(1 / 3)


def test_every_verdict_is_a_test_of_the_interval():
    assert verdict(0.4, 0.6, 0.5) == "at chance"
    assert verdict(0.5, 0.6, 0.5) == "at chance"
    assert verdict(0.39, 0.6, 0.5) == "may be chance"
    assert verdict(0.4, 0.61, 0.5) == "may be chance"
    assert verdict(0.51, 0.6, 0.5) == "better than chance"
    assert verdict(0.1, 0.2, 0.5) == "worse than chance"
    assert verdict(None, None, 0.5) == ""
    assert verdict(0.1, 0.2, None) == ""


def test_of_several_figures_the_corrected_interval_says_what_is_better():
    assert verdict(0.51, 0.6, 0.5, corrected=(0.48, 0.63)) == "at chance"
    assert verdict(0.51, 0.62, 0.5, corrected=(0.48, 0.65)) == "may be chance"
    assert verdict(0.55, 0.62, 0.5, corrected=(0.52, 0.65)) == "better than chance"
