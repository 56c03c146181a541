"""Pairs of everyday objects: clear, as many of each band, and balanced in what their names show."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.benchmarks.contrasts import (
    ALL,
    BANDS,
    FULL,
    BandedPair,
    Drawing,
    balanced_pairs,
    band_of,
    shelved,
    shown_by_names,
)
from gnomon.benchmarks.objects import (
    everyday_things,
    is_clearly_less,
    is_typically_larger,
    read_thing,
    typical_ratio,
)
from gnomon.benchmarks.viphy.items import with_article
from gnomon.errors import UsageError

SCALES = ("size", "height")
# Words that mean different things, or nothing, on one side of the Atlantic.
DISPUTED = """aubergine biscuit bonnet caravan cot crib dresser dustbin football hob jumper
    ladybird ladybug lorry pavement purse pushchair pylon robe rubber skip spanner stroller tap torch
    trolley tyre vest zucchini eggplant faucet diaper flashlight""".split()
SIZE_WORDS = {"big", "giant", "huge", "jumbo", "large", "little", "mini", "small", "tall", "tiny"}


def drawn(scale: str, seed: int, pairs: int = 240, bands: str = "") -> list[BandedPair]:
    return balanced_pairs(scale, pairs, bands, Random(seed))


def names_of(contrasts: list[BandedPair]) -> Counter[str]:
    return Counter(name for one in contrasts for name in (one.lesser, one.greater))


# --- the lexicon ----------------------------------------------------------------------------------


def test_the_lexicon_holds_more_than_six_hundred_objects_of_many_kinds():
    things = everyday_things()
    assert len(things) >= 600
    assert sum(thing.height is not None for thing in things.values()) >= 450
    assert len({thing.kind for thing in things.values()}) >= 20


def test_every_range_rises_and_every_word_has_a_frequency():
    for thing in everyday_things().values():
        assert 0 < thing.size.low < thing.size.high, thing
        assert 0 < thing.longest.low < thing.longest.high, thing
        assert thing.size.high <= 1.001 * thing.longest.high, thing
        assert thing.common in range(1, 6), thing
        if thing.height is not None:
            assert thing.height.high <= thing.longest.high


def test_names_are_plain_words_and_tell_no_size():
    for name in everyday_things():
        words = set(name.split())
        assert not words & {*DISPUTED, *SIZE_WORDS}, name
        assert re.fullmatch(r"[A-Za-z'-]+( [a-z'-]+)*", name), name


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("hourglass", "an hourglass"),
        ("ukulele", "a ukulele"),
        ("unicycle", "a unicycle"),
        ("USB stick", "a USB stick"),
        ("AA battery", "an AA battery"),
        ("oil drum", "an oil drum"),
        ("ear of corn", "an ear of corn"),
    ],
)
def test_articles_follow_the_sound(name: str, phrase: str):
    assert name in everyday_things()
    assert with_article(name) == phrase


# --- which pairs are clear ------------------------------------------------------------------------


def test_ranges_that_meet_are_no_comparison():
    cat, dog = everyday_things()["cat"], everyday_things()["dog"]
    for scale in SCALES:
        assert not is_clearly_less(scale, cat, dog)
        assert not is_clearly_less(scale, dog, cat)


def test_a_long_thin_thing_is_neither_larger_nor_smaller_than_a_bulky_one():
    stick, fridge = everyday_things()["walking stick"], everyday_things()["refrigerator"]
    assert 2 * stick.size.high < fridge.size.low
    assert stick.longest.high > fridge.longest.low
    assert not is_clearly_less("size", stick, fridge)
    assert not is_clearly_less("size", fridge, stick)


def test_nobody_asks_how_tall_a_key_is():
    key, door = everyday_things()["house key"], everyday_things()["door"]
    assert is_clearly_less("size", key, door)
    assert not is_clearly_less("height", key, door)


@pytest.mark.parametrize(
    ("scale", "rising"),
    [
        ("size", "dust mite, flea, strawberry, basketball, sofa, bus, cruise ship, mountain"),
        ("height", "pea, mug, chair, giraffe, skyscraper"),
    ],
)
def test_sizes_are_as_people_know_them(scale: str, rising: str):
    things = [everyday_things()[name] for name in rising.split(", ")]
    for lesser, greater in combinations(things, 2):
        assert is_clearly_less(scale, lesser, greater), (lesser, greater)


def test_typically_larger_needs_half_as_much_again():
    small, larger, largest = (
        read_thing(side, "", [side, 3]) for side in ("9-11", "12-14", "15-17")
    )
    assert not is_typically_larger(larger, small)
    assert is_typically_larger(largest, small)


# --- draws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**9), pairs=st.integers(8, 300))
def test_every_pair_is_clear_in_its_band_and_drawn_once(scale: str, seed: int, pairs: int):
    contrasts = drawn(scale, seed, pairs)
    assert len({(one.lesser, one.greater) for one in contrasts}) == len(contrasts)
    assert Counter(one.band for one in contrasts) == dict.fromkeys(BANDS, 2 * (pairs // 8))
    for one in contrasts:
        lesser, greater = everyday_things()[one.lesser], everyday_things()[one.greater]
        assert is_clearly_less(scale, lesser, greater)
        assert band_of(typical_ratio(scale, lesser, greater)) == one.band


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("pairs", [240, ALL])
def test_no_rule_about_names_is_better_than_chance_in_any_band(scale: str, pairs: int):
    for band in BANDS:
        shown = []
        for one in drawn(scale, 3, pairs):
            if one.band == band:
                shown.append(shown_by_names(*(everyday_things()[name] for name in one[:2])))
        assert len(shown) >= 60
        assert Counter(shown) == Counter(tuple(-mark for mark in marks) for marks in shown)


@pytest.mark.parametrize("scale", SCALES)
def test_each_pair_stands_next_to_its_twin(scale: str):
    contrasts = drawn(scale, 5)
    for one, other in zip(contrasts[::2], contrasts[1::2], strict=True):
        assert one.band == other.band
        marks = shown_by_names(*(everyday_things()[name] for name in one[:2]))
        opposite = shown_by_names(*(everyday_things()[name] for name in other[:2]))
        assert marks == tuple(-mark for mark in opposite)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("pairs", "uses_of_one"), [(240, 8), (ALL, 25)])
def test_objects_are_used_evenly_and_do_not_give_the_answer_away(
    scale: str, pairs: int, uses_of_one: int
):
    contrasts = drawn(scale, 7, pairs)
    uses = names_of(contrasts)
    assert len(uses) >= 200
    assert max(uses.values()) <= uses_of_one
    assert known_from_other_pairs(contrasts) < 0.6


def known_from_other_pairs(contrasts: list[BandedPair]) -> float:
    """How often an object is on the side on which it is in most of its other pairs."""
    lead: Counter[str] = Counter()
    for one in contrasts:
        lead[one.greater] += 1
        lead[one.lesser] -= 1
    right = 0.0
    for one in contrasts:
        for others in (lead[one.greater] - 1, -(lead[one.lesser] + 1)):
            right += 0.5 if others == 0 else others > 0
    return right / (2 * len(contrasts))


@pytest.mark.parametrize("scale", SCALES)
def test_the_full_set_uses_nearly_every_object(scale: str):
    contrasts = drawn(scale, 0, ALL)
    assert len(contrasts) == FULL
    sized = [thing for thing in everyday_things().values() if scale == "size" or thing.height]
    uses = names_of(contrasts)
    assert len(uses) >= 0.98 * len(sized)


@pytest.mark.parametrize("scale", SCALES)
def test_two_seeds_share_few_pairs(scale: str):
    one, other = (set(drawn(scale, seed, 480)) for seed in (1, 2))
    assert len(one & other) < 0.1 * len(one)


@pytest.mark.parametrize("scale", SCALES)
def test_some_pairs_close_a_triangle(scale: str):
    known = {(one.lesser, one.greater) for one in drawn(scale, 11)}
    closed = [(a, c) for a, c in known for b in names_of_second(known, a) if (b, c) in known]
    assert len(closed) >= 20


def names_of_second(known: set[tuple[str, str]], first: str) -> list[str]:
    return [b for a, b in known if a == first]


def test_bands_can_be_chosen():
    assert {one.band for one in drawn("size", 1, 40, "3-10, 1.5-3")} == {"1.5-3", "3-10"}
    with pytest.raises(UsageError, match="There is no band named '2-3'"):
        drawn("size", 1, 40, "2-3")


@pytest.mark.parametrize("pairs", [0, 7, -2])
def test_too_few_pairs_for_the_bands_are_refused(pairs: int):
    with pytest.raises(UsageError, match=f"{pairs} pairs are too few"):
        drawn("size", 1, pairs)


def test_a_pool_that_runs_out_gives_what_it_has_in_twins():
    pool = shelved(
        [
            ("3-10", (1,), ("pea", "mug")),
            ("3-10", (-1,), ("bee", "cup")),
            ("3-10", (1,), ("ant", "jar")),
        ]
    )
    found = Drawing(Random(0)).fill(pool, {"3-10": 5})
    assert len(found) == 2
    assert BandedPair("bee", "cup", "3-10") in found
