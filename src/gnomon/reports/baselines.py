"""Baselines that stand in every report on a benchmark that names them, run or not.

Those that were not run are trained and asked when the page is made, on the items of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gnomon import registry
from gnomon.contracts import Benchmark, Model
from gnomon.errors import GnomonError
from gnomon.measures.table import Table
from gnomon.measures.units import Sharing
from gnomon.records import Answer, Item
from gnomon.reports.study import Study

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
