"""Fresh ViPhy sizes: a modifier that is ignored, or followed blindly, gains nothing; nor does
knowledge where the premises decide."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from gnomon.benchmarks.contrasts import BANDS, shown_by_names
from gnomon.benchmarks.objects import everyday_things, is_clearly_less, is_typically_larger
from gnomon.benchmarks.viphy import sizes
from gnomon.benchmarks.viphy import tasks as viphy
from gnomon.benchmarks.viphy.sizes import KINDS, chains
from gnomon.files import package_data, read_yaml
from gnomon.measures import Table
from gnomon.measures.relations import symmetry
from gnomon.records import Answer, Item

# With the number of pairs that they draw unless told otherwise.
SOURCES = [(viphy.fresh_size, 960), (viphy.fresh_subtype, 480), (viphy.fresh_transitive, 960)]


@pytest.mark.parametrize(("source", "pairs"), SOURCES)
def test_every_pair_is_asked_both_ways_in_one_group(source, pairs: int):
    groups: dict[str, list[Item]] = {}
    for item in source(seed=1):
        groups.setdefault(item.group, []).append(item)
    assert len(groups) == pairs
    for one, other in groups.values():
        assert one.tags["obj_a"] == other.tags["obj_b"]
        assert one.tags["obj_b"] == other.tags["obj_a"]
        assert {one.gold, other.gold} == {("larger",), ("smaller",)}
        assert one.context == other.context


@pytest.mark.parametrize(("source", "pairs"), SOURCES)
def test_two_seeds_share_few_questions(source, pairs: int):
    one, other = ({item.id for item in source(seed=seed)} for seed in (3, 4))
    assert len(one) == len(other) == 2 * pairs
    assert len(one & other) < 0.1 * len(one)


def test_every_band_is_a_quarter_of_the_sizes():
    counts = Counter(item.tags["band"] for item in viphy.fresh_size(seed=2))
    assert counts == dict.fromkeys(BANDS, 480)


# --- subtypes -------------------------------------------------------------------------------------


def test_there_are_many_subtypes_each_of_a_known_object():
    assert len(sizes.subtypes()) >= 150
    assert {subtype.kind for subtype in sizes.subtypes().values()} <= set(everyday_things())
    assert not set(sizes.subtypes()) & set(everyday_things())


@pytest.mark.parametrize(
    ("subtype", "other", "effect"),
    [
        ("toy car", "washing machine", "reverses"),
        ("toy car", "pea", "keeps"),
        ("toy car", "castle", ""),  # smaller, as any car is: the modifier only helps
        ("toy car", "teapot", ""),  # a toy car may be larger or smaller
        ("hot-air balloon", "elephant", "reverses"),
        ("hot-air balloon", "mountain", "keeps"),
        ("hot-air balloon", "pea", ""),
    ],
)
def test_what_a_modifier_does(subtype: str, other: str, effect: str):
    things = everyday_things()
    thing = sizes.subtypes()[subtype]
    assert sizes.effect_of_modifier(thing, things[thing.kind], things[other]) == effect


@pytest.mark.parametrize("seed", [0, 1])
def test_half_of_the_modifiers_reverse_the_order_of_the_bare_nouns(seed: int):
    things = everyday_things()
    by_bare_noun, by_modifier, reverses = 0, 0, 0
    drawn = sizes.subtype_pairs(seed, 480, "")
    for contrast, modifier in drawn:
        subtype = sizes.subtypes().get(contrast.lesser) or sizes.subtypes()[contrast.greater]
        is_larger = subtype.name == contrast.greater
        other = things[contrast.lesser if is_larger else contrast.greater]
        head = things[subtype.kind]
        assert is_larger == is_clearly_less("size", other, subtype)
        by_bare_noun += is_larger == is_typically_larger(head, other)
        by_modifier += is_larger == (subtype.size.middle > head.size.middle)
        reverses += modifier == "reverses"
    assert len(drawn) == 480
    assert by_bare_noun == by_modifier == reverses == 240


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_no_common_modifier_says_which_thing_is_larger(seed: int):
    larger, smaller = Counter(), Counter()
    subtypes = sizes.subtypes()
    for contrast, _ in sizes.subtype_pairs(seed, 480, ""):
        modified = contrast.greater if contrast.greater in subtypes else contrast.lesser
        counts = larger if modified == contrast.greater else smaller
        for modifier in sizes.COMMON_MODIFIERS:
            counts[modifier] += modified.startswith(modifier)
    assert larger == smaller
    assert min(larger.values()) > 5


def test_no_rule_about_the_names_of_subtypes_is_better_than_chance():
    things = {**everyday_things(), **sizes.subtypes()}
    shown: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for contrast, _ in sizes.subtype_pairs(5, 480, ""):
        marks = shown_by_names(things[contrast.lesser], things[contrast.greater])
        shown[contrast.band, marks] += 1
    assert shown.total() == 480
    for (band, marks), count in shown.items():
        assert shown[band, tuple(-mark for mark in marks)] == count


def test_the_subtypes_are_used_evenly():
    uses = Counter()
    for contrast, _ in sizes.subtype_pairs(0, 480, ""):
        uses.update({contrast.lesser, contrast.greater} & set(sizes.subtypes()))
    assert len(uses) >= 140
    assert max(uses.values()) <= 10


# --- premises -------------------------------------------------------------------------------------


def test_as_many_premises_are_true_as_reversed_as_about_invented_words():
    things = everyday_things()
    found = chains(3, 480)
    assert Counter(chain.kind for chain in found) == dict.fromkeys(KINDS, 160)
    assert len({(chain.low, chain.middle, chain.high) for chain in found}) == 480
    for low, middle, high, kind, _ in found:
        if kind == "true":
            assert is_clearly_less("size", things[low], things[middle])
            assert is_clearly_less("size", things[middle], things[high])
        elif kind == "reversed":
            assert is_clearly_less("size", things[high], things[middle])
            assert is_clearly_less("size", things[middle], things[low])
        else:
            assert not {low, middle, high} & set(things)


def test_no_chain_is_drawn_twice_even_in_the_full_set():
    found = chains(0, -1)
    assert len({(chain.low, chain.middle, chain.high) for chain in found}) == len(found) == 2400


def test_the_answer_follows_from_the_premises_as_they_are_written():
    items = list(viphy.fresh_transitive(seed=8))
    for item in items:
        smaller = set()
        for first, word, second in re.findall(
            r"that an? ([\w' -]+?) is (smaller|larger) than an? ([\w' -]+?)(?=[,.])", item.context
        ):
            smaller.add((first, second) if word == "smaller" else (second, first))
        via = item.tags["via"]
        a, b = item.tags["obj_a"], item.tags["obj_b"]
        expected = {(a, via), (via, b)} if item.gold == ("smaller",) else {(b, via), (via, a)}
        assert smaller == expected
    assert len(items) == 1920


@pytest.mark.parametrize("position", [0, 1])
def test_repeating_a_word_of_the_premises_is_right_half_of_the_time(position: int):
    items = list(viphy.fresh_transitive(seed=6))
    said = [re.findall("smaller|larger", item.context)[position] for item in items]
    right = [item.gold == (word,) for item, word in zip(items, said, strict=True)]
    assert sum(right) == len(items) / 2 == 960


def test_knowing_the_objects_is_right_half_of_the_time_about_real_ones():
    things = everyday_things()
    right: Counter[bool] = Counter()
    for item in viphy.fresh_transitive(seed=6):
        if item.tags["premises"] != "invented":
            a, b = things[item.tags["obj_a"]], things[item.tags["obj_b"]]
            known = "smaller" if is_clearly_less("size", a, b) else "larger"
            right[known in item.gold] += 1
    assert right == {True: 640, False: 640}


def test_invented_words_are_all_different_and_none_is_an_object():
    words = [word for line in read_yaml(package_data("viphy/invented.yaml")) for word in line]
    assert len(set(words)) == len(words) >= 70
    parts = {part for name in everyday_things() for part in name.split()}
    assert not set(words) & parts


def test_answers_by_the_premises_are_symmetric():
    rows = []
    for item in viphy.fresh_transitive(seed=1):
        rows.append((item, Answer(item=item.id, choice=item.gold[0])))
    found = symmetry(Table.of(rows, laws=viphy.SIZE_TRANSITIVE.laws))
    assert (found.value, found.n) == (1, 960)
