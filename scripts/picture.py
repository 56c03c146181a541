"""The picture of the report in the README, made from real runs.

    gnomon run spacenli -m random -m majority -m smollm2 --limit 1080 --runs runs
    python scripts/picture.py runs/spacenli* -o docs/images/report.png

Needs playwright and a Chromium (CHROMIUM, else the one on the path). The picture is the top of the page at desk width.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from gnomon.reporting.page.page import write_report
from gnomon.runs import open_runs

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LIMIT = 400_000  # bytes


def main() -> int:
    """Write the page, take its picture, say how large it is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images/report.png"))
    parser.add_argument("--width", type=int, default=1200)
    parser.add_argument("--height", type=int, default=1700)
    parser.add_argument("--dark", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = write_report(open_runs(args.runs), Path(folder) / "report.html")
        args.output.parent.mkdir(parents=True, exist_ok=True)
        photograph(page, args.output, args.width, args.height, "dark" if args.dark else "light")
    size = args.output.stat().st_size
    print(f"{args.output}: {size / 1000:.0f} KB")
    return 0 if size <= LIMIT else 1


def photograph(page: Path, output: Path, width: int, height: int, scheme: str) -> None:
    """The top of a page."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        tab.goto(page.as_uri())
        tab.screenshot(path=str(output))
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
