"""Rows that stand beside the runs: baselines that a benchmark names, and people together."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon import registry
from gnomon.contracts import Benchmark, Measure, Model
from gnomon.errors import GnomonError
from gnomon.measures.accuracy import ACCURACY
from gnomon.measures.agreement import label_of_most, mean_over_people
from gnomon.measures.intervals import interval, known
from gnomon.measures.scoring import scores
from gnomon.measures.table import Table
from gnomon.measures.units import Sharing
from gnomon.naming import PERSON
from gnomon.records import Answer, Item, Score
from gnomon.reports.study import Entrant, Study

# Baselines that stand in every report on a benchmark that names them, run or not.
#
# Those that were not run are trained and asked when the page is made, on the items of the page.


MOST = 4000  # items for which a page is held up


class Baseline(NamedTuple):
    """A baseline with its answers, or with the reason why there are none."""

    spec: str
    table: Table | None
    reason: str = ""


def baselines(study: Study) -> Iterator[Baseline]:
    """The baselines that the benchmark of a study names and that are not among its runs."""
    if study.spec is None or not study.items:
        return
    run = {entrant.run.model for entrant in study.entrants}
    for spec in study.spec.baselines:
        if spec not in run:
            yield _asked(spec, study, study.spec)


def _asked(spec: str, study: Study, benchmark: Benchmark) -> Baseline:
    if len(study.items) > MOST:
        command = f"`gnomon run {study.name} -m {spec}`"
        return Baseline(spec, None, f"so many items take a while: {command} adds it")
    try:
        model = registry.model(spec).open()
        answers = _answers(model, study.items, benchmark)
    except GnomonError as error:
        return Baseline(spec, None, error.message.rstrip("."))
    table = Table.of(
        zip(study.items, answers, strict=True),
        benchmark=study.name,
        model=spec,
        scale=model.scale,
        sharing=Sharing.of(benchmark),
        laws=benchmark.laws,
    )
    return Baseline(spec, table)


def _answers(model: Model, items: list[Item], benchmark: Benchmark) -> list[Answer]:
    prepare = getattr(model, "prepare", None)
    if prepare is not None:
        prepare(items, benchmark)
    return list(model.answer(items))


# People in a report: what they reach together stands beside the models as the human ceiling.


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
    people = [entrant for entrant in study.entrants if entrant.run.model.startswith(PERSON)]
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
    known: dict[str, Any] = {}
    if study.spec is not None:
        known = {"sharing": Sharing.of(study.spec), "laws": study.spec.laws}
    return Table.of(rows, benchmark=study.name, model="people", **known)


def _answer(item: Item, said: np.ndarray[tuple[int], np.dtype[np.int32]]) -> Answer:
    counts = np.bincount(said[said >= 0], minlength=len(item.choices))
    return Answer(item=item.id, choice=label_of_most(item.id, item.choices, counts.tolist()))
