"""Text columns as codes; tags, and hashes of what was asked, that are made and cut only when
somebody looks."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.statistics import Codes


class Column(NamedTuple):
    """A text column: a code for each row (-1 where there is no value) and what the codes stand
    for."""

    codes: Codes
    values: tuple[str, ...]

    def text(self) -> list[str]:
        """The value of each row; empty where there is none."""
        known = (*self.values, "")
        return [known[code] for code in self.codes.tolist()]


class Vocabulary(dict[str, int]):
    """Text -> code, in the order of first use."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code

    def learn(self, texts: Iterable[str]) -> None:
        """Give each text a code, in this order."""
        for text in texts:
            self.setdefault(text, len(self))


class TextColumn:
    """A column while it is being filled."""

    def __init__(self, rows: int = 0) -> None:
        self.codes = array("i", [-1]) * rows
        self.words = Vocabulary()

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
        for tag in dict.fromkeys([tag for each in tags for tag in each]):
            if tag not in self.columns:
                self.columns[tag] = TextColumn(self.rows)
        for tag, column in self.columns.items():
            column.extend([each.get(tag) for each in tags])
        self.rows += len(tags)

    def done(self) -> dict[str, Column]:
        """The finished columns."""
        return {tag: column.done() for tag, column in self.columns.items()}


class Tags(Mapping[str, Column]):
    """The tags of a table's rows. Loaded when first looked at, and cut to a slice's rows tag by
    tag."""

    def __init__(self, load: Callable[[], Mapping[str, Column]]) -> None:
        self._whole = _Once(load)
        self._rows: NDArray[np.int64] | None = None
        self._cut: dict[str, Column] = {}

    def take(self, rows: NDArray[Any]) -> Tags:
        """The same tags for some of the rows, given as a mask or as indices."""
        index = np.flatnonzero(rows) if rows.dtype == bool else rows
        part = Tags.__new__(Tags)
        part._whole, part._rows, part._cut = (
            self._whole,
            index if self._rows is None else self._rows[index],
            {},
        )
        return part

    def __getitem__(self, name: str) -> Column:
        column = self._whole.columns[name]
        if self._rows is None:
            return column
        if name not in self._cut:
            self._cut[name] = column._replace(codes=column.codes[self._rows])
        return self._cut[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole.columns)

    def __len__(self) -> int:
        return len(self._whole.columns)


class Wordings:
    """A hash of each row's context and text, to tell whether two rows ask the same. Good within one
    process only."""

    def __init__(
        self, load: Callable[[], NDArray[np.int64]], rows: NDArray[np.int64] | None = None
    ) -> None:
        self._load = load
        self._rows = rows

    def take(self, rows: NDArray[Any]) -> Wordings:
        """The same for some of the rows, given as a mask or as indices."""
        index = np.flatnonzero(rows) if rows.dtype == bool else rows
        return Wordings(lambda: self.hashes, index)

    @cached_property
    def hashes(self) -> NDArray[np.int64]:
        """One for each row."""
        return self._load() if self._rows is None else self._load()[self._rows]


class _Once:
    def __init__(self, load: Callable[[], Mapping[str, Column]]) -> None:
        self._load = load

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        return self._load()


def codes_of(values: array[int]) -> Codes:
    """An array of codes."""
    return np.frombuffer(values, dtype=np.int32) if len(values) else np.zeros(0, dtype=np.int32)
