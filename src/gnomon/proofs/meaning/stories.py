"""Stories: who is where at each moment, under a reading of what sentences leave open."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

import msgspec

from gnomon.errors import unknown
from gnomon.files import package_data, read_yaml
from gnomon.proofs.meaning.formulas import (
    FALSE,
    Formula,
    Proposition,
    Term,
    every,
    exactly_one,
    quantity,
    some,
)

# Readings: what a sentence leaves open and a reader supplies, as named switches.


class SentenceReading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way to understand the words; every switch is explained in readings.yaml."""

    name: str = "ordinary"
    says: str = ""
    whole: bool = False  # directions compare whole boxes, not centres
    sharp: bool = False  # near and far are thresholds, and things may be of any size
    open_plan: bool = False  # rooms, cities and countries may overlap, and things straddle walls
    loose: bool = False  # what is between two things need not be in line with them
    viewer: bool = False  # in front and behind are the viewer's, whatever the thing's own front
    ghostly: bool = False  # bodies may share their place
    passing: bool = False  # what has happened need not have lasted
    exact: bool = False  # a direction is a line: what is north is due north
    stepped: bool = False  # a direction is one step on a grid, and north is up

    @property
    def switches(self) -> set[str]:
        """The switches that it throws."""
        return {field for field in self.__struct_fields__[2:] if getattr(self, field)}

    @property
    def grants_less(self) -> bool:
        """Whether it only drops assumptions: what the ordinary reading leaves open stays open."""
        return self.sharp or self.open_plan or self.ghostly


@cache
def readings() -> dict[str, SentenceReading]:
    """The readings of plain sentences by name; the first one is the ordinary one.

    >>> list(readings())[0]
    'ordinary'
    """
    found = {}
    for name, reading in all_readings().items():
        if not (reading.exact or reading.stepped):
            found[name] = reading
    return found


@cache
def all_readings() -> dict[str, SentenceReading]:
    """Also those that only puzzles are meant by."""
    found = {}
    for name, entry in read_yaml(package_data("space/meaning/readings.yaml")).items():
        found[name] = msgspec.convert({"name": name, **entry}, SentenceReading)
    return found


def reading_named(name: str) -> SentenceReading:
    """The reading of a name."""
    if name not in all_readings():
        raise unknown("reading", name[:60], all_readings())
    return all_readings()[name]


AXES = ("x", "y", "z")
START, MIDDLE, NOW = 0, 1, 2  # the moments of a story
EARLIER = 3  # before its start, and higher numbers are before that
MOMENTS = (START, MIDDLE, NOW)
WINDS = (("y", 1), ("x", 1), ("y", -1), ("x", -1))  # north, east, south, west: to the right

# Kinds that decide how a thing behaves; `kinds.yaml` says which classes of a world are of a kind.
LENGTHS = ("step", "near", "far", "mile")
WALLED = ("room", "building", "city", "country")
SEPARATE = (*WALLED, "spot")  # two of a kind are apart
NESTING = ("room", "building")  # unless they are said to be in one another: a shop in a station


class When(NamedTuple):
    """The moment that a clause speaks of, and those before and after what it tells."""

    at: int = NOW
    before: int = START
    after: int = NOW


class Story:
    """Collects the boxes, headings and assumptions that the meanings of sentences need."""

    def __init__(
        self,
        kinds: Mapping[str, frozenset[str]],
        reading: SentenceReading,
        implied: Mapping[str, frozenset[str]] | None = None,
        turning: Iterable[str] = (),
    ) -> None:
        self.kinds = dict(kinds)
        self.turning = set(turning)  # whose heading is spoken of
        self.has_compass = False  # whether north and the like are spoken of
        self.moments: tuple[int, ...] = MOMENTS  # that are spoken of
        self.telling = False  # whether what is said now is told, not asked: a clear case
        self.implied = implied or {}
        self.reading = reading
        self._known_ends: dict[tuple[str, str, int], tuple[Term, Term]] = {}
        self.asked: set[str] = set()  # switches of the reading that came up
        self.assumed: list[Formula] = []
        self.placed: dict[tuple[str, int], None] = {}  # things whose sides matter, by moment
        self.headed: dict[tuple[str, int], None] = {}
        self.seated: dict[str, None] = {}
        self.lengths: dict[str, None] = {}
        self.holding: set[str] = set()  # what something is said to be in
        self.filled: set[str] = set()  # what something is said to be in, of any size
        self.sheltering: set[str] = set()  # what something is said to be under
        self.joined: dict[tuple[str, str, str, int], None] = {}  # told to be "on" or "with" another
        self.in_touch: set[frozenset[str]] = set()  # told to be in, on or against one another
        self.meeting: set[frozenset[str]] = set()  # said to be on or against one another, or not to
        self.nested: set[frozenset[str]] = set()  # one is said to be in the other, or not to be
        self.outside: dict[tuple[str, str, int], None] = {}  # told to be outside another
        self.left: set[tuple[str, str]] = set()  # who is told to have left what
        self.asks_between_winds = False
        self.winds: dict[
            tuple[str, str, int], set[str]
        ] = {}  # along which axes one is told to be off
        self.road: tuple[str, str] | None = None  # from where to where it leads
        self.storeyed: set[str] = set()  # what is said to be on a floor
        self.roomed: dict[tuple[str, str, int], None] = {}

    def is_a(self, name: str, *kinds: str) -> bool:
        """Whether a thing is of one of the kinds."""
        own = self.kinds.get(name) or self.implied.get(name, frozenset())
        return not own.isdisjoint(kinds)

    def is_fronted(self, name: str) -> bool:
        """Whether a thing has a front of its own; it may, if nothing is known of it."""
        return self.is_a(name, "fronted") or self.is_unknown(name)

    def may_have_legs(self, name: str) -> bool:
        """Whether there is room under a thing, or may be."""
        return self.is_a(name, "legged") or self.is_unknown(name)

    def is_unknown(self, name: str) -> bool:
        """Whether nothing is known of what a thing is."""
        return not (self.kinds.get(name) or self.implied.get(name))

    @property
    def unknown_nouns(self) -> tuple[str, ...]:
        """Those of whom nothing is known, as they are said."""
        names = [name for name, kinds in self.kinds.items() if not kinds]
        return tuple(name.replace("-", " ") for name in names if not name.startswith("unnamed-"))

    @contextmanager
    def told(self, *, denied: bool) -> Iterator[None]:
        """While a denial is told, its parts are no clear cases."""
        before = self.telling
        self.telling = before and not denied
        yield
        self.telling = before

    def reads(self, switch: str) -> bool:
        """Whether the reading throws a switch; what is never asked cannot matter."""
        self.asked.add(switch)
        return bool(getattr(self.reading, switch))

    def named(self, *but: str) -> list[str]:
        """Those that the story names, without some of them."""
        return [name for name in self.kinds if name not in but]

    def moment(self, name: str, at: int) -> int:
        """The moment of a thing; what does not move has one only."""
        return START if self.is_a(name, "fixed") else at

    # Quantities.

    def middle(self, name: str, axis: str, at: int) -> Term:
        """The centre of a thing along an axis."""
        return quantity(f"{name}@{self.moment(name, at)}.{axis}")

    def aligned(self, a: str, b: str, axes: Iterable[str], at: int) -> Formula:
        """The centres of two things are at the same place along some axes."""
        parts = []
        for axis in axes:
            parts.append(self.middle(a, axis, at).same(self.middle(b, axis, at)))
        return every(parts)

    def low(self, name: str, axis: str, at: int) -> Term:
        """Where a thing begins along an axis."""
        return self._ends(name, axis, at)[0]

    def high(self, name: str, axis: str, at: int) -> Term:
        """Where a thing ends along an axis."""
        return self._ends(name, axis, at)[1]

    def _ends(self, name: str, axis: str, at: int) -> tuple[Term, Term]:
        key = (name, axis, self.moment(name, at))
        known = self._known_ends.get(key)
        if known is None:
            self.placed[name, key[2]] = None
            middle, half = self.middle(name, axis, at), quantity(f"{name}.half-{axis}")
            known = self._known_ends[key] = (middle - half, middle + half)
        return known

    def extent(self, name: str) -> Term:
        """How long the sides of a thing are together."""
        return quantity(f"{name}.half-x") + quantity(f"{name}.half-y") + quantity(f"{name}.half-z")

    def underside(self, name: str, at: int) -> Term:
        """The height below which there is room under a thing: its foot, unless it has legs."""
        if not self.may_have_legs(name):
            return self.low(name, "z", at)
        return self.low(name, "z", at) + quantity(f"{name}.legs")

    def floor(self, name: str, at: int) -> Term:
        """The number of the floor that something is on."""
        self.storeyed.add(name)
        return quantity(f"{name}@{self.moment(name, at)}.floor")

    def same_floor_if_inside(self, inner: str, outer: str, at: int) -> None:
        """Who is in a room is on its floor."""
        if self.is_a(outer, "room") and not self.is_a(inner, "fixed"):
            self.roomed[inner, outer, at] = None

    def length(self, name: str) -> Term:
        """A length that words compare with: step, near, far, mile, floor."""
        self.lengths[name] = None
        return quantity(name)

    def heading(self, name: str, at: int) -> list[Formula]:
        """Four flags: which of the WINDS somebody faces."""
        self.headed[name, at] = None
        return [Proposition(f"{name}@{at} faces {wind}") for wind in range(4)]

    def seat(self, name: str, seats: int = 6) -> list[Formula]:
        """Flags: on which seat around a table somebody sits, counted to the right."""
        self.seated[name] = None
        return [Proposition(f"{name} on seat {seat}") for seat in range(seats)]

    def assume(self, formula: Formula) -> None:
        """Take something for granted, whether its sentence is true or not."""
        self.assumed.append(formula)

    def touches(self, one: str, other: str, *, within: bool = False) -> None:
        """Remember that two things are told to be in, on or against one another."""
        pair = frozenset((one, other))
        (self.nested if within else self.meeting).add(pair)
        if self.telling:
            self.in_touch.add(pair)

    # What holds of any such world.

    def background(self) -> list[Formula]:
        """The assumptions about everything that has been spoken of so far."""
        found = [*self.assumed, *self._floors(), *self._supports(), *self._sidesteps()]
        speaks_of_lengths = bool(self.lengths)
        for name in dict.fromkeys(name for name, _ in self.placed):
            found += self._sides(name, limited=speaks_of_lengths)
        for name, at in self.headed:
            found.append(exactly_one(self.heading(name, at)))
        for name in self.seated:
            found.append(exactly_one(self.seat(name)))
        for one, other in combinations(self.seated, 2):
            pairs = zip(self.seat(one), self.seat(other), strict=True)
            found += [~first | ~second for first, second in pairs]
        for one, other, at in self.outside:
            told = self.told_of(one, "outside", other, at)
            found.append(told.implies(self._clear_of(one, other, at)))
        found += self._places()
        return found + self._lengths()

    def _floors(self) -> list[Formula]:
        """Who is in a room is on its floor, where floors are spoken of."""
        if not self.storeyed:
            return []
        found: list[Formula] = []
        for inner, outer, at in list(self.roomed):
            same = self.floor(inner, at).same(self.floor(outer, at))
            found.append(self.within(inner, outer, at).implies(same))
        for one, other in permutations(sorted(self.storeyed), 2):
            higher = self.floor(one, NOW) > self.floor(other, NOW)
            above = self.low(one, "z", NOW) >= self.high(other, "z", NOW)
            found.append(higher.implies(above))
        return found

    def _supports(self) -> list[Formula]:
        """What is on a thing or with a person is where they are: in the room, in the box."""
        found: list[Formula] = []
        for upper, word, lower, at in self.joined:
            if self.is_a(lower, "area", "water"):
                continue
            told = self.told_of(upper, word, lower, at)
            for outer in sorted(self.holding - {upper, lower}):
                straddled = self.is_a(outer, *WALLED) and self.reads("open_plan")
                if not (straddled or self.is_a(outer, "water")):
                    both = self.within(lower, outer, at) & told
                    found.append(both.implies(self.within(upper, outer, at)))
        return found

    def _sidesteps(self) -> list[Formula]:
        """What is told to be north of a place is hardly off to the side of it.

        This is taken for granted only where north-east and the like are asked for: what is north of
        one place and east of another is north-east of a third, but hardly "east" of it.
        """
        found: list[Formula] = []
        if not self.asks_between_winds:
            return found
        slack = quantity("sidestep")
        for (one, other, at), axes in self.winds.items():
            if len(axes) > 1:  # north and also east of it
                continue
            told = self.told_of(one, "off", other, at)
            for axis in {"x", "y"} - axes:
                off = self.middle(one, axis, at) - self.middle(other, axis, at)
                found += [told.implies(off <= slack), told.implies(off >= slack * -1)]
            (axis,) = axes
            for near, far in ((one, other), (other, one)):
                way = self.middle(far, axis, at) - self.middle(near, axis, at)
                found.append(told.implies((way <= 0) | (way >= slack * 50)))
        return [slack > 0, *found] if found else []

    def told_of(self, one: str, word: str, other: str, at: int) -> Formula:
        """Stands for "it is told that one is on the other", and the like."""
        return Proposition(f"{one} is told to be {word} {other} at {at}")

    def _lengths(self) -> list[Formula]:
        """Lengths are positive, and each is clearly more than the one before."""
        found = [quantity(length) > 0 for length in ("floor", "rim") if length in self.lengths]
        margin = 1 if self.lengths and self.reads("sharp") else 4
        used = [length for length in LENGTHS if length in self.lengths]
        for number, length in enumerate(used):
            if number == 0:
                found.append(quantity(length) > 0)
                continue
            steps = LENGTHS.index(length) - LENGTHS.index(used[number - 1])
            found.append(quantity(length) > quantity(used[number - 1]) * margin**steps)
        return found

    def _sides(self, name: str, *, limited: bool) -> list[Formula]:
        found = []
        for axis in AXES:
            half = quantity(f"{name}.half-{axis}")
            found.append(half > 0)
            limit = self._limit(name) if limited else None
            if limit is not None:
                found.append(half * 2 <= limit)
        legs = quantity(f"{name}.legs")
        if self.is_unknown(name):
            found += [legs >= 0, legs < quantity(f"{name}.half-z") * 2]
        if self.is_a(name, "legged"):
            found += [legs > 0, legs < quantity(f"{name}.half-z") * 2]
        return found

    def _limit(self, name: str) -> Term | None:
        """How large a thing may be: what can be carried or walks is within a step."""
        if self.is_a(name, "city", "country", "area") or self.reads("sharp"):
            return None
        if name in self.filled:  # two things in it need not be near one another
            return None
        if self.is_a(name, "building", "room", "landmark", "vehicle", "fixed"):
            return self.length("near")
        return self.length("step")

    def _places(self) -> list[Formula]:
        """Solid bodies, separate places, and walls that nothing straddles."""
        found: list[Formula] = []
        for (one, at), (other, then) in combinations(self.placed, 2):
            if one == other:
                continue
            if at != then and not self.is_a(one, "fixed") and not self.is_a(other, "fixed"):
                continue
            found += self._pair(one, other, max(at, then))
        return found

    def _pair(self, one: str, other: str, at: int) -> Iterable[Formula]:
        if self._solid(one) and self._solid(other) and not self.reads("ghostly"):
            yield self.disjoint(one, other, at) | self._tucked(one, other, at)
        walls = list(self._walls(one, other, at))
        if walls and not self.reads("open_plan"):
            yield from walls

    def _walls(self, one: str, other: str, at: int) -> Iterable[Formula]:
        """Places of a kind are apart, and nothing straddles a wall."""
        for kind in SEPARATE:
            if self.is_a(one, kind) and self.is_a(other, kind):
                if kind not in NESTING or not self._nest(one, other, kind):
                    yield self._clear_of(one, other, at)
                return
        if self._indoors_and_out(one, other):
            yield self._clear_of(one, other, at)
            return
        if self.is_a(one, "destination") and self.is_a(other, "destination"):
            yield ~self.close(one, other, at, self.length("near"))
        for inner, outer in ((one, other), (other, one)):
            if self.is_a(outer, *WALLED) and self._could_be_in(inner, outer):
                ways = [self.within(inner, outer, at), self._on_roof(inner, outer, at)]
                ways.append(self._clear_of(inner, outer, at))
                if self.is_unknown(inner):  # it may be the larger one
                    ways.append(self.within(outer, inner, at))
                yield some(ways)

    def _nest(self, one: str, other: str, kind: str) -> bool:
        """Whether the text speaks of one place as in another, be it by way of a third."""
        pairs = [pair for pair in self.nested if all(self.is_a(name, kind) for name in pair)]
        reached = {one}
        for pair in pairs * len(pairs):
            if not reached.isdisjoint(pair):
                reached |= pair
        return other in reached

    def _clear_of(self, one: str, other: str, at: int) -> Formula:
        """Two things are apart and do not touch, unless the text speaks of that."""
        strictly = frozenset((one, other)) not in self.meeting
        return self.disjoint(one, other, at, strictly=strictly)

    def _indoors_and_out(self, one: str, other: str) -> bool:
        """Whether one is a room and the other a garden or the like."""
        kinds = ("room", "outdoors")
        return any(self.is_a(one, a) and self.is_a(other, b) for a, b in permutations(kinds))

    def _on_roof(self, upper: str, lower: str, at: int) -> Formula:
        if not self.is_a(lower, "building"):
            return FALSE
        return self.low(upper, "z", at).same(self.high(lower, "z", at))

    def _could_be_in(self, inner: str, outer: str) -> bool:
        if self.is_a(inner, "building", "room", "city", "country"):
            pairs = (("room", "building"), ("city", "country"), ("building", "city"))
            return any(self.is_a(inner, low) and self.is_a(outer, high) for low, high in pairs)
        return not self.is_a(inner, "fixed")

    def _solid(self, name: str) -> bool:
        return name not in self.holding and not self.is_a(
            name, "hollow", "area", "divider", "spot", *WALLED
        )

    def _tucked(self, one: str, other: str, at: int) -> Formula:
        """One is under the other, which has legs."""
        ways = []
        for lower, upper in ((one, other), (other, one)):
            if self.is_a(upper, "legged") or upper in self.sheltering:
                ways.append(self.high(lower, "z", at) <= self.underside(upper, at))
        return some(ways)

    def within(self, inner: str, outer: str, at: int) -> Formula:
        """All of one thing is in the box of another, which is larger."""
        parts = [self.extent(inner) < self.extent(outer)]
        for axis in AXES:
            parts.append(self.low(outer, axis, at) <= self.low(inner, axis, at))
            parts.append(self.high(inner, axis, at) <= self.high(outer, axis, at))
        return every(parts)

    def close(self, one: str, other: str, at: int, limit: Term) -> Formula:
        """Along no axis are two things farther apart than a length."""
        parts = []
        for axis in AXES:
            for left, right in ((one, other), (other, one)):
                gap = self.low(right, axis, at) - self.high(left, axis, at)
                parts.append(gap <= limit)
        return every(parts)

    def disjoint(self, one: str, other: str, at: int, *, strictly: bool = False) -> Formula:
        """Nothing is in both boxes; strictly: they do not touch."""
        ways = []
        for axis in AXES:
            for left, right in ((one, other), (other, one)):
                end, start = self.high(left, axis, at), self.low(right, axis, at)
                ways.append(end < start if strictly else end <= start)
        return some(ways)
