"""Things as bodies in a scene, pairs of them, thresholds, and verdicts with reasons in words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from math import acos, cos, degrees, hypot, inf, radians, sin
from typing import NamedTuple

import msgspec

from gnomon.errors import unknown
from gnomon.files import package_data, read_yaml
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.things import Cavity, Thing, Top, bounds, thing_named

# The thresholds of the relations as data (data/space/thresholds.yaml).


@cache
def thresholds() -> dict[str, float]:
    """Lengths, shares and angles by name; the file says in which unit each one is."""
    return msgspec.convert(read_yaml(package_data("space/thresholds.yaml")), dict[str, float])


Plan = tuple[float, float]  # a point or a direction in plan
GRID = tuple(step / 6 - 0.5 for step in range(7))  # where the plan of a box is sampled


class Body:
    """A thing, or a part of one, as a box that is turned about the vertical axis."""

    def __init__(self, placed: Placed, part: str = "") -> None:
        self.placed, self.part = placed, part
        self.thing: Thing = thing_named(placed.thing)
        self.name = f"{placed.id}.{part}" if part else placed.id
        turn = radians(placed.turn)
        self.right: Plan = (cos(turn), sin(turn))
        self.back: Plan = (-sin(turn), cos(turn))
        self.front: Plan = (sin(turn), -cos(turn))

        width, depth, height = self.thing.size
        x = y = z = 0.0
        if part:
            own = [piece for piece in self.thing.parts if piece.name == part]
            lower, upper = bounds(own)
            width, depth, height = (float(side) for side in upper - lower)
            x, y, z = (float(value) for value in (lower + upper) / 2)
            z -= height / 2
        scale = placed.scale
        self.width, self.depth, self.height = width * scale, depth * scale, height * scale
        self.at: Plan = self.point(x, y)
        self.low = placed.at[2] + z * scale
        self.high = self.low + self.height
        self.diagonal = hypot(self.width, self.depth)

    def point(self, x: float, y: float) -> Plan:
        """A point of the thing's own plan, in the plan of the scene."""
        x, y = x * self.placed.scale, y * self.placed.scale
        return (
            self.placed.at[0] + x * self.right[0] + y * self.back[0],
            self.placed.at[1] + x * self.right[1] + y * self.back[1],
        )

    def reach(self, direction: Plan) -> float:
        """How far the box reaches from its middle along a direction in plan."""
        across = abs(dot(direction, self.right)) * self.width
        along = abs(dot(direction, self.back)) * self.depth
        return (across + along) / 2

    def locate(self, point: Plan) -> Plan:
        """A point of the scene in the box's own axes, from its middle."""
        offset = minus(point, self.at)
        return dot(offset, self.right), dot(offset, self.back)

    @property
    def has_front(self) -> bool:
        """Whether it has a front of its own; a part has none."""
        return self.thing.front and not self.part

    @property
    def long_axis(self) -> Plan | None:
        """The direction along which it is clearly longer."""
        if self.part or not self.thing.long:
            return None
        return self.right if self.thing.long == "x" else self.back

    @property
    def top(self) -> Top | None:
        """The surface on which things may stand; a part offers none."""
        return None if self.part else self.thing.top

    @property
    def cavity(self) -> Cavity | None:
        """The hollow in which things may be; a part offers none."""
        return None if self.part else self.thing.cavity

    @cached_property
    def corners(self) -> tuple[Plan, Plan, Plan, Plan]:
        """The four corners in plan, in order."""
        found = []
        for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
            across, along = x * self.width / 2, y * self.depth / 2
            found.append(
                (
                    self.at[0] + across * self.right[0] + along * self.back[0],
                    self.at[1] + across * self.right[1] + along * self.back[1],
                )
            )
        return found[0], found[1], found[2], found[3]


def body_named(scene: Scene, name: str) -> Body:
    """The body of an id, or of a part of it: "cup" or "cup.handle"."""
    id, _, part = name.partition(".")
    placed = scene.placed(id)
    if part:
        present = [p for p in thing_named(placed.thing).part_names() if p not in placed.lacks]
        if part not in present:
            raise unknown(f"part of the {placed.thing}", part[:60], present)
    return Body(placed, part)


class BodyPair:
    """A subject and a ground in one scene, with what is measured between them."""

    def __init__(self, subject: Body, ground: Body, scene: Scene) -> None:
        self.a, self.b, self.scene = subject, ground, scene
        self.offset: Plan = minus(subject.at, ground.at)
        self.mean = (subject.diagonal + ground.diagonal) / 2  # s of the rules
        self.lesser = min(subject.diagonal, ground.diagonal)  # m of the rules

    @cached_property
    def flipped(self) -> BodyPair:
        """Ground and subject exchanged."""
        flipped = BodyPair(self.b, self.a, self.scene)
        flipped.__dict__["plan_gap"] = self.plan_gap
        flipped.__dict__["flipped"] = self
        return flipped

    @cached_property
    def plan_gap(self) -> float:
        """The distance in plan; 0 if the boxes overlap."""
        return plan_distance(self.a, self.b)

    @cached_property
    def gap(self) -> float:
        """The distance in space."""
        apart = max(self.a.low - self.b.high, self.b.low - self.a.high, 0.0)
        return hypot(self.plan_gap, apart)

    @property
    def heights_overlap(self) -> bool:
        """Whether there is a height at which both are."""
        common = min(self.a.high, self.b.high) - max(self.a.low, self.b.low)
        return common > 0.02 * min(self.a.height, self.b.height)

    @property
    def same_level(self) -> bool:
        """Whether both stand at the same height, none of them on or in the other."""
        level = abs(self.a.low - self.b.low) <= thresholds()["contact"]
        return level and not self.rests

    @cached_property
    def is_on(self) -> bool:
        """Whether the subject stands on the ground's top surface."""
        top = self.b.top
        if top is None:
            return False
        height = self.b.low + top.height * self.b.placed.scale
        if abs(self.a.low - height) > thresholds()["contact"]:
            return False
        return self._is_over(top.at, top.size)

    @cached_property
    def is_in(self) -> bool:
        """Whether the subject is in the ground's cavity."""
        cavity, scale = self.b.cavity, self.b.placed.scale
        if cavity is None:
            return False
        floor = self.b.low + cavity.floor * scale
        rim = self.b.low + cavity.rim * scale
        contact = thresholds()["contact"]
        if not floor - contact <= self.a.low < rim - contact:
            return False
        return self._is_over(cavity.at, cavity.size)

    def _is_over(self, at: Plan, size: Plan) -> bool:
        """Whether the subject's middle is over a rectangle in the ground's own plan."""
        scale = self.b.placed.scale
        x, y = self.b.locate(self.a.at)
        inside_x = abs(x - at[0] * scale) <= size[0] * scale / 2
        inside_y = abs(y - at[1] * scale) <= size[1] * scale / 2
        return inside_x and inside_y

    @cached_property
    def rests(self) -> bool:
        """Whether one of the two stands on or in the other."""
        back = self.flipped
        return self.is_on or self.is_in or back.is_on or back.is_in

    @cached_property
    def is_beneath(self) -> bool:
        """Whether the subject is in the room beneath the ground: a dog beneath a table."""
        room = self.b.thing.beneath * self.b.placed.scale
        if not room or self.b.part or self.plan_gap > 0 or self.rests:
            return False
        contact = thresholds()["contact"]
        if self.a.high > self.b.low + room + contact or self.a.low < self.b.low - contact:
            return False
        return covered_share(self.a, self.b) >= thresholds()["beneath_share"]

    @property
    def nested(self) -> bool:
        """Whether one of the two is in the room beneath the other."""
        return self.is_beneath or self.flipped.is_beneath

    @cached_property
    def linked(self) -> bool:
        """Whether a rope joins the two."""
        ids = {self.a.placed.id, self.b.placed.id}
        return any(set(link) == ids for link in self.scene.links)

    @property
    def axes_angle(self) -> float | None:
        """The angle between the two long axes, 0 to 90 degrees; none unless both have one."""
        first, second = self.a.long_axis, self.b.long_axis
        if first is None or second is None:
            return None
        between = angle(first, second)
        return min(between, 180 - between)


def dot(first: Plan, second: Plan) -> float:
    """The inner product of two directions in plan."""
    return first[0] * second[0] + first[1] * second[1]


def minus(first: Plan, second: Plan) -> Plan:
    """The way from the second point to the first."""
    return first[0] - second[0], first[1] - second[1]


def angle(first: Plan, second: Plan) -> float:
    """Degrees between two directions in plan; 90 if one of them has no length."""
    lengths = hypot(*first) * hypot(*second)
    if lengths < 1e-12:
        return 90.0
    return degrees(acos(max(-1.0, min(1.0, dot(first, second) / lengths))))


def plan_distance(first: Body, second: Body) -> float:
    """The distance of two turned rectangles in plan; 0 if they overlap."""
    offset = minus(first.at, second.at)
    for direction in (first.right, first.back, second.right, second.back):
        if abs(dot(offset, direction)) > first.reach(direction) + second.reach(direction) - 1e-9:
            break  # a line that separates them
    else:
        return 0.0

    least = inf
    for points, walls in ((first.corners, second.corners), (second.corners, first.corners)):
        for point in points:
            for number in range(4):
                least = min(least, _to_segment(point, walls[number], walls[number - 1]))
    return least


def _to_segment(point: Plan, start: Plan, end: Plan) -> float:
    along = minus(end, start)
    share = dot(minus(point, start), along) / dot(along, along)
    share = max(0.0, min(1.0, share))
    return hypot(point[0] - start[0] - share * along[0], point[1] - start[1] - share * along[1])


def covered_share(inner: Body, outer: Body, margin: float = 0.0) -> float:
    """How much of the plan of `inner` lies within that of `outer`, by a grid of 7 x 7 points."""
    found = 0
    for across in GRID:
        for along in GRID:
            x = inner.at[0] + across * inner.width * inner.right[0]
            y = inner.at[1] + across * inner.width * inner.right[1]
            x += along * inner.depth * inner.back[0]
            y += along * inner.depth * inner.back[1]
            own = outer.locate((x, y))
            within_x = abs(own[0]) <= outer.width / 2 + margin
            found += within_x and abs(own[1]) <= outer.depth / 2 + margin
    return found / len(GRID) ** 2


# Verdicts: true, false or undecided, each with its reason in words.


class Verdict(NamedTuple):
    """Whether a relation holds; `truth` is none in the undecided band."""

    truth: bool | None
    why: str


Meaning = Callable[[BodyPair], Verdict]


def judge(true: bool, false: bool, why: str) -> Verdict:
    """The verdict where one condition makes a relation true and another one makes it false."""
    if true:
        return Verdict(True, why)
    if false:
        return Verdict(False, why)
    return Verdict(None, why)


def all_of(*verdicts: Verdict) -> Verdict:
    """True if all are, false if one is."""
    return _first(verdicts, False) or _first(verdicts, None) or _together(True, verdicts)


def any_of(*verdicts: Verdict) -> Verdict:
    """True if one is, false if all are."""
    return _first(verdicts, True) or _first(verdicts, None) or _together(False, verdicts)


def _first(verdicts: tuple[Verdict, ...], truth: bool | None) -> Verdict | None:
    """The first verdict of this truth, if there is one."""
    for verdict in verdicts:
        if verdict.truth is truth:
            return verdict
    return None


def _together(truth: bool, verdicts: tuple[Verdict, ...]) -> Verdict:
    """A verdict with the reasons of all."""
    return Verdict(truth, "; ".join(verdict.why for verdict in verdicts))


def undecided(why: str) -> Verdict:
    """Neither true nor false, and why."""
    return Verdict(None, why)


def metres(length: float) -> str:
    """A length in words."""
    return f"{length * 100:.0f} cm" if length < 1 else f"{length:.1f} m"


def gap_in_words(pair: BodyPair) -> str:
    """How far the two are apart, in words."""
    if pair.rests:
        return resting_in_words(pair)
    return f"{pair.a.name} and {pair.b.name} are {metres(pair.gap)} apart"


def resting_in_words(pair: BodyPair) -> str:
    """Who stands on or in whom, or beneath, in words."""
    for one in (pair, pair.flipped):
        if one.is_in:
            return f"{one.a.name} is in the hollow of {one.b.name}"
        if one.is_on:
            return f"{one.a.name} stands on the top of {one.b.name}"
        if one.is_beneath:
            return f"{one.a.name} is in the room beneath {one.b.name}"
    return f"neither of {pair.a.name} and {pair.b.name} rests on the other"
