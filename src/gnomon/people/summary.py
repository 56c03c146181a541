"""What votes say, summed up, and the tables of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.contracts import Listing
from gnomon.measures.agreement import landis_koch, nominal_alpha, pairwise_agreement
from gnomon.people import agreement as agreements
from gnomon.people.agreement import AgreementFigure, RaterPair, Readings, figure
from gnomon.people.reliability import Care, Reliability, ShareOf, care_in_votes, reliability_of
from gnomon.people.validation import Validated, surest_first, validated
from gnomon.people.votes import Votes, votes_by_label
from gnomon.reports.words import clip, counted, percentage

MOST_DIVIDING = 20  # items that divide people, as many as are named


class AgreementOptions(NamedTuple):
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
    accuracy: AgreementFigure | None  # none where no item that they judged names a right label
    others: AgreementFigure  # how often they say what most of the others say
    reliability: float | None  # how likely they say what is true (Dawid and Skene)
    care: Care  # of items that they judged twice, and of catch items


class Slice(NamedTuple):
    """Agreement on the items that share a value of a tag."""

    key: str
    items: int
    votes: int
    agreement: AgreementFigure
    alpha: AgreementFigure
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
    agreement: list[AgreementFigure]
    strength: str  # of the alpha, in the words of Landis and Koch
    by: dict[str, list[Slice]]
    pairs: list[RaterPair]
    ceiling: list[AgreementFigure]
    scale: Readings | None
    consensus: dict[str, object] | None  # of Dawid and Skene's estimate: steps, converged ...
    validation: Validation
    dividing: list[Dividing]


class Agreed(NamedTuple):
    """The summary, and the votes and items that it is about: labels by the best reading."""

    summary: Summary
    votes: Votes
    validated: Validated


def summarise(
    given: Votes, asking: AgreementOptions, care: Mapping[str, Care] | None = None
) -> Agreed:
    """What votes say; `care` is what stands beside people's answers (people.repeats)."""
    votes, readings = agreements.mapped(given)
    found = validated(votes, asking.rule, asking.least)
    reliability = reliability_of(votes)
    counts = votes.counts()
    figures = agreements.agreement_figures(votes, draws=asking.draws, level=asking.level)
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
        pairs=agreements.pairs_of(votes, level=asking.level),
        ceiling=agreements.ceilings(votes, draws=asking.draws, level=asking.level),
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
    asking: AgreementOptions,
) -> list[Person]:
    voted = care_in_votes(votes)
    beside = agreements.each_beside_others(votes)
    found = []
    for column, name in enumerate(votes.people):
        accuracy = None
        if (votes.made[:, column] & votes.has_gold).any():
            accuracy = figure("accuracy", agreements.accuracy_of(votes, column), level=asking.level)
        others = figure("others", beside[column], level=asking.level)
        careful = voted[name].plus(care.get(name, Care()))
        likely = None if reliability is None else float(reliability.people[column])
        answers = int(votes.made[:, column].sum())
        found.append(Person(name, answers, accuracy, others, likely, careful))
    return found


def _slices(votes: Votes, tag: str, asking: AgreementOptions) -> list[Slice]:
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
    return {
        "steps": found.steps,
        "converged": found.converged,
        "accuracy": right,
        "shares": dict(zip(votes.labels, found.shares.tolist(), strict=True)),
    }


def _validation(found: Validated) -> Validation:
    judged = found.votes > 0
    unanimous = judged & (found.agreeing == found.votes)
    counts = [int(flags.sum()) for flags in (judged, found.kept, unanimous)]
    return Validation(found.rule, len(found.kept), *counts)


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


# A summary of votes as small tables for people.


FIGURES = {
    "agreement": "agreement of two people, in per cent",
    "cohen": "Cohen's kappa, mean over pairs",
    "fleiss": "Fleiss' kappa",
    "alpha": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal (five points)",
}
CEILINGS = {
    "person": "a person, mean over people",
    "majority": "the majority",
    "others": "a person beside the majority of the others",
}
SHARES = frozenset({"agreement", *CEILINGS, "accuracy"})
MOST_PAIRS = 12  # rows of the table of pairs


def first_lines(summary: Summary) -> str:
    """What the votes are, in two sentences."""
    size = f"{counted(len(summary.people), 'people')}, {counted(summary.items, 'items')}"
    if len(summary.people) == 1:
        size = f"1 person, {counted(summary.items, 'items')}"
    several = f"{summary.judged_by_several:,} items have two or more"
    return f"{summary.benchmark}: {size}, {counted(summary.votes, 'votes')}; {several}."


def listings(summary: Summary, level: float = 0.95) -> list[Listing]:
    """Every table that has something to say."""
    interval = f"{100 * level:g} % interval"
    found = [_figures("Agreement", FIGURES, summary.agreement, interval)]
    for tag, rows in summary.by.items():
        found.append(_slices_table(tag, rows, interval))
    found.append(_people_table(summary))
    if len(summary.pairs) > 1:
        found.append(_pairs(summary, interval))
    if summary.ceiling:
        found.append(_figures("Human ceiling", CEILINGS, summary.ceiling, interval))
    if summary.scale is not None:
        found += _scale(summary)
    if summary.dividing:
        found.append(_dividing_table(summary.dividing))
    return found


def last_lines(summary: Summary) -> list[str]:
    """What follows from the votes, in sentences."""
    told = []
    if summary.strength:
        told.append(f"Landis and Koch (1977) call such an alpha {summary.strength}.")
    if summary.consensus is not None:
        told.append(_consensus_table(summary.consensus))
    kept = summary.validation
    share = percentage(kept.kept / max(1, kept.items), 1, " ")
    told.append(
        f"Kept by the rule {kept.rule}: {kept.kept:,} of {kept.items:,} items ({share}); "
        f"all votes on {kept.unanimous:,} are for the label."
    )
    unjudged = kept.items - kept.judged
    if unjudged:
        told.append(f"Nobody judged {counted(unjudged, 'items')}.")
    return told


def _consensus_table(found: dict[str, object]) -> str:
    settled = "settled" if found["converged"] else "did not settle"
    told = f"Dawid and Skene's estimate {settled} after {found['steps']} steps"
    right = found["accuracy"]
    if isinstance(right, float):
        told += f"; its labels are right for {percentage(right, 1, ' ')} of the items"
    return f"{told}."


def value_of(figure: AgreementFigure | None) -> str:
    """A figure as a table has it: a share in per cent, a kappa as a number.

    >>> value_of(AgreementFigure("alpha", 0.6984)), value_of(AgreementFigure("agreement", 0.848))
    ('0.698', '84.8 %')
    >>> value_of(None)
    '–'
    """
    if figure is None or figure.value is None:
        return "–"
    return _number(figure.name, figure.value)


def _number(name: str, value: float) -> str:
    if name in SHARES:
        return percentage(value, 1, " ")
    return f"{value:.3f}"


def _interval(figure: AgreementFigure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    low, high = _number(figure.name, figure.low), _number(figure.name, figure.high)
    return f"{low.removesuffix(' %')} to {high.removesuffix(' %')}"


def _figures(
    title: str, words: dict[str, str], figures: Iterable[AgreementFigure], interval: str
) -> Listing:
    rows = []
    for each in figures:
        shown = value_of(each), _interval(each)
        rows.append((words[each.name], *shown, each.n, each.units))
    return Listing(title, ("measure", "value", interval, "items", "units"), tuple(rows))


def _slices_table(tag: str, slices: Sequence[Slice], interval: str) -> Listing:
    rows = []
    for each in slices:
        size = each.key or "(none)", each.items, each.votes
        agreement = value_of(each.agreement), _interval(each.agreement)
        shares = percentage(each.excluded, 1, " "), percentage(each.disputed, 1, " ")
        rows.append((*size, *agreement, value_of(each.alpha), *shares))
    columns = (tag, "items", "votes", "agreement", interval, "alpha", "excluded", "disputed")
    return Listing(f"By {tag}", columns, tuple(rows))


def _people_table(summary: Summary) -> Listing:
    """One row for each; columns on repeated and catch items where anybody had any."""
    columns = ["person", "answers", "right", "as the others", "reliability"]
    rows = []
    for person in summary.people:
        right = value_of(person.accuracy), value_of(person.others)
        rows.append([person.name, person.answers, *right, percentage(person.reliability, 1, " ")])
    for place, head in enumerate(("same again", "catch items")):
        tallies = [person.care[place] for person in summary.people]
        if not any(tally.n for tally in tallies):
            continue
        columns.append(head)
        for row, tally in zip(rows, tallies, strict=True):
            row.append(_of(tally))
    return Listing("People", tuple(columns), tuple(map(tuple, rows)))


def _of(tally: ShareOf) -> str:
    if not tally.n:
        return ""
    return f"{percentage(tally.share, 1, ' ')} of {tally.n:,}"


def _pairs(summary: Summary, interval: str) -> Listing:
    """The pairs who share most items; JSON has all."""
    rows = []
    for pair in summary.pairs[:MOST_PAIRS]:
        agree = percentage(pair.agree, 1, " ")
        kappa = value_of(pair.kappa), _interval(pair.kappa)
        rows.append((pair.first, pair.second, pair.n, agree, *kappa))
    title = "Pairs"
    if len(summary.pairs) > len(rows):
        title = f"Pairs: the {len(rows)} who share most items, of {len(summary.pairs)}"
    columns = ("first", "second", "items", "agree", "Cohen's kappa", interval)
    return Listing(title, columns, tuple(rows))


def _scale(summary: Summary) -> list[Listing]:
    assert summary.scale is not None
    people = tuple(summary.scale.people.items())
    kappa = "–" if summary.scale.kappa is None else f"{summary.scale.kappa:.3f}"
    own = Listing(
        f"Five points read as three labels, each person's own way: mean kappa {kappa}",
        ("person", "points of each label"),
        people,
    )
    rows = []
    for cut in summary.scale.shared:
        rows.append((cut.words, "–" if cut.kappa is None else f"{cut.kappa:.3f}"))
    shared = Listing("One way for all", ("points of each label", "mean kappa"), tuple(rows))
    return [own, shared]


def _dividing_table(items: Sequence[Dividing]) -> Listing:
    rows = []
    for each in items:
        said = []
        for label, people in each.votes.items():
            said.append(f"{label}: {', '.join(people)}")
        rows.append((clip(each.item, 50), clip(each.text, 60), each.gold, "; ".join(said)))
    return Listing(
        "Items that divide people", ("item", "text", "gold", "who says what"), tuple(rows)
    )
