"""From a name and options to items: checked, limited evenly, the same every time."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon
from gnomon.contracts import Benchmark
from gnomon.errors import DataError, UsageError
from gnomon.items import source as itemsource
from gnomon.items.source import ItemSource
from gnomon.options import complete
from gnomon.records import Fingerprint, Item, pick, problem


def test_limit_keeps_the_balance_of_an_alternating_benchmark():
    source = gnomon.load("scales", form="cloze", scale="size").limited(100)
    larger = sum(item.gold == ("larger",) for item in source.items())
    assert 35 <= larger <= 65


def grouped(*sizes):
    """A source whose groups have these sizes, to be asked as a whole."""

    def fresh():
        for group, size in enumerate(sizes):
            for number in range(size):
                yield Item(
                    id=f"{group}/{number}",
                    form="choice",
                    text="?",
                    choices=("no", "yes"),
                    gold=("yes",),
                    group=str(group),
                )

    about = Benchmark(name="b", summary="", sources={"fresh": fresh}, whole_groups=("fresh",))
    return ItemSource(about, "fresh")


@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.integers(6, 100))
def test_a_limit_divides_no_group_that_is_asked_as_a_whole(sizes, limit):
    items = list(grouped(*sizes).limited(limit).items())
    assert 0 < len(items) <= limit
    for group in {item.group for item in items}:
        assert sum(item.group == group for item in items) == sizes[int(group)]
    if sum(sizes) <= limit:
        assert len(items) == sum(sizes)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.integers(6, 60), st.integers(0, 60))
def test_whole_groups_of_a_limit_are_contained_in_those_of_a_larger_one(sizes, limit, more):
    source = grouped(*sizes)
    fewer = [item.id for item in source.limited(limit).items()]
    larger = [item.id for item in source.limited(limit + more).items()]
    assert fewer == [name for name in larger if name in set(fewer)]


def test_a_limit_without_room_for_the_first_group_says_how_much_it_needs():
    with pytest.raises(UsageError, match="give 5 or more"):
        list(grouped(5, 5, 5).limited(4).items())


def test_pictures_are_made_only_for_items_that_are_asked():
    made = []

    def illustrate(items, *, folder, processes, watch):
        for item in items:
            made.append(item.id)
            yield item

    about = grouped(2, 2, 2).benchmark
    source = ItemSource(replace(about, illustrators={"fresh": illustrate}), "fresh").limited(2)
    assert source.makes_pictures
    assert len(list(source.without_pictures())) == 2
    assert made == []
    assert [item.id for item in source.items()] == made
    assert len(made) == 2


def test_items_are_the_same_every_time_and_others_for_another_seed():
    def digest(seed):
        fingerprint = Fingerprint()
        for item in gnomon.load("scales", seed=seed).items():
            fingerprint.add(item)
        return fingerprint.hexdigest()

    assert digest(1) == digest(1) != digest(2)


def test_an_item_that_cannot_be_asked_is_named():
    def broken():
        yield Item(id="x", form="cloze", text="no gap", choices=("a", "b"), gold=("a",))

    source = ItemSource(Benchmark(name="b", summary="", sources={"fresh": broken}), "fresh")
    with pytest.raises(DataError, match="item 'x' of b@fresh cannot be asked"):
        list(source.items())


WRONG = {
    "empty id": {"id": ""},
    "one choice": {"choices": ("yes",)},
    "choices repeated": {"choices": ("yes", "yes")},
    "no gold": {"gold": ()},
    "gold elsewhere": {"gold": ("maybe",)},
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_problems_of_items_are_found(change):
    good = {"id": "1", "form": "choice", "text": "?", "choices": ("yes", "no"), "gold": ("yes",)}
    assert problem(Item(**good)) == ""
    assert problem(Item(**good | change))


def test_texts_become_the_types_of_the_signature():
    def source(
        *, n: int = 1, share: float | None = None, strict: bool = False, name: str = "x"
    ): ...

    assert complete(source, {"n": "3", "share": "0.5", "strict": "yes", "name": "7"}) == {
        "n": 3,
        "share": 0.5,
        "strict": True,
        "name": "7",
    }
    assert complete(source, {}) == {"n": 1, "share": None, "strict": False, "name": "x"}
    with pytest.raises(UsageError, match="strict must be bool"):
        complete(source, {"strict": "perhaps"})


ITEM = Item(id="1", form="choice", text="?", choices=("a", "b", "c"), gold=("a",))
NAN = float("nan")


@pytest.mark.parametrize(
    ("scores", "choice"),
    [
        ((1.0, 2.0, 0.0), "b"),
        ((1.0, 1.0, 0.0), "a"),
        ((NAN, -5.0, NAN), "b"),
        ((NAN, NAN, NAN), None),
        ((float("-inf"), NAN, -9.0), "c"),
    ],
)
def test_pick_takes_the_highest_score_the_first_of_a_tie_and_none_without_a_number(scores, choice):
    assert pick(ITEM, scores).choice == choice


def paired(*tags):
    """A source of pairs of objects whose items have these tags."""

    def items():
        for place, each in enumerate(tags):
            yield Item(
                id=str(place), form="choice", text="?", choices=("a", "b"), gold=("a",), tags=each
            )

    about = Benchmark(
        name="pairs", summary="", sources={"fresh": items}, units=(("one", "two"), ("verb",))
    )
    return ItemSource(about, "fresh")


def test_items_need_all_tags_that_hold_their_units_or_none_of_a_kind():
    both = {"one": "ant", "two": "cow"}
    assert len(list(paired(both, both).items())) == 2
    assert len(list(paired({}, {}).items())) == 2, "a source without such tags goes by groups"
    with pytest.raises(DataError, match="lacks the tag 'two', which belongs to its units"):
        list(paired({"one": "ant"}).items())
    with pytest.raises(DataError, match="some items have the tag 'verb'"):
        list(paired(both, both | {"verb": "sits"}).items())
    with pytest.raises(DataError, match="item '1' of pairs@fresh"):
        list(paired(both | {"verb": "sits"}, both).items())


def counted(whole_groups):
    """A source of six items, and a list that grows whenever they are made."""
    made = []

    def fresh():
        made.append("all")
        yield from grouped(2, 2, 2)._all()

    about = Benchmark(name="b", summary="", sources={"fresh": fresh}, whole_groups=whole_groups)
    return ItemSource(about, "fresh"), made


@pytest.mark.parametrize("whole_groups", [(), ("fresh",)])
def test_a_limited_source_is_counted_once_however_often_it_is_read(whole_groups, monkeypatch):
    monkeypatch.setattr(itemsource, "MOST_KEPT", 5)
    source, made = counted(whole_groups)
    source = source.limited(4)
    assert list(source.items()) == list(source.items())
    if whole_groups:
        assert len(made) == 3, "once to count, and once for each reading"
    else:
        assert len(made) == 2, "once to count, and once for all limits that are not large"
    assert len(list(source.limited(2).items())) == 2


def test_a_large_part_of_a_large_source_is_made_for_each_reading(monkeypatch):
    monkeypatch.setattr(itemsource, "MOST_KEPT", 5)
    small, _ = counted(())
    expected = [item.id for item in small.limited(4).items()]
    monkeypatch.setattr(itemsource, "AHEAD", 3)
    source, made = counted(())
    source = source.limited(4)
    for _ in range(2):
        assert [item.id for item in source.items()] == expected
    assert len(made) == 3
    assert [item.id for item in source.limited(3).items()] == [
        item.id for item in small.limited(3).items()
    ]


@pytest.mark.parametrize("whole_groups", [(), ("fresh",)])
def test_a_few_items_are_made_once_for_all_parts_of_a_source(whole_groups):
    source, made = counted(whole_groups)
    everything = list(source)
    assert len(everything) == 6
    assert list(source.limited(4)) == list(source.limited(4).permuted(None)) != everything
    shards = [item for number in (1, 2) for item in source.sharded(f"{number}/2")]
    assert shards == everything
    assert made == ["all"]


def test_items_of_other_options_are_made_anew():
    source = gnomon.load("scales", pairs=8)
    few = list(source)
    assert len(list(source.whole())) > len(few)


def test_half_a_reading_does_not_cut_the_next_one():
    source, made = counted(())
    next(source.items())
    assert len(list(source.items())) == 6
    assert made == ["all", "all"]


@pytest.mark.parametrize(
    "change",
    [
        lambda source: source.limited(7),
        lambda source: source.limited(None),
        lambda source: source.permuted(3),
        lambda source: source.sharded("2/3"),
    ],
)
def test_a_remembered_source_that_is_changed_later_gives_the_items_of_the_change(change):
    source = gnomon.load("scales", pairs=8).limited(20)
    remembered = source.remembered()
    wanted = list(change(source).items())
    assert wanted != list(remembered.items())
    assert list(change(remembered).items()) == wanted


def test_a_limit_on_mixed_groups_makes_the_first_ones_only():
    made = []

    def fresh():
        for number in range(50):
            made.append(number)
            for part in range(4):
                yield Item(
                    id=f"{number}-{part}",
                    form="choice",
                    text="?",
                    choices=("a", "b"),
                    gold=("a",),
                    group=str(number),
                )

    about = Benchmark(
        name="b",
        summary="",
        sources={"fresh": fresh},
        whole_groups=("fresh",),
        mixed_groups=("fresh",),
    )
    source = ItemSource(about, "fresh")
    taken = [each.id for each in source.limited(9).items()]
    assert taken == [f"{number}-{part}" for number in (0, 1) for part in range(4)]
    assert max(made) == 2  # the group that no longer fits
    assert [each.id for each in source.limited(12).items()][:8] == taken
    assert len(list(source.limited(1000).items())) == 200
    with pytest.raises(UsageError, match="give 4 or more"):
        list(source.limited(3).items())
