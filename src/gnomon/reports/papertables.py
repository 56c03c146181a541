"""The papers' results tables: published rows first, then the runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import cache
from statistics import mean, stdev
from typing import Any, Literal, NamedTuple

import msgspec

from gnomon.contracts import Listing
from gnomon.errors import UsageError, check_known
from gnomon.files import package_data, read_yaml
from gnomon.grouped import grouped
from gnomon.measures.accuracy import FEWEST, enough_units, items_per_group, large_enough, least_size
from gnomon.measures.entries import on_items_of
from gnomon.measures.runlabels import labels
from gnomon.measures.scoring import score_table
from gnomon.measures.seeds import NONE_TOGETHER, by_seed, seedless
from gnomon.measures.table import Table
from gnomon.naming import PERSON
from gnomon.registry import benchmark, known_benchmark
from gnomon.reports.papers import Result, fewer_than_paper, paper_items, results

# The papers' results tables: published rows first, then the runs.
#
# How each paper lays them out is in data/published/layouts.yaml. Every figure that the package
# holds has a place in a table. A run's cell is the same measure on the same slice, so that the
# two can be read side by side; a column that no run can fill says so.


RECOGNISED, SHARE = "recognised_", "_share"  # measures of what a judge, or another run, recognised
PAINTED = "scene"
WEIGHTS = "weights"  # a setting of runs of one model whose files differ
PART, SPLIT = "part", "split"  # a tag of items, and the option that asks for one of its values
Caveat = tuple[str, str]  # the row that it is about, if it is about one, and what to know of it
ROUNDING = {"half up": ROUND_HALF_UP, "half even": ROUND_HALF_EVEN}


class PaperColumn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column of a paper's table: a measure, on all items or on one slice."""

    head: str
    measure: str
    benchmark: str = ""  # where it is empty, the table's; the same for the form
    form: str = ""
    by: str = ""
    key: str = ""
    spread: str = ""  # a run's spread is over its slices by this tag
    digits: int | None = None  # where it is none, the paper's
    paper_only: bool = False  # a run has no such figure
    options: Mapping[str, str] = {}  # with which the paper's items are asked for
    ours: str = ""  # the measure of runs, where the paper's means something else


class TableLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One results table of a paper."""

    table: str
    title: str
    columns: tuple[PaperColumn, ...]
    benchmark: str = ""
    form: str = ""  # the table is about items of this form only
    beside: tuple[str, ...] = ()  # forms of other rows that the paper prints in the same table

    def filled(self) -> list[PaperColumn]:
        """The columns, with what they take over from the table."""
        found = []
        for column in self.columns:
            benchmark = column.benchmark or self.benchmark
            form = column.form or self.form
            found.append(msgspec.structs.replace(column, benchmark=benchmark, form=form))
        return found


class PaperLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The results tables of one paper, and how it prints its figures."""

    digits: int
    tables: tuple[TableLayout, ...]
    spread_digits: int | None = None  # of spreads below 10 %, where they have more digits
    rounding: Literal["half up", "half even"] = "half up"
    spread_after: Literal["brackets", "plus-minus"] = "brackets"  # 57.4 (0.9) or 57.4 ± 0.9


class PaperPlace(NamedTuple):
    """Which figure stands in a cell."""

    benchmark: str
    form: str
    measure: str
    by: str
    key: str


Value = float | None  # none where the groups are too small for the figure


@dataclass
class RunFigures:
    """The figures of a model's runs on the benchmarks of one paper, a row of its tables."""

    sources: set[str]  # of the items: published, fresh
    values: dict[PaperPlace, Value]
    deviations: dict[PaperPlace, float] = field(
        default_factory=dict
    )  # over seeds, where several ran
    elsewhere: set[tuple[str, str]] = field(
        default_factory=set
    )  # tables and benchmarks whose items were not asked, while those of another table were


@cache
def papers() -> dict[str, PaperLayout]:
    """The papers by their short names."""
    return msgspec.convert(
        read_yaml(package_data("published/layouts.yaml")), dict[str, PaperLayout]
    )


def paper_named(name: str) -> PaperLayout:
    """The paper of that name."""
    if not name:
        raise UsageError(
            "These runs are not on a benchmark of one of the papers.",
            "Score them without --like-paper.",
        )
    check_known("paper", name, papers())
    return papers()[name]


def needed(paper: str, benchmark: str) -> set[tuple[str, str, str]]:
    """The forms, measures and tags that a paper's tables need of runs on a benchmark."""
    wanted: set[tuple[str, str, str]] = set()
    for _, column in columns_on(paper, benchmark):
        if not column.paper_only:
            measure = column.ours or column.measure
            wanted.add((column.form, measure, column.by))
            wanted.add((column.form, measure, column.spread or column.by))
    return wanted


def columns_on(paper: str, benchmark: str) -> list[tuple[str, PaperColumn]]:
    """The columns of a paper that are about one benchmark, each with the name of its table."""
    found = []
    for layout in paper_named(paper).tables:
        found += [(layout.table, column) for column in layout.filled()]
    return [(table, column) for table, column in found if column.benchmark == benchmark]


def like_paper(
    paper: str, results: Sequence[Result], runs: Mapping[str, RunFigures]
) -> list[Listing]:
    """The tables of a paper for which runs, by their names, have a figure."""
    how = paper_named(paper)
    tables = []
    for layout in how.tables:
        columns = layout.filled()
        shown = {}
        for name, run in runs.items():
            here = {_run_place(column) for column in columns if _is_asked(layout, column, run)}
            if here & run.values.keys():
                shown[name] = run
        if not shown:
            continue
        rows = published_rows(how, layout, results)
        theirs = {row[0] for row in rows}
        for name, run in shown.items():
            cells = [_measured(how, layout, column, run) for column in columns]
            rows.append((f"{name} (this run)" if name in theirs else name, *cells))
        heads = [column.head for column in columns]
        whose = _whose_items(set().union(*(run.sources for run in shown.values())))
        title = f"{paper}, {layout.table}. {layout.title} (%){whose}"
        tables.append(Listing(title, ("Model", *heads), tuple(rows)))
    return tables


def published_rows(
    how: PaperLayout, layout: TableLayout, results: Sequence[Result]
) -> list[tuple[str | None, ...]]:
    """The rows of a table as the paper has them: a model's name, then its cells."""
    forms = {column.form for column in layout.filled()} | set(layout.beside)
    here = [r for r in results if r.table == layout.table and r.form in forms]
    rows: dict[tuple[str, str], dict[PaperPlace, Result]] = {}
    for result in here:
        rows.setdefault((result.model, result.variant), {})[place_of(result)] = result

    told = len({result.variant for result in here if result.kind == "model"}) > 1
    found: list[tuple[str | None, ...]] = []
    for (model, variant), own in rows.items():
        name = f"{model}, {variant}" if variant and told else model
        cells: list[str | None] = []
        for column in layout.filled():
            figure = _found(column, own, layout)
            cells.append(_cell(how, column, figure.value, figure.sd) if figure else None)
        found.append((name, *cells))
    return found


def _found(
    column: PaperColumn, own: Mapping[PaperPlace, Result], layout: TableLayout
) -> Result | None:
    """A row's figure for a column: of its form, or of a form that stands beside it."""
    place = place_of(column)
    for form in (place.form, *layout.beside):
        if place._replace(form=form) in own:
            return own[place._replace(form=form)]
    return None


def place_of(what: PaperColumn | Result) -> PaperPlace:
    """Where a figure stands."""
    return PaperPlace(what.benchmark, what.form, what.measure, what.by, what.key)


def _run_place(column: PaperColumn) -> PaperPlace:
    """Where a run's figure for a column stands."""
    place = place_of(column)
    return place._replace(measure=column.ours or column.measure)


def rounded(value: float, digits: int, rounding: str) -> str:
    """A fraction in per cent, rounded once, as the paper rounds.

    >>> rounded(58 / 160, 1, "half even"), rounded(58 / 160, 1, "half up")
    ('36.2', '36.3')
    """
    exact = Decimal(f"{100 * value:.9f}")  # without the noise of floating point
    return str(exact.quantize(Decimal(1).scaleb(-digits), ROUNDING[rounding]))


def _whose_items(sources: set[str]) -> str:
    """For the title: that runs in this table did not answer the paper's items."""
    if sources == {"fresh"}:
        return "; the runs answered fresh items"
    if "fresh" in sources:
        return "; some runs answered fresh items"
    return ""


def _is_asked(layout: TableLayout, column: PaperColumn, run: RunFigures) -> bool:
    """Whether a run was asked what a column is about."""
    return not column.paper_only and (layout.table, column.benchmark) not in run.elsewhere


def _measured(
    how: PaperLayout, layout: TableLayout, column: PaperColumn, run: RunFigures
) -> str | None:
    value = run.values.get(_run_place(column))
    if value is None or not _is_asked(layout, column, run):
        return None
    return _cell(how, column, value, _spread(column, run))


def _spread(column: PaperColumn, run: RunFigures) -> float | None:
    """The deviation over the slices by the tag that the column names, or else over seeds.

    With n - 1, as in Tables 2 and 6 of the spatialQA paper.
    """
    if not column.spread:
        return run.deviations.get(_run_place(column))
    wanted = (column.benchmark, column.form, column.ours or column.measure, column.spread)
    values = []
    for place, value in run.values.items():
        if place[:4] == wanted and place.key and value is not None:
            values.append(value)
    return stdev(values) if len(values) > 1 else None


def _cell(how: PaperLayout, column: PaperColumn, value: float, sd: float | None) -> str:
    digits = how.digits if column.digits is None else column.digits
    text = rounded(value, digits, how.rounding)
    if sd is None:
        return text
    if how.spread_digits is not None and sd < 0.1:
        digits = how.spread_digits
    spread = rounded(sd, digits, how.rounding)
    return f"{text} ± {spread}" if how.spread_after == "plus-minus" else f"{text} ({spread})"


# Runs beside the papers' results, with what keeps the two apart.
#
# A figure of whole groups (pattern accuracy) from a handful of items is another figure than the
# paper's: it is left out.


def beside_papers(
    tables: Sequence[Table],
    *,
    seeds_together: bool = False,
    recognised_by: Sequence[Table] = (),
    draws: Mapping[str, str] | None = None,
) -> tuple[list[Listing], list[str]]:
    """The results tables of the papers of these benchmarks, a row for each run; and caveats.

    With `seeds_together`, runs that differ in nothing but the seed share a row: mean and deviation.
    So do models that are draws of one training: `draws` names them, each with the row's name.
    With `recognised_by`, columns of recognised items are on those that these runs recognised: the
    figures in brackets of the rows marked § and † in the spatial-commonsense paper.
    """
    tables, left_out = _of_papers(tables)
    caveats: list[Caveat] = [("", said) for said in left_out]
    draws = draws or {}
    groups = by_seed(tables) if seeds_together else _by_draw(tables, draws)
    if seeds_together and len(groups) == len(tables):
        caveats.append(("", NONE_TOGETHER))
    rows = list(zip(groups, _names(groups, seeds_together, draws), strict=True))
    runs: dict[tuple[str, str], dict[str, RunFigures]] = {}
    for group, name in [*rows, *_people_together(tables)]:
        asked = benchmark(_base(group[0]))
        found = runs.setdefault((asked.paper, asked.published_results), {})
        mine = found.setdefault(name, RunFigures(set(), {}))
        mine.sources.add(_source(group[0]))
        wanted = sorted(needed(asked.paper, asked.name))
        few = dict[str, None]()
        others = [each for each in recognised_by if each.benchmark == group[0].benchmark]
        for form, measure, by in wanted:
            counted = group
            is_asked = form in group[0].form.text()
            if others and is_asked and form != PAINTED and _is_of_recognised(measure):
                try:
                    counted = [on_items_of(table, others) for table in group]
                except UsageError as nothing:
                    caveats.append(("", nothing.message))
                    continue
            few |= dict.fromkeys(_add_figures(mine, counted, form, measure, by))
        if few:
            said = (
                f"on {group[0].benchmark}: left out where fewer than {FEWEST} pairs, triples or "
                f"groups were asked: {', '.join(few)}. Ask more items: raise --limit."
            )
            caveats.append((name, said))
        fitting, others_of_it = _tables_for(group, asked.paper)
        if fitting:
            mine.elsewhere |= {(table, asked.name) for table in others_of_it}
        for said in _caveats(group, [measure for _, measure, _ in wanted]):
            caveats.append((name, said))
        for table in group if not fitting else ():
            for said in _option_caveats(table, asked.paper):
                caveats.append((name, said))
    listings = []
    for (paper, file), found in runs.items():
        listings += like_paper(paper, results(file), found)
    return listings, _said_once(caveats)


def _said_once(caveats: Sequence[Caveat]) -> list[str]:
    """Each sentence once, after the names of all rows that it is about.

    >>> _said_once([("A", "on scales@fresh: few."), ("B", "on scales@fresh: few.")])
    ['A; B on scales@fresh: few.']
    """
    rows: dict[str, dict[str, None]] = {}
    for row, said in caveats:
        rows.setdefault(said, {})[row] = None
    return [f"{'; '.join(names)} {said}".lstrip() for said, names in rows.items()]


def _is_of_recognised(measure: str) -> bool:
    return measure.startswith(RECOGNISED) and not measure.endswith(SHARE)


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


def _by_draw(tables: Sequence[Table], draws: Mapping[str, str]) -> list[list[Table]]:
    """The tables one by one, but for those of models that are draws of one training."""

    def key(table: Table) -> tuple[str, ...]:
        if table.model not in draws:
            return (str(id(table)),)
        return draws[table.model], table.benchmark, repr(sorted(_told(table, draws).items()))

    return list(grouped(tables, key).values())


def _told(table: Table, draws: Mapping[str, str]) -> dict[str, Any]:
    """The settings that tell a row from others: not the weights, of which each draw has its own."""
    weightless = table.model in draws
    settings = table.settings.items()
    return {name: value for name, value in settings if name != WEIGHTS or not weightless}


def _names(
    groups: Sequence[Sequence[Table]], seeds_together: bool, draws: Mapping[str, str]
) -> list[str]:
    """A row's name: the model's, with what tells its runs on one benchmark apart.

    Runs on parts of the items share a row where the paper has a column for each part.
    """
    firsts = [group[0] for group in groups]
    names: dict[int, str] = {}
    for base, here in grouped(firsts, _base).items():
        columns = columns_on(benchmark(base).paper, base)
        has_parts = any(column.by == PART for _, column in columns)
        rows: dict[str, tuple[str, dict[str, Any]]] = {}
        row_of: dict[int, str] = {}
        parts: set[str] = set()
        for table in here:
            own = seedless(table) if seeds_together else _told(table, draws)
            own = {"items": _source(table), **own}
            part = own.pop(SPLIT, None) if has_parts else None
            name = draws.get(table.model, table.model)
            key = f"{name} {own}"
            if part is None or f"{key} {part}" in parts:
                key += f" {id(table)}"  # a row of its own
            parts.add(f"{key} {part}")
            row_of[id(table)] = key
            rows[key] = (name, own)
        called = labels([name for name, _ in rows.values()], [own for _, own in rows.values()])
        by_row = dict(zip(rows, called, strict=True))
        names |= {table: by_row[key] for table, key in row_of.items()}
    return [names[id(group[0])] for group in groups]


def _people_together(tables: Sequence[Table]) -> list[tuple[list[Table], str]]:
    """People who answered the same items as one row, the mean of what each of them reaches.

    Spatial commonsense, section 3.3, reports two annotators so; `judge=people:...` instead takes
    what most of them say.
    """
    people = [table for table in tables if table.spec.startswith(PERSON)]
    by_items = grouped(people, lambda table: (table.benchmark, table.about.digest))
    together = [group for group in by_items.values() if len(group) > 1]
    found = []
    for groups in grouped(together, lambda group: group[0].benchmark).values():
        for number, group in enumerate(groups, start=1):
            which = f" #{number}" if len(groups) > 1 else ""  # pictures of several painters
            found.append((group, f"mean of {len(group)} people{which}"))
    return found


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
    by_place: dict[PaperPlace, list[Value]] = {}
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


def _figures(
    table: Table, form: str, measure: str, by: str
) -> tuple[dict[PaperPlace, Value], bool]:
    """A measure of the items of a form, on all of them or by a tag, and whether enough speak.

    It has no value where the groups are too small for it, or where there are hardly any.
    """
    asked = dict(table.by("form")).get(form) if form else table
    if asked is None or (by and not asked.has(by)):
        return {}, True
    known = large_enough(measure, table)
    parts = dict(asked.by(by)) if by else {"": asked}
    found: dict[PaperPlace, Value] = {}
    all_enough = True
    for score in score_table(asked, [measure], by=by):
        if score.by != by:
            continue
        enough = score.value is None or enough_units(score, parts[score.key])
        all_enough = all_enough and enough
        place = PaperPlace(_base(table), form, measure, by, score.key)
        found[place] = score.value if known and enough else None
    return found, all_enough


def _tables_for(group: Sequence[Table], paper: str) -> tuple[set[str], set[str]]:
    """The tables whose items these runs were asked, and those that are about other items."""
    fitting: set[str] = set()
    others: set[str] = set()
    for table in group:
        for where, column in columns_on(paper, _base(table)):
            differs = list(_other_options(table, column))
            (others if differs else fitting).add(where)
    return fitting - others, others


def _caveats(group: Sequence[Table], measures: Sequence[str]) -> list[str]:
    """What to know of a row, each sentence once."""
    found = []
    if len(group) > 1:
        over = "people" if group[0].spec.startswith(PERSON) else "seeds"
        found.append(
            f"on {group[0].benchmark}: mean and standard deviation over {len(group)} {over}."
        )
    for table in group:
        found += _size_caveats(table, list(dict.fromkeys(measures)))
    return found


def _size_caveats(table: Table, measures: Sequence[str]) -> list[str]:
    """What keeps the figures of whole groups from being read beside the paper's, in a sentence."""
    of_groups = [measure for measure in measures if least_size(measure)]
    if not of_groups:
        return []
    size, theirs = items_per_group(table), paper_items(table.benchmark).per_group
    said = f"on {table.benchmark}: {size:.1f} items a group on average"
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


def _option_caveats(table: Table, paper: str) -> list[str]:
    """Where a run was asked other items than a table of the paper is about."""
    found: dict[str, dict[str, None]] = {}
    for where, column in columns_on(paper, _base(table)):
        for said in _other_options(table, column):
            found.setdefault(said, {})[where] = None
    caveats = []
    for said, places in found.items():
        items = f"on {table.benchmark} is not on the items of {', '.join(places)}"
        caveats.append(f"{items}: {said}.")
    return caveats


def _other_options(table: Table, column: PaperColumn) -> Iterator[str]:
    for option, theirs in column.options.items():
        if option not in table.about.settings:
            continue
        ours = str(table.about.settings[option])
        if ours not in theirs.split(" or "):
            yield f"{option} {ours or '(all)'} here, {option} {theirs} in the paper"
