"""People in a report: what they reach together stands beside the models as the human ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Measure
from gnomon.measures.accuracy import ACCURACY
from gnomon.measures.ceiling import label_of_most, mean_over_people
from gnomon.measures.intervals import interval
from gnomon.measures.scoring import known, scores
from gnomon.measures.sharing import Sharing
from gnomon.measures.table import Table
from gnomon.records import Answer, Item, Score
from gnomon.reports.study import Entrant, Study

SCHEME = "people:"
NOTE = (
    "The rows of people are the human ceiling: the mean of their accuracies, each over the items "
    "that the person judged, and the label that most of them gave; `gnomon people agree` says more."
)


class Together(NamedTuple):
    """A row of what people reach together."""

    label: str
    figures: dict[str, Score]


def people_together(study: Study, measures: Sequence[Measure]) -> list[Together]:
    """The rows; none where fewer than two people answered."""
    people = [entrant for entrant in study.entrants if entrant.run.model.startswith(SCHEME)]
    if len(people) < 2:
        return []
    table = _majority_table(study, people)
    if not len(table):
        return []
    majority = {score.measure: score for score in scores(table, measures)}
    count = f"of {len(people)} people"
    return [
        Together(f"mean {count}", {ACCURACY.name: _mean(study, people, table)}),
        Together(f"majority {count}", majority),
    ]


def _mean(study: Study, people: Sequence[Entrant], table: Table) -> Score:
    rows = _judged(people).any(axis=1)
    judged = _judged(people)[rows]
    right = np.column_stack([entrant.right for entrant in people])[rows]
    statistics = mean_over_people(right, judged, table.clusters)
    found = interval(statistics)
    return Score(
        benchmark=study.name,
        model="people",
        measure=ACCURACY.name,
        value=known(found.value),
        low=known(found.low),
        high=known(found.high),
        n=statistics.n,
        clusters=statistics.clusters,
        units=statistics.units,
    )


def _judged(people: Sequence[Entrant]) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """[items, people] who said something about which item."""
    return np.column_stack([entrant.choice >= 0 for entrant in people])


def _majority_table(study: Study, people: Sequence[Entrant]) -> Table:
    """The answers of most people, as if they were one model's."""
    said = np.column_stack([entrant.choice for entrant in people])
    rows = []
    for place in np.flatnonzero((said >= 0).any(axis=1)).tolist():
        item = study.items[place]
        rows.append((item, _answer(item, said[place])))
    if study.spec is None:
        return Table.of(rows, benchmark=study.name, model="people")
    return Table.of(
        rows,
        benchmark=study.name,
        model="people",
        sharing=Sharing.of(study.spec),
        laws=study.spec.laws,
    )


def _answer(item: Item, said: np.ndarray[tuple[int], np.dtype[np.int32]]) -> Answer:
    counts = np.bincount(said[said >= 0], minlength=len(item.choices))
    return Answer(item=item.id, choice=label_of_most(item.id, item.choices, counts.tolist()))
