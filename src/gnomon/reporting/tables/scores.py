"""Scores as scripts and people read them: every field as it is, or one small table for each slice.

Runs of one model are told apart by a label: in JSON and CSV beside the run's folder and seed, in
tables by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.contracts import Listing
from gnomon.records import Score

FIELDS = (
    "benchmark",
    "model",
    "measure",
    "by",
    "key",
    "value",
    "low",
    "high",
    "n",
    "clusters",
    "run",
)


class Shown(NamedTuple):
    """A score with what tells its run apart from others of the same model on the same benchmark."""

    score: Score
    label: str
    seed: Any = None


def shown(scores: Sequence[Shown], format: str, *, plain: bool = False, level: float = 0.95) -> str:
    """Scores in one of the formats: the fields as they are, or tables for people, one for each
    slice."""
    from gnomon.reporting.tables.render import render

    if format in ("json", "csv"):
        rows = tuple(
            (*(getattr(each.score, field) for field in FIELDS), each.label, each.seed)
            for each in scores
        )
        return render(Listing("", (*FIELDS, "label", "seed"), rows), format)
    parts: dict[str, list[Shown]] = {}
    for each in scores:
        parts.setdefault(each.score.by, []).append(each)
    if format == "table" and not plain:
        return "\n\n".join(_with_bars(by, part, level) for by, part in parts.items())
    text = "\n\n".join(
        render(_listing(by, part, level, bars=False), format) for by, part in parts.items()
    )
    return text.translate(str.maketrans("─–·…", "---.")) if plain else text


def too_wide(text: str) -> bool:
    """Whether a table would be cut by the terminal; a file or a pipe cuts nothing."""
    from gnomon.reporting.tables.render import terminal_width

    return max(map(len, text.splitlines())) > terminal_width()


def _with_bars(by: str, scores: Sequence[Shown], level: float) -> str:
    """A table for the terminal. Where it is too narrow the bars go, then each benchmark gets a
    table of its own, before any name is cut."""
    from gnomon.reporting.tables.render import UNCUT, render

    for bars in (True, False):
        whole = render(_listing(by, scores, level, bars=bars), width=UNCUT)
        if not too_wide(whole):
            return whole
    parts: dict[str, list[Shown]] = {}
    for each in scores:
        parts.setdefault(each.score.benchmark, []).append(each)
    if len(parts) > 1:
        return "\n\n".join(_with_bars(by, part, level) for part in parts.values())
    return render(_listing(by, scores, level, bars=False))


def _listing(by: str, scores: Sequence[Shown], level: float, *, bars: bool) -> Listing:
    """One row a score. A benchmark or model that all rows share stands in the title; the share that
    is consistent and right stands beside the share that is consistent."""
    from gnomon.reporting.tables.headline import bar, interval, percent

    names = [(each.score.benchmark, each.label) for each in scores]
    kept = [i for i in (0, 1) if len({name[i] for name in names}) > 1]
    pairs = _with_their_twins(scores)
    twins = any(twin for _, twin in pairs)
    columns = (
        *(("benchmark", "model")[i] for i in kept),
        "measure",
        *([by] if by else []),
        "score",
        f"{100 * level:g} % interval",
        *([""] if bars else []),
        *(["and right"] if twins else []),
        "n",
        "clusters",
    )
    rows = tuple(
        (
            *((each.score.benchmark, each.label)[i] for i in kept),
            each.score.measure,
            *([each.score.key or "–"] if by else []),
            percent(each.score.value),
            interval(each.score),
            *([bar(each.score.value)] if bars else []),
            *([percent(twin.value) if twin else ""] if twins else []),
            each.score.n,
            each.score.clusters,
        )
        for each, twin in pairs
    )
    return Listing(" · ".join(names[0][i] for i in (0, 1) if i not in kept), columns, rows)


def _with_their_twins(scores: Sequence[Shown]) -> list[tuple[Shown, Score | None]]:
    """Each score with the one of its twin, which then has no row of its own."""
    found = {
        (each.score.benchmark, each.label, each.score.measure, each.score.key): each
        for each in scores
    }
    twins = {key: found.get((*key[:2], key[2] + "_and_right", key[3])) for key in found}
    folded = {id(twin) for twin in twins.values()}
    return [
        (each, twin.score if (twin := twins[key]) else None)
        for key, each in found.items()
        if id(each) not in folded
    ]
