"""The same facts in several forms: what one model says, another paints and a third sees.

A fact is a group of the benchmark. It counts as right in a form if most of its items in that form
are.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from gnomon.measures.intervals import interval
from gnomon.measures.statistics import mean_of
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import percentage

LEAST = 5  # facts in common, below which nothing is said
FORM_VERBS = {"scene": "painted", "caption": "seen"}  # of the others: said


class Told(NamedTuple):
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


def _told(study: Study, entrant: Entrant) -> list[Told]:
    """The facts that a model has right, form by form."""
    forms: dict[str, dict[str, list[bool]]] = {}
    for fact, where in study.groups().items():
        for i in where[entrant.asked[where]].tolist():
            form = study.items[i].form
            forms.setdefault(form, {}).setdefault(fact, []).append(bool(entrant.right[i]))
    found = []
    for form, facts in forms.items():
        right = {fact: 2 * sum(rights) > len(rights) for fact, rights in facts.items()}
        found.append(Told(entrant.label, form, right))
    return found


def _compared(one: Told, other: Told, common: list[str]) -> SameFacts:
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


def _named(told: Told) -> str:
    return f"{told.label}, {FORM_VERBS.get(told.form, 'said')} ({told.form})"
