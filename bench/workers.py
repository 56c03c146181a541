"""What the driver can take: items a second into the log with an instant model, every answer durable.

    python bench/workers.py --json

`local` is this process alone, `processes` two of this machine, `ray` two workers on a Ray cluster of
this machine. Speeds are of asking: from the first batch to the last commit. Limits: 40,000 items a
second with `local`, 10,000 with `ray`; the driver's peak memory at the largest size at most 1.25 times
that at the smallest. On a busy machine look at the driver's CPU as well.
"""

import argparse
import json
import subprocess
import sys
import tempfile

LIMITS = {"local": 40_000, "ray": 10_000}
LIMIT_GROWTH = 1.25
WORKERS = {"local": "1", "processes": "2", "ray": "ray:2"}

ONE_RUN = """
import json, resource, sys, time
from gnomon.runs import running
from gnomon.runs.workers import plan_workers
from gnomon.contracts import Benchmark
from gnomon.items.source import ItemSource
from gnomon.records import Item
from gnomon.registry import model

n, folder, workers = int(sys.argv[1]), sys.argv[2], sys.argv[3]

def items():
    for i in range(n):
        yield Item(id=f"item-{i}", form="choice", text=f"Is object {i} to the left of object {i + 1}?",
                   context=f"Object {i} stands to the left of object {i + 1}.", choices=("yes", "no"), gold=("yes",),
                   group=f"pair-{i // 2}", tags={"relation": "left of"})

def watch(progress):
    seen.append((progress.started, time.monotonic(), time.process_time()))
    del seen[1:-1]

seen = []
source = ItemSource(Benchmark(name="instant", summary="", sources={"fresh": items}), "fresh")
run = running.run(source, model("random"), runs=folder, watch=watch, workers=plan_workers(workers))
assert run.counts().answered == n
(began, _, cpu_before), (_, ended, cpu_after) = seen[0], seen[-1]
print(json.dumps({"items": n, "items_per_second": round(n / (ended - began)),
                  "driver_cpu_ms_per_item": round(1000 * (cpu_after - cpu_before) / n, 4),
                  "log_mb": round(sum(f.stat().st_size for f in run.path.iterdir()) / 2**20, 1),
                  "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)}))
"""


def measure(kind: str, n: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        script = f"{folder}/one_run.py"
        with open(script, "w") as out:
            out.write(ONE_RUN)
        words = [sys.executable, script, str(n), f"{folder}/runs", WORKERS[kind]]
        done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    return {"workers": kind, **json.loads(done.stdout)}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--only", choices=WORKERS, nargs="+", default=["local", "ray"])
    args = parser.parse_args()
    found = {}
    held = True
    for kind in args.only:
        rows = [measure(kind, n) for n in args.sizes]
        best = max(row["items_per_second"] for row in rows)
        growth = rows[-1]["peak_mb"] / rows[0]["peak_mb"]
        held = held and best >= LIMITS.get(kind, 0) and growth <= LIMIT_GROWTH
        found[f"{kind}_items_per_second"] = best
        cheapest = min(row["driver_cpu_ms_per_item"] for row in rows)
        found[f"{kind}_items_per_cpu_second_of_the_driver"] = round(1000 / cheapest)
        found[f"{kind}_memory_growth"] = round(growth, 3)
        found[f"{kind}_runs"] = rows
    found["held"] = held
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<28} {value}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
