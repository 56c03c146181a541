"""Pictures of scenes: where the viewer stands, pixels, depth, masks, and PNG files."""

import random
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from math import cos, radians, sin, tan
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError, UsageError
from gnomon.scenes import rendering
from gnomon.scenes.bodies import Body
from gnomon.scenes.scenes import Placed, Scene, Viewer, check_scene, read_scene
from gnomon.scenes.solids import NOBODY, Camera, Solid, camera_of, solids_of
from gnomon.scenes.surroundings import SceneLook, look_of
from gnomon.scenes.things import thing_named

ROWS = 128  # of pixels in a band
PNG = b"\x89PNG\r\n\x1a\n"
SMALLEST_SIDE, LARGEST_SIDE = 16, 2048
Box = tuple[int, int, int, int]


class PictureSurvey(NamedTuple):
    """What is where in a picture, at the middles of its pixels."""

    depth: NDArray[np.float32]  # metres along the viewer's line of sight; infinite for the sky
    mask: NDArray[np.uint8]  # 0, or the number of a thing in the scene, from 1
    boxes: dict[str, Box | None]  # left, top, right, bottom of each id; none if it is not seen
    visible: dict[str, float]  # the share of its own pixels that nothing else hides
    rope_share: float = 0.0  # of the picture that ropes fill
    rope_visible: float = 1.0  # the share of their own pixels that nothing hides


class ScenePicture(NamedTuple):
    """A picture of a scene with all that is known of it."""

    rgb: NDArray[np.uint8]
    survey: PictureSurvey


def draw(scene: Scene, size: int = 384, *, meshes: bool = False) -> ScenePicture:
    """The picture of a scene, `size` pixels wide and high, with all that is known of it.

    `meshes` draws things with the fetched models, where there are any.
    """
    return ScenePicture(paint(scene, size, meshes=meshes), survey(scene, size, meshes=meshes))


def paint(scene: Scene, size: int = 384, *, meshes: bool = False) -> NDArray[np.uint8]:
    """The colours alone."""
    check_scene(scene)
    check_size(size)
    solids, camera, look = _world(scene, meshes=meshes)
    grid = rendering.RayGrid(size * rendering.SAMPLES, size * rendering.SAMPLES)
    windows = rendering.windows_of(solids, camera, grid)
    shadows = rendering.shadows_of(solids, look)
    rgb = np.empty((size, size, 3), dtype=np.uint8)
    for top in range(0, size, ROWS):
        bottom = min(top + ROWS, size)
        rays = rendering.rays_of(
            camera, grid, top * rendering.SAMPLES, bottom * rendering.SAMPLES, np.float32
        )
        band = rendering.cast(solids, windows, camera, rays, top * rendering.SAMPLES, look)
        rgb[top:bottom] = rendering.shade(band, solids, camera, look, shadows)
    return rgb


def _world(scene: Scene, *, meshes: bool) -> tuple[list[Solid], Camera, SceneLook]:
    """All that can be seen: things, ropes and furniture, the viewer's camera, and the rest."""
    camera = camera_of(scene.viewer)
    wall = wall_distance(scene, camera)
    look = look_of(scene, camera, wall, wall - farthest(scene, camera))
    return [*solids_of(scene, meshes=meshes), *look.furniture], camera, look


def survey(scene: Scene, size: int = 384, *, meshes: bool = False) -> PictureSurvey:
    """Depth, mask, boxes and visible shares, in double precision and without colours."""
    check_scene(scene)
    check_size(size)
    solids, camera, look = _world(scene, meshes=meshes)
    grid = rendering.RayGrid(size, size)
    windows = rendering.windows_of(solids, camera, grid)
    owners = np.array([solid.owner for solid in solids])
    depth = np.empty((size, size), dtype=np.float32)
    mask = np.empty((size, size), dtype=np.uint8)
    whole = np.zeros(len(scene.things) + 1, dtype=np.int64)
    ropes = 0
    for top in range(0, size, ROWS):
        bottom = min(top + ROWS, size)
        rays = rendering.rays_of(camera, grid, top, bottom, np.float64)
        band = rendering.cast(solids, windows, camera, rays, top, look)
        ahead = sum(rays[n] * camera.forward[n] for n in range(3))
        depth[top:bottom] = band.distance * ahead
        owner = np.where(band.met >= 0, owners[np.maximum(band.met, 0)], NOBODY)
        mask[top:bottom] = np.maximum(owner, 0)
        ropes += int((owner == 0).sum())
        whole += rendering.silhouettes(solids, windows, camera, rays, top, len(scene.things))
    seen = _counted(scene, depth, mask, whole)
    if not scene.links:
        return seen
    return seen._replace(rope_share=ropes / mask.size, rope_visible=ropes / max(1, whole[0]))


def _counted(
    scene: Scene, depth: NDArray[np.float32], mask: NDArray[np.uint8], whole: NDArray[np.int64]
) -> PictureSurvey:
    boxes: dict[str, Box | None] = {}
    visible = {}
    for number, placed in enumerate(scene.things, start=1):
        rows, columns = np.nonzero(mask == number)
        boxes[placed.id] = None
        if len(rows):
            boxes[placed.id] = (
                int(columns.min()),
                int(rows.min()),
                int(columns.max()) + 1,
                int(rows.max()) + 1,
            )
        visible[placed.id] = len(rows) / max(1, int(whole[number]))
    return PictureSurvey(depth, mask, boxes, visible)


def check_size(size: int) -> None:
    """Raise an error for a picture that is too small to see or too large to make."""
    if not SMALLEST_SIDE <= size <= LARGEST_SIDE:
        raise UsageError(
            f"A picture of {size} x {size} pixels cannot be made.",
            f"Ask for a side from {SMALLEST_SIDE} to {LARGEST_SIDE}.",
        )


def wall_distance(scene: Scene, camera: Camera) -> float:
    """How far in front of the viewer the wall of a room is: behind everything, if nowhere else."""
    if scene.wall:
        return scene.wall
    near = float(np.sqrt(((np.array(scene.viewer.at) - camera.eye) ** 2).sum()))
    return farthest(scene, camera) + 0.4 * max(near, 0.5)


def farthest(scene: Scene, camera: Camera) -> float:
    """How far in front of the viewer the last thing ends, in plan."""
    x, y = camera.forward[0], camera.forward[1]
    length = float(np.sqrt(x * x + y * y))
    found = 0.0
    for placed in scene.things:
        for corner in Body(placed).corners:
            ahead = (corner[0] - camera.eye[0]) * x + (corner[1] - camera.eye[1]) * y
            found = max(found, float(ahead) / length)
    return found


def write_png(
    file: str | Path, rgb: NDArray[np.uint8], *, notes: Mapping[str, str] | None = None
) -> None:
    """Write a picture; its pixels are the same everywhere, its bytes depend on zlib's version."""
    Path(file).write_bytes(png(rgb, notes=notes))


def png(rgb: NDArray[np.uint8], *, notes: Mapping[str, str] | None = None) -> bytes:
    """A picture of height x width x 3 bytes in the format PNG.

    `notes` are texts that go with it, such as those who must be named.
    """
    height, width, _ = rgb.shape
    rows = np.zeros((height, 1 + width * 3), dtype=np.uint8)  # each row begins with its filter: 0
    rows[:, 1:] = rgb.reshape(height, width * 3)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    texts = []
    for name, text in (notes or {}).items():
        texts.append(_chunk(b"tEXt", f"{name}\0{text}".encode("latin-1", "replace")))
    return b"".join(
        (
            PNG,
            _chunk(b"IHDR", header),
            *texts,
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)),
            _chunk(b"IEND", b""),
        )
    )


def scene_file(picture: str | Path) -> Path:
    """Where the scene of a picture lies: beside it, since a picture that is shown is pixels only.

    >>> scene_file("made/dog.png").name
    'dog.scene.json'
    """
    return Path(picture).with_suffix(".scene.json")


def scene_in(picture: str | Path) -> Scene | None:
    """The scene that a picture was drawn from, as it lies beside it; none if there is none."""
    beside = scene_file(picture)
    try:
        return read_scene(beside) if beside.is_file() else None
    except DataError:
        return None


def chunks(content: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Kind, body and checksum of each chunk of a PNG file."""
    place = len(PNG)
    while content.startswith(PNG) and place + 12 <= len(content):
        end = place + 8 + int.from_bytes(content[place : place + 4])
        yield content[place + 4 : place + 8], content[place + 8 : end], content[end : end + 4]
        place = end + 4


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


# Where a viewer stands to see a scene: far enough for all of it, high enough to look over it.


MARGIN = 0.88  # of the picture that the things may fill
MOST_VIEWS = 8  # that are tried
SURVEY_SIZE = 96  # pixels; enough to see what hides what
LEAST_HEIGHT = 0.03  # metres of the eye above the ground


def viewer_of(
    things: Sequence[Placed],
    *,
    around: float = 0.0,
    above: float = 24.0,
    angle: float = 40.0,
    distance: float = 1.0,
) -> Viewer:
    """A viewer who sees all of some things.

    around     degrees from the side of -y, counter-clockwise
    above      degrees above the horizon
    distance   1 if the things are to fill the picture, 2 for twice as far
    """
    points = corners_of(things)
    middle = [(min(values) + max(values)) / 2 for values in zip(*points, strict=True)]

    turn, rise = radians(around), radians(above)
    forward = (-sin(turn) * cos(rise), cos(turn) * cos(rise), -sin(rise))
    right = (cos(turn), sin(turn), 0.0)
    up = (-sin(turn) * sin(rise), cos(turn) * sin(rise), cos(rise))
    slope = tan(radians(angle / 2)) * MARGIN
    needed = 0.2
    for point in points:
        offset = [point[n] - middle[n] for n in range(3)]
        ahead = _along(offset, forward)
        aside = max(abs(_along(offset, right)), abs(_along(offset, up)))
        needed = max(needed, aside / slope - ahead)
    needed *= distance
    eye = [middle[n] - forward[n] * needed for n in range(3)]
    eye[2] = max(eye[2], LEAST_HEIGHT)
    return Viewer(eye=(eye[0], eye[1], eye[2]), at=(middle[0], middle[1], middle[2]), angle=angle)


def corners_of(things: Sequence[Placed]) -> list[tuple[float, float, float]]:
    """The corners of the turned boxes around things."""
    points = []
    for placed in things:
        body = Body(placed)
        for x, y in body.corners:
            points += [(x, y, body.low), (x, y, body.high)]
    return points


def _along(offset: list[float], direction: tuple[float, float, float]) -> float:
    return sum(offset[n] * direction[n] for n in range(3))


def find_view(
    rng: random.Random, placed: Sequence[Placed], distance: float, hidden: float, least: int
) -> Scene | None:
    """Things with a viewer who sees each of them well enough, or none if there is no such viewer.

    hidden   the largest share of a thing that others may hide
    least    pixels of a small survey that a thing must fill
    """
    outdoors = any(thing_named(p.thing).place == "outdoors" for p in placed)
    place: Literal["indoors", "outdoors"] = "outdoors" if outdoors else "indoors"
    for _ in range(MOST_VIEWS):
        viewer = viewer_of(
            placed,
            around=rng.uniform(-28, 28),
            above=rng.uniform(14, 32),
            angle=rng.uniform(34, 50),
            distance=distance,
        )
        scene = Scene(things=tuple(placed), viewer=viewer, place=place, look=rng.randrange(1000))
        if is_seen(scene, hidden, least):
            return scene
    return None


def is_seen(scene: Scene, hidden: float, least: int) -> bool:
    """Whether every thing is in the picture, and not too much of it hidden."""
    seen = survey(scene, SURVEY_SIZE)
    for number, placed in enumerate(scene.things, start=1):
        pixels = int((seen.mask == number).sum())
        if pixels < least or seen.visible[placed.id] < 1 - hidden:
            return False
    return True
