"""Allen's thirteen relations of stretches on a line, by enumeration.

Three stretches have six ends, so that whatever can happen happens among stretches with ends at 0 to
5. (J. F. Allen, Maintaining knowledge about temporal intervals, 1983, figure 4.)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

Stretch = tuple[int, int]
# how the beginnings compare and how the ends do -> relation, where the two share an inner point
_SHARING = {
    (-1, -1): "overlaps",
    (-1, 0): "finished by",
    (-1, 1): "contains",
    (0, -1): "starts",
    (0, 0): "equals",
    (0, 1): "started by",
    (1, -1): "during",
    (1, 0): "finishes",
    (1, 1): "overlapped by",
}
ALLEN_RELATIONS = ("before", "meets", *_SHARING.values(), "met by", "after")


def allen_relation(one: Stretch, two: Stretch) -> str:
    """How one stretch lies to another.

    >>> allen_relation((0, 2), (1, 5)), allen_relation((3, 4), (0, 3))
    ('overlaps', 'met by')
    """
    if one[1] < two[0]:
        return "before"
    if one[1] == two[0]:
        return "meets"
    if one[0] == two[1]:
        return "met by"
    if one[0] > two[1]:
        return "after"
    return _SHARING[_compare(one[0], two[0]), _compare(one[1], two[1])]


def allen_triples() -> Iterator[tuple[str, str, str]]:
    """Relations of A to B, B to C and A to C that occur together; some more than once."""
    stretches = list(combinations(range(6), 2))
    for one, two, three in product(stretches, repeat=3):
        yield allen_relation(one, two), allen_relation(two, three), allen_relation(one, three)


def _compare(one: int, two: int) -> int:
    return (one > two) - (one < two)
