"""What surrounds the things of a scene: floor, walls, sky and light, and surfaces made by noise.

All of it follows from the scene's look and its viewer, never from what the scene shows: both
pictures of a contrast have the same room. Nothing of it stands before a thing or has a name.
"""

import random
from functools import cache
from math import cos, pi, radians, sin, sqrt
from typing import NamedTuple

import numpy as np

from gnomon.files import package_data
from gnomon.scenes.scenes import Scene
from gnomon.scenes.solids import NOBODY, Array, Axes, Camera, Solid, solid
from gnomon.scenes.surfaces import Colour, Surface, colours_of, looks, material_of, noise
from gnomon.scenes.things import Thing, read_things

Plan = tuple[float, float]


class Wall(NamedTuple):
    """A wall: the way to it in plan, and how far from the origin it stands along that way."""

    heading: Plan
    offset: float


class Patch(NamedTuple):
    """Another surface on a part of the floor: a rug, or a path without ends."""

    surface: Surface
    middle: Plan
    along: Plan
    half: Plan
    round: bool


class Light(NamedTuple):
    """A light that is not a point: several directions to it, a colour, and what it does."""

    directions: tuple[Colour, ...]
    colour: Colour
    glints: bool  # things mirror it


class SceneLook(NamedTuple):
    """How a scene is lit and what surrounds it."""

    floor: Surface
    patch: Patch | None
    wall: Surface | None  # outdoors there is none
    walls: tuple[Wall, ...]
    ceiling: float  # its height; 0 if there is none
    sky: tuple[Colour, Colour]  # at the horizon and overhead
    clouds: float  # how much of the sky they cover
    lights: tuple[Light, ...]
    furniture: tuple[Solid, ...]  # windows, doors, shelves: against the wall, and no things


@cache
def furniture() -> dict[str, Thing]:
    """What hangs on walls or stands against them, by name; none of it is a thing of a scene."""
    return read_things(package_data("space/furniture.yaml"))


# The look that a seed stands for.

CEILING = 2.7  # metres
FLAT = 0.2  # metres: how far furniture may stand out from its wall
SLOT = 1.9  # metres of wall for each piece of furniture
MOST_SLOTS = 9
ROOM = 0.3  # behind all things, as a share of how far the viewer looks
BARE = 0.4  # share of the slots that stay empty
NARROWEST, WIDEST = 3.2, 4.2  # metres from the middle of a room of several cameras to its walls
STILL, STILL_NEAR = (0.0, 1.0), 5.0  # heading and distance that worlds of several cameras share


def look_of(scene: Scene, camera: Camera, wall: float, room: float = 1.0) -> SceneLook:
    """The look of a scene.

    wall   metres from the eye to the wall ahead
    room   metres between the wall and what stands nearest to it
    """
    rng = random.Random(f"look {scene.place} {scene.look}")
    indoors = scene.place == "indoors"
    table = looks()
    floor = rng.choice(table.indoors if indoors else table.outdoors)
    patch = _patch(scene, rng, table.rugs if indoors else table.paths)
    surface = rng.choice(table.walls)
    sky = rng.choice(table.skies)
    clouds = rng.uniform(0.25, 0.75)
    lights = _lights(scene, rng)
    if not indoors:
        return SceneLook(floor, patch, None, (), 0.0, sky, clouds, lights, ())
    if scene.still:
        walls, pieces = _room(scene, rng)
        return SceneLook(floor, patch, surface, walls, 0.0, sky, clouds, lights, pieces)
    walls = _walls(scene, camera, wall, rng)
    if room < ROOM * sqrt(_squares(scene)):
        walls = walls[:1]
    height = max(CEILING, round(0.4 * wall, 1))
    low = scene.viewer.eye[2] < height - 0.3
    pieces = _furniture(walls[0], scene, camera, wall, rng) if room >= FLAT else ()
    return SceneLook(
        floor, patch, surface, walls, height if low else 0.0, sky, clouds, lights, pieces
    )


def _patch(scene: Scene, rng: random.Random, choice: tuple[Surface, ...]) -> Patch | None:
    """A rug under what the viewer looks at, or a path that passes by."""
    surface = rng.choice(choice)
    (x, y), near = _heading(scene), sqrt(_squares(scene))
    seen = scene.viewer.at
    if scene.still:
        (x, y), near, seen = STILL, STILL_NEAR, (0.0, 0.0, 0.0)
    aside, ahead = rng.uniform(-0.3, 0.3) * near, rng.uniform(-0.2, 0.4) * near
    middle = (seen[0] + aside * y + ahead * x, seen[1] - aside * x + ahead * y)
    if rng.random() < 0.4:
        return None
    if scene.place == "indoors":
        half = (rng.uniform(0.35, 0.6) * near, rng.uniform(0.2, 0.35) * near)
        return Patch(surface, middle, (y, -x), half, rng.random() < 0.35)
    turn = radians(rng.uniform(-50, 50))
    along = (y * cos(turn) + x * sin(turn), -x * cos(turn) + y * sin(turn))
    return Patch(surface, middle, along, (1e5, rng.uniform(0.8, 1.6)), False)


def _walls(scene: Scene, camera: Camera, wall: float, rng: random.Random) -> tuple[Wall, ...]:
    """The wall ahead, and one at the side where no thing that is seen can stand."""
    x, y = _heading(scene)
    eye = scene.viewer.eye
    ahead = Wall((x, y), x * eye[0] + y * eye[1] + wall)
    side = rng.choice((-1, 1))
    if rng.random() < 0.4:
        return (ahead,)
    inside = (wall - ROOM * sqrt(_squares(scene))) * sqrt(1 - float(camera.forward[2]) ** 2)
    inside += eye[2] * max(0.0, -float(camera.forward[2]))  # as far ahead as any thing may be
    away = round(inside * camera.half_width, 9)
    right = (y * side, -x * side)
    return ahead, Wall(right, right[0] * eye[0] + right[1] * eye[1] + away)


def _room(scene: Scene, rng: random.Random) -> tuple[tuple[Wall, ...], tuple[Solid, ...]]:
    """Four walls around the origin, of which a camera outside does not see the near ones."""
    eye = scene.viewer.eye
    walls: list[Wall] = []
    pieces: list[Solid] = []
    for number, (x, y) in enumerate(((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))):
        wall = Wall((x, y), round(rng.uniform(NARROWEST, WIDEST), 3))
        if x * eye[0] + y * eye[1] < wall.offset:
            walls.append(wall)
            first = 10 * number  # every wall has slots of its own
            pieces += _hung(wall, scene.look, range(first, first + 3), -first - 1)
    return tuple(walls), tuple(pieces)


def _furniture(
    wall: Wall, scene: Scene, camera: Camera, distance: float, rng: random.Random
) -> tuple[Solid, ...]:
    """What hangs on the part of a wall that is seen, in slots that all pictures of it share."""
    x, y = wall.heading
    along = (y, -x)
    across = along[0] * scene.viewer.eye[0] + along[1] * scene.viewer.eye[1]
    reach = distance * camera.half_width
    first, last = int((across - reach) // SLOT), int((across + reach) // SLOT)
    middle = (first + last) // 2
    start = rng.random()
    first, last = max(first, middle - MOST_SLOTS // 2), min(last, middle + MOST_SLOTS // 2)
    return tuple(_hung(wall, scene.look, range(first, last + 1), start))


def _hung(wall: Wall, look: int, slots: range, start: float) -> list[Solid]:
    """Windows, doors and shelves along a wall."""
    x, y = wall.heading
    along = (y, -x)
    turn = np.round(np.array([(along[0], x, 0.0), (along[1], y, 0.0), (0.0, 0.0, 1.0)]), 12)
    found: list[Solid] = []
    for slot in slots:
        own = random.Random(f"slot {look} {slot}")
        name = own.choice(list(looks().hung))
        if own.random() < BARE:
            continue
        piece, height = furniture()[name], looks().hung[name]
        u = (slot + start) * SLOT
        depth = wall.offset - piece.size[1] / 2
        at = np.array((along[0] * u + x * depth, along[1] * u + y * depth, height))
        for part in piece.parts:
            material = material_of(piece.name, piece.kind, part.colour)
            found.append(solid(part, turn, at, NOBODY, part.colour, material))
    return found


def _heading(scene: Scene) -> Plan:
    x = scene.viewer.at[0] - scene.viewer.eye[0]
    y = scene.viewer.at[1] - scene.viewer.eye[1]
    length = sqrt(x * x + y * y)
    return round(x / length, 12), round(y / length, 12)


def _squares(scene: Scene) -> float:
    pairs = zip(scene.viewer.at, scene.viewer.eye, strict=True)
    return sum((to - start) * (to - start) for to, start in pairs)


# Lights: a large one behind the viewer's shoulder, a weaker one on the other side, and all the sky.

LIGHTS = 12  # directions to the first light; a multiple of the samples of a pixel
GOLDEN = pi * (3 - sqrt(5))


def _lights(scene: Scene, rng: random.Random) -> tuple[Light, ...]:
    side = rng.choice((-1, 1))
    warmth = rng.uniform(-0.03, 0.05)
    first = _direction(scene, side * rng.uniform(25, 65), rng.uniform(45, 62))
    second = _direction(scene, -side * rng.uniform(30, 80), rng.uniform(40, 60))
    if scene.place == "outdoors":
        sun = Light(_disc(first, 0.035), (1.06 + warmth, 1.0, 0.9 - warmth), True)
        return sun, Light(_dome(), (0.24, 0.27, 0.32), False)
    return (
        Light(_disc(first, 0.12), (0.96 + warmth, 0.91, 0.84 - warmth), True),
        Light(_disc(second, 0.2), (0.15, 0.16, 0.175), False),
        Light(_dome(), (0.22, 0.215, 0.21), False),
    )


def _direction(scene: Scene, aside: float, height: float) -> Colour:
    """The way to a light behind the viewer, so many degrees aside and above the horizon."""
    x, y = STILL if scene.still else _heading(scene)
    turn, rise = radians(aside), radians(height)
    back_x = -(x * cos(turn) - y * sin(turn)) * cos(rise)
    back_y = -(x * sin(turn) + y * cos(turn)) * cos(rise)
    return back_x, back_y, sin(rise)


def _disc(middle: Colour, radius: float) -> tuple[Colour, ...]:
    """Directions around the middle one, on a disc."""
    x, y, z = middle
    flat = sqrt(x * x + y * y)
    side = (y / flat, -x / flat, 0.0)
    up = (-x * z / flat, -y * z / flat, flat)
    found = []
    for number in range(LIGHTS):
        away = radius * sqrt((number + 0.5) / LIGHTS)
        across, along = away * cos(GOLDEN * number), away * sin(GOLDEN * number)
        found.append(_rounded([middle[n] + across * side[n] + along * up[n] for n in range(3)]))
    return tuple(found)


@cache
def _dome() -> tuple[Colour, ...]:
    """Directions all over the sky, more of them overhead: what they do not reach is dark."""
    found = []
    for number in range(LIGHTS):
        height = sqrt(0.04 + 0.92 * (number + 0.5) / LIGHTS)
        away = sqrt(1 - height * height)
        turn = GOLDEN * number
        found.append(_rounded([away * cos(turn), away * sin(turn), height]))
    return tuple(found)


def _rounded(point: list[float]) -> Colour:
    length = sqrt(sum(value * value for value in point))
    x, y, z = (round(value / length, 9) for value in point)
    return x, y, z


def floor_colours(look: SceneLook, points: Axes, footprint: Array) -> list[Array]:
    """The floor, with what lies on it."""
    x, y = points[0], points[1]
    found = colours_of(look.floor, x, y, footprint)
    if look.patch is not None:
        _lay(look.patch, found, x, y, footprint)
    kind = x.dtype.type
    dark = np.ones_like(x)
    for wall in look.walls:
        away = kind(wall.offset) - x * kind(wall.heading[0]) - y * kind(wall.heading[1])
        dark *= _corner(away)
    return [channel * dark for channel in found]


def _corner(away: Array) -> Array:
    """How much light reaches a place so many metres from where two surfaces meet."""
    kind = away.dtype.type
    light: Array = kind(1) - kind(0.3) / (kind(1) + np.maximum(away, 0) * kind(CORNER))
    return light


def _lay(patch: Patch, found: list[Array], x: Array, y: Array, footprint: Array) -> None:
    """Draw a rug or a path over the colours of the floor."""
    kind = x.dtype.type
    across, along = x - kind(patch.middle[0]), y - kind(patch.middle[1])
    u = across * kind(patch.along[0]) + along * kind(patch.along[1])
    v = across * kind(-patch.along[1]) + along * kind(patch.along[0])
    edge = kind(0)
    if patch.half[0] > 1e3:  # a path has no straight border
        edge = (noise(u * kind(3), v * kind(0)) - kind(0.5)) * kind(0.12)
    a, b = np.abs(u) / kind(patch.half[0]), (np.abs(v) + edge) / kind(patch.half[1])
    far = np.sqrt(a * a + b * b) if patch.round else np.maximum(a, b)
    inside = far < 1
    border = inside & (far > kind(0.86)) & (far < kind(0.93)) & (patch.half[0] < 1e3)
    own = colours_of(patch.surface, u, v, footprint)
    for n in range(3):
        colour = np.where(border, kind(patch.surface.second[n]) * kind(0.7), own[n])
        found[n] = np.where(inside, colour, found[n])


def wall_colours(look: SceneLook, wall: Wall, points: Axes, footprint: Array) -> list[Array]:
    """A wall with its skirting board."""
    assert look.wall is not None
    kind = points[0].dtype.type
    u = points[0] * kind(wall.heading[1]) - points[1] * kind(wall.heading[0])
    found = colours_of(look.wall, u, points[2], footprint)
    skirting = points[2] < kind(SKIRTING)
    line = skirting & (points[2] > kind(SKIRTING - 0.012))
    dark = _corner(points[2])
    for other in look.walls:
        if other is not wall:
            x, y = other.heading
            dark *= _corner(kind(other.offset) - points[0] * kind(x) - points[1] * kind(y))
    if look.ceiling:
        dark *= _corner(kind(look.ceiling) - points[2])
    for n in range(3):
        board = np.where(line, kind(0.45), kind(0.74))
        found[n] = np.where(skirting, board, found[n]) * dark
    return found


SKIRTING = 0.09  # metres
CORNER = 5.0  # per metre: how soon light comes back beside a corner
HAZE = 220.0  # metres at which half of what is seen is haze


def sky_colours(look: SceneLook, rays: Axes) -> list[Array]:
    """The sky with clouds, and hills along the horizon."""
    kind = rays[0].dtype.type
    flat = np.sqrt(np.maximum(rays[0] * rays[0] + rays[1] * rays[1], kind(1e-6)))
    height = np.clip(rays[2] * kind(1.8), 0, 1)
    over = np.maximum(rays[2], kind(0.03))
    u, v = rays[0] / over, rays[1] / over
    cover = noise(u * kind(0.7), v * kind(0.7)) * kind(0.55)
    cover = cover + noise(u * kind(1.7) + 9, v * kind(1.7)) * kind(0.3)
    cover = cover + noise(u * kind(4.1), v * kind(4.1) + 5) * kind(0.15)
    cover = np.clip((cover - kind(1 - look.clouds)) * kind(3.5), 0, 1)
    cover = cover * np.clip(rays[2] * kind(9), 0, 1) * kind(0.8)
    ridges = []
    for number, (low, rise, rough) in enumerate(((0.012, 0.07, 4.0), (0.0, 0.045, 7.0))):
        x, y = rays[0] / flat * kind(rough), rays[1] / flat * kind(rough)
        top = noise(x + 31 * number, y) * kind(0.7) + noise(x * 3, y * 3) * kind(0.3)
        ridges.append(rays[2] / flat < kind(low) + kind(rise) * top)
    found = []
    for n in range(3):
        low, high = kind(look.sky[0][n]), kind(look.sky[1][n])
        colour = low + (high - low) * height
        colour = colour + (kind(0.95) - colour) * cover
        for ridge, near in zip(ridges, (0.55, 0.3), strict=True):
            hill = kind(HILLS[n] * (1 - near) + look.sky[0][n] * near)
            colour = np.where(ridge, hill, colour)
        found.append(colour)
    return found


HILLS = (0.1, 0.2, 0.11)
