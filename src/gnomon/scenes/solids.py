"""Solids: shapes that rays meet, and the things of a scene made of them."""

from __future__ import annotations

from functools import cache
from math import cos, radians, sin, sqrt, tan
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.files import package_data, read_yaml
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.surfaces import Surface, material_of
from gnomon.scenes.things import ThingPart, Vector, palette, thing_named

if TYPE_CHECKING:
    from gnomon.scenes.meshes import Mesh

# Where rays meet the primitive shapes, each within the cube from -1 to 1 on all three axes.
#
# Only + - * / and the square root, so that the same pixels come out on every machine.


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
        if shape in planes():
            return _convex(planes()[shape], origin, direction, nearest)
        if shape == "ellipsoid":
            return _ball(origin, direction, nearest)
        if shape == "bowl":
            return _bowl(origin, direction, nearest)
        if shape == "cone":
            return _round(origin, direction, nearest, narrow, capped=True)
        return _round(origin, direction, nearest, 1.0, capped=shape == "cylinder")


Plane = tuple[float, float, float, float]
SLANT = 0.7071067811865476


@cache
def planes() -> dict[str, tuple[Plane, ...]]:
    """The planes of convex shapes that are no boxes."""
    content = read_yaml(package_data("space/planes.yaml"))
    return msgspec.convert(content, dict[str, tuple[Plane, ...]])


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


CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
THINNEST_ROPE, THICKEST_ROPE = 0.004, 0.03  # metres, its radius
ROPE = 0.01  # its radius, as a share of its length
DIGITS = 12  # after which a coordinate is rounded, so that libraries' last bits do not matter


NOBODY = -1  # owner of what is no thing


class Solid(NamedTuple):
    """One primitive in its place."""

    owner: int  # number of its thing in the scene, from 1; 0 for a rope, NOBODY for furniture
    shape: str
    narrow: float
    centre: Vector
    inverse: Vector  # from the scene to the unit shape
    colour: tuple[float, float, float]
    corners: Vector  # of the turned box around it
    texture: Vector  # two directions in the scene, along which its material runs, per metre
    material: Surface | None = None
    mesh: Mesh | None = None  # in place of the shape


class Camera(NamedTuple):
    """Where the eye is, three directions, and the size of the picture plane at distance 1."""

    eye: Vector
    right: Vector
    up: Vector
    forward: Vector
    half_width: float


def solids_of(scene: Scene, *, meshes: bool = False) -> list[Solid]:
    """All primitives of a scene, ropes last; with `meshes`, those of things that have one."""
    found = []
    for number, placed in enumerate(scene.things, start=1):
        finer = mesh_solids(placed, number) if meshes else []
        found += finer or _solids_of_thing(placed, number, scene.look)
    for first, second in scene.links:
        found.append(_rope(scene.placed(first), scene.placed(second)))
    return found


def _solids_of_thing(placed: Placed, owner: int, look: int) -> list[Solid]:
    thing = thing_named(placed.thing)
    main = thing.parts[0].colour
    turn = _turned(placed.turn) * placed.scale
    found = []
    for part in thing.parts_of_look(look + len(thing.name)):
        if part.name in placed.lacks:
            continue
        colour = part.colour
        if placed.colour and colour == main:
            colour = placed.colour
        material = material_of(thing.name, thing.kind, colour)
        at = np.array(placed.at, dtype=float)
        found.append(solid(part, turn, at, owner, colour, material))
    return found


def mesh_solids(placed: Placed, owner: int) -> list[Solid]:
    """A thing as a mesh; empty if there is none, or if what is seen would not be what is true.

    A mesh has no part that could be missing, and its seat or hollow may be elsewhere than that of
    the thing: whatever may carry something otherwise than with its top keeps its primitives, in
    every scene, so that its look says nothing.
    """
    thing = thing_named(placed.thing)
    carries_low = thing.cavity is not None or (
        thing.top is not None and thing.top.height < thing.size[2] - 0.01
    )
    if placed.lacks or carries_low:
        return []
    from gnomon.scenes.meshes import mesh_of

    whole = ThingPart(
        "box",
        np.array((0, 0, thing.size[2] / 2)),
        np.diag(np.array(thing.size) / 2),
        thing.parts[0].colour,
        "",
        0.0,
    )
    turn = _turned(placed.turn) * placed.scale
    box = solid(whole, turn, np.array(placed.at, dtype=float), owner, thing.parts[0].colour)
    return [box._replace(mesh=mesh, colour=mesh.colour) for mesh in mesh_of(placed.thing)]


def solid(
    part: ThingPart,
    turn: Vector,
    at: Vector,
    owner: int,
    colour: str,
    material: Surface | None = None,
) -> Solid:
    """A part of a thing, turned and moved to its place."""
    centre = at + times(turn, part.centre)
    axes = np.stack([times(turn, part.axes[:, n]) for n in range(3)], axis=1)
    centre, axes = np.round(centre, DIGITS), np.round(axes, DIGITS)
    corners = np.stack([centre + times(axes, corner) for corner in CORNERS])
    inverse = _inverse(axes)
    texture = np.zeros((2, 3))
    if material is not None:
        texture = _texture(axes, inverse, material)
    return Solid(
        owner,
        part.shape,
        part.narrow,
        centre,
        inverse,
        palette()[colour],
        corners,
        texture,
        material,
    )


def _texture(axes: Vector, inverse: Vector, material: Surface) -> Vector:
    """Directions of a material: along the longest side and across it, around and up, or aslant.

    What has neither grain nor cells runs aslant, so that no side shows it stretched.
    """
    lengths = [sqrt(float((axes[:, n] ** 2).sum())) for n in range(3)]
    rows = [inverse[n] * lengths[n] for n in range(3)]
    if material.lengthwise:
        order = sorted(range(3), key=lambda n: -round(lengths[n], 6))
        first, second, third = (rows[n] for n in order)
        found = [first, second + 0.73 * third]
    elif material.cell[0]:
        found = [rows[0] + rows[1], rows[2]]
    else:
        found = [rows[0] + 0.53 * rows[2], rows[1] + 0.71 * rows[2]]
    return np.round(np.stack(found), DIGITS)


def _rope(first: Placed, second: Placed) -> Solid:
    """A thin cylinder from the middle of one thing to that of another."""
    ends = []
    for placed in (first, second):
        height = thing_named(placed.thing).size[2] * placed.scale
        x, y, z = placed.at
        ends.append(np.array((x, y, z + height * 0.55)))
    along = (ends[1] - ends[0]) / 2
    length = sqrt((along * along).sum())
    if length < 1e-6:
        along, length = np.array((0, 0, 1e-3)), 1e-3
    radius = min(THICKEST_ROPE, max(THINNEST_ROPE, 2 * length * ROPE))
    helper = np.array((0.0, 0.0, 1.0))
    if abs(along[2]) > 0.9 * length:
        helper = np.array((1.0, 0.0, 0.0))
    side = _unit(_cross(along, helper)) * radius
    other = _unit(_cross(along, side)) * radius
    part = ThingPart(
        "cylinder", (ends[0] + ends[1]) / 2, np.stack([side, other, along], axis=1), "", "", 0.0
    )
    return solid(part, np.eye(3), np.zeros(3), 0, "tan")


def camera_of(viewer: Viewer) -> Camera:
    """The camera of a viewer."""
    eye = np.array(viewer.eye, dtype=float)
    forward = _unit(np.array(viewer.at, dtype=float) - eye)
    right = _unit(np.array((forward[1], -forward[0], 0.0)))
    up = _cross(right, forward)
    half_width = round(tan(radians(viewer.angle / 2)), DIGITS)
    return Camera(
        eye, np.round(right, DIGITS), np.round(up, DIGITS), np.round(forward, DIGITS), half_width
    )


def project(
    camera: Camera, points: Vector, width: int, height: int
) -> tuple[Vector, Vector, Vector]:
    """Columns, rows and depths of some points in a picture."""
    offset = points - camera.eye
    depth = (offset * camera.forward).sum(axis=1)
    safe = np.maximum(depth, 1e-6) * camera.half_width
    column = ((offset * camera.right).sum(axis=1) / safe + 1) * width / 2
    row = height / 2 - (offset * camera.up).sum(axis=1) / safe * width / 2
    return column, row, depth


def times(matrix: Vector, vector: Vector) -> Vector:
    """A matrix times a vector, summed in a fixed order."""
    columns = matrix[:, 0] * vector[0] + matrix[:, 1] * vector[1] + matrix[:, 2] * vector[2]
    return np.asarray(columns, dtype=np.float64)


def _turned(angle: float) -> Vector:
    c, s = round(cos(radians(angle)), DIGITS), round(sin(radians(angle)), DIGITS)
    return np.array([(c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)])


def _cross(first: Vector, second: Vector) -> Vector:
    """The direction at right angles to two others."""
    return np.array(
        (
            first[1] * second[2] - first[2] * second[1],
            first[2] * second[0] - first[0] * second[2],
            first[0] * second[1] - first[1] * second[0],
        )
    )


def _unit(vector: Vector) -> Vector:
    return vector / sqrt((vector * vector).sum())


def _inverse(matrix: Vector) -> Vector:
    """The inverse of a 3 x 3 matrix, by cross products of its columns."""
    first, second, third = matrix[:, 0], matrix[:, 1], matrix[:, 2]
    rows = np.stack([_cross(second, third), _cross(third, first), _cross(first, second)])
    return np.asarray(rows / (first * rows[0]).sum(), dtype=np.float64)
