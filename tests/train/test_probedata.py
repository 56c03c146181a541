"""What a probe is trained and tested on: parts that share no object, or that say what they share."""

import pytest
from msgspec.structs import replace

from gnomon.errors import DataError, UsageError
from gnomon.items.source import load
from gnomon.items.writing import write_items
from gnomon.train.items import ItemPool, TrainingPart, check_apart, object_tags
from gnomon.train.probe import ProbeData, by_splits, read_probe_items, shared_counts

BENCHMARK = "viphy-size@fresh"
DATA = ProbeData(benchmark=BENCHMARK, options={"pairs": 200, "prompt": "finetune"})


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.4, 0.6])
def test_parts_share_no_object_where_objects_are_held_out(seed, share):
    items = read_probe_items(replace(DATA, apart=share), seed).content.items
    assert items.train
    assert items.parts["dev"]
    trained, chosen, tested = (
        {item.tags[tag] for item in part for tag in ("type_a", "type_b")}
        for part in (items.train, items.parts["dev"], items.parts["test"])
    )
    assert tested
    assert trained.isdisjoint(chosen | tested)
    assert chosen.isdisjoint(tested)


def test_another_seed_holds_out_other_objects():
    one, two = (read_probe_items(replace(DATA, apart=0.4), seed) for seed in (0, 1))
    assert one.digests["dev"]["sha256"] != two.digests["dev"]["sha256"]


def test_objects_that_parts_share_are_refused_with_their_count():
    with pytest.raises(DataError, match=r"share \d+ values of type_a or type_b"):
        read_probe_items(DATA, 0)


def test_what_parts_share_is_said_where_it_is_allowed():
    material = read_probe_items(replace(DATA, may_share=("type_a",)), 0)
    dev = material.digests["dev"]
    said = dev["shared_with_train"]
    assert said["with a group of train"] == 0
    assert said["with an object of train"] > 0
    assert said["with an object of train"] + said["with no object of train"] == dev["items"]
    assert "items" not in said, "not all items are shared"


def test_a_source_with_splits_is_taken_as_it_is_divided():
    data = by_splits(ProbeData(benchmark="viphy-size@published", options={"data": "here"}))
    assert data.train.source == "viphy-size@published"
    assert data.train.options == {"data": "here", "split": "train"}
    assert data.parts["dev"].options["split"] == "val"
    assert data.parts["test"].options["split"] == "test"


def test_a_benchmark_and_a_source_are_not_given_together():
    both = ProbeData(benchmark=BENCHMARK, train=ItemPool(source=BENCHMARK))
    with pytest.raises(UsageError, match="not both"):
        read_probe_items(both, 0)


def test_a_source_without_splits_gives_a_part_to_choose_and_another_to_test():
    items = read_probe_items(replace(DATA, may_share=("type_a",)), 0).content.items
    chosen, tested = ({item.group for item in items.parts[name]} for name in ("dev", "test"))
    assert len(chosen) == len(tested) == 40
    assert chosen.isdisjoint(tested)


def test_parts_with_objects_held_out_are_read_as_any_other(tmp_path):
    pool = list(load(BENCHMARK, pairs=200, prompt="finetune").items())
    write_items(tmp_path / "items.jsonl", pool)
    file = str(tmp_path / "items.jsonl")
    data = ProbeData(
        train=ItemPool(file=file, where={"relation": "<"}),
        parts={"dev": TrainingPart(file=file, limit=4), "test": TrainingPart(file=file)},
        hold_out=("type_a", "type_b"),
        apart=0.5,
    )
    items = read_probe_items(data, 0).content.items
    assert len(items.parts["dev"]) == 4
    assert len(items.parts["test"]) > 4
    assert {item.tags["relation"] for item in items.train} == {"<"}


def test_objects_to_hold_out_that_items_lack_are_refused():
    with pytest.raises(UsageError, match=r"hold_out: colour"):
        read_probe_items(replace(DATA, apart=0.4, hold_out=("colour",)), 0)


def test_objects_are_held_out_only_of_parts_with_a_source():
    carved = replace(DATA, apart=0.2, parts={"dev": TrainingPart(by="group")})
    with pytest.raises(UsageError, match="parts that have a source or a file each"):
        read_probe_items(carved, 0)


def test_counts_of_what_is_shared_are_by_items():
    source = load(BENCHMARK, pairs=8)
    first, back = list(source.items())[:2]  # the same two things, both ways round
    found = shared_counts([first], [back], source.benchmark.hold_out)
    assert found == {
        "with a group of train": 1,
        "with an object of train": 1,
        "with no object of train": 0,
    }


def test_objects_are_those_of_the_first_list_of_tags_that_items_have_in_full():
    source = load("viphy-spatial@fresh", blocks=2)
    items = list(source.items())
    assert object_tags(items, source.benchmark.hold_out) == ("type_a", "type_b", "scene")
    published = [
        replace(item, tags={**item.tags, "type_a": "", "type_b": ""}) for item in items
    ]  # these have a scene as well, but no types
    assert object_tags(published, source.benchmark.hold_out) == ("obj_a", "obj_b")


def test_a_scene_alone_that_parts_share_is_no_object():
    source = load("viphy-spatial@fresh", blocks=0)
    by_scene = {}
    for item in source.items():
        plain = replace(item, tags={**item.tags, "type_a": "", "type_b": ""})
        by_scene.setdefault(item.tags["scene"], []).append(plain)
    members = max(by_scene.values(), key=len)
    first = members[0]
    apart = [
        item
        for item in members
        if {item.tags["obj_a"], item.tags["obj_b"]}.isdisjoint(
            {first.tags["obj_a"], first.tags["obj_b"]}
        )
    ]
    assert apart
    check_apart([first], apart[:1], "dev", frozenset(), source.benchmark.hold_out)
