"""Annotations of every kind become scenes; whatever cannot be used is named."""

import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.errors import DataError
from gnomon.keep import Keep
from gnomon.look.masks import problem_of_runs, unpacked_runs
from gnomon.look.readers import kind_of, open_sources
from gnomon.look.readers.folders import ade20k
from gnomon.look.readers.scenes import polygon_of
from gnomon.look.records import AnnotatedPicture, Picture, Trouble
from gnomon.vision.detection import Box, Detection
from gnomon.vision.images import PictureFolder
from tests.look import samples
from tests.look.samples import as_json

FILES = {
    "region_descriptions": samples.DESCRIPTIONS,
    "objects": samples.OBJECTS,
    "region_graphs": samples.GRAPHS,
    "coco": samples.COCO,
}


class Blind:
    """A detector that sees one thing in the middle of everything."""

    def __init__(self):
        self.asked = 0

    def find(self, picture):
        self.asked += 1
        box = Box(0.25, 0.25, 0.75, 0.75)
        return [Detection("cat", 0.9, box), Detection("dog", 0.2, box)]


def read(store, *paths, images=None, detector=None):
    """The scenes and the troubles of some paths."""
    found = open_sources(paths, images, store, "blind", lambda: detector or Blind())
    scenes, troubles = [], list(found.troubles)
    for reader in found.readers:
        for seen in reader.scenes():
            (troubles if isinstance(seen, Trouble) else scenes).append(seen)
        assert reader.done == reader.total
    return scenes, troubles


@pytest.fixture
def store(tmp_path):
    return Keep(tmp_path / "work", needed=True)


@pytest.fixture
def sizes(tmp_path):
    file = tmp_path / "image_data.json"
    file.write_bytes(as_json(samples.IMAGE_DATA))
    return file


def write(folder, name, content):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else as_json(content))
    return file


@pytest.mark.parametrize(("kind", "content"), FILES.items())
def test_the_kind_of_a_file_is_told_by_its_content(tmp_path, kind, content):
    assert kind_of(write(tmp_path, "anything.json", content)) == kind


def test_visual_genomes_regions_are_shares_of_their_pictures(tmp_path, store, sizes):
    scenes, troubles = read(store, write(tmp_path, "r.json", samples.DESCRIPTIONS), sizes)
    assert not troubles
    assert [scene.picture.id for scene in scenes] == ["1", "2", "3"]
    first = scenes[0].regions[0]
    assert first.box == Box(0, 0, 0.5, 0.5)
    assert (first.id, first.phrase, first.name) == ("r10", samples.PHRASES[0], "")


def test_visual_genomes_objects_have_names(tmp_path, store, sizes):
    scenes, _ = read(store, write(tmp_path, "o.json", samples.OBJECTS), sizes)
    assert [region.name for region in scenes[0].regions] == ["bus", "Trees"]
    assert scenes[1].regions[0].id == "o23"


def test_an_object_of_several_regions_counts_once(tmp_path, store, sizes):
    scenes, _ = read(store, write(tmp_path, "g.json", samples.GRAPHS), sizes)
    assert [region.id for region in scenes[0].regions] == ["o21", "o22"]


def test_pixels_without_sizes_are_refused(tmp_path, store):
    with pytest.raises(DataError, match="how large the pictures are") as error:
        read(store, write(tmp_path, "r.json", samples.DESCRIPTIONS))
    assert "image_data.json" in error.value.hint


def test_a_picture_without_a_size_is_named_with_what_is_lost(tmp_path, store):
    file = write(tmp_path, "r.json", samples.DESCRIPTIONS)
    scenes, troubles = read(store, file, write(tmp_path, "s.json", samples.IMAGE_DATA[:1]))
    assert [scene.picture.id for scene in scenes] == ["1"]
    assert [(each.picture, each.what) for each in troubles] == [
        ("2", "its size is not known, so its 1 regions are skipped"),
        ("3", "its size is not known, so its 1 regions are skipped"),
    ]


@pytest.mark.parametrize(
    ("box", "left", "what"),
    [
        ((0, 0, 0, 50), None, "its box has no area"),
        ((0, 0, 50, -5), None, "its box has no area"),
        ((900, 0, 50, 50), None, "its box lies outside the picture"),
        ((-200, 0, 50, 50), None, "its box lies outside the picture"),
        (
            (700, 0, 200, 300),
            Box(0.875, 0, 1, 0.5),
            "its box reached 100 pixels beyond the picture and was cut",
        ),
        ((-1, -1, 401, 301), Box(0, 0, 0.5, 0.5), ""),  # a pixel is rounding
    ],
)
def test_boxes_outside_the_picture_are_cut_or_skipped_and_named(
    tmp_path, store, sizes, box, left, what
):
    content = [{"id": 1, "regions": [samples.description(5, 1, "a cup", box)]}]
    scenes, troubles = read(store, write(tmp_path, "r.json", content), sizes)
    assert [region.box for region in scenes[0].regions] == ([left] if left else [])
    assert [(each.region, each.what) for each in troubles] == ([("r5", what)] if what else [])


def test_a_bad_region_costs_its_picture_and_no_other(tmp_path, store, sizes):
    content = json.loads(as_json(samples.DESCRIPTIONS))
    content[0]["regions"][0]["x"] = "left"
    scenes, troubles = read(store, write(tmp_path, "r.json", content), sizes)
    assert [scene.picture.id for scene in scenes] == ["2", "3"]
    (trouble,) = troubles
    assert trouble.byte is not None
    assert "a picture is skipped" in trouble.what
    assert "`$.regions[0].x`" in trouble.what


def test_coco_has_boxes_outlines_and_runs_by_picture(tmp_path, store):
    scenes, troubles = read(store, write(tmp_path, "c.json", samples.COCO))
    assert not troubles
    assert [scene.picture.id for scene in scenes] == ["7", "8"]
    dog, table = scenes[0].regions
    assert (dog.name, dog.box) == ("dog", Box(0.1, 0.1, 0.2, 0.2))
    assert dog.outline == ((0.1, 0.1, 0.2, 0.1, 0.2, 0.2, 0.1, 0.2),)
    assert (table.id, table.outline) == ("33", ())
    assert scenes[1].regions[0].runs == tuple(samples.RUNS)


def test_coco_may_name_its_pictures_and_categories_last(tmp_path, store):
    turned = dict(reversed(samples.COCO.items()))
    assert read(store, write(tmp_path, "t.json", turned)) == read(
        store, write(tmp_path, "c.json", samples.COCO)
    )


def test_captions_belong_to_pictures_and_are_no_regions(tmp_path, store):
    scenes, troubles = read(store, write(tmp_path, "c.json", samples.CAPTIONS))
    assert not troubles
    assert [scene.captions for scene in scenes] == [
        ("A dog under the table.", "Two dogs."),
        ("An empty plate.",),
    ]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"category_id": 99}, "its category 99 is not described"),
        ({"bbox": None}, "neither a box nor a caption"),
        ({"bbox": [0, 0, 0, 9]}, "no area"),
        ({"segmentation": [[1, 2, 3]]}, "too few points: its box is used"),
        ({"segmentation": ["x"]}, "no list of numbers: its box is used"),
        ({"segmentation": {"counts": [1, 2], "size": [480, 640]}}, "its box is used"),
        ({"segmentation": {"counts": [12], "size": [3, 4]}}, "another size"),
        ({"segmentation": {"counts": "~", "size": [480, 640]}}, "cannot be read"),
    ],
)
def test_a_fault_of_an_annotation_is_named(tmp_path, store, changes, what):
    content = json.loads(as_json(samples.COCO))
    content["annotations"][1].update(changes)
    scenes, troubles = read(store, write(tmp_path, "c.json", content))
    (trouble,) = troubles
    assert what in trouble.what
    assert (trouble.region, trouble.picture) == ("32", "7")
    assert [region.id for region in scenes[1].regions] == ["31"]
    assert len(scenes[0].regions) == (2 if "box is used" in trouble.what else 1)


def test_a_byte_that_is_not_utf_8_loses_nothing_silently(tmp_path, store):
    damaged = as_json(samples.COCO).replace(b'"segmentation": [[', b'"segm\x80ntation": [[')
    scenes, troubles = read(store, write(tmp_path, "c.json", damaged))
    assert [region.id for region in scenes[0].regions] == ["33"]
    assert "is not UTF-8" in troubles[0].what


def test_a_byte_that_is_not_utf_8_costs_one_picture(tmp_path, store, sizes):
    damaged = as_json(samples.DESCRIPTIONS).replace(b"a man's hat", b"a man's h\x80t")
    scenes, troubles = read(store, write(tmp_path, "r.json", damaged), sizes)
    assert [scene.picture.id for scene in scenes] == ["2", "3"]
    assert "is not UTF-8" in troubles[0].what


def test_annotations_of_unknown_pictures_are_counted(tmp_path, store):
    content = {**samples.COCO, "images": samples.COCO["images"][:1]}
    _, troubles = read(store, write(tmp_path, "c.json", content))
    assert [each.what for each in troubles] == [
        "1 annotations name pictures that the file does not describe"
    ]


def test_packed_runs_are_those_that_coco_packs():
    # Packed by pycocotools from a disk of radius 6 in a picture of 16 x 16.
    packed = "S15b0M4L2N2N2N10O0N2O10N20N2N2L4M^1"
    assert unpacked_runs("42123") == (4, 2, 1, 2 + 2, 1 + 3)
    assert problem_of_runs(tuple(samples.RUNS), 4, 3) == ""
    assert problem_of_runs((4, -1, 9), 4, 3)
    with pytest.raises(ValueError, match="middle of a number"):
        unpacked_runs(packed[:1])


@pytest.fixture
def ade(tmp_path):
    """A kitchen of ADE20K, with its photo and one mask."""
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path / "ade" / "training" / "home_or_hotel" / "home_office"
    text = json.dumps(samples.ADE, ensure_ascii=False)
    write(folder, "ADE_train_00000001.json", text.encode("windows-1252"))
    image.new("RGB", (400, 200)).save(folder / "ADE_train_00000001.jpg")
    (folder / "ADE_train_00000001").mkdir()
    image.new("L", (400, 200), 255).save(folder / "ADE_train_00000001" / "instance_000.png")
    return tmp_path / "ade"


def test_ade20k_has_parts_masks_and_the_scene_of_its_folder(ade, store):
    scenes, troubles = read(store, ade)
    assert not troubles
    (scene,) = scenes
    assert scene.picture.scene == "office"
    assert (scene.picture.width, scene.picture.height) == (400, 200)
    cabinet, door, table = scene.regions
    assert (door.name, door.whole, table.name) == ("door", "cabinet", "café table")
    assert cabinet.mask.endswith("instance_000.png")
    assert cabinet.mark == 255
    assert door.box == Box(0.025, 0.05, 0.1, 0.45)


def test_a_text_in_an_unknown_encoding_is_named_and_skipped(ade, store):
    write(ade, "training/x/other.json", b'{"annotation": "\x81\x8d"}')
    scenes, troubles = read(store, ade)
    assert len(scenes) == 1
    assert "neither UTF-8 nor windows-1252" in troubles[0].what


def test_a_missing_picture_is_named(ade, store):
    for photo in ade.rglob("*.jpg"):
        photo.unlink()
    scenes, troubles = read(store, ade)
    assert len(scenes[0].regions) == 3
    assert [each.what for each in troubles] == ["its picture ADE_train_00000001.jpg is missing"]


def test_yolo_has_boxes_and_outlines_in_shares(tmp_path, store):
    write(tmp_path, "y/labels/a.txt", samples.YOLO.encode())
    write(tmp_path, "y/data.yaml", samples.NAMES.encode())
    scenes, troubles = read(store, tmp_path / "y" / "labels")
    assert not troubles
    person, light, kite = scenes[0].regions
    assert (person.name, light.name, light.confidence) == ("person", "traffic light", 0.9)
    assert person.box == pytest.approx(Box(0.4, 0.3, 0.6, 0.7))
    assert kite.outline == ((0.0, 0.0, 0.5, 0.0, 0.5, 0.5),)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("9 0.5 0.5 0.1 0.1", "class 9 has no name"),
        ("0 0.5 nan 0.1 0.1", "no number"),
        ("0 0.5 0.5 0 0.1", "no area"),
        ("0 0.5 0.5", "2 numbers"),
        ("cat 0.5 0.5 0.1 0.1", "not a class"),
        ("0 0 0 1 0 0.5 0", "no area"),
    ],
)
def test_a_bad_line_of_yolo_is_named(tmp_path, store, line, what):
    write(tmp_path, "y/a.txt", f"{line}\n0 0.5 0.5 0.1 0.1\n".encode())
    write(tmp_path, "y/classes.txt", b"person\nkite\n")
    scenes, troubles = read(store, tmp_path / "y")
    assert [region.id for region in scenes[0].regions] == ["a/2"]
    (trouble,) = troubles
    assert what in trouble.what
    assert trouble.region == "a/1"


def test_yolo_without_names_is_refused(tmp_path, store):
    write(tmp_path, "y/a.txt", samples.YOLO.encode())
    with pytest.raises(DataError, match="what the classes") as error:
        read(store, tmp_path / "y")
    assert "data.yaml" in error.value.hint


@pytest.fixture
def photos(tmp_path):
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("000007.jpg", "000008.jpg"):
        image.new("RGB", (64, 48), "red").save(folder / name)
    return folder


def test_photos_are_looked_at_once_each(photos, store):
    detector = Blind()
    first, troubles = read(store, photos, detector=detector)
    second, _ = read(store, photos, detector=detector)
    assert not troubles
    assert first == second
    assert detector.asked == 2 - 1  # both photos have the same bytes
    assert [region.name for region in first[0].regions] == ["cat"]


def test_corrupt_photos_are_listed(photos, store):
    write(photos, "000009.jpg", b"\xff\xd8 no photo")
    write(photos, "000010.png", b"")
    scenes, troubles = read(store, photos)
    assert len(scenes) == 2
    assert [each.picture for each in troubles] == ["000009", "000010"]


def test_the_gallery_gives_files_and_names_what_is_missing(tmp_path, photos, store):
    (photos / "000008.jpg").unlink()
    file = write(tmp_path, "c.json", samples.COCO)
    scenes, troubles = read(store, file, images=photos)
    assert scenes[0].picture.file.endswith("000007.jpg")
    assert (scenes[0].picture.width, scenes[0].picture.height) == (640, 480)  # as annotated
    assert [(each.picture, each.what.split(":")[0]) for each in troubles] == [
        ("7", "its picture has 64 x 48 pixels, the annotations say 640 x 480"),
        ("8", "its picture is missing"),
    ]


def test_scenes_of_our_own_come_with_masks_and_distances(tmp_path, store):
    import numpy as np

    from gnomon.look.masks import mask_of
    from gnomon.scenes.placing import SceneOptions, random_scene
    from gnomon.scenes.scenes import to_json

    world = random_scene(7, SceneOptions(things=2))
    write(tmp_path, "scenes/one.json", to_json(world).encode())
    scenes, troubles = read(store, tmp_path / "scenes")
    assert not troubles
    (scene,) = scenes
    distances = np.load(scene.picture.depth)
    assert {region.name for region in scene.regions} <= {placed.thing for placed in world.things}
    for region in scene.regions:
        covered = mask_of(region, scene.picture.width, scene.picture.height)
        rows, columns = np.nonzero(covered)
        assert rows.min() / 384 == pytest.approx(region.box.top)
        assert (columns.max() + 1) / 384 == pytest.approx(region.box.right)
        assert np.isfinite(distances[covered]).all()


def test_nothing_that_can_be_read_is_refused_in_a_sentence(tmp_path, store):
    for path in (
        tmp_path / "nowhere",
        write(tmp_path, "a.json", b"[1]"),
        write(tmp_path, "e/a.csv", b"").parent,
    ):
        with pytest.raises(DataError) as error:
            read(store, path)
        assert error.value.hint


def is_sound(content):
    """Whether bytes are JSON in UTF-8."""
    try:
        json.loads(content.decode())
    except (ValueError, RecursionError):
        return False
    return True


@settings(max_examples=300)
@given(
    kind=st.sampled_from(sorted(FILES)),
    place=st.floats(0, 1, exclude_max=True),
    byte=st.integers(0, 255) | st.none(),
)
def test_damage_at_any_byte_is_named_and_costs_nothing_before_it(
    kind, place, byte, tmp_path_factory
):
    """A byte is changed, or the file ends there."""
    folder = tmp_path_factory.mktemp("damage")
    sizes = write(folder, "sizes.json", samples.IMAGE_DATA)
    content = as_json(FILES[kind])
    cut = int(place * len(content))
    damaged = content[:cut] if byte is None else content[:cut] + bytes([byte]) + content[cut + 1 :]
    store = Keep(folder / "work", needed=True)
    try:
        whole, _ = read(store, write(folder, "whole.json", content), sizes)
        scenes, troubles = read(store, write(folder, "damaged.json", damaged), sizes)
    except DataError:  # refused as a whole
        return
    finally:
        shutil.rmtree(folder / "work", ignore_errors=True)
    if not is_sound(damaged) and not troubles:
        assert scenes == whole  # the damage is in something that is not read
    if regions(whole) - regions(scenes):
        assert troubles or is_sound(damaged)
    if kind != "coco":  # there the pictures stand first, and say how many there are
        before = [scene for scene in whole if ends_before(scene, content, cut)]
        assert scenes[: len(before)] == before


def regions(scenes: list[AnnotatedPicture]) -> set[str]:
    return {region.id for scene in scenes for region in scene.regions}


def ends_before(scene, content, cut):
    """Whether a picture's annotations end before a byte, as `json` writes them."""
    decoder = json.JSONDecoder()
    text, place = content.decode(), 1
    while True:
        value, end = decoder.raw_decode(text, place)
        number = value.get("id", value.get("image_id"))
        if str(number) == scene.picture.id:
            return end <= cut
        place = end + 2


def test_sides_without_end_are_told_and_no_picture_is_that_large(tmp_path):
    annotation = {"filename": "a.jpg", "imsize": [10**400, 8], "object": []}
    (tmp_path / "a.json").write_text(json.dumps({"annotation": annotation}))
    (told,) = list(ade20k(tmp_path, PictureFolder(None)).scenes())
    assert "the picture is skipped" in told.what


def test_an_outline_whose_points_lie_beyond_everything_is_none():
    picture = Picture(id="1", width=100, height=50)
    assert polygon_of([0, 10**400, 5], [0, 5, 5], picture) == ()
    assert polygon_of([0, float("nan"), 5], [0, 5, 5], picture) == ()
    assert len(polygon_of([0, 10, 5], [0, 5, 5], picture)) == 6
