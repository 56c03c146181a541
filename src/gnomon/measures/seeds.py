"""Runs that differ only in their seed, taken together: mean, spread and an interval that counts
both sources of chance.

Items are a sample and so are seeds. The error of the mean over seeds has a part from clusters
(shared by the seeds: more seeds do not shrink it) and a part from seeds; adding the two is honest
where either alone is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isnan, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from gnomon.contracts import Laws, Measure
from gnomon.errors import UsageError
from gnomon.measures.building import Row, Whole, build, unpack
from gnomon.measures.columns import Wordings
from gnomon.measures.distributions import t_quantile
from gnomon.measures.intervals import standard_error
from gnomon.measures.runlabels import is_seed
from gnomon.measures.table import Table
from gnomon.records import Score

SEED, CLUSTER = "seed of the run", "cluster"  # tags of runs taken together


class SeedScore(NamedTuple):
    """One measure over several seeds."""

    score: Score  # the mean over seeds, with an interval for new items and new seeds
    deviation: float  # sample standard deviation over seeds, as papers print it
    values: tuple[float, ...]  # one per seed


def over_seeds(
    tables: Sequence[Table], measure: Measure, *, by: str = "", key: str = "", level: float = 0.95
) -> SeedScore:
    """The mean of a measure over runs of one model on one benchmark that differ in the seed."""
    if len(by_seed(tables)) != 1:
        raise UsageError(
            "Seeds are aggregated over runs of one model on one benchmark that differ in nothing but the seed.",
            "Give such runs only.",
        )
    values = np.array([measure.statistics(table).value for table in tables])
    values = values[~np.isnan(values)]
    pooled = measure.statistics(together(tables) if len(tables) > 1 else tables[0])
    first = tables[0]
    mean = float(values.mean()) if len(values) else nan
    spread = float(values.std(ddof=1)) if len(values) > 1 else nan
    low, high = _interval(
        mean,
        standard_error(pooled) if pooled.clusters > 1 else nan,
        pooled.clusters - 1,
        spread,
        len(values),
        level,
        pooled.bounds,
    )
    score = Score(
        benchmark=first.benchmark,
        model=first.model,
        measure=measure.name,
        by=by,
        key=key,
        value=None if isnan(mean) else mean,
        low=low,
        high=high,
        n=pooled.n,
        clusters=pooled.clusters,
    )
    return SeedScore(score, spread, tuple(values.tolist()))


def by_seed(tables: Sequence[Table]) -> list[list[Table]]:
    """The tables in groups that differ in nothing but their seeds, in order of first occurrence."""
    found: dict[tuple[str, str, str], list[Table]] = {}
    for table in tables:
        found.setdefault(
            (table.benchmark, table.model, repr(sorted(seedless(table).items()))), []
        ).append(table)
    for group in found.values():
        for one, two in pairwise(
            sorted(group, key=lambda table: repr(sorted(table.settings.items())))
        ):
            if one.settings and one.settings == two.settings:
                raise UsageError(
                    f"{one.folder} and {two.folder} do not differ in the seed, nor in anything else.",
                    "Give one of them.",
                )
    return list(found.values())


def slices(tables: Sequence[Table], tag: str, minimum: int = 1) -> dict[str, list[Table]]:
    """For each value of a tag the parts of all tables that have it, if they hold so many items
    together."""
    found: dict[str, list[Table]] = {}
    for table in tables:
        for key, part in table.by(tag) if table.has(tag) else ():
            found.setdefault(key, []).append(part)
    return {key: parts for key, parts in found.items() if sum(map(len, parts)) >= minimum}


def seedless(table: Table) -> dict[str, Any]:
    """The settings of a table other than its seeds."""
    return {name: value for name, value in table.settings.items() if not is_seed(name)}


def together(tables: Sequence[Table]) -> Table:
    """Runs of one model with different seeds, one below the other.

    Items, groups and statements of different seeds keep apart, so that measures of groups and of
    consistency never mix seeds; clusters are the same in all of them, since a pattern that is hard
    is hard with any seed.
    """
    first = tables[0]
    wordings = [table.wordings for table in tables if table.wordings is not None]
    return build(
        _rows(tables),
        benchmark=first.benchmark,
        model=first.model,
        scale=first.scale,
        cluster=CLUSTER,
        laws=_within_seeds(first.laws),
        total=sum(table.total for table in tables),
        settings=seedless(first),
        wordings=Wordings(lambda: np.concatenate([each.hashes for each in wordings]))
        if len(wordings) == len(tables)
        else None,
    )


def _rows(tables: Sequence[Table]) -> Iterator[Row]:
    seeds = [str(table.seed) for table in tables]
    names = [
        f"{seed}#{seeds[:i].count(seed) + 1}" if seed in seeds[:i] else seed
        for i, seed in enumerate(seeds)
    ]
    for seed, table in zip(names, tables, strict=True):
        clusters = table.column(table.cluster).text()
        for (item, scores, choice, error), cluster in zip(unpack(table), clusters, strict=True):
            tags = item.tags | {SEED: seed, CLUSTER: cluster or f"item {item.id}"}
            group = f"{seed}:{item.group}" if item.group else ""
            moved = Whole(f"{seed}:{item.id}", item.form, item.choices, item.gold, group, tags)
            yield moved, scores, choice, error


def _within_seeds(laws: Laws) -> Laws:
    """The same laws, for statements of one seed."""
    order, relations = laws.order, laws.relations
    if order is not None:
        order = replace(order, within=(*order.within, SEED))
    if relations is not None:
        relations = replace(relations, within=(*relations.within, SEED))
    return Laws(order=order, relations=relations)


def _interval(
    mean: float,
    error: float,
    df: int,
    spread: float,
    seeds: int,
    level: float,
    bounds: tuple[float, float],
) -> tuple[float | None, float | None]:
    """Student's t with the degrees of freedom that Satterthwaite's rule gives the sum of the two
    variances."""
    if isnan(mean) or isnan(error):
        return None, None
    from_items, from_seeds = error**2, 0.0 if isnan(spread) else spread**2 / seeds
    total = from_items + from_seeds
    if total == 0:
        return mean, mean
    parts = from_items**2 / df + (from_seeds**2 / (seeds - 1) if seeds > 1 else 0.0)
    half = t_quantile((1 + level) / 2, total**2 / parts) * sqrt(total)
    return max(bounds[0], mean - half), min(bounds[1], mean + half)
