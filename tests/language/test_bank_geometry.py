"""Labels that geometry decides, proved: premises and hypothesis are read as conditions on a small
world (places on a line or a map, sides of a street, seats, miles, turns), and every world is tried.
An entailment holds in all that satisfy the premises, a contradiction in none, and a neutral
hypothesis in some but not in all.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import permutations, product
from typing import Any

import pytest

from gnomon.files import package_data
from gnomon.language.patternfile import read_bank
from gnomon.language.patterns import Bank, Pattern

World = Mapping[str, Any]
Shapes = list[tuple[str, Callable[..., bool]]]

S = r"\{(\w)(?:'s)?\}(?: \{\w:is\})?"  # a slot, perhaps with its verb


@cache
def bank() -> Bank:
    return read_bank(package_data("patterns/bank"))


def members(square: str) -> list[Pattern]:
    return [pattern for pattern in bank().patterns if pattern.id.startswith(f"{square}-")]


def clauses(sentence: str) -> list[str]:
    """What a sentence says one after another: "A is ..., B is ..., and C is ..."."""
    return [part for part in re.split(r",? and (?=\{)|, (?=\{)", sentence) if part]


def meaning(clause: str, shapes: Shapes) -> Callable[[World], bool]:
    """The condition that a clause puts on a world."""
    for shape, holds in shapes:
        if match := re.fullmatch(shape, clause):
            slots = [slot for slot in match.groups() if slot]
            return lambda world: holds(*(world[slot] for slot in slots))
    raise AssertionError(f"no shape fits: {clause}")


def label_by_trying(
    premises: Iterable[str], hypothesis: str, worlds: Iterable[World], shapes: Shapes
) -> str:
    """The label that follows from the meanings, by trying every world."""
    stated = [meaning(clause, shapes) for clause in premises]
    claim = meaning(hypothesis, shapes)
    outcomes = {claim(world) for world in worlds if all(holds(world) for holds in stated)}
    assert outcomes, "no world satisfies the premises"
    if len(outcomes) == 2:
        return "neutral"
    return "entailment" if outcomes == {True} else "contradiction"


def texts(pattern: Pattern) -> list[str]:
    return [sentence.text for sentence in pattern.premises]


def all_clauses(pattern: Pattern) -> list[str]:
    found: list[str] = []
    for text in texts(pattern):
        found += clauses(text)
    return found


# Places on a line.

FRAME = r"(?:(?:In|On|Along) the [a-z ]+, |Seen from where \{P\} is, )?"
MORE = "to the right of|above|on a higher floor than|in front of|farther north than|ahead of|after"
LESS = "to the left of|below|on a lower floor than|behind|farther south than|before"
VERB = r"(?: (?:is|hangs|lives|comes))?"


def between(x: int, a: int, b: int) -> bool:
    return min(a, b) < x < max(a, b)


ON_A_LINE: Shapes = [
    (rf"{FRAME}{S}{VERB} (?:{MORE}) {S}", lambda a, b: a > b),
    (rf"{FRAME}{S}{VERB} (?:{LESS}) {S}", lambda a, b: a < b),
    (rf"{FRAME}{S}{VERB} not (?:{MORE}) {S}", lambda a, b: not a > b),
    (rf"{FRAME}{S}{VERB} not (?:{LESS}) {S}", lambda a, b: not a < b),
    (rf"{S} is between {S} and {S}", between),
    (rf"{S} is not between {S} and {S}", lambda x, a, b: not between(x, a, b)),
    (rf"{S} is exactly halfway between {S} and {S}", lambda x, a, b: 2 * x == a + b),
    (rf"{S} is next to {S}", lambda a, b: abs(a - b) == 1),
    (rf"{S} is closer to {S} than to {S}", lambda x, a, b: abs(x - a) < abs(x - b)),
    (rf"{S} is closer to {S} than {S} is", lambda x, a, y: abs(x - a) < abs(y - a)),
    (rf"{S} is farther from {S} than {S} is", lambda x, a, y: abs(x - a) > abs(y - a)),
    (rf"{S} is not closer to {S} than {S} is", lambda x, a, y: abs(x - a) >= abs(y - a)),
    (rf"{S} is not farther from {S} than {S} is", lambda x, a, y: abs(x - a) <= abs(y - a)),
    (
        r"\{\w\}(?:, \{\w\})+ and \{\w\} (?:stand in a|are all on one) straight line",
        lambda *_: True,
    ),
]
ORDERS = [f"pr-{n}" for n in range(21, 33)] + [f"np-{n}" for n in range(28, 32)]
# How many places a line needs: halves of halves take nine, an order as many as there are things.
LINES = dict.fromkeys(ORDERS, 0) | {"np-11": 7, "np-12": 7, "np-13": 9}


@pytest.mark.parametrize("square", LINES)
def test_labels_on_a_line_hold_in_every_arrangement(square: str) -> None:
    assert len(members(square)) == 9
    for pattern in members(square):
        names = [slot.name for slot in pattern.slots if slot.name != "P"]
        room = LINES[square] or len(names)
        worlds = (
            dict(zip(names, order, strict=True)) for order in permutations(range(room), len(names))
        )
        found = label_by_trying(texts(pattern), pattern.hypothesis.text, worlds, ON_A_LINE)
        assert found == pattern.label, pattern.id


# Points on a map.

ON_A_MAP: Shapes = [
    (rf"{S} is due north of {S}", lambda a, b: a[0] == b[0] and a[1] > b[1]),
    (rf"{S} is due south of {S}", lambda a, b: a[0] == b[0] and a[1] < b[1]),
    (rf"{S} is due east of {S}", lambda a, b: a[1] == b[1] and a[0] > b[0]),
    (rf"{S} is due west of {S}", lambda a, b: a[1] == b[1] and a[0] < b[0]),
    (rf"{S} is farther north than {S}", lambda a, b: a[1] > b[1]),
    (rf"{S} is farther south than {S}", lambda a, b: a[1] < b[1]),
    (rf"{S} is farther east than {S}", lambda a, b: a[0] > b[0]),
    (rf"{S} is farther west than {S}", lambda a, b: a[0] < b[0]),
]


@pytest.mark.parametrize(("square", "side"), [("pr-33", 4), ("pr-34", 3)])
def test_labels_on_a_map_hold_wherever_things_are(square: str, side: int) -> None:
    assert len(members(square)) == 9
    for pattern in members(square):
        names = [slot.name for slot in pattern.slots]
        points = list(product(range(side), repeat=2))
        worlds = (
            dict(zip(names, places, strict=True)) for places in permutations(points, len(names))
        )
        found = label_by_trying(texts(pattern), pattern.hypothesis.text, worlds, ON_A_MAP)
        assert found == pattern.label, pattern.id


# Sides of a street.

STREET = r"(?: of (?:\{S\}|it))?"
ACROSS: Shapes = [
    (rf"{S} is (?:on the opposite side of|across) \{{S\}} from {S}", lambda a, b: a != b),
    (rf"{S} is on the same side{STREET} as {S}", lambda a, b: a == b),
    (rf"{S} (?:and )?{S} are on opposite sides{STREET}", lambda a, b: a != b),
    (rf"{S} (?:and )?{S} are on the same side{STREET}", lambda a, b: a == b),
    (rf"{S} is (?:near|far from|not far from) (?:{S}|both)", lambda *_: True),
]


@pytest.mark.parametrize("square", ["np-15", "np-16"])
def test_labels_about_sides_hold_whatever_is_on_which(square: str) -> None:
    assert len(members(square)) == 9
    for pattern in members(square):
        # "A and B are on ..." is one clause: its "and" is taken out before sentences are divided.
        sentences = [re.sub(r"(\{\w\}) and (\{\w\}) are", r"\1 \2 are", t) for t in texts(pattern)]
        stated: list[str] = []
        for sentence in sentences:
            stated += clauses(sentence)
        names = [slot.name for slot in pattern.slots if slot.name != "S"]
        worlds = (dict(zip(names, s, strict=True)) for s in product((0, 1), repeat=len(names)))
        found = label_by_trying(stated, pattern.hypothesis.text, worlds, ACROSS)
        assert found == pattern.label, pattern.id


# Seats at a round table: a seat to the left is one more.

AT_A_TABLE: Shapes = [
    (r"Six people are sitting around a table in six seats, evenly spaced", lambda: True),
    (rf"{S} is two seats to the left of {S}", lambda a, b: (a - b) % 6 == 2),
    (rf"{S} is two seats to the right of {S}", lambda a, b: (b - a) % 6 == 2),
    (rf"{S} is directly on {S} left", lambda a, b: (a - b) % 6 == 1),
    (rf"{S} is directly on {S} right", lambda a, b: (b - a) % 6 == 1),
    (rf"{S} is directly opposite {S}", lambda a, b: (a - b) % 6 == 3),
    (rf"{S} is in one of the other seats", lambda _: True),
    (rf"{S} is sitting next to {S}", lambda a, b: (a - b) % 6 in (1, 5)),
]


def test_labels_at_the_round_table_hold_in_every_seating() -> None:
    assert len(members("pr-20")) == 9
    for pattern in members("pr-20"):
        worlds = (dict(zip("PQRST", seats, strict=True)) for seats in permutations(range(6), 5))
        stated = all_clauses(pattern)
        found = label_by_trying(stated, pattern.hypothesis.text, worlds, AT_A_TABLE)
        assert found == pattern.label, pattern.id


# Miles: on a straight road distances are as short or as long as they can be.

NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()


def miles(text: str) -> int:
    return NUMBERS.index(text)


def roads(pattern: Pattern) -> Iterator[World]:
    """Every way to lay out on a line what the premises say, from L on."""
    steps = re.findall(r"\{(\w)\} is exactly (\w+) miles? from \{(\w)\}", " ".join(texts(pattern)))
    for signs in product((-1, 1), repeat=len(steps)):
        places = {"L": 0}
        left = list(zip(steps, signs, strict=True))
        while left:
            ready = [entry for entry in left if entry[0][2] in places]
            for (name, distance, start), sign in ready:
                places[name] = places[start] + sign * miles(distance)
            left = [entry for entry in left if entry not in ready]
        yield places


@pytest.mark.parametrize("square", ["np-09", "np-10"])
def test_labels_about_miles_hold_on_every_road(square: str) -> None:
    assert len(members(square)) == 9
    for pattern in members(square):
        shapes: Shapes = [
            (rf"{S} is less than five miles from {S}", lambda a, b: abs(a - b) < 5),
            (rf"{S} is more than five miles from {S}", lambda a, b: abs(a - b) > 5),
        ]
        found = label_by_trying([], pattern.hypothesis.text, roads(pattern), shapes)
        assert found == pattern.label, pattern.id


# Turns on the spot, in quarters to the right: each turn is one of several, all turns are tried.

WINDS = ["north", "east", "south", "west"]
TURNS = [
    (r"half turn", [2]),
    (r"two half turns", [4]),
    (r"quarter turn to the left", [-1]),
    (r"quarter turn to the right", [1]),
    (r"two quarter turns to the left", [-2]),
    (r"two quarter turns, each to the left or to the right", [-2, 0, 2]),
    (r"three quarter turns, each to the left or to the right", [-3, -1, 1, 3]),
    (r"quarter turn(?: to one side)?", [-1, 1]),
]
ONE_TURN = r"(?:a )?((?:two |three )?(?:half|quarter) turns?(?: to the left| to the right| to one side|, each to the left or to the right)?)"


def facings(text: str, person: str) -> set[int]:
    """Where a person may face in the end."""
    start = WINDS.index(re.findall(r"facing due (\w+)", text)[0])
    said = re.search(
        rf"\{{{person}\}} has (?:made (.*?)|turned on the spot)(?=, \{{|, and \{{|\||$)", text
    )
    assert said is not None, (text, person)
    if said[1] is None:
        return {0, 1, 2, 3}
    found = {start}
    for turn in re.findall(ONE_TURN, said[1]):
        ways = next(ways for shape, ways in TURNS if re.fullmatch(shape, turn))
        found = {(facing + way) % 4 for facing in found for way in ways}
    return found


@pytest.mark.parametrize("square", ["pr-06", "pr-07"])
def test_labels_about_turns_hold_for_every_turn(square: str) -> None:
    assert len(members(square)) == 9
    for pattern in members(square):
        claim = re.fullmatch(r"\{(\w)\} is now facing due north", pattern.hypothesis.text)
        assert claim is not None
        found = facings("|".join(texts(pattern)), claim[1])
        expected = {"entailment": found == {0}, "contradiction": 0 not in found}
        assert expected.get(pattern.label, 0 in found and len(found) > 1), (pattern.id, found)
