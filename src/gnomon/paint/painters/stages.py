"""Scenes that show what an item says: what stands where, and of which shapes and sizes."""

from functools import cache
from math import sqrt
from random import Random
from typing import Any, Literal, NamedTuple

import msgspec

from gnomon.errors import GnomonError
from gnomon.files import package_data, read_yaml
from gnomon.lexicon.statements import Statement
from gnomon.paint.records import PaintQuestion
from gnomon.scenes.descriptions import other_nouns
from gnomon.scenes.pictures import viewer_of
from gnomon.scenes.placing import arrange
from gnomon.scenes.relations import relations
from gnomon.scenes.scenes import SCALES, Placed, Scene, Viewer
from gnomon.scenes.things import BLOCK, LARGEST, SMALLEST, Triple, thing_named, things

CENTIMETRE = 0.01
PLAIN: Triple = (1.0, 1.0, 1.0)  # metres, of a thing whose size nobody knows
PERSON = "person"


class DrawnShape(NamedTuple):
    """What is drawn for a name: a thing or block, and how much larger or smaller it is."""

    thing: str
    scale: float = 1.0
    known: bool = True  # its true size is known

    @property
    def size(self) -> Triple:
        """Width, depth and height in metres."""
        width, depth, height = thing_named(self.thing).size
        return width * self.scale, depth * self.scale, height * self.scale

    @property
    def is_block(self) -> bool:
        """Whether it has no shape of its own."""
        return BLOCK.fullmatch(self.thing) is not None


class _ShapeSizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """data/synthesis/sizes.yaml."""

    people: dict[str, float]
    same: dict[str, str]
    blocks: dict[str, Triple]


def drawn_as(name: str, *, person: bool = False) -> DrawnShape:
    """How a name is drawn. `person` says that an unknown name is that of somebody.

    >>> drawn_as("cat").thing, drawn_as("girl"), drawn_as("wine barrel").known
    ('cat', DrawnShape(thing='person', scale=0.75, known=True), True)
    """
    for word in _shorter(name.strip().lower()):
        found = _known(word)
        if found:
            return found
    if person:
        return DrawnShape(PERSON)
    return DrawnShape(block(PLAIN), known=False)


def block(size: Triple, *, hollow: bool = False) -> str:
    """The name of a block; sides that cannot be drawn become the nearest that can."""
    sides = []
    for side in size:
        fitting = min(max(side, 2 * SMALLEST), LARGEST)
        sides.append(f"{fitting:.6f}".rstrip("0").rstrip("."))
    return f"{'open ' if hollow else ''}block {' x '.join(sides)}"


def _shorter(name: str) -> list[str]:
    """A name, and the same without its first words: "canvas awning", "awning"."""
    words = name.split()[:8]
    return [" ".join(words[start:]) for start in range(len(words))]


def _known(name: str) -> DrawnShape | None:
    table = _table()
    if name in table.people:
        return DrawnShape(PERSON, table.people[name])
    same = table.same.get(name, name)
    same = other_nouns().get(same, same)
    if same in things():
        return DrawnShape(same)
    if same in table.blocks:
        return DrawnShape(block(table.blocks[same]))
    if same in _lexicon():
        return DrawnShape(block(_lexicon()[same]))
    return None


@cache
def _table() -> _ShapeSizes:
    return msgspec.convert(
        read_yaml(package_data("synthesis/sizes.yaml")), _ShapeSizes, strict=False
    )


@cache
def _lexicon() -> dict[str, Triple]:
    """Length, width and height of everyday objects: the middle of each range, in metres."""
    found: dict[str, Triple] = {}
    for entries in read_yaml(package_data("objects.yaml")).values():
        for name, entry in entries.items():
            found[name] = _sides(entry)
    return found


def _sides(entry: list[Any]) -> Triple:
    """The sides of an entry: one range is for all three, two for those across and the height."""
    ranges = [text for text in entry if isinstance(text, str) and text != "any"]
    sides = [_middle(text) for text in ranges]
    if len(sides) == 1:
        sides *= 3
    if len(sides) == 2:
        sides = [sides[0], *sides]
    return sides[0], sides[1], sides[2]


def _middle(text: str) -> float:
    low, high = text.split("-")
    return sqrt(float(low) * float(high)) * CENTIMETRE


# Scenes for the renderer: an item's two things, placed so that what is right is what one sees.
#
# Sizes are drawn to scale, with the smaller thing nearer to the viewer where it could not be seen
# otherwise. Of two blocks, one may be drawn at most a thousand times as large as the other.


ANGLE = 40.0  # degrees, how wide the viewer sees
SLOPE = 0.728  # width of the picture at a distance of 1
LARGE, SMALL = 0.36, 0.14  # share of the picture that the larger and the smaller thing fill
MIDDLING = 0.22  # the larger one, where the smaller one is near
DECEIVING = 0.35  # share of the pairs of which the smaller one is near
MOST_DECEIVING = 12.0  # times larger; what is farther away would lie too flat to be seen
ALIKE = 2.5  # ratio of sizes up to which things stand at one distance
TALLEST = 60.0  # metres
MOST_RATIO = 1000.0
TWICE = 2.0  # how much larger a thing is drawn that must be larger than it is known to be
CLEARLY = 1.1  # how much larger a thing must look to count as larger
DWARFED = 5.0  # how many times as long as the other thing a block may be whose place is shown
DEEP = 1.5  # the same for how far it reaches away from the viewer, where it would spread out
ROOM = 1.25  # of a container, as a multiple of what it must hold
LARGEST_ROOM = 6.0  # metres; what is farther away stands outdoors
COLOURS = ("blue", "amber", "teal", "dark red", "purple", "green")
GREATER = ("larger", "taller")


class _Stage(NamedTuple):
    """A scene with the ids of the item's two things, or why there is none."""

    scene: Scene | None
    trouble: str = ""


FIRST, SECOND = "first", "second"  # ids of the things in a scene


def stage(asked: PaintQuestion, gold: str, seed: int) -> _Stage:
    """A scene in which what is right of an item can be seen."""
    random = Random(f"stage {seed}")
    if asked.kind == "position":
        return _placed(asked, gold, seed, random)
    first, second = drawn_as(asked.first), drawn_as(asked.second)
    first, second = _sized(first, second, asked.kind, first_is_greater=gold in GREATER)
    return _Stage(_side_by_side(first, second, asked.kind, random))


def _sized(
    first: DrawnShape, second: DrawnShape, kind: str, *, first_is_greater: bool
) -> tuple[DrawnShape, DrawnShape]:
    """Both things as they are drawn beside each other.

    They have their true sizes, unless that is not known or another answer is to be shown.
    """
    greater, lesser = (first, second) if first_is_greater else (second, first)
    both_known = greater.known and lesser.known
    if not both_known or _extent(greater, kind) < CLEARLY * _extent(lesser, kind):
        if lesser.is_block and max(lesser.size) > TALLEST / TWICE**2:
            lesser = _resized(lesser, TALLEST / TWICE**2)
        factor = TWICE * _extent(lesser, kind) / _extent(greater, kind)
        greater = _scaled(greater, factor)
    if greater.is_block and max(greater.size) > TALLEST:
        shrink = TALLEST / max(greater.size)
        greater = _resized(greater, TALLEST)
        if lesser.is_block:
            lesser = _resized(lesser, max(lesser.size) * shrink)
    if lesser.is_block and max(greater.size) > MOST_RATIO * max(lesser.size):
        lesser = _resized(lesser, max(greater.size) / MOST_RATIO)
    if kind == "size":
        greater, lesser = _faced(greater), _faced(lesser)
    return (greater, lesser) if first_is_greater else (lesser, greater)


def _extent(drawn: DrawnShape, kind: str) -> float:
    """How large a thing looks from the side, or how tall it is."""
    if kind == "height":
        return drawn.size[2]
    sides = sorted(drawn.size) if drawn.is_block else [max(drawn.size[:2]), drawn.size[2]]
    return sqrt(sides[-1] * sides[-2])


def _scaled(drawn: DrawnShape, factor: float) -> DrawnShape:
    """A thing that is so many times as large; as a block if its shape cannot be drawn so large."""
    scale = drawn.scale * factor
    if drawn.is_block or not SCALES[0] <= scale <= SCALES[1]:
        return _resized(drawn, max(drawn.size) * factor)
    return DrawnShape(drawn.thing, scale)


def _resized(drawn: DrawnShape, longest: float) -> DrawnShape:
    """A block of the same shape whose longest side has this length."""
    factor = longest / max(drawn.size)
    width, depth, height = drawn.size
    return DrawnShape(block((width * factor, depth * factor, height * factor)))


def _faced(drawn: DrawnShape) -> DrawnShape:
    """A block that shows its largest face: how it lies says nothing about its size."""
    if not drawn.is_block:
        return drawn
    least, middle, most = sorted(drawn.size)
    return DrawnShape(block((most, least, middle)))


def _side_by_side(first: DrawnShape, second: DrawnShape, kind: str, random: Random) -> Scene:
    """Two things left and right, the smaller one nearer if it would be too small to see.

    Of some pairs the smaller one is so near that it looks larger: only distances tell.
    """
    spans = [max(first.size), max(second.size)]
    deceiving = random.random() < DECEIVING and max(spans) < MOST_DECEIVING * min(spans)
    large, small = (MIDDLING, LARGE) if deceiving else (LARGE, SMALL)
    far = max(spans) / (SLOPE * large)
    distances = []
    for span in spans:
        near = span / (SLOPE * small)
        is_small = max(spans) > ALIKE * span
        distances.append(min(near, far) if is_small else far)
    side = random.choice((-1, 1))
    placed = []
    pairs = zip((FIRST, SECOND), (first, second), distances, (side, -side), strict=True)
    for id, drawn, distance, where in pairs:
        x = where * 0.25 * SLOPE * distance
        placed.append(_thing(id, drawn, (x, distance, 0.0), random, turn=_broadside(drawn)))
    eye = 0.22 * min(distances)
    viewer = Viewer(eye=(0.0, 0.0, eye), at=(0.0, max(distances), eye), angle=ANGLE)
    return _scene(placed, viewer, random)


def _broadside(drawn: DrawnShape) -> float:
    """The turn with which a thing shows its longer side."""
    width, depth, _ = drawn.size
    return 90.0 if depth > 1.2 * width else 0.0


def _placed(asked: PaintQuestion, gold: str, seed: int, random: Random) -> _Stage:
    """Two things in a relation: one of our layouts, or else as scenes in general are arranged."""
    first, second = drawn_as(asked.first, person=True), drawn_as(asked.second)
    if gold in LAYOUTS and not (gold == "inside" and _fits(first, second)):
        return _Stage(_laid_out(gold, first, second, random))
    if gold not in relations():
        return _Stage(None, f"the renderer has no picture of '{gold[:60]}'")
    names = {FIRST: first.thing, SECOND: second.thing}
    try:
        return _Stage(arrange(names, [Statement(FIRST, gold, SECOND)], seed))
    except GnomonError as error:
        like = LIKE.get(gold, gold)
        if like in LAYOUTS:
            return _Stage(_laid_out(like, first, second, random))
        return _Stage(None, f"out of the renderer's reach: {error.message}")


def _fits(first: DrawnShape, second: DrawnShape) -> bool:
    """Whether the second thing may hold the first as it is; people do not: ours only stand."""
    if first.is_block or second.is_block or first.thing == PERSON:
        return False
    return thing_named(second.thing).cavity is not None


def _laid_out(relation: str, first: DrawnShape, second: DrawnShape, random: Random) -> Scene:
    first, second = _near_in_size(first, second), _near_in_size(second, first)
    things = LAYOUTS[relation](first, second, random)
    around, above = random.uniform(-8, 8), random.uniform(7, 13)
    return _scene(things, viewer_of(things, around=around, above=above, angle=ANGLE), random)


def _near_in_size(drawn: DrawnShape, other: DrawnShape) -> DrawnShape:
    """A block that does not dwarf the other thing: where things are does not depend on their size.

    A lake is drawn as a pool, in which a swimmer can be seen.
    """
    if not drawn.is_block:
        return drawn
    most = DWARFED * max(other.size)
    width, depth, height = (min(side, most) for side in drawn.size)
    return DrawnShape(block((width, min(depth, DEEP * max(other.size)), height)))


def _inside(first: DrawnShape, second: DrawnShape, random: Random) -> list[Placed]:
    """The second thing is a container with an open front, large enough for the first one."""
    room = []
    for needed, side in zip(first.size, second.size, strict=True):
        room.append(max(side, ROOM * needed))
    container = DrawnShape(block((room[0], room[1], room[2]), hollow=True))
    base = 0.05 * min(container.size)
    inner = _thing(FIRST, first, (0.0, 0.0, base), random)
    return [inner, _thing(SECOND, container, (0.0, 0.0, 0.0), random)]


def _above(first: DrawnShape, second: DrawnShape, random: Random) -> list[Placed]:
    """The first thing stands on the second."""
    upper = _thing(FIRST, first, (0.0, 0.0, second.size[2]), random)
    return [upper, _thing(SECOND, second, (0.0, 0.0, 0.0), random, turn=_broadside(second))]


def _below(first: DrawnShape, second: DrawnShape, random: Random) -> list[Placed]:
    """The second thing is held over the first."""
    lower = _thing(FIRST, first, (0.0, 0.0, 0.0), random)
    height = first.size[2] * 1.05
    upper = _thing(SECOND, second, (0.0, 0.0, height), random, turn=_broadside(second))
    return [lower, upper]


def _beside(first: DrawnShape, second: DrawnShape, random: Random) -> list[Placed]:
    """The two stand next to each other, farther apart across than their middles are in height."""
    turn = _broadside(second)
    across = second.size[1] if turn else second.size[0]
    touching = (first.size[0] + across) / 2
    steep = 1.4 * abs(first.size[2] - second.size[2]) / 2
    x = random.choice((-1, 1)) * max(1.15 * touching, steep)
    return [
        _thing(FIRST, first, (x, 0.0, 0.0), random),
        _thing(SECOND, second, (0.0, 0.0, 0.0), random, turn=turn),
    ]


LAYOUTS = {"inside": _inside, "above": _above, "below": _below, "beside": _beside}
# Relations that are laid out like one of these where things as they are do not fit together.
LIKE = {"in": "inside", "within": "inside", "on": "above", "on top of": "above"}
LIKE |= dict.fromkeys(("under", "beneath", "underneath"), "below")


def _thing(id: str, drawn: DrawnShape, at: Triple, random: Random, turn: float = 0.0) -> Placed:
    colours = COLOURS[:3] if id == FIRST else COLOURS[3:]
    colour = random.choice(colours) if drawn.is_block else ""
    return Placed(id=id, thing=drawn.thing, at=at, turn=turn, scale=drawn.scale, colour=colour)


def _scene(things: list[Placed], viewer: Viewer, random: Random) -> Scene:
    farthest = max(max(map(abs, placed.at)) for placed in things)
    place: Literal["indoors", "outdoors"] = "indoors" if farthest < LARGEST_ROOM else "outdoors"
    return Scene(things=tuple(things), viewer=viewer, place=place, look=random.randrange(1000))
