"""What a seed varies in a picture: floor, wall or sky, and the light."""

from __future__ import annotations

import random
from math import cos, pi, radians, sin, sqrt
from typing import Literal, NamedTuple

from gnomon.scenes.scenes import Scene

Colour = tuple[float, float, float]


class Floor(NamedTuple):
    """A pattern of two colours."""

    pattern: Literal["tiles", "boards", "speckled", "plain"]
    first: Colour
    second: Colour


class Look(NamedTuple):
    """How a scene is lit and what surrounds it."""

    floor: Floor
    wall: Colour | None  # outdoors there is none
    sky: tuple[Colour, Colour]  # at the horizon and overhead
    suns: tuple[Colour, ...]  # directions to the light, spread a little: shadows are soft
    sunlight: Colour
    shade: Colour


INDOORS = (
    Floor("tiles", (0.52, 0.48, 0.42), (0.44, 0.40, 0.35)),
    Floor("boards", (0.46, 0.30, 0.17), (0.39, 0.25, 0.14)),
    Floor("tiles", (0.44, 0.46, 0.48), (0.37, 0.39, 0.41)),
    Floor("boards", (0.55, 0.44, 0.31), (0.48, 0.38, 0.26)),
    Floor("speckled", (0.30, 0.36, 0.40), (0.27, 0.33, 0.37)),
    Floor("plain", (0.50, 0.49, 0.46), (0.50, 0.49, 0.46)),
)
OUTDOORS = (
    Floor("speckled", (0.20, 0.33, 0.09), (0.17, 0.29, 0.08)),
    Floor("speckled", (0.30, 0.30, 0.31), (0.27, 0.27, 0.28)),
    Floor("tiles", (0.46, 0.44, 0.40), (0.41, 0.39, 0.36)),
    Floor("speckled", (0.52, 0.43, 0.28), (0.48, 0.39, 0.25)),
)
WALLS = (
    (0.72, 0.70, 0.64),
    (0.56, 0.64, 0.66),
    (0.70, 0.62, 0.50),
    (0.62, 0.66, 0.56),
    (0.66, 0.60, 0.62),
)
SKIES = (
    ((0.66, 0.76, 0.88), (0.22, 0.42, 0.74)),
    ((0.74, 0.75, 0.76), (0.50, 0.55, 0.62)),
    ((0.84, 0.72, 0.58), (0.30, 0.44, 0.68)),
)
LIGHTS = 12  # directions to the light; a multiple of the four samples of a pixel
SPREAD = 0.07  # radius of the light, as a share of its distance
GOLDEN = pi * (3 - sqrt(5))


def look_of(scene: Scene) -> Look:
    """The look that a scene's seed stands for."""
    rng = random.Random(f"look {scene.place} {scene.look}")
    indoors = scene.place == "indoors"
    floor = rng.choice(INDOORS if indoors else OUTDOORS)
    wall = rng.choice(WALLS)
    sky = rng.choice(SKIES)
    warmth = rng.uniform(-0.03, 0.04)
    sunlight = (0.88 + warmth, 0.85, 0.81 - warmth)
    shade = (0.31, 0.32, 0.34)
    suns = _suns(_sun(scene, rng))
    return Look(floor, wall if indoors else None, sky, suns, sunlight, shade)


def _sun(scene: Scene, rng: random.Random) -> Colour:
    """The direction to the light: from behind the viewer's left or right shoulder, high up."""
    x = scene.viewer.at[0] - scene.viewer.eye[0]
    y = scene.viewer.at[1] - scene.viewer.eye[1]
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
