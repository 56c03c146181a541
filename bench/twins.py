"""Is the battery of shortcuts itself fair to sets that are balanced in twins?

    python bench/twins.py              40 lexicons, with twins left out together and one by one
    python bench/twins.py --draws 100  more of them

In each draw the names of the lexicon are dealt out anew to the sizes, so that nothing about a name
can tell a size, and a set is drawn and balanced as ever. A rule should then be an alarm in about
one of twenty draws. A shortcut is planted by turning labels round until the longer name is the
larger thing in 58 % of the pairs whose names differ in length; it should be found.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Sequence
from random import Random
from typing import Any
from unittest.mock import patch

os.environ.setdefault("OMP_NUM_THREADS", "1")

import msgspec
import numpy as np

from gnomon.benchmarks import contrasts
from gnomon.benchmarks.objects import SizedThing, everyday_things
from gnomon.contracts import Benchmark
from gnomon.records import Item
from gnomon.registry import benchmark
from heldout import Learner
from rules import LEARNT, comparison, longer_name
from sets import Drawn, fresh
from shortcuts import print_table, row

SETS = ("scales", "viphy-size")
RULES = ("word positions", "lengths")  # that learn
PLANTED = 0.58  # pairs in which the longer name is the larger thing


def dealt_out(draw: Random) -> dict[str, SizedThing]:
    """The lexicon with its names dealt out anew."""
    things = everyday_things()
    others = draw.sample(list(things.values()), len(things))
    found = {}
    for (name, thing), other in zip(things.items(), others, strict=True):
        found[name] = other._replace(name=name, common=thing.common)
    return found


def null_set(about: Benchmark, number: int) -> Drawn:
    """A set of names that say nothing."""
    lexicon = dealt_out(Random(number))
    with patch.object(contrasts, "everyday_things", lambda: lexicon):
        contrasts.clear_pairs.cache_clear()
        drawn = fresh(about, 10 * number)
    contrasts.clear_pairs.cache_clear()
    return drawn


def planted(drawn: Drawn, number: int) -> Drawn:
    """The same with labels turned round, by pair, so that the longer name is larger more often."""
    plant = Plant(drawn.about, Random(f"planted {number}"))
    asked = [plant.item(item) for item in drawn.asked]
    train = [plant.item(item) for item in drawn.train]
    return drawn._replace(asked=asked, train=train)


class Plant:
    """Turns labels round, and remembers of which pairs."""

    def __init__(self, about: Benchmark, draw: Random) -> None:
        self.about, self.draw = about, draw
        self.turned: dict[str, bool] = {}

    def item(self, item: Item) -> Item:
        """The item, or with its other choice as the right one."""
        if item.group not in self.turned:
            # half of the pairs speak against the shortcut: of these twice as many as all need
            wanted = self.draw.random() < 2 * PLANTED - 1
            self.turned[item.group] = wanted and says_shorter(item, self.about)
        if self.turned[item.group]:
            return turned_round(item)
        return item


def says_shorter(item: Item, about: Benchmark) -> bool:
    """Whether the thing with the shorter name is the larger one."""
    compared = comparison(item, about)
    assert compared is not None
    further = len(compared.first) - len(compared.second)
    if compared.targets[item.gold[0]] == "lesser":
        return further > 0
    return further < 0


def turned_round(item: Item) -> Item:
    """The item with its other choice as the right one."""
    other = tuple(choice for choice in item.choices if choice not in item.gold)
    return msgspec.structs.replace(item, gold=other)


def ways_of(drawn: Drawn, number: int) -> dict[str, Drawn]:
    """What is compared."""
    with_shortcut = planted(drawn, number)
    return {
        "one by one": drawn._replace(bundles=()),
        "twins together": drawn,
        "planted, one by one": with_shortcut._replace(bundles=()),
        "planted, twins together": with_shortcut,
    }


def answers(drawn: Drawn) -> dict[str, list[str | None]]:
    """What each of the rules says."""
    found = {"longer name": longer_name(drawn.asked, drawn.about)}
    for rule in LEARNT:
        if rule.name in RULES:
            learner = Learner(rule, drawn.about)
            found[rule.name] = learner.answer(drawn.asked, drawn.train, drawn.bundles)
    return found


def simulate(name: str, draws: int) -> list[dict[str, Any]]:
    """A row for each way and rule."""
    about = benchmark(name)
    found: dict[tuple[str, str], list[dict[str, object]]] = {}
    for number in range(draws):
        for way, drawn in ways_of(null_set(about, number), number).items():
            for rule, said in answers(drawn).items():
                found.setdefault((way, rule), []).append(row(drawn, rule, said))
    return [summary(name, way, rule, rows) for (way, rule), rows in found.items()]


def summary(name: str, way: str, rule: str, rows: Sequence[dict[str, object]]) -> dict[str, Any]:
    points = [float(str(one["difference"])) for one in rows]
    alarms = sum(bool(one["alarm"]) for one in rows)
    return {
        "set": name,
        "way": way,
        "rule": rule,
        "mean": f"{np.mean(points):+.1f}",
        "spread": f"{np.std(points, ddof=1):.1f}",
        "alarms": f"{alarms} of {len(rows)}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=40, help="lexicons (default: 40)")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in SETS:
        rows += simulate(name, args.draws)
    print_table(rows)


if __name__ == "__main__":
    main()
