"""The hardest and the easiest groups over several models (spatialQA, Figures 9 and 10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gnomon.reports.charts.captionedbars import CaptionedBar, captioned_bars
from gnomon.reports.figures import Figure, grouped
from gnomon.reports.figures.groups import group_shares, sizeable
from gnomon.reports.figures.sizes import sized_models
from gnomon.reports.figures.slices import tags_of
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import plain

EACH = 3  # groups of a category, as in the paper
ALONE = 10  # groups where there are no categories
MOST_CATEGORIES = 8


class Group(NamedTuple):
    """A group with what the models make of it."""

    category: str
    name: str
    shares: tuple[float, ...]  # each model's accuracy on it
    items: int
    example: str

    @property
    def mean(self) -> float:
        """The mean accuracy over the models."""
        return sum(self.shares) / len(self.shares)


def hard_and_easy(study: Study) -> Iterator[Figure]:
    """Groups by their mean accuracy: the lowest of each category, then the highest."""
    models = judges(study)
    if len(models) < 2:
        return
    tag = next(iter(tags_of(study)), "")
    found = _groups(study, models, tag)
    by_category = grouped(found, lambda group: group.category)
    count = EACH if len(by_category) > 1 else ALONE
    if len(by_category) > MOST_CATEGORIES or len(found) < 2 * count:
        return
    hardest, easiest = [], []
    for own in by_category.values():
        ranked = sorted(own, key=lambda group: (group.mean, group.name))
        hardest += ranked[:count]
        easiest += ranked[: -count - 1 : -1]
    yield _figure(study, "hardest", tag, models, found, hardest)
    yield _figure(study, "easiest", tag, models, found, easiest)


def judges(study: Study) -> list[Entrant]:
    """The models whose accuracies are averaged, all on the same items.

    They are the largest of each family where sizes are known, else all that are not baselines.
    """
    largest = {model.family: model.entrant for model in sized_models(study)}
    if len(largest) > 1:
        return [entrant for entrant in largest.values() if sizeable(entrant.table)]
    found = []
    for i in study.item_sets()[0] if study.entrants else ():
        entrant = study.entrants[i]
        if not entrant.is_baseline and sizeable(entrant.table):
            found.append(entrant)
    return found


def _groups(study: Study, models: Sequence[Entrant], tag: str) -> list[Group]:
    """The groups by name, with an example and the category of their first item."""
    items = grouped(study.items, lambda item: item.group)
    shares: list[tuple[str, float]] = []
    for entrant in models:
        names, found = group_shares(entrant.table)
        shares += zip(names, found.tolist(), strict=True)
    groups = []
    for name, own in grouped(shares, lambda pair: pair[0]).items():
        first = items[name][0]
        example = " → ".join(filter(None, (first.context, first.text)))
        each = tuple(share for _, share in own)
        groups.append(Group(first.tags.get(tag, ""), name, each, len(items[name]), example))
    return groups


def _figure(
    study: Study,
    which: str,
    tag: str,
    models: Sequence[Entrant],
    found: Sequence[Group],
    chosen: Sequence[Group],
) -> Figure:
    noun = study.noun
    drawn = []
    for group in chosen:
        low, high = min(group.shares), max(group.shares)
        example = plain(group.example)
        heading = study.words(tag, group.category)
        drawn.append(CaptionedBar(heading, group.name, example, group.mean, low, high))
    rows = []
    for group in sorted(found, key=lambda group: group.mean):
        low, high = min(group.shares), max(group.shares)
        rows.append((group.category, group.name, group.mean, low, high, group.items, group.example))
    where = f"by {study.words(tag)} " if tag else ""
    names = ", ".join(entrant.label for entrant in models)
    ends = "; ".join(f"{group.name} {100 * group.mean:.0f} %" for group in chosen)
    return Figure(
        name=f"{which}-groups",
        title=f"The {which} {noun} over {len(models)} models",
        caption=f"Mean accuracy on the {which} {noun} {where}over {names}; the thin line spans the "
        "models. The table behind the figure holds all of them, each with an example.",
        description=f"Bars. {ends}.",
        body=captioned_bars(drawn, "mean accuracy"),
        columns=(
            tag or "category",
            "group",
            "mean accuracy",
            "lowest",
            "highest",
            "items",
            "example",
        ),
        rows=tuple(rows),
        detail=True,
    )
