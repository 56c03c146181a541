"""The report at scale: CPU seconds, size, first view and item search, for 10 runs of 32,000 items (or what you say).

    python bench/report.py [--runs 10] [--items 32000] [--json]
    python bench/report.py --benchmarks 12 --runs 6 --items 300   # many benchmarks on one page

The browser part needs playwright and a Chromium (CHROMIUM, else the one on the path); without them it is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
SEARCHES = ("garden", "mary lake", "behind the old house", "zzz", "e")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--items", type=int, default=32_000)
    parser.add_argument("--benchmarks", type=int, default=1, help="the first so many, fresh")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), args.runs, args.items, args.benchmarks)
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(
                f"{name:<28}{value:>12,.2f}"
                if isinstance(value, float)
                else f"{name:<28}{value:>12}"
            )
    return 0


def measure(folder: Path, runs: int, count: int, benchmarks: int) -> dict[str, object]:
    """Write runs, make the page, look at it."""
    folders = []
    for name, items in asked(benchmarks, count).items():
        for i in range(runs):
            skill = 0.3 + 0.6 * i / runs
            run = load_made().write(
                folder / f"{name}-{i}", name, f"model-{i}", items, skill=skill, seed=i
            )
            folders.append(run.path)
    from gnomon.reports.page.page import write_report

    start = time.process_time()
    page = write_report(folders, folder / "report.html")
    found: dict[str, object] = {
        "benchmarks": benchmarks,
        "runs": len(folders),
        "items": count,
        "cpu_seconds": time.process_time() - start,
        "megabytes": page.stat().st_size / 1e6,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    return {**found, **look(page)}


def asked(benchmarks: int, count: int) -> dict[str, list[object]]:
    """So many items of one made-up benchmark, or of the first few that can be made afresh."""
    if benchmarks == 1:
        return {
            "spacenli@fresh": list(load_made().entailment(patterns=max(1, count // 200), each=200))
        }
    import gnomon
    from gnomon import registry

    found: dict[str, list[object]] = {}
    for name in registry.BENCHMARKS:
        spec = registry.benchmark(name)
        if "fresh" in spec.sources and not spec.baselines and len(found) < benchmarks:
            found[f"{name}@fresh"] = list(itertools.islice(gnomon.load(name).items(), count))
    return found


def look(page: Path) -> dict[str, object]:
    """First view and search in a real browser, in milliseconds."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if importlib.util.find_spec("playwright") is None or chromium is None:
        return {"browser": "none"}
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium)
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto("about:blank")
        tab.goto(page.as_uri())
        timing = tab.evaluate("""() => new Promise(done => requestAnimationFrame(() => setTimeout(() => {
            const load = performance.getEntriesByType('navigation')[0];
            const paint = performance.getEntriesByName('first-contentful-paint')[0];
            done({load: load.loadEventEnd, ready: load.domContentLoadedEventEnd,
                  height: document.documentElement.scrollHeight,
                  paint: paint ? paint.startTime : performance.now()});
        }, 0)))""")
        began = time.perf_counter()
        tab.evaluate(
            "document.documentElement.style.scrollBehavior = 'auto'; document.getElementById('items-fold').open = true;"
            "document.getElementById('items').scrollIntoView()"
        )
        tab.wait_for_selector("#rows tr", timeout=60_000)
        unpacked = (time.perf_counter() - began) * 1000
        times, whole = [], []
        for words in SEARCHES:
            spent = tab.evaluate(
                """(words) => new Promise(done => {
                const area = document.getElementById('items'), box = document.getElementById('q');
                delete area.dataset.ms;
                box.value = words;
                const start = performance.now();
                box.dispatchEvent(new Event('input'));
                const look = () => area.dataset.ms === undefined ? requestAnimationFrame(look)
                    : done([Number(area.dataset.ms), performance.now() - start]);
                look();
            })""",
                words,
            )
            times.append(spent[0])
            whole.append(spent[1])
        browser.close()
    return {
        "first_paint_ms": timing["paint"],
        "usable_ms": timing["ready"],
        "load_ms": timing["load"],
        "height_px": timing["height"],
        "unpack_ms": unpacked,
        "search_ms_worst": max(times),
        "search_to_screen_ms_worst": max(whole),
    }


def load_made() -> object:
    """The maker of runs that the tests use."""
    spec = importlib.util.spec_from_file_location(
        "made", HERE.parent / "tests" / "reports" / "made.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
