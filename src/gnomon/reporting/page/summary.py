"""The first paragraph: what the runs say, in sentences with numbers. Each must be true of what the
numbers support."""

from __future__ import annotations

from gnomon import registry
from gnomon.measures.grouping import items_each
from gnomon.measures.scoring import scores
from gnomon.registry import role
from gnomon.reporting.figures.groups import group_shares
from gnomon.reporting.figures.slices import guess, tags_of
from gnomon.reporting.page.differences import differences
from gnomon.reporting.page.examples import is_baseline
from gnomon.reporting.page.headline import Headline
from gnomon.reporting.study import Entrant, Study
from gnomon.reporting.words import counted, listed, model_name, percentage, plain

FEW = 30  # items, below which a share in per cent pretends too much


def title(studies: list[Study]) -> str:
    """The heading of the page."""
    entrants = [e for study in studies for e in study.entrants]
    models = list(dict.fromkeys(model_name(e.run.model) for e in entrants if not is_baseline(e)))
    if not models:
        learnt = any(role(e.run.model) == "shortcut" for e in entrants)
        return "What guesses and shortcuts are worth" if learnt else "What guesses are worth"
    return (
        f"What {models[0]} knows about space"
        if len(models) == 1
        else f"What {len(models)} models know about space"
    )


def sentences(study: Study, table: Headline) -> list[str]:
    """What a study shows: the best model, how consistent it is, where it is weak, and how the
    others compare."""
    ranked = [study.entrants[line.series] for line in table.lines if line.series >= 0]
    if not ranked or not study.items:
        return []
    asked = [e for e in ranked if len(e.table)]
    if not asked:
        verb = "was" if len(ranked) == 1 else "were"
        named = listed([*(e.label for e in ranked[:3]), *_more(ranked)])
        return [f"{named} {verb} not asked anything of {plain(study.name)} yet."]
    best = next((e for e in asked if not is_baseline(e)), asked[0])
    others = [e for e in asked if e is not best]
    parts = (
        _accuracy(study, best),
        _weakness(study, best),
        *_others(study, best, others),
        _paper(study, table),
    )
    return [part for part in parts if part]


def _accuracy(study: Study, e: Entrant) -> str:
    """Accuracy beside guessing and, where items come in groups, the share of groups that are right
    throughout."""
    items = counted(len(e.table), "items")
    if len(e.table) < e.total:
        items = f"the {len(e.table):,} of {counted(e.total, 'items')}"
    of = f"{items} of {plain(study.name)}" + (" asked so far" if len(e.table) < e.total else "")
    if not e.table.answered.any():
        return f"{e.label} gave no answer that could be read to any of {of}."
    found = scores(e.table, [registry.measure("accuracy")])[0]
    right = found.value or 0.0
    count = (
        f"{int(e.table.right.sum())} of {of}"
        if len(e.table) < FEW
        else f"{percentage(right)} of {of}"
    )
    low, high = (
        (None, None) if e.run.model == "random" else (found.low, found.high)
    )  # it is a guess, by luck or not
    said = f"{e.label} is right on {count} ({_against(guess(e.table), low, high)})"
    named = e.table.where(e.table.group.codes >= 0)
    names, share = group_shares(named)
    if len(names) < 3 or len(named) < 2 * len(names) or right == 0:
        return said + "."
    whole, noun = float((share == 1).mean()), f"{study.noun} ({items_each(named)})"
    if whole == 0:
        return f"{said}, but on all items of none of its {len(names):,} {noun}."
    joint = "and" if whole > right - 0.05 else "but"
    only = "only " if whole < right - 0.2 else ""
    return (
        f"{said}, {joint} on all items of {only}{percentage(whole)} of its {len(names):,} {noun}."
    )


def _against(chance: float, low: float | None, high: float | None) -> str:
    """What a guess is worth, and whether the interval of the accuracy lies above it, below it or
    about it.

    >>> _against(0.5, 0.6, 0.9), _against(0.5, 0.3, 0.6), _against(0.5, None, None)
    ('better than a guess: 50\xa0%', 'not to be told from a guess: 50\xa0%', 'a guess: 50\xa0%')
    """
    if low is None or high is None:
        verdict = "a guess"
    elif low > chance:
        verdict = "better than a guess"
    else:
        verdict = "worse than a guess" if high < chance else "not to be told from a guess"
    return f"{verdict}: {percentage(chance)}"


def _weakness(study: Study, e: Entrant) -> str:
    """Where the model does better and where worse, as far as that is no chance."""
    if not e.table.answered.any():
        return ""
    found = differences(e.table, tags_of(study))
    if found.gap is None:
        tags = [tag.replace("_", " ") for tag in found.tags]
        return (
            f"By {listed(tags, 'or')} its accuracy does not differ beyond chance." if tags else ""
        )
    gap = found.gap
    better = f"{plain(gap.better)} ({percentage(gap.better_share)})"
    worse = f"{plain(gap.worse)} ({percentage(gap.worse_share)})"
    return (
        f"By {gap.tag.replace('_', ' ')} it does better on {better} than on {worse}, beyond chance."
    )


def _others(study: Study, best: Entrant, others: list[Entrant]) -> list[str]:
    """The other runs: those on the same items, and then those that were asked others."""
    same = [e for e in others if (e.asked == best.asked).all()]
    apart = [e for e in others if not (e.asked == best.asked).all()]
    said = []
    if same:
        told = [f"{e.label} on {percentage(float(e.table.right.mean()))}" for e in same[:3]]
        where = "Beside it, on the same items" if apart else "Beside it"
        said.append(f"{where}: {listed([*told, *_more(same)])}.")
    if apart:
        told = [
            f"{e.label} on {percentage(float(e.table.right.mean()))} of {len(e.table):,}"
            for e in apart[:3]
        ]
        said.append(
            f"On other items, and not to be ranked with it: {listed([*told, *_more(apart)])}."
        )
    return said


def _more(entrants: list[Entrant]) -> list[str]:
    return [f"{len(entrants) - 3} more"] if len(entrants) > 3 else []


def _paper(study: Study, table: Headline) -> str:
    """The paper's best model and, where it has them, people: by the first measure or by accuracy,
    whichever is more."""
    columns = [j for j, name in enumerate(table.measures) if j == 0 or name == "accuracy"]
    cells = [
        (line.model, j, line.cells[j]) for line in table.lines if line.series < 0 for j in columns
    ]
    paper = [
        (cell.value, -j, name)
        for name, j, cell in cells
        if cell is not None and cell.value is not None
    ]
    models = [found for found in paper if "human" not in found[2].lower()]
    people = [found for found in paper if "human" in found[2].lower()]
    parts = []
    if models:
        value, column, name = max(models)
        measure = table.measures[-column]
        by = "" if measure == "accuracy" else f" by {measure.replace('_', ' ')}"
        parts.append(f"the best model, {name}, reaches {percentage(value)}{by}")
    if people:
        parts.append(f"people reach {percentage(max(people)[0])}")
    where = (
        "In the paper" if study.name.endswith("@published") else "In the paper, on its own items,"
    )
    return f"{where} {' and '.join(parts)}." if parts else ""
