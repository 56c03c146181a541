"""Views: what items cost, whether a second look agrees, and whether processes do.

    python bench/views.py --items 1000          # items of all kinds with pictures: CPU and memory
    python bench/views.py --recheck 5000        # a second look at so many items, by another code path
    python bench/views.py --processes 300       # the same bytes from two processes

Limits: 1,000 items with pictures in 12 minutes of CPU and 300 MB; 0 items that differ.
"""

import argparse
import hashlib
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import gnomon
from gnomon.benchmarks.views import asked_sets

LIMIT_SECONDS, LIMIT_MB = 720.0, 300
TRUTH = Path(__file__).parent.parent / "tests" / "benchmarks" / "test_views_truth.py"
PLAIN = {"kinds": "", "ways": "picture", "things": 0, "angle": 0, "ratio": 0.0, "frames": "stated"}


def second_look():
    spec = importlib.util.spec_from_file_location("second_look", TRUTH)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def recheck(count, seed):
    look = second_look()
    checked, wrong = Counter(), []
    for mine in asked_sets(seed=seed, facts=count, size=64, **PLAIN):
        for made in mine:
            said = look.differs(made)
            checked[made.item.tags["kind"]] += 1
            if said is not None:
                wrong.append((made.item.id, made.item.gold[0], said))
    for kind, number in checked.items():
        print(f"{kind:10} {number:6}")
    print(f"{checked.total()} items, {len(wrong)} differ")
    for row in wrong[:20]:
        print(*row)
    return not wrong


def cost(count, seed):
    with tempfile.TemporaryDirectory() as folder:
        source = gnomon.load("views", facts=count, seed=seed)
        items = list(source.illustrated(Path(folder), processes=1))
        pictures = len(list(Path(folder).glob("*.png")))
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = sum(each.ru_utime + each.ru_stime for each in (own, children))
    megabytes = max(own.ru_maxrss, children.ru_maxrss) / 1024
    print(f"{len(items)} items, {pictures} pictures: {seconds:.0f} s of CPU, {megabytes:.0f} MB")
    return seconds * 1000 / len(items) <= LIMIT_SECONDS and megabytes <= LIMIT_MB


def digest(count, seed):
    """One digest of all items and pixels."""
    found = hashlib.sha256()
    for mine in asked_sets(seed=seed, facts=count, size=64, **PLAIN):
        for made in mine:
            found.update(repr(made.item).encode())
            for pixels in made.pictures():
                found.update(pixels.tobytes())
    return found.hexdigest()


def same_bytes(count, seed):
    told = []
    for hashing in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hashing}
        command = [sys.executable, __file__, "--digest", str(count), "--seed", str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        told.append(done.stdout.strip())
    print(f"{count} items in two processes: {told[0][:16]} {told[1][:16]}")
    return told[0] == told[1]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--items", type=int)
    parser.add_argument("--recheck", type=int)
    parser.add_argument("--processes", type=int)
    parser.add_argument("--digest", type=int)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.digest:
        print(digest(args.digest, args.seed))
        return 0
    start = time.process_time()
    fine = True
    if args.items:
        fine &= cost(args.items, args.seed)
    if args.recheck:
        fine &= recheck(args.recheck, args.seed)
    if args.processes:
        fine &= same_bytes(args.processes, args.seed)
    print(
        f"{'all within the limits' if fine else 'NOT within the limits'}; {time.process_time() - start:.0f} s"
    )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
