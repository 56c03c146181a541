"""The first paragraph: what the runs say, in sentences with numbers."""

from __future__ import annotations

from gnomon import registry
from gnomon.measures.scoring import scores
from gnomon.measures.table import in_order
from gnomon.report.examples import is_baseline
from gnomon.report.figures.groups import group_shares
from gnomon.report.figures.slices import chance, headline_measure, tags_of
from gnomon.report.headline import Headline
from gnomon.report.study import Entrant, Study
from gnomon.report.words import counted, group_noun, listed, model_name, percentage, plain

TELLING = 0.1  # a gap between best and worst category that is worth a sentence


def title(studies: list[Study]) -> str:
    """The heading of the page."""
    entrants = [e for study in studies for e in study.entrants]
    models = list(
        dict.fromkeys(model_name(e.run.model) for e in [e for e in entrants if not is_baseline(e)] or entrants)
    )
    return f"What {models[0]} knows about space" if len(models) == 1 else f"What {len(models)} models know about space"


def sentences(study: Study, table: Headline) -> list[str]:
    """What a study shows: the best model, how consistent it is, where it is weak, and how the others compare."""
    ranked = [study.entrants[line.series] for line in table.lines if line.series >= 0]
    if not ranked or not study.items:
        return []
    best = next((e for e in ranked if not is_baseline(e)), ranked[0])
    others = [e for e in ranked if e is not best]
    parts = (_accuracy(study, best), _weakness(study, best), _others(others), _paper(table))
    return [part for part in parts if part]


def _accuracy(study: Study, e: Entrant) -> str:
    """Accuracy beside guessing and, where items come in groups, the share of groups that are right throughout."""
    found = scores(e.table, [registry.measure("accuracy")])[0]
    right, guess = found.value or 0.0, chance(study)
    beyond = "no better than a guess" if found.low is not None and found.low <= guess else "a guess"
    said = (
        f"{e.label} is right on {percentage(right)} of {counted(len(e.table), 'items')} of {plain(study.name)} "
        f"({beyond}: {percentage(guess)})"
    )
    names, share = group_shares(e.table)
    if len(names) < 3 or len(e.table) < 2 * len(names):
        return said + "."
    whole = float((share == 1).mean())
    noun = group_noun(study.base)
    if whole == 0:
        return f"{said}, but on all items of none of its {len(names):,} {noun}."
    joint = "and" if whole > right - 0.05 else "but"
    only = "only " if whole < right - 0.2 else ""
    return f"{said}, {joint} on all items of {only}{percentage(whole)} of its {len(names):,} {noun}."


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
            return (
                f"By {tag.replace('_', ' ')} it does best on {plain(best.key)} ({percentage(best.value)}) and worst on "
                f"{plain(worst.key)} ({percentage(worst.value)})."
            )
    return ""


def _others(others: list[Entrant]) -> str:
    rest = [f"{e.label} on {percentage(float(e.table.right.mean()))}" for e in others[:3] if len(e.table)]
    more = len(others) - 3
    if more > 0:
        rest.append(f"{more} more")
    return f"Beside it: {listed(rest)}." if rest else ""


def _paper(table: Headline) -> str:
    """The paper's best model and, where it has them, people."""
    paper = [(line.model, line.cells[0]) for line in table.lines if line.series < 0 and line.cells]
    models = [(name, cell) for name, cell in paper if cell and "human" not in name.lower()]
    people = [cell for name, cell in paper if cell and "human" in name.lower()]
    measure = "" if table.measures[0] == "accuracy" else f" by {table.measures[0].replace('_', ' ')}"
    parts = []
    if models:
        parts.append(f"the best model of the paper, {models[0][0]}, reaches {percentage(models[0][1].value)}{measure}")
    if people:
        parts.append(f"people reach {percentage(people[0].value)}")
    said = ", ".join(parts)
    return said[:1].upper() + said[1:] + "." if said else ""
