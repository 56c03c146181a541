"""How often the words beside chance are wrong: reports over twelve sets, simulated.

    python bench/verdicts.py                 # 300 reports a cell (about two minutes of one core)
    python bench/verdicts.py --reports 1000 --json
    python bench/verdicts.py --contamination --data FOLDER --seed 1000
                                             # 20 pairs of a suspect before and after it has seen
                                             # most of scales@published, with references

A report has twelve sets, as `gnomon run quick`. A guesser should be called better than chance on
any of them in at most 5 % of the reports, and worse in at most 2.5 %; a model that is 15 points
above chance should be said to guess on a set in at most 5 % of the cases; and a guesser who was
asked full sets should be said to guess in at least 80 %.
"""

from __future__ import annotations

import argparse
import json
from typing import NamedTuple

import numpy as np

import gnomon
from gnomon.measures.chance import share_of_right, verdict
from gnomon.measures.contamination import Credits, excess_gaps
from gnomon.measures.intervals import interval
from gnomon.measures.statistics import mean_of
from gnomon.measures.table import Table
from gnomon.measures.units import Sharing, Units
from gnomon.records import Answer
from gnomon.registry import benchmark

SETS = (
    "scales",
    "posrel",
    "posrel-general",
    "viphy-size",
    "viphy-size-subtype",
    "viphy-size-transitive",
    "viphy-spatial",
    "viphy-color",
    "spacenli",
    "spatialqa",
    "chains",
    "calculus",
)
SIZES = (40, 100, None)
LEVEL = 0.95
ABOVE = 0.15
HEART = 0.8  # of the published items that a contaminated model has learnt by heart


class Asked(NamedTuple):
    """A set as it is asked: what a guess gets of each item, and the units that items share."""

    chance: np.ndarray
    units: Units


def asked(name: str, limit: int | None) -> Asked:
    source = gnomon.load(f"{name}@fresh")
    source = source.limited(limit) if limit else source.whole()
    rows = [(item, Answer(item=item.id)) for item in source.items()]
    known = benchmark(name)
    table = Table.of(rows, benchmark=name, sharing=Sharing.of(known), laws=known.laws).judged
    return Asked(share_of_right(table), table.clusters)


def words(rng: np.random.Generator, sets: list[Asked], above: float) -> list[str]:
    """The verdicts of one report on a model that is so far above chance."""
    told = []
    for each in sets:
        right = rng.random(len(each.chance)) < np.minimum(each.chance + above, 1)
        statistics = mean_of(right.astype(float), each.units)
        shown = interval(statistics, level=LEVEL)
        wide = interval(statistics, level=1 - (1 - LEVEL) / len(sets))
        bounds = wide.low, wide.high
        told.append(verdict(shown.low, shown.high, each.chance.mean(), corrected=bounds))
    return told


def rates(size: int | None, reports: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    sets = [asked(name, size) for name in SETS]
    guesses = [words(rng, sets, 0.0) for _ in range(reports)]
    better = [words(rng, sets, ABOVE) for _ in range(reports)]
    at_chance = np.array([[word == "at chance" for word in told] for told in guesses])
    called = np.array([[word == "at chance" for word in told] for told in better])
    return {
        "items": float(np.median([len(each.chance) for each in sets])),
        "guesser_better": float(np.mean(["better than chance" in told for told in guesses])),
        "guesser_worse": float(np.mean(["worse than chance" in told for told in guesses])),
        "guesser_at_chance": float(at_chance.mean()),
        "guesser_at_chance_least": float(at_chance.mean(axis=0).min()),
        "better_called_guesser": float(called.mean(axis=0).max()),
    }


def suspects(folder: str, first: int, runs: int = 20, references: int = 3) -> dict[str, object]:
    """How often a model is called contaminated, before and after it has learnt most items by heart.

    Items are harder or easier for all models, objects for each model in its own way, and each model
    has a gap of its own between the two sources.
    """
    units = []
    for source, options in (("published", {"data": folder}), ("fresh", {})):
        items = gnomon.load(f"scales@{source}", **options).items()
        rows = [(item, Answer(item=item.id)) for item in items]
        units.append(Table.of(rows, sharing=Sharing.of(benchmark("scales"))).clusters)
    models = tuple(f"model {number}" for number in range(references + 1))
    counts = {"clean": 0, "any of a clean table": 0, "contaminated": 0}
    for seed in range(first, first + runs):
        rng = np.random.default_rng(seed)
        ability = rng.normal(0.7, 0.3, len(models))
        chances = []
        for shift, design in zip((rng.normal(0.2, 0.3), 0.0), units, strict=True):
            of_items = rng.normal(0, 0.7, len(design)) + rng.normal(0, 0.5, len(design))
            own = rng.normal(0, 0.3, (len(models), design.codes.max() + 1))
            gap = rng.normal(0, 0.1, len(models)) if shift else np.zeros(len(models))
            logits = (ability + gap)[:, None] + shift + of_items + own[:, design.codes].sum(axis=2)
            chances.append(1 / (1 + np.exp(-logits)))
        right = [(rng.random(chance.shape) < chance).astype(float) for chance in chances]
        fresh = Credits(models, right[1], units[1])
        before = excess_gaps("scales", Credits(models, right[0], units[0]), fresh, level=LEVEL)
        counts["clean"] += before[0].contaminated
        counts["any of a clean table"] += any(each.contaminated for each in before)
        seen = right[0].copy()
        seen[0, rng.random(len(units[0])) < HEART] = 1
        after = excess_gaps("scales", Credits(models, seen, units[0]), fresh, level=LEVEL)
        counts["contaminated"] += after[0].contaminated
    return {"runs": runs, "references": references, **counts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reports", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--contamination", action="store_true")
    parser.add_argument("--data", default="", help="of spatial commonsense, for --contamination")
    args = parser.parse_args()
    if args.contamination:
        for references in (1, 2, 3, 5):
            print(json.dumps(suspects(args.data, args.seed, references=references)))
        return
    found = {str(size or "full"): rates(size, args.reports, args.seed) for size in SIZES}
    if args.json:
        print(json.dumps(found))
        return
    for size, figures in found.items():
        shown = "  ".join(
            f"{name} {100 * value:.1f} %" for name, value in list(figures.items())[1:]
        )
        print(f"{size} items a set: {shown}")


if __name__ == "__main__":
    main()
