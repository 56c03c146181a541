"""How often the words beside chance are wrong: reports over twelve sets, simulated.

    python bench/verdicts.py                 # 300 reports a cell (about two minutes of one core)
    python bench/verdicts.py --reports 1000 --json

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reports", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
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
