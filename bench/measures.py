"""Measures under load and under simulation.

    python bench/measures.py speed       a million answers, read from a run folder, with 1,000
                                         bootstrap draws; in patterns, and as pairs of objects
    python bench/measures.py coverage    do 95 % intervals cover 95 %: 2,000 simulated runs per
                                         setting (1,000 for macro-F1 and transitivity)
    python bench/measures.py test        does the paired test reject 5 % of true nothings: 2,000
                                         simulated pairs
    python bench/measures.py designs [NAME ...] --data FOLDER
                                         both on the sets as they are, with effects of what their
                                         items share, and ("small") with few or unequal units;
                                         FOLDER has a folder for each paper

With --json the figures are printed as one JSON object. CPU seconds, not wall time.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import designs
from gnomon.contracts import Laws, OrderLaw
from gnomon.measures.calibration import ECE
from gnomon.measures.classes import MACRO_F1
from gnomon.measures.comparison import difference, swapping_test, t_test
from gnomon.measures.intervals import interval
from gnomon.measures.rows import TaggedItem, build
from gnomon.measures.statistics import mean_of
from gnomon.measures.transitivity import TRANSITIVITY

SEVEN = (
    "accuracy macro_f1 pattern_accuracy@0.95 pattern_accuracy_auc group_agreement "
    "true_confidence ece"
)

# clusters, items in each, accuracy, standard deviation of the clusters' accuracies, unequal sizes
SETTINGS = {
    "25 clusters": (25, 20, 0.6, 0.25, False),
    "25 unequal clusters": (25, 20, 0.6, 0.25, True),
    "100 clusters": (100, 20, 0.6, 0.25, False),
    "160 patterns": (160, 200, 0.55, 0.35, False),
    "25 clusters near the top": (25, 20, 0.9, 0.12, False),
    "500 pairs": (500, 4, 0.6, 0.3, False),
    "1,000 single items": (1000, 1, 0.6, 0.0, False),
}


def simulated(rng, clusters, size, accuracy, spread, unequal):
    """Right or wrong for items in clusters, whose accuracies follow a beta distribution."""
    sizes = (
        np.maximum(1, rng.poisson(rng.gamma(2.0, size / 2.0, clusters)))
        if unequal
        else np.full(clusters, size)
    )
    if spread:
        concentration = accuracy * (1 - accuracy) / spread**2 - 1
        own = rng.beta(accuracy * concentration, (1 - accuracy) * concentration, clusters)
    else:
        own = np.full(clusters, accuracy)
    codes = np.repeat(np.arange(clusters), sizes)
    return rng.random(len(codes)) < own[codes], codes


def coverage(runs: int = 2000, seed: int = 1) -> dict[str, dict[str, float]]:
    """The share of runs whose interval holds the true accuracy, for each kind of interval."""
    found = {}
    for name, setting in SETTINGS.items():
        rng = np.random.default_rng(seed)
        hits = dict.fromkeys(("analytic", "bootstrap", "naive"), 0)
        for _ in range(runs):
            right, codes = simulated(rng, *setting)
            clustered, alone = mean_of(right, codes), mean_of(right, np.arange(len(right)))
            kinds = {
                "analytic": interval(clustered),
                "bootstrap": interval(clustered, draws=500),
                "naive": interval(alone),
            }
            for kind, each in kinds.items():
                hits[kind] += each.low <= setting[2] <= each.high
        found[name] = {kind: count / runs for kind, count in hits.items()}
    return found


def three_classes(rng, clusters):
    """Macro-F1 of answers that favour one class; a cluster has one label and its own accuracy."""
    size = 12
    gold, own = (
        np.repeat(rng.integers(0, 3, clusters), size),
        np.repeat(rng.beta(2, 1.2, clusters), size),
    )
    said = np.where(rng.random(len(gold)) < own, gold, np.where(rng.random(len(gold)) < 0.7, 0, 1))
    labels = ("e", "n", "c")
    rows = (
        (
            TaggedItem(str(i), "entailment", labels, (labels[g],), str(i // size)),
            None,
            labels[s],
            None,
        )
        for i, (g, s) in enumerate(zip(gold.tolist(), said.tolist(), strict=True))
    )
    return MACRO_F1.statistics(build(rows, lambda: None))


def noisy_order(rng, objects):
    """Transitivity of answers about sizes, by a model that is surer of some objects."""
    size, blur = rng.normal(0, 1, objects), rng.gamma(2, 0.4, objects)
    larger = (
        size[:, None] - size + rng.normal(0, 1, (objects, objects)) * (blur[:, None] + blur) > 0
    )
    names = [str(i) for i in range(objects)]
    words = ("larger", "smaller")
    rows = []
    for i, j in np.argwhere(~np.eye(objects, dtype=bool)).tolist():
        tags = {"a": names[i], "b": names[j]}
        item = TaggedItem(f"{names[i]}/{names[j]}", "cloze", words, ("larger",), "", tags)
        rows.append((item, None, words[not larger[i, j]], None))
    laws = Laws(order=OrderLaw(first="a", second="b", greater=("larger",), lesser=("smaller",)))
    return TRANSITIVITY.statistics(build(rows, lambda: None, laws=laws))


def calibrated(rng, items):
    """The calibration error of a model that is right as often as it is sure."""
    sure = rng.dirichlet([1, 1, 1], items)
    gold = (rng.random(items)[:, None] > np.cumsum(sure, axis=1)).sum(axis=1).clip(0, 2)
    labels = ("e", "n", "c")
    rows = []
    for number, (place, scores) in enumerate(zip(gold.tolist(), sure.tolist(), strict=True)):
        item = TaggedItem(str(number), "entailment", labels, (labels[place],), str(number))
        rows.append((item, tuple(scores), labels[int(np.argmax(scores))], None))
    return ECE.statistics(build(rows, lambda: None, scale="probability"))


def coverage_of_measures(runs: int = 1000, seed: int = 1) -> dict[str, dict[str, float]]:
    """The same for measures that are no plain means; the truth is that of very many clusters."""
    rng = np.random.default_rng(seed)
    settings = {
        "macro_f1, 25 clusters": (
            three_classes,
            25,
            np.mean([three_classes(rng, 5000).value for _ in range(4)]),
        ),
        "transitivity, 25 objects": (
            noisy_order,
            25,
            np.mean([noisy_order(rng, 200).value for _ in range(40)]),
        ),
        "ece of a calibrated model, 100 items": (calibrated, 100, 0.0),
        "ece of a calibrated model, 400 items": (calibrated, 400, 0.0),
        "ece of a calibrated model, 1,920 items": (calibrated, 1920, 0.0),
    }
    found = {}
    for name, (simulate, size, truth) in settings.items():
        hits = dict.fromkeys(("analytic", "bootstrap"), 0)
        for _ in range(runs):
            one = simulate(rng, size)
            for kind, each in {
                "analytic": interval(one),
                "bootstrap": interval(one, draws=500),
            }.items():
                hits[kind] += bool(each.low <= truth <= each.high)
        found[name] = {kind: count / runs for kind, count in hits.items()}
    return found


def false_positives(
    runs: int = 2000, seed: int = 2, swaps: int = 999
) -> dict[str, dict[str, float]]:
    """How often two equally good models, which find the same clusters hard, are told apart."""
    found = {}
    for name, (clusters, size, accuracy, spread, unequal) in SETTINGS.items():
        rng = np.random.default_rng(seed)
        hits = dict.fromkeys(("swapping", "t", "naive"), 0)
        for run in range(runs):
            right, codes = simulated(rng, clusters, size, accuracy, spread, unequal)
            # each model is better on some clusters
            own = np.clip(rng.normal(0, 0.2, clusters), -0.3, 0.3)
            level = np.bincount(codes, weights=right) / np.bincount(codes)
            one = rng.random(len(codes)) < (level + own)[codes]
            two = rng.random(len(codes)) < (level - own)[codes]
            a, b = mean_of(one, codes), mean_of(two, codes)
            hits["swapping"] += swapping_test(a, b, swaps=swaps, seed=run) < 0.05
            hits["t"] += t_test(difference(a, b)) < 0.05
            alone = np.arange(len(codes))
            hits["naive"] += t_test(difference(mean_of(one, alone), mean_of(two, alone))) < 0.05
        found[name] = {kind: count / runs for kind, count in hits.items()}
    return found


def speed(answers: int = 1_000_000, draws: int = 1000) -> dict[str, object]:
    """CPU seconds and memory of scoring a run of a million answers, from folder to scores."""
    import subprocess

    with tempfile.TemporaryDirectory() as folder:
        patterns = Path(folder) / "patterns"
        make_run(patterns, answers)
        pairs = Path(folder) / "pairs"
        make_run(pairs, answers, objects=1000)
        code = (
            "import json, resource, sys, gnomon; "
            "path, draws, names, by = sys.argv[1:]; "
            "by = [by] if by else []; "
            "scores = gnomon.score(path, measures=names.split(), draws=int(draws), by=by); "
            "used = resource.getrusage(resource.RUSAGE_SELF); "
            "print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, len(scores)]))"
        )
        asked = {
            "accuracy": (patterns, "accuracy", ""),
            "seven measures": (patterns, SEVEN, ""),
            "seven measures, whole and by category": (patterns, SEVEN, "category"),
            "pairs of objects, accuracy": (pairs, "accuracy", ""),
            "pairs of objects, seven measures": (pairs, SEVEN, ""),
        }
        found = {}
        for name, (path, measures, by) in asked.items():
            out = subprocess.run(
                [sys.executable, "-c", code, str(path), str(draws), measures, by],
                check=True,
                capture_output=True,
                text=True,
            )
            cpu, peak, count = json.loads(out.stdout)
            found[name] = {"cpu_seconds": round(cpu, 2), "peak_mb": round(peak), "scores": count}
        return found


def make_run(path: Path, answers: int, objects: int = 0) -> None:
    """A run folder as the engine writes it: three labels, a pattern for each 200 items.

    With OBJECTS each item is about two of so many, and the run is one of a set of pairs.
    """
    from gnomon.records import Answer, Item
    from gnomon.runs import Manifest, RunLog

    rng = np.random.default_rng(0)
    log = RunLog(path)
    labels = ("entailment", "neutral", "contradiction")
    for start in range(0, answers, 20_000):
        count = min(20_000, answers - start)
        scores = rng.dirichlet([1, 1, 1], count).round(6)
        gold = rng.integers(0, 3, count)
        ends = rng.integers(0, max(1, objects), (count, 2))
        items, said = [], []
        for i in range(count):
            n = start + i
            pair = {}
            if objects:
                pair = {"obj_a": f"object {ends[i, 0]}", "obj_b": f"object {ends[i, 1]}"}
            items.append(
                Item(
                    id=f"{n // 200}-{n % 200}",
                    form="entailment",
                    text=f"The cat is behind box {n}.",
                    context=f"The box {n} is in front of the cat, which sleeps near the window.",
                    choices=labels,
                    gold=(labels[gold[i]],),
                    group=f"pattern-{n // 200}",
                    tags={
                        "category": "abcd"[n % 4],
                        "premises": str(1 + n % 3),
                        "NP1": f"cat {n % 150}",
                        "NP2": f"box {n % 170}",
                        **pair,
                    },
                )
            )
            said.append(
                (
                    n,
                    Answer(
                        item=items[-1].id,
                        scores=tuple(scores[i].tolist()),
                        choice=labels[int(scores[i].argmax())],
                    ),
                )
            )
        log.add_items(start, items)
        log.add_answers(said)
    log.write_manifest(
        Manifest(
            id="bench",
            benchmark="scales@fresh" if objects else "bench@fresh",
            model="bench",
            scale="probability",
            started=datetime(2026, 1, 1, tzinfo=UTC),
        )
    )
    log.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = ("speed", "coverage", "test", "designs")
    parser.add_argument("what", nargs="?", default="speed", choices=commands)
    parser.add_argument("names", nargs="*", help="designs: the sets (default: all)")
    parser.add_argument("--data", default="", metavar="FOLDER", help="designs: published files")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    start = time.process_time()
    found = {
        "speed": lambda: speed(args.answers),
        "test": lambda: false_positives(args.runs),
        "designs": lambda: designs.designs(args.data, args.names, args.runs),
        "coverage": lambda: coverage(args.runs) | coverage_of_measures(args.runs // 2),
    }[args.what]()
    if args.json:
        print(json.dumps(found))
        return
    if args.what == "designs":
        print(designs.markdown(found))
        return
    for name, row in found.items():
        print(f"{name:<40}" + "  ".join(f"{key} {value}" for key, value in row.items()))
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"CPU {time.process_time() - start:.1f} s, peak {used.ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
