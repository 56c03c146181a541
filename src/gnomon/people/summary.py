"""All that `gnomon people agree` says about some votes, as plain records to print or write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.measures.people import landis_koch
from gnomon.people.agreement import (
    Figure,
    Pair,
    agreement_figures,
    figure,
    nominal_alpha,
    pairs_of,
    pairwise_agreement,
)
from gnomon.people.ceiling import accuracy_of, ceilings, each_beside_others
from gnomon.people.reliability import Reliability, reliability_of
from gnomon.people.repeats import Care, care_in_votes
from gnomon.people.scale import Readings, mapped
from gnomon.people.validating import Validated, surest_first, validated
from gnomon.people.votes import Votes, votes_by_label

MOST_DIVIDING = 20  # items that divide people, as many as are named


class Asking(NamedTuple):
    """What is asked of the votes."""

    by: Sequence[str] = ()
    rule: str = "two-thirds"
    least: int = 1  # votes that an item needs
    draws: int = 0
    level: float = 0.95
    dividing: int = MOST_DIVIDING


class Person(NamedTuple):
    """One person beside the others."""

    name: str
    answers: int
    accuracy: Figure | None  # none where no item that they judged names a right label
    others: Figure  # how often they say what most of the others say
    reliability: float | None  # how likely they say what is true (Dawid and Skene)
    care: Care  # of items that they judged twice, and of catch items


class Slice(NamedTuple):
    """Agreement on the items that share a value of a tag."""

    key: str
    items: int
    votes: int
    agreement: Figure
    alpha: Figure
    excluded: float  # share of items that are not kept
    disputed: float  # share with a vote against the label


class Dividing(NamedTuple):
    """An item that people disagree about, and who says what."""

    item: str
    text: str
    gold: str
    votes: Mapping[str, list[str]]  # the people by label


class Validation(NamedTuple):
    """What became of the items."""

    rule: str
    items: int
    judged: int  # with a vote at least
    kept: int
    unanimous: int  # all of whose votes are for the label


class Summary(NamedTuple):
    """Everything."""

    benchmark: str
    items: int
    people: list[Person]
    votes: int
    judged_by_several: int  # items with two votes or more
    agreement: list[Figure]
    strength: str  # of the alpha, in the words of Landis and Koch
    by: dict[str, list[Slice]]
    pairs: list[Pair]
    ceiling: list[Figure]
    scale: Readings | None
    consensus: dict[str, object] | None  # of Dawid and Skene's estimate: steps, converged ...
    validation: Validation
    dividing: list[Dividing]


class Agreed(NamedTuple):
    """The summary, and the votes and items that it is about: labels by the best reading."""

    summary: Summary
    votes: Votes
    validated: Validated


def summarise(given: Votes, asking: Asking, care: Mapping[str, Care] | None = None) -> Agreed:
    """What votes say; `care` is what stands beside people's answers (people.repeats)."""
    votes, readings = mapped(given)
    found = validated(votes, asking.rule, asking.least)
    reliability = reliability_of(votes)
    counts = votes.counts()
    figures = agreement_figures(votes, draws=asking.draws, level=asking.level)
    alpha = next(figure.value for figure in figures if figure.name == "alpha")
    summary = Summary(
        benchmark=votes.benchmark,
        items=len(votes.items),
        people=_people(votes, reliability, care or {}, asking),
        votes=int(counts.sum()),
        judged_by_several=int((counts.sum(axis=1) >= 2).sum()),
        agreement=figures,
        strength="" if alpha is None else landis_koch(alpha),
        by={tag: _slices(votes, tag, asking) for tag in asking.by},
        pairs=pairs_of(votes, level=asking.level),
        ceiling=ceilings(votes, draws=asking.draws, level=asking.level),
        scale=readings,
        consensus=_consensus(votes, reliability),
        validation=_validation(found),
        dividing=_dividing(votes, asking.dividing),
    )
    return Agreed(summary, votes, found)


def _people(
    votes: Votes,
    reliability: Reliability | None,
    care: Mapping[str, Care],
    asking: Asking,
) -> list[Person]:
    voted = care_in_votes(votes)
    beside = each_beside_others(votes)
    found = []
    for column, name in enumerate(votes.people):
        accuracy = None
        if (votes.made[:, column] & votes.has_gold).any():
            accuracy = figure("accuracy", accuracy_of(votes, column), level=asking.level)
        others = figure("others", beside[column], level=asking.level)
        careful = voted[name].plus(care.get(name, Care()))
        likely = None if reliability is None else float(reliability.people[column])
        answers = int(votes.made[:, column].sum())
        found.append(Person(name, answers, accuracy, others, likely, careful))
    return found


def _slices(votes: Votes, tag: str, asking: Asking) -> list[Slice]:
    """Each value of a tag, those with most excluded items first."""
    rows = []
    for key, part in votes.by(tag):
        counts, units = part.counts().astype(float), part.table.clusters
        mine = validated(part, asking.rule, asking.least)
        agreement = figure("agreement", pairwise_agreement(counts, units), level=asking.level)
        alpha = figure("alpha", nominal_alpha(counts, units), level=asking.level)
        excluded = float((~mine.kept).mean())
        disputed = float(mine.disputed.mean())
        size = len(part.items), int(counts.sum())
        rows.append(Slice(key, *size, agreement, alpha, excluded, disputed))
    return sorted(rows, key=lambda row: (-row.excluded, row.key))


def _consensus(votes: Votes, found: Reliability | None) -> dict[str, object] | None:
    """What the estimate of people's reliability says about the labels, and whether it settled."""
    if found is None:
        return None
    best = found.labels.argmax(axis=1)
    rows = np.flatnonzero(votes.made.any(axis=1) & votes.has_gold)
    right = None
    if len(rows):
        right = float(votes.gold[rows, best[rows]].mean())
    shares = dict(zip(votes.labels, found.shares.tolist(), strict=True))
    return {
        "steps": found.steps,
        "converged": found.converged,
        "accuracy": right,
        "shares": shares,
    }


def _validation(found: Validated) -> Validation:
    judged = found.votes > 0
    unanimous = judged & (found.agreeing == found.votes)
    return Validation(
        rule=found.rule,
        items=len(found.kept),
        judged=int(judged.sum()),
        kept=int(found.kept.sum()),
        unanimous=int(unanimous.sum()),
    )


def _dividing(votes: Votes, most: int) -> list[Dividing]:
    """The items on which fewest agree, of these the ones with most votes first."""
    sure = surest_first(votes)
    voters = votes.counts().sum(axis=1)
    order = np.lexsort((-voters, sure))
    found = []
    for row in order[:most].tolist():
        if not sure[row] < 1:  # all agree, or nobody to disagree with
            break
        item = votes.items[row]
        said = votes_by_label(votes, row)
        found.append(Dividing(item.id, item.text, ", ".join(item.gold), said))
    return found


def plain(value: Any) -> Any:
    """Records as dictionaries, all the way down, for JSON."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value
