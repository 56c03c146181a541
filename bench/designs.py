"""Do intervals cover and tests hold on the sets as they are: who shares what with whom.

For each set, fresh and (with --data) published, answers are drawn again and again: every unit of
every kind gets a random effect in logits, 0, 0.5 or 1 in standard deviation, at an accuracy of
about .7. A 95 % interval should hold the true accuracy in 95 % of the runs, and two models that are
equally good, each with effects of its own, should differ at the 5 % level in 5 % of them.
`bench/measures.py designs` runs this.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path

import numpy as np

import gnomon
from gnomon.measures.columns import added
from gnomon.measures.comparison import swapping_test
from gnomon.measures.intervals import interval
from gnomon.measures.statistics import Statistics, mean_of
from gnomon.measures.table import Table
from gnomon.measures.units import Sharing, Units
from gnomon.records import Answer
from gnomon.registry import benchmark, entries

EFFECTS = (0.0, 0.5, 1.0)
ACCURACY = 0.7
DRAWS = 500  # of the bootstrap
SWAPS = 999  # of the paired test
BATCH = 50  # runs that are drawn together, and share the draws of units
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)  # of the normal distribution
FOLDER = {
    "scales": "spatial-commonsense",
    "posrel": "spatial-commonsense",
    "posrel-general": "spatial-commonsense",
}


class Design:
    """The cells of a set and the units that they belong to; answers can be drawn for it."""

    def __init__(self, units: Units) -> None:
        self.template = mean_of(np.zeros(len(units)), units)
        cells = units.with_most(len(units))  # every unit, where the measures take blocks
        self.sizes = cells.layout.sizes.astype(np.int64)
        self.kinds = cells.layout.sources[1:] or cells.layout.sources
        self.units_of_cell = np.zeros(len(self.sizes), dtype=np.int64)
        for kind in self.kinds:
            self.units_of_cell += (kind.of_cells >= 0).sum(axis=1)
        self.totals = self.template.layout.sizes
        self.block_of_cell = None
        if len(self.totals) < len(self.sizes):
            self.block_of_cell = np.zeros(len(self.sizes), dtype=np.int64)
            self.block_of_cell[cells.of] = units.cells(2).of

    def accuracy(self, centre: float, effect: float) -> float:
        """The expected accuracy with units of such an effect."""
        spread = effect * np.sqrt(np.arange(self.units_of_cell.max() + 1))
        by_number = logistic(centre + spread[:, None] * POINTS) @ WEIGHTS / WEIGHTS.sum()
        return float(np.average(by_number[self.units_of_cell], weights=self.sizes))

    def centre(self, effect: float) -> float:
        """The logit that makes the expected accuracy what it should be."""
        low, high = -10.0, 10.0
        for _ in range(60):
            middle = (low + high) / 2
            if self.accuracy(middle, effect) < ACCURACY:
                low = middle
            else:
                high = middle
        return low

    def drawn(
        self, rng: np.random.Generator, centre: float, effect: float, runs: int
    ) -> Iterator[Statistics]:
        """The statistics of so many models."""
        logits = np.full((len(self.sizes), runs), centre)
        for kind in self.kinds:
            effects = rng.normal(0, effect, (kind.number + 1, runs))
            effects[-1] = 0  # of no unit
            for units in kind.of_cells.T:
                logits += effects[units]
        right = rng.binomial(self.sizes[:, None], logistic(logits)).astype(float)
        if self.block_of_cell is not None:
            right = added(self.block_of_cell, len(self.totals), right)
        for run in range(runs):
            yield replace(self.template, sums=np.stack([right[:, run], self.totals], axis=1))


def logistic(logits):
    return 1 / (1 + np.exp(-logits))


def simulate(design: Design, effect: float, runs: int, seed: int) -> dict[str, float]:
    """The shares of runs whose interval holds the truth, and of pairs that are told apart."""
    rng = np.random.default_rng([seed, int(10 * effect)])
    centre = design.centre(effect)
    hits = dict.fromkeys(("analytic", "bootstrap", "false positives"), 0)
    for start in range(0, runs, BATCH):
        size = min(BATCH, runs - start)
        ones = design.drawn(rng, centre, effect, size)
        others = design.drawn(rng, centre, effect, size)
        for run, (one, other) in enumerate(zip(ones, others, strict=True)):
            analytic = interval(one)
            drawn = interval(one, draws=DRAWS, seed=start)
            hits["analytic"] += analytic.low <= ACCURACY <= analytic.high
            hits["bootstrap"] += drawn.low <= ACCURACY <= drawn.high
            p = swapping_test(one, other, swaps=SWAPS, seed=start + run)
            hits["false positives"] += p < 0.05
    return {kind: count / runs for kind, count in hits.items()}


def small(only: list[str]) -> Iterator[tuple[str, Units]]:
    """Designs of few or very unequal units; the last three are harder than any set."""
    rng = np.random.default_rng(3)
    ten = np.arange(10)
    pairs = np.array(list(combinations(ten, 2)))
    ring = np.concatenate(
        [np.stack([ten, (ten + 1) % 10]), np.stack([ten, (ten + 3) % 10])], axis=1
    )
    twelve = np.array(list(combinations(range(12), 2)))
    star = twelve[(twelve[:, 0] == 0) | (twelve.prod(axis=1) % 3 == 1)]
    often = 1 / np.arange(1, 41)
    unequal = [rng.choice(40, 2, replace=False, p=often / often.sum()) for _ in range(600)]
    every = np.stack(np.indices((10, 10)).reshape(2, -1), axis=1)
    few = np.stack(np.indices((5, 40)).reshape(2, -1), axis=1)
    sizes = np.arange(1, 11) ** 2
    designs = {
        "10 units of 20": (np.repeat(ten, 20)[:, None], (1,)),
        "10 units of 1 to 100": (np.repeat(ten, sizes)[:, None], (1,)),
        "10 objects, all pairs": (np.repeat(pairs, 4, axis=0), (2,)),
        "10 objects, 20 pairs": (np.repeat(ring.T, 6, axis=0), (2,)),
        "10 objects by 10 verbs": (np.repeat(every, 3, axis=0), (1, 1)),
        "5 objects by 40 verbs": (few, (1, 1)),
        "12 objects, one in half of all pairs": (np.repeat(star, 4, axis=0), (2,)),
        "40 objects, a few in most pairs": (np.array(unequal), (2,)),
    }
    for name, (codes, kinds) in designs.items():
        if not only or "small" in only:
            yield name, Units(codes, kinds, ("units",) * len(kinds))


def sets(data: str, only: list[str]) -> Iterator[tuple[str, Units]]:
    """What the items of every set that is there share."""
    for name in only or entries("benchmarks"):
        if name == "small":
            continue
        about = benchmark(name)
        for source in about.sources:
            options = {}
            if source == "published":
                paper = "viphy" if name.startswith("viphy") else FOLDER.get(name, name)
                options["data"] = str(Path(data, paper))
                if not data or not Path(data, paper).is_dir():
                    continue
                if name == "vsr":
                    options["split"] = "random/test"
            elif source != "fresh":
                continue
            items = gnomon.load(f"{name}@{source}", **options).items()
            rows = [(item, Answer(item=item.id)) for item in items]
            yield f"{name}@{source}", Table.of(rows, sharing=Sharing.of(about)).clusters


def designs(
    data: str = "", only: list[str] | None = None, runs: int = 2000, seed: int = 1
) -> dict[str, dict[str, object]]:
    """For each set and each effect: how often intervals cover, how often equal models differ."""
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, object]] = {}
    names = only or []
    for name, units in chain(sets(data, names), small(names)):
        design = Design(units)
        for effect in EFFECTS:
            shares = simulate(design, effect, runs, seed)
            about = {"items": len(units), "units": design.template.units, "runs": runs}
            found[f"{name}, effect {effect}"] = {**about, **shares}
            print(f"{name} {effect}: {shares}", flush=True)
    return found


def markdown(found: dict[str, dict[str, object]]) -> str:
    """A table with a row for each set, the effects beside each other."""
    by_set: dict[str, list[dict[str, object]]] = {}
    for name, row in found.items():
        by_set.setdefault(name.rpartition(",")[0], []).append(row)
    lines = [
        "| set | items | units | runs | analytic | bootstrap | false positives |",
        "| --- | ---: | --- | ---: | --- | --- | --- |",
    ]
    for name, rows in by_set.items():
        first = rows[0]
        cells = [name, f"{first['items']:,}", str(first["units"]), f"{first['runs']:,}"]
        for kind in ("analytic", "bootstrap", "false positives"):
            cells.append(" / ".join(f"{100 * row[kind]:.1f}" for row in rows))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
