"""Build the wheel and the source archive and try both outside the clone: the core alone, then the demo.

    python scripts/package.py                       # with the Python that runs this
    python scripts/package.py --python 3.12 --limit 100

Says how long an installation of the core takes and how large it is, and fails if it is larger than it should be.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parent.parent
LARGEST = 80  # megabytes of a virtualenv with the core alone
CORE = (
    ["--version"],
    ["list", "benchmarks"],
    ["show", "spacenli", "-n", "1"],
    ["run", "scales", "spacenli", "-m", "random", "-m", "majority", "--limit", "20", "--quiet"],
    ["score", "runs"],
    ["compare", "runs"],
    ["table", "runs", "--format", "latex"],
    ["power", "scales"],
    ["cite", "runs"],
)


def main() -> None:
    """Build, install, try."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--python", default=sys.executable, help="which Python to install into")
    parser.add_argument("--limit", default="4", help="items of each benchmark of the demo")
    args = parser.parse_args()
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        sys.exit("uv is not here. Install it: pip install uv")
    with tempfile.TemporaryDirectory(prefix="gnomon-package-") as folder:
        place = Path(folder)
        run([uv, "build", "--quiet", "--out-dir", str(place / "dist"), str(ROOT)], place)
        wheel, archive = next(place.glob("dist/*.whl")), next(place.glob("dist/*.tar.gz"))
        for file in (archive, wheel):
            print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
            try_core(uv, args.python, file, place / file.suffix.strip("."))
        try_demo(uv, wheel, place / "whl", args.limit)


def try_core(uv: str, python: str, file: Path, place: Path) -> None:
    """Install the core from a file into a virtualenv of its own, and use it."""
    place.mkdir()
    run([uv, "venv", "--quiet", "--python", python, "venv"], place)
    started = perf_counter()
    install(uv, str(file), place)
    seconds = perf_counter() - started
    size = sum(part.lstat().st_size for part in (place / "venv").rglob("*")) / 1e6
    print(f"  the core takes {seconds:.1f} s to install, and {size:.0f} MB")
    if size > LARGEST:
        sys.exit(f"The core is larger than {LARGEST} MB: see what it depends on.")
    for words in CORE:
        gnomon(words, place)


def try_demo(uv: str, wheel: Path, place: Path, limit: str) -> None:
    """Add what the demo needs, run it, and take its next step."""
    install(uv, f"{wheel}[demo]", place)
    started = perf_counter()
    table = gnomon(["demo", "--limit", limit, "--quiet"], place)
    print(table)
    print(f"  the demo took {perf_counter() - started:.0f} s")
    gnomon(["report", "runs/demo", "-o", "again.html", "--figures", "figures"], place)
    for file in ("gnomon-demo.html", "again.html", "figures/overview.svg"):
        if not (place / file).is_file():
            sys.exit(f"The demo left no {file}.")


def install(uv: str, what: str, place: Path) -> None:
    """Install into the virtualenv of a place, with the versions that were tested."""
    tested = str(ROOT / "constraints.txt")
    python = str(place / "venv" / "bin" / "python")
    run([uv, "pip", "install", "--quiet", "--python", python, "-c", tested, what], place)


def gnomon(words: list[str], place: Path) -> str:
    """What a command prints."""
    return run([str(place / "venv" / "bin" / "gnomon"), *words], place)


def run(command: list[str], place: Path) -> str:
    """Run a command outside the clone; say what it said if it fails."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    if "PIP_FIND_LINKS" in clean:  # uv does not read pip's settings
        clean.setdefault("UV_FIND_LINKS", clean["PIP_FIND_LINKS"])
    done = subprocess.run(command, cwd=place, env=clean, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
