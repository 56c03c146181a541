"""The Python API, equal to the command line: load, model, run, score, compare, report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.registry import ModelSpec, model
from gnomon.sources import ItemSource, load

if TYPE_CHECKING:
    from gnomon.contracts import Model
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
    return engine.run(source.limited(limit) if limit is not None else source, model, runs=runs, fresh=fresh,
                      retry_errors=retry_errors, watch=watch)


def score(*runs: Run | str | Path, by: str = "", measures: Sequence[str] = (), **options: Any) -> list[Score]:
    """What the answers of runs are worth: the measures of their benchmark, over all items and, with BY, per slice."""
    from gnomon.measures import score_run

    return [found for each in runs for found in score_run(_opened(each), by=by, measures=measures, **options)]


def compare(*runs: Run | str | Path, measure: str = "", **options: Any) -> Sequence[Comparison]:
    """Do runs on the same items differ, and by how much: each pair with its difference, interval and p-value."""
    from gnomon.measures.comparison import compare_runs

    return compare_runs([_opened(each) for each in runs], measure=measure, **options)


def report(runs: Sequence[Run | str | Path], output: str | Path, **options: Any) -> Path:
    """Write one self-contained page about runs."""
    from gnomon.report.page import write_report

    return Path(write_report([_opened(each) for each in runs], Path(output), **options))


def _opened(run: Run | str | Path) -> Run:
    from gnomon.runs import Run as Opened

    return run if isinstance(run, Opened) else Opened.open(run)
