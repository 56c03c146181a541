"""Pixels from solids: rays that are cast, light and shadow, surfaces and colours."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.grouped import grouped
from gnomon.scenes.solids import Array, Axes, Camera, Hit, Solid, intersect, project
from gnomon.scenes.surfaces import Colour, Surface, mixed_by
from gnomon.scenes.surroundings import (
    HAZE,
    Light,
    SceneLook,
    floor_colours,
    sky_colours,
    wall_colours,
)

# Rays from the eye through a band of pixels, and what each of them meets first.


FLOOR, SKY, CEILING, WALL = -1, -2, -3, -4  # met where no primitive is; further walls come after
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
    met: NDArray[np.int16]  # number of the primitive, or one of the surroundings, below 0
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
    look: SceneLook | None = None,
) -> Band:
    """What the rays of a band meet first; a look has walls and a ceiling."""
    kind = rays[0].dtype.type
    shape = rays[0].shape
    distance, met, normal = _surroundings(camera, rays, look)
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
    camera: Camera, rays: Axes, look: SceneLook | None
) -> tuple[Array, NDArray[np.int16], tuple[Array, Array, Array]]:
    """Floor, walls, ceiling and sky: distance, what is met, and normals."""
    kind = rays[0].dtype.type
    downward = np.minimum(rays[2], kind(-1e-6))
    distance = kind(-camera.eye[2]) / downward
    sees_floor = (rays[2] < -1e-6) & (distance < HORIZON)
    distance = np.where(sees_floor, distance, kind(np.inf))
    met = np.where(sees_floor, FLOOR, SKY).astype(np.int16)
    normal = [np.zeros_like(distance), np.zeros_like(distance), np.ones_like(distance)]
    if look is None:
        return distance, met, (normal[0], normal[1], normal[2])

    planes = []
    for number, wall in enumerate(look.walls):
        x, y = wall.heading
        room = wall.offset - x * camera.eye[0] - y * camera.eye[1]
        planes.append((WALL - number, (x, y, 0.0), room))
    if look.ceiling:
        planes.append((CEILING, (0.0, 0.0, 1.0), look.ceiling - camera.eye[2]))
    for number, way, room in planes:
        speed = sum(rays[n] * kind(way[n]) for n in range(3))
        to_plane = kind(room) / np.maximum(speed, kind(1e-6))
        nearer = to_plane < distance
        distance = np.where(nearer, to_plane, distance)
        met = np.where(nearer, np.int16(number), met)
        for axis in range(3):
            normal[axis] = np.where(nearer, kind(-way[axis]), normal[axis])
    return distance, met, (normal[0], normal[1], normal[2])


# Colour and light of what was met: surfaces, soft shadows, a highlight, the sky.


SAMPLES = 2  # samples of a pixel in each direction
LIFT = 3e-4  # of the distance, by which a point is lifted off its surface before it looks for light
FARTHEST = 1e5  # metres, at which there is a surface
LEVELS = 4096
CEILING_COLOUR = 0.8
BOUNCE = 0.1  # light that comes from everywhere, most of it from below


def _gamma() -> NDArray[np.uint8]:
    """From linear light to even bytes, which files keep in half the room, by a table."""
    found = []
    for level in range(LEVELS):
        found.append(int((level / (LEVELS - 1)) ** (1 / 2.2) * 127 + 0.5) * 2)
    return np.array(found, dtype=np.uint8)


GAMMA = _gamma()


Extent = list[tuple[float, float]]


class Beam(NamedTuple):
    """One direction to a light, and how far each primitive and each thing reaches across it."""

    way: Colour
    frame: tuple[Colour, Colour, Colour]
    things: list[tuple[Extent, list[tuple[Solid, Extent]]]]


class Shadows(NamedTuple):
    """What may stand in the way to a light, for each of its directions."""

    light: Light
    beams: list[Beam]


def shadows_of(solids: list[Solid], look: SceneLook) -> list[Shadows]:
    """All lights of a scene with all that casts shadows."""
    things = list(grouped(solids, lambda solid: solid.owner).values())
    found = []
    for light in look.lights:
        beams = []
        for way in light.directions:
            frame = _light_frame(way)
            reaches = []
            for parts in things:
                own = [(part, _extent(part.corners, frame)) for part in parts]
                whole = _extent(np.concatenate([part.corners for part in parts]), frame)
                reaches.append((whole, own))
            beams.append(Beam(way, frame, reaches))
        found.append(Shadows(light, beams))
    return found


def shade(
    band: Band, solids: list[Solid], camera: Camera, look: SceneLook, shadows: list[Shadows]
) -> NDArray[np.uint8]:
    """The pixels of a band whose samples are `SAMPLES` times as dense."""
    kind = band.distance.dtype.type
    points = _points(band, camera)
    colours = _colours(band, points, solids, camera, look)
    bright = band.met == SKY  # what shines by itself
    for number, solid in enumerate(solids):
        if solid.material is not None and solid.material.glows:
            bright |= band.met == number
    ambient = kind(BOUNCE) * (kind(0.8) - kind(0.2) * band.normal[2])
    lights = []
    glint: Array = np.zeros_like(band.distance)
    for shadow in shadows:
        lit = _light(band, points, shadow.beams)
        lights.append(lit)
        if shadow.light.glints:
            glint = _glint(band, shadow.light, lit)
    haze = kind(0)
    if look.wall is None:
        far = np.where(band.met == FLOOR, band.distance, kind(0))
        haze = far / (far + kind(HAZE))

    channels = []
    for number in range(3):
        total = ambient
        for lit, shadow in zip(lights, shadows, strict=True):
            total = total + kind(shadow.light.colour[number]) * lit
        seen = colours[number] * total + glint
        seen = seen + (kind(look.sky[0][number]) - seen) * haze
        seen = np.where(bright, colours[number], seen)
        channels.append(_averaged(np.clip(seen, 0, 1)))
    levels = np.stack(channels, axis=-1) * kind(LEVELS - 1) + kind(0.5)
    pixels: NDArray[np.uint8] = GAMMA[np.clip(levels.astype(np.int32), 0, LEVELS - 1)]
    return pixels


def _points(band: Band, camera: Camera) -> Axes:
    kind = band.distance.dtype.type
    along = np.where(np.isfinite(band.distance), np.minimum(band.distance, kind(FARTHEST)), kind(0))
    x, y, z = (kind(camera.eye[n]) + band.rays[n] * along for n in range(3))
    return x, y, z


def _averaged(samples: Array) -> Array:
    """The mean of the samples of each pixel."""
    total: Array = np.zeros_like(samples[0::SAMPLES, 0::SAMPLES])
    for row in range(SAMPLES):
        for column in range(SAMPLES):
            total = total + samples[row::SAMPLES, column::SAMPLES]
    total /= samples.dtype.type(SAMPLES * SAMPLES)
    return total


def _light(band: Band, points: Axes, beams: list[Beam]) -> Array:
    """How much light each sample gets; the samples of a pixel share out the directions to it."""
    kind = band.distance.dtype.type
    light = np.zeros_like(band.distance)
    upward = sum(beam.way[2] for beam in beams) / len(beams)  # what open ground gets of a dome
    share = kind(len(beams) / SAMPLES**2) * (kind(upward) if upward < 0.7 else kind(1))
    lift = np.where(band.met == SKY, kind(0), band.distance * kind(LIFT))
    lifted = [points[n] + band.normal[n] * lift for n in range(3)]
    for number, beam in enumerate(beams):
        phase = divmod(number % SAMPLES**2, SAMPLES)
        here = (slice(phase[0], None, SAMPLES), slice(phase[1], None, SAMPLES))
        start = [lifted[n][here].ravel() for n in range(3)]
        normal = [band.normal[n][here].ravel() for n in range(3)]
        slant = sum(normal[n] * kind(beam.way[n]) for n in range(3))
        slant = np.where(band.met[here].ravel() == SKY, kind(0), np.maximum(slant, 0))
        lit = _unshadowed((start[0], start[1], start[2]), slant > 0, beam)
        light[here] += (slant * lit / share).reshape(light[here].shape)
    return light


def _unshadowed(points: Axes, lit: NDArray[np.bool_], beam: Beam) -> NDArray[np.bool_]:
    """Which points see the light; only those in the shadow of a box look at what is in it."""
    kind = points[0].dtype.type
    places = [_along(points, axis) for axis in beam.frame]
    rays = [np.full(1, value, dtype=kind) for value in beam.way]
    for whole, parts in beam.things:
        candidates = np.flatnonzero(lit & _shadowed_by(places, whole))
        if not len(candidates):
            continue
        near = [place[candidates] for place in places]
        for part, extent in parts:
            chosen = candidates[_shadowed_by(near, extent)]
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


def _light_frame(way: Colour) -> tuple[Colour, Colour, Colour]:
    """Two directions across the light, and the one towards it."""
    x, y, z = way
    flat = max(float(np.sqrt(x * x + y * y)), 1e-9)
    return (y / flat, -x / flat, 0.0), (-x * z / flat, -y * z / flat, flat), way


def _extent(corners: Array, frame: tuple[Colour, ...]) -> Extent:
    found = []
    for axis in frame:
        along = corners[:, 0] * axis[0] + corners[:, 1] * axis[1] + corners[:, 2] * axis[2]
        found.append((float(along.min()), float(along.max())))
    return found


def _shadowed_by(places: list[Array], box: Extent) -> NDArray[np.bool_]:
    """Which points may lie in the shadow of a box."""
    inside = (places[0] > box[0][0]) & (places[0] < box[0][1])
    inside &= (places[1] > box[1][0]) & (places[1] < box[1][1])
    return np.asarray(inside & (places[2] < box[2][1]))


def _colours(
    band: Band, points: Axes, solids: list[Solid], camera: Camera, look: SceneLook
) -> list[Array]:
    """The colour of what was met, before any light falls on it."""
    kind = band.distance.dtype.type
    table = np.array([solid.colour for solid in solids] or [(0, 0, 0)], dtype=kind)
    met = band.met.ravel()
    number = np.maximum(met, 0)
    flat = _Samples(met, [axis.ravel() for axis in points], band.distance.ravel())
    sample = kind(2 * camera.half_width / band.met.shape[1])  # its width, a metre away
    bright = _textures(flat, solids, sample)
    channels = [table[number, n] * bright for n in range(3)]
    for code in (FLOOR, SKY, CEILING, *(WALL - n for n in range(len(look.walls)))):
        here = np.flatnonzero(met == code)
        if not len(here):
            continue
        own = (flat.points[0][here], flat.points[1][here], flat.points[2][here])
        rays = (band.rays[0].ravel()[here], band.rays[1].ravel()[here], band.rays[2].ravel()[here])
        footprint = flat.distance[here] * sample
        if code == SKY:
            colours = sky_colours(look, rays)
        elif code == FLOOR:
            slant = np.maximum(-rays[2], kind(0.02))
            colours = floor_colours(look, own, footprint / np.sqrt(slant))
        elif code == CEILING:
            colours = [np.full(len(here), CEILING_COLOUR, dtype=kind)] * 3
        else:
            colours = wall_colours(look, look.walls[WALL - code], own, footprint)
        for n in range(3):
            channels[n][here] = colours[n]
    return [channel.reshape(band.met.shape) for channel in channels]


class _Samples(NamedTuple):
    """What samples show, where that is, and how far off, in one row."""

    met: NDArray[np.int16]
    points: list[Array]
    distance: Array


def _textures(samples: _Samples, solids: list[Solid], sample: np.floating) -> Array:
    """How bright each sample is by the material of the part that it shows."""
    kind = samples.distance.dtype.type
    bright = np.ones_like(samples.distance)
    belongs: Array = np.zeros(len(solids) + 1, dtype=bool)  # the last one is for what is no solid
    centres = np.array([solid.centre for solid in solids], dtype=kind)
    ways = np.array([solid.texture for solid in solids], dtype=kind)
    for material, members in _by_material(solids):
        belongs[:] = False
        belongs[members] = True
        here = np.flatnonzero(belongs[np.maximum(samples.met, -1)])
        if not len(here):
            continue
        number = samples.met[here]
        offset = [samples.points[n][here] - centres[number, n] for n in range(3)]
        u, v = (sum(ways[number, row, n] * offset[n] for n in range(3)) for row in range(2))
        mix, joints = mixed_by(material, u + number, v, samples.distance[here] * sample)
        bright[here] = (kind(1) + (mix - kind(0.5)) * 2 * kind(CONTRAST)) * joints
    return bright


CONTRAST = 0.5


def _by_material(solids: list[Solid]) -> list[tuple[Surface, list[int]]]:
    found: dict[int, tuple[Surface, list[int]]] = {}
    for number, solid in enumerate(solids):
        if solid.material is not None:
            found.setdefault(id(solid.material), (solid.material, []))[1].append(number)
    return list(found.values())


def _glint(band: Band, light: Light, lit: Array) -> Array:
    """A highlight where a thing mirrors the light."""
    kind = band.distance.dtype.type
    halfway = [kind(light.directions[0][n]) - band.rays[n] for n in range(3)]
    length = np.sqrt(halfway[0] ** 2 + halfway[1] ** 2 + halfway[2] ** 2)
    along = sum(band.normal[n] * halfway[n] for n in range(3)) / np.maximum(length, kind(1e-6))
    shine = np.clip(along, 0, 1)
    for _ in range(5):
        shine = shine * shine
    glint: Array = np.where((band.met >= 0) & (lit > 0.05), shine * kind(0.16), kind(0))
    return glint
