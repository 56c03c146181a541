"""Which runs a command line means: run folders, or folders of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gnomon.errors import RunError
from gnomon.runs import MANIFEST, Run, runs_in


def opened(paths: Sequence[str | Path]) -> list[Run]:
    """The runs that the paths name; a folder without a manifest stands for the runs in it. None is taken twice."""
    found: dict[Path, Run] = {}
    for path in map(Path, paths):
        members = [Run.open(path)] if (path / MANIFEST).is_file() or not path.is_dir() else runs_in(path)
        if not members:
            raise RunError(f"{path} holds no runs.", "`gnomon list runs` shows the runs there are.")
        for run in members:
            found.setdefault(run.path.resolve(), run)
    return list(found.values())
