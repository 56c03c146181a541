"""The first paragraph: what the runs say, in sentences with numbers."""

from __future__ import annotations

import numpy as np

from gnomon.measures.scoring import scores
from gnomon.measures.table import in_order
from gnomon.report.figures.groups import group_shares
from gnomon.report.figures.slices import headline_measure, tags_of
from gnomon.report.headline import Headline
from gnomon.report.study import Entrant, Study
from gnomon.report.words import counted, group_noun, listed, percentage

TELLING = 0.1  # a gap between best and worst category that is worth a sentence


def title(studies: list[Study]) -> str:
    """The heading of the page."""
    models = list(dict.fromkeys(e.run.model for study in studies for e in study.entrants))
    return f"What {models[0]} knows about space" if len(models) == 1 else f"What {len(models)} models know about space"


def sentences(study: Study, table: Headline) -> list[str]:
    """What a study shows: the best model, how consistent it is, where it is weak, and how the others compare."""
    ranked = [study.entrants[line.series] for line in table.lines if line.series >= 0]
    if not ranked or not study.items:
        return []
    best = ranked[0]
    return [part for part in (_accuracy(study, best), _weakness(study, best), _others(study, table, ranked)) if part]


def _accuracy(study: Study, e: Entrant) -> str:
    right = float(e.table.right.mean()) if len(e.table) else 0.0
    said = f"{e.label} is right on {percentage(right)} of {counted(len(e.table), 'items')} of {study.name}"
    names, share = group_shares(e.table)
    if len(names) < 3 or len(e.table) < 2 * len(names):
        return said + "."
    whole = float((share == 1).mean())
    noun = group_noun(study.base)
    joint = "and" if whole > right - 0.05 else "but"
    return f"{said}, {joint} on all items of {'only ' if whole < right - 0.2 else ''}{percentage(whole)} of its {len(names):,} {noun}."


def _weakness(study: Study, e: Entrant) -> str:
    measure = headline_measure(study.spec)
    for tag in tags_of(study):
        if tag not in e.table.tags:
            continue
        found = [s for s in scores(e.table, [measure], by=tag) if s.key and s.value is not None and s.n >= 20]
        if not 2 <= len(found) <= 40 or all(in_order(s.key)[0] == 0 for s in found):
            continue
        best, worst = max(found, key=lambda s: s.value or 0), min(found, key=lambda s: s.value or 0)
        if (best.value or 0) - (worst.value or 0) >= TELLING:
            return (f"By {tag.replace('_', ' ')} it does best on {best.key} ({percentage(best.value)}) and worst on "
                    f"{worst.key} ({percentage(worst.value)}).")
    return ""


def _others(study: Study, table: Headline, ranked: list[Entrant]) -> str:
    chance = float(np.mean([len(item.gold) / len(item.choices) for item in study.items]))
    rest = [f"{e.label} {percentage(float(e.table.right.mean()))}" for e in ranked[1:4] if len(e.table)]
    more = len(ranked) - 4
    others = f"Next: {listed(rest)}{f', and {more} more' if more > 0 else ''}; a guess would be right on {percentage(chance)}."
    if not rest:
        others = f"A guess would be right on {percentage(chance)}."
    paper = [line for line in table.lines if line.series < 0 and line.cells and line.cells[0]]
    if paper and paper[0].cells[0]:
        others += f" The best model of the paper, {paper[0].model}, has {percentage(paper[0].cells[0].value)}."
    return others
