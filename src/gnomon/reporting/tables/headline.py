"""Scores as a small table for the terminal: percentages with their intervals, and a bar for the
eye."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.contracts import Listing
from gnomon.records import Score
from gnomon.reporting.tables.render import render

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def headline(scores: Sequence[Score], *, width: int | None = None) -> str:
    """One line for each benchmark, model and measure over all items."""
    rows = tuple(
        (
            s.benchmark,
            s.model,
            s.measure,
            percent(s.value),
            interval(s),
            bar(s.value),
            s.n,
            s.clusters,
        )
        for s in scores
        if not s.by
    )
    columns = ("benchmark", "model", "measure", "score", "95 % interval", "", "items", "clusters")
    return render(Listing("", columns, rows), width=width)


def percent(value: float | None) -> str:
    """A fraction as people write it.

    >>> percent(0.6105), percent(None)
    ('61.1 %', '–')
    """
    return "–" if value is None else f"{100 * value + 1e-9:.1f} %"


def interval(score: Score) -> str:
    """The interval in percent, or a dash where there is none."""
    if score.low is None or score.high is None:
        return "–"
    return f"{100 * score.low:.1f} – {100 * score.high:.1f}"


def bar(value: float | None, cells: int = 10) -> str:
    """A bar of ten cells, in eighths of a cell.

    >>> bar(0.5)
    '█████'
    """
    if value is None:
        return ""
    eighths = round(min(max(value, 0.0), 1.0) * cells * 8)
    return (_EIGHTHS[8] * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
