"""A summary of votes as small tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gnomon.contracts import Listing
from gnomon.people.agreement import Figure
from gnomon.people.repeats import Tally
from gnomon.people.summary import Dividing, Slice, Summary
from gnomon.reports.words import clip, counted, percentage

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
        found.append(_slices(tag, rows, interval))
    found.append(_people(summary))
    if len(summary.pairs) > 1:
        found.append(_pairs(summary, interval))
    if summary.ceiling:
        found.append(_figures("Human ceiling", CEILINGS, summary.ceiling, interval))
    if summary.scale is not None:
        found += _scale(summary)
    if summary.dividing:
        found.append(_dividing(summary.dividing))
    return found


def last_lines(summary: Summary) -> list[str]:
    """What follows from the votes, in sentences."""
    told = []
    if summary.strength:
        told.append(f"Landis and Koch (1977) call such an alpha {summary.strength}.")
    if summary.consensus is not None:
        told.append(_consensus(summary.consensus))
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


def _consensus(found: dict[str, object]) -> str:
    settled = "settled" if found["converged"] else "did not settle"
    told = f"Dawid and Skene's estimate {settled} after {found['steps']} steps"
    right = found["accuracy"]
    if isinstance(right, float):
        told += f"; its labels are right for {percentage(right, 1, ' ')} of the items"
    return f"{told}."


def value_of(figure: Figure | None) -> str:
    """A figure as a table has it: a share in per cent, a kappa as a number.

    >>> value_of(Figure("alpha", 0.6984)), value_of(Figure("agreement", 0.848)), value_of(None)
    ('0.698', '84.8 %', '–')
    """
    if figure is None or figure.value is None:
        return "–"
    return _number(figure.name, figure.value)


def _number(name: str, value: float) -> str:
    if name in SHARES:
        return percentage(value, 1, " ")
    return f"{value:.3f}"


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    low, high = _number(figure.name, figure.low), _number(figure.name, figure.high)
    return f"{low.removesuffix(' %')} to {high.removesuffix(' %')}"


def _figures(
    title: str, words: dict[str, str], figures: Iterable[Figure], interval: str
) -> Listing:
    rows = []
    for figure in figures:
        shown = value_of(figure), _interval(figure)
        rows.append((words[figure.name], *shown, figure.n, figure.units))
    return Listing(title, ("measure", "value", interval, "items", "units"), tuple(rows))


def _slices(tag: str, slices: Sequence[Slice], interval: str) -> Listing:
    rows = []
    for each in slices:
        size = each.key or "(none)", each.items, each.votes
        agreement = value_of(each.agreement), _interval(each.agreement)
        shares = percentage(each.excluded, 1, " "), percentage(each.disputed, 1, " ")
        rows.append((*size, *agreement, value_of(each.alpha), *shares))
    columns = (tag, "items", "votes", "agreement", interval, "alpha", "excluded", "disputed")
    return Listing(f"By {tag}", columns, tuple(rows))


def _people(summary: Summary) -> Listing:
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


def _of(tally: Tally) -> str:
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


def _dividing(items: Sequence[Dividing]) -> Listing:
    rows = []
    for each in items:
        said = []
        for label, people in each.votes.items():
            said.append(f"{label}: {', '.join(people)}")
        rows.append((clip(each.item, 50), clip(each.text, 60), each.gold, "; ".join(said)))
    return Listing(
        "Items that divide people", ("item", "text", "gold", "who says what"), tuple(rows)
    )
