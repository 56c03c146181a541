"""Examples: the groups a model solves best, worst and least consistently, with the sentences
themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gnomon.records import Item
from gnomon.registry import role
from gnomon.reporting.figures import words
from gnomon.reporting.page.items import clip
from gnomon.reporting.study import NO_ANSWER, Entrant, Study
from gnomon.reporting.words import percentage

GROUPS, SHOWN = 3, 3  # groups of each sort, items of each group
TEXT = 420


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
    """Best, worst and least consistent groups of the first few models; single items where there are
    no groups."""
    telling = [e for e in entrants if not is_baseline(e)] or list(entrants)
    members = study.groups()
    large = {name: where for name, where in members.items() if len(where) > 1}
    found = []
    for e in telling[:most]:
        asked = {name: where[e.asked[where]] for name, where in large.items()}
        asked = {name: where for name, where in asked.items() if len(where) > 1}
        found += _of_groups(study, e, asked) if len(asked) >= 3 else _of_items(study, e)
    return [gallery for gallery in found if gallery.groups]


def _of_groups(
    study: Study, e: Entrant, groups: dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]
) -> list[Gallery]:
    names = list(groups)
    share = np.array([e.right[groups[name]].mean() for name in names])
    sure = np.array(
        [
            np.nanmean(e.gold[groups[name]])
            if e.scored and np.isfinite(e.gold[groups[name]]).any()
            else 0.0
            for name in names
        ]
    )
    best = [i for i in np.lexsort((-sure, -share)) if share[i] > 0.5][:GROUPS]
    worst = [i for i in np.lexsort((sure, share)) if share[i] < 0.5][:GROUPS]
    mixed = [
        i
        for i in np.lexsort((-np.array([len(groups[n]) for n in names]), np.abs(share - 0.5)))
        if 0 < share[i] < 1
    ][:GROUPS]
    return [
        Gallery(e.label, "Best", tuple(_group(study, e, names[i], groups[names[i]]) for i in best)),
        Gallery(
            e.label, "Worst", tuple(_group(study, e, names[i], groups[names[i]]) for i in worst)
        ),
        Gallery(
            e.label,
            "Least consistent",
            tuple(_group(study, e, names[i], groups[names[i]]) for i in mixed),
        ),
    ]


def _of_items(study: Study, e: Entrant) -> list[Gallery]:
    """Where items stand alone: the surest right and the surest wrong answers."""
    asked = np.flatnonzero(e.asked)
    sure = np.where(np.isfinite(e.sure), e.sure, 0.0)[asked]
    ranked = asked[np.argsort(-sure, kind="stable")]
    out = []
    for sort, wanted in (("Surest right answers", True), ("Surest wrong answers", False)):
        chosen = [int(i) for i in ranked if e.right[i] == wanted][: GROUPS * 2]
        out.append(
            Gallery(
                e.label,
                sort,
                tuple(
                    Group(
                        clip(study.items[i].id, 80),
                        _about(study, study.items[i]),
                        float(wanted),
                        1,
                        (_example(study, e, i),),
                    )
                    for i in chosen
                ),
            )
        )
    return out


def _group(
    study: Study,
    e: Entrant,
    name: str,
    where: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.int64]],
) -> Group:
    """A group with right and wrong items in turn, so that a mixed one shows both."""
    rights = [int(i) for i in where if e.right[i]]
    wrongs = [int(i) for i in where if not e.right[i]]
    share = len(rights) / len(where)
    few = wrongs[: max(1, SHOWN - 1)] if share >= 0.5 else wrongs[:SHOWN]
    shown = (
        (rights[: SHOWN - len(wrongs[:1])] + wrongs[:1])
        if share > 0.5
        else few[: SHOWN - len(rights[:1])] + rights[:1]
    )[:SHOWN]
    return Group(
        clip(name, 80),
        _about(study, study.items[int(where[0])]),
        share,
        len(where),
        tuple(_example(study, e, i) for i in shown),
    )


def _about(study: Study, item: Item) -> str:
    tags = study.spec.slices if study.spec else tuple(item.tags)[:2]
    return " · ".join(
        clip(f"{words(tag)} {item.tags[tag]}" if item.tags[tag].isdigit() else item.tags[tag], 60)
        for tag in tags[:3]
        if item.tags.get(tag)
    )


def _example(study: Study, e: Entrant, i: int) -> Example:
    item, code = study.items[i], int(e.choice[i])
    said = "no answer" if code == NO_ANSWER else "not asked" if code < 0 else item.choices[code]
    chance = percentage(float(e.gold[i])) if np.isfinite(e.gold[i]) else ""
    return Example(
        clip(item.context, TEXT),
        clip(item.text, TEXT),
        " or ".join(item.gold),
        said,
        bool(e.right[i]),
        chance,
        clip(e.replies.get(i, ""), 160),
        clip(" ".join(image.path for image in item.images), 120),
    )
