"""What a benchmark gives away to rules that know nothing of space, and what another seed renews.

    python bench/shortcuts.py                 every fresh set
    python bench/shortcuts.py --data FOLDER   the published ones too; FOLDER has one folder for each
                                              paper: spacenli, spatialqa, spatial-commonsense,
                                              viphy, vsr (those that are not there are left out)
    python bench/shortcuts.py --minilm FOLDER also what a sentence encoder (all-MiniLM-L6-v2) makes
                                              of a part of the input
    python bench/shortcuts.py --all           every rule of every set, not only the worst
    python bench/shortcuts.py --seed 100      other seeds of the fresh sets
    python bench/shortcuts.py --renewal       what two seeds share

Accuracy counts a label as right if it is one of the gold ones; chance is the mean share of gold
labels among the choices; a rule that has nothing to say gets what a guess gets. Intervals are
Gnomon's own, so items that share a family, an object or an action are not taken as independent.
Rules are two-sided: to be reliably wrong gives as much away. A rule is an alarm if it is more than
3 points off chance and its 95 % interval excludes chance.

Who answers an item never saw its units (`heldout.py`). Of a fresh set the test items come from the
seeds 0, 1 ... until there are 1,000 (at most five seeds, two of `vsr`), and as many further seeds
are for training; an item that recurs counts again, since each seed is balanced. Published items, a
sample of 1,000, are asked in five folds.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small fits: threads would only wait

import gnomon
from gnomon.contracts import Benchmark
from gnomon.models.classifiers import HoldOut, units
from gnomon.records import Item
from gnomon.registry import benchmark, entries
from heldout import Learner, beyond_chance
from rules import LEARNT, Encoder, comparison, constant, longer_name

LEAST, MOST = 1_000, 3_000  # items of a fresh set
PUBLISHED = 1_000  # items of a published one
SEEDS = 5
SLOW = {"vsr": 2}  # seeds, where drawing one takes a minute
POINTS = 3.0  # off chance that matter
FOLDER = {
    "scales": "spatial-commonsense",
    "posrel": "spatial-commonsense",
    "posrel-general": "spatial-commonsense",
}
Row = dict[str, object]


class Drawn(NamedTuple):
    """Items to ask and items to learn from: the same ones for a published set."""

    name: str
    about: Benchmark
    asked: list[Item]
    train: list[Item]
    seeds: int = 0  # of a fresh set


def measure(drawn: Drawn, encoder: Encoder | None) -> list[Row]:
    """A row for each rule that has something to see."""
    about, asked = drawn.about, drawn.asked
    rows = [row(drawn, "constant", constant(asked, about))]
    if all(comparison(item, about) for item in asked):
        rows.append(row(drawn, "longer name", longer_name(asked, about)))
    rules = list(LEARNT)
    if encoder:
        rules += encoder.rules()
        encoder.learn(encoder.texts([*asked, *drawn.train], about))
    for rule in rules:
        if not any(map(rule.applies, asked)):
            continue
        rows.append(row(drawn, rule.name, Learner(rule, about).answer(asked, drawn.train)))
        print(f"{drawn.name}: {in_words(rows[-1])}", file=sys.stderr, flush=True)
    return rows


def row(drawn: Drawn, rule: str, said: Sequence[str | None]) -> Row:
    """How far a rule is from chance, in points, and whether that is an alarm."""
    found, chance, shared = beyond_chance(drawn.asked, said, drawn.about)
    points, low, high = (100 * value for value in (found.value, found.low, found.high))
    return {
        "set": drawn.name,
        "items": len(drawn.asked),
        "seeds": drawn.seeds,
        "units": shared,
        "rule": rule,
        "chance": round(100 * chance, 1),
        "accuracy": round(100 * chance + points, 1),
        "difference": round(points, 1),
        "low": round(low, 1),
        "high": round(high, 1),
        "alarm": abs(points) > POINTS and not low <= 0 <= high,
    }


def worst(rows: Iterable[Row]) -> Row | None:
    """The alarm that is furthest off chance or, without one, the rule that is."""
    return max(rows, key=lambda one: (one["alarm"], abs(float(one["difference"]))), default=None)


def fresh(about: Benchmark, start: int) -> Drawn:
    """Items of a few seeds, and as many more seeds to learn from."""
    first = fresh_items(about, start)
    count = min(SLOW.get(about.name, SEEDS), math.ceil(LEAST / len(first)))
    asked = [*first, *several(about, range(start + 1, start + count))]
    train = several(about, range(start + count, start + 2 * count))
    return Drawn(f"{about.name}@fresh", about, sample(asked, MOST), sample(train, MOST), count)


def several(about: Benchmark, seeds: Iterable[int]) -> list[Item]:
    found: list[Item] = []
    for seed in seeds:
        found += fresh_items(about, seed)
    return found


def fresh_items(about: Benchmark, seed: int) -> list[Item]:
    return list(gnomon.load(f"{about.name}@fresh", seed=seed).without_pictures())


def sample(items: list[Item], most: int) -> list[Item]:
    if len(items) <= most:
        return items
    return random.Random(0).sample(items, most)


def published(about: Benchmark, data: str) -> Drawn | None:
    """The published items, if they are there."""
    folder = published_folder(data, about.name)
    if "published" not in about.sources or not folder.is_dir():
        return None
    options = {"split": "random/test"} if about.name == "vsr" else {}
    source = f"{about.name}@published"
    try:
        items = list(gnomon.load(source, data=str(folder), **options).items())
    except gnomon.GnomonError as error:
        print(f"{source} is left out: {error.message}", file=sys.stderr)
        return None
    items = sample(items, PUBLISHED)
    return Drawn(source, about, items, items)


def published_folder(data: str, name: str) -> Path:
    if not data:
        return Path("no published data")
    paper = "viphy" if name.startswith("viphy") else FOLDER.get(name, name)
    return Path(data, paper)


def opposites(about: Benchmark, folder: Path) -> Iterator[Row]:
    """How far VSR's captions give their labels away to one who has seen the training part."""
    for kind in ("random", "random-rebuilt", "contrast", "zeroshot"):
        train, test = (
            list(gnomon.load("vsr@published", data=str(folder), split=f"{kind}/{part}").items())
            for part in ("train", "test")
        )
        drawn = Drawn(f"vsr@published {kind}", about, test, train)
        yield row(drawn, "opposite of the seen caption", opposite_of_seen(train, test))


def opposite_of_seen(train: Iterable[Item], test: Iterable[Item]) -> list[str | None]:
    """The opposite of what the training part says most often of the same caption, if anything."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for item in train:
        seen[item.text][item.gold[0]] += 1
    found: list[str | None] = []
    for item in test:
        known = seen.get(item.text)
        if not known:
            found.append(None)
        else:
            found.append("false" if known["true"] >= known["false"] else "true")
    return found


def renewal(about: Benchmark) -> Row:
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


def summary(rows: Sequence[Row]) -> list[Row]:
    """For each set the worst rule of form, and the worst of the encoder's."""
    by_set: dict[str, list[Row]] = {}
    for one in rows:
        by_set.setdefault(str(one["set"]), []).append(one)
    found = []
    for name, of_set in by_set.items():
        form = [one for one in of_set if "MiniLM" not in str(one["rule"])]
        encoded = [one for one in of_set if "MiniLM" in str(one["rule"])]
        found.append(
            {
                "set": f"`{name}`",
                "items": f"{of_set[0]['items']:,}",
                "chance": of_set[0]["chance"],
                "worst rule": in_words(worst(form)),
                "worst of MiniLM": in_words(worst(encoded)),
            }
        )
    return found


def in_words(one: Row | None) -> str:
    """A rule and its figures: alarms in bold."""
    if one is None:
        return "–"
    text = f"{one['rule']} {one['difference']:+} ({one['low']:+} to {one['high']:+})"
    return f"**{text}**" if one["alarm"] else text


def every_set(names: Sequence[str], data: str, start: int) -> Iterator[Drawn]:
    """Every set that is there; a name may say which source of a benchmark: scales@fresh."""
    for name in names:
        name, _, source = name.partition("@")
        about = benchmark(name)
        if "fresh" in about.sources and source != "published":
            yield fresh(about, start)
        drawn = published(about, data)
        if drawn and source != "fresh":
            yield drawn


def every_row(sets: Iterable[Drawn], data: str, encoder: Encoder | None) -> list[Row]:
    """The rules on each set."""
    rows: list[Row] = []
    for drawn in sets:
        rows += measure(drawn, encoder)
        if drawn.name == "vsr@published":
            rows += opposites(drawn.about, published_folder(data, "vsr"))
    return rows


def encoder_of(folder: str) -> Encoder | None:
    if not folder:
        return None
    if not Path(folder, "config.json").is_file():
        print(f"MiniLM is left out: {folder} has no config.json.", file=sys.stderr)
        return None
    return Encoder(Path(folder))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="benchmarks, or NAME@SOURCE (default: all)")
    parser.add_argument(
        "--data", default="", metavar="FOLDER", help="folder with a folder of files for each paper"
    )
    parser.add_argument("--minilm", default="", metavar="FOLDER", help="weights of the encoder")
    parser.add_argument("--seed", type=int, default=0, help="first of the seeds (default: 0)")
    parser.add_argument("--all", action="store_true", help="every rule, not only the worst")
    parser.add_argument("--renewal", action="store_true", help="what two seeds share")
    parser.add_argument("--json", action="store_true", help="print every rule as JSON")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    warnings.simplefilter("ignore")
    names = args.names or entries("benchmarks")
    if args.renewal:
        chosen = [benchmark(name) for name in names]
        rows = [renewal(about) for about in chosen if "fresh" in about.sources]
    else:
        sets = every_set(names, args.data, args.seed)
        rows = every_row(sets, args.data, encoder_of(args.minilm))
    if args.json:
        print(json.dumps(rows, indent=1))
        return
    if not args.all and not args.renewal:
        rows = summary(rows)
    print("| " + " | ".join(rows[0]) + " |\n| " + " | ".join("---" for _ in rows[0]) + " |")
    for found in rows:
        print("| " + " | ".join(str(value) for value in found.values()) + " |")


if __name__ == "__main__":
    main()
