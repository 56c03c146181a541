"""The runs in a folder as the viewer sees them, with the leaderboard of each benchmark."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import Request

from gnomon.contracts import Benchmark, Measure
from gnomon.errors import GnomonError
from gnomon.grouped import grouped
from gnomon.measures.compared import comparable_pairs
from gnomon.measures.comparison import Rank, leaderboard
from gnomon.measures.pairing import same_items
from gnomon.measures.table import Table
from gnomon.registry import asked_benchmark
from gnomon.reports.figures.slices import headline_measure
from gnomon.reports.overview import Overview, overview
from gnomon.reports.study import Study, labels_of, studies
from gnomon.runs import LOG, MANIFEST, Counts, Notes, Run, is_in_use, survey, without_merged

# The addresses of the viewer's pages.


def run_address(run: Run) -> str:
    """The page of a run."""
    return f"/run/{quote(run.path.name, safe='')}"


def model_address(name: str) -> str:
    """The page of a model, by the name that lists show."""
    return "/model?" + urlencode({"name": name})


def benchmark_address(name: str, part: str = "") -> str:
    """The page of a benchmark, or of a part of it: TAG=VALUE."""
    query = {"name": name}
    if part:
        query["part"] = part
    return "/benchmark?" + urlencode(query)


def compare_address(runs: Sequence[Run]) -> str:
    """The page that compares runs."""
    return "/compare?" + urlencode([("run", run.path.name) for run in runs])


def item_address(benchmark: str, name: str, more: Mapping[str, str] | None = None) -> str:
    """The page of an item; what else is in the address says where a reader came from."""
    return "/item?" + urlencode({"benchmark": benchmark, "id": name, **(more or {})})


# for templates
ADDRESSES = {
    "run_address": run_address,
    "model_address": model_address,
    "benchmark_address": benchmark_address,
    "compare_address": compare_address,
}


# The leaderboard of one benchmark: runs are ranked only among those asked the same items.


class RunPlace(NamedTuple):
    """A run in a leaderboard; the label tells runs of one model apart."""

    run: Run
    label: str
    rank: Rank


@dataclass(frozen=True)
class BoardPart:
    """Runs on the same items, best first."""

    items: int  # that were asked
    places: tuple[RunPlace, ...]


@dataclass(frozen=True)
class RunBoard:
    """The leaderboard of one benchmark, in parts of runs on the same items; the largest first."""

    benchmark: str
    spec: Benchmark | None
    measure: str
    parts: tuple[BoardPart, ...]


def board(benchmark: str, runs: Sequence[Run], tables: Sequence[Table]) -> RunBoard:
    """Rank runs by the benchmark's first measure, over the items that each was asked."""
    spec = asked_benchmark(benchmark, runs[0].manifest.about) if runs else None
    measure = headline_measure(spec)
    named = []
    for run, label, table in zip(runs, labels_of(runs), tables, strict=True):
        named.append((run, replace(table, about=replace(table.about, model=label))))
    parts = []
    for places in same_items(tables):
        parts.append(_part([named[place] for place in places], measure))
    return RunBoard(benchmark, spec, measure.name, tuple(parts))


def _part(members: Sequence[tuple[Run, Table]], measure: Measure) -> BoardPart:
    tables = [table for _, table in members]
    runs = {table.model: run for run, table in members}
    ranks = leaderboard(tables, measure, comparable_pairs(tables, measure))
    places = [RunPlace(runs[rank.model], rank.model, rank) for rank in ranks]
    return BoardPart(len(tables[0]), tuple(places))


ROWS = 600_000  # answers that may be kept in memory, in all tables and studies together
INDEX_HEAD = 48  # bytes
AT_ONCE = 2  # computations: more would only share the same processors and need memory each
T = TypeVar("T")


@dataclass
class _Kept:
    """Something that is being made or was made, of which version, and how large it is."""

    version: Any
    made: Future[Any]
    rows: int = 0


class Shelf:
    """A folder of runs."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._kept: OrderedDict[Any, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self._computing = threading.Semaphore(AT_ONCE)

    def runs(self) -> list[Run]:
        """All runs that can be read, oldest first."""
        return survey(self.folder).runs

    def listed(self) -> list[Run]:
        """The runs that nobody has hidden."""
        return [run for run in without_merged(self.runs()) if not self.notes(run).hidden]

    def run(self, name: str) -> Run | None:
        """The run whose folder has that name. The name is looked up, never used as a path."""
        return next((run for run in self.runs() if run.path.name == name), None)

    def named(self, name: str) -> Run:
        """The run of that name, or the answer that there is none."""
        run = self.run(name)
        if run is None:
            raise HTTPException(404, f"There is no run named {name[:120]}.")
        return run

    def asked(self, request: Request) -> Run:
        """The run that the address of a page names."""
        return self.named(request.path_params["name"])

    def counts(self, run: Run) -> Counts:
        """How far a run has come, from its log."""
        try:
            return self.keep("counts", [run], run.counts)
        except (GnomonError, OSError):  # damaged, or just being created
            return run.manifest.counts

    def notes(self, run: Run) -> Notes:
        """What was noted about a run; nothing if that cannot be read, which its own page says."""
        try:
            return run.notes
        except GnomonError:
            return Notes()

    def doubts(self, runs: Sequence[Run]) -> set[tuple[str, str]]:
        """The items, by id and wording, that are marked as doubtful beside any of these runs."""
        every = [doubt for run in runs for doubt in self.notes(run).doubts.values()]
        return {(doubt.item, doubt.wording) for doubt in every}

    def readable(self, run: Run) -> bool:
        """Whether the log of a run can be read, and holds answers."""
        return not self.damaged(run) and len(self.table(run)) > 0

    def damaged(self, run: Run) -> bool:
        """Whether the log of a run cannot be read, be there answers in it or not."""
        try:
            self.table(run)
        except (GnomonError, OSError):
            return True
        return False

    def state(self, run: Run) -> str:
        """`finished`, or `running` while a process holds its lock, or `stopped`."""
        if run.manifest.finished:
            return "finished"
        return "running" if is_in_use(run.path) else "stopped"

    def table(self, run: Run) -> Table:
        """The answers of a run."""

        def make() -> Table:
            return Table.of_run(run, asked_benchmark(run.benchmark, run.manifest.about))

        return self.keep("table", [run], make, rows=len)

    def study(self, runs: Sequence[Run]) -> Study:
        """Some runs on one benchmark, side by side."""

        return self.keep(
            "study",
            runs,
            lambda: studies(runs)[0],
            rows=lambda study: 2 * len(study.items) * len(runs),
        )

    def board(self, benchmark: str, runs: Sequence[Run], part: str = "") -> RunBoard:
        """The leaderboard of runs on one benchmark, or on a part of it: TAG=VALUE."""
        tables = [self.table(run) for run in runs]
        tag, _, value = part.partition("=")
        if part:
            tables = [_part_of(table, tag, value) for table in tables]
        return self.keep(f"board {part}", runs, lambda: board(benchmark, runs, tables))

    def overview(self, runs: Sequence[Run]) -> Overview:
        """Models by benchmarks. The studies are only made if something has changed."""
        known: Overview | None = self._current("overview", runs)
        if known is not None:
            return known
        by_benchmark = grouped(runs, lambda run: run.benchmark)
        found = [self.study(by_benchmark[name]) for name in sorted(by_benchmark)]
        return self.keep("overview", runs, lambda: overview(found))

    def _current(self, kind: str, runs: Sequence[Run]) -> Any:
        """What is kept for these runs, if it was made and none of their logs grew."""
        with self._lock:
            kept = self._kept.get(_key(kind, runs))
        if kept is None or not kept.made.done() or kept.version != list(map(_version, runs)):
            return None
        return kept.made.result()

    def keep(
        self,
        kind: str,
        runs: Sequence[Run],
        make: Callable[[], T],
        *,
        rows: Callable[[T], int] = lambda _: 0,
    ) -> T:
        """What `make` gives for these runs: made once, and again when one of their logs grew.

        A request that comes while it is being made waits for it. `make` must not ask for other
        things that are kept: it holds one of the few places for computing.
        """
        key = _key(kind, runs)
        version = list(map(_version, runs))
        with self._lock:
            kept = self._kept.get(key)
            mine = kept is None or kept.version != version
            if mine:
                kept = self._kept[key] = _Kept(version, Future())
            self._kept.move_to_end(key)
        assert kept is not None
        if mine:
            self._make(key, kept, make, rows)
        result: T = kept.made.result()
        return result

    def _make(self, key: Any, kept: _Kept, make: Callable[[], T], rows: Callable[[T], int]) -> None:
        try:
            with self._computing:
                made = make()
        except BaseException as error:
            with self._lock:
                if self._kept.get(key) is kept:
                    del self._kept[key]
            kept.made.set_exception(error)
            return
        kept.rows = rows(made)
        kept.made.set_result(made)
        with self._lock:
            self._make_room()

    def _make_room(self) -> None:
        """Let go of what was not asked for longest, but never of what was made last."""
        total = sum(kept.rows for kept in self._kept.values())
        for key in list(self._kept)[:-1]:
            if total <= ROWS:
                return
            if self._kept[key].made.done():
                total -= self._kept.pop(key).rows


def _key(kind: str, runs: Sequence[Run]) -> tuple[str, ...]:
    return kind, *(run.path.name for run in runs)


def _part_of(table: Table, tag: str, value: str) -> Table:
    """The rows of a table that have a value of a tag."""
    if table.has(tag):
        for key, part in table.by(tag):
            if key == value:
                return part
    return table.where(np.zeros(len(table), dtype=bool))


def _version(run: Run) -> tuple[float, int, bytes]:
    """What changes when the log of a run grows."""
    stats = _files(run)
    latest = max((found.st_mtime for found in stats), default=0.0)
    return latest, sum(found.st_size for found in stats), _seen_by_readers(run)


def _seen_by_readers(run: Run) -> bytes:
    """What changes when readers see more of a log: later than its files, which are flushed first.

    It is the head of SQLite's index of a -wal file; of an empty one, readers make one themselves.
    """
    try:
        if not (run.path / f"{LOG}-wal").stat().st_size:
            return b""
        with (run.path / f"{LOG}-shm").open("rb") as index:
            return index.read(INDEX_HEAD)
    except OSError:  # nobody has the log open
        return b""


def _files(run: Run) -> list[os.stat_result]:
    """The files of a run that hold something: a reader may leave an empty -wal behind."""
    found = []
    for name in (LOG, f"{LOG}-wal", MANIFEST):
        with suppress(OSError):  # gone, or a link that leads nowhere: reading it says so
            stat = (run.path / name).stat()
            if stat.st_size:
                found.append(stat)
    return found
