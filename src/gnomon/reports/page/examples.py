"""Examples: the groups a model solves best, worst and least consistently, as they were asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.records import Item
from gnomon.registry import role
from gnomon.reports.page.items import pictures
from gnomon.reports.page.paintings import paints
from gnomon.reports.pictures import Album
from gnomon.reports.study import NO_ANSWER, NOT_ASKED, Entrant, Places, Study
from gnomon.reports.words import clip, percentage

GROUPS, SHOWN = 3, 3  # groups of each sort, items of each group
TEXT, NAME, TAG = 420, 80, 60  # characters that are shown


class Example(NamedTuple):
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


class Group(NamedTuple):
    """One group with a few of its items."""

    name: str
    about: str
    share: float
    size: int
    examples: tuple[Example, ...]


class Gallery(NamedTuple):
    """Groups of one sort for one model."""

    model: str
    sort: str  # best, worst, least consistent
    groups: tuple[Group, ...]


def is_baseline(entrant: Entrant) -> bool:
    """Whether the model is a guess or a shortcut, to measure others by."""
    return bool(role(entrant.run.model))


def galleries(study: Study, entrants: Sequence[Entrant], most: int = 3) -> list[Gallery]:
    """The telling groups of the first few models; single items where there are no groups."""
    entrants = [entrant for entrant in entrants if not paints(entrant)]  # who have walls
    models = [entrant for entrant in entrants if not is_baseline(entrant)]
    groups = study.groups()
    found = []
    for entrant in (models or entrants)[:most]:
        asked = _asked_groups(entrant, groups)
        found += _of_groups(study, entrant, asked) if len(asked) >= 3 else _of_items(study, entrant)
    return [gallery for gallery in found if gallery.groups]


def _asked_groups(entrant: Entrant, groups: dict[str, Places]) -> dict[str, Places]:
    """The groups of which a model was asked two items or more."""
    found = {}
    for name, where in groups.items():
        asked = where[entrant.asked[where]]
        if len(asked) > 1:
            found[name] = asked
    return found


def _of_groups(study: Study, entrant: Entrant, groups: dict[str, Places]) -> list[Gallery]:
    names = list(groups)
    share = np.array([entrant.right[where].mean() for where in groups.values()])
    sure = np.array([_mean_gold(entrant, where) for where in groups.values()])
    size = np.array([len(where) for where in groups.values()])
    sorts = {
        "Best": (np.lexsort((-sure, -share)), share > 0.5),
        "Worst": (np.lexsort((sure, share)), share < 0.5),
        "Least consistent": (
            np.lexsort((-size, np.abs(share - 0.5))),
            (share > 0) & (share < 1),
        ),
    }
    found = []
    for sort, (order, fits) in sorts.items():
        chosen = order[fits[order]][:GROUPS]
        shown = [_group(study, entrant, names[i], groups[names[i]]) for i in chosen]
        found.append(Gallery(entrant.label, sort, tuple(shown)))
    return found


def _mean_gold(entrant: Entrant, where: Places) -> float:
    """What the model gave the right answers on average; 0 without scores."""
    known = entrant.gold[where]
    known = known[np.isfinite(known)]
    return float(known.mean()) if len(known) else 0.0


def _of_items(study: Study, entrant: Entrant) -> list[Gallery]:
    """Where items stand alone: the surest right and the surest wrong answers."""
    asked = np.flatnonzero(entrant.asked)
    sure = np.nan_to_num(entrant.sure[asked])
    ranked = asked[np.argsort(-sure, kind="stable")]
    right = entrant.right[ranked]
    return [
        _single(study, entrant, "Surest right answers", ranked[right]),
        _single(study, entrant, "Surest wrong answers", ranked[~right]),
    ]


def _single(study: Study, entrant: Entrant, sort: str, ranked: NDArray[np.int64]) -> Gallery:
    groups = []
    for i in ranked[: GROUPS * 2].tolist():
        item = study.items[i]
        example = _example(study, entrant, i)
        name = clip(item.id, NAME)
        groups.append(Group(name, _about(study, item), float(example.right), 1, (example,)))
    return Gallery(entrant.label, sort, tuple(groups))


def _group(study: Study, entrant: Entrant, name: str, where: Places) -> Group:
    """A group with right and wrong items, so that a mixed one shows both."""
    rights = where[entrant.right[where]].tolist()
    wrongs = where[~entrant.right[where]].tolist()
    share = len(rights) / len(where)
    more, fewer = (rights, wrongs) if share > 0.5 else (wrongs, rights)
    shown = more[: SHOWN - len(fewer[:1])] + fewer[:1]
    return Group(
        name=clip(name, NAME),
        about=_about(study, study.items[int(where[0])]),
        share=share,
        size=len(where),
        examples=tuple(_example(study, entrant, i) for i in shown),
    )


def _about(study: Study, item: Item) -> str:
    """The tags of an item that say most about it."""
    tags = study.slices or tuple(item.tags)[:2]
    parts = []
    for tag in tags[:3]:
        value = item.tags.get(tag, "")
        said = study.words(tag, value) if value else ""
        if said.isdigit() or said in ("yes", "no"):  # which say nothing by themselves
            said = f"{study.words(tag)}: {said}"
        if said:
            parts.append(clip(said, TAG))
    return " · ".join(parts)


def _example(study: Study, entrant: Entrant, i: int) -> Example:
    item = study.items[i]
    chance = float(entrant.gold[i])
    return Example(
        context=clip(item.context, TEXT),
        text=clip(item.text, TEXT),
        gold=" or ".join(item.gold),
        said=_said(item, int(entrant.choice[i])),
        right=bool(entrant.right[i]),
        chance=percentage(chance) if np.isfinite(chance) else "",
        reply=clip(entrant.replies.get(i, ""), 160),
        image=clip(pictures(item), 120),
        thumbnails=Album().thumbnails(item),
        way=clip(item.tags.get("way", ""), TAG),
    )


def _said(item: Item, choice: int) -> str:
    if choice == NO_ANSWER:
        return "no answer"
    if choice == NOT_ASKED:
        return "not asked"
    return item.choices[choice]
