"""Examples: groups as a model solved them, and the same facts in several forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.measures.intervals import interval
from gnomon.measures.statistics import mean_of
from gnomon.records import Item
from gnomon.reports.page.items import pictures
from gnomon.reports.pictures import Album, paints
from gnomon.reports.study import Entrant, Places, Study
from gnomon.reports.words import clip, percentage

GROUPS, SHOWN = 3, 3  # groups of each sort, items of each group
TEXT, NAME, TAG = 420, 80, 60  # characters that are shown


class _Example(NamedTuple):
    """One item with what the model made of it."""

    context: str
    text: str
    gold: str
    said: str
    right: bool
    chance: str  # what the model gave the right answer; empty without scores
    reply: str
    image: str
    thumbnails: tuple[str, ...]
    way: str  # in which the fact is put, where it is put in several


class ExampleGroup(NamedTuple):
    """One group with a few of its items."""

    name: str
    about: str
    share: float
    size: int
    examples: tuple[_Example, ...]


class ExampleGallery(NamedTuple):
    """Groups of one sort for one model."""

    model: str
    sort: str  # best, worst, least consistent
    groups: tuple[ExampleGroup, ...]


def galleries(
    study: Study, entrants: Sequence[Entrant], album: Album, most: int = 3
) -> list[ExampleGallery]:
    """The telling groups of the first few models; single items where there are no groups."""
    entrants = [entrant for entrant in entrants if not paints(entrant)]  # who have walls
    models = [entrant for entrant in entrants if not entrant.is_baseline]
    groups = study.groups()
    shown: list[ExampleGallery] = []
    for entrant in (models or entrants)[:most]:
        examples = _Examples(study, entrant, album)
        asked = _asked_groups(entrant, groups)
        shown += examples.of_groups(asked) if len(asked) >= 3 else examples.of_items()
    return [gallery for gallery in shown if gallery.groups]


def _asked_groups(entrant: Entrant, groups: Mapping[str, Places]) -> dict[str, Places]:
    """The groups of which a model was asked two items or more."""
    asked = {}
    for name, places in groups.items():
        mine = places[entrant.asked[places]]
        if len(mine) > 1:
            asked[name] = mine
    return asked


class _Examples(NamedTuple):
    """What one model made of a study, on a page with an album."""

    study: Study
    entrant: Entrant
    album: Album

    def of_groups(self, groups: Mapping[str, Places]) -> list[ExampleGallery]:
        """The groups with the most and the fewest right answers, and those between."""
        names = list(groups)
        share = np.array([self.entrant.right[places].mean() for places in groups.values()])
        sure = np.array([self._mean_gold(places) for places in groups.values()])
        size = np.array([len(places) for places in groups.values()])
        sorts = {
            "Best": (np.lexsort((-sure, -share)), share > 0.5),
            "Worst": (np.lexsort((sure, share)), share < 0.5),
            "Least consistent": (
                np.lexsort((-size, np.abs(share - 0.5))),
                (share > 0) & (share < 1),
            ),
        }
        sorted_groups = []
        for sort, (order, fits) in sorts.items():
            chosen = order[fits[order]][:GROUPS]
            shown = [self._group(names[i], groups[names[i]]) for i in chosen]
            sorted_groups.append(ExampleGallery(self.entrant.label, sort, tuple(shown)))
        return sorted_groups

    def _mean_gold(self, places: Places) -> float:
        """What the model gave the right answers on average; 0 without scores."""
        known = self.entrant.gold[places]
        known = known[np.isfinite(known)]
        return float(known.mean()) if len(known) else 0.0

    def of_items(self) -> list[ExampleGallery]:
        """Where items stand alone: the surest right and the surest wrong answers."""
        asked = np.flatnonzero(self.entrant.asked)
        sure = np.nan_to_num(self.entrant.sure[asked])
        ranked = asked[np.argsort(-sure, kind="stable")]
        right = self.entrant.right[ranked]
        return [
            self._single("Surest right answers", ranked[right]),
            self._single("Surest wrong answers", ranked[~right]),
        ]

    def _single(self, sort: str, ranked: NDArray[np.int64]) -> ExampleGallery:
        groups = []
        for i in ranked[: GROUPS * 2].tolist():
            item = self.study.items[i]
            example = self._example(i)
            name = clip(item.id, NAME)
            share = float(example.right)
            groups.append(ExampleGroup(name, self._about(item), share, 1, (example,)))
        return ExampleGallery(self.entrant.label, sort, tuple(groups))

    def _group(self, name: str, places: Places) -> ExampleGroup:
        """A group with right and wrong items, so that a mixed one shows both."""
        rights = places[self.entrant.right[places]].tolist()
        wrongs = places[~self.entrant.right[places]].tolist()
        share = len(rights) / len(places)
        more, fewer = (rights, wrongs) if share > 0.5 else (wrongs, rights)
        shown = more[: SHOWN - len(fewer[:1])] + fewer[:1]
        return ExampleGroup(
            name=clip(name, NAME),
            about=self._about(self.study.items[int(places[0])]),
            share=share,
            size=len(places),
            examples=tuple(map(self._example, shown)),
        )

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

    def _example(self, i: int) -> _Example:
        item = self.study.items[i]
        chance = float(self.entrant.gold[i])
        return _Example(
            context=clip(item.context, TEXT),
            text=clip(item.text, TEXT),
            gold=" or ".join(item.gold),
            said=self.entrant.said(item, i),
            right=bool(self.entrant.right[i]),
            chance=percentage(chance) if np.isfinite(chance) else "",
            reply=clip(self.entrant.replies.get(i, ""), 160),
            image=clip(pictures(item), 120),
            thumbnails=self.album.thumbnails(item),
            way=clip(item.tags.get("way", ""), TAG),
        )


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
