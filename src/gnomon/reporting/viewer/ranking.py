"""The leaderboard of one benchmark: runs are ranked among those that were asked the same items, and
no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnomon.contracts import Measure
from gnomon.errors import UsageError
from gnomon.measures.comparison import Comparison, Rank, compare, holm, leaderboard
from gnomon.measures.table import Table
from gnomon.reporting.figures.slices import headline_measure
from gnomon.reporting.study import known_benchmark, labels_of
from gnomon.runs import Run


@dataclass(frozen=True)
class Part:
    """Runs on the same items."""

    items: int  # that were asked
    ranks: tuple[tuple[Run, str, Rank], ...]  # best first; the label tells runs of one model apart


@dataclass(frozen=True)
class Board:
    """The leaderboard of one benchmark, in parts of runs on the same items; the one with most items
    first."""

    benchmark: str
    measure: str
    parts: tuple[Part, ...]


def board(benchmark: str, runs: Sequence[Run], table_of: Callable[[Run], Table]) -> Board:
    """Rank runs by the benchmark's first measure. Items that a run was not asked (yet) are left
    out."""
    measure = headline_measure(known_benchmark(benchmark))
    together: dict[Any, list[tuple[Run, str, Table]]] = {}
    for run, label in zip(runs, labels_of(runs), strict=True):
        table = table_of(run)
        # Without a digest of the items nothing is known of them: such a run stands alone.
        asked = b"" if table.numbers is None else table.numbers.tobytes()
        which = (run.manifest.items_sha256 or run.path.name, asked)
        called = replace(table, about=replace(table.about, model=label))
        together.setdefault(which, []).append((run, label, called))
    parts = [_part(members, measure) for members in together.values()]
    return Board(benchmark, measure.name, tuple(sorted(parts, key=lambda part: -part.items)))


def _part(members: Sequence[tuple[Run, str, Table]], measure: Measure) -> Part:
    tables = [table for _, _, table in members]
    by_label = {label: (run, label) for run, label, _ in members}
    ranks = leaderboard(tables, measure, pairwise(tables, measure))
    return Part(len(tables[0]), tuple((*by_label[rank.model], rank) for rank in ranks))


def pairwise(tables: list[Table], measure: Measure) -> list[Comparison]:
    """Every two tables; p-values corrected for how many there are."""
    found = []
    for i, one in enumerate(tables):
        for two in tables[i + 1 :]:
            try:
                found += compare([one, two], measure, draws=0)
            except UsageError:  # nothing was asked yet, or the measure is over other items for the one than the other
                continue
    return [
        each._replace(p_adjusted=p)
        for each, p in zip(found, holm([each.p for each in found]), strict=True)
    ]
