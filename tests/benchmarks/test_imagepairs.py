"""Pairs of pictures for people to contrast: what is drawn, and what each filter leaves out."""

import json

import pytest

import gnomon
from gnomon.benchmarks.vsr.imagepairs import drawn_pairs
from gnomon.cli import main
from gnomon.errors import DataError, FewItemsWarning, UsageError
from gnomon.records import problem

LARGE, SMALL = 40_000.0, 29_999.0
CATEGORIES = {1: "cat", 2: "table", 3: "dog"}
# picture -> (category, area) of each instance
PICTURES = {
    1: [(1, LARGE), (2, LARGE)],
    2: [(1, LARGE), (2, LARGE), (3, LARGE)],
    3: [(1, 30_000.0), (2, LARGE)],
    4: [(1, LARGE), (1, LARGE), (2, LARGE)],  # two cats
    5: [(1, SMALL), (2, LARGE)],
    6: [(3, LARGE), (2, LARGE)],
    7: [(3, LARGE)],
}


@pytest.fixture
def coco(tmp_path):
    """An instances file with its annotations in no order, and one crowd."""
    annotations = []
    for image, instances in PICTURES.items():
        for category, area in instances:
            annotations.append({"image_id": image, "category_id": category, "area": area})
    annotations.append({"image_id": 6, "category_id": 1, "area": LARGE, "iscrowd": 1})
    annotations = annotations[::2] + annotations[1::2]
    for number, annotation in enumerate(annotations):
        annotation |= {"id": number, "segmentation": [[0, 0, 1, 1]], "bbox": [0, 0, 1, 1]}
    images = [{"id": n, "file_name": f"{n}.jpg", "coco_url": f"http://x/{n}.jpg"} for n in PICTURES]
    categories = [{"id": number, "name": name} for number, name in CATEGORIES.items()]
    file = tmp_path / "instances.json"
    whole = {"info": {}, "annotations": annotations, "images": images, "categories": categories}
    file.write_text(json.dumps(whole))
    return file


def pairs(coco, **options):
    return list(gnomon.load("vsr-pairs", instances=str(coco), **options).items())


def test_a_picture_has_exactly_one_of_each_thing_and_neither_is_small(coco):
    with pytest.warns(FewItemsWarning, match="only 4 pairs"):
        found = pairs(coco, count=100, most=10)
    assert len(found) == 4
    shown = {(item.group, frozenset(image.path for image in item.images)) for item in found}
    address = "http://x/{}.jpg".format
    assert shown == {
        ("cat / table", frozenset({address(1), address(2)})),
        ("cat / table", frozenset({address(1), address(3)})),
        ("cat / table", frozenset({address(2), address(3)})),
        ("dog / table", frozenset({address(2), address(6)})),
    }


def test_the_items_can_be_asked_of_people_and_name_no_right_answer(coco):
    with pytest.warns(FewItemsWarning):
        [item, *_] = pairs(coco)
    assert problem(item) == ""
    assert item.gold == ()
    assert len(item.choices) == 71 == len(set(item.choices))
    assert len(item.images) == 2
    assert {item.tags["subj"], item.tags["obj"]} == set(item.group.split(" / "))
    assert item.tags["task"] == "contrast"
    assert item.tags["without_is"] == "contains, consists of, has as a part"


def test_the_same_seed_draws_the_same_pairs_and_another_one_others(coco):
    first = pairs(coco, count=2, seed=1)
    assert pairs(coco, count=2, seed=1) == first
    assert any(pairs(coco, count=2, seed=seed) != first for seed in range(2, 8))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_picture_is_used_more_often_than_the_limit(most):
    names = [str(number) for number in range(12)]
    pictures = {("a", "b"): names, ("a", "c"): names[:6], ("b", "c"): names[3:9]}
    with pytest.warns(FewItemsWarning):
        found = list(drawn_pairs(pictures, 1000, 5, most))
    used = [name for pair in found for name in pair.pictures]
    assert max(map(used.count, used)) == most
    assert len(used) >= 2 * 6 * most - 2 * most
    assert len({(frozenset(p.concepts), frozenset(p.pictures)) for p in found}) == len(found)


def test_things_are_drawn_alike_however_many_pictures_they_have():
    pictures = {("a", "b"): [str(n) for n in range(500)], ("c", "d"): [f"x{n}" for n in range(100)]}
    found = list(drawn_pairs(pictures, 60, 0, 3))
    rare = sum(set(pair.concepts) == {"c", "d"} for pair in found)
    assert 18 <= rare <= 42


@pytest.mark.filterwarnings("always::gnomon.errors.FewItemsWarning")
def test_each_filter_is_counted(coco, tmp_path, capsys):
    file = tmp_path / "p.jsonl"
    assert main(["make", "vsr-pairs", "--set", f"instances={coco}", "-o", str(file)]) == 0
    first, *lines = capsys.readouterr().err.splitlines()
    assert "only 4 pairs, not 100" in first
    told = {}
    for line in lines[3:-1]:
        words, _, number = line.rstrip().rpartition(" ")
        told[words.strip()] = int(number)
    assert told == {
        "pictures in the file": 7,
        "instances in them": 16,
        "kinds of thing in a picture": 15,
        "left out: several of the kind": 2,
        "left out: smaller than 30,000 square pixels": 1,
        "left out: the picture is not in the folder": 0,
        "left out: nothing else is left in the picture": 3,
        "two things that share a picture": 3,
        "left out: they share only one": 1,
        "two things to draw": 2,
        "pictures to draw": 4,
    }


def test_photographs_that_are_not_in_the_folder_are_left_out(coco, tmp_path):
    from PIL import Image as Pixels

    folder = tmp_path / "photos"
    folder.mkdir()
    for number in (1, 3):
        Pixels.new("RGB", (8, 8), "red").save(folder / f"{number}.jpg")
    with pytest.warns(FewItemsWarning, match="only 1 pairs"):
        [item] = pairs(coco, images=str(folder))
    assert all(image.sha256 and image.width == 8 for image in item.images)


def test_pairs_come_from_drawn_scenes_too(tmp_path):
    made = tmp_path / "scenes"
    arguments = ["make", "vsr@fresh", "-o", str(made), "--set", "quads=3", "--set", "size=64"]
    assert main([*arguments, "--quiet"]) == 0
    source = gnomon.load("vsr-pairs@scenes", scenes=str(made), count=2, seed=4)
    found = list(source.items())
    assert len(found) == 2
    for item in found:
        assert all(image.sha256 for image in item.images)
        assert item.images[0].sha256 != item.images[1].sha256


def test_pairs_come_from_single_scenes_with_each_thing_once(tmp_path):
    from PIL import Image as Pixels

    def scene(name, *things):
        placed = []
        for number, thing in enumerate(things):
            placed.append({"id": str(number), "thing": thing, "at": [number, 0, 0]})
        viewer = {"eye": [0, -3, 1], "at": [0, 0, 0]}
        whole = {"things": placed, "viewer": viewer}
        (tmp_path / f"{name}.json").write_text(json.dumps(whole))
        Pixels.new("RGB", (8, 8), (40 * name, 0, 0)).save(tmp_path / f"{name}.png")

    scene(1, "cat", "dining table", "dog")
    scene(2, "dining table", "cat")
    scene(3, "cat", "cat", "dining table")
    (tmp_path / "4.json").write_text("{}")  # has no picture
    with pytest.warns(FewItemsWarning):
        [item] = gnomon.load("vsr-pairs@scenes", scenes=str(tmp_path)).items()
    assert item.group == "cat / dining table"
    assert {item.tags["image"], item.tags["image_2"]} == {"1.png", "2.png"}


def test_what_is_no_instances_file_is_refused_with_its_byte(tmp_path):
    file = tmp_path / "broken.json"
    file.write_text('{"images": [{"id": 1, "file_name": "1.jpg"}], "annotations": [{"id":')
    with pytest.raises(DataError, match="byte"):
        pairs(file)
    file.write_text('{"images": [{"id": "x"}]}')
    with pytest.raises(DataError, match="images"):
        pairs(file)
    file.write_text("{}")
    with pytest.raises(DataError, match="no images"):
        pairs(file)
    with pytest.raises(UsageError, match="need the file"):
        list(gnomon.load("vsr-pairs").items())
    with pytest.raises(UsageError, match="set of scenes"):
        list(gnomon.load("vsr-pairs@scenes").items())
    with pytest.raises(DataError, match="no scenes with pictures"):
        list(gnomon.load("vsr-pairs@scenes", scenes=str(tmp_path / "nowhere")).items())


def test_a_count_below_one_is_refused(coco):
    with pytest.raises(UsageError, match="count must be 1 or more"):
        pairs(coco, count=0)
