"""The things of scenes: their parts, sizes, tops, cavities and fronts, as data."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from math import cos, radians, sin
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError, unknown
from gnomon.files import package_data, read_yaml, shaped

# The parts of things: primitive shapes, where they are, and how far they reach.


Vector = NDArray[np.float64]
Triple = tuple[float, float, float]
Shape = Literal["box", "ellipsoid", "cylinder", "cone", "tube", "bowl", "roof", "octagon"]
MOST_COPIES = 64  # of one part, in a ring
MOST_LOOKS = 8  # of one thing
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
    look: int = 0  # it belongs to the first, second ... look of the thing only; 0: to every one


class ThingPart(NamedTuple):
    """One primitive: the points centre + axes @ u for u in the unit shape."""

    shape: Shape
    centre: Vector
    axes: Vector  # its columns are the half axes
    colour: str
    name: str
    narrow: float
    look: int = 0


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
    if not 0 <= part.look <= MOST_LOOKS:
        return f"look' is not between 0 and {MOST_LOOKS}"
    if part.look and part.name:
        return "look' is of a part with a name, which every look must have"
    return ""


def all_parts(entries: Sequence[PartEntry]) -> list[ThingPart]:
    """The parts that some entries stand for, with all copies, centred and on the ground."""
    parts = []
    for written in entries:
        half = np.diag(np.array(written.size) / 2)
        first = ThingPart(
            written.shape,
            np.array(written.at, dtype=float),
            _rotation(written.turn) @ half,
            written.colour,
            written.name,
            written.narrow,
            written.look,
        )
        parts += _copies(first, written)
    return _centred(parts)


def _copies(part: ThingPart, written: PartEntry) -> list[ThingPart]:
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


def _moved(part: ThingPart, matrix: Vector) -> ThingPart:
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


def reach(part: ThingPart) -> Vector:
    """How far a part reaches from its centre along x, y and z."""
    axes = part.axes
    if part.shape == "ellipsoid":
        far = np.sqrt((axes**2).sum(axis=1))
    elif part.shape in ("cylinder", "cone", "tube"):
        far = np.hypot(axes[:, 0], axes[:, 1]) + np.abs(axes[:, 2])
    else:
        far = np.abs(axes).sum(axis=1)
    return np.asarray(far, dtype=np.float64)


def bounds(parts: list[ThingPart] | tuple[ThingPart, ...]) -> tuple[Vector, Vector]:
    """The lower and the upper corner of the box around some parts."""
    lower = np.min([part.centre - reach(part) for part in parts], axis=0)
    upper = np.max([part.centre + reach(part) for part in parts], axis=0)
    return lower, upper


def _centred(parts: list[ThingPart]) -> list[ThingPart]:
    """The parts moved so that their box is centred in plan and stands on the ground."""
    lower, upper = bounds(parts)
    shift = -(lower + upper) / 2
    shift[2] = -lower[2]
    return [part._replace(centre=part.centre + shift) for part in parts]


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
TOLERANCE = 0.002  # metres by which a stated size may differ from that of the parts
MOST_PARTS = 200  # of one thing, copies included
WALL = 0.04  # of a hollow block: how thick its walls are, as a share of its least side
# What stands for a thing without a shape: "block 0.5 x 0.3 x 0.2", width, depth and height.
BLOCK = re.compile(
    r"(?P<open>open )?block (?P<size>\d{1,3}(\.\d{1,6})?( x \d{1,3}(\.\d{1,6})?){2})"
)


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


class _ThingFields(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, eq=False):
    """What a file says of a thing, beside its parts."""

    size: Triple
    kind: Kind
    place: Place
    front: bool = False  # it has a front of its own
    top: Top | None = None
    beneath: float = 0.0  # height of the free room between its legs; 0 if there is none
    cavity: Cavity | None = None
    long: Literal["", "x", "y"] = ""  # the axis along which it is clearly longer
    solid: bool = False  # its sides are closed, so that what stands flush against it touches it
    colours: tuple[str, ...] = ()  # that its main colour, the first part's, may be changed to


class ThingEntry(_ThingFields, frozen=True, kw_only=True, forbid_unknown_fields=True, eq=False):
    """A thing as it is written in the file."""

    parts: tuple[PartEntry, ...]


class Thing(_ThingFields, frozen=True, kw_only=True, eq=False):
    """A thing that can be placed in a scene."""

    name: str
    parts: tuple[ThingPart, ...]

    @property
    def living(self) -> bool:
        """Whether it is a person or an animal."""
        return self.kind in ("person", "animal")

    @property
    def moves(self) -> bool:
        """Whether it can head somewhere."""
        return self.living or self.kind == "vehicle"

    def parts_of_look(self, number: int) -> tuple[ThingPart, ...]:
        """The parts of one of its looks, counted from 0 and round again."""
        looks = max(part.look for part in self.parts) or 1
        chosen = number % looks + 1
        return tuple(part for part in self.parts if part.look in (0, chosen))

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
    """The thing of this name, or a block; or an error that names the nearest ones.

    >>> thing_named("block 0.5 x 0.3 x 0.2").size
    (0.5, 0.3, 0.2)
    """
    known = things()
    if name in known:
        return known[name]
    found = BLOCK.fullmatch(name)
    if found is None:
        raise unknown("thing", name[:60], known)
    return _block(name, bool(found["open"]), *(float(side) for side in found["size"].split(" x ")))


@lru_cache(maxsize=1024)
def _block(name: str, hollow: bool, width: float, depth: float, height: float) -> Thing:
    """A plain block of a size in metres; a hollow one is open towards its front."""
    size = (width, depth, height)
    if not all(SMALLEST <= side <= LARGEST for side in size):
        hint = f"Give sides from {SMALLEST} to {LARGEST:.0f} metres."
        raise DataError(f"there is no {name[:60]}.", hint)
    whole = PartEntry(shape="box", size=size, at=(0.0, 0.0, height / 2), colour="grey")
    parts = _walls(size) if hollow else (whole,)
    place: Place = "outdoors" if max(size) > 3 else "both"
    return Thing(
        name=name,
        size=size,
        kind="container" if hollow else "toy",
        place=place,
        parts=tuple(all_parts(parts)),
        top=Top(height, (width, depth)),
        solid=not hollow,
    )


def _walls(size: Triple) -> tuple[PartEntry, ...]:
    """Floor, roof, back and two sides of a hollow block."""
    width, depth, height = size
    thin = WALL * min(size)
    flat, upright = (width, depth, thin), (thin, depth, height)
    found = []
    for z in (thin / 2, height - thin / 2):
        found.append(PartEntry(shape="box", size=flat, at=(0.0, 0.0, z), colour="grey"))
    for x in (-1, 1):
        at = (x * (width - thin) / 2, 0.0, height / 2)
        found.append(PartEntry(shape="box", size=upright, at=at, colour="grey"))
    back = (0.0, (depth - thin) / 2, height / 2)
    found.append(PartEntry(shape="box", size=(width, thin, height), at=back, colour="grey"))
    return tuple(found)


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
    hint = "The fields of a thing are listed in docs/scenes.md."
    entry = shaped(content, ThingEntry, f"the thing '{name}': ", hint, file)
    problem = _problem(entry)
    if problem:
        hint = "Correct the field."
        raise DataError(f"the thing '{name}': {problem}.", hint, file=file)

    parts = all_parts(entry.parts)
    fields = msgspec.structs.asdict(entry) | {"name": name, "parts": tuple(parts)}
    thing = Thing(**fields)
    for number in range(max(part.look for part in parts) or 1):
        lower, upper = bounds(thing.parts_of_look(number))
        size = upper - lower
        if np.abs(size - entry.size).max() > TOLERANCE:
            measured = ", ".join(f"{side:.3f}" for side in size)
            hint = f"Write size: [{measured}], or change the parts of look {number + 1}."
            raise DataError(f"the thing '{name}': the parts do not fill 'size'.", hint, file=file)
    return thing


def _problem(entry: ThingEntry) -> str:
    """What a thing's fields say that cannot be; empty if all is well."""
    if not entry.parts:
        return "'parts' is empty"
    count = 0
    for number, part in enumerate(entry.parts):
        problem = problem_of_part(part)
        if problem:
            return f"'parts[{number}].{problem}"
        count += part.ring * 2 ** len(part.mirror)
    if count > MOST_PARTS:
        return f"'parts' has more than {MOST_PARTS} shapes"
    for colour in entry.colours:
        if colour not in palette():
            return f"'colours' names the unknown colour '{colour}'"
    return _room_problem(entry)


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
