"""What a benchmark gives away to rules that know nothing of space, and what another seed renews.

    python bench/shortcuts.py                 every fresh set
    python bench/shortcuts.py --data FOLDER   the published ones too; FOLDER has one folder for each
                                              paper: spacenli, spatialqa, spatial-commonsense,
                                              viphy, vsr (those that are not there are left out)
    python bench/shortcuts.py --seeds 20      the two baselines only, on as many seeds: mean, least,
                                              greatest
    python bench/shortcuts.py --renewal       what two seeds share

Accuracy counts a label as right if it is one of the gold ones; chance is the mean share of gold
labels among the choices. A rule is at chance if it lies within 3 standard errors of it; items that
share what the benchmark holds out (a family, an object, an action) are not taken as independent.

The rule "text only" sees the hypothesis without its premises, or the caption without its image: it
is left out where the text is the whole question. It learns from other groups, or, for fresh sets,
from another seed (in a balanced set of few groups, those left out for the test would be missed in
training, and the rule would fall below chance for that reason alone). "Groups seen" learns from
other items of the same templates or captions, as a finetuned model may. `hypothesis-only` and
`bag-of-words` are the baselines of that name; they learn from items that share nothing that is held
out with the one that is asked.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean

import gnomon
from gnomon.contracts import Benchmark
from gnomon.models.classifiers import HoldOut, bag_of_words, hypothesis_only, units
from gnomon.records import Item
from gnomon.registry import benchmark, entries

FOLDS = 5
BASELINES = {"hypothesis-only": hypothesis_only, "bag-of-words": bag_of_words}
FOLDER = {
    "scales": "spatial-commonsense",
    "posrel": "spatial-commonsense",
    "posrel-general": "spatial-commonsense",
}


def rows_of(
    about: Benchmark, source: str, items: Sequence[Item], train: Sequence[Item]
) -> list[dict[str, object]]:
    """A row for each rule that applies; TRAIN is another draw of a fresh set, or empty."""
    rows = []

    def add(rule: str, asked: Sequence[Item], right: Sequence[bool]) -> None:
        rows.append(row(f"{about.name}@{source}", rule, asked, right, about.hold_out))

    add("constant", items, constant(items))
    worded = [item for item in items if "comparative" in item.tags]
    if worded:
        add("comparative word", worded, by_key(worded, lambda item: item.tags["comparative"]))
    if any(item.context or item.images for item in items):
        add("text only", items, text_only(items, train))
        if not train:
            seen = text_only(items, (), by=lambda item: item.id)
            add("text only, groups seen", items, seen)
    for rule in BASELINES:
        add(rule, items, trained(rule, items, about))
    return rows


def trained(rule: str, items: Sequence[Item], about: Benchmark) -> list[bool]:
    """One of the two trained baselines, as `gnomon run` asks it."""
    model = BASELINES[rule]("")
    model.prepare(items, about)
    answers = model.answer(items)
    return [answer.choice in item.gold for item, answer in zip(items, answers, strict=True)]


def constant(items: Sequence[Item]) -> list[bool]:
    """The best constant label for each set of choices, chosen with the labels in sight."""
    return by_key(items, lambda item: item.choices)


def by_key(items: Sequence[Item], key: Callable[[Item], object]) -> list[bool]:
    """The label that is right most often among the items with the same key."""
    counts: dict[object, Counter[str]] = defaultdict(Counter)
    for item in items:
        counts[key(item)].update(item.gold)
    best = {
        name: min(counter, key=lambda label: (-counter[label], label))
        for name, counter in counts.items()
    }
    return [best[key(item)] in item.gold for item in items]


def text_only(
    items: Sequence[Item],
    train: Sequence[Item],
    by: Callable[[Item], str] = lambda item: item.group,
) -> list[bool]:
    """Naive Bayes over the words of the text alone, learnt from another draw, or in five folds by
    group or item."""
    if train:
        model = Bayes(train)
        return [model.label(item) in item.gold for item in items]
    folds = [zlib.crc32(by(item).encode()) % FOLDS for item in items]
    models = [
        Bayes([item for item, home in zip(items, folds, strict=True) if home != fold])
        for fold in range(FOLDS)
    ]
    return [models[fold].label(item) in item.gold for item, fold in zip(items, folds, strict=True)]


class Bayes:
    """Naive Bayes over the set of words of a text."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.labels: Counter[str] = Counter()
        self.words: dict[str, Counter[str]] = defaultdict(Counter)
        for item in items:
            for label in item.gold:
                self.labels[label] += 1
                self.words[label].update(words_of(item))

    def label(self, item: Item) -> str:
        return max(item.choices, key=lambda label: self.likelihood(label, words_of(item)))

    def likelihood(self, label: str, words: Iterable[str]) -> float:
        n = self.labels[label] + 1
        return math.log(n) + sum(
            math.log((self.words[label][word] + 0.5) / (n + 1)) for word in words
        )


def words_of(item: Item) -> list[str]:
    return sorted(set(re.findall(r"[a-z']+", item.text.lower())))


def opposite_of_seen(train: Iterable[Item], test: Iterable[Item]) -> list[bool]:
    """Look the caption up in the training part and answer the opposite of its majority; else the
    test's majority."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    train = list(train)
    for item in train:
        seen[item.text][item.gold[0]] += 1
    usual = Counter(item.gold[0] for item in train).most_common(1)[0][0]
    right = []
    for item in test:
        known = seen.get(item.text)
        said = usual
        if known:
            said = "false" if known["true"] >= known["false"] else "true"
        right.append(said in item.gold)
    return right


def row(
    name: str, rule: str, items: Sequence[Item], right: Sequence[bool], hold_out: HoldOut = ()
) -> dict[str, object]:
    """The accuracy of a rule, chance, and how many clustered standard errors lie between."""
    chance = [len(item.gold) / len(item.choices) for item in items]
    gaps = [r - c for r, c in zip(right, chance, strict=True)]
    gap = fmean(gaps)
    error = standard_error(items, [each - gap for each in gaps], hold_out)
    return {
        "set": name,
        "rule": rule,
        "items": len(items),
        "accuracy": round(100 * fmean(right), 1),
        "chance": round(100 * fmean(chance), 1),
        "errors": (round(gap / error, 1) + 0.0) if error > 1e-9 else "–",
    }


def standard_error(
    items: Sequence[Item], residuals: Sequence[float], hold_out: HoldOut = ()
) -> float:
    """Of a mean, where items that share a unit (a family, an object, an action) vary together.

    Items of two units, such as the two objects of a pair, would be counted twice with the others of
    the same two, so these are taken off once (clustering for dyads, Aronow, Samii and Assenova
    2015); with few units that may come out too small, so there the error is never less than with
    groups taken as independent.
    """
    sums: dict[tuple[str, ...], float] = defaultdict(float)
    groups: dict[str, float] = defaultdict(float)
    for item, residual in zip(items, residuals, strict=True):
        shared = sorted(set(units(item, hold_out)))
        groups[item.group if len(shared) > 1 else shared[0]] += residual
        for size in range(1, len(shared) + 1):
            for some in combinations(shared, size):
                sums[some] += residual
    variance = sum((-1) ** (len(some) + 1) * value * value for some, value in sums.items())
    return math.sqrt(max(variance, sum(value * value for value in groups.values()))) / len(items)


def seeds(about: Benchmark, count: int) -> list[dict[str, object]]:
    """The trained baselines on several seeds of a fresh set."""
    found: dict[str, list[dict[str, object]]] = {rule: [] for rule in BASELINES}
    for seed in range(count):
        items = fresh_items(about, seed)
        for rule, rows in found.items():
            right = trained(rule, items, about)
            rows.append(row(about.name, rule, items, right, about.hold_out))
    return [summary(f"{about.name}@fresh", rule, rows) for rule, rows in found.items()]


def summary(name: str, rule: str, rows: Sequence[dict[str, object]]) -> dict[str, object]:
    """The rows of several seeds as one."""
    accuracies = [float(str(one["accuracy"])) for one in rows]
    chances = [float(str(one["chance"])) for one in rows]
    errors = [float(str(one["errors"]).replace("–", "0")) for one in rows]
    return {
        "set": name,
        "rule": rule,
        "seeds": len(rows),
        "mean": round(fmean(accuracies), 1),
        "least": min(accuracies),
        "greatest": max(accuracies),
        "chance": round(fmean(chances), 1),
        "beyond 3 errors": sum(abs(error) > 3 for error in errors),
    }


def renewal(about: Benchmark) -> dict[str, object]:
    """How much of seed 0 is in seed 1, too: whole questions, and what they are made of."""
    first, second = fresh_items(about, 0), fresh_items(about, 1)
    known = {(item.context, item.text) for item in second}
    shared = sum((item.context, item.text) in known for item in first)
    parts, other_parts = parts_of(first, about.hold_out), parts_of(second, about.hold_out)
    return {
        "set": f"{about.name}@fresh",
        "items": len(first),
        "questions in common": shared,
        "share": f"{100 * shared / len(first):.1f} %",
        "made of": len(parts),
        "in common": len(parts & other_parts),
    }


def parts_of(items: Iterable[Item], hold_out: HoldOut) -> set[str]:
    found: set[str] = set()
    for item in items:
        found.update(units(item, hold_out))
    return found


def fresh_items(about: Benchmark, seed: int = 0) -> list[Item]:
    return list(gnomon.load(f"{about.name}@fresh", seed=seed).without_pictures())


def measure(data: str, only: Sequence[str]) -> list[dict[str, object]]:
    """A row for each rule on each set."""
    rows = []
    for name in only or entries("benchmarks"):
        about = benchmark(name)
        if "fresh" in about.sources:
            rows += rows_of(about, "fresh", fresh_items(about), fresh_items(about, seed=1))
        folder = published_folder(data, name)
        if "published" not in about.sources or not folder.is_dir():
            continue
        options = {"split": "random/test"} if name == "vsr" else {}
        try:
            items = list(gnomon.load(f"{name}@published", data=str(folder), **options).items())
        except gnomon.GnomonError as error:
            print(f"{name}@published is left out: {error.message}")
            continue
        rows += rows_of(about, "published", items, ())
        if name == "vsr":
            rows += opposites(folder)
    return rows


def published_folder(data: str, name: str) -> Path:
    if not data:
        return Path("no published data")
    paper = "viphy" if name.startswith("viphy") else FOLDER.get(name, name)
    return Path(data, paper)


def opposites(folder: Path) -> list[dict[str, object]]:
    """How far VSR's captions give their labels away to one who has seen the training part."""
    rows = []
    for kind in ("random", "random-rebuilt", "contrast", "zeroshot"):
        train, test = (
            list(gnomon.load("vsr@published", data=str(folder), split=f"{kind}/{part}").items())
            for part in ("train", "test")
        )
        right = opposite_of_seen(train, test)
        rows.append(row(f"vsr@published {kind}", "opposite of the seen caption", test, right))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="benchmarks (default: all)")
    parser.add_argument(
        "--data", default="", metavar="FOLDER", help="folder with a folder of files for each paper"
    )
    parser.add_argument(
        "--seeds", type=int, default=0, metavar="N", help="the trained baselines on so many seeds"
    )
    parser.add_argument("--renewal", action="store_true", help="what two seeds share")
    parser.add_argument("--json", action="store_true", help="print JSON rather than a table")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = [benchmark(name) for name in args.names or entries("benchmarks")]
    fresh = [about for about in chosen if "fresh" in about.sources]
    if args.seeds:
        rows = [found for about in fresh for found in seeds(about, args.seeds)]
    elif args.renewal:
        rows = [renewal(about) for about in fresh]
    else:
        rows = measure(args.data, args.names)
    if args.json:
        print(json.dumps(rows, indent=1))
        return
    columns = ["standard errors" if name == "errors" else name for name in rows[0]]
    print("| " + " | ".join(columns) + " |\n| " + " | ".join("---" for _ in columns) + " |")
    for found in rows:
        print("| " + " | ".join(str(value) for value in found.values()) + " |")


if __name__ == "__main__":
    main()
