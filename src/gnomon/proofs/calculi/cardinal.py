"""Nine directions between points, by enumeration: three points need three places on each axis."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

Point = tuple[int, int]
_NORTH_SOUTH = {1: "north", 0: "", -1: "south"}
_EAST_WEST = {1: "east", 0: "", -1: "west"}
SAME = "same place"
CARDINAL_RELATIONS = (
    "north",
    "north-east",
    "east",
    "south-east",
    "south",
    "south-west",
    "west",
    "north-west",
    SAME,
)


def cardinal_relation(one: Point, two: Point) -> str:
    """The direction in which one point lies from another.

    >>> cardinal_relation((0, 2), (1, 0)), cardinal_relation((0, 1), (0, 0))
    ('north-west', 'north')
    """
    east = _EAST_WEST[_sign(one[0] - two[0])]
    north = _NORTH_SOUTH[_sign(one[1] - two[1])]
    return "-".join(filter(None, (north, east))) or SAME


def cardinal_triples() -> Iterator[tuple[str, str, str]]:
    """Relations of A to B, B to C and A to C that occur together; some more than once."""
    points = list(product(range(3), range(3)))
    for one, two, three in product(points, repeat=3):
        yield cardinal_relation(one, two), cardinal_relation(two, three), cardinal_relation(one, three)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
