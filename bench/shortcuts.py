"""What can be had without understanding: baselines that see only a part of each item, against chance.

Usage: python bench/shortcuts.py BENCHMARK[@SOURCE] ... [--data DIR] [--json]
`constant` is the best single label of each set of choices. `text` and `context` are naive Bayes classifiers over the
words and word pairs of that part alone, trained on four fifths of the items and asked the rest; items with the same
text fall into the same fifth. Chance is that of a random guess (higher where several labels are right). The standard
error is that of the difference, clustered as the benchmark says.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import pairwise
from statistics import fmean, stdev
from typing import NamedTuple

from gnomon.records import Item
from gnomon.sources import load

FOLDS = 5
Guess = list[str]


class Row(NamedTuple):
    """One baseline on one form of a benchmark."""

    benchmark: str
    form: str
    baseline: str
    items: int
    accuracy: float
    chance: float
    error: float  # standard error of accuracy - chance
    clusters: int


def words(text: str) -> list[str]:
    """Words and pairs of neighbours, without capitals and marks."""
    plain = re.findall(r"[\w'-]+", text.lower())
    return plain + [f"{a} {b}" for a, b in pairwise(plain)]


def constants(items: Sequence[Item]) -> Guess:
    """For each set of choices the label that is right most often."""
    right: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for item in items:
        right[item.choices].update(item.gold)
    best = {choices: max(choices, key=lambda label: count[label]) for choices, count in right.items()}
    return [best[item.choices] for item in items]


def by_words(part: Callable[[Item], str]) -> Callable[[Sequence[Item]], Guess]:
    """Naive Bayes over the words of one part of an item, by cross-validation."""

    def guess(items: Sequence[Item]) -> Guess:
        folds = [int(sha256(part(item).encode()).hexdigest(), 16) % FOLDS for item in items]
        found = [""] * len(items)
        for fold in range(FOLDS):
            seen = [item for item, other in zip(items, folds, strict=True) if other != fold]
            classify = naive_bayes(seen, part)
            for i, (item, other) in enumerate(zip(items, folds, strict=True)):
                if other == fold:
                    found[i] = classify(item)
        return found

    return guess


def naive_bayes(items: Sequence[Item], part: Callable[[Item], str]) -> Callable[[Item], str]:
    """The classifier that items train."""
    labels: Counter[str] = Counter()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        found = set(words(part(item)))
        for label in item.gold:
            labels[label] += 1
            counts[label].update(found)

    def classify(item: Item) -> str:
        found = set(words(part(item)))

        def score(label: str) -> float:
            total = labels[label]
            return math.log(total + 1) + sum(math.log((counts[label][word] + 0.5) / (total + 1)) for word in found)

        return max(item.choices, key=score)

    return classify


BASELINES: dict[str, Callable[[Sequence[Item]], Guess]] = {
    "constant": constants, "text": by_words(lambda item: item.text), "context": by_words(lambda item: item.context)}


def measure(spec: str, data: str) -> list[Row]:
    """All baselines on each form of a benchmark."""
    source = load(spec, **({"data": data} if data else {}))
    cluster = source.benchmark.cluster
    forms: dict[str, list[Item]] = defaultdict(list)
    for item in source.items():
        forms[item.form].append(item)
    rows = []
    for form, items in forms.items():
        for name, baseline in BASELINES.items():
            if name == "context" and not any(item.context for item in items):
                continue
            guesses = baseline(items)
            right = [float(guess in item.gold) for guess, item in zip(guesses, items, strict=True)]
            luck = [len(item.gold) / len(item.choices) for item in items]
            within: dict[str, list[float]] = defaultdict(list)
            for item, hit, chance in zip(items, right, luck, strict=True):
                within[item.group if cluster == "group" else item.tags[cluster]].append(hit - chance)
            means = [fmean(values) for values in within.values()]
            error = stdev(means) / math.sqrt(len(means)) if len(means) > 1 else math.nan
            rows.append(Row(source.name, form, name, len(items), fmean(right), fmean(luck), error, len(means)))
    return rows


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", nargs="+", metavar="BENCHMARK")
    parser.add_argument("--data", default="", metavar="DIR", help="the authors' files, for @published")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    rows = [row for spec in args.benchmarks for row in measure(spec, args.data if "@published" in spec else "")]
    if args.json:
        print(json.dumps([row._asdict() for row in rows], indent=2))
        return
    print("| benchmark | form | baseline | items | accuracy | chance | difference in standard errors (clusters) |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        gap = row.accuracy - row.chance
        away = f"{gap / row.error:+.1f}" if row.error > 1e-12 else "0" if abs(gap) < 1e-12 else "exact"
        print(f"| {row.benchmark} | {row.form} | {row.baseline} | {row.items:,} | {100 * row.accuracy:.1f} % "
              f"| {100 * row.chance:.1f} % | {away} ({row.clusters}) |")


if __name__ == "__main__":
    main()
