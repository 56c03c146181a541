"""Rays from the eye through a band of pixels, and what each of them meets first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.scenes.shapes import Array, Axes, Hit, intersect
from gnomon.scenes.solids import Camera, Solid, project

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


class Grid(NamedTuple):
    """The size of a picture in samples."""

    width: int
    height: int


def windows_of(solids: list[Solid], camera: Camera, grid: Grid) -> list[Window]:
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


def rays_of(camera: Camera, grid: Grid, top: int, bottom: int, kind: type[np.floating]) -> Axes:
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
