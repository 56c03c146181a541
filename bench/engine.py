"""The engine's own cost: CPU per item with an instant model, every batch of 64 durable, and memory
as items grow.

Limits: 0.05 ms of CPU per item; peak memory at 10^6 items at most 1.25 times that at 10^4.
"""

import argparse
import json
import subprocess
import sys
import tempfile

LIMIT_MS, LIMIT_GROWTH = 0.05, 1.25

ONE_RUN = """
import json, resource, sys, time
from gnomon.runs import running
from gnomon.contracts import Benchmark
from gnomon.records import Answer, Item
from gnomon.items.source import ItemSource

n, folder = int(sys.argv[1]), sys.argv[2]

def items():
    for i in range(n):
        yield Item(id=f"item-{i}", form="choice", text=f"Is object {i} to the left of object {i + 1}?",
                   context=f"Object {i} stands to the left of object {i + 1}.", choices=("yes", "no"), gold=("yes",),
                   group=f"pair-{i // 2}", tags={"relation": "left of"})

class Instant:
    spec, scale, batch = "instant", "none", 64
    def describe(self): return {}
    def answer(self, batch): return [Answer(item=item.id, choice="yes", scores=(-0.25, -1.5)) for item in batch]

t = time.process_time()
for item in items(): pass
making = time.process_time() - t
t = time.process_time()
running.run(ItemSource(Benchmark(name="instant", summary="", sources={"fresh": items}), "fresh"), Instant(), runs=folder)
used = time.process_time() - t - making
print(json.dumps({"items": n, "ms_per_item": 1000 * used / n,
                  "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def measure(n: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        done = subprocess.run(
            [sys.executable, "-c", ONE_RUN, str(n), folder],
            check=True,
            capture_output=True,
            text=True,
        )
    return json.loads(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    args = parser.parse_args()
    rows = [measure(n) for n in args.sizes]
    growth = rows[-1]["peak_mb"] / rows[0]["peak_mb"]
    held = all(row["ms_per_item"] <= LIMIT_MS for row in rows) and growth <= LIMIT_GROWTH
    if args.json:
        print(json.dumps({"runs": rows, "memory_growth": round(growth, 3), "held": held}))
    else:
        for row in rows:
            print(
                f"{row['items']:>9,} items: {row['ms_per_item']:.4f} ms CPU each, peak {row['peak_mb']:.0f} MB"
            )
        print(
            f"memory grows {growth:.2f} x from first to last (limit {LIMIT_GROWTH}); CPU limit {LIMIT_MS} ms"
        )
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
