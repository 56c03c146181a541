"""Do runs that stop by themselves tell the truth, and how many items do they save.

The units of real sets, in the order in which a run asks: answers are drawn again and again, every
unit with a random effect in logits. Each run is looked at as `gnomon run --until` looks at it, and
stops by the same rule (gnomon.measures.stopping). Printed are how often the interval at the stop
holds the truth, how many items were asked on average, and how many a fixed number must have, by
`gnomon power`, to be as narrow whatever the accuracy is, if units vary as much as they do.

Runs that borrow strength from other models, or from facts about the items, are drawn on two sets.
What looking costs is measured on real runs: processor time beyond that of a run with a fixed limit.

    python bench/until.py                     six sets, 2,000 runs of each kind
    python bench/until.py --runs 200          a look
    python bench/until.py --parts overhead    what looking costs
"""

from __future__ import annotations

import argparse
import tempfile
import time
import zlib
from dataclasses import replace
from functools import lru_cache

import numpy as np

import gnomon
from gnomon.items.limits import groups_within, spread
from gnomon.measures.borrowed import (
    FACT_RIDGE,
    HELPER_RIDGE,
    Predictors,
    corrected_by,
    fact_columns,
)
from gnomon.measures.comparison import difference
from gnomon.measures.intervals import interval
from gnomon.measures.power import items_for_half_width, kinds_of, units_of
from gnomon.measures.statistics import Statistics, mean_of
from gnomon.measures.stopping import Goal, look_at, next_look
from gnomon.measures.table import Table
from gnomon.measures.units import Sharing
from gnomon.records import Answer

SETS = {  # the full sets, and the half width that is asked for, in points
    "scales": 3.0,
    "viphy-size": 3.0,
    "viphy-spatial": 5.0,
    "spacenli": 3.0,
    "spatialqa": 3.0,
    "chains": 5.0,
}
MOST = 6000  # items of a set
SEED = 7193  # with which no constant of the rule was chosen
PARTS = ("stops", "others", "facts", "overhead")
BY_FACT = 3.0  # logits by which kinds of items differ
SHARED = 3.2  # logits by which items differ, so that answers of two models correlate at about .5
EFFECTS = (0.0, 0.5, 1.0)
ACCURACIES = (0.5, 0.75, 0.9, 0.95)
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)  # of the normal distribution


def logistic(logits):
    return 1 / (1 + np.exp(-logits))


class Prefix:
    """The first items of a set: those of a limit."""

    def __init__(self, units, rows: np.ndarray) -> None:
        self.rows = rows
        within = units[rows]
        self.template = mean_of(np.zeros(len(rows)), within)
        self.of = within.cells(2).of
        self.order = np.argsort(self.of, kind="stable")
        self.starts = np.flatnonzero(np.diff(self.of[self.order], prepend=-1))

    def statistics(self, right: np.ndarray) -> Statistics:
        """The statistics of one run, of which all answers are given."""
        sums = np.add.reduceat(right[self.rows][self.order], self.starts)
        return replace(self.template, sums=np.stack([sums, self.template.sums[:, 1]], axis=1))


class Design:
    """A set: its units, and what a run asks first."""

    def __init__(self, name: str) -> None:
        source = gnomon.load(name).whole()
        source = source.limited(MOST)
        items = list(source.without_pictures())
        rows = [(item, Answer(item=item.id)) for item in items]
        self.name = name
        table = Table.of(rows, sharing=Sharing.of(source.benchmark))
        self.units = table.clusters
        self.facts = fact_columns(table)
        kinds = kinds_of(items, source.benchmark)
        self.units_of_items = [units_of(item, kinds) for item in items]
        self.sizes = None
        if source.source in source.benchmark.whole_groups:
            names = [item.group for item in items]
            changes = [i for i in range(len(names)) if i == 0 or names[i] != names[i - 1]]
            self.starts = np.array([*changes, len(names)])
            self.sizes = np.diff(self.starts).tolist()
        self.prefix = lru_cache(None)(self._prefix)

    def __len__(self) -> int:
        return len(self.units)

    def _prefix(self, count: int) -> Prefix:
        if self.sizes is None:
            return Prefix(self.units, np.array(spread(len(self), count)))
        chosen = groups_within(self.sizes, count)
        rows = [np.arange(self.starts[place], self.starts[place + 1]) for place in chosen]
        return Prefix(self.units, np.concatenate(rows))

    def drawn(self, rng, accuracy: float, effect: float) -> np.ndarray:
        """The answers of one run: right or wrong, for every item."""
        return (rng.random(len(self)) < logistic(self.logits(rng, accuracy, effect))) * 1.0

    def logits(self, rng, accuracy: float, effect: float) -> np.ndarray:
        """How easy each item is, with other units each time."""
        tags = sum(self.units.kinds)
        logits = np.full(len(self), centre(accuracy, effect * tags**0.5))
        start = 0
        for of_kind in self.units.kinds:
            codes = self.units.codes[:, start : start + of_kind]
            start += of_kind
            effects = rng.normal(0, effect, int(codes.max()) + 1)
            logits += effects[codes].sum(axis=1)  # every item of these sets has units
        return logits


@lru_cache(None)
def centre(accuracy: float, spread: float) -> float:
    """The logit that makes the expected accuracy what it should be."""
    low, high = -12.0, 12.0
    for _ in range(60):
        middle = (low + high) / 2
        if logistic(middle + spread * POINTS) @ WEIGHTS / WEIGHTS.sum() < accuracy:
            low = middle
        else:
            high = middle
    return low


def stopped(design: Design, statistics_of, goal: Goal):
    """Look until it is known, as a run does."""
    most = len(design)
    count = next_look(0, 0, most)
    while True:
        prefix = design.prefix(count)
        found = look_at(statistics_of(prefix), count, most, goal)
        if found.verdict or count == most:
            return found
        count = found.then


def coverage(design: Design, accuracy: float, effect: float, half: float, runs: int) -> dict:
    """Runs that stop when the interval is narrow."""
    rng = np.random.default_rng([SEED, 1, int(100 * accuracy), int(10 * effect)])
    goal = Goal(half / 100)
    held, asked = 0, []
    for _ in range(runs):
        right = design.drawn(rng, accuracy, effect)
        found = stopped(design, lambda prefix, right=right: prefix.statistics(right), goal)
        held += found.found.low <= accuracy <= found.found.high
        asked.append(found.items)
    return {"held": held / runs, "asked": float(np.mean(asked))}


def false_verdicts(design: Design, accuracy: float, effect: float, by: float, runs: int) -> dict:
    """Two models that are equally good, each with effects of its own."""
    rng = np.random.default_rng([SEED, 2, int(100 * accuracy), int(10 * effect)])
    goal = Goal(by / 200, by / 100)
    wrong, asked = 0, []
    for _ in range(runs):
        one = design.drawn(rng, accuracy, effect)
        two = design.drawn(rng, accuracy, effect)

        def gap(prefix, one=one, two=two):
            return difference(prefix.statistics(one), prefix.statistics(two))

        found = stopped(design, gap, goal)
        wrong += found.verdict in ("better", "worse")
        asked.append(found.items)
    return {"wrong": wrong / runs, "asked": float(np.mean(asked))}


def helped_runs(design: Design, half: float, runs: int, drawn) -> list[str]:
    """Runs with and without help; `drawn` gives the answers of each, what helps, and the truth."""
    goal = Goal(half / 100)
    held, alone, helped, wider = 0, [], [], []
    for _ in range(runs):
        right, known, truth = drawn()

        def plain(prefix, right=right):
            return prefix.statistics(right)

        def corrected(prefix, right=right, known=known):
            return corrected_by(known, prefix.rows, right[prefix.rows])

        alone.append(stopped(design, plain, goal).items)
        found = stopped(design, corrected, goal)
        helped.append(found.items)
        held += found.found.low <= truth <= found.found.high
        first = design.prefix(next_look(0, 0, len(design)))
        wider.append(width(corrected(first)) / width(plain(first)))
    fewer = 1 - np.mean(helped) / np.mean(alone)
    cells = [f"{100 * held / runs:.1f} %", f"{np.mean(alone):,.0f}", f"{np.mean(helped):,.0f}"]
    return [*cells, f"{100 * fewer:.0f} %", f"{np.mean(wider):.2f}"]


def width(statistics: Statistics) -> float:
    found = interval(statistics)
    return found.high - found.low


def with_others(design: Design, accuracy: float, shared: float, half: float, runs: int):
    """The answers of five other models; items are as hard for all."""
    rng = np.random.default_rng([SEED, 3, int(100 * accuracy), int(10 * shared)])
    middle = centre(accuracy, shared)

    def drawn():
        hard = rng.normal(middle, shared, len(design))
        answers = (rng.random((6, len(design))) < logistic(hard)) * 1.0
        known = Predictors.of(answers[1:].T, [HELPER_RIDGE] * 5, design.units)
        return answers[0], known, accuracy

    return helped_runs(design, half, runs, drawn)


def with_facts(design: Design, accuracy: float, sd: float, half: float, runs: int):
    """Facts about the items: each value of one of them makes items harder or easier."""
    rng = np.random.default_rng([SEED, 4, int(100 * accuracy), int(10 * sd)])
    columns = design.facts
    known = Predictors.of(columns, [FACT_RIDGE] * columns.shape[1], design.units)
    middle = centre(accuracy, sd)

    def drawn():
        logits = middle + columns @ rng.normal(0, sd, columns.shape[1]) / columns.sum(axis=1) ** 0.5
        easy = logistic(logits)
        return (rng.random(len(design)) < easy) * 1.0, known, float(easy.mean())

    return helped_runs(design, half, runs, drawn)


def overhead(name: str, half: float, wrong: int, repeats: int = 7) -> list[str]:
    """Milliseconds of processor time for each item, beyond a run of as many with a fixed limit."""

    def skilled(item):
        is_right = zlib.crc32(item.id.encode()) % 100 >= wrong
        return next(choice for choice in item.choices if (choice in item.gold) == is_right)

    def seconds(**options) -> tuple[float, gnomon.Run]:
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            run = gnomon.run(source, skilled, runs=folder, progress=False, **options)
            return time.process_time() - began, run

    source = gnomon.load(name).whole()
    len(source)
    looking, fixed = [], []
    _, run = seconds(until=half)
    limit, items = run.manifest.limit, run.manifest.counts.items
    for _ in range(repeats):
        looking.append(seconds(until=half)[0])
        fixed.append(seconds(limit=limit)[0])
    best, plain = 1000 * min(looking), 1000 * min(fixed)
    return [f"{items:,}", f"{plain:.1f}", f"{best:.1f}", f"{(best - plain) / items:.3f}"]


def fixed_number(design: Design, half: float, effect: float) -> int:
    """What `gnomon power` prescribes for the worst accuracy; the whole set if that is not enough."""
    needed = items_for_half_width(design.units_of_items, half / 100, unit_sd=effect)
    return len(design) if needed is None else min(needed, len(design))


def stops(names: list[str], runs: int) -> None:
    """Coverage, items and false verdicts."""
    header("set", "effect", "goal", "accuracy", "held", "items", "of fixed", "equal, told apart")
    for name in names:
        design = Design(name)
        half = SETS[name]
        for effect in EFFECTS:
            fixed = fixed_number(design, half, effect)
            equal = false_verdicts(design, 0.75, effect, 2 * half, runs)
            for accuracy in ACCURACIES:
                found = coverage(design, accuracy, effect, half, runs)
                cells = [name, f"{effect:g}", f"{half:g}", f"{accuracy:g}"]
                cells += [f"{100 * found['held']:.1f} %", f"{found['asked']:,.0f}"]
                cells += [f"{found['asked'] / fixed:.0%} of {fixed:,}"]
                row(*cells, f"{100 * equal['wrong']:.1f} %")


def helped(names: list[str], runs: int, what: str, spreads: tuple[float, ...], cells) -> None:
    """Runs that borrow strength, with what says nothing and with what does."""
    header("set", "accuracy", what, "held", "items", "with help", "fewer", "width at 100")
    for name in names:
        design = Design(name)
        for accuracy in (0.75, 0.9):
            for spread_by in spreads:
                found = cells(design, accuracy, spread_by, SETS[name], runs)
                row(name, f"{accuracy:g}", f"{spread_by:g}", *found)


def costs(names: list[str]) -> None:
    """What looking costs."""
    header("set", "accuracy", "items", "ms, fixed", "ms, looking", "ms more an item")
    for name in names:
        for wrong in (25, 10):
            row(name, f"{1 - wrong / 100:g}", *overhead(name, SETS[name], wrong))


def header(*names: str) -> None:
    print()
    row(*names)
    row(*["---"] * len(names))


def row(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--only", nargs="*", default=list(SETS), help="some of the sets")
    parser.add_argument("--parts", nargs="*", default=PARTS, choices=PARTS)
    args = parser.parse_args()
    began = time.process_time()
    if "stops" in args.parts:
        stops(args.only, args.runs)
    if "others" in args.parts:
        helped(args.only[:2], args.runs, "shared, logits", (0.0, SHARED), with_others)
    if "facts" in args.parts:
        helped(args.only[:2], args.runs, "by fact, logits", (0.0, BY_FACT), with_facts)
    if "overhead" in args.parts:
        costs(args.only)
    print(f"{args.runs:,} runs of each kind, {time.process_time() - began:.0f} s of processor time")


if __name__ == "__main__":
    main()
