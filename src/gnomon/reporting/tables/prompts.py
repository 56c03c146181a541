"""Scores over prompts as scripts and people read them: mean, median, worst, best, spread."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

from gnomon.contracts import Listing
from gnomon.measures.prompts import PromptScore
from gnomon.reporting.tables.render import render
from gnomon.reporting.tables.scores import FIELDS, PLAIN, beside_chance, interval, percent

MORE = (
    "label",
    "prompts",
    "median",
    "worst",
    "worst_prompt",
    "best",
    "best_prompt",
    "spread",
    "deviation",
)


def shown(
    scores: Sequence[PromptScore], format: str, *, plain: bool = False, level: float = 0.95
) -> str:
    """Scores over prompts in one of the formats: all fields, or a table for people."""
    if format in ("json", "csv"):
        return render(_all_fields(scores), format)
    slices: dict[str, list[PromptScore]] = {}
    for each in scores:
        slices.setdefault(each.score.by, []).append(each)
    text = "\n\n".join(render(_listing(by, part, level), format) for by, part in slices.items())
    return text.translate(PLAIN) if plain else text


def _all_fields(scores: Sequence[PromptScore]) -> Listing:
    rows = []
    for each in scores:
        fields = [getattr(each.score, field) for field in FIELDS]
        worst, best = each.worst, each.best
        extremes = (worst, each.prompt_of(worst), best, each.prompt_of(best))
        deviation = None if isnan(each.deviation) else each.deviation
        middle = (each.label, len(each.values), each.median)
        rows.append((*fields, *middle, *extremes, each.spread, deviation))
    return Listing("", (*FIELDS, *MORE), tuple(rows))


def _listing(by: str, scores: Sequence[PromptScore], level: float) -> Listing:
    told = [_verdict(each) for each in scores]
    rows = [_cells(each, by) for each in scores]
    columns = ["benchmark", "model", "measure"]
    if by:
        columns.append(by)
    columns += ["mean", f"{100 * level:g} % interval", "chance"]
    columns += ["median", "worst", "best", "spread", "prompts", "n"]
    if any(told):
        columns.append("")
        rows = [(*row, verdict) for row, verdict in zip(rows, told, strict=True)]
    return Listing("Over prompts", tuple(columns), tuple(rows))


def _verdict(each: PromptScore) -> str:
    return beside_chance(each.score.low, each.score.high, each.score.chance)


def _cells(each: PromptScore, by: str) -> tuple[Any, ...]:
    score = each.score
    cells: list[Any] = [score.benchmark, each.label, score.measure]
    if by:
        cells.append(score.key or "–")
    cells += [percent(score.value), interval(score.low, score.high), percent(score.chance)]
    cells += [percent(each.median), percent(each.worst), percent(each.best)]
    cells.append(f"{100 * each.spread:.1f}")
    return (*cells, len(each.values), score.n)
