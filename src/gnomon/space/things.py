"""Everyday things made of a few primitive shapes, read from data/things/*.yaml.

A thing stands on its base at z = 0, centred in plan, and looks to -y if it has a front. Lengths are
metres; x is to the right, y away from the viewer, z up.
"""

from __future__ import annotations

from functools import cache
from math import cos, radians, sin
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError, unknown
from gnomon.files import package_data, read_yaml

Vector = NDArray[np.float64]
Shape = Literal["box", "ellipsoid", "cylinder", "cone", "tube", "bowl", "roof", "octagon"]
Kind = Literal[
    "person",
    "animal",
    "plant",
    "furniture",
    "appliance",
    "device",
    "tableware",
    "food",
    "luggage",
    "sport",
    "tool",
    "toy",
    "clothing",
    "container",
    "vehicle",
    "street",
    "building",
]
Place = Literal["indoors", "outdoors", "both"]
Triple = tuple[float, float, float]
TOLERANCE = 0.002  # metres by which a stated size may differ from that of the parts
MOST_PARTS = 200  # of one thing, copies included
MOST_COPIES = 64  # of one part, in a ring
SMALLEST, LARGEST = 1e-4, 100.0  # metres, of a part's side


class Top(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A surface on which other things may stand."""

    height: float
    size: tuple[float, float]
    at: tuple[float, float] = (0.0, 0.0)  # of its middle, from the middle of the thing
    holds: tuple[str, ...] = ()  # kinds and names of things that may plausibly stand there


class Cavity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A hollow in which other things may be."""

    floor: float  # its height
    rim: float
    size: tuple[float, float]
    at: tuple[float, float] = (0.0, 0.0)
    holds: tuple[str, ...] = ()


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


class ThingEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A thing as it is written in the file."""

    size: Triple
    kind: Kind
    place: Place
    parts: tuple[PartEntry, ...]
    front: bool = False  # it has a front of its own
    top: Top | None = None
    beneath: float = 0.0  # height of the free room between its legs; 0 if there is none
    cavity: Cavity | None = None
    long: Literal["", "x", "y"] = ""  # the axis along which it is clearly longer
    solid: bool = False  # its sides are closed, so that what stands flush against it touches it
    colours: tuple[str, ...] = ()  # that its main colour, the first part's, may be changed to


class Part(NamedTuple):
    """One primitive: the points centre + axes @ u for u in the unit shape."""

    shape: Shape
    centre: Vector
    axes: Vector  # its columns are the half axes
    colour: str
    name: str
    narrow: float


class Thing(NamedTuple):
    """A thing that can be placed in a scene."""

    name: str
    size: Triple
    kind: Kind
    place: Place
    parts: tuple[Part, ...]
    front: bool
    top: Top | None
    beneath: float
    cavity: Cavity | None
    long: str
    solid: bool
    colours: tuple[str, ...]

    @property
    def living(self) -> bool:
        """Whether it is a person or an animal."""
        return self.kind in ("person", "animal")

    @property
    def moves(self) -> bool:
        """Whether it can head somewhere."""
        return self.living or self.kind == "vehicle"

    def part_names(self) -> tuple[str, ...]:
        """The names of the parts that may be missing, in the order of the file."""
        names = dict.fromkeys(part.name for part in self.parts)
        return tuple(name for name in names if name)


@cache
def things() -> dict[str, Thing]:
    """All things by name.

    >>> things()["cup"].cavity.rim
    0.1
    """
    found: dict[str, Thing] = {}
    for file in sorted(package_data("things").glob("*.yaml")):
        found |= read_things(file)
    return found


def thing_named(name: str) -> Thing:
    """The thing of this name, or an error that names the nearest ones."""
    known = things()
    if name not in known:
        raise unknown("thing", name[:60], known)
    return known[name]


@cache
def palette() -> dict[str, Triple]:
    """Colours by name: red, green and blue, each from 0 to 1."""
    file = package_data("palette.yaml")
    try:
        return msgspec.convert(read_yaml(file), dict[str, Triple])
    except msgspec.ValidationError as error:
        raise DataError(f"{error}.", "Write a colour as three numbers.", file=file) from None


def read_things(file: str | Path) -> dict[str, Thing]:
    """The things of one file; what is wrong with one is said with its name and field."""
    content = read_yaml(file)
    if not isinstance(content, dict):
        hint = "Write a mapping from names to things."
        raise DataError("the file is not a mapping.", hint, file=file)
    found = {}
    for name, entry in content.items():
        found[str(name)] = _read_thing(str(name), entry, file)
    return found


def _read_thing(name: str, content: Any, file: str | Path) -> Thing:
    try:
        entry = msgspec.convert(content, ThingEntry)
    except msgspec.ValidationError as error:
        problem = str(error).replace("`", "'")
        hint = "The fields of a thing are listed in docs/scenes.md."
        raise DataError(f"the thing '{name}': {problem}.", hint, file=file) from None
    problem = _problem(entry)
    if problem:
        hint = "Correct the field."
        raise DataError(f"the thing '{name}': {problem}.", hint, file=file)

    parts = _centred(_all_parts(entry))
    lower, upper = bounds(parts)
    size = upper - lower
    if np.abs(size - entry.size).max() > TOLERANCE:
        measured = ", ".join(f"{side:.3f}" for side in size)
        hint = f"Write size: [{measured}], or change the parts."
        raise DataError(f"the thing '{name}': the parts do not fill 'size'.", hint, file=file)
    return Thing(
        name,
        entry.size,
        entry.kind,
        entry.place,
        tuple(parts),
        entry.front,
        entry.top,
        entry.beneath,
        entry.cavity,
        entry.long,
        entry.solid,
        entry.colours,
    )


def _problem(entry: ThingEntry) -> str:
    """What a thing's fields say that cannot be; empty if all is well."""
    if not entry.parts:
        return "'parts' is empty"
    count = 0
    for number, part in enumerate(entry.parts):
        problem = _part_problem(part)
        if problem:
            return f"'parts[{number}].{problem}"
        count += part.ring * 2 ** len(part.mirror)
    if count > MOST_PARTS:
        return f"'parts' has more than {MOST_PARTS} shapes"
    for colour in entry.colours:
        if colour not in palette():
            return f"'colours' names the unknown colour '{colour}'"
    return _room_problem(entry)


def _part_problem(part: PartEntry) -> str:
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


def _room_problem(entry: ThingEntry) -> str:
    """What is wrong with the room on, in or beneath a thing."""
    width, depth, height = entry.size
    if entry.top is not None and not 0 < entry.top.height <= height + TOLERANCE:
        return "'top.height' is not within the thing"
    hollow = entry.cavity
    if hollow is not None and not 0 <= hollow.floor < hollow.rim <= height + TOLERANCE:
        return "'cavity' has its floor and rim not within the thing"
    if not 0 <= entry.beneath < height:
        return "'beneath' is not within the thing"
    longer = "x" if width > depth else "y"
    if entry.long and entry.long != longer:
        return "'long' is not the longer axis"
    return ""


def _all_parts(entry: ThingEntry) -> list[Part]:
    parts = []
    for written in entry.parts:
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
    return parts


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
