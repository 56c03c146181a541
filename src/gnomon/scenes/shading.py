"""Colour and light of what was met: patterns of the floor, soft shadows, a highlight, the sky."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnomon.grouped import grouped
from gnomon.scenes.casting import FLOOR, SKY, WALL, Band, meet
from gnomon.scenes.looks import Colour, Floor, Look
from gnomon.scenes.shapes import Array, Axes
from gnomon.scenes.solids import Camera, Solid

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
    band: Band, solids: list[Solid], camera: Camera, look: Look, tile: float
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


def _sunlight(band: Band, points: Axes, solids: list[Solid], look: Look) -> Array:
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


def _colours(band: Band, points: Axes, solids: list[Solid], look: Look, tile: float) -> list[Array]:
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


def _glint(band: Band, look: Look, light: Array) -> Array:
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


def _sky(band: Band, look: Look, channel: int) -> Array:
    kind = band.distance.dtype.type
    height = np.clip(band.rays[2] * kind(1.8), 0, 1)
    low, high = kind(look.sky[0][channel]), kind(look.sky[1][channel])
    colour: Array = low + (high - low) * height
    return colour
