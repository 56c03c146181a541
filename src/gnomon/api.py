"""The Python API, equal to the command line: load, model, run, score, compare, report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import UsageError
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
    measures: str | Sequence[str] = (),
    minimum: int = 1,
    draws: int = 0,
    level: float = 0.95,
    guess: int | None = None,
) -> list[Score]:
    """What the answers of runs (or of folders of runs) are worth: over all items and then, with BY, per slice.

    measures  by name, instead of those of the runs' benchmarks
    by        a tag or several; slices with fewer than `minimum` items are left out
    draws     0 gives analytic intervals, more gives bootstrap intervals; both resample whole clusters
    level     of the intervals
    guess     a seed with which items without an answer are guessed, instead of counted as wrong
    """
    from gnomon.measures.accuracy import guessed
    from gnomon.measures.scoring import score_table, table_of
    from gnomon.registry import with_twins

    _check_level(level)
    found: list[Score] = []
    for each in _opened(runs):
        table, names = table_of(each)
        if guess is not None:
            table = guessed(table, guess)
        chosen = _names(measures) or with_twins(names)
        found += score_table(table, chosen, by=by, minimum=minimum, draws=draws, level=level)
    return found


def compare(
    *runs: Run | str | Path,
    measure: str = "",
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    over_seeds: bool = False,
) -> list[Comparison]:
    """Do runs on the same items differ, and by how much: each pair with its difference, interval and p-value.

    measure     by name; the first of the benchmark if not given
    level       of the intervals of differences
    draws       of the paired bootstrap, with `seed`
    over_seeds  take a model's runs with different seeds together
    """
    from gnomon.measures.comparison import compare_runs

    _check_level(level)
    return compare_runs(_opened(runs), measure=measure, level=level, draws=draws, seed=seed, over_seeds=over_seeds)


def report(
    runs: Run | str | Path | Sequence[Run | str | Path],
    output: str | Path = "report.html",
    *,
    figures: str | Path | None = None,
) -> Path:
    """Write one self-contained page about runs, and with `figures` each figure to that folder; give the page's path."""
    from gnomon.report.page import write_report

    return write_report(_opened(runs), Path(output), figures_folder=figures)


def _opened(runs: Run | str | Path | Sequence[Run | str | Path]) -> list[Run]:
    """Runs and folders of runs, one or several, all opened."""
    from gnomon.runs import Run as Opened
    from gnomon.runs import open_runs

    several = [runs] if isinstance(runs, (Opened, str, Path)) else runs
    return [run for each in several for run in ([each] if isinstance(each, Opened) else open_runs([each]))]


def _names(measures: str | Sequence[str]) -> Sequence[str]:
    return [measures] if isinstance(measures, str) else measures


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise UsageError(f"The level must lie between 0 and 1, not {level}.", "For example: 0.95")
