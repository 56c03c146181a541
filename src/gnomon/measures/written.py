"""Answers that are written: how good each is, by the marks that its form gives.

Numbers, sets, points and orders are right or wrong like any answer; their marks say how near they
come. Chance is what someone gets who does not look: `gnomon.forms` says for each form how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.contracts import Measure, Need
from gnomon.errors import UsageError
from gnomon.forms import ANSWER_FORMS, RIGHT, Asked, credit
from gnomon.grouped import grouped
from gnomon.measures.columns import Floats
from gnomon.measures.statistics import Statistics, mean_of

if TYPE_CHECKING:
    from gnomon.measures.table import Table

# The mark that tables with answers of a kind have.
MARK_OF: dict[Need, str] = {
    "numbers": "relative_accuracy",
    "sets": "jaccard",
    "points": "point_distance",
    "orders": "kendall",
}


class WrittenItem(NamedTuple):
    """An item whose answer is written, as far as judging needs it."""

    form: str
    choices: tuple[str, ...]
    gold: tuple[str, ...]


class WrittenMarks(NamedTuple):
    """For each row its item, none if it is of another form, and its marks; NaN where it has none.

    `guess` holds what a guess gets instead.
    """

    asked: NDArray[np.object_]
    value: Mapping[str, Floats]
    guess: Mapping[str, Floats]

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which rows have an answer that is written and can be judged."""
        return ~np.isnan(self.value[RIGHT])

    def take(self, rows: NDArray[Any]) -> WrittenMarks:
        """The same for some of the rows."""
        value = {name: column[rows] for name, column in self.value.items()}
        guess = {name: column[rows] for name, column in self.guess.items()}
        return WrittenMarks(self.asked[rows], value, guess)

    def guessed(self) -> WrittenMarks:
        """The marks of a guess."""
        return self._replace(value=self.guess)

    def credit(self, row: int, said: str | None) -> float:
        """How right another answer to the item of a row is."""
        return credit(self.asked[row], said)


def marked(rows: Sequence[tuple[int, WrittenItem, str | None]], count: int) -> WrittenMarks | None:
    """The marks of a table of so many rows, of which these have answers that are written."""
    if not rows:
        return None
    asked = np.full(count, None, dtype=object)
    value: dict[str, Floats] = {RIGHT: np.full(count, np.nan)}
    guess: dict[str, Floats] = {RIGHT: np.full(count, np.nan)}
    for name, mine in grouped(rows, lambda row: row[1].form).items():
        form = ANSWER_FORMS[name]
        for place, item, _ in mine:
            asked[place] = item
        judged = [row for row in mine if row[1].gold]
        guesses = form.guesses([Asked(item.choices, item.gold) for _, item, _ in judged])
        for (place, item, said), by_guess in zip(judged, guesses, strict=True):
            _put(value, place, form.marks(item.choices, item.gold, said), count)
            _put(guess, place, by_guess, count)
    return WrittenMarks(asked, value, guess)


def _put(columns: dict[str, Floats], place: int, marks: Mapping[str, float], count: int) -> None:
    for name, mark in marks.items():
        if name not in columns:
            columns[name] = np.full(count, np.nan)
        columns[name][place] = mark


def has_marks(need: Need, table: Table) -> bool:
    """Whether a table has answers of a kind."""
    if table.marks is None:
        return False
    return MARK_OF[need] in table.marks.value


def of_written(table: Table) -> tuple[str, ...]:
    """The measures of the forms whose answers are written, as far as a table has them."""
    if table.marks is None:
        return ()
    forms = {item.form for item in table.marks.asked[table.marks.judged].tolist()}
    found: list[str] = []
    for name, form in ANSWER_FORMS.items():
        if name in forms:
            found += form.measures
    return tuple(found)


def _mean(mark: str, table: Table, bounds: tuple[float, float] = (0.0, 1.0)) -> Statistics:
    """The mean of a mark over the rows that have it."""
    assert table.marks is not None
    return mean_of(table.marks.value[mark], table.clusters, bounds=bounds)


def _measure(
    name: str,
    mark: str,
    need: Need,
    *,
    lower: bool = False,
    bounds: tuple[float, float] = (0.0, 1.0),
    is_share: bool = True,
) -> Measure:
    return Measure(
        name=name,
        statistics=lambda table: _mean(mark, table, bounds),
        better="lower" if lower else "higher",
        guessable=True,
        is_share=is_share,
        needs=frozenset({need}),
    )


def within(tolerance: str) -> Measure:
    """The measure "within@T": the share of numbers with a relative error of at most T.

    >>> within("0.25").name
    'within@0.25'
    """
    try:
        most = float(tolerance)
    except ValueError:
        most = -1.0
    if not 0 <= most < inf:
        raise UsageError(
            f"within@{tolerance}: the tolerance must be a number, 0 or more.",
            "For example within@0.25.",
        )

    def statistics(table: Table) -> Statistics:
        assert table.marks is not None
        error = table.marks.value["error"]
        near = np.where(np.isnan(error), np.nan, error <= most + 1e-12)
        return mean_of(near, table.clusters)

    return Measure(
        name=f"within@{tolerance}",
        summary=f"share of numbers with a relative error of at most {most:.0%}",
        statistics=statistics,
        guessable=True,
        needs=frozenset({"numbers"}),
    )


MEAN_RELATIVE_ACCURACY = _measure("mean_relative_accuracy", "relative_accuracy", "numbers")
ABSOLUTE_ERROR = _measure(
    "absolute_error", "absolute_error", "numbers", lower=True, bounds=(0.0, inf), is_share=False
)
LOG_ERROR = _measure(
    "log_error", "log_error", "numbers", lower=True, bounds=(0.0, inf), is_share=False
)
JACCARD = _measure("jaccard", "jaccard", "sets")
SET_F1 = _measure("set_f1", "set_f1", "sets")
POINT_DISTANCE = _measure("point_distance", "point_distance", "points", lower=True)
KENDALL = _measure("kendall", "kendall", "orders", bounds=(-1.0, 1.0))
