"""Pictures are exact, and the same pixels come out whoever draws them."""

import hashlib
import math
import struct
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import msgspec
import numpy as np
import pytest

from gnomon.errors import DataError, UsageError
from gnomon.scenes.descriptions import scene_of
from gnomon.scenes.pictures import draw, png, scene_file, scene_in, survey, write_png
from gnomon.scenes.relations import facts
from gnomon.scenes.rendering import FLOOR, SKY, RayGrid, cast, rays_of, windows_of
from gnomon.scenes.scenes import Placed, Scene, Viewer, to_json
from gnomon.scenes.solids import camera_of, solid, solids_of
from gnomon.scenes.surfaces import looks, noise
from gnomon.scenes.surroundings import FLAT, furniture, look_of
from gnomon.scenes.things import ThingPart, things

VIEWER = Viewer(eye=(0.4, -3.2, 1.4), at=(0.0, 0.0, 0.5))
SCENE = Scene(
    things=(
        Placed(id="table", thing="dining table", at=(0, 0, 0), turn=10),
        Placed(id="cup", thing="cup", at=(0.2, 0, 0.76)),
        Placed(id="dog", thing="dog", at=(-0.3, 0, 0), turn=90, scale=0.7),
    ),
    viewer=VIEWER,
    look=2,
)


def alone(shape, size, at, narrow=0.0):
    """The depth at which a single primitive is seen, and the rays."""
    part = ThingPart(
        shape, np.array(at, dtype=float), np.diag(np.array(size) / 2), "red", "", narrow
    )
    solids = [solid(part, np.eye(3), np.zeros(3), 1, "red")]
    camera, grid = camera_of(VIEWER), RayGrid(96, 96)
    rays = rays_of(camera, grid, 0, 96, np.float64)
    band = cast(solids, windows_of(solids, camera, grid), camera, rays, 0)
    return camera.eye, np.stack(rays, axis=-1), band


def test_depth_of_a_sphere_is_analytic():
    eye, rays, band = alone("ellipsoid", (0.8, 0.8, 0.8), (0.1, 0.2, 0.6))
    offset = eye - (0.1, 0.2, 0.6)
    half = (rays * offset).sum(axis=-1)
    under = half**2 - (offset @ offset - 0.16)
    seen = band.met == 0
    assert seen.sum() > 300
    assert np.array_equal(seen, under > 0)
    expected = -half[seen] - np.sqrt(under[seen])
    assert np.abs(band.distance[seen] - expected).max() < 1e-4


def test_depth_of_a_box_is_analytic():
    eye, rays, band = alone("box", (0.6, 0.4, 0.8), (0.1, 0.2, 0.4))
    lower, upper = np.array((-0.2, 0.0, 0.0)), np.array((0.4, 0.4, 0.8))
    expected = np.full(rays.shape[:2], np.inf)
    for axis in range(3):  # by each face, another way than that of the caster
        for wall in (lower[axis], upper[axis]):
            distance = (wall - eye[axis]) / rays[..., axis]
            point = eye + rays * distance[..., None]
            others = [n for n in range(3) if n != axis]
            inside = (distance > 0) & np.all(
                (point[..., others] >= lower[others]) & (point[..., others] <= upper[others]),
                axis=-1,
            )
            expected = np.where(inside & (distance < expected), distance, expected)
    seen = band.met == 0
    assert seen.sum() > 300
    assert np.abs(band.distance[seen] - expected[seen]).max() < 1e-4


@pytest.mark.parametrize(
    ("shape", "narrow", "inside"),
    [
        ("cylinder", 0.0, lambda x, y, z: x * x + y * y <= 1),
        ("cone", 0.25, lambda x, y, z: x * x + y * y <= (0.625 - 0.375 * z) ** 2),
        ("roof", 0.0, lambda x, y, z: 2 * np.abs(y) <= 1 - z),
        ("octagon", 0.0, lambda x, y, z: np.abs(x) + np.abs(y) <= math.sqrt(2)),
    ],
)
def test_a_shape_is_met_where_marching_along_the_ray_first_finds_it(shape, narrow, inside):
    eye, rays, band = alone(shape, (0.8, 0.6, 0.7), (0.0, 0.1, 0.5), narrow)
    steps = np.linspace(2.2, 4.6, 1201)
    points = (eye + rays[::4, ::4, None, :] * steps[:, None] - (0, 0.1, 0.5)) / (0.4, 0.3, 0.35)
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    within = (np.abs(points) <= 1).all(axis=-1) & inside(x, y, z)
    found = within.any(axis=-1)
    first = steps[within.argmax(axis=-1)]
    met, distance = band.met[::4, ::4] == 0, band.distance[::4, ::4]
    assert found.sum() > 20
    assert not (found & ~met).any()
    assert np.abs(distance[found] - first[found]).max() < 0.003


def test_a_bowl_is_hollow_and_a_tube_is_open():
    looking_down = camera_of(Viewer(eye=(0.0, -0.01, 3.0), at=(0.0, 0.0, 0.0), angle=20))
    for shape, depth in (("bowl", 2.6), ("tube", 3.0)):
        part = ThingPart(shape, np.array((0, 0, 0.6)), np.diag((0.2, 0.2, 0.2)), "red", "", 0.0)
        solids = [solid(part, np.eye(3), np.zeros(3), 1, "red")]
        rays = rays_of(looking_down, RayGrid(65, 65), 0, 65, np.float64)
        windows = windows_of(solids, looking_down, RayGrid(65, 65))
        band = cast(solids, windows, looking_down, rays, 0)
        assert band.distance[32, 32] == pytest.approx(depth, abs=0.01)  # its floor, or none


def test_sky_is_infinitely_far_and_the_floor_is_not():
    up = Scene(things=SCENE.things, viewer=Viewer(eye=(0, -3, 1), at=(0, 0, 1.2)), place="outdoors")
    depth = survey(up, 64).depth
    assert np.isinf(depth[0]).all()
    assert np.isfinite(depth[-1]).all()
    assert SKY != FLOOR


def test_mask_boxes_and_visible_shares_agree():
    found = survey(SCENE, 128)
    for number, placed in enumerate(SCENE.things, start=1):
        left, top, right, bottom = found.boxes[placed.id]
        inside = np.zeros(found.mask.shape, dtype=bool)
        inside[top:bottom, left:right] = True
        assert not (found.mask == number)[~inside].any()
        assert (found.mask == number)[top:bottom, left].any()
    assert found.visible["cup"] == 1.0
    assert found.visible["table"] < 1.0  # the cup hides some of it


def test_a_thing_behind_the_viewer_is_not_seen():
    behind = msgspec.structs.replace(
        SCENE, things=(*SCENE.things, Placed(id="cat", thing="cat", at=(0, -6, 0)))
    )
    found = survey(behind, 64)
    assert found.boxes["cat"] is None
    assert found.visible["cat"] == 0.0


def digest_of_pixels(scene, size=96):
    picture = draw(scene, size)
    parts = (picture.rgb, picture.survey.mask, picture.survey.depth)
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def test_threads_draw_the_same_pixels():
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(digest_of_pixels, [SCENE] * 4))) == 1


def test_another_process_draws_the_same_pixels():
    code = (
        "import sys, hashlib; from gnomon.scenes.pictures import draw;"
        "from gnomon.scenes.scenes import from_json;"
        "p = draw(from_json(sys.argv[1]), 96);"
        "b = p.rgb.tobytes() + p.survey.mask.tobytes() + p.survey.depth.tobytes();"
        "print(hashlib.sha256(b).hexdigest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, to_json(SCENE)], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == digest_of_pixels(SCENE)


def test_a_seed_changes_the_look_and_nothing_else():
    things = (SCENE.things[0], msgspec.structs.replace(SCENE.things[2], thing="sheep"))
    one = msgspec.structs.replace(SCENE, things=things)
    other = msgspec.structs.replace(one, look=3)
    first, second = draw(one, 64), draw(other, 64)
    assert (first.rgb != second.rgb).any()
    assert np.array_equal(first.survey.mask, second.survey.mask)


def test_a_thing_of_several_looks_keeps_its_box_and_every_relation():
    other = msgspec.structs.replace(SCENE, look=SCENE.look + 1)
    first, second = survey(SCENE, 128), survey(other, 128)
    assert len(solids_of(SCENE)) != len(solids_of(other))  # the dog has patches, or the cup a rim
    assert facts(SCENE, "cup", "table") == facts(other, "cup", "table")
    assert facts(SCENE, "dog", "table") == facts(other, "dog", "table")
    for id, box in first.boxes.items():
        assert np.abs(np.array(box) - second.boxes[id]).max() <= 1


STEEP = Viewer(eye=(0.4, -2.0, 2.6), at=(0.0, 0.0, 0.4), angle=70)
LOW = Viewer(eye=(2.4, -2.0, 0.2), at=(0.0, 0.0, 0.4), angle=60)


@pytest.mark.parametrize("place", ["indoors", "outdoors"])
@pytest.mark.parametrize("viewer", [VIEWER, STEEP, LOW])
def test_what_surrounds_a_scene_hides_no_thing_and_is_none(place, viewer):
    aside = Placed(id="sheep", thing="sheep", at=(1.7, 0.2, 0))
    wide = msgspec.structs.replace(SCENE, things=(*SCENE.things, aside), viewer=viewer)
    for look in range(8):
        scene = msgspec.structs.replace(wide, look=look, place=place, wall=9.0 * (look % 2))
        camera = camera_of(scene.viewer)
        seen = survey(scene, 96)
        solids = solids_of(scene)
        windows = windows_of(solids, camera, RayGrid(96, 96))
        bare = cast(solids, windows, camera, rays_of(camera, RayGrid(96, 96), 0, 96, np.float64), 0)
        owners = np.array([each.owner for each in solids])
        assert np.array_equal(seen.mask, np.where(bare.met >= 0, owners[bare.met], 0))


def test_furniture_is_flat_enough_to_stand_behind_all_things():
    assert set(looks().hung) == set(furniture())
    assert not set(furniture()) & set(things())
    for piece in furniture().values():
        assert piece.size[1] <= FLAT


def test_two_scenes_of_one_viewer_have_the_same_room():
    """What a contrast moves must not show in its surroundings."""
    moved = msgspec.structs.replace(SCENE.things[1], at=(-0.2, 0.1, 0.76))
    other = msgspec.structs.replace(SCENE, things=(SCENE.things[0], moved), wall=6.0)
    one = msgspec.structs.replace(SCENE, wall=6.0)
    camera = camera_of(SCENE.viewer)
    first, second = look_of(one, camera, 6.0), look_of(other, camera, 6.0)
    assert len(first.furniture) == len(second.furniture)
    assert first._replace(furniture=()) == second._replace(furniture=())
    for mine, theirs in zip(first.furniture, second.furniture, strict=True):
        assert np.array_equal(mine.corners, theirs.corners)


def test_noise_is_even_and_the_same_on_every_machine():
    places = np.arange(4096, dtype=np.float32).reshape(64, 64) / 7
    found = noise(places, places.T)
    assert found.min() >= 0
    assert found.max() <= 1
    assert abs(float(found.mean()) - 0.5) < 0.05
    assert [round(float(value), 4) for value in found[3, :4]] == [0.5886, 0.4156, 0.7631, 0.3711]


def test_a_missing_part_is_not_drawn():
    cup = Placed(id="cup", thing="cup", at=(0, 0, 0))
    close = Viewer(eye=(0, -0.5, 0.3), at=(0, 0, 0.05))
    whole = survey(Scene(things=(cup,), viewer=close), 128)
    bare = msgspec.structs.replace(cup, lacks=("handle",))
    without = survey(Scene(things=(bare,), viewer=close), 128)
    assert (without.mask > 0).sum() < (whole.mask > 0).sum()


def test_a_rope_is_drawn_and_belongs_to_no_thing():
    apart = msgspec.structs.replace(
        SCENE, things=(*SCENE.things, Placed(id="cat", thing="cat", at=(1.2, -0.3, 0)))
    )
    roped = msgspec.structs.replace(apart, links=(("cat", "table"),))
    assert (draw(apart, 96).rgb != draw(roped, 96).rgb).any()
    assert (survey(roped, 96).mask == 4).sum() <= (survey(apart, 96).mask == 4).sum()


def test_png_holds_the_pixels(tmp_path):
    rgb = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    write_png(tmp_path / "small.png", rgb)
    content = (tmp_path / "small.png").read_bytes()
    assert content == png(rgb)
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", content[16:24]) == (5, 4)
    start = content.index(b"IDAT")
    (length,) = struct.unpack(">I", content[start - 4 : start])
    rows = np.frombuffer(zlib.decompress(content[start + 4 : start + 4 + length]), dtype=np.uint8)
    assert np.array_equal(rows.reshape(4, 16)[:, 1:].reshape(4, 5, 3), rgb)


@pytest.mark.parametrize("size", [0, -4, 10_000])
def test_a_picture_of_a_hundred_megapixels_is_refused(size):
    with pytest.raises(UsageError, match="cannot be made"):
        draw(SCENE, size)


def test_a_scene_that_cannot_be_is_not_drawn():
    with pytest.raises(DataError, match=r"things\[0\]"):
        draw(Scene(things=(Placed(id="x", thing="cup", at=(math.nan, 0, 0)),), viewer=VIEWER))


@pytest.mark.parametrize("eye", [(0.0, 0.0, 0.4), (0.0, -0.001, 1e-6), (999.0, -999.0, 999.0)])
@pytest.mark.parametrize("place", ["indoors", "outdoors"])
def test_an_eye_inside_a_thing_or_far_away_sees_numbers(eye, place):
    box = Placed(id="box", thing="box", at=(0, 0, 0), scale=20)
    cup = Placed(id="cup", thing="cup", at=(900, 900, -500), turn=1e9, scale=0.05)
    viewer = Viewer(eye=eye, at=(0.5, 0.5, 0.1), angle=120)
    scene = Scene(things=(box, cup), viewer=viewer, place=place, links=(("box", "cup"),))
    picture = draw(scene, 32)
    assert not np.isnan(picture.survey.depth).any()
    assert (picture.survey.depth > 0).all()


def test_a_scene_lies_beside_its_picture_and_notes_change_no_pixel(tmp_path):
    scene = scene_of("a cup on a table", 3)
    file = tmp_path / "a.png"
    write_png(file, draw(scene, 32).rgb, notes={"By": "me"})
    assert scene_in(file) is None
    scene_file(file).write_text(to_json(scene))
    assert scene_in(file) == scene
    content = file.read_bytes()
    assert b"tEXtBy\0me" in content
    assert content.index(b"tEXt") < content.index(b"IDAT")
    plain = png(draw(scene, 32).rgb)
    assert b"tEXt" not in plain
    assert plain[plain.index(b"IDAT") :] == content[content.index(b"IDAT") :]


@pytest.mark.parametrize("note", ["", "{}", "x" * 5000, '{"things": []}'])
def test_a_file_that_is_no_scene_is_none(tmp_path, note):
    black = np.zeros((4, 4, 3), dtype=np.uint8)
    write_png(tmp_path / "a.png", black)
    assert scene_in(tmp_path / "a.png") is None
    scene_file(tmp_path / "a.png").write_text(note)
    assert scene_in(tmp_path / "a.png") is None
    write_png(tmp_path / "b.png", black)
    assert scene_in(tmp_path / "b.png") is None
    (tmp_path / "c.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\xff" * 30)
    assert scene_in(tmp_path / "c.png") is None
