"""The viewer under load: seconds, memory, errors, on loopback.

    python bench/viewer.py cold      20 requests at once for one run of 200,000 items that nobody has looked at yet
    python bench/viewer.py crowd     200 clients for 30 s over 6 runs of 2,000 items, then again: memory must level off

Without an argument both. With --json the figures are one JSON object. A limit that does not hold gives exit code 1.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx

from gnomon.records import Answer, Item
from gnomon.runs import Manifest, RunLog

COLD_SECONDS, COLD_MB = 12.0, 700.0
CROWD_CLIENTS, CROWD_SECONDS, CROWD_MB = 200, 30.0, 700.0
LABELS = ("entailment", "neutral", "contradiction")


def make_run(folder: Path, items: int, seed: int) -> None:
    """A finished run of made-up answers."""
    with RunLog(folder) as log:
        manifest = Manifest(
            id=folder.name,
            benchmark="spacenli@fresh",
            model=f"model-{seed}",
            scale="log-probability",
            started=datetime.now(UTC),
            items_sha256=f"{items}",
        )
        for start in range(0, items, 4096):
            numbers = range(start, min(items, start + 4096))
            log.add_items(start, [_item(n) for n in numbers])
            log.add_answers([(n, _answer(n, seed)) for n in numbers])
        manifest.counts = log.counts()
        manifest.finished = manifest.started
        log.write_manifest(manifest)


def _item(n: int) -> Item:
    return Item(
        id=f"item-{n}",
        form="entailment",
        context=f"The lamp number {n} stands to the left of the box. The box is behind the chair.",
        text=f"The lamp number {n} is near the chair.",
        choices=LABELS,
        gold=(LABELS[n % 3],),
        group=f"pattern-{n // 200}",
        tags={"class": f"class {n // 200 % 4}", "premises": "2"},
    )


def _answer(n: int, seed: int) -> Answer:
    picked = (n * 7919 + seed * 31 + n // 13) % 3
    scores = tuple(-0.3 if place == picked else -2.0 for place in range(3))
    return Answer(item=f"item-{n}", choice=LABELS[picked], scores=scores)


@contextlib.contextmanager
def viewer(folder: Path):
    """A viewer in a process of its own; gives its address and its process id."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gnomon", "view", "--runs", str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline()
        yield re.search(r"http://[^/]+", line)[0], process.pid
    finally:
        process.terminate()
        process.wait(30)


def memory(pid: int) -> tuple[float, float]:
    """Peak and present memory of a process, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    peak, now = (
        int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024 for name in ("VmHWM", "VmRSS")
    )
    return peak, now


async def ask_at_once(address: str, paths: list[str]) -> list[int]:
    async with httpx.AsyncClient(timeout=300, limits=httpx.Limits(max_connections=None)) as client:
        answers = await asyncio.gather(*(client.get(address + path) for path in paths))
    return [answer.status_code for answer in answers]


async def crowd(address: str, paths: list[str], clients: int, seconds: float) -> dict[str, float]:
    """Clients that each ask for one page after another until the time is up."""
    until = time.monotonic() + seconds
    times, errors = [], 0

    async def one(number: int) -> None:
        nonlocal errors
        async with httpx.AsyncClient(timeout=120) as client:
            step = number
            while time.monotonic() < until:
                began = time.monotonic()
                try:
                    answer = await client.get(address + paths[step % len(paths)])
                    errors += answer.status_code != 200
                except httpx.HTTPError:
                    errors += 1
                times.append(time.monotonic() - began)
                step += 7

    await asyncio.gather(*(one(number) for number in range(clients)))
    times.sort()
    return {
        "answers": len(times),
        "errors": errors,
        "p50_s": times[len(times) // 2],
        "p99_s": times[len(times) * 99 // 100],
    }


def measure_cold(folder: Path) -> dict[str, float]:
    make_run(folder / "large", 200_000, 1)
    pages = ["/run/large", "/run/large/items", "/", "/run/large/items?outcome=wrong"] * 5
    with viewer(folder) as (address, pid):
        began = time.monotonic()
        codes = asyncio.run(ask_at_once(address, pages))
        seconds = time.monotonic() - began
        peak, now = memory(pid)
    return {
        "seconds": seconds,
        "peak_mb": peak,
        "after_mb": now,
        "errors": sum(code != 200 for code in codes),
    }


def measure_crowd(folder: Path) -> list[dict[str, float]]:
    names = [f"run-{seed}" for seed in range(6)]
    for seed, name in enumerate(names):
        make_run(folder / name, 2_000, seed)
    pages = ["/"]
    for one in names:
        pages += [f"/run/{one}", f"/run/{one}/items", f"/run/{one}/progress"]
        pages += [f"/compare?a={one}&b={names[0]}", "/item?benchmark=spacenli%40fresh&id=item-7"]
    rounds = []
    with viewer(folder) as (address, pid):
        for _ in range(2):
            found = asyncio.run(crowd(address, pages, CROWD_CLIENTS, CROWD_SECONDS))
            peak, now = memory(pid)
            rounds.append({**found, "peak_mb": peak, "after_mb": now})
    return rounds


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", choices=["cold", "crowd"])
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2
    )
    found, held = {}, True
    with tempfile.TemporaryDirectory() as place:
        if args.part in (None, "cold"):
            cold = found["cold"] = measure_cold(Path(place) / "cold")
            held &= (
                cold["seconds"] <= COLD_SECONDS
                and cold["peak_mb"] <= COLD_MB
                and not cold["errors"]
            )
        if args.part in (None, "crowd"):
            rounds = found["crowd"] = measure_crowd(Path(place) / "crowd")
            held &= all(each["errors"] == 0 and each["peak_mb"] <= CROWD_MB for each in rounds)
            held &= rounds[1]["after_mb"] <= 1.25 * rounds[0]["after_mb"]
    if args.json:
        print(json.dumps(found))
    else:
        for part, figures in found.items():
            print(part, json.dumps(figures, indent=1))
        print("held" if held else "NOT held", f"on {os.cpu_count()} cores")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
