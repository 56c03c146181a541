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
    python bench/shortcuts.py vsr --set form=text   with options of the fresh sets

Accuracy counts a label as right if it is one of the gold ones; chance is the mean share of gold
labels among the choices; a rule that has nothing to say gets what a guess gets. Intervals are
Gnomon's own, so items that share a family, an object or an action are not taken as independent.
Rules are two-sided: to be reliably wrong gives as much away. A rule is an alarm if it is more than
3 points off chance and its 95 % interval excludes chance.

Who answers an item never saw its units (`heldout.py`); `sets.py` says which items are asked. One
that recurs in another seed counts again, since each seed is balanced.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small fits: threads would only wait

import gnomon
from encoder import Encoder
from gnomon.contracts import Benchmark
from gnomon.models.classifiers import HoldOut, units
from gnomon.records import Item
from gnomon.registry import benchmark, entries
from heldout import Learner, beyond_chance
from rules import LEARNT, comparison, constant, longer_name
from sets import Drawn, every_set, fresh_items, published_folder

POINTS = 3.0  # off chance that matter
Row = dict[str, object]


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
        said = Learner(rule, about).answer(asked, drawn.train, drawn.bundles)
        rows.append(row(drawn, rule.name, said))
        print(f"{drawn.name}: {in_words(rows[-1])}", file=sys.stderr, flush=True)
    return rows


def row(drawn: Drawn, rule: str, said: Sequence[str | None]) -> Row:
    """How far a rule is from chance, in points, and whether that is an alarm."""
    found, chance, shared = beyond_chance(drawn.asked, said, drawn.about)
    points, low, high = 100 * found.value, 100 * found.low, 100 * found.high
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
    return max(rows, key=_severity, default=None)


def _severity(one: Row) -> tuple[bool, float]:
    return bool(one["alarm"]), abs(float(str(one["difference"])))


def opposites(about: Benchmark, folder: Path) -> Iterator[Row]:
    """How far VSR's captions give their labels away to one who has seen the training part."""
    for kind in ("random", "random-rebuilt", "contrast", "zeroshot"):
        train = vsr_part(folder, f"{kind}/train")
        test = vsr_part(folder, f"{kind}/test")
        drawn = Drawn(f"vsr@published {kind}", about, test, train)
        yield row(drawn, "opposite of the seen caption", opposite_of_seen(train, test))


def vsr_part(folder: Path, split: str) -> list[Item]:
    return list(gnomon.load("vsr@published", data=str(folder), split=split).items())


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
        elif known["true"] >= known["false"]:
            found.append("false")
        else:
            found.append("true")
    return found


def renewal(about: Benchmark) -> Row:
    """How much of seed 0 is in seed 1, too: whole questions, and what they are made of."""
    first = fresh_items(about, 0)
    second = fresh_items(about, 1)
    known = set(map(question, second))
    shared = sum(question(item) in known for item in first)
    parts = parts_of(first, about.hold_out)
    other_parts = parts_of(second, about.hold_out)
    return {
        "set": f"{about.name}@fresh",
        "items": len(first),
        "questions in common": shared,
        "share": f"{100 * shared / len(first):.1f} %",
        "made of": len(parts),
        "in common": len(parts & other_parts),
    }


def question(item: Item) -> tuple[str, ...]:
    """What makes a question the same: its words, and its pictures if there are any."""
    return (item.context, item.text, *[image.path for image in item.images])


def parts_of(items: Iterable[Item], hold_out: HoldOut) -> set[str]:
    found: set[str] = set()
    for item in items:
        found.update(units(item, hold_out))
    return found


def summary(rows: Sequence[Row]) -> list[Row]:
    """For each set the worst rule of form, and the worst of the encoder's."""
    form: dict[str, list[Row]] = {}
    encoded: dict[str, list[Row]] = {}
    for one in rows:
        kind = encoded if "MiniLM" in str(one["rule"]) else form
        kind.setdefault(str(one["set"]), []).append(one)

    found = []
    for name, of_set in form.items():
        found.append(
            {
                "set": f"`{name}`",
                "items": f"{of_set[0]['items']:,}",
                "chance": of_set[0]["chance"],
                "worst rule": in_words(worst(of_set)),
                "worst of MiniLM": in_words(worst(encoded.get(name, ()))),
            }
        )
    return found


def in_words(one: Row | None) -> str:
    """A rule and its figures: alarms in bold."""
    if one is None:
        return "–"
    text = f"{one['rule']} {one['difference']:+} ({one['low']:+} to {one['high']:+})"
    return f"**{text}**" if one["alarm"] else text


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
    parser.add_argument(
        "--set", action="append", default=[], metavar="OPTION=VALUE", help="of the fresh sets"
    )
    parser.add_argument("--all", action="store_true", help="every rule, not only the worst")
    parser.add_argument("--renewal", action="store_true", help="what two seeds share")
    parser.add_argument("--json", action="store_true", help="print every rule as JSON")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    warnings.simplefilter("ignore")
    names = args.names or entries("benchmarks")
    if args.renewal:
        rows = every_renewal(names)
    else:
        options = dict(text.split("=", 1) for text in args.set)
        sets = every_set(names, args.data, args.seed, options)
        rows = every_row(sets, args.data, encoder_of(args.minilm))
    if args.json:
        print(json.dumps(rows, indent=1))
        return
    if not args.all and not args.renewal:
        rows = summary(rows)
    print_table(rows)


def every_renewal(names: Iterable[str]) -> list[Row]:
    """What two seeds of each fresh set share."""
    rows = []
    for name in names:
        about = benchmark(name.partition("@")[0])
        if "fresh" in about.sources:
            rows.append(renewal(about))
    return rows


def print_table(rows: Sequence[Row]) -> None:
    """As Markdown."""
    columns = list(rows[0])
    print_line(columns)
    print_line(["---"] * len(columns))
    for row in rows:
        print_line(row.values())


def print_line(cells: Iterable[object]) -> None:
    print("| " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    main()
