"""The law of shards: disjoint, whole, balanced, in order; and for every fresh set, byte for byte."""

from __future__ import annotations

from io import BytesIO
from itertools import chain, groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import load
from gnomon.errors import UsageError
from gnomon.files import package_data
from gnomon.items.limits import Shard, in_stretch, parse_shard, whole_groups_in
from gnomon.items.writing import CANARY, write_lines
from gnomon.registry import BENCHMARKS, benchmark

FRESH = [name for name in BENCHMARKS if "fresh" in benchmark(name).sources]
# Fewer items where making them takes long.
FEW = {
    "scales": {"pairs": 20},
    "spacenli": {"patterns": str(package_data("patterns/bank/argument-orientation.yaml"))},
    "spatialqa": {"per_group": 1},
    "chains": {"stories": 12, "hops": "1-2"},
    "calculus": {"quads": 3},
    "viphy-size": {"pairs": 50},
    "viphy-size-subtype": {"pairs": 50},
    "viphy-size-transitive": {"pairs": 50},
    "vsr": {"quads": 3, "form": "text"},
}
SHARDS = 7


def shards_of(count):
    return [Shard(number, count) for number in range(1, count + 1)]


@given(total=st.integers(0, 10**12), count=st.integers(1, 500))
def test_shards_are_disjoint_whole_balanced_and_in_order(total, count):
    stretches = [shard.stretch(total) for shard in shards_of(count)]
    place = 0
    for stretch in stretches:
        assert stretch.start == place, "each begins where the one before it ends"
        place = stretch.stop
    assert place == total
    sizes = [len(stretch) for stretch in stretches]
    assert max(sizes) - min(sizes) <= 1


@given(total=st.integers(0, 200), count=st.integers(1, 30))
def test_one_after_the_other_the_shards_are_the_whole(total, count):
    parts = [in_stretch(range(total), shard.stretch(total)) for shard in shards_of(count)]
    assert list(chain.from_iterable(parts)) == list(range(total))


@given(sizes=st.lists(st.integers(1, 9), max_size=30), count=st.integers(1, 12))
def test_a_group_is_never_divided_and_shards_differ_by_less_than_two_groups(sizes, count):
    items = []
    for group, size in enumerate(sizes):
        items += [(str(group), n) for n in range(size)]

    def group_of(item):
        return item[0]

    parts = []
    for shard in shards_of(count):
        parts.append(list(whole_groups_in(items, shard.stretch(len(items)), group_of)))
    assert list(chain.from_iterable(parts)) == items

    homes = [group for part in parts for group, _ in groupby(part, group_of)]
    assert len(homes) == len(set(homes))
    even = len(items) / count
    for part in parts:
        assert abs(len(part) - even) < max(sizes, default=0) + 1


def test_items_behind_a_shard_are_never_made():
    made = []

    def making():
        for n in range(100):
            made.append(n)
            yield n

    assert list(in_stretch(making(), Shard(1, 10).stretch(100))) == list(range(10))
    assert len(made) == 10


@pytest.mark.parametrize("text", ["3", "3/", "/8", "a/b", "3/8/2", "-1/8", "3 / 8", "1.5/2", ""])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(UsageError, match="is not a shard"):
        parse_shard(text)


@pytest.mark.parametrize("text", ["0/8", "9/8", "0/0", "1/0"])
def test_shards_are_counted_from_one(text):
    with pytest.raises(UsageError, match="There is no shard"):
        parse_shard(text)


def lines(source):
    out = BytesIO()
    write_lines(out, source.without_pictures(), canary=CANARY)
    return out.getvalue()


@pytest.mark.parametrize("name", FRESH)
def test_seven_shards_of_every_fresh_set_are_the_whole_byte_for_byte(name):
    source = load(f"{name}@fresh", **FEW.get(name, {}))
    assert source.of_all_shards.items >= SHARDS
    parts = [lines(source.sharded(shard)) for shard in shards_of(SHARDS)]
    assert b"".join(parts) == lines(source)
    groups = "fresh" in benchmark(name).whole_groups
    assert groups or all(parts)


@pytest.mark.parametrize("name", ["scales", "chains"])
def test_a_limit_and_a_permutation_hold_for_all_shards_together(name):
    source = load(name, **FEW[name]).limited(20).permuted(3)
    parts = [lines(source.sharded(shard)) for shard in shards_of(3)]
    assert b"".join(parts) == lines(source)


def test_where_groups_are_asked_as_a_whole_no_shard_divides_one():
    source = load("chains", **FEW["chains"])
    homes = []
    for shard in shards_of(SHARDS):
        homes += {item.group for item in source.sharded(shard).items()}
    assert len(homes) == len(set(homes)) == 12


def test_a_shard_says_so():
    source = load("scales").sharded("3/8")
    assert "shard='3/8'" in repr(source)
    assert source.sharded(None).shard is None
