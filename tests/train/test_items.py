"""The items of a recipe: parts are held apart, draws are nested, sharing is refused with a count."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import DataError, GnomonError, UsageError
from gnomon.items.source import load
from gnomon.items.writing import write_items
from gnomon.records import Image, Item
from gnomon.train.items import (
    ItemData,
    ItemPool,
    TrainingPart,
    carved,
    check_apart,
    drawn,
    read_material,
    read_place,
)

HELD_OUT = (("family",),)


def read(file: Path, parts: dict, *, seed: int = 0, **train: object):
    content = {"train": {"file": str(file), **train}, "parts": parts}
    return read_material(msgspec.convert(content, ItemData), seed).content


def test_parts_are_carved_in_order_and_train_has_the_rest(items_file):
    found = read(
        items_file,
        {
            "unseen families": {"by": "family", "count": 1},
            "dev": {"by": "item", "count": 2},
        },
    )
    families = {item.tags["family"] for item in found.parts["unseen families"]}
    assert len(families) == 1
    assert not families & {item.tags["family"] for item in found.train}
    assert len(found.parts["dev"]) == 2 * len({item.group for item in found.train})
    everything = [item.id for part in found.every().values() for item in part]
    assert len(everything) == len(set(everything)) == 48


@given(st.integers(0, 50), st.integers(1, 7), st.integers(1, 7))
def test_a_smaller_draw_is_part_of_a_larger_one(seed, one, other):
    items = [
        Item(id=f"{group}/{number}", form="choice", text="?", group=f"g{group}")
        for group in range(4)
        for number in range(8)
    ]
    less, more = sorted((one, other))
    small = {item.id for item in drawn(items, ItemPool(per_group=less), seed)}
    large = {item.id for item in drawn(items, ItemPool(per_group=more), seed)}
    assert small <= large
    assert len(small) == 4 * less
    part = {item.id for item in drawn(items, ItemPool(percent=10.0 * less), seed)}
    whole = {item.id for item in drawn(items, ItemPool(percent=10.0 * more), seed)}
    assert part <= whole


def test_another_seed_draws_other_items(make_pairs):
    items = make_pairs()
    draws = {
        tuple(item.id for item in drawn(items, ItemPool(per_group=2), seed)) for seed in range(5)
    }
    assert len(draws) > 1


def test_the_size_of_the_draw_leaves_the_other_parts_as_they_are(items_file):
    parts = {"test": {"by": "item", "count": 3}}
    few, many = read(items_file, parts, per_group=1), read(items_file, parts, per_group=5)
    assert few.parts == many.parts
    assert len(few.train) == 3
    assert len(many.train) == 15


def test_only_items_with_the_wanted_tags_are_read(items_file):
    found = read(items_file, {}, where={"who": ["ann", "bob"], "family": "family 0"})
    assert {item.tags["who"] for item in found.train} <= {"ann", "bob"}
    assert {item.tags["family"] for item in found.train} == {"family 0"}


def test_a_value_that_no_item_has_is_answered_with_the_nearest(items_file):
    with pytest.raises(UsageError, match=r"'famly 0'.*\n.*family 0"):
        read(items_file, {}, where={"family": "famly 0"})


def test_train_and_a_part_that_share_items_are_refused_with_the_count(items_file):
    with pytest.raises(DataError, match=r"share 48 items, such as '.+'.*\n.*may_share: \[item\]"):
        read(items_file, {"test": {"file": str(items_file)}})
    shared = {"file": str(items_file), "may_share": ["item", "group"]}
    assert len(read(items_file, {"test": shared}).parts["test"]) == 48


def test_the_same_question_under_another_id_is_the_same_item(make_pairs, tmp_path):
    items = make_pairs()
    renamed = [msgspec.structs.replace(item, id=f"other {item.id}") for item in items[:5]]
    write_items(tmp_path / "train.jsonl", items)
    write_items(tmp_path / "test.jsonl", renamed)
    with pytest.raises(DataError, match="share 5 items"):
        read(tmp_path / "train.jsonl", {"test": {"file": str(tmp_path / "test.jsonl")}})


def test_train_and_a_part_that_share_groups_are_refused_with_the_count(make_pairs, tmp_path):
    items = make_pairs()
    write_items(tmp_path / "train.jsonl", items[::2])
    write_items(tmp_path / "test.jsonl", items[1::2])
    test = {"file": str(tmp_path / "test.jsonl")}
    with pytest.raises(DataError, match="share 3 groups, such as 'pattern 0'"):
        read(tmp_path / "train.jsonl", {"test": test})
    assert read(tmp_path / "train.jsonl", {"test": {**test, "may_share": ["group"]}})


def test_what_the_benchmark_holds_out_is_refused_with_the_count(make_pairs):
    items = make_pairs()
    groups = [[item for item in items if item.group == f"pattern {n}"] for n in range(3)]
    with pytest.raises(DataError, match=r"share 1 value of family, such as 'family 0'.*\n.*family"):
        check_apart(groups[0], groups[1], "test", frozenset(), HELD_OUT)
    check_apart(groups[0], groups[1], "test", frozenset({"family"}), HELD_OUT)
    check_apart(groups[0], groups[2], "test", frozenset(), HELD_OUT)


def test_an_object_counts_as_shared_in_whatever_place_it_stands():
    def pair(one, other):
        tags = {"obj_a": one, "obj_b": other}
        return Item(id=f"{one}/{other}", form="choice", text=f"{one} {other}?", tags=tags)

    hold_out = (("type_a", "type_b"), ("obj_a", "obj_b"))
    with pytest.raises(DataError, match=r"share 1 value of obj_a or obj_b, such as 'cow'"):
        check_apart([pair("ant", "cow")], [pair("cow", "bee")], "test", frozenset(), hold_out)
    check_apart([pair("ant", "cow")], [pair("dog", "bee")], "test", frozenset(), hold_out)


def test_objects_are_compared_by_what_both_parts_have():
    held_out = (("type_a", "type_b"), ("obj_a", "obj_b"))
    objects = {"obj_a": "cow", "obj_b": "ant"}
    typed = Item(
        id="1", form="choice", text="one?", tags={**objects, "type_a": "beast", "type_b": "insect"}
    )
    bare = Item(id="2", form="choice", text="two?", tags=objects)
    nameless = Item(id="3", form="choice", text="three?", tags={})
    for train, part in (([typed], [bare]), ([bare], [typed]), ([typed, nameless], [bare])):
        with pytest.raises(DataError, match=r"share 2 values of obj_a or obj_b, such as 'ant'"):
            check_apart(train, part, "test", frozenset(), held_out)


@pytest.mark.parametrize("part", ["train", "dev"])
def test_a_tag_that_items_lack_cannot_be_held_out(make_pairs, tmp_path, part):
    items = make_pairs()
    whole = {"dev": items[:4], "train": items[20:]}
    whole[part] = [msgspec.structs.replace(item, tags={"family": "f"}) for item in whole[part]]
    for name, members in whole.items():
        write_items(tmp_path / f"{name}.jsonl", members)
    content = {
        "train": {"file": str(tmp_path / "train.jsonl")},
        "parts": {"dev": {"file": str(tmp_path / "dev.jsonl"), "may_share": ["group"]}},
        "hold_out": ["who"],
    }
    with pytest.raises(UsageError, match=rf"tag 'who'.* of {part} .*\n.*family"):
        read_material(msgspec.convert(content, ItemData), 0)


def test_a_recipe_may_say_what_files_must_not_share(make_pairs, tmp_path):
    items = make_pairs()
    write_items(tmp_path / "train.jsonl", [each for each in items if each.group != "pattern 2"])
    write_items(tmp_path / "test.jsonl", [each for each in items if each.group == "pattern 2"])
    content = {
        "train": {"file": str(tmp_path / "train.jsonl")},
        "parts": {"test": {"file": str(tmp_path / "test.jsonl")}},
    }
    assert read_material(msgspec.convert(content, ItemData), 0)
    with pytest.raises(DataError, match=r"share \d values of who"):
        read_material(msgspec.convert({**content, "hold_out": ["who"]}, ItemData), 0)


def test_what_the_benchmark_of_a_part_holds_out_is_kept_from_a_file(tmp_path):
    asked = list(load("scales@fresh").limited(20).items())
    known = [msgspec.structs.replace(asked[0], id="own", group="own", text="It is [MASK].")]
    write_items(tmp_path / "train.jsonl", known)
    content = {
        "train": {"file": str(tmp_path / "train.jsonl")},
        "parts": {"test": {"source": "scales@fresh"}},
    }
    with pytest.raises(DataError, match=r"share \d values of \w+ or \w+"):
        read_material(msgspec.convert(content, ItemData), 0)


def test_a_part_of_single_items_may_share_all_but_items(items_file):
    found = read(items_file, {"test": {"by": "item"}})
    assert {item.group for item in found.parts["test"]} <= {item.group for item in found.train}


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"dev": {}}, "'dev' needs one of by, source and file"),
        ({"dev": {"by": "item", "file": "x.jsonl"}}, "'dev' needs one of"),
        ({"dev": {"by": "hops"}}, r"carved by 'hops', which the item .*\n.*family, who"),
        ({"dev": {"by": "group", "share": 0.99}}, "nothing is left"),
    ],
)
def test_a_part_that_cannot_be_made_is_refused(items_file, parts, said):
    with pytest.raises(GnomonError, match=said):
        read(items_file, parts)


def test_a_recipe_without_a_place_for_its_items_is_refused():
    with pytest.raises(UsageError, match="either a source or a file"):
        read_material(ItemData(train=ItemPool()), 0)


def test_an_item_that_cannot_be_asked_is_named(make_pairs, tmp_path):
    wrong = msgspec.structs.replace(make_pairs()[0], gold=("perhaps",))
    (tmp_path / "items.jsonl").write_bytes(msgspec.json.encode(wrong) + b"\n")
    with pytest.raises(DataError, match=r"items\.jsonl.*entailment/.*gold must be"):
        read(tmp_path / "items.jsonl", {})


def test_a_file_that_lacks_a_column_is_refused_with_its_line(tmp_path):
    (tmp_path / "items.csv").write_text("id,text\n1,hello\n")
    with pytest.raises(DataError, match=r"items\.csv:2.*lacks the field 'form'"):
        read(tmp_path / "items.csv", {})


def test_carving_a_share_of_items_takes_it_from_every_group(make_pairs):
    part, rest = carved(make_pairs(), TrainingPart(by="item", share=0.25), 0, "dev")
    for group in ("pattern 0", "pattern 1", "pattern 2"):
        assert sum(item.group == group for item in part) == 4
        assert sum(item.group == group for item in rest) == 12


def test_data_are_described_by_count_and_digest(items_file):
    content = {
        "train": {"file": str(items_file), "per_group": 1},
        "parts": {"families": {"by": "family", "count": 1, "limit": 5}},
    }
    data = msgspec.convert(content, ItemData)
    first, again = read_material(data, 3), read_material(data, 3)
    assert first.digests == again.digests
    assert first.digests["families"]["items"] == 5
    assert first.digests["train"]["items"] == first.digests["train"]["groups"]
    assert read_material(data, 4).digests["train"]["sha256"] != first.digests["train"]["sha256"]


def test_patterns_of_a_family_in_train_need_a_word_in_the_recipe():
    content = {
        "train": {"source": "spacenli@fresh"},
        "parts": {"patterns": {"by": "group", "share": 0.2}},
    }
    with pytest.raises(DataError, match=r"share \d+ values of family.*\n.*may_share: \[family\]"):
        read_material(msgspec.convert(content, ItemData), 0)


def test_pictures_of_a_file_are_looked_for_beside_it(tmp_path):
    folder = tmp_path / "scenes"
    folder.mkdir()
    item = Item(
        id="1",
        form="caption",
        text="A cup is on a table.",
        choices=("false", "true"),
        gold=("true",),
        images=(Image(path="pictures/1.png"),),
    )
    write_items(folder / "items.jsonl", [item])
    items, _ = read_place(ItemPool(file=str(folder / "items.jsonl")))
    assert Path(items[0].images[0].path).resolve() == folder / "pictures" / "1.png"
