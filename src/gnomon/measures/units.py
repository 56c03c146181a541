"""What items share: units of one or more kinds, by the tags that a benchmark names."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.columns import Codes, Floats, compact, first_rows, pooled
from gnomon.measures.layout import Shared, UnitLayout
from gnomon.naming import counted

if TYPE_CHECKING:
    from gnomon.contracts import Benchmark
    from gnomon.measures.table import Table

# more units of a kind than this are put together in so many random blocks, which are as independent
BLOCKS = 10_000
CELLS = 5_000_000  # numbers that a matrix of sums may hold


class Cells(NamedTuple):
    """Rows that share all their units, taken together."""

    of: Codes  # the cell of each row
    number: int
    layout: UnitLayout  # what cells share
    units_of_kind: tuple[int, ...]  # how many there are, before any were put into blocks
    words: str  # the same for people: "16 objects, 30 verbs"


@dataclass(frozen=True)
class Units:
    """The units of each row: codes, one for each tag, and how many of the tags make a kind.

    >>> pairs = Units(np.array([[0, 1], [1, 0], [0, 2]]), (2,), ("objects",))
    >>> pairs.cells(2).of.tolist(), pairs.cells(2).words
    ([0, 0, 1], '3 objects')
    """

    codes: Codes  # [rows, tags]; -1 is a unit of its own; tags of a kind have one vocabulary
    kinds: tuple[int, ...] = (1,)
    nouns: tuple[str, ...] = ("units",)  # what the units of each kind are called
    _cells: dict[int, Cells] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, given: Codes | Units) -> Units:
        """Units as they are; plain codes are units of one kind."""
        return given if isinstance(given, Units) else cls(given[:, None])

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: NDArray[Any] | slice) -> Units:
        """The units of some of the rows, given as a mask, as indices or as a slice."""
        return Units(self.codes[rows], self.kinds, self.nouns)

    def cells(self, columns: int) -> Cells:
        """The cells; few enough for a matrix of sums that has so many columns."""
        most = max(100, min(BLOCKS, CELLS // max(1, columns)))
        found = self.with_most(most)
        if found.layout.kinds and found.number * columns > CELLS:
            fitting = int((CELLS / columns) ** (1 / sum(self.kinds)))
            found = self.with_most(max(10, fitting))
        return found

    def with_most(self, most: int) -> Cells:
        """The cells, where a kind has no more units than this, or as many blocks of them."""
        if most not in self._cells:
            self._cells[most] = _cells(self, most)
        return self._cells[most]


class _UnitCodes(NamedTuple):
    """The units of one kind."""

    codes: Codes  # [rows, tags] from 0 on, ascending in each row; -1 for none
    number: int  # of the units that have codes: one that every row has does not vary
    units: int  # of all
    noun: str
    as_tagged: Codes  # the codes of all, in the order of the tags


def joined(one: Units, two: Units) -> Units:
    """The units of two sets of rows, one below the other."""
    return Units(np.concatenate([one.codes, two.codes]), one.kinds, one.nouns)


def _cells(units: Units, most: int) -> Cells:
    counts: tuple[int, ...] = ()
    words: list[str] = []
    blocks: list[_UnitCodes] = []
    for kind in _independent(_kinds(units)):
        counts = (*counts, kind.units)
        words.append(counted(kind.units, kind.noun))
        blocks.append(_blocked(_narrowed(kind), most))
    if len(blocks) == 1 and blocks[0].codes.shape[1] == 1:
        [only] = blocks
        alone = UnitLayout(_sizes(only.codes[:, 0], only.number))
        return Cells(only.codes[:, 0], only.number, alone, counts, ", ".join(words))

    of: Codes = np.zeros(len(units), dtype=np.int64)
    for kind in blocks:
        for tag in kind.codes.T:
            of, count = compact(of * (kind.number + 1) + tag + 1)
    first = first_rows(of, count)
    shared = tuple(_shared(kind.codes[first]) for kind in blocks)
    return Cells(of, count, UnitLayout(_sizes(of, count), shared), counts, ", ".join(words))


def _sizes(of: Codes, count: int) -> Floats:
    return np.bincount(of, minlength=count).astype(float)


def _shared(units: Codes) -> tuple[Shared, ...]:
    """What cells [cells, tags] share of a kind: one unit, two ... as many as there are tags."""
    found = []
    for number in range(1, units.shape[1] + 1):
        found.append(_sharing(units, number))
    return tuple(found)


def _sharing(units: Codes, number: int) -> Shared:
    places = list(combinations(range(units.shape[1]), number))
    width = int(units.max(initial=0)) + 1
    keys: Codes = np.full((len(units), len(places)), -1, dtype=np.int64, order="F")
    for place, tags in enumerate(places):
        some = units[:, tags]
        there = (some >= 0).all(axis=1)
        key: Codes = np.zeros(int(there.sum()), dtype=np.int64)
        for tag in some[there].T:
            key = key * width + tag
        keys[there, place] = key
    named = keys >= 0
    keys[named], count = compact(keys[named])
    return Shared(keys, count)


def _kinds(units: Units) -> list[_UnitCodes]:
    """The units of each kind, numbered."""
    found = []
    start = 0
    for tags, noun in zip(units.kinds, units.nouns, strict=True):
        part = units.codes[:, start : start + tags]
        start += tags
        numbers, count = compact(part.ravel())
        codes = numbers.reshape(part.shape)
        if tags == 1:
            found.append(_UnitCodes(codes, count, count, noun, codes))
        else:
            found.append(_in_order(codes, count, noun))
    return found


def _in_order(tagged: Codes, count: int, noun: str) -> _UnitCodes:
    """A kind of several tags: which of two objects comes first is no matter.

    A unit that a row names twice counts once, and one that every row has is left out.
    """
    codes = np.sort(np.asarray(tagged, dtype=np.int64), axis=1)
    codes[:, 1:][codes[:, 1:] == codes[:, :-1]] = -1
    rows = np.bincount(codes[codes >= 0], minlength=count)
    varies = rows < len(codes)
    number = np.append(np.where(varies, np.cumsum(varies) - 1, -1), -1)
    codes = np.sort(number[codes], axis=1)
    return _UnitCodes(codes, int(varies.sum()), count, noun, tagged)


def _independent(kinds: list[_UnitCodes]) -> list[_UnitCodes]:
    """The kinds that say something of their own.

    One that has a single unit here does not vary, and one whose units lie within those of another
    (patterns in families) adds nothing to it.
    """
    varying = [kind for kind in kinds if kind.number > 1]
    if not varying:
        return kinds[:1]
    for inner in list(varying):
        others = [kind for kind in varying if kind is not inner]
        if any(_lies_within(inner, outer) for outer in others):
            varying = others
    return varying


def _lies_within(inner: _UnitCodes, outer: _UnitCodes) -> bool:
    """Whether rows that share a unit of `inner` always share one of `outer`."""
    if inner.codes.shape == outer.codes.shape:
        if outer.number < outer.units:
            return False
        return _determines(inner.as_tagged.ravel(), outer.as_tagged.ravel())
    if inner.codes.shape[1] > 1:
        return False
    complete = [tag for tag in outer.codes.T if tag.min() >= 0]
    return any(_determines(inner.codes[:, 0], tag) for tag in complete)


def _determines(one: Codes, two: Codes) -> bool:
    """Whether each code of `one` goes with a single code of `two`."""
    width = int(two.max()) + 1
    _, pairs = compact(np.asarray(one, dtype=np.int64) * width + two)
    return pairs == compact(one)[1]


def _narrowed(kind: _UnitCodes) -> _UnitCodes:
    """The kind, as one of a single tag if each row has just one of its units."""
    others, last = kind.codes[:, :-1], kind.codes[:, -1]
    if (others >= 0).any() or (last < 0).any():
        return kind
    return kind._replace(codes=kind.codes[:, -1:])


def _blocked(kind: _UnitCodes, most: int) -> _UnitCodes:
    """The kind or, where it has more units, as many random blocks of them.

    Blocks are drawn once from a fixed seed, so the same units always fall into the same blocks.
    """
    if kind.number <= most:
        return kind
    block = np.random.default_rng(kind.number).permutation(kind.number) % most
    codes = np.append(block, -1)[kind.codes]
    if codes.shape[1] == 1:
        return kind._replace(codes=codes, number=most)
    codes = np.sort(codes, axis=1)
    codes[:, 1:][codes[:, 1:] == codes[:, :-1]] = -1
    return kind._replace(codes=np.sort(codes, axis=1), number=most)


# What the rows of a table share: units, by the tags that its benchmark names.


class KindOfUnit(NamedTuple):
    """A kind of unit: the tags that hold its units, and what these are called."""

    tags: tuple[str, ...]
    noun: str


class Sharing(NamedTuple):
    """What the items of a benchmark may share, and the groups, for items that share none of it."""

    kinds: tuple[KindOfUnit, ...] = ()
    groups: KindOfUnit = KindOfUnit(("group",), "groups")

    @classmethod
    def of(cls, benchmark: Benchmark) -> Sharing:
        """What a benchmark says."""
        groups = KindOfUnit(("group",), benchmark.noun)
        nouns = benchmark.unit_nouns or [f"{tags[0]}s" for tags in benchmark.units]
        kinds = []
        for tags, noun in zip(benchmark.units, nouns, strict=True):
            kinds.append(groups if tags == groups.tags else KindOfUnit(tags, noun))
        return cls(tuple(kinds), groups)

    def within(self, table: Table) -> tuple[KindOfUnit, ...]:
        """The kinds all of whose tags the items of a table have; if there are none, the groups."""
        if not len(table):  # an empty table has no tags
            return (self.groups,)
        there = [kind for kind in self.kinds if all(map(table.has_column, kind.tags))]
        return tuple(there) or (self.groups,)


def shared_units(table: Table) -> Units:
    """The units of each row."""
    columns: list[Codes] = []
    tags: list[int] = []
    nouns: list[str] = []
    for kind in table.sharing.within(table):
        found, _ = pooled([table.column(tag) for tag in kind.tags])
        columns.append(found)
        tags.append(len(kind.tags))
        alone = len(table) > 0 and (found < 0).all()  # no item says what it belongs to
        nouns.append("items" if alone else kind.noun)
    codes = np.concatenate(columns, axis=1, dtype=np.int64)
    return Units(codes, tuple(tags), tuple(nouns))
