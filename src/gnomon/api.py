"""The Python API: load, model, run, score, compare, report. Each takes what its command takes, and
gives records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import UsageError
from gnomon.itemsource import ItemSource, load
from gnomon.registry import ModelSpec, model

if TYPE_CHECKING:
    from gnomon.contracts import Model
    from gnomon.engine import Progress
    from gnomon.measures.comparison import Comparison
    from gnomon.measures.table import Table
    from gnomon.records import Score
    from gnomon.runs import Run

__all__ = ["compare", "load", "model", "report", "run", "score"]


def run(
    source: ItemSource | str,
    model: Model | ModelSpec | str,
    *,
    limit: int | None = None,
    runs: str | Path = "runs",
    restart: bool = False,
    retry_errors: bool = False,
    blind: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> Run:
    """Ask a model the items of a source; called again with the same arguments, it goes on where it
    stopped.

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
        restart=restart,
        retry_errors=retry_errors,
        blind=blind,
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
    over_seeds: bool = False,
) -> list[Score]:
    """What the answers of runs (or of folders of runs) are worth: over all items and then, with BY,
    per slice.

    measures    by name, instead of those of the runs' benchmarks
    by          a tag or several; slices with fewer than `minimum` items are left out
    draws       0 gives analytic intervals, more gives bootstrap intervals; both resample whole
    clusters
    level       of the intervals
    guess       a seed with which items without an answer are guessed, instead of counted as wrong
    over_seeds  take runs that differ in nothing but the seed together

    Answers from elsewhere are scored as a run of them: `score(run(source, "answers:FILE"))`.
    """
    from gnomon.measures.accuracy import guessed
    from gnomon.measures.scoring import score_table, table_of
    from gnomon.registry import with_twins

    _check(level, draws, minimum)
    if over_seeds and draws:
        raise UsageError("draws have no effect over seeds.", "Leave out one of them.")
    tables = [table_of(each) for each in _opened(runs)]
    if guess is not None:
        tables = [(guessed(table, guess), names) for table, names in tables]
    tags, chosen = _several(by), _several(measures)
    for tag in tags:
        if tables and not any(table.has(tag) for table, _ in tables):
            tables[0][0].column(tag)  # says what there is instead
    if over_seeds:
        return _over_seeds(tables, tags, chosen, minimum, level)
    return [
        found
        for table, names in tables
        for found in score_table(
            table,
            chosen or with_twins(names),
            by=[tag for tag in tags if table.has(tag)],
            minimum=minimum,
            draws=draws,
            level=level,
        )
    ]


def compare(
    *runs: Run | str | Path,
    measure: str = "",
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    over_seeds: bool = False,
) -> list[Comparison]:
    """Do runs on the same items differ, and by how much: each pair with its difference, interval
    and p-value.

    measure     by name; the first of the benchmark if not given
    level       of the intervals of differences
    draws       of the paired bootstrap, with `seed`
    over_seeds  take a model's runs with different seeds together
    """
    from gnomon.measures.comparison import compare_runs

    _check(level, draws)
    return compare_runs(
        _opened(runs), measure=measure, level=level, draws=draws, seed=seed, over_seeds=over_seeds
    )


def report(
    runs: Run | str | Path | Sequence[Run | str | Path],
    output: str | Path = "report.html",
    *,
    figures: str | Path | None = None,
) -> Path:
    """Write one self-contained page about runs, and with `figures` each figure to that folder; give
    the page's path."""
    from gnomon.reporting.page.page import write_report

    return write_report(_opened(runs), Path(output), figures_folder=figures)


def _opened(runs: Run | str | Path | Sequence[Run | str | Path]) -> list[Run]:
    """Runs and folders of runs, one or several, all opened."""
    from gnomon.runs import Run as Opened
    from gnomon.runs import open_runs

    several = [runs] if isinstance(runs, (Opened, str, Path)) else runs
    return [
        run
        for each in several
        for run in ([each] if isinstance(each, Opened) else open_runs([each]))
    ]


def _over_seeds(
    tables: Sequence[tuple[Table, Sequence[str]]],
    tags: Sequence[str],
    chosen: Sequence[str],
    minimum: int,
    level: float,
) -> list[Score]:
    """Measures over groups of runs that differ only in the seed: the totals of all groups, then
    their slices."""
    from gnomon.measures.seeds import by_seed, over_seeds, slices
    from gnomon.registry import measure

    own = {id(table): names for table, names in tables}
    groups = [
        (group, [measure(name) for name in chosen or own[id(group[0])]])
        for group in by_seed([table for table, _ in tables])
    ]
    found = [
        over_seeds(group, each, level=level).score for group, wanted in groups for each in wanted
    ]
    for tag in tags:
        for group, wanted in groups:
            parts = slices(group, tag, minimum)
            found += [
                over_seeds(part, each, by=tag, key=key, level=level).score
                for each in wanted
                for key, part in parts.items()
            ]
    return found


def _several(names: str | Sequence[str]) -> list[str]:
    return list(dict.fromkeys([names] if isinstance(names, str) else names))


def _check(level: float, draws: int, minimum: int = 1) -> None:
    if not 0 < level < 1:
        raise UsageError(f"The level must lie between 0 and 1, not {level}.", "For example: 0.95")
    if draws < 0 or draws == 1:
        raise UsageError(
            f"The draws must be 2 or more, or 0 for none, not {draws}.", "1000 are usual."
        )
    if minimum < 1:
        raise UsageError(f"The minimum must be 1 or more, not {minimum}.")
