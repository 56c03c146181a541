"""A lab at work: 100 people answer on the page of `gnomon people ask` at once, ten minutes of work each, compressed.

    python bench/people.py [--people 100] [--speed 10] [--json]

Each person has 60 captions with pictures and thinks for 10 seconds on average; --speed 10 makes that one second. Measured is
the time from an answer to the next item with its picture, over loopback, with the simulated people on the same cores. A
limit that does not hold, or an answer that is not on disk, gives exit code 1.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gnomon.items.writing import write_items
from gnomon.people.order import read_extras
from gnomon.records import Item
from gnomon.runs import Run
from gnomon.vision.images import describe
from hostile.annotators import Annotator, Server

ITEMS, THINK = 60, 10.0
P95 = 0.150  # seconds


def make_items(folder: Path) -> Path:
    """Captions with pictures of the size that COCO's have."""
    from PIL import Image

    items = []
    for number in range(ITEMS):
        file = folder / f"{number}.jpg"
        noise = Image.effect_noise((640, 480), 40).convert("RGB")
        noise.save(file, quality=85)
        items.append(
            Item(
                id=f"i{number}",
                form="caption",
                text=f"The cat is left of box {number}.",
                choices=("false", "true"),
                gold=("true",),
                images=(describe(file),),
            )
        )
    path = folder / "captions.jsonl"
    write_items(path, items)
    return path


async def work(annotator: Annotator, think: float, seed: int) -> None:
    draw = Random(seed)
    await asyncio.sleep(draw.uniform(0, think))
    await annotator.join()
    while not annotator.finished:
        await asyncio.sleep(draw.expovariate(1 / think))
        await annotator.step(changes=0.02)
    await annotator.close()


async def work_at_once(crowd: list[Annotator], think: float) -> None:
    await asyncio.gather(*(work(one, think, seed) for seed, one in enumerate(crowd)))


def kept_on_disk(runs: Path, crowd: list[Annotator]) -> int:
    """How many of the acknowledged answers are on disk, as responses and in the log."""
    kept = 0
    for folder in runs.iterdir():
        comments = {extra.comment for extra in read_extras(folder)}
        name = Run.open(folder).model.partition(":")[2]
        (mine,) = [one for one in crowd if one.name == name]
        assert len(list(Run.open(folder).answers())) == len(comments)
        kept += len(comments & set(mine.acknowledged.values()))
    return kept


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """The most memory that a process had, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measure(people: int, speed: float, folder: Path) -> dict[str, float]:
    items = make_items(folder)
    runs = folder / "runs"
    names = [f"p{number}" for number in range(people)]
    server = Server((str(items), "--task", "validate"), names, runs)
    began = time.monotonic()
    server.start()
    ready = time.monotonic() - began
    crowd = [
        Annotator(name, server.port, server.links[name], seed) for seed, name in enumerate(names)
    ]
    used = processor_seconds(server.pid)
    began = time.monotonic()
    try:
        asyncio.run(work_at_once(crowd, THINK / speed))
        seconds = time.monotonic() - began
        used = processor_seconds(server.pid) - used
        peak = memory(server.pid)
    finally:
        server.stop()

    waits = sorted(wait for one in crowd for wait in one.waits)
    acknowledged = sum(len(one.acknowledged) for one in crowd)
    return {
        "people": people,
        "speed": speed,
        "start_s": ready,
        "seconds": seconds,
        "answers": len(waits),
        "answers_per_s": len(waits) / seconds,
        "p50_s": waits[len(waits) // 2],
        "p95_s": waits[len(waits) * 95 // 100],
        "p99_s": waits[len(waits) * 99 // 100],
        "processor_ms_per_answer": 1000 * used / len(waits),
        "peak_mb": peak,
        "lost": acknowledged - kept_on_disk(runs, crowd),
        "load_average": os.getloadavg()[0],
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--speed", type=float, default=10.0)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(args.people, args.speed, Path(folder))
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<26}{value:,.3f}")
    return 1 if found["p95_s"] > P95 or found["lost"] else 0


if __name__ == "__main__":
    sys.exit(main())
