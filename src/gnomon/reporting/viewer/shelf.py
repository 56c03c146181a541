"""The runs in a folder as the viewer sees them: read when asked for, kept until their log grows."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from gnomon.errors import GnomonError
from gnomon.measures.table import Table
from gnomon.reporting.study import Study, known_benchmark, studies
from gnomon.reporting.viewer.ranking import Board, board
from gnomon.runs import LOG, MANIFEST, Counts, Run, runs_in

KEPT = 32  # tables, boards and studies kept in memory
FRESH = 120.0  # seconds after its last write that an unfinished run counts as going on
T = TypeVar("T")


class Shelf:
    """A folder of runs."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()

    def runs(self) -> list[Run]:
        """All runs that can be read, oldest first."""
        try:
            return runs_in(self.folder)
        except GnomonError:  # one damaged manifest must not hide the others
            found = []
            for path in sorted(self.folder.glob(f"*/{MANIFEST}")):
                try:
                    found.append(Run.open(path.parent))
                except GnomonError:
                    continue
            return sorted(found, key=lambda run: (run.manifest.started, run.path.name))

    def run(self, name: str) -> Run | None:
        """The run whose folder has that name. The name is looked up, never used as a path."""
        return next((run for run in self.runs() if run.path.name == name), None)

    def counts(self, run: Run) -> Counts:
        """How far a run has come, from its log."""
        try:
            return run.counts()
        except (GnomonError, sqlite3.Error, OSError):  # damaged, or just being created
            return run.manifest.counts

    def readable(self, run: Run) -> bool:
        """Whether the log of a run can be read."""
        try:
            return len(self.table(run)) > 0
        except (GnomonError, sqlite3.Error, OSError):
            return False

    def state(self, run: Run) -> str:
        """`finished`, `running` or `stopped`."""
        if run.manifest.finished:
            return "finished"
        return "running" if time.time() - _touched(run) < FRESH else "stopped"

    def table(self, run: Run) -> Table:
        """The answers of a run."""
        return self._keep(
            ("table", *_version(run)), lambda: Table.of_run(run, known_benchmark(run.benchmark))
        )

    def study(self, runs: list[Run]) -> Study:
        """Some runs on one benchmark, side by side."""
        return self._keep(("study", tuple(_version(run) for run in runs)), lambda: studies(runs)[0])

    def board(self, benchmark: str, runs: list[Run]) -> Board:
        """The leaderboard of runs on one benchmark."""
        return self._keep(
            ("board", tuple(_version(run) for run in runs)),
            lambda: board(benchmark, runs, self.table),
        )

    def _keep(self, key: Any, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]  # type: ignore[no-any-return]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made


def _version(run: Run) -> tuple[str, float, int]:
    log, wal = run.path / LOG, run.path / f"{LOG}-wal"
    size = sum(file.stat().st_size for file in (log, wal) if file.exists())
    return run.path.name, _touched(run), size


def _touched(run: Run) -> float:
    files = (run.path / LOG, run.path / f"{LOG}-wal", run.path / MANIFEST)
    return max((file.stat().st_mtime for file in files if file.exists()), default=0.0)
