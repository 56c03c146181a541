"""The outputs of docs/tutorial.md, made again by the commands that the page shows.

    python scripts/tutorial.py      # in a minute or two of one core, with the weights of SmolLM2

A comment before a block names the command that prints it: `<!-- prints: gnomon power scales -->`. What depends on the clock
(`--dry-run`) has none, and stays as it was written.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from glob import glob
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "tutorial.md"
BLOCK = re.compile(
    r"<!-- prints: (?P<command>.*?) -->\n\n```(?P<kind>\w+)\n(?P<output>.*?)```", re.DOTALL
)
AFTER = re.compile(
    r"^(Runs|More): .*\n?", re.MULTILINE
)  # where the runs are, by names with digests
FILE = re.compile(r"file `mine\.csv`.*?```text\n(.*?)```", re.DOTALL)


def main() -> None:
    """Write the page with what the commands print now."""
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        place = prepared(page, Path(folder))
        PAGE.write_text(BLOCK.sub(lambda found: _written(found, place), page), encoding="utf-8")


def _written(found: re.Match[str], place: Path) -> str:
    printed = output_of(found["command"], place)
    return f"<!-- prints: {found['command']} -->\n\n```{found['kind']}\n{printed}```"


def stated() -> Iterator[tuple[str, str]]:
    """The commands of the page, in their order, each with the output that the page shows."""
    for found in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        yield found["command"], found["output"]


def prepared(page: str, place: Path) -> Path:
    """A folder with the file of questions that the page shows."""
    (place / "mine.csv").write_text(FILE.findall(page)[0], encoding="utf-8")
    return place


def output_of(command: str, place: Path) -> str:
    """What a command prints in a folder, without the names of runs."""
    words = shlex.split(command)[1:]
    expanded = []
    for word in words:
        expanded += sorted(glob(word, root_dir=place)) if "*" in word else [word]
    wide = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "gnomon", *expanded],
        cwd=place,
        env=wide,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stderr}")
    return AFTER.sub("", done.stdout).rstrip("\n") + "\n"


if __name__ == "__main__":
    main()
