"""Runs beside the papers' results, with what keeps the two apart.

A figure of whole groups (pattern accuracy) from a handful of items is another figure than the
paper's: it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gnomon.contracts import Listing
from gnomon.measures.grouping import items_per_group, large_enough, least_size
from gnomon.measures.runlabels import labels
from gnomon.measures.scoring import score_table
from gnomon.measures.table import Table
from gnomon.registry import benchmark
from gnomon.reporting.published.items import paper_items
from gnomon.reporting.published.layouts import (
    Column,
    Place,
    RunFigures,
    Value,
    columns_on,
    like_paper,
    needed,
)
from gnomon.reporting.published.results import results


def beside_papers(tables: Sequence[Table]) -> tuple[list[Listing], list[str]]:
    """The results tables of the papers of these benchmarks, a row for each run; and caveats."""
    runs: dict[tuple[str, str], dict[str, RunFigures]] = {}
    caveats = []
    for table, name in zip(tables, _names(tables), strict=True):
        asked = benchmark(_base(table))
        found = runs.setdefault((asked.paper, asked.published_results), {})
        mine = found.setdefault(name, RunFigures(set(), {}))
        mine.sources.add(_source(table))
        wanted = sorted(needed(asked.paper, asked.name))
        for form, measure, by in wanted:
            mine.values.update(_figures(table, form, measure, by))
        measures = dict.fromkeys(measure for _, measure, _ in wanted)
        caveats += _size_caveats(table, name, list(measures))
        caveats += _option_caveats(table, name, asked.paper)
    listings = []
    for (paper, file), found in runs.items():
        listings += like_paper(paper, results(file), found)
    return listings, caveats


def _names(tables: Sequence[Table]) -> list[str]:
    """A row's name: the model's, with what tells its runs on one benchmark apart."""
    by_benchmark: dict[str, list[Table]] = {}
    for table in tables:
        by_benchmark.setdefault(_base(table), []).append(table)
    names: dict[int, str] = {}
    for here in by_benchmark.values():
        settings = [{"items": _source(table), **table.about.settings} for table in here]
        found = labels([table.model for table in here], settings)
        names.update(zip(map(id, here), found, strict=True))
    return [names[id(table)] for table in tables]


def _base(table: Table) -> str:
    return table.benchmark.partition("@")[0]


def _source(table: Table) -> str:
    return table.benchmark.partition("@")[2]


def _figures(table: Table, form: str, measure: str, by: str) -> dict[Place, Value]:
    """A measure of the items of a form, on all of them or by a tag.

    It has no value where the groups are too small for it.
    """
    part = dict(table.by("form")).get(form) if form else table
    if part is None:
        return {}
    known = large_enough(measure, table)
    found: dict[Place, Value] = {}
    for score in score_table(part, [measure], by=by):
        if score.by == by:
            place = Place(_base(table), form, measure, by, score.key)
            found[place] = score.value if known else None
    return found


def _size_caveats(table: Table, name: str, measures: Sequence[str]) -> list[str]:
    """What keeps the figures of whole groups from being read beside the paper's, in a sentence."""
    of_groups = [measure for measure in measures if least_size(measure)]
    if not of_groups:
        return []
    mean, theirs = items_per_group(table), paper_items(table.benchmark).per_group
    said = f"{name} on {table.benchmark}: {mean:.1f} items a group on average"
    if theirs:
        said += f", {theirs} in the paper"
    few = [measure for measure in of_groups if not large_enough(measure, table)]
    if few:
        what = ", ".join(few)
        return [
            f"{said}. From so few {what} would mean something else: left out. Run whole groups."
        ]
    if round(mean) < theirs:  # the paper's number is rounded too
        return [f"{said}. Fewer items make a high threshold easier to reach."]
    return []


def _option_caveats(table: Table, name: str, paper: str) -> list[str]:
    """Where a run was asked other items than a table of the paper is about."""
    found: dict[str, dict[str, None]] = {}
    for where, column in columns_on(paper, _base(table)):
        for said in _other_options(table, column):
            found.setdefault(said, {})[where] = None
    caveats = []
    for said, places in found.items():
        items = f"{name} on {table.benchmark} is not on the items of {', '.join(places)}"
        caveats.append(f"{items}: {said}.")
    return caveats


def _other_options(table: Table, column: Column) -> Iterator[str]:
    for option, theirs in column.options.items():
        ours = str(table.about.settings.get(option, theirs))
        if ours != theirs:
            yield f"{option} {ours or '(all)'} here, {option} {theirs} in the paper"
