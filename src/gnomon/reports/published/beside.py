"""Runs beside the papers' results, with what keeps the two apart.

A figure of whole groups (pattern accuracy) from a handful of items is another figure than the
paper's: it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean, stdev

from gnomon.contracts import Listing
from gnomon.grouped import grouped
from gnomon.measures.grouping import (
    FEWEST,
    enough_units,
    items_per_group,
    large_enough,
    least_size,
)
from gnomon.measures.runlabels import labels
from gnomon.measures.scoring import score_table
from gnomon.measures.seeds import NONE_TOGETHER, by_seed, seedless
from gnomon.measures.table import Table
from gnomon.registry import benchmark, known_benchmark
from gnomon.reports.published.items import fewer_than_paper, paper_items
from gnomon.reports.published.layouts import (
    Column,
    Place,
    RunFigures,
    Value,
    columns_on,
    like_paper,
    needed,
    papers,
)
from gnomon.reports.published.results import results


def beside_papers(
    tables: Sequence[Table], *, seeds_together: bool = False
) -> tuple[list[Listing], list[str]]:
    """The results tables of the papers of these benchmarks, a row for each run; and caveats.

    With `seeds_together`, runs that differ in nothing but the seed share a row: mean and deviation.
    """
    tables, caveats = _of_papers(tables)
    groups = by_seed(tables) if seeds_together else [[table] for table in tables]
    if seeds_together and len(groups) == len(tables):
        caveats.append(NONE_TOGETHER)
    runs: dict[tuple[str, str], dict[str, RunFigures]] = {}
    for group, name in zip(groups, _names(groups, seeds_together), strict=True):
        asked = benchmark(_base(group[0]))
        found = runs.setdefault((asked.paper, asked.published_results), {})
        mine = found.setdefault(name, RunFigures(set(), {}))
        mine.sources.add(_source(group[0]))
        wanted = sorted(needed(asked.paper, asked.name))
        few = dict[str, None]()
        for form, measure, by in wanted:
            few |= dict.fromkeys(_add_figures(mine, group, form, measure, by))
        if few:
            caveats.append(_few_caveat(name, group[0], list(few)))
        caveats += _caveats(group, name, asked.paper, [measure for _, measure, _ in wanted])
    listings = []
    for (paper, file), found in runs.items():
        listings += like_paper(paper, results(file), found)
    return listings, caveats


def _of_papers(tables: Sequence[Table]) -> tuple[list[Table], list[str]]:
    """The tables on benchmarks of a paper, and for each other benchmark that it is left out."""
    found, left_out = [], dict[str, None]()
    for table in tables:
        asked = known_benchmark(table.benchmark)
        if asked and asked.paper in papers() and asked.asks_as_paper(_source(table)):
            found.append(table)
        else:
            left_out[f"{table.benchmark} is in no table of a paper: left out."] = None
    return found, list(left_out)


def _names(groups: Sequence[Sequence[Table]], seeds_together: bool) -> list[str]:
    """A row's name: the model's, with what tells its runs on one benchmark apart."""
    firsts = [group[0] for group in groups]
    names: dict[int, str] = {}
    for here in grouped(firsts, _base).values():
        settings = []
        for table in here:
            own = seedless(table) if seeds_together else table.settings
            settings.append({"items": _source(table), **own})
        found = labels([table.model for table in here], settings)
        names.update(zip(map(id, here), found, strict=True))
    return [names[id(group[0])] for group in groups]


def _base(table: Table) -> str:
    return table.benchmark.partition("@")[0]


def _source(table: Table) -> str:
    return table.benchmark.partition("@")[2]


def _add_figures(
    mine: RunFigures, group: Sequence[Table], form: str, measure: str, by: str
) -> list[str]:
    """Put a measure into a row: the mean over the runs, with their deviation if they are several.

    It has no value where the groups of one of the runs are too small for it, or too few: then its
    name is given back.
    """
    by_place: dict[Place, list[Value]] = {}
    few = []
    for table in group:
        found, enough = _figures(table, form, measure, by)
        if not enough:
            few.append(measure)
        for place, value in found.items():
            by_place.setdefault(place, []).append(value)
    for place, values in by_place.items():
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            mine.values[place] = None
            continue
        mine.values[place] = mean(known)
        if len(known) > 1:
            mine.deviations[place] = stdev(known)
    return few


def _figures(table: Table, form: str, measure: str, by: str) -> tuple[dict[Place, Value], bool]:
    """A measure of the items of a form, on all of them or by a tag, and whether enough speak.

    It has no value where the groups are too small for it, or where there are hardly any.
    """
    asked = dict(table.by("form")).get(form) if form else table
    if asked is None:
        return {}, True
    known = large_enough(measure, table)
    parts = dict(asked.by(by)) if by else {"": asked}
    found: dict[Place, Value] = {}
    all_enough = True
    for score in score_table(asked, [measure], by=by):
        if score.by != by:
            continue
        enough = score.value is None or enough_units(score, parts[score.key])
        all_enough = all_enough and enough
        place = Place(_base(table), form, measure, by, score.key)
        found[place] = score.value if known and enough else None
    return found, all_enough


def _few_caveat(name: str, table: Table, measures: Sequence[str]) -> str:
    return (
        f"{name} on {table.benchmark}: left out where fewer than {FEWEST} pairs, triples or groups "
        f"were asked: {', '.join(measures)}. Ask more items: raise --limit."
    )


def _caveats(group: Sequence[Table], name: str, paper: str, measures: Sequence[str]) -> list[str]:
    """What to know of a row, each sentence once."""
    found = []
    if len(group) > 1:
        over = f"{len(group)} seeds"
        found.append(f"{name} on {group[0].benchmark}: mean and standard deviation over {over}.")
    for table in group:
        found += _size_caveats(table, name, list(dict.fromkeys(measures)))
        found += _option_caveats(table, name, paper)
    return list(dict.fromkeys(found))


def _size_caveats(table: Table, name: str, measures: Sequence[str]) -> list[str]:
    """What keeps the figures of whole groups from being read beside the paper's, in a sentence."""
    of_groups = [measure for measure in measures if least_size(measure)]
    if not of_groups:
        return []
    size, theirs = items_per_group(table), paper_items(table.benchmark).per_group
    said = f"{name} on {table.benchmark}: {size:.1f} items a group on average"
    if theirs:
        said += f", {theirs} in the paper"
    few = [measure for measure in of_groups if not large_enough(measure, table)]
    if few:
        what = ", ".join(few)
        return [
            f"{said}. From so few {what} would mean something else and is left out. "
            "Ask more items of each group: raise --limit or per_group."
        ]
    if fewer_than_paper(size, table.benchmark):
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
