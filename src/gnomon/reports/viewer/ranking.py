"""The leaderboard of one benchmark: runs are ranked only among those asked the same items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from gnomon.contracts import Benchmark, Measure
from gnomon.measures.compared import comparable_pairs
from gnomon.measures.comparison import Rank, leaderboard
from gnomon.measures.pairing import same_items
from gnomon.measures.table import Table
from gnomon.registry import asked_benchmark
from gnomon.reports.figures.slices import headline_measure
from gnomon.reports.study import labels_of
from gnomon.runs import Run


class Place(NamedTuple):
    """A run in a leaderboard; the label tells runs of one model apart."""

    run: Run
    label: str
    rank: Rank


@dataclass(frozen=True)
class Part:
    """Runs on the same items, best first."""

    items: int  # that were asked
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Board:
    """The leaderboard of one benchmark, in parts of runs on the same items; the largest first."""

    benchmark: str
    spec: Benchmark | None
    measure: str
    parts: tuple[Part, ...]


def board(benchmark: str, runs: Sequence[Run], tables: Sequence[Table]) -> Board:
    """Rank runs by the benchmark's first measure, over the items that each was asked."""
    spec = asked_benchmark(benchmark, runs[0].manifest.about) if runs else None
    measure = headline_measure(spec)
    named = []
    for run, label, table in zip(runs, labels_of(runs), tables, strict=True):
        named.append((run, replace(table, about=replace(table.about, model=label))))
    parts = []
    for places in same_items(tables):
        parts.append(_part([named[place] for place in places], measure))
    return Board(benchmark, spec, measure.name, tuple(parts))


def _part(members: Sequence[tuple[Run, Table]], measure: Measure) -> Part:
    tables = [table for _, table in members]
    runs = {table.model: run for run, table in members}
    places = []
    for rank in leaderboard(tables, measure, comparable_pairs(tables, measure)):
        places.append(Place(runs[rank.model], rank.model, rank))
    return Part(len(tables[0]), tuple(places))
