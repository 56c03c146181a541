"""Pixels from solids: rays that are cast, light and shadow, surfaces and colours."""

import random
from functools import cache
from math import cos, pi, radians, sin, sqrt
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.files import package_data, read_yaml
from gnomon.grouped import grouped
from gnomon.scenes.scenes import Scene
from gnomon.scenes.solids import Array, Axes, Camera, Hit, Solid, intersect, project

# What a seed varies in a picture: floor, wall or sky, and the light.


Colour = tuple[float, float, float]


class Floor(NamedTuple):
    """A pattern of two colours."""

    pattern: Literal["tiles", "boards", "speckled", "plain"]
    first: Colour
    second: Colour


class SceneLook(NamedTuple):
    """How a scene is lit and what surrounds it."""

    floor: Floor
    wall: Colour | None  # outdoors there is none
    sky: tuple[Colour, Colour]  # at the horizon and overhead
    suns: tuple[Colour, ...]  # directions to the light, spread a little: shadows are soft
    sunlight: Colour
    shade: Colour


class _Looks(msgspec.Struct, frozen=True):
    """What a seed chooses from (data/looks.yaml)."""

    indoors: tuple[Floor, ...]
    outdoors: tuple[Floor, ...]
    walls: tuple[Colour, ...]
    skies: tuple[tuple[Colour, Colour], ...]


@cache
def _looks() -> _Looks:
    return msgspec.convert(read_yaml(package_data("looks.yaml")), _Looks)


LIGHTS = 12  # directions to the light; a multiple of the four samples of a pixel
SPREAD = 0.07  # radius of the light, as a share of its distance
GOLDEN = pi * (3 - sqrt(5))


def look_of(scene: Scene) -> SceneLook:
    """The look that a scene's seed stands for."""
    rng = random.Random(f"look {scene.place} {scene.look}")
    indoors = scene.place == "indoors"
    looks = _looks()
    floor = rng.choice(looks.indoors if indoors else looks.outdoors)
    wall = rng.choice(looks.walls)
    sky = rng.choice(looks.skies)
    warmth = rng.uniform(-0.03, 0.04)
    sunlight = (0.88 + warmth, 0.85, 0.81 - warmth)
    shade = (0.31, 0.32, 0.34)
    suns = _suns(_sun(scene, rng))
    return SceneLook(floor, wall if indoors else None, sky, suns, sunlight, shade)


def _sun(scene: Scene, rng: random.Random) -> Colour:
    """The direction to the light: from behind the viewer's left or right shoulder, high up."""
    x = scene.viewer.at[0] - scene.viewer.eye[0]
    y = scene.viewer.at[1] - scene.viewer.eye[1]
    if scene.still:
        x, y = 0.0, 1.0
    length = sqrt(x * x + y * y)
    x, y = x / length, y / length
    aside = radians(rng.choice((-1, 1)) * rng.uniform(25, 65))
    height = radians(rng.uniform(45, 62))
    back_x = -(x * cos(aside) - y * sin(aside)) * cos(height)
    back_y = -(x * sin(aside) + y * cos(aside)) * cos(height)
    return back_x, back_y, sin(height)


def _suns(middle: Colour) -> tuple[Colour, ...]:
    """Directions around the middle one, on a disc."""
    x, y, z = middle
    flat = sqrt(x * x + y * y)
    side = (y / flat, -x / flat, 0.0)
    up = (-x * z / flat, -y * z / flat, flat)
    found = []
    for number in range(LIGHTS):
        radius = SPREAD * sqrt((number + 0.5) / LIGHTS)
        across, along = radius * cos(GOLDEN * number), radius * sin(GOLDEN * number)
        point = [middle[n] + across * side[n] + along * up[n] for n in range(3)]
        length = sqrt(sum(value * value for value in point))
        found.append(tuple(round(value / length, 9) for value in point))
    return tuple((p[0], p[1], p[2]) for p in found)


# Rays from the eye through a band of pixels, and what each of them meets first.


SKY, WALL, FLOOR = -3, -2, -1  # what is met where no primitive is
HORIZON = 400.0  # metres; the floor ends there
NEAREST = 1e-3  # metres; what is closer to the eye is not seen


class Window(NamedTuple):
    """The rectangle of a picture in which a primitive can be seen."""

    left: int
    top: int
    right: int
    bottom: int


class Band(NamedTuple):
    """Some rows of a picture: rays, and what they meet."""

    rays: Axes
    distance: Array
    met: NDArray[np.int16]  # number of the primitive; SKY, WALL or FLOOR
    normal: tuple[Array, Array, Array]


class RayGrid(NamedTuple):
    """The size of a picture in samples."""

    width: int
    height: int


def windows_of(solids: list[Solid], camera: Camera, grid: RayGrid) -> list[Window]:
    """For each primitive the part of the picture that it may fill."""
    found = []
    for solid in solids:
        column, row, depth = project(camera, solid.corners, grid.width, grid.height)
        if depth.max() <= NEAREST:
            found.append(Window(0, 0, 0, 0))  # behind the eye
        elif depth.min() <= 0.02:
            found.append(Window(0, 0, grid.width, grid.height))
        else:
            found.append(
                Window(
                    max(0, int(np.floor(column.min())) - 1),
                    max(0, int(np.floor(row.min())) - 1),
                    min(grid.width, int(np.ceil(column.max())) + 1),
                    min(grid.height, int(np.ceil(row.max())) + 1),
                )
            )
    return found


def rays_of(camera: Camera, grid: RayGrid, top: int, bottom: int, kind: type[np.floating]) -> Axes:
    """Directions of unit length through the middles of the samples of some rows."""
    across = (np.arange(grid.width) + 0.5) / grid.width * 2 - 1
    down = ((np.arange(top, bottom) + 0.5) * 2 - grid.height) / grid.width
    x = (across * camera.half_width)[None, :]
    y = (-down * camera.half_width)[:, None]
    axes = [camera.forward[n] + x * camera.right[n] + y * camera.up[n] for n in range(3)]
    length = np.sqrt(axes[0] * axes[0] + axes[1] * axes[1] + axes[2] * axes[2])
    return (
        (axes[0] / length).astype(kind),
        (axes[1] / length).astype(kind),
        (axes[2] / length).astype(kind),
    )


def cast(
    solids: list[Solid],
    windows: list[Window],
    camera: Camera,
    rays: Axes,
    top: int,
    wall: float | None = None,
) -> Band:
    """What the rays of a band meet first; `wall` is how far off a wall faces the viewer."""
    kind = rays[0].dtype.type
    shape = rays[0].shape
    distance, met, normal = _surroundings(camera, rays, wall)
    for number, (solid, window) in enumerate(zip(solids, windows, strict=True)):
        here = _rows_of(window, top, shape[0])
        if here is None:
            continue
        part = (rays[0][here], rays[1][here], rays[2][here])
        hit = meet(solid, camera.eye.astype(kind), part)
        nearer = hit.distance < distance[here]
        if not nearer.any():
            continue
        distance[here] = np.where(nearer, hit.distance, distance[here])
        met[here] = np.where(nearer, number, met[here])
        turned = _normals(solid, hit.normal, part)
        for axis in range(3):
            normal[axis][here] = np.where(nearer, turned[axis], normal[axis][here])
    return Band(rays, distance, met, normal)


def silhouettes(
    solids: list[Solid], windows: list[Window], camera: Camera, rays: Axes, top: int, count: int
) -> list[int]:
    """How many rays of a band would meet each thing if it were alone; index 0 is for ropes."""
    kind = rays[0].dtype.type
    masks: dict[int, NDArray[np.bool_]] = {}
    for solid, window in zip(solids, windows, strict=True):
        here = _rows_of(window, top, rays[0].shape[0])
        if here is None:
            continue
        part = (rays[0][here], rays[1][here], rays[2][here])
        hit = meet(solid, camera.eye.astype(kind), part)
        mask = masks.setdefault(solid.owner, np.zeros(rays[0].shape, dtype=bool))
        mask[here] |= np.isfinite(hit.distance)
    return [int(masks[owner].sum()) if owner in masks else 0 for owner in range(count + 1)]


def _rows_of(window: Window, top: int, rows: int) -> tuple[slice, slice] | None:
    """The part of a window that lies in a band, as slices of the band."""
    first, last = max(window.top - top, 0), min(window.bottom - top, rows)
    if first >= last or window.left >= window.right:
        return None
    return slice(first, last), slice(window.left, window.right)


def meet(solid: Solid, origin: Array | Axes, rays: Axes, nearest: float = NEAREST) -> Hit:
    """Where rays meet a primitive; the normals are those of its unit shape."""
    kind = rays[0].dtype.type
    inverse = solid.inverse.astype(kind)
    offset = [origin[n] - kind(solid.centre[n]) for n in range(3)]
    start, way = [], []
    for row in range(3):
        a, b, c = inverse[row]
        start.append(a * offset[0] + b * offset[1] + c * offset[2])
        way.append(a * rays[0] + b * rays[1] + c * rays[2])
    unit_start, unit_way = (start[0], start[1], start[2]), (way[0], way[1], way[2])
    if solid.mesh is not None:
        from gnomon.scenes.meshes import meet_mesh

        return meet_mesh(solid.mesh, unit_start, unit_way, nearest)
    return intersect(solid.shape, solid.narrow, unit_start, unit_way, nearest)


def _normals(solid: Solid, local: Axes, rays: Axes) -> Axes:
    """Normals of unit length in the scene, which look back along the rays."""
    inverse = solid.inverse.astype(rays[0].dtype.type)
    axes = []
    for column in range(3):
        a, b, c = inverse[:, column]
        axes.append(a * local[0] + b * local[1] + c * local[2])
    square = axes[0] * axes[0] + axes[1] * axes[1] + axes[2] * axes[2]
    length = np.sqrt(np.where(square > 0, square, 1))
    against = axes[0] * rays[0] + axes[1] * rays[1] + axes[2] * rays[2]
    length = np.where(against > 0, -length, length)
    return axes[0] / length, axes[1] / length, axes[2] / length


def _surroundings(
    camera: Camera, rays: Axes, wall: float | None
) -> tuple[Array, NDArray[np.int16], tuple[Array, Array, Array]]:
    """Floor, wall and sky: distance, what is met, and normals."""
    kind = rays[0].dtype.type
    downward = np.minimum(rays[2], kind(-1e-6))
    distance = kind(-camera.eye[2]) / downward
    sees_floor = (rays[2] < -1e-6) & (distance < HORIZON)
    distance = np.where(sees_floor, distance, kind(np.inf))
    met = np.where(sees_floor, FLOOR, SKY).astype(np.int16)
    zero, one = np.zeros_like(distance), np.ones_like(distance)
    normal = (zero, zero.copy(), one)
    if wall is None:
        return distance, met, normal

    heading = camera.forward[:2] / np.sqrt((camera.forward[:2] ** 2).sum())
    x, y = kind(heading[0]), kind(heading[1])
    speed = np.maximum(rays[0] * x + rays[1] * y, kind(1e-6))
    to_wall = kind(wall) / speed
    nearer = to_wall < distance
    distance = np.where(nearer, to_wall, distance)
    met = np.where(nearer, np.int16(WALL), met)
    normal = (
        np.where(nearer, -x, zero),
        np.where(nearer, -y, zero),
        np.where(nearer, kind(0), one),
    )
    return distance, met, normal


# Colour and light of what was met: patterns of the floor, soft shadows, a highlight, the sky.


SAMPLES = 2  # samples of a pixel in each direction
LIFT = 3e-4  # of the distance, by which a point is lifted off its surface before it looks for light
LEVELS = 4096


def _gamma() -> NDArray[np.uint8]:
    """From linear light to bytes, by a table that is made once in double precision."""
    found = []
    for level in range(LEVELS):
        found.append(int((level / (LEVELS - 1)) ** (1 / 2.2) * 255 + 0.5))
    return np.array(found, dtype=np.uint8)


GAMMA = _gamma()


def shade(
    band: Band, solids: list[Solid], camera: Camera, look: SceneLook, tile: float
) -> NDArray[np.uint8]:
    """The pixels of a band whose samples are `SAMPLES` times as dense."""
    points = _points(band, camera)
    light = _sunlight(band, points, solids, look)
    colours = _colours(band, points, solids, look, tile)
    glint = _glint(band, look, light)
    kind = band.distance.dtype.type
    facing_up = kind(0.75) + kind(0.25) * band.normal[2]
    sky = band.met == SKY

    channels = []
    for number in range(3):
        ambient = kind(look.shade[number]) * facing_up
        lit = colours[number] * (ambient + kind(look.sunlight[number]) * light) + glint
        lit = np.where(sky, _sky(band, look, number), lit)
        channels.append(_averaged(np.clip(lit, 0, 1)))
    levels = np.stack(channels, axis=-1) * kind(LEVELS - 1) + kind(0.5)
    pixels: NDArray[np.uint8] = GAMMA[np.clip(levels.astype(np.int32), 0, LEVELS - 1)]
    return pixels


def _points(band: Band, camera: Camera) -> Axes:
    kind = band.distance.dtype.type
    along = np.where(np.isfinite(band.distance), band.distance, kind(0))
    x, y, z = (kind(camera.eye[n]) + band.rays[n] * along for n in range(3))
    return x, y, z


def _averaged(samples: Array) -> Array:
    """The mean of the samples of each pixel."""
    total: Array = samples[0::SAMPLES, 0::SAMPLES] + samples[0::SAMPLES, 1::SAMPLES]
    total = total + samples[1::SAMPLES, 0::SAMPLES] + samples[1::SAMPLES, 1::SAMPLES]
    total /= samples.dtype.type(SAMPLES * SAMPLES)
    return total


def _sunlight(band: Band, points: Axes, solids: list[Solid], look: SceneLook) -> Array:
    """How much light each sample gets; the samples of a pixel share out the directions to it."""
    kind = band.distance.dtype.type
    light = np.zeros_like(band.distance)
    share = len(look.suns) // SAMPLES**2
    lift = band.distance * kind(LIFT)
    lifted = [points[n] + band.normal[n] * np.where(band.met == SKY, 0, lift) for n in range(3)]
    things = _by_thing(solids)
    for number, sun in enumerate(look.suns):
        phase = divmod(number % SAMPLES**2, SAMPLES)
        here = (slice(phase[0], None, SAMPLES), slice(phase[1], None, SAMPLES))
        start = [lifted[n][here].ravel() for n in range(3)]
        normal = [band.normal[n][here].ravel() for n in range(3)]
        slant = normal[0] * kind(sun[0]) + normal[1] * kind(sun[1]) + normal[2] * kind(sun[2])
        slant = np.where(band.met[here].ravel() == SKY, kind(0), np.maximum(slant, 0))
        lit = _unshadowed((start[0], start[1], start[2]), slant > 0, things, sun)
        light[here] += (slant * lit / kind(share)).reshape(light[here].shape)
    return light


def _by_thing(solids: list[Solid]) -> list[list[Solid]]:
    """The primitives of each thing; ropes are one thing."""
    return list(grouped(solids, lambda solid: solid.owner).values())


def _unshadowed(
    points: Axes, lit: NDArray[np.bool_], things: list[list[Solid]], sun: Colour
) -> NDArray[np.bool_]:
    """Which points see the sun; only those in the shadow of a box look at what is in it."""
    kind = points[0].dtype.type
    frame = _light_frame(sun)
    places = [_along(points, axis) for axis in frame]
    rays = [np.full(1, value, dtype=kind) for value in sun]
    for parts in things:
        box = _extent(np.concatenate([part.corners for part in parts]), frame)
        candidates = np.flatnonzero(lit & _shadowed_by(places, box))
        if not len(candidates):
            continue
        near = [place[candidates] for place in places]
        for part in parts:
            inside = _shadowed_by(near, _extent(part.corners, frame))
            chosen = candidates[inside]
            if not len(chosen):
                continue
            start = (points[0][chosen], points[1][chosen], points[2][chosen])
            hit = meet(part, start, (rays[0], rays[1], rays[2]), nearest=1e-5)
            lit[chosen[np.isfinite(hit.distance)]] = False
    return lit


def _along(points: Axes, axis: Colour) -> Array:
    kind = points[0].dtype.type
    x, y, z = (kind(value) for value in axis)
    along: Array = points[0] * x + points[1] * y + points[2] * z
    return along


def _light_frame(sun: Colour) -> tuple[Colour, Colour, Colour]:
    """Two directions across the light, and the one towards it."""
    x, y, z = sun
    flat = float(np.sqrt(x * x + y * y))
    return (y / flat, -x / flat, 0.0), (-x * z / flat, -y * z / flat, flat), sun


def _extent(corners: Array, frame: tuple[Colour, ...]) -> list[tuple[float, float]]:
    found = []
    for axis in frame:
        along = corners[:, 0] * axis[0] + corners[:, 1] * axis[1] + corners[:, 2] * axis[2]
        found.append((float(along.min()), float(along.max())))
    return found


def _shadowed_by(places: list[Array], box: list[tuple[float, float]]) -> NDArray[np.bool_]:
    """Which points may lie in the shadow of a box."""
    inside = (places[0] > box[0][0]) & (places[0] < box[0][1])
    inside &= (places[1] > box[1][0]) & (places[1] < box[1][1])
    return np.asarray(inside & (places[2] < box[2][1]))


def _colours(
    band: Band, points: Axes, solids: list[Solid], look: SceneLook, tile: float
) -> list[Array]:
    kind = band.distance.dtype.type
    table = np.array([solid.colour for solid in solids] or [(0, 0, 0)], dtype=kind)
    number = np.maximum(band.met, 0)
    mix = _pattern(look.floor, points, band.distance, tile)
    on_floor, on_wall = band.met == FLOOR, band.met == WALL
    strip = on_wall & (points[2] < kind(tile * 0.25))
    channels = []
    for n in range(3):
        first, second = kind(look.floor.first[n]), kind(look.floor.second[n])
        channel = np.where(on_floor, first + (second - first) * mix, table[number, n])
        if look.wall is not None:
            channel = np.where(on_wall, kind(look.wall[n]), channel)
            channel = np.where(strip, kind(look.wall[n] * 0.55), channel)
        channels.append(channel)
    return channels


def _pattern(floor: Floor, points: Axes, distance: Array, tile: float) -> Array:
    """How much of the second colour the floor has at each point, fading in the distance."""
    kind = distance.dtype.type
    x, y = points[0] / kind(tile), points[1] / kind(tile)
    if floor.pattern == "tiles":
        odd = (np.floor(x) + np.floor(y)) % 2
    elif floor.pattern == "boards":
        board = np.floor(x * 3)
        odd = (_noise(board, np.floor(y / 4 + board * kind(0.37))) % 16) / kind(15)
    elif floor.pattern == "speckled":
        odd = (_noise(np.floor(x * 24), np.floor(y * 24)) % 16) / kind(15)
        tile = tile / 4
    else:
        odd = np.zeros_like(x)
    fade = np.clip(kind(1.5) - distance / kind(tile * 40), 0, 1)
    mix: Array = (odd.astype(kind) - kind(0.5)) * fade + kind(0.5)
    return mix


def _noise(column: Array, row: Array) -> NDArray[np.int64]:
    """A fixed whole number for each cell of the floor."""
    mixed = column.astype(np.int64) * 73856093 ^ row.astype(np.int64) * 19349663
    return np.asarray((mixed ^ (mixed >> 7)) & 1023)


def _glint(band: Band, look: SceneLook, light: Array) -> Array:
    """A highlight where a thing mirrors the light."""
    kind = band.distance.dtype.type
    halfway = [kind(look.suns[0][n]) - band.rays[n] for n in range(3)]
    length = np.sqrt(halfway[0] ** 2 + halfway[1] ** 2 + halfway[2] ** 2)
    along = sum(band.normal[n] * halfway[n] for n in range(3)) / np.maximum(length, kind(1e-6))
    shine = np.clip(along, 0, 1)
    for _ in range(5):
        shine = shine * shine
    glint: Array = np.where((band.met >= 0) & (light > 0.05), shine * kind(0.16), kind(0))
    return glint


def _sky(band: Band, look: SceneLook, channel: int) -> Array:
    kind = band.distance.dtype.type
    height = np.clip(band.rays[2] * kind(1.8), 0, 1)
    low, high = kind(look.sky[0][channel]), kind(look.sky[1][channel])
    colour: Array = low + (high - low) * height
    return colour
