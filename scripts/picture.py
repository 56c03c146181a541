"""The pictures of the gallery and the README, taken from real runs.

    gnomon run quick -m smollm2 -m random --limit 100 --runs runs
    gnomon look PICTURES -o knowledge                # pictures that may be shown: drawn ones
    python scripts/picture.py runs --knowledge knowledge/page.html

Needs playwright and a Chromium (CHROMIUM, else the one on the path). What is asked for most is light and at
desk width; one picture is dark, one is of a phone. Colours are reduced so that no file has more than 200 KB.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from gnomon.reports.page.page import write_report
from gnomon.runs import open_runs

IMAGES = Path(__file__).parent.parent / "docs" / "images"
LIMIT = 200_000  # bytes
COLOURS = 96
DESK, PHONE = (1200, 900), (390, 780)


class Shot(NamedTuple):
    """A picture to take: of which address, how large, in which colours, after which clicks."""

    name: str
    address: str
    size: tuple[int, int] = DESK
    scheme: str = "light"
    clicks: tuple[str, ...] = ()  # what is clicked before, by selector


def main() -> int:
    """Write the page, serve the viewer, take the pictures, say how large they are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path, metavar="FOLDER", help="a folder of runs")
    parser.add_argument(
        "--run", default="posrel@*", help="the run whose page is shown, as a pattern"
    )
    parser.add_argument("--knowledge", type=Path, metavar="PAGE", help="a page of gnomon look")
    parser.add_argument("-o", "--output", type=Path, default=IMAGES, metavar="FOLDER")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, viewer(args.runs) as address:
        page = write_report(open_runs([args.runs]), Path(folder) / "report.html").as_uri()
        run = f"{address.rstrip('/')}/run/{sorted(args.runs.glob(args.run))[-1].name}"
        shots = [
            Shot("report", page),
            Shot("report-dark", page, scheme="dark"),
            Shot("report-phone", page, PHONE),
            Shot("viewer", address),
            Shot("viewer-run", run),
            Shot("viewer-item", run, clicks=(ITEMS, ITEM)),
        ]
        if args.knowledge:
            shots.append(Shot("knowledge", args.knowledge.resolve().as_uri()))
        taken = [photograph(shot, args.output) for shot in shots]
        taken += figures(sorted(args.runs.glob(args.run)), Path(folder), args.output)
    for picture in taken:
        print(f"{picture}: {picture.stat().st_size / 1000:.0f} KB")
    return 0 if all(picture.stat().st_size <= LIMIT for picture in taken) else 1


FIGURES = {"figure-slices": "*-by-relation.png", "figure-confusion": "*-confusion.png"}
ITEMS = 'main a[href*="/items"]'
ITEM = 'main a[href*="/item?"]'


@contextmanager
def viewer(runs: Path) -> Iterator[str]:
    """The viewer of a folder of runs, for as long as it is needed; its address."""
    command = [
        sys.executable,
        "-m",
        "gnomon",
        "view",
        "--read-only",
        "--port",
        "0",
        "--runs",
        str(runs),
    ]
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 our own command
    try:
        assert serving.stdout is not None
        said = serving.stdout.readline()  # "Viewing at http://... (Ctrl-C ends it)"
        yield next(word for word in said.split() if word.startswith("http"))
    finally:
        serving.terminate()
        serving.wait()


def photograph(shot: Shot, folder: Path) -> Path:
    """Take one picture, and keep it in few colours."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    width, height = shot.size
    look: dict[str, Any] = {
        "viewport": {"width": width, "height": height},
        "color_scheme": shot.scheme,
    }
    output = folder / f"{shot.name}.png"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium)
        tab = browser.new_page(**look)
        tab.goto(shot.address)
        for selector in shot.clicks:
            tab.locator(selector).first.click()
            tab.wait_for_load_state()
        tab.screenshot(path=str(output))
        browser.close()
    return reduced(output, output)


def figures(runs: list[Path], work: Path, folder: Path) -> list[Path]:
    """Two charts of some runs, as `gnomon report --figures` writes them."""
    write_report(open_runs(runs), work / "figures.html", figures_folder=work / "figures")
    taken = []
    for name, pattern in FIGURES.items():
        drawn = next((work / "figures").glob(pattern))
        taken.append(reduced(drawn, folder / f"{name}.png"))
    return taken


def reduced(picture: Path, output: Path) -> Path:
    """Keep a picture in few colours."""
    colours = Image.open(picture).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    colours.save(output, optimize=True)
    return output


if __name__ == "__main__":
    sys.exit(main())
