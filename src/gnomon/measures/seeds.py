"""Runs that differ in nothing but their seed or the draw of their training: means and intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isnan, nan, sqrt
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.contracts import Laws, Measure
from gnomon.errors import UsageError
from gnomon.grouped import grouped
from gnomon.measures.chance import chance_of
from gnomon.measures.intervals import t_quantile, where_all_agree
from gnomon.measures.rows import Row, TaggedItem, build
from gnomon.measures.runlabels import is_seed
from gnomon.measures.statistics import Statistics, looked_at, uncertainty
from gnomon.measures.table import RunFacts, Samples, Table
from gnomon.measures.units import Sharing
from gnomon.records import Score

SEED = "seed of the run"  # a tag of runs taken together
NONE_TOGETHER = "No two of these runs differ only in the seed: each is scored by itself."


class SeedScore(NamedTuple):
    """One measure over several seeds."""

    score: Score  # the mean over seeds, with an interval for new items and new seeds
    deviation: float  # sample standard deviation over seeds, as papers print it
    values: tuple[float, ...]  # one per seed for which the measure is defined
    runs: int = 1  # taken together
    alike: bool = False  # all gave the same answers to the same items: their seed changes nothing


def over_seeds(
    tables: Sequence[Table],
    measure: Measure,
    *,
    pooled: Table | None = None,
    by: str = "",
    key: str = "",
    level: float = 0.95,
) -> SeedScore:
    """The mean of a measure over runs of one model on one benchmark that differ in the seed.

    `pooled` is the combined table, if there is one already.
    """
    if len(by_seed(tables)) != 1:
        raise UsageError(
            "These runs differ in more than the seed.",
            "Give runs of one model on one benchmark with the same options.",
        )
    if pooled is None:
        pooled = together(tables)
    values = np.array([measure.statistics(table.judged).value for table in tables])
    values = values[~np.isnan(values)]
    looked = max(table.about.looked for table in tables)
    statistics = looked_at(measure.statistics(pooled.judged), looked)
    mean = float(values.mean()) if len(values) else nan
    spread = float(values.std(ddof=1)) if len(values) > 1 else nan
    low, high = _interval(mean, spread, len(values), statistics, level)
    score = Score(
        benchmark=pooled.benchmark,
        model=pooled.model,
        measure=measure.name,
        by=by,
        key=key,
        value=None if isnan(mean) else mean,
        low=low,
        high=high,
        chance=chance_of(measure, pooled),
        n=statistics.n,
        clusters=statistics.clusters,
        units=statistics.units,
    )
    return SeedScore(score, spread, tuple(values.tolist()), len(tables), _all_alike(tables))


def _all_alike(tables: Sequence[Table]) -> bool:
    if len(tables) < 2:
        return False
    first, *others = tables
    for other in others:
        same_items = np.array_equal(first.ids, other.ids)
        if not same_items or not np.array_equal(first.picked, other.picked):
            return False
    return True


def by_seed(tables: Sequence[Table]) -> list[list[Table]]:
    """The tables in groups that differ in nothing but their seeds, in order of first occurrence."""
    groups = alike_but_for(tables, seedless)
    for group in groups:
        _check_different(group)
    return groups


def alike_but_for(
    tables: Sequence[Table], settings: Callable[[Table], dict[str, Any]]
) -> list[list[Table]]:
    """The tables of one model on one benchmark with the same of these settings, in groups."""

    def key(table: Table) -> tuple[str, str, str]:
        return table.benchmark, table.spec, _in_words(settings(table))

    return list(grouped(tables, key).values())


def _check_different(tables: Sequence[Table]) -> None:
    """Refuse two runs that have the same seeds: they would count one sample twice."""
    ordered = sorted(tables, key=lambda table: _in_words(table.settings))
    for one, two in pairwise(ordered):
        if one.settings and one.settings == two.settings:
            raise UsageError(
                f"{one.about.folder} and {two.about.folder} do not differ in the seed, nor in "
                "anything else.",
                "Give one of them.",
            )


def _in_words(settings: Any) -> str:
    return repr(sorted(settings.items()))


def slices(tables: Sequence[Table], tag: str, minimum: int = 1) -> dict[str, list[Table]]:
    """For each value of a tag the parts of all tables, if they hold so many items together."""
    found: dict[str, list[Table]] = {}
    for table in tables:
        if not table.has(tag):
            continue
        for key, part in table.by(tag):
            found.setdefault(key, []).append(part)
    return {key: parts for key, parts in found.items() if sum(map(len, parts)) >= minimum}


def seedless(table: Table) -> dict[str, Any]:
    """The settings of a table other than its seeds."""
    return {name: value for name, value in table.settings.items() if not is_seed(name)}


def together(tables: Sequence[Table]) -> Table:
    """Runs of one model with different seeds, one below the other.

    Items, groups and statements of different seeds keep apart, so that measures of groups and of
    consistency never mix seeds; units are the same in all of them, since a pattern that is hard is
    hard with any seed.
    """
    first = tables[0]
    about = RunFacts(
        benchmark=first.benchmark,
        model=first.model,
        spec=first.spec,
        settings=seedless(first),
        total=sum(table.total for table in tables),
    )
    whole = build(
        _rows(tables),
        about=about,
        scale=first.scale,
        sharing=_over_seeds(first),
        laws=_within_seeds(first.laws),
        wordings=lambda: _wordings(tables),
    )
    if all(table.samples is None for table in tables):
        return whole
    counts = [table.samples.number if table.samples else np.ones(len(table)) for table in tables]
    credits = [table.credit for table in tables]
    return replace(whole, samples=Samples(np.concatenate(counts), np.concatenate(credits)))


def _wordings(tables: Sequence[Table]) -> NDArray[np.int64] | None:
    hashes = [table.details.wordings for table in tables]
    known = [each for each in hashes if each is not None]
    return np.concatenate(known) if len(known) == len(tables) else None


def _rows(tables: Sequence[Table]) -> Iterator[Row]:
    shared: list[str] = []
    for kind in tables[0].sharing.within(tables[0]):
        shared += kind.tags
    for seed, table in zip(_names_of_seeds(tables), tables, strict=True):
        for item, scores, choice, error in _unpacked(table):
            known = item.tags | {"group": item.group}
            units = {_of_any_seed(tag): known.get(tag) or f"item {item.id}" for tag in shared}
            tags = item.tags | units | {SEED: seed}
            group = f"{seed}:{item.group}" if item.group else ""
            moved = TaggedItem(f"{seed}:{item.id}", item.form, item.choices, item.gold, group, tags)
            yield moved, scores, choice, error


def _over_seeds(table: Table) -> Sharing:
    """What a table's items share, by tags that do not tell seeds apart, as their groups do."""
    kinds = []
    for kind in table.sharing.within(table):
        kinds.append(kind._replace(tags=tuple(map(_of_any_seed, kind.tags))))
    return Sharing(tuple(kinds))


def _of_any_seed(tag: str) -> str:
    """The tag that holds, for runs taken together, the units that `tag` holds in each of them."""
    return f"{tag}, of any seed"


def _unpacked(
    table: Table,
) -> Iterator[tuple[TaggedItem, list[float] | None, str | None, str | None]]:
    """The rows of a table again."""
    choices, gold = [], []
    for codes, right, first in zip(*table.kinds, strict=True):
        choices.append(tuple(table.labels[code] for code in codes[codes >= 0]))
        named_first = codes[[first]] if right.any() else codes[:0]
        right_codes = dict.fromkeys([*named_first.tolist(), *codes[right].tolist()])
        gold.append(tuple(table.labels[code] for code in right_codes))
    columns = {name: column.text() for name, column in table.tags.items()}
    said = (*table.labels, None)
    for row, kind in enumerate(table.kind.tolist()):
        tags = {name: values[row] for name, values in columns.items() if values[row]}
        form, group = table.form.value(row), table.group.value(row)
        right = gold[kind]
        written = table.marks.asked[row] if table.marks is not None else None
        if written is not None:
            right = written.gold
        item = TaggedItem(str(table.ids[row]), form, choices[kind], right, group, tags)
        scores = None
        if table.scores is not None and not np.isnan(table.scores[row]).all():
            scores = table.scores[row, : len(choices[kind])].tolist()
        error = "failed" if table.failed[row] else None
        yield item, scores, said[table.choice[row]], error


def _names_of_seeds(tables: Sequence[Table]) -> list[str]:
    """Each table's seed, numbered where several tables have the same."""
    names: list[str] = []
    seen: dict[str, int] = {}
    for table in tables:
        seed = str(table.about.seed)
        seen[seed] = seen.get(seed, 0) + 1
        names.append(seed if seen[seed] == 1 else f"{seed}#{seen[seed]}")
    return names


def _within_seeds(laws: Laws) -> Laws:
    """The same laws, for statements of one seed."""
    order, relations = laws.order, laws.relations
    if order is not None:
        order = replace(order, within=(*order.within, SEED))
    if relations is not None:
        relations = replace(relations, within=(*relations.within, SEED))
    return Laws(order=order, relations=relations)


def _interval(
    mean: float, spread: float, seeds: int, pooled: Statistics, level: float
) -> tuple[float | None, float | None]:
    """Student's t with Satterthwaite's degrees of freedom for the sum of the two variances."""
    error, df, _ = uncertainty(pooled)
    if isnan(mean) or isnan(error) or pooled.clusters < 2:
        return None, None
    from_items = error**2
    from_seeds = 0.0 if isnan(spread) else spread**2 / seeds
    total = from_items + from_seeds
    if total == 0:
        t = pooled.looked * t_quantile((1 + level) / 2, df)
        return where_all_agree(mean, min(pooled.clusters, pooled.n), pooled.bounds, t)
    parts = from_items**2 / df
    if seeds > 1:
        parts += from_seeds**2 / (seeds - 1)
    half = pooled.looked * t_quantile((1 + level) / 2, total**2 / parts) * sqrt(total)
    bottom, top = pooled.bounds
    return max(bottom, mean - half), min(top, mean + half)


# Figures over the amount of training: the mean over draws, with an interval over draws.
#
# Draws differ in the items that were drawn, in their order and in new weights, so the interval
# says what another training of the same kind would come to, on the same test items.


Grown = Mapping[float, Sequence[float]]  # amount -> the figures of its draws
Bounds = tuple[float, float]

# Shares of right answers that training measures: of a part the first that it has is drawn.
SHARES = ("accuracy", "relaxed_accuracy")


class AtAmount(NamedTuple):
    """The mean of a measure at one amount of training; no interval where there is one draw."""

    amount: float
    mean: float
    low: float | None
    high: float | None
    deviation: float | None  # the sample standard deviation over draws
    draws: int


def over_draws(
    grown: Grown, *, level: float = 0.95, bounds: Bounds | None = (0.0, 1.0), items: int = 0
) -> list[AtAmount]:
    """The curve of a measure, with Student's interval for the mean over draws.

    It stays within the bounds of the measure, where it has any: of a share, 0 and 1. Draws that
    all agree are not certain: another item may still differ, so there the interval is that of as
    many test items as there are.

    >>> over_draws({5: [0.5, 0.6, 0.7], 1: [0.4]})[0]
    AtAmount(amount=1, mean=0.4, low=None, high=None, deviation=None, draws=1)
    """
    found = []
    for amount, values in sorted(grown.items()):
        point = _at(amount, values, level)
        found.append(_within(point, bounds, items, level) if bounds else point)
    return found


def _at(amount: float, values: Sequence[float], level: float) -> AtAmount:
    mean, count = fmean(values), len(values)
    if count < 2:
        return AtAmount(amount, mean, None, None, None, count)
    deviation = stdev(values)
    reach = t_quantile(0.5 + level / 2, count - 1) * deviation / sqrt(count)
    return AtAmount(amount, mean, mean - reach, mean + reach, deviation, count)


def _within(point: AtAmount, bounds: Bounds, items: int, level: float) -> AtAmount:
    if point.low is None or point.high is None:
        return point
    low, high = max(bounds[0], point.low), min(bounds[1], point.high)
    if point.deviation == 0 and items > 1:
        t = t_quantile(0.5 + level / 2, items - 1)
        low, high = where_all_agree(point.mean, items, bounds, t)
    return point._replace(low=low, high=high)
