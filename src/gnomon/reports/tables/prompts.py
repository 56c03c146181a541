"""Scores over prompts as scripts and people read them: mean, median, worst, best, spread."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import astuple

from gnomon.contracts import Listing
from gnomon.grouped import grouped
from gnomon.measures.prompts import PromptScore
from gnomon.reports.tables.scores import FIELDS, PLAIN, beside_chance
from gnomon.reports.words import interval, known, percent
from gnomon.tabular import Field, listing_of, render

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
    slices = grouped(scores, lambda each: each.score.by)
    text = "\n\n".join(render(_listing(by, part, level), format) for by, part in slices.items())
    return text.translate(PLAIN) if plain else text


def _all_fields(scores: Sequence[PromptScore]) -> Listing:
    rows = []
    for each in scores:
        worst, best = each.worst, each.best
        extremes = (worst, each.prompt_of(worst), best, each.prompt_of(best))
        middle = (each.label, len(each.values), each.median)
        spread = (each.spread, known(each.deviation))
        rows.append((*astuple(each.score), *middle, *extremes, *spread))
    return Listing("", (*FIELDS, *MORE), tuple(rows))


def _listing(by: str, scores: Sequence[PromptScore], level: float) -> Listing:
    wide = f"{100 * level:g} % interval"
    fields = (
        Field("benchmark", lambda each: each.score.benchmark),
        Field("model", lambda each: each.label),
        Field("measure", lambda each: each.score.measure),
        Field(by, lambda each: each.score.key or "–", bool(by)),
        Field("mean", lambda each: percent(each.score.value)),
        Field(wide, lambda each: interval(each.score.low, each.score.high)),
        Field("chance", lambda each: percent(each.score.chance)),
        Field("median", lambda each: percent(each.median)),
        Field("worst", lambda each: percent(each.worst)),
        Field("best", lambda each: percent(each.best)),
        Field("spread", lambda each: f"{100 * each.spread:.1f}"),
        Field("prompts", lambda each: len(each.values)),
        Field("n", lambda each: each.score.n),
        Field("", _verdict, any(map(_verdict, scores))),
    )
    return listing_of("Over prompts", fields, scores)


def _verdict(each: PromptScore) -> str:
    return beside_chance(each.score.low, each.score.high, each.score.chance)
