"""Left and right, front and back, the four winds, points of view, sides of what divides."""

from collections.abc import Callable, Iterable

from gnomon.proofs.meaning.formulas import TRUE, Formula, Turn, every, some
from gnomon.proofs.meaning.relations.contact import (
    PLAN,
    RELATIONS,
    relation,
    resting,
    unit_length,
)
from gnomon.proofs.meaning.stories import AXES, START, WINDS, Story, When

VIEWER = "the viewer"  # who may look any way, where north and south are spoken of
TURNS = {"front": 0, "right": 1, "behind": 2, "left": 3}  # quarter turns to the right


def beyond(story: Story, at: int, a: str, b: str, axis: str, sign: int) -> Formula:
    """A is farther along an axis than B: its centre, or all of it.

    What is told is told of clear cases, so that all of it is; what is asked is asked of centres.
    """
    if story.reads("stepped"):
        return _step(story, at, a, b, ((axis, sign),))
    if sign < 0:
        a, b = b, a
    clear_case = story.telling and not story.reads("exact")
    if clear_case or story.reads("whole"):
        return story.low(a, axis, at) >= story.high(b, axis, at)
    return story.middle(a, axis, at) > story.middle(b, axis, at)


def only_beyond(story: Story, at: int, a: str, b: str, axis: str, sign: int) -> Formula:
    """A is farther along an axis than B and level with it along the others."""
    others = [other for other in AXES if other != axis]
    return beyond(story, at, a, b, axis, sign) & story.aligned(a, b, others, at)


def _step(story: Story, at: int, a: str, b: str, ways: Iterable[tuple[str, int]]) -> Formula:
    """A is one step from B on a grid, where north is up; as a claim, A is somewhere that way."""
    signs = {"z" if axis == "y" else axis: sign for axis, sign in ways}
    parts = []
    for axis in ("x", "z"):
        offset = story.middle(a, axis, at) - story.middle(b, axis, at)
        if story.telling:
            parts.append(offset.same(signs.get(axis, 0)))
        elif axis in signs:
            parts.append(offset * signs[axis] > 0)
    return every(parts)


@relation
def toward(story: Story, when: When, a: str, b: str, *sides: str) -> Formula:
    """A is on several sides of B at once: to the upper left of it, north-east of it."""
    ways = [SIDES[side] for side in sides]
    if not story.telling and len(set(sides) & set(COMPASS)) > 1:
        story.asks_between_winds = True
    if story.reads("stepped"):
        return _step(story, when.at, a, b, ways)
    return every(beyond(story, when.at, a, b, *way) for way in ways)


@relation
def only_toward(story: Story, when: When, a: str, b: str, *sides: str) -> Formula:
    """A is on these sides of B in a picture and on no other: the answer to "on which side?"."""
    signs = dict(SIDES[side] for side in sides)
    upward = "z" if "y" not in signs or story.reads("stepped") else "y"
    signs[upward] = signs.get("z", 0) or signs.get("y", 0)
    parts = []
    for axis in ("x", upward):
        offset = story.middle(a, axis, when.at) - story.middle(b, axis, when.at)
        sign = signs.get(axis, 0)
        parts.append(offset * sign > 0 if sign else offset.same(0))
    return every(parts)


@relation
def offset(
    story: Story, when: When, a: str, b: str, side: str, number: float, unit: str
) -> Formula:
    """A is so many miles or steps to one side of B, and level with it."""
    axis, sign = SIDES[side]
    length = unit_length(story, unit)
    way = story.middle(a, axis, when.at) - story.middle(b, axis, when.at)
    return way.same(length * (number * sign)) & exactly_beyond(story, when.at, a, b, axis, sign)


@relation
def on_side_of(story: Story, when: When, a: str, b: str, side: str) -> Formula:
    """A is to one side of B, or in or on that side of it."""
    with story.told(denied=True):  # of centres
        return _on_side(story, when.at, a, b, side, straight=False)


@relation
def sided(story: Story, when: When, c: str, a: str, b: str, *sides: str) -> Formula:
    """C, one of A and B, is on some sides of the other one."""
    return toward(story, when, c, b if c == a else a, *sides)


@relation
def clock(story: Story, when: When, a: str, b: str, hour: int) -> Formula:
    """A is where an hour stands on a clock face, with B in its centre, or with B looking at 12."""
    if story.is_a(b, "person"):
        story.turning.add(b)
        sides = _by_hour(hour, "front", "behind")
        return every(_on_side(story, when.at, a, b, side, straight=False) for side in sides)
    sides = _by_hour(hour, "above", "below")
    if len(sides) > 1 or story.reads("stepped"):
        return toward(story, when, a, b, *sides)
    return only_toward(story, when, a, b, *sides)


def _by_hour(hour: int, upper: str, lower: str) -> list[str]:
    """The sides that an hour is on."""
    sides = []
    if hour not in (3, 9):
        sides.append(upper if hour in (10, 11, 12, 1, 2) else lower)
    if hour not in (6, 12):
        sides.append("right" if hour < 6 else "left")
    return sides


@relation
def same_place(story: Story, when: When, a: str, b: str) -> Formula:
    """A is exactly where B is."""
    return story.aligned(a, b, AXES, when.at)


@relation
def overlap(story: Story, when: When, a: str, b: str) -> Formula:
    """A and B share some of their place; in puzzles, where things are points, all of it."""
    if story.reads("exact") or story.reads("stepped"):
        return same_place(story, when, a, b)
    return ~story.disjoint(a, b, when.at)


@relation
def route(story: Story, when: When, v: str, f: str, a: str, side: str) -> Formula:
    """For one who stands at V and faces F, A is on a side: of any heading, not of four only."""
    (there_x, there_y), (thing_x, thing_y) = (
        [story.middle(name, axis, when.at) - story.middle(v, axis, when.at) for axis in PLAN]
        for name in (f, a)
    )
    if side == "left":
        return Turn(there_x, thing_y, there_y, thing_x)
    if side == "right":
        return Turn(there_y, thing_x, there_x, thing_y)
    ahead = Turn(there_x, thing_x, there_y * -1, thing_y)
    return ahead if side == "front" else Turn(there_x * -1, thing_x, there_y, thing_y)


def exactly_beyond(story: Story, at: int, a: str, b: str, axis: str, sign: int) -> Formula:
    """A is farther along an axis than B and exactly in line with it."""
    if story.reads("stepped"):  # the next field, as without "directly"
        return _step(story, at, a, b, ((axis, sign),))
    others = [other for other in PLAN if other != axis]
    with story.told(denied=True):  # of centres
        return beyond(story, at, a, b, axis, sign) & story.aligned(a, b, others, at)


def _direction(name: str, axis: str, sign: int) -> None:
    def plain(story: Story, when: When, a: str, b: str) -> Formula:
        if story.reads("exact"):
            return only_beyond(story, when.at, a, b, axis, sign)
        found = beyond(story, when.at, a, b, axis, sign)
        if name in COMPASS and story.telling and not story.reads("whole"):
            story.winds.setdefault((a, b, when.at), set()).add(axis)
            found &= story.told_of(a, "off", b, when.at)
        return found

    def due(story: Story, when: When, a: str, b: str) -> Formula:
        return exactly_beyond(story, when.at, a, b, axis, sign)

    RELATIONS[name] = plain
    RELATIONS[f"due_{name}"] = due


COMPASS = ("north", "east", "south", "west")
SIDES = {"left": ("x", -1), "right": ("x", 1), "above": ("z", 1), "below": ("z", -1)}
SIDES |= zip(COMPASS, WINDS, strict=True)
for _name, (_axis, _sign) in zip(COMPASS, WINDS, strict=True):
    _direction(_name, _axis, _sign)
_direction("above", "z", 1)
_direction("below", "z", -1)
_direction("left", "x", -1)
_direction("right", "x", 1)
_direction("ahead", "y", 1)  # along a queue, a road, the rows of a bus
_direction("trailing", "y", -1)


@relation
def level(story: Story, when: When, a: str, b: str) -> Formula:
    """A and B are on one floor."""
    return story.middle(a, "z", when.at).same(story.middle(b, "z", when.at))


@relation
def abreast(story: Story, when: When, a: str, b: str) -> Formula:
    """A and B are in one row of seats."""
    return story.middle(a, "y", when.at).same(story.middle(b, "y", when.at))


# Fronts and points of view.


def faced(
    story: Story, headings: list[Formula], turn: int, place: Callable[[str, int], Formula]
) -> Formula:
    """Whatever the heading, something holds of the wind that is so many turns from it."""
    parts = []
    for wind, heading in enumerate(headings):
        axis, sign = WINDS[(wind + turn) % 4]
        parts.append(heading.implies(place(axis, sign)))
    return every(parts)


def _on_side(story: Story, at: int, a: str, b: str, side: str, *, straight: bool) -> Formula:
    """A is on a side of B: by B's own front if it has one, else for the viewer.

    Left and right are B's own only where the story says which way B faces.
    """
    place = exactly_beyond if straight else beyond
    by_front = side in ("front", "behind") or b in story.turning
    is_fronted = story.is_fronted(b) or b in story.turning
    if by_front and is_fronted and not story.reads("viewer"):
        headings = story.heading(b, at)
        return faced(story, headings, TURNS[side], lambda x, s: place(story, at, a, b, x, s))
    if story.has_compass and not (story.reads("exact") or story.reads("stepped")):
        turn = {"front": 2, "behind": 0}.get(side, TURNS[side])
        headings = story.heading(VIEWER, START)
        return faced(story, headings, turn, lambda x, s: place(story, at, a, b, x, s))
    axis, sign = {"front": ("y", -1), "behind": ("y", 1), "left": ("x", -1), "right": ("x", 1)}[
        side
    ]
    if story.reads("exact"):
        place = only_beyond
    return place(story, at, a, b, axis, sign)


def _off(story: Story, when: When, a: str, b: str) -> Formula:
    """A is neither on nor in B."""
    if not (story.is_unknown(b) or story.is_a(b, "building", "furniture")):
        return TRUE
    return ~resting(story, when, a, b) & ~story.within(a, b, when.at)


@relation
def front(story: Story, when: When, a: str, b: str) -> Formula:
    """A is in front of B."""
    side = _on_side(story, when.at, a, b, "front", straight=False)
    return side & _off(story, when, a, b)


@relation
def behind(story: Story, when: When, a: str, b: str) -> Formula:
    """A is behind B."""
    side = _on_side(story, when.at, a, b, "behind", straight=False) & _off(story, when, a, b)
    if story.is_a(b, "furniture"):  # one does not say it of what is in another place
        side &= story.close(a, b, when.at, story.length("step"))
    return side


@relation
def on_left(story: Story, when: When, a: str, b: str) -> Formula:
    """A is to the left of B, by B's own front if it has one."""
    return _on_side(story, when.at, a, b, "left", straight=False)


@relation
def on_right(story: Story, when: When, a: str, b: str) -> Formula:
    """A is to the right of B, by B's own front if it has one."""
    return _on_side(story, when.at, a, b, "right", straight=False)


@relation
def straight_(story: Story, when: When, a: str, b: str, side: str) -> Formula:
    """A is exactly on a side of B, by B's own front."""
    headings = story.heading(b, when.at)
    return faced(
        story, headings, TURNS[side], lambda x, s: exactly_beyond(story, when.at, a, b, x, s)
    )


@relation
def due_side(story: Story, when: When, a: str, b: str, side: str) -> Formula:
    """A is exactly to the left or right of B: by its own front if the story tells of it."""
    if b in story.turning:
        return straight_(story, when, a, b, side)
    return exactly_beyond(story, when.at, a, b, *SIDES[side])


@relation
def facing(story: Story, when: When, a: str, b: str) -> Formula:
    """B is straight ahead of A."""
    ahead = straight_(story, when, b, a, "front")
    return ahead & _off(story, when, b, a) if story.telling else ahead


@relation
def heads(story: Story, when: When, a: str, wind: str) -> Formula:
    """A faces a wind."""
    return story.heading(a, when.at)[COMPASS.index(wind)]


@relation
def same_heading(story: Story, when: When, a: str, b: str, quarters: int = 0) -> Formula:
    """A faces where B does, or so many quarters to the right of it."""
    own, other = story.heading(a, when.at), story.heading(b, when.at)
    ways = []
    for wind in range(4):
        ways.append(other[wind] & own[(wind + quarters) % 4])
    return some(ways)


@relation
def street_side(story: Story, when: When, p: str, a: str, side: str) -> Formula:
    """For P, who goes along the street, A is on a side of it."""
    headings = story.heading(p, when.at)
    place = lambda x, s: beyond(story, when.at, a, "the street", x, s)  # noqa: E731
    return faced(story, headings, TURNS[side], place)


@relation
def drives_from(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A goes along a road from B to C."""
    story.road = (b, c)
    heading = story.heading(a, when.at)
    forward = beyond(story, when.at, c, b, "y", 1)
    story.assume(forward | beyond(story, when.at, b, c, "y", 1))
    return (forward & heading[0]) | (~forward & heading[2])


@relation
def drives_towards(story: Story, when: When, a: str, b: str) -> Formula:
    """A goes along the road that was spoken of, towards B, one of its ends."""
    one, two = story.road or (b, "the other end")
    return drives_from(story, when, a, two if b == one else one, b)


@relation
def sees(story: Story, when: When, p: str, a: str) -> Formula:
    """A is somewhere ahead of P."""
    headings = story.heading(p, when.at)
    return faced(story, headings, 0, lambda x, s: beyond(story, when.at, a, p, x, s))


@relation
def seen(story: Story, when: When, p: str, a: str, side: str, b: str) -> Formula:
    """For P, who looks at both, A is on a side of B; what is nearer is in front."""
    for thing in (a, b):
        story.assume(sees(story, when, p, thing))
    turn = {"front": 2, "behind": 0}.get(side, TURNS[side])
    headings = story.heading(p, when.at)
    return faced(story, headings, turn, lambda x, s: beyond(story, when.at, a, b, x, s))


@relation
def near_side(story: Story, when: When, a: str, b: str) -> Formula:
    """All of A is on this side of B."""
    return story.high(a, "y", when.at) < story.middle(b, "y", when.at)


@relation
def far_side(story: Story, when: When, a: str, b: str) -> Formula:
    """All of A is on the other side of B."""
    return story.low(a, "y", when.at) > story.middle(b, "y", when.at)


@relation
def same_side(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A and B are on one side of C."""
    both_near = near_side(story, when, a, c) & near_side(story, when, b, c)
    return both_near | (far_side(story, when, a, c) & far_side(story, when, b, c))


@relation
def across(story: Story, when: When, a: str, b: str, c: str) -> Formula:
    """A and B are on opposite sides of C."""
    one_way = near_side(story, when, a, c) & far_side(story, when, b, c)
    return one_way | (far_side(story, when, a, c) & near_side(story, when, b, c))
