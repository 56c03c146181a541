"""Text columns as codes: whole numbers that stand for names."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Codes: whole numbers that stand for names; -1 stands for one that nothing else has.


Codes = NDArray[np.int32] | NDArray[np.int64]
Floats = NDArray[np.float64]


def compact(codes: Codes) -> tuple[Codes, int]:
    """Codes renumbered 0, 1 ... in order of value, and how many; each -1 becomes one of its own.

    >>> compact(np.array([7, 3, 7, -1, -1]))
    (array([1, 0, 1, 2, 3]), 4)
    """
    alone = codes < 0
    if not alone.any():
        return _renumber(codes)
    codes = np.asarray(codes, dtype=np.int64).copy()
    named, count = _renumber(codes[~alone])
    codes[~alone] = named
    codes[alone] = count + np.arange(int(alone.sum()))
    return codes, count + int(alone.sum())


def _renumber(codes: Codes) -> tuple[Codes, int]:
    if not len(codes):
        return codes, 0
    top = int(codes.max()) + 1
    if top > 4 * len(codes) + 1000:  # sparse codes: sorting is cheaper than a long table
        values, found = np.unique(codes, return_inverse=True)
        return np.asarray(found, dtype=np.int64), len(values)
    seen = np.bincount(codes, minlength=top) > 0
    return (np.cumsum(seen) - 1)[codes], int(seen.sum())


def first_rows(codes: Codes, count: int) -> Codes:
    """The first row that has each code.

    >>> first_rows(np.array([1, 0, 1, 2]), 3)
    array([1, 0, 3])
    """
    first = np.zeros(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


def differs_within(codes: Codes, count: int, values: Codes) -> NDArray[np.bool_]:
    """Whether the rows that have each code have different values.

    >>> differs_within(np.array([0, 0, 1, 1]), 2, np.array([5, 5, 5, 6]))
    array([False,  True])
    """
    first = values[first_rows(codes, count)]
    found = np.zeros(count, dtype=bool)
    found[codes[values != first[codes]]] = True
    return found


def added(codes: Codes, count: int, columns: Floats) -> Floats:
    """[count, k] the columns of all rows that have the same code, added up."""
    sums = np.empty((count, columns.shape[1]))
    for j in range(columns.shape[1]):
        sums[:, j] = np.bincount(codes, weights=columns[:, j], minlength=count)
    return sums


class Column(NamedTuple):
    """A text column: a code for each row, -1 where there is no value, and the codes' meaning."""

    codes: Codes
    values: tuple[str, ...]

    def text(self) -> list[str]:
        """The value of each row; empty where there is none."""
        known = (*self.values, "")
        return [known[code] for code in self.codes.tolist()]

    def value(self, row: int) -> str:
        """The value of one row; empty if it has none."""
        code = self.codes[row]
        return self.values[code] if code >= 0 else ""

    def take(self, rows: NDArray[Any]) -> Column:
        """The column for some of the rows, given as a mask or as indices."""
        return Column(self.codes[rows], self.values)


class CodeBook(dict[str, int]):
    """Text -> code, in the order of first use."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code


class TextColumn:
    """A column while it is being filled."""

    def __init__(self, rows: int = 0) -> None:
        self.codes = array("i", [-1]) * rows
        self.words = CodeBook()

    def extend(self, texts: Iterable[str | None]) -> None:
        """Add the values of the next rows; empty or none is no value."""
        words = self.words
        self.codes.extend([words[text] if text else -1 for text in texts])

    def done(self) -> Column:
        """The finished column."""
        return Column(codes_of(self.codes), tuple(self.words))


class TagColumns:
    """The tags of all rows while they are being filled."""

    def __init__(self) -> None:
        self.columns: dict[str, TextColumn] = {}
        self.rows = 0

    def extend(self, tags: list[dict[str, str]]) -> None:
        """Add the tags of the next rows."""
        for names in dict.fromkeys(map(tuple, tags)):
            for tag in names:
                if tag not in self.columns:
                    self.columns[tag] = TextColumn(self.rows)
        for tag, column in self.columns.items():
            column.extend([each.get(tag) for each in tags])
        self.rows += len(tags)

    def done(self) -> dict[str, Column]:
        """The finished columns."""
        return {tag: column.done() for tag, column in self.columns.items()}


def coded(texts: Iterable[str]) -> Column:
    """A column of some texts."""
    column = TextColumn()
    column.extend(texts)
    return column.done()


def pooled(columns: Sequence[Column]) -> tuple[Codes, tuple[str, ...]]:
    """[rows, columns] codes of some columns into one vocabulary, -1 for no value; and that."""
    if len(columns) == 1:
        return columns[0].codes[:, None], columns[0].values
    words = CodeBook()
    codes = []
    for column in columns:
        place = [words[value] for value in column.values]
        codes.append(np.array([*place, -1])[column.codes])
    return np.stack(codes, axis=1), tuple(words)


def codes_of(values: array[int]) -> Codes:
    """An array of codes."""
    if not len(values):
        return np.zeros(0, dtype=np.int32)
    return np.frombuffer(values, dtype=np.int32).copy()  # more may be added to the values
