"""The parts of things: primitive shapes, where they are, and how far they reach."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import cos, radians, sin
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.files import package_data, read_yaml

Vector = NDArray[np.float64]
Triple = tuple[float, float, float]
Shape = Literal["box", "ellipsoid", "cylinder", "cone", "tube", "bowl", "roof", "octagon"]
MOST_COPIES = 64  # of one part, in a ring
SMALLEST, LARGEST = 1e-4, 100.0  # metres, of a part's side


class PartEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a thing's parts, as it is written in the file."""

    shape: Shape
    size: Triple  # along the part's own axes, before it is turned
    at: Triple  # its middle
    colour: str
    turn: dict[Literal["x", "y", "z"], float] = {}  # degrees about each axis, in this order
    mirror: Literal["", "x", "y", "xy"] = ""  # also on the other side of the middle
    ring: int = 1  # so many of them around the vertical axis
    narrow: float = 0.0  # of a cone: its upper radius as a share of the lower one
    name: str = ""  # of a part that may be missing: handle, roof


class Part(NamedTuple):
    """One primitive: the points centre + axes @ u for u in the unit shape."""

    shape: Shape
    centre: Vector
    axes: Vector  # its columns are the half axes
    colour: str
    name: str
    narrow: float


@cache
def palette() -> dict[str, Triple]:
    """Colours by name: red, green and blue, each from 0 to 1."""
    return msgspec.convert(read_yaml(package_data("space/palette.yaml")), dict[str, Triple])


def problem_of_part(part: PartEntry) -> str:
    """What is wrong with an entry, after the opening quote of its field; empty if all is well."""
    if not all(SMALLEST <= side <= LARGEST for side in part.size):
        return f"size' has a side that is not between {SMALLEST} and {LARGEST:.0f} metres"
    if not all(-LARGEST <= value <= LARGEST for value in part.at):
        return f"at' is further than {LARGEST:.0f} metres from the middle"
    if not all(-360 <= angle <= 360 for angle in part.turn.values()):
        return "turn' has an angle that is not between -360 and 360 degrees"
    if part.colour not in palette():
        return f"colour' is the unknown colour '{part.colour}'"
    if not 1 <= part.ring <= MOST_COPIES:
        return f"ring' is not between 1 and {MOST_COPIES}"
    if not 0 <= part.narrow <= 1:
        return "narrow' is not between 0 and 1"
    return ""


def all_parts(entries: Sequence[PartEntry]) -> list[Part]:
    """The parts that some entries stand for, with all copies, centred and on the ground."""
    parts = []
    for written in entries:
        half = np.diag(np.array(written.size) / 2)
        first = Part(
            written.shape,
            np.array(written.at, dtype=float),
            _rotation(written.turn) @ half,
            written.colour,
            written.name,
            written.narrow,
        )
        parts += _copies(first, written)
    return _centred(parts)


def _copies(part: Part, written: PartEntry) -> list[Part]:
    """The part with its mirror images, all of it as often as the ring says."""
    copies = [part]
    for axis in written.mirror:
        flip = np.ones(3)
        flip["xyz".index(axis)] = -1
        copies += [_moved(copy, np.diag(flip)) for copy in copies]
    around = []
    for step in range(written.ring):
        turn = _rotation({"z": 360 * step / written.ring})
        around += [_moved(copy, turn) for copy in copies]
    return around


def _moved(part: Part, matrix: Vector) -> Part:
    return part._replace(centre=matrix @ part.centre, axes=matrix @ part.axes)


def _rotation(turn: dict[Any, float]) -> Vector:
    """The rotation about each axis in turn, in degrees."""
    result = np.eye(3)
    for axis, angle in turn.items():
        c, s = cos(radians(angle)), sin(radians(angle))
        first, second = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
        step = np.eye(3)
        step[first, first] = step[second, second] = c
        step[first, second], step[second, first] = -s, s
        result = step @ result
    return result


def reach(part: Part) -> Vector:
    """How far a part reaches from its centre along x, y and z."""
    axes = part.axes
    if part.shape == "ellipsoid":
        far = np.sqrt((axes**2).sum(axis=1))
    elif part.shape in ("cylinder", "cone", "tube"):
        far = np.hypot(axes[:, 0], axes[:, 1]) + np.abs(axes[:, 2])
    else:
        far = np.abs(axes).sum(axis=1)
    return np.asarray(far, dtype=np.float64)


def bounds(parts: list[Part] | tuple[Part, ...]) -> tuple[Vector, Vector]:
    """The lower and the upper corner of the box around some parts."""
    lower = np.min([part.centre - reach(part) for part in parts], axis=0)
    upper = np.max([part.centre + reach(part) for part in parts], axis=0)
    return lower, upper


def _centred(parts: list[Part]) -> list[Part]:
    """The parts moved so that their box is centred in plan and stands on the ground."""
    lower, upper = bounds(parts)
    shift = -(lower + upper) / 2
    shift[2] = -lower[2]
    return [part._replace(centre=part.centre + shift) for part in parts]
