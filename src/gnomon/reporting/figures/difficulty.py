"""The hardest and the easiest groups over several models (spatialQA, Figures 9 and 10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gnomon.records import Item
from gnomon.registry import role
from gnomon.reporting.charts.captionedbars import CaptionedBar, captioned_bars
from gnomon.reporting.figures import Figure, words
from gnomon.reporting.figures.groups import group_shares, sizeable
from gnomon.reporting.figures.sizes import sized_models
from gnomon.reporting.figures.slices import tags_of
from gnomon.reporting.study import Entrant, Study
from gnomon.reporting.words import plain

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
    categories = list(dict.fromkeys(group.category for group in found))
    if len(categories) > MOST_CATEGORIES:
        return
    count = EACH if len(categories) > 1 else ALONE
    if len(found) < 2 * count:
        return
    for name, sign in (("hardest", 1), ("easiest", -1)):
        chosen = []
        for category in categories:
            own = [group for group in found if group.category == category]
            own.sort(key=lambda group: (sign * group.mean, group.name))
            chosen += own[:count]
        yield _figure(study, name, tag, models, found, chosen)


def judges(study: Study) -> list[Entrant]:
    """The models whose accuracies are averaged, all on the same items: the largest of each family
    where sizes are known, else all that are no baselines."""
    largest = {model.family: model.entrant for model in sized_models(study)}
    if len(largest) > 1:
        return [entrant for entrant in largest.values() if sizeable(entrant.table)]
    found = []
    for i in study.item_sets()[0] if study.entrants else ():
        entrant = study.entrants[i]
        if not role(entrant.run.model) and sizeable(entrant.table):
            found.append(entrant)
    return found


def _groups(study: Study, models: Sequence[Entrant], tag: str) -> list[Group]:
    """The groups by name, with an example and the category of their first item."""
    first: dict[str, Item] = {}
    sizes: dict[str, int] = {}
    for item in study.items:
        if item.group:
            first.setdefault(item.group, item)
            sizes[item.group] = sizes.get(item.group, 0) + 1
    shares: dict[str, list[float]] = {}
    for entrant in models:
        names, found = group_shares(entrant.table)
        for name, share in zip(names, found.tolist(), strict=True):
            shares.setdefault(name, []).append(share)
    groups = []
    for name, own in shares.items():
        item = first[name]
        example = " → ".join(filter(None, (item.context, item.text)))
        category = item.tags.get(tag, "")
        groups.append(Group(category, name, tuple(own), sizes[name], example))
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
        drawn.append(CaptionedBar(group.category, group.name, example, group.mean, low, high))
    rows = []
    for group in sorted(found, key=lambda group: group.mean):
        low, high = min(group.shares), max(group.shares)
        rows.append((group.category, group.name, group.mean, low, high, group.items, group.example))
    where = f"of each {words(tag)} " if tag else ""
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
    )
