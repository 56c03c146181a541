"""One model asked by several prompts: how far they differ, and the best by held-out items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isnan, nan
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.contracts import Measure
from gnomon.errors import GnomonError, UsageError
from gnomon.measures.chance import chance_of, unmet
from gnomon.measures.entries import ScoredTable, measures_of, pooled, sliced
from gnomon.measures.intervals import interval
from gnomon.measures.runlabels import settings_of
from gnomon.measures.seeds import alike_but_for, together
from gnomon.measures.statistics import looked_at
from gnomon.measures.table import Table
from gnomon.records import Score

if TYPE_CHECKING:
    from gnomon.runs import Run

WORDING = "wording"  # the setting; the first wording is the default and not recorded


class PromptScore(NamedTuple):
    """One measure over several prompts."""

    score: Score  # the mean over prompts, with an interval over items
    label: str
    values: tuple[float, ...]  # one for each prompt
    prompts: tuple[str, ...]  # what the prompts are called
    better: str  # higher or lower

    @property
    def best(self) -> float:
        """The best value of any prompt."""
        return max(self.values) if self.better == "higher" else min(self.values)

    @property
    def worst(self) -> float:
        """The worst value of any prompt."""
        return min(self.values) if self.better == "higher" else max(self.values)

    @property
    def median(self) -> float:
        """The value in the middle: half of the prompts do no better."""
        return median(self.values)

    @property
    def spread(self) -> float:
        """The difference between the best and the worst."""
        return abs(self.best - self.worst)

    @property
    def deviation(self) -> float:
        """The sample standard deviation over prompts."""
        return stdev(self.values) if len(self.values) > 1 else nan

    def prompt_of(self, value: float) -> str:
        """The first prompt that has this value."""
        return self.prompts[self.values.index(value)]


def prompt_name(table: Table) -> str:
    """What the prompt of a run is called among its paraphrases.

    >>> from gnomon.measures.table import RunFacts, Table
    >>> table = replace(Table.of([]), about=RunFacts(settings={"wording": 2}))
    >>> prompt_name(table), prompt_name(Table.of([]))
    ('wording 2', 'wording 1')
    """
    return f"wording {wording_number(table)}"


def wording_number(table: Table) -> int:
    """Which wording of its prompt a run was asked in."""
    return int(table.settings.get(WORDING, 1))


def promptless(table: Table) -> dict[str, Any]:
    """The settings of a run other than its wording."""
    return {name: value for name, value in table.settings.items() if name != WORDING}


def by_prompt(tables: Sequence[Table]) -> list[list[Table]]:
    """The tables in groups that differ in nothing but the prompt, in order of first occurrence.

    Within a group they stand in the order of their prompts.
    """
    groups = alike_but_for(tables, promptless)
    return [sorted(group, key=wording_number) for group in groups]


def pooled_over_prompts(entries: Sequence[ScoredTable]) -> list[ScoredTable]:
    """One entry for all runs that differ in nothing but the prompt.

    It is an error if none do.
    """
    found = pooled(entries, by_prompt, promptless, _pooled)
    if found and all(len(entry.seeds) == 1 for entry in found):
        raise _one_wording()
    return found


def check_prompts(runs: Sequence[Run]) -> None:
    """Refuse runs of which no two differ only in the wording."""
    seen = set()
    for run in runs:
        others = {name: value for name, value in settings_of(run).items() if name != WORDING}
        seen.add((run.benchmark, run.model, repr(sorted(others.items()))))
    if len(seen) == len(runs):
        raise _one_wording()


def _one_wording() -> UsageError:
    return UsageError(
        "No two of these runs differ only in the wording of the prompt.",
        "Make runs in every wording with `gnomon run ... --prompts all`.",
    )


def _pooled(tables: Sequence[Table], here: Sequence[Table]) -> Table:
    """Runs with different prompts, one below the other; an item is the same unit in all of them.

    A model that is not asked by a prompt would answer the same in every wording.
    """
    asked = {prompt_name(table): table for table in tables}
    if not _has_prompt(tables[0].spec):
        asked = dict.fromkeys(sorted(map(prompt_name, here)), tables[0])
    named = []
    for name, table in asked.items():
        named.append(replace(table, about=replace(table.about, seed=name)))
    whole = together(named)
    return replace(whole, about=replace(whole.about, settings=promptless(tables[0])))


def _has_prompt(model: str) -> bool:
    """Whether a model is asked by a prompt; one that is not installed here may be."""
    from gnomon import registry

    try:
        registry.model_factory(model)
    except (GnomonError, ImportError):
        return True
    try:
        registry.model(model, wording=2)
    except UsageError:
        return False
    return True


def score_over_prompts(
    entries: Sequence[ScoredTable],
    *,
    by: Sequence[str] = (),
    measures: Sequence[str] = (),
    minimum: int = 1,
    level: float = 0.95,
) -> list[PromptScore]:
    """The measures of each model over its prompts: all items first, then by tags."""
    from gnomon.registry import measure

    found: list[PromptScore] = []
    for tag, parts in sliced(pooled_over_prompts(entries), by, minimum):
        for name in measures or measures_of(parts):
            for key, part in parts.items():
                found += _over(part, measure(name), level, tag, key)
    return found


def _over(
    entry: ScoredTable, measure: Measure, level: float, by: str = "", key: str = ""
) -> Iterator[PromptScore]:
    """One measure over the prompts of one model; nothing where it is undefined."""
    values, prompts = [], []
    for table in entry.seeds:
        if unmet(measure, table.judged):
            continue
        value = measure.statistics(table.judged).value
        if not isnan(value):
            values.append(value)
            prompts.append(prompt_name(table))
    if not values:
        return

    looked = max(table.about.looked for table in entry.seeds)
    statistics = looked_at(measure.statistics(entry.table.judged), looked)
    found = interval(statistics, level=level)
    mean = sum(values) / len(values)
    bottom, top = statistics.bounds
    moved = mean - found.value  # where a measure is no mean over items
    score = Score(
        benchmark=entry.table.benchmark,
        model=entry.table.model,
        measure=measure.name,
        by=by,
        key=key,
        value=mean,
        low=None if isnan(found.low) else max(bottom, found.low + moved),
        high=None if isnan(found.high) else min(top, found.high + moved),
        chance=chance_of(measure, entry.table),
        n=max(map(len, entry.seeds)),
        clusters=statistics.clusters,
        units=statistics.units,
    )
    yield PromptScore(score, entry.label, tuple(values), tuple(prompts), measure.better)


# A prompt chosen on some items and scored on others, fold by fold.
#
# The choice is made from tables that hold the choosing items alone, so what is chosen cannot
# depend on the items that it is scored on.


class SearchFold(NamedTuple):
    """A fold by the ids of its items: those that choose, and those that are scored."""

    choosing: frozenset[str]
    scoring: frozenset[str]


class FoldScore(NamedTuple):
    """What one fold chose, and how that does on the items that it never saw."""

    chosen: int  # which of the tables
    chosen_by: float  # its value of the first measure on the choosing items
    choosing: int  # how many items these are
    values: dict[str, float]  # its measures on the scored items
    first: dict[str, float]  # those of the first table, which nobody chose
    n: int  # how many items were scored


class Search(NamedTuple):
    """The folds together, as the spatial-commonsense paper reports them."""

    folds: tuple[FoldScore, ...]
    measures: tuple[str, ...]

    def mean(self, measure: str) -> float:
        """The average over folds."""
        return fmean(self._known(measure))

    def deviation(self, measure: str) -> float:
        """The sample standard deviation over folds."""
        known = self._known(measure)
        return stdev(known) if len(known) > 1 else nan

    def first(self, measure: str) -> float:
        """What the first table gets on the same items, on average."""
        return fmean([fold.first[measure] for fold in self.folds])

    def _known(self, measure: str) -> list[float]:
        return [fold.values[measure] for fold in self.folds]


def search(
    tables: Sequence[Table], parts: Iterable[SearchFold], measures: Sequence[Measure]
) -> Search:
    """Let each part choose the table that does best by the first measure, and score that one.

    The tables are runs on the same items, each with another prompt.
    """
    folds = []
    for part in parts:
        choosing = [_only(table, part.choosing) for table in tables]
        chosen = choose(choosing, measures[0])
        scored = _only(tables[chosen], part.scoring)
        first = _only(tables[0], part.scoring)
        folds.append(
            FoldScore(
                chosen=chosen,
                chosen_by=value_of(choosing[chosen], measures[0]),
                choosing=len(choosing[chosen]),
                values={measure.name: value_of(scored, measure) for measure in measures},
                first={measure.name: value_of(first, measure) for measure in measures},
                n=len(scored),
            )
        )
    return Search(tuple(folds), tuple(measure.name for measure in measures))


def choose(tables: Sequence[Table], measure: Measure) -> int:
    """Which table does best; of several that do, the first."""
    values = [value_of(table, measure) for table in tables]
    known = [value for value in values if not isnan(value)]
    if not known:
        raise UsageError(
            f"The measure {measure.name} is undefined on the items that choose a prompt.",
            "Choose by another with --measure, such as accuracy.",
        )
    best = max(known) if measure.better == "higher" else min(known)
    return values.index(best)


def value_of(table: Table, measure: Measure) -> float:
    """A measure of the items that name a right answer; NaN where it is undefined."""
    if unmet(measure, table.judged):
        return nan
    return float(measure.statistics(table.judged).value)


def _only(table: Table, ids: frozenset[str]) -> Table:
    """The rows of some items."""
    return table.where(np.array([name in ids for name in table.ids], dtype=bool))
