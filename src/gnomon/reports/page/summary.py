"""The first paragraph: what the runs say, in sentences that the numbers support."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gnomon import registry
from gnomon.contracts import Measure
from gnomon.measures.accuracy import items_each
from gnomon.measures.chance import verdict
from gnomon.measures.scoring import score
from gnomon.records import Score
from gnomon.registry import role
from gnomon.reports.figures.groups import group_shares
from gnomon.reports.figures.slices import tags_of
from gnomon.reports.page.differences import differences
from gnomon.reports.page.examples import is_baseline
from gnomon.reports.page.headline import Headline
from gnomon.reports.study import Entrant, Study, all_runs
from gnomon.reports.words import axis_name, counted, listed, percentage, plain

FEW = 30  # items, below which a share in per cent pretends too much
NAMED = 3  # runs that a sentence names before it counts the rest


def title(studies: list[Study]) -> str:
    """The heading of the page."""
    runs = all_runs(studies)
    models = dict.fromkeys(run.name for run in runs if not role(run.model))
    if len(models) == 1:
        return f"What {next(iter(models))} knows about space"
    if models:
        return f"What {len(models)} models know about space"
    if any(role(run.model) == "shortcut" for run in runs):
        return "What guesses and shortcuts are worth"
    return "What guesses are worth"


def sentences(study: Study, table: Headline) -> list[str]:
    """What a study shows: the best model, where it is weak, and how the others compare."""
    ranked = table.entrants(study)
    if not ranked:
        return []
    if not study.items:
        return [f"No item of {_called(study)} names a right answer: there are no figures."]
    asked = [entrant for entrant in ranked if len(entrant.table)]
    if not asked:
        names = _first_few([entrant.label for entrant in ranked])
        return [f"Nothing of {_called(study)} has been asked of {names} yet."]

    models = [entrant for entrant in asked if not is_baseline(entrant)]
    best = (models or asked)[0]
    others = [entrant for entrant in asked if entrant is not best]
    measure = registry.measure(table.measures[0])
    figures = {line.model: line.cells[0] for line in table.lines if line.series >= 0}
    parts = [
        _result(study, best, measure, figures[best.label]),
        _weakness(study, best),
        *_others(best, others, measure, figures),
        _paper(study, table),
    ]
    return list(filter(None, parts))


def _result(study: Study, entrant: Entrant, measure: Measure, figure: Score | None) -> str:
    """The figure by which runs are ranked, and how often the model is right.

    Beside chance, and with how many groups are right throughout.
    """
    who = entrant.label
    if entrant.blind:
        who += ", asked without its pictures,"
    items = _items(study, entrant)
    if not entrant.table.answered.any():
        return f"{who} gave no answer that could be read to any of {items}."

    right = figure
    if figure and not is_share_of_items(measure):
        who += f" reaches {percentage(figure.value)} {axis_name(measure.name)} and"
        right = None
    right = right or score(entrant.table, registry.measure("accuracy"))
    share = right.value or 0.0
    count = percentage(share)
    if len(entrant.table) < FEW:
        count = f"{round(share * len(entrant.table))}"
    chance = _beside_chance(entrant, right)
    return f"{who} is right on {count} of {items}{chance}{_whole_groups(study, entrant, share)}."


def _items(study: Study, entrant: Entrant) -> str:
    """The items that a model was asked, counted."""
    name = _called(study)
    if len(entrant.table) == entrant.total:
        return f"{counted(entrant.total, 'items')} of {name}"
    asked = f"the {len(entrant.table):,} of {counted(entrant.total, 'items')}"
    return f"{asked} of {name} asked so far"


def _called(study: Study) -> str:
    """The benchmark inside a sentence."""
    if study.title == study.name:
        return plain(study.name)
    return f"“{plain(study.title)}” ({plain(study.source)})"


def _beside_chance(entrant: Entrant, right: Score) -> str:
    """What guessing gets, and on which side of it the interval of a share lies."""
    told = verdict(right.low, right.high, right.chance)
    is_guess = role(entrant.run.model) == "guess"  # by luck or not
    if is_guess or not told:
        return f" (chance: {percentage(right.chance)})"
    return f", {told} ({percentage(right.chance)})"


def is_share_of_items(measure: Measure) -> bool:
    """Whether a figure is the share of items that are right, not a mean over groups of them."""
    return measure.guessable and not measure.needs


def _whole_groups(study: Study, entrant: Entrant, share: float) -> str:
    """The share of groups that are right throughout, where items come in groups."""
    named = entrant.table.where(entrant.table.group.codes >= 0)
    names, shares = group_shares(named)
    if len(names) < 3 or len(named) < 2 * len(names) or share == 0:
        return ""
    groups = f"its {len(names):,} {study.noun} ({items_each(named)})"
    whole = float((shares == 1).mean())
    if whole == 0:
        return f", and gets none of {groups} right throughout"
    joint = "and" if whole > share - 0.05 else "but"
    only = "only " if whole < share - 0.2 else ""
    return f", {joint} gets {only}{percentage(whole)} of {groups} right throughout"


def _weakness(study: Study, entrant: Entrant) -> str:
    """Where the model does better and where worse, if a test shows it."""
    if not entrant.table.answered.any():
        return ""
    found = differences(entrant.table, tags_of(study))
    if found.gap is not None:
        gap = found.gap
        high, low = study.words(gap.tag, gap.better), study.words(gap.tag, gap.worse)
        better = f"{plain(high)} ({percentage(gap.better_share)})"
        worse = f"{plain(low)} ({percentage(gap.worse_share)})"
        return (
            f"By {study.words(gap.tag)} it does significantly better on {better} than on {worse}."
        )
    if found.tags:
        tags = listed(list(map(study.words, found.tags)), "or")
        return f"By {tags} its accuracy does not differ significantly."
    return ""


def _others(
    best: Entrant, others: list[Entrant], measure: Measure, figures: Mapping[str, Score | None]
) -> list[str]:
    """The other runs: those on the same items, and then those that were asked others."""
    same, apart = [], []
    for entrant in others:
        figure = figures[entrant.label]
        value = figure.value if figure else None
        told = f"{entrant.label} {percentage(value)}"
        if (entrant.asked == best.asked).all():
            same.append(told)
        else:
            apart.append(f"{told} of {len(entrant.table):,}")

    by = "" if is_share_of_items(measure) else f", by {axis_name(measure.name)}"
    said = []
    if same:
        said.append(f"On the same items{by}: {_first_few(same)}.")
    if apart:
        said.append(f"On other items, and so not ranked with it{by}: {_first_few(apart)}.")
    return said


def _first_few(parts: Sequence[str]) -> str:
    """The first few in a row, and how many more there are.

    >>> _first_few(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    if len(parts) <= NAMED:
        return listed(parts)
    return listed([*parts[:NAMED], f"{len(parts) - NAMED} more"])


def _paper(study: Study, table: Headline) -> str:
    """The paper's best model and, where it has them, people."""
    parts = []
    model = _best_published(table, "model")
    if model:
        by = "" if model.measure == "accuracy" else f" by {axis_name(model.measure)}"
        parts.append(f"the best model, {model.name}, reaches {percentage(model.value)}{by}")
    people = _best_published(table, "human")
    if people:
        parts.append(f"people reach {percentage(people.value)}")
    if not parts:
        return ""
    where = "In the paper, on its own items,"
    if study.name.endswith("@published"):
        where = "In the paper"
    return f"{where} {' and '.join(parts)}."


class _Best(NamedTuple):
    """A figure of a paper."""

    value: float
    measure: str
    name: str


def _best_published(table: Headline, kind: str) -> _Best | None:
    """The highest figure of models or of people, by the first measure or by accuracy."""
    wanted = {"accuracy"}
    if registry.measure(table.measures[0]).better == "higher":
        wanted.add(table.measures[0])
    found = []
    for line in table.lines:
        if line.kind != kind:
            continue
        for cell in filter(None, line.cells):
            if cell.measure in wanted and cell.value is not None:
                found.append(_Best(cell.value, cell.measure, line.model))
    return max(found, key=lambda best: best.value, default=None)
