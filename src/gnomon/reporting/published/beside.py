"""Runs beside the papers' results: from tables of answers to the papers' tables, with what keeps
the two apart.

A figure of whole groups (pattern accuracy) from a handful of items is another figure than the
paper's: it is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gnomon.contracts import Listing
from gnomon.measures.grouping import items_per_group, large_enough, least_size
from gnomon.measures.runlabels import labels
from gnomon.measures.scoring import score_table
from gnomon.measures.table import Table
from gnomon.records import Score
from gnomon.registry import benchmark
from gnomon.reporting.published.items import paper_items
from gnomon.reporting.published.layouts import like_paper, needed


def beside_papers(tables: Sequence[Table]) -> tuple[list[Listing], list[str]]:
    """The results tables of the papers whose benchmarks these are, a row for each run; and caveats
    in sentences."""
    scores: dict[tuple[str, str], dict[str, list[Score]]] = {}
    caveats = []
    for table, name in zip(tables, _names(tables), strict=True):
        asked = benchmark(table.benchmark.partition("@")[0])
        forms = scores.setdefault((asked.paper, asked.published_results), {})
        wanted = sorted(needed(asked.paper, asked.name))
        for form, measure, by in wanted:
            forms.setdefault(form, []).extend(_scores(table, name, form, measure, by))
        caveats += _caveats(table, name, dict.fromkeys(measure for _, measure, _ in wanted))
    found = [
        listing
        for (paper, figures), forms in scores.items()
        for listing in like_paper(paper, figures, forms)
    ]
    return found, caveats


def _names(tables: Sequence[Table]) -> list[str]:
    """A row's name: the model's, with the source and settings that tell runs of it on one benchmark
    apart."""
    bases = [table.benchmark.partition("@")[0] for table in tables]
    found: dict[int, str] = {}
    for base in dict.fromkeys(bases):
        here = [i for i, other in enumerate(bases) if other == base]
        told = [
            {"items": tables[i].benchmark.partition("@")[2], **tables[i].about.settings} for i in here
        ]
        found.update(zip(here, labels([tables[i].model for i in here], told), strict=True))
    return [found[i] for i in range(len(tables))]


def _scores(table: Table, name: str, form: str, measure: str, by: str) -> list[Score]:
    part = dict(table.by("form")).get(form) if form else table
    if part is None:
        return []
    found = score_table(part, [measure], by=[by] if by else [])
    known = {} if large_enough(measure, table) else {"value": None}
    return [
        msgspec.structs.replace(score, model=name, **known) for score in found if score.by == by
    ]


def _caveats(table: Table, name: str, measures: Iterable[str]) -> list[str]:
    """What keeps the figures of whole groups from being read beside the paper's, in a sentence."""
    mean, theirs = items_per_group(table), paper_items(table.benchmark).per_group
    of_groups = [measure for measure in measures if least_size(measure)]
    few = [measure for measure in of_groups if not large_enough(measure, table)]
    said = f"{name} on {table.benchmark}: {mean:.1f} items a group on average"
    said += f", {theirs} in the paper. " if theirs else ". "
    if few:
        return [
            f"{said}From so few {', '.join(few)} would mean something else: left out. Run whole groups."
        ]
    if of_groups and mean < theirs:
        return [f"{said}Fewer items make a high threshold easier to reach."]
    return []
