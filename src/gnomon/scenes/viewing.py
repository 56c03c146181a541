"""Where a viewer stands to see a scene: far enough for all of it, high enough to look over it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import cos, radians, sin, tan
from typing import Literal

from gnomon.scenes.bodies import Body
from gnomon.scenes.pictures import survey
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.things import thing_named

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
    points = _corners(things)
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


def _corners(things: Sequence[Placed]) -> list[tuple[float, float, float]]:
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
        if _is_seen(scene, hidden, least):
            return scene
    return None


def _is_seen(scene: Scene, hidden: float, least: int) -> bool:
    """Whether every thing is in the picture, and not too much of it hidden."""
    seen = survey(scene, SURVEY_SIZE)
    for number, placed in enumerate(scene.things, start=1):
        pixels = int((seen.mask == number).sum())
        if pixels < least or seen.visible[placed.id] < 1 - hidden:
            return False
    return True
