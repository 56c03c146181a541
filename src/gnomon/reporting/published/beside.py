"""Runs beside the papers' results: from tables of answers to the papers' tables, with what keeps
the two apart.

A figure of whole groups (pattern accuracy) from a handful of items is another figure than the
paper's: it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gnomon.contracts import Listing
from gnomon.measures.grouping import items_per_group, large_enough, least_size
from gnomon.measures.runlabels import labels
from gnomon.measures.scoring import score_table
from gnomon.measures.table import Table
from gnomon.records import Score
from gnomon.registry import benchmark
from gnomon.reporting.published.items import paper_items
from gnomon.reporting.published.layouts import Cells, Place, like_paper, needed, paper_named
from gnomon.reporting.published.results import results


def beside_papers(tables: Sequence[Table]) -> tuple[list[Listing], list[str]]:
    """The results tables of the papers whose benchmarks these are, a row for each run; and caveats
    in sentences."""
    cells: dict[str, Cells] = {}
    files: dict[str, str] = {}
    caveats = []
    for table, name in zip(tables, _names(tables), strict=True):
        asked = benchmark(table.benchmark.partition("@")[0])
        files[asked.paper] = asked.published_results
        found = cells.setdefault(asked.paper, {})
        wanted = sorted(needed(asked.paper, asked.name))
        for form, measure, by in wanted:
            for score in _scores(table, form, measure, by):
                place = Place(asked.name, form, measure, score.by, score.key)
                found.setdefault(place, {})[name] = score
        measures = dict.fromkeys(measure for _, measure, _ in wanted)
        caveats += _size_caveats(table, name, list(measures))
        caveats += _option_caveats(table, name, asked.paper)
    listings = []
    for paper, found in cells.items():
        listings += like_paper(paper, results(files[paper]), found)
    return listings, caveats


def _names(tables: Sequence[Table]) -> list[str]:
    """A row's name: the model's, with the source and settings that tell runs of it on one benchmark
    apart."""
    found = [""] * len(tables)
    places: dict[str, list[int]] = {}
    for i, table in enumerate(tables):
        places.setdefault(table.benchmark.partition("@")[0], []).append(i)
    for here in places.values():
        models, settings = [], []
        for i in here:
            models.append(tables[i].model)
            source = tables[i].benchmark.partition("@")[2]
            settings.append({"items": source, **tables[i].settings})
        for i, label in zip(here, labels(models, settings), strict=True):
            found[i] = label
    return found


def _scores(table: Table, form: str, measure: str, by: str) -> list[Score]:
    """A measure of the items of a form, on all of them or by a tag; without its value if the groups
    are too small."""
    part = dict(table.by("form")).get(form) if form else table
    if part is None:
        return []
    found = score_table(part, [measure], by=by)
    wanted = [score for score in found if score.by == by]
    if large_enough(measure, table):
        return wanted
    return [msgspec.structs.replace(score, value=None) for score in wanted]


def _size_caveats(table: Table, name: str, measures: Sequence[str]) -> list[str]:
    """What keeps the figures of whole groups from being read beside the paper's, in a sentence."""
    of_groups = [measure for measure in measures if least_size(measure)]
    if not of_groups:
        return []
    mean, theirs = items_per_group(table), paper_items(table.benchmark).per_group
    said = f"{name} on {table.benchmark}: {mean:.1f} items a group on average"
    said += f", {theirs} in the paper. " if theirs else ". "
    few = [measure for measure in of_groups if not large_enough(measure, table)]
    if few:
        what = ", ".join(few)
        return [f"{said}From so few {what} would mean something else: left out. Run whole groups."]
    if round(mean) < theirs:  # the paper's number is rounded too
        return [f"{said}Fewer items make a high threshold easier to reach."]
    return []


def _option_caveats(table: Table, name: str, paper: str) -> list[str]:
    """Where a run was asked other items than a table of the paper is about."""
    base = table.benchmark.partition("@")[0]
    found: dict[str, list[str]] = {}
    for layout in paper_named(paper).tables:
        for column in layout.filled():
            if column.benchmark != base:
                continue
            for option, theirs in column.options.items():
                ours = str(table.settings.get(option, theirs))
                if ours != theirs:
                    said = f"{option} {ours or '(all)'} here, {option} {theirs} in the paper"
                    found.setdefault(said, []).append(layout.table)
    return [
        f"{name} on {table.benchmark} is not on the items of {', '.join(dict.fromkeys(where))}: "
        f"{said}."
        for said, where in found.items()
    ]
