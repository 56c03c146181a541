"""Composition tables: if A is r to B and B is s to C, which relations may A have to C?"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

from gnomon.files import package_data, read_yaml

# Allen's thirteen relations of stretches on a line, by enumeration.
#
# Three stretches have six ends, so that whatever can happen happens among stretches with ends at
# 0 to 5. (J. F. Allen, Maintaining knowledge about temporal intervals, 1983, figure 4.)


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


def _compare(one: int, two: int) -> int:
    return (one > two) - (one < two)


# Nine directions between points, by enumeration: three points need three places on each axis.


Point = tuple[int, int]
_NORTH_SOUTH = {1: "north", 0: "", -1: "south"}
_EAST_WEST = {1: "east", 0: "", -1: "west"}
SAME = "same place"
_WINDS = "north north-east east south-east south south-west west north-west"
CARDINAL_RELATIONS = (*_WINDS.split(), SAME)


def cardinal_relation(one: Point, two: Point) -> str:
    """The direction in which one point lies from another.

    >>> cardinal_relation((0, 2), (1, 0)), cardinal_relation((0, 1), (0, 0))
    ('north-west', 'north')
    """
    east = _EAST_WEST[_compare(one[0], two[0])]
    north = _NORTH_SOUTH[_compare(one[1], two[1])]
    return "-".join(filter(None, (north, east))) or SAME


# Composition tables: if A is r to B and B is s to C, which relations may A have to C?
#
# Allen's and the cardinal one are computed by trying all arrangements of three; that of the
# rectangle algebra is two of Allen's, one for each axis. RCC-8 ships as data (a test computes it
# from boxes).


Relation = tuple[str, ...]  # one name, or one for each axis
Cell = tuple[Relation, Relation]  # A to B, B to C
NAMES = ("rcc8", "allen", "cardinal", "rectangle")


@dataclass(frozen=True)
class Calculus:
    """Relations of which exactly one holds between two things, and how they compose on each axis.

    >>> table = calculus("cardinal")
    >>> sorted(table.compose(("north",), ("east",)))
    [('north-east',)]
    """

    name: str
    names: tuple[str, ...]  # of the relations on one axis
    table: Mapping[tuple[str, str], frozenset[str]]
    axes: int = 1

    @property
    def relations(self) -> Iterator[Relation]:
        """Every relation."""
        return product(self.names, repeat=self.axes)

    @property
    def cells(self) -> Iterator[Cell]:
        """Every pair of premises."""
        return product(self.relations, self.relations)

    def compose(self, first: Relation, second: Relation) -> frozenset[Relation]:
        """The relations that A may have to C."""
        per_axis = [self.table[pair] for pair in zip(first, second, strict=True)]
        return frozenset(product(*per_axis))

    def possibilities(self, first: Relation, second: Relation) -> int:
        """How many relations A may have to C."""
        found = 1
        for pair in zip(first, second, strict=True):
            found *= len(self.table[pair])
        return found

    def is_open(self, cell: Cell) -> bool:
        """Whether the premises rule nothing out."""
        every = len(list(self.relations))
        return self.possibilities(*cell) == every


@cache
def calculus(name: str) -> Calculus:
    """The calculus of that name."""
    if name == "rcc8":
        return _rcc8()
    if name == "cardinal":
        points = product(range(3), range(3))
        return Calculus(name, CARDINAL_RELATIONS, _table(points, cardinal_relation))
    axes = 2 if name == "rectangle" else 1
    return Calculus(name, ALLEN_RELATIONS, _allen_table(), axes)


@cache
def _allen_table() -> Mapping[tuple[str, str], frozenset[str]]:
    return _table(combinations(range(6), 2), allen_relation)


def _table(
    things: Iterable[tuple[int, int]], relation: Callable[[Point, Point], str]
) -> dict[tuple[str, str], frozenset[str]]:
    """Which relations of A to C occur with those of A to B and B to C, among all such things."""
    found: dict[tuple[str, str], set[str]] = {}
    for one, two, three in product(list(things), repeat=3):
        cell = relation(one, two), relation(two, three)
        found.setdefault(cell, set()).add(relation(one, three))
    return {cell: frozenset(possible) for cell, possible in found.items()}


def _rcc8() -> Calculus:
    """The table of Randell, Cui and Cohn (1992), as it ships."""
    content: dict[str, dict[str, str]] = read_yaml(package_data("calculi/rcc8.yaml"))
    names = tuple(content)
    table = {}
    for first, row in content.items():
        for second, possible in row.items():
            table[first, second] = frozenset(_listed(possible, names))
    return Calculus("rcc8", names, table)


def _listed(text: str, names: Sequence[str]) -> Sequence[str]:
    return names if text == "any" else text.split()
