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
from gnomon.benchmarks.objects import Thing, everyday_things
from gnomon.contracts import Benchmark
from gnomon.records import Item
from gnomon.registry import benchmark
from heldout import Learner
from rules import LEARNT, comparison
from sets import Drawn, fresh
from shortcuts import print_table, row

SETS = ("scales", "viphy-size")
RULES = ("word positions", "lengths")
PLANTED = 0.58  # pairs in which the longer name is the larger thing


def dealt_out(draw: Random) -> dict[str, Thing]:
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
    turned: dict[str, bool] = {}
    draw = Random(f"planted {number}")
    share = 2 * PLANTED - 1  # of the pairs that say the opposite: half of all

    def with_shortcut(items: Sequence[Item]) -> list[Item]:
        found = []
        for item in items:
            if item.group not in turned:
                turned[item.group] = says_shorter(item, drawn.about) and draw.random() < share
            found.append(turned_round(item) if turned[item.group] else item)
        return found

    asked, train = with_shortcut(drawn.asked), with_shortcut(drawn.train)
    return drawn._replace(asked=asked, train=train)


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
    return {
        "one by one": drawn._replace(bundles=()),
        "twins together": drawn,
        "planted": planted(drawn, number),
    }


def simulate(name: str, draws: int) -> list[dict[str, Any]]:
    """A row for each way and rule."""
    about = benchmark(name)
    found: dict[tuple[str, str], list[dict[str, object]]] = {}
    for number in range(draws):
        for way, drawn in ways_of(null_set(about, number), number).items():
            for rule in LEARNT:
                if rule.name in RULES:
                    said = Learner(rule, about).answer(drawn.asked, drawn.train, drawn.bundles)
                    one = row(drawn, rule.name, said)
                    found.setdefault((way, rule.name), []).append(one)
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
