"""Examples: groups as a model solved them, and the same facts in several forms."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gnomon.measures.intervals import interval
from gnomon.measures.statistics import mean_of
from gnomon.records import Item
from gnomon.reports.pictures import Album, paints
from gnomon.reports.study import Entrant, Places, Study
from gnomon.reports.words import clip, percentage

MODELS, GROUPS, SHOWN = 3, 3, 3  # that are shown: models, groups of each sort, items of each
NAME, TAG = 80, 60  # characters that are shown


class ExampleGroup(NamedTuple):
    """One group with a few of its items, by their places, and their pictures."""

    name: str
    about: str
    share: float
    size: int
    examples: tuple[tuple[int, tuple[str, ...]], ...]


# of a model, by the sort (best, worst, least consistent)
Gallery = Mapping[str, Sequence[ExampleGroup]]


def galleries(
    study: Study, entrants: Sequence[Entrant], album: Album
) -> list[tuple[Entrant, Gallery]]:
    """The telling groups of the first few models; single items where there are no groups."""
    entrants = [entrant for entrant in entrants if not paints(entrant)]  # who have walls
    models = [entrant for entrant in entrants if not entrant.is_baseline]
    groups = study.groups()
    shown: list[tuple[Entrant, Gallery]] = []
    for entrant in (models or entrants)[:MODELS]:
        examples = _Examples(study, entrant, album)
        asked = {name: places[entrant.asked[places]] for name, places in groups.items()}
        several = {name: places for name, places in asked.items() if len(places) > 1}
        found = examples.of_groups(several) if len(several) >= 3 else examples.of_items()
        known = {sort: chosen for sort, chosen in found.items() if chosen}
        if known:
            shown.append((entrant, known))
    return shown


class _Examples(NamedTuple):
    """What one model made of a study, on a page with an album."""

    study: Study
    entrant: Entrant
    album: Album

    def of_groups(self, groups: Mapping[str, Places]) -> Gallery:
        """The groups with the most and the fewest right answers, and those between."""
        names = list(groups)
        share = np.array([self.entrant.right[places].mean() for places in groups.values()])
        sure = np.array([self._mean_gold(places) for places in groups.values()])
        size = np.array([len(places) for places in groups.values()])
        between = np.lexsort((-size, np.abs(share - 0.5)))
        sorts = {
            "Best": (np.lexsort((-sure, -share)), share > 0.5),
            "Worst": (np.lexsort((sure, share)), share < 0.5),
            "Least consistent": (between, (share > 0) & (share < 1)),
        }
        sorted_groups = {}
        for sort, (order, fits) in sorts.items():
            chosen = [names[i] for i in order[fits[order]][:GROUPS]]
            sorted_groups[sort] = [self._group(name, groups[name]) for name in chosen]
        return sorted_groups

    def _mean_gold(self, places: Places) -> float:
        """What the model gave the right answers on average; 0 without scores."""
        known = self.entrant.gold[places]
        known = known[np.isfinite(known)]
        return float(known.mean()) if len(known) else 0.0

    def of_items(self) -> Gallery:
        """Where items stand alone: the surest right and the surest wrong answers."""
        asked = np.flatnonzero(self.entrant.asked)
        sure = np.nan_to_num(self.entrant.sure[asked])
        ranked = asked[np.argsort(-sure, kind="stable")]
        right = self.entrant.right[ranked]
        sorts = {
            "Surest right answers": ranked[right],
            "Surest wrong answers": ranked[~right],
        }
        found = {}
        for sort, places in sorts.items():
            shown = places[: GROUPS * 2].tolist()
            found[sort] = [self._shown(self.study.items[i].id, [i], [i]) for i in shown]
        return found

    def _group(self, name: str, places: Places) -> ExampleGroup:
        """A group with right and wrong items, so that a mixed one shows both."""
        rights = places[self.entrant.right[places]].tolist()
        wrongs = places[~self.entrant.right[places]].tolist()
        more, fewer = (rights, wrongs) if len(rights) > len(wrongs) else (wrongs, rights)
        shown = more[: SHOWN - len(fewer[:1])] + fewer[:1]
        return self._shown(name, places.tolist(), shown)

    def _shown(self, name: str, places: list[int], shown: list[int]) -> ExampleGroup:
        items = self.study.items
        share = float(self.entrant.right[places].mean())
        examples = tuple((i, self.album.thumbnails(items[i])) for i in shown)
        about = self._about(items[places[0]])
        return ExampleGroup(clip(name, NAME), about, share, len(places), examples)

    def _about(self, item: Item) -> str:
        """The tags of an item that say most about it."""
        tags = self.study.slices or tuple(item.tags)[:2]
        parts = []
        for tag in tags[:3]:
            value = item.tags.get(tag, "")
            said = self.study.words(tag, value) if value else ""
            if said.isdigit() or said in ("yes", "no"):  # which say nothing by themselves
                said = f"{self.study.words(tag)}: {said}"
            if said:
                parts.append(clip(said, TAG))
        return " · ".join(parts)


# The same facts in several forms: what one model says, another paints and a third sees.
#
# A fact is a group of the benchmark. It counts as right in a form if most of its items in that
# form are.


LEAST = 5  # facts in common, below which nothing is said
FORM_VERBS = {"scene": "painted", "caption": "seen"}  # of the others: said


class _FactsTold(NamedTuple):
    """Which facts a model has right in a form."""

    label: str
    form: str
    right: dict[str, bool]


class SameFacts(NamedTuple):
    """How far two models agree on the facts that both were asked, in two forms."""

    first: str
    second: str
    facts: int
    both: str
    one: str  # by one of them alone
    neither: str
    agree: str
    between: str


def same_facts(study: Study) -> list[SameFacts]:
    """Each two models that were asked the same facts in different forms."""
    told = []
    for entrant in study.entrants:
        told += _told(study, entrant)
    found = []
    for one, other in combinations(told, 2):
        common = [fact for fact in one.right if fact in other.right]
        if one.form != other.form and len(common) >= LEAST:
            found.append(_compared(one, other, common))
    return found


def _told(study: Study, entrant: Entrant) -> list[_FactsTold]:
    """The facts that a model has right, form by form."""
    forms: dict[str, dict[str, list[bool]]] = {}
    for fact, where in study.groups().items():
        for i in where[entrant.asked[where]].tolist():
            form = study.items[i].form
            forms.setdefault(form, {}).setdefault(fact, []).append(bool(entrant.right[i]))
    found = []
    for form, facts in forms.items():
        right = {fact: 2 * sum(rights) > len(rights) for fact, rights in facts.items()}
        found.append(_FactsTold(entrant.label, form, right))
    return found


def _compared(one: _FactsTold, other: _FactsTold, common: list[str]) -> SameFacts:
    first = np.array([one.right[fact] for fact in common])
    second = np.array([other.right[fact] for fact in common])
    agree = interval(mean_of(first == second, np.arange(len(common))))
    return SameFacts(
        first=_named(one),
        second=_named(other),
        facts=len(common),
        both=percentage(float((first & second).mean())),
        one=percentage(float((first != second).mean())),
        neither=percentage(float((~first & ~second).mean())),
        agree=percentage(agree.value),
        between=f"{percentage(agree.low)} to {percentage(agree.high)}",
    )


def _named(told: _FactsTold) -> str:
    return f"{told.label}, {FORM_VERBS.get(told.form, 'said')} ({told.form})"
