"""The Python API, equal to the command line: load, model, run, score, compare, report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.registry import ModelSpec, model
from gnomon.sources import ItemSource, load

if TYPE_CHECKING:
    from gnomon.contracts import Benchmark, Model
    from gnomon.engine import Progress
    from gnomon.measures.comparison import Comparison
    from gnomon.records import Score
    from gnomon.runs import Run

__all__ = ["compare", "load", "model", "report", "run", "score"]


def run(
    source: ItemSource | str,
    model: Model | ModelSpec | str,
    *,
    limit: int | None = None,
    runs: str | Path = "runs",
    fresh: bool = False,
    retry_errors: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> Run:
    """Ask a model the items of a source; called again with the same arguments, it goes on where it stopped.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run("scales", "random", limit=10, runs=folder).manifest.counts.answered
    10
    """
    from gnomon import engine
    from gnomon.registry import model as named

    source = load(source) if isinstance(source, str) else source
    model = named(model) if isinstance(model, str) else model
    return engine.run(
        source.limited(limit) if limit is not None else source,
        model,
        runs=runs,
        fresh=fresh,
        retry_errors=retry_errors,
        watch=watch,
    )


def score(
    *runs: Run | str | Path,
    by: str | Sequence[str] = (),
    measures: Sequence[str] = (),
    draws: int = 0,
    level: float = 0.95,
) -> list[Score]:
    """What the answers of runs are worth: the measures of their benchmark, over all items or, with BY, per slice.

    `draws` 0 gives analytic intervals, more gives bootstrap intervals; both resample whole clusters.
    """
    from gnomon.measures import Table, scores
    from gnomon.registry import measure

    found: list[Score] = []
    for each in map(_opened, runs):
        benchmark = _benchmark(each)
        names = measures or (benchmark.measures if benchmark else ("accuracy",))
        found += scores(
            Table.of_run(each, benchmark), [measure(name) for name in names], by or None, draws=draws, level=level
        )
    return found


def compare(*runs: Run | str | Path, measure: str = "", **options: Any) -> Sequence[Comparison]:
    """Do runs on the same items differ, and by how much: each pair with its difference, interval and p-value."""
    from gnomon.measures.comparison import compare_runs

    return compare_runs([_opened(each) for each in runs], measure=measure, **options)


def report(runs: Sequence[Run | str | Path], output: str | Path, **options: Any) -> Path:
    """Write one self-contained page about runs."""
    from gnomon.report.page import write_report

    return Path(write_report([_opened(each) for each in runs], Path(output), **options))


def _benchmark(run: Run) -> Benchmark | None:
    """The benchmark of a run; none if it came from a plug-in that is not installed here."""
    from gnomon import registry
    from gnomon.errors import UsageError

    try:
        return registry.benchmark(run.benchmark.partition("@")[0])
    except UsageError:
        return None


def _opened(run: Run | str | Path) -> Run:
    from gnomon.runs import Run as Opened

    return run if isinstance(run, Opened) else Opened.open(run)
