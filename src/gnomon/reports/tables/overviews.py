"""The overview in a terminal: models by benchmarks, the other way round where that fits better."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

from gnomon.contracts import Listing
from gnomon.grouped import grouped
from gnomon.measures.chance import MEANT
from gnomon.reports.overview import (
    IN_WORDS,
    Overview,
    OverviewCell,
    OverviewColumn,
    in_words,
)
from gnomon.reports.tables.scores import CHANCE_IS, summaries, wrapped
from gnomon.reports.words import interval, known, listed, measure_name, per_cent, percent
from gnomon.tabular import UNCUT, Field, listing_of, render, too_wide

MEAN_RANK = (
    "mean rank: 1 is the best on every benchmark; ± its standard error, since models that are not "
    "shown to differ could change places."
)
TOGETHER = (
    "What is said of chance holds for all benchmarks of a model together; for that each interval "
    "is taken somewhat wider than it is shown."
)
Marked = Mapping[tuple[str, str], str]


def in_terminal(
    found: Overview,
    *,
    intervals: bool = True,
    marks: Marked | None = None,
    words: bool = True,
    width: int | None = None,
) -> str:
    """The whole overview as text: the table, what its signs mean, and what to know of it.

    With `words`, also what each model knows: of benchmarks, not of the values of a tag.
    """
    below = [*_words(found)] if words else []
    below += found.notes
    if len(found.models) == 1:
        table = _of_one_model(found, width)
        used = {IN_WORDS[cell.verdict] for cell in found.cells.values()}
        meanings = [f"{words}: {meant}." for words, meant in MEANT.items() if words in used]
        interval_is = f"{100 * found.level:g} % interval"
    else:
        table = _fitting(found, intervals, marks or {}, width)
        meanings = [f"{sign}: {meaning}." for sign, meaning in found.legend.items()]
        interval_is = "[ ]" if " [" in table else ""
    legend = _legend(found, interval_is, meanings)
    return "\n".join([table, "", *wrapped([*legend, *below], width)])


def _of_one_model(found: Overview, width: int | None) -> str:
    """One line a benchmark, with words for its verdict."""
    model = found.models[0]

    def cell(column: OverviewColumn) -> OverviewCell:
        return found.cells[model, column.name]

    for lean in (False, True):
        fields = (
            Field("benchmark", lambda column: column.name),
            Field("measure", lambda column: measure_name(column.measure).lower(), not lean),
            Field("score", lambda column: percent(cell(column).value)),
            Field(f"{100 * found.level:g} % interval", lambda column: _range(cell(column))),
            Field("chance", lambda column: percent(cell(column).chance)),
            Field("verdict", lambda column: IN_WORDS[cell(column).verdict]),
            Field("items", lambda column: cell(column).items, not lean),
        )
        listing = listing_of(model, fields, found.columns)
        whole = render(listing, width=UNCUT)
        if not too_wide(whole, width):
            return whole
    return render(listing, width=width)


def _range(cell: OverviewCell) -> str:
    return interval(known(cell.low), known(cell.high))


def _fitting(found: Overview, intervals: bool, marks: Marked, width: int | None) -> str:
    """The first way to lay the table out that fits: intervals go before anything is cut."""
    ways = [True, False] if intervals else [False]
    for with_intervals in ways:
        for layout in (_by_model, _by_benchmark):
            whole = render(layout(found, with_intervals, marks), width=UNCUT)
            if not too_wide(whole, width):
                return whole
    return render(_by_benchmark(found, False, marks), width=width)


def _by_model(found: Overview, intervals: bool, marks: Marked) -> Listing:
    heads = ["model", *(column.name for column in found.columns)]
    if found.mean_rank:
        heads.append("mean rank")
    rows = []
    for model in found.models:
        cells: list[Any] = [model]
        for column in found.columns:
            cells.append(_cell(found, model, column, intervals, marks))
        if found.mean_rank:
            cells.append(found.rank(model) or "–")
        rows.append(tuple(cells))
    chance: list[Any] = ["chance", *map(_chance, found.columns)]
    if found.mean_rank:
        chance.append("")
    return Listing(_title(found), tuple(heads), (*rows, tuple(chance)))


def _by_benchmark(found: Overview, intervals: bool, marks: Marked) -> Listing:
    """The same the other way round."""
    whole = _by_model(found, intervals, marks)
    (_, *models), *rows = zip(whole.columns, *whole.rows, strict=True)
    return Listing(whole.title, ("benchmark", *models), tuple(rows))


def _title(found: Overview) -> str:
    """The measure of most columns; the legend names the others."""
    return f"{measure_name(_usual(found))}, in per cent"


def _usual(found: Overview) -> str:
    [(usual, _)] = Counter(column.measure for column in found.columns).most_common(1)
    return usual


def _by_other_measures(found: Overview) -> Iterator[str]:
    """Which columns stand with another measure than the title says."""
    usual = _usual(found)
    others = [column for column in found.columns if column.measure != usual]
    for measure, columns in grouped(others, lambda column: column.measure).items():
        yield f"By {measure}: {listed([column.name for column in columns])}."


def _cell(
    found: Overview, model: str, column: OverviewColumn, intervals: bool, marks: Marked
) -> str:
    cell = found.cells.get((model, column.name))
    if cell is None or isnan(cell.value):
        return "    –"
    text = f"{per_cent(cell.value, 1):>5}"
    if intervals and not isnan(cell.low):
        text += f" [{interval(cell.low, cell.high, 'to')}]"
    mark = marks.get((model, column.name), "")
    return f"{text} {cell.marks} {mark}".rstrip()


def _chance(column: OverviewColumn) -> str:
    return f"{per_cent(column.chance, 1):>5}" if column.chance is not None else "    –"


def _legend(found: Overview, interval_is: str, meanings: Sequence[str]) -> list[str]:
    """What each figure, word and sign of the table means, and nothing that does not occur in it."""
    told = [*_by_other_measures(found)] if len(found.models) > 1 else []
    told += summaries([column.measure for column in found.columns])
    if any(column.chance is not None for column in found.columns):
        told.append(CHANCE_IS)
    if interval_is:
        sure = f"{100 * found.level:g} of 100 such intervals"
        told.append(f"{interval_is}: {sure} hold the score on all questions of the kind.")
    told += meanings
    if found.mean_rank:
        told.append(MEAN_RANK)
    if len(found.columns) > 1:
        told.append(TOGETHER)
    return told


def _words(found: Overview) -> Iterator[str]:
    """What each model knows."""
    for model in found.models:
        told = in_words(found, model)
        if told and len(found.columns) > 1:
            yield f"{model}: {told}."
