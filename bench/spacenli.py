"""Cost of making SpaceNLI problems: CPU seconds, peak memory, and how the cost grows with the mini world.

    python bench/spacenli.py [--data DIR] [--items N] [--json]

Each measurement runs in a process of its own, so that peaks do not mix. The limits are those of the project's goals:
the published 32,000 in 3 s and 300 MB, a million fresh ones in 60 s with flat memory, and at most 15 times the cost in
a world with 10 times the entities.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))


def measure(function, *arguments):
    """Run a function in a fresh process; its result with CPU seconds and peak MB."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measured, args=(sender, function, arguments))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    finally:
        process.join()


def _measured(sender, function, arguments):
    start = time.process_time()
    result = function(*arguments)
    sender.send({"cpu_s": round(time.process_time() - start, 3), "peak_mb": peak(), **result})


def peak():
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def published(data):
    """The authors' 160 x 200 from their files to a .jsonl file."""
    from gnomon.benchmarks.spacenli import published as items
    from gnomon.items.writing import write_items

    with tempfile.TemporaryDirectory() as folder:
        return {"items": write_items(Path(folder) / "items.jsonl", items(data=data))}


def fresh(count):
    """`count` fresh items; the peak after one of each pattern shows whether memory is flat."""
    from gnomon.benchmarks.spacenli import fresh as items

    patterns = sum(1 for _ in items(per_group=1))
    early = peak()
    stream = items(per_group=count // patterns * 3 // 2 + 1)
    return {
        "items": sum(1 for _ in islice(stream, count)),
        "peak_mb_after_one_each": early,
    }


def scaled(times, count):
    """`count` problems of each pattern in a world with `times` as many entities."""
    from gnomon.language.patternfile import build_bank
    from gnomon.language.sampling import bank_samples
    from gnomon.yamlnodes import read_document

    folder = ROOT / "src/gnomon/data/patterns"
    world = read_document(folder / "world.yaml")
    grow(world, times)
    start = time.process_time()
    bank = build_bank(
        [read_document(file) for file in sorted((folder / "bank").glob("*.yaml"))], world
    )
    loaded = time.process_time()
    # With ten times the entities, seven slots have more problems than 64 bits can number.
    few = replace(bank, patterns=tuple(p for p in bank.patterns if len(p.slots) <= 6))
    items = sum(1 for _ in bank_samples(few, count))
    return {
        "entities": len(bank.world.entities),
        "items": items,
        "load_cpu_s": round(loaded - start, 3),
        "sample_cpu_s": round(time.process_time() - loaded, 3),
    }


def grow(world, times):
    """Add copies of every entity, under names of their own, to the classes it is listed in."""
    from copy import deepcopy

    for listed in world.entries["entities"].entries.values():
        for node in list(listed.items):
            for copy in range(2, times + 1):
                new = deepcopy(node)
                if new.kind == "text":
                    new.text = f"{new.text} {copy}"
                else:
                    new.entries = {f"{name} {copy}": flags for name, flags in new.entries.items()}
                listed.items.append(new)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shared = Path(os.environ.get("GNOMON_SHARED", ROOT.parent / "shared"))
    parser.add_argument(
        "--data", default=str(shared / "data" / "spacenli"), help="the authors' files"
    )
    parser.add_argument(
        "--items", type=int, default=1_000_000, help="fresh items to make (default: 1,000,000)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    results = {
        "fresh": measure(fresh, args.items),
        "world x1": measure(scaled, 1, 50),
        "world x10": measure(scaled, 10, 50),
    }
    if Path(args.data).is_dir():
        results["published"] = measure(published, args.data)
    small, large = results["world x1"], results["world x10"]
    fresh_peak = results["fresh"]["peak_mb"] / results["fresh"]["peak_mb_after_one_each"]
    results["ratios"] = {
        "x10 world, load and sample": round(large["cpu_s"] / small["cpu_s"], 2),
        "x10 world, sample": round(large["sample_cpu_s"] / small["sample_cpu_s"], 2),
        "fresh peak, all / one each": round(fresh_peak, 3),
    }
    missed = [
        name
        for name, missed in {
            "1,000,000 fresh items in 60 s": results["fresh"]["cpu_s"]
            > 60 * args.items / 1_000_000,
            "flat memory": fresh_peak > 1.2,
            "x10 world at most x15": results["ratios"]["x10 world, load and sample"] > 15,
            "published in 3 s": results.get("published", {}).get("cpu_s", 0) > 3,
            "published in 300 MB": results.get("published", {}).get("peak_mb", 0) > 300,
        }.items()
        if missed
    ]
    results["missed"] = missed
    if args.json:
        print(json.dumps(results, indent=2))
    else:
        for name, values in results.items():
            shown = values if isinstance(values, dict) else {}
            print(
                f"{name:<12}"
                + ("  ".join(f"{k} {v:,}" for k, v in shown.items()) or ", ".join(values) or "none")
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
