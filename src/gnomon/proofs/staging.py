"""Staging a proof: real sizes, a floor and some room between things, so that it can be drawn.

The solver is asked once more, with these wishes on top of the premises; wishes that cannot be met
are dropped, the last first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, product

from gnomon.files import package_data, read_yaml
from gnomon.proofs.meaning.formulas import Formula, every, quantity, some
from gnomon.proofs.meaning.nouns import kinds_of_nouns
from gnomon.proofs.meaning.readings import Reading
from gnomon.proofs.meaning.relations.contact import on
from gnomon.proofs.meaning.stories import NOW, When
from gnomon.proofs.meaning.texts import Text
from gnomon.proofs.solving import Theory, Witness
from gnomon.scenes.saying import other_nouns
from gnomon.scenes.things import Thing, things

FRAMES = (3, 5, 8, 14, 30, 80, 400)  # metres from the middle that a scene may take up
NARROW = (3, 5, 8, 11, 14)  # within which nothing need hide anything
GAP = 0.3  # metres between things that stand side by side
UNHIDDEN = 0.8  # of their widths, how far things are apart across the line of sight
SMALLEST_PLACE = 1.5  # metres from the middle of a room or a field to its edge


@cache
def _cast_list() -> dict[str, list[str]]:
    found: dict[str, list[str]] = read_yaml(package_data("space/cast.yaml"))
    return found


def cast_of(text: Text, nouns: Mapping[str, str] | None = None) -> dict[str, Thing]:
    """A thing for everybody whom a text names and who can be drawn; `nouns` says what they are."""
    found: dict[str, Thing] = {}
    taken: set[str] = set()
    for name, kinds in text.kinds.items():
        noun = (nouns or {}).get(name, name.replace("-", " "))
        chosen = _thing_for(noun, kinds | kinds_of_nouns().get(noun, frozenset()), taken)
        if chosen:
            taken.add(chosen)
            found[name] = things()[chosen]
    return found


def _thing_for(noun: str, kinds: frozenset[str], taken: set[str]) -> str:
    noun = other_nouns().get(noun, noun)
    if noun in things():
        return noun
    for kind, names in _cast_list().items():
        if kind in kinds or (kind == "thing" and not kinds):
            free = [name for name in names if name not in taken]
            return (free or names)[0]
    return ""


class Stage:
    """A text under a reading, with the things that play its parts."""

    def __init__(self, text: Text, reading: Reading, cast: Mapping[str, Thing]) -> None:
        self.cast = dict(cast)
        self.story, self.premises, self.claims = text.formulas(reading)
        self.things = [name for name in text.kinds if name in self.cast]
        self.places = [name for name in text.kinds if name not in self.cast]

    def witness(self, claim: int, truth: bool) -> Witness | None:
        """Numbers for a scene in which the premises hold and a claim is true, or false."""
        wanted = self.claims[claim] if truth else ~self.claims[claim]
        support, gaps = self._support(), self._gaps()
        sizes = list(self._sizes())
        ground = self._ground_floor()
        clear = [*ground, *support, *self._gaps(stacked=False), *self._sight()]
        spread = [*ground, *support, *gaps, *self._sight()]
        attempts = [(clear, NARROW), (spread, NARROW), ([*support, *gaps], FRAMES)]
        attempts += [(gaps, FRAMES), ([], FRAMES)]
        for wishes, frames in attempts:
            for frame in frames:
                stage = [*sizes, *self._frame(frame), *wishes, *self.premises, wanted]
                theory = Theory([*self.story.background(), *stage], [])
                found = theory.witness([])
                if found is not None:
                    return found
        return None

    def _sizes(self) -> Iterator[Formula]:
        for name in self.things:
            x, y, z = self.cast[name].size
            side = round(max(x, y), 3)  # a square, since it may be turned
            for axis, size in (("x", side), ("y", side), ("z", round(z, 3))):
                self.story.low(name, axis, NOW)
                yield quantity(f"{name}.half-{axis}").same(size / 2)
            if self.story.may_have_legs(name):
                yield quantity(f"{name}.legs").same(self.cast[name].beneath or z * 0.9)
        for name, axis in product(self._placed(), ("x", "y")):
            yield quantity(f"{name}.half-{axis}") >= SMALLEST_PLACE

    def _ground_floor(self) -> list[Formula]:
        """Rooms, houses and fields begin at the same height."""
        return [self.story.low(name, "z", NOW).same(0) for name in self._placed()]

    def _placed(self) -> list[str]:
        """The places whose sides matter."""
        placed, moment = self.story.placed, self.story.moment
        return [name for name in self.places if (name, moment(name, NOW)) in placed]

    def _frame(self, frame: float) -> Iterator[Formula]:
        for name in (*self.things, *self.places):
            for axis in ("x", "y"):
                yield self.story.middle(name, axis, NOW) <= frame
                yield self.story.middle(name, axis, NOW) >= -frame

    def _support(self) -> list[Formula]:
        """Everything stands on the floor, or in the middle of another thing's top or hollow."""
        found = []
        for name in self.things:
            ways = [self.story.low(name, "z", NOW).same(0)]
            if self.cast[name].living or self.cast[name].place == "outdoors":
                found += ways
                continue
            for other in self.things:
                if other == name:
                    continue
                if self.cast[other].top:
                    centred = self._over(name, other)
                    ways.append(on(self.story, When(), name, other) & centred)
                if self._is_container(other):
                    ways.append(self.story.within(name, other, NOW))
            found.append(some(ways))
        return found

    def _over(self, upper: str, lower: str) -> Formula:
        parts = []
        for axis in ("x", "y"):
            there = self.story.middle(lower, axis, NOW)
            side = quantity(f"{lower}.half-{axis}") * 0.4
            parts.append(self.story.middle(upper, axis, NOW) <= there + side)
            parts.append(self.story.middle(upper, axis, NOW) >= there - side)
        return every(parts)

    def _gaps(self, *, stacked: bool = True) -> list[Formula]:
        """Things stand apart, unless one is on, in or under the other."""
        found = []
        for one, other in combinations(self.things, 2):
            ways = [self._column(one, other)] if stacked else []
            for axis in ("x", "y"):
                for left, right in ((one, other), (other, one)):
                    end = self.story.high(left, axis, NOW) + GAP
                    ways.append(end <= self.story.low(right, axis, NOW))
            found.append(some(ways))
        return found

    def _sight(self) -> list[Formula]:
        """Seen from the south, things do not hide one another."""
        found = []
        for one, other in combinations(self.things, 2):
            ways = [self._column(one, other)]
            widths = quantity(f"{one}.half-x") + quantity(f"{other}.half-x")
            for left, right in ((one, other), (other, one)):
                offset = self.story.middle(right, "x", NOW) - self.story.middle(left, "x", NOW)
                ways.append(offset >= widths * UNHIDDEN)
            found.append(some(ways))
        return found

    def _column(self, one: str, other: str) -> Formula:
        """One is on, in or under the other."""
        ways = []
        for a, b in ((one, other), (other, one)):
            ways.append(on(self.story, When(), a, b))
            ways.append(self.story.high(a, "z", NOW) <= self.story.underside(b, NOW))
            if self._is_container(b):
                ways.append(self.story.within(a, b, NOW))
        return some(ways)

    def _is_container(self, name: str) -> bool:
        """Whether a thing has a hollow, and the text speaks of it."""
        return bool(self.cast[name].cavity) and name in self.story.holding
