"""Where rays meet the primitive shapes, each within the cube from -1 to 1 on all three axes.

Only + - * / and the square root, so that the same pixels come out on every machine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # of single or double precision, or of truths
Axes = tuple[Array, Array, Array]  # x, y and z of many points or directions


class Hit(NamedTuple):
    """How far along each ray a shape is met (infinite if not), and the normals there."""

    distance: Array
    normal: Axes


def intersect(shape: str, narrow: float, origin: Axes, direction: Axes, nearest: float) -> Hit:
    """The first meeting of each ray with a shape that is farther off than `nearest`."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if shape == "box":
            return _box(origin, direction, nearest)
        if shape in PLANES:
            return _convex(PLANES[shape], origin, direction, nearest)
        if shape == "ellipsoid":
            return _ball(origin, direction, nearest)
        if shape == "bowl":
            return _bowl(origin, direction, nearest)
        if shape == "cone":
            return _round(origin, direction, nearest, narrow, capped=True)
        return _round(origin, direction, nearest, 1.0, capped=shape == "cylinder")


# The planes of a shape as (x, y, z, w): a point is inside where x px + y py + z pz <= w.
Plane = tuple[float, float, float, float]
SLANT = 0.7071067811865476
PLANES: dict[str, tuple[Plane, ...]] = {
    "roof": (
        (1, 0, 0, 1),
        (-1, 0, 0, 1),
        (0, 0, -1, 1),
        (0, 2, 1, 1),
        (0, -2, 1, 1),
    ),
    "octagon": (
        (0, 0, 1, 1),
        (0, 0, -1, 1),
        (1, 0, 0, 1),
        (-1, 0, 0, 1),
        (0, 1, 0, 1),
        (0, -1, 0, 1),
        (SLANT, SLANT, 0, 1),
        (SLANT, -SLANT, 0, 1),
        (-SLANT, SLANT, 0, 1),
        (-SLANT, -SLANT, 0, 1),
    ),
}


def _box(origin: Axes, direction: Axes, nearest: float) -> Hit:
    enter, leave = _slab(origin[0], direction[0])
    axis = np.zeros(enter.shape, dtype=np.int8)
    for number in (1, 2):
        near, far = _slab(origin[number], direction[number])
        axis = np.where(near > enter, np.int8(number), axis)
        enter, leave = np.maximum(enter, near), np.minimum(leave, far)
    distance = _kept(enter, (leave >= enter) & (enter > nearest))
    normal = [np.where(axis == n, -np.sign(direction[n]), 0) for n in range(3)]
    return Hit(distance, (normal[0], normal[1], normal[2]))


def _slab(origin: Array, direction: Array) -> tuple[Array, Array]:
    """Where rays enter and leave the room between -1 and 1 on one axis."""
    first, second = (-1 - origin) / direction, (1 - origin) / direction
    return np.minimum(first, second), np.maximum(first, second)


def _convex(planes: tuple[Plane, ...], origin: Axes, direction: Axes, nearest: float) -> Hit:
    kind = direction[0].dtype.type
    enter: Array = np.full(direction[0].shape, -np.inf, dtype=kind)
    leave: Array = np.full(direction[0].shape, np.inf, dtype=kind)
    normal = [np.zeros(enter.shape, dtype=kind) for _ in range(3)]
    for plane in planes:
        x, y, z, w = (kind(value) for value in plane)
        speed = x * direction[0] + y * direction[1] + z * direction[2]
        room = w - (x * origin[0] + y * origin[1] + z * origin[2])
        distance = room / speed
        enters = (speed < 0) & (distance > enter)
        enter = np.where(enters, distance, enter)
        leave = np.where((speed > 0) & (distance < leave), distance, leave)
        for number, value in enumerate((x, y, z)):
            normal[number] = np.where(enters, value, normal[number])
        outside = (speed == 0) & (room < 0)
        leave = np.where(outside, -np.inf, leave)
    distance = _kept(enter, (leave >= enter) & (enter > nearest))
    return Hit(distance, (normal[0], normal[1], normal[2]))


def _ball(origin: Axes, direction: Axes, nearest: float) -> Hit:
    first, second, met = _roots(origin, direction)
    distance = _kept(second, met & (second > nearest))
    distance = np.where(met & (first > nearest), first, distance)
    return Hit(distance, _points(origin, direction, distance))


def _bowl(origin: Axes, direction: Axes, nearest: float) -> Hit:
    """The lower half of a ball, hollow, stretched over the whole cube."""
    origin = (origin[0], origin[1], (origin[2] - 1) / 2)
    direction = (direction[0], direction[1], direction[2] / 2)
    first, second, met = _roots(origin, direction)
    distance = _kept(second, met & (second > nearest) & (origin[2] + direction[2] * second <= 0))
    hit_first = met & (first > nearest) & (origin[2] + direction[2] * first <= 0)
    distance = np.where(hit_first, first, distance)
    x, y, z = _points(origin, direction, distance)
    return Hit(distance, (x, y, z / 2))


def _roots(origin: Axes, direction: Axes) -> tuple[Array, Array, Array]:
    """Where rays enter and leave the unit ball, and whether they do."""
    square = direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2]
    middle = origin[0] * direction[0] + origin[1] * direction[1] + origin[2] * direction[2]
    rest = origin[0] * origin[0] + origin[1] * origin[1] + origin[2] * origin[2] - 1
    under = middle * middle - square * rest
    root = np.sqrt(np.maximum(under, 0))
    return (-middle - root) / square, (-middle + root) / square, under > 0


def _round(origin: Axes, direction: Axes, nearest: float, narrow: float, *, capped: bool) -> Hit:
    """A cylinder, cone or open tube; its radius is 1 at the bottom and `narrow` at the top."""
    kind = direction[0].dtype.type
    slope, middle = kind((1 - narrow) / 2), kind((1 + narrow) / 2)  # radius: middle - slope z
    radius = middle - slope * origin[2]
    square = direction[0] * direction[0] + direction[1] * direction[1]
    square = square - slope * slope * direction[2] * direction[2]
    square = np.where(np.abs(square) < 1e-12, kind(1e-12), square)
    half = origin[0] * direction[0] + origin[1] * direction[1] + slope * radius * direction[2]
    rest = origin[0] * origin[0] + origin[1] * origin[1] - radius * radius
    under = half * half - square * rest
    root = np.sqrt(np.maximum(under, 0))

    distance: Array = np.full(np.shape(under), np.inf, dtype=kind)
    for candidate in ((-half - root) / square, (-half + root) / square):
        height = origin[2] + direction[2] * candidate
        good = (under > 0) & (candidate > nearest) & (candidate < distance)
        good &= (np.abs(height) <= 1) & (middle - slope * height >= 0)
        distance = np.where(good, candidate, distance)
    x, y, height = _points(origin, direction, distance)
    upward = slope * np.sqrt(x * x + y * y)
    if not capped:
        return Hit(distance, (x, y, upward))

    for end in (-1, 1):
        reach = middle - slope * end
        candidate = (end - origin[2]) / direction[2]
        cap_x = origin[0] + direction[0] * candidate
        cap_y = origin[1] + direction[1] * candidate
        good = (candidate > nearest) & (candidate < distance)
        good &= cap_x * cap_x + cap_y * cap_y <= reach * reach
        distance = np.where(good, candidate, distance)
        x, y = np.where(good, kind(0), x), np.where(good, kind(0), y)
        upward = np.where(good, kind(end), upward)
    return Hit(distance, (x, y, upward))


def _points(origin: Axes, direction: Axes, distance: Array) -> Axes:
    """The points at a distance along rays; the origin where there is none."""
    along = np.where(np.isfinite(distance), distance, 0)
    return (
        origin[0] + direction[0] * along,
        origin[1] + direction[1] * along,
        origin[2] + direction[2] * along,
    )


def _kept(distance: Array, where: Array) -> Array:
    """The distances where a condition holds, infinite elsewhere."""
    return np.where(where, distance, distance.dtype.type(np.inf))
