"""Fresh elevations: undisputed labels, balanced whatever the seed, and told by neither a thing nor
its name."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from gnomon import files
from gnomon.benchmarks.viphy.fresh import elevations, fresh_spatial, relation_of
from gnomon.errors import UsageError

ROOMS = files.read_yaml(files.package_data("viphy/elevations.yaml"))
SEEDS = [0, 1, 90210]


def asked(seed: int, blocks: int = 60) -> set[tuple[str, str, str]]:
    return {(row.scene, row.first, row.second) for row in elevations(seed, blocks)}


# --- the table ------------------------------------------------------------------------------------


def test_there_are_four_hundred_things_in_more_than_twenty_rooms():
    names = {name for things in ROOMS.values() for name in things}
    assert len(names) >= 400
    assert len(ROOMS) >= 20


def test_every_thing_has_a_foot_and_a_top():
    spans = [span for things in ROOMS.values() for span in things.values()]
    assert all(0 <= low <= high for low, high in spans)
    assert {len(span) for span in spans} == {2}


def test_no_name_says_where_the_thing_is():
    places = {"floor", "ceiling", "wall", "overhead", "hanging", "above", "below", "level", "under"}
    places |= {"top", "bottom", "upper", "lower", "high", "low", "desk", "on", "in"}
    names = {name for things in ROOMS.values() for name in things}
    assert not [name for name in names if places & set(name.split())]


def test_no_name_is_british_only_or_goes_with_are():
    words = {"hob", "skirting", "worktop", "cistern", "tap", "castor", "bin-liner", "cooker hood"}
    words |= {"scales", "scissors", "pliers", "headphones", "goggles", "pants"}
    names = {name for things in ROOMS.values() for name in things}
    assert not [name for name in names if words & set(name.split())]


# --- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        ((90, 115), (0, 55), ">"),
        ((0, 55), (90, 115), "<"),
        ((90, 115), (90, 110), "="),  # on one counter
        ((245, 250), (238, 250), "="),  # on one ceiling
        ((90, 105), (86, 90), ""),  # a bowl and the worktop that it stands on
        ((0, 130), (75, 77), ""),  # a filing cabinet beside a desk
        ((90, 110), (75, 90), ""),  # toaster and sink
        ((85, 120), (75, 80), ""),  # monitor and stapler
        ((55, 70), (0, 50), ""),  # pillow and bedside table
        ((65, 77), (70, 85), ""),  # toilet roll and washbasin
        ((75, 120), (75, 80), ""),  # a lamp and a stapler beside it
    ],
)
def test_elevations_are_asked_only_where_nobody_would_hesitate(a, b, relation):
    assert relation_of(a, b) == relation


@pytest.mark.parametrize("seed", SEEDS)
def test_every_label_follows_from_the_heights(seed):
    rows = elevations(seed, 60)
    assert len(rows) == 1080
    for row in rows:
        things = ROOMS[row.scene]
        assert row.typical == (relation_of(things[row.first], things[row.second]),)


# --- balance --------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [1, 7, 60, 0])
def test_every_label_is_right_equally_often_in_any_draw(blocks):
    counts = Counter(row.typical for row in elevations(4, blocks))
    assert set(counts) == {(">",), ("=",), ("<",)}
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_every_pair_is_asked_once_and_both_ways_round(seed):
    rows = elevations(seed, 60)
    pairs = asked(seed)
    assert len(pairs) == len(rows)
    assert pairs == {(room, second, first) for room, first, second in pairs}


@pytest.mark.parametrize("seed", SEEDS)
def test_no_thing_has_one_label_only(seed):
    labels = defaultdict(Counter)
    for row in elevations(seed, 60):
        labels[row.first].update(row.typical)
    assert len(labels) > 100
    for counts in labels.values():
        assert counts["="] > 0
        assert max(counts.values()) <= 2 / 3 * counts.total()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_longer_name_is_the_higher_thing_as_often_as_the_lower_one(seed):
    longer = Counter()
    for row in elevations(seed, 60):
        if len(row.first) > len(row.second):
            longer.update(row.typical)
    assert abs(longer[">"] - longer["<"]) <= 8
    assert longer["="] > 0.8 * longer[">"]


def test_no_two_things_of_a_question_share_a_word():
    for row in elevations(2, 0):
        assert not (set(row.first.split()) & set(row.second.split())) - {"of"}


# --- draws ----------------------------------------------------------------------------------------


def test_two_seeds_share_few_items():
    shared = asked(0) & asked(1)
    assert len(shared) < 0.2 * len(asked(0))


def test_all_blocks_ask_about_nearly_all_things():
    everything = elevations(0, 0)
    assert len(everything) > 3000
    assert len({row.first for row in everything}) > 400


def test_a_negative_number_of_blocks_is_refused():
    with pytest.raises(UsageError, match="-1 is not a number of blocks"):
        elevations(0, -1)


# --- items ----------------------------------------------------------------------------------------


def test_items_ask_in_natural_english_and_name_their_units():
    item = next(iter(fresh_spatial(seed=1)))
    tags = item.tags
    start = f" {tags['scene']}, the {tags['obj_a']} is [MASK] the {tags['obj_b']}."
    assert item.text in (f"In a{start}", f"In an{start}")
    assert item.choices == ("higher up than", "at the same height as", "lower down than")
    assert {"obj_a", "obj_b", "scene", "type_a", "type_b"} <= set(tags)


def test_two_levels_leave_what_is_clearly_higher_or_lower():
    items = list(fresh_spatial(seed=1, levels=2))
    assert len(items) == 720
    assert {item.choices for item in items} == {("higher up than", "lower down than")}
