"""Where a viewer stands to see a scene: far enough for all of it, high enough to look over it."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin, tan

from gnomon.space.bodies import Body
from gnomon.space.scenes import Placed, Viewer

MARGIN = 0.88  # of the picture that the things may fill
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
    lower = [min(point[n] for point in points) for n in range(3)]
    upper = [max(point[n] for point in points) for n in range(3)]
    middle = [(low + high) / 2 for low, high in zip(lower, upper, strict=True)]

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
