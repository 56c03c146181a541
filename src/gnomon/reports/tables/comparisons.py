"""Comparisons as scripts and people read them: leaderboards, and what tells each two models apart.

Where a terminal is too narrow for the names of a pair, models are named by letters rather than cut;
where it is narrower still, the figures go that can best be missed.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from types import MappingProxyType
from typing import Any

import msgspec

from gnomon.contracts import Listing
from gnomon.measures.cautions import ONE_ANSWER
from gnomon.measures.compared import Agreement, ComparedRuns, Leaderboard, RankedRuns
from gnomon.measures.comparison import Comparison, Rank
from gnomon.measures.contamination import Contamination
from gnomon.measures.regression import RunChange
from gnomon.records import letter_of
from gnomon.reports.tables.scores import PLAIN, beside_chance
from gnomon.reports.words import counted, interval, percent
from gnomon.tabular import UNCUT, Field, listing_of, render, too_wide

TIED = "Tied: no significant difference (p of 0.05 or more after Holm's correction for all pairs)."
DETECTABLE = (
    "Detectable: the true difference, in points, that so many items show four times out of five."
)
# of a new run beside an old one
CHANGED = {
    "benchmark": "benchmark",
    "model": "first",
    "measure": "measure",
    "old": "second_value",
    "new": "first_value",
    "change": "difference",
    "low": "low",
    "high": "high",
    "p": "p",
    "p_adjusted": "p_adjusted",
    "n": "n",
    "units": "units",
}


def shown(
    outcome: ComparedRuns,
    format: str = "table",
    *,
    plain: bool = False,
    level: float = 0.95,
) -> str:
    """The outcome in one of the formats: all fields, or tables for people."""
    if format == "json":
        return _json(outcome)
    if format == "csv":
        return _csv(outcome)
    parts = []
    for part in outcome.compared:
        parts.append(_compared(part, level, format))
    if outcome.agreements:
        parts.append(render(_agreements(outcome.agreements, level), format))
    text = "\n\n".join(parts)
    if format == "table":
        tied = any(pair.tied for part in outcome.compared for pair in part.pairs)
        words = {TIED: tied, DETECTABLE: "detectable" in text}
        text = "\n".join([text, *filter(words.get, words)])
    return text.translate(PLAIN) if plain else text


def contamination_shown(found: Sequence[Contamination], format: str, level: float) -> str:
    """Whether models gain more on published items than others do: a table, and what it says."""
    if format == "json":
        rows = [each._asdict() | {"contaminated": each.contaminated} for each in found]
        return msgspec.json.format(msgspec.json.encode(rows), indent=2).decode()
    if format == "csv":
        return render(Listing("", Contamination._fields, tuple(found)), "csv")
    fields = (
        Field("set", lambda each: each.benchmark),
        Field("model", lambda each: each.model),
        Field("published", lambda each: percent(each.published)),
        Field("fresh", lambda each: percent(each.fresh)),
        Field("gap", lambda each: _points(each.gap)),
        Field("gap of the others", lambda each: _points(each.reference_gap)),
        Field("excess", lambda each: _points(each.excess)),
        Field(f"{100 * level:g} % interval", lambda each: interval(each.low, each.high, "to")),
        Field("p (Holm)", lambda each: _p(each.p_adjusted)),
        Field("verdict", lambda each: "contaminated" if each.contaminated else "not shown"),
    )
    title = "Accuracy on published and fresh items, in points"
    parts = [render(listing_of(title, fields, found), format)]
    if any(each.references == 1 for each in found):
        parts.append(
            "With one reference model nothing shows how much gaps differ between models that have "
            "seen nothing: give two or more."
        )
    return "\n".join(parts)


def changes_shown(
    found: Sequence[RunChange], format: str, *, by: float, level: float, plain: bool = False
) -> str:
    """New runs beside old ones: a table, and in words what changed where."""
    if format in ("json", "csv"):
        rows = []
        for each in found:
            figures = {name: getattr(each.pair, field) for name, field in CHANGED.items()}
            where = [part._asdict() for part in each.where]
            counts = {"lost": each.lost, "gained": each.gained}
            rows.append(figures | {"verdict": each.verdict, **counts, "where": where})
        if format == "json":
            return msgspec.json.format(msgspec.json.encode(rows), indent=2).decode()
        heads = (*CHANGED, "verdict", "lost", "gained")
        cells = [tuple(row[head] for head in heads) for row in rows]
        return render(Listing("", heads, tuple(cells)), "csv")
    models = {each.pair.first for each in found}
    fields = (
        Field("benchmark", lambda each: each.pair.benchmark),
        Field("model", lambda each: each.pair.first, len(models) > 1),
        Field("measure", lambda each: each.pair.measure),
        Field("old", lambda each: percent(each.pair.second_value)),
        Field("new", lambda each: percent(each.pair.first_value)),
        Field("change", lambda each: _points(each.pair.difference)),
        Field(
            f"{100 * level:g} % interval",
            lambda each: interval(each.pair.low, each.pair.high, "to"),
        ),
        Field("p (Holm)", lambda each: _p(each.pair.p_adjusted)),
        Field("verdict", lambda each: each.verdict),
        Field("n", lambda each: each.pair.n),
    )
    parts = [render(listing_of("", fields, found), format), *map(_told_change, found)]
    if any(each.verdict == "cannot tell" for each in found):
        parts.append(
            f"Cannot tell: a loss of {by:g} points could have gone unseen. Ask more items "
            "(`gnomon power` says how many), or allow more with --by."
        )
    text = "\n".join(parts)
    return text.translate(PLAIN) if plain else text


def _told_change(change: RunChange) -> str:
    """How many items turned wrong and right, and where most of the loss lies."""
    pair = change.pair
    told = (
        f"{pair.first} on {pair.benchmark}: {change.lost:,} of {pair.n:,} items turned wrong, "
        f"{change.gained:,} turned right."
    )
    if not change.where:
        return told
    parts = []
    for part in change.where:
        parts.append(f"{part.tag} {part.value} ({part.lost:,} of {part.items:,} items)")
    return f"{told} Most of the loss: {' and '.join(parts)}."


def _json(outcome: ComparedRuns) -> str:
    whole: dict[str, list[dict[str, Any]]] = {"comparisons": [], "leaderboard": []}
    for part in outcome.compared:
        for each in part.pairs:
            tested = each.differ or each.tied
            whole["comparisons"].append(
                each._asdict() | {"differ": each.differ if tested else None}
            )
        about = {"benchmark": part.pairs[0].benchmark, "measure": part.pairs[0].measure}
        for ranks, _ in part.boards:
            whole["leaderboard"] += [about | rank._asdict() for rank in ranks]
    if outcome.agreements:
        whole["agreements"] = [each._asdict() for each in outcome.agreements]
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()


def _csv(outcome: ComparedRuns) -> str:
    """The pairs; of measures over two runs in a second table, as they have other fields."""
    tables = []
    pairs: list[Any] = [pair for part in outcome.compared for pair in part.pairs]
    for fields, rows in ((Comparison._fields, pairs), (Agreement._fields, outcome.agreements)):
        if rows:
            tables.append(render(Listing("", fields, tuple(rows)), "csv"))
    return "\n\n".join(tables)


def _compared(part: RankedRuns, level: float, format: str) -> str:
    """The leaderboards and the pairs, for one benchmark and measure."""
    names = [name for each in part.pairs for name in (each.first, each.second)]
    letters = {name: letter_of(i) for i, name in enumerate(dict.fromkeys(names))}
    for called in ({}, letters):
        listings = _listings(part, level, called, lean=False)
        whole = [render(listing, format, width=UNCUT) for listing in listings]
        if format != "table" or not any(map(too_wide, whole)):
            return "\n\n".join(whole)
    listings = _listings(part, level, letters, lean=True)
    return "\n\n".join(render(listing) for listing in listings)


def _listings(
    part: RankedRuns, level: float, letters: Mapping[str, str], *, lean: bool
) -> Iterator[Listing]:
    first = part.pairs[0]
    ranked: set[str] = set()
    for board in part.boards:
        yield _leaderboard(board, first, level, letters, lean=lean)
        ranked |= {rank.model for rank in board.ranks}
    unranked = [(letter, name) for name, letter in letters.items() if name not in ranked]
    if unranked:
        yield Listing("", ("", "model"), tuple(unranked))
    title = "Differences in points"
    if not part.boards:
        title += f" of {first.measure} on {first.benchmark}"
    yield _differences(title, part.pairs, level, letters, lean=lean)


def _leaderboard(
    board: Leaderboard, about: Comparison, level: float, letters: Mapping[str, str], *, lean: bool
) -> Listing:
    ranks = board.ranks
    over = counted(ranks[0].n, "items")
    if ranks[0].units != over:
        over += f" ({ranks[0].units})"
    if ranks[0].n < board.most:
        over = f"the {over} that all {len(ranks)} runs share"
    measure = about.measure
    if about.better == "lower":
        measure += " (lower is better)"

    def tied(rank: Rank) -> str:
        return ", ".join(letters.get(name, name) for name in rank.tied) or "–"

    def verdict(rank: Rank) -> str:
        if rank.constant:
            return ONE_ANSWER
        return beside_chance(rank.low, rank.high, rank.chance)

    fields = (
        Field("", lambda rank: letters[rank.model], bool(letters)),
        Field("rank", _places),
        Field("model", lambda rank: rank.model),
        Field("score", lambda rank: percent(rank.value)),
        Field(f"{100 * level:g} % interval", lambda rank: interval(rank.low, rank.high)),
        Field("chance", lambda rank: percent(rank.chance)),
        Field("tied" if lean else "tied with", tied),
        # where room is scarce, interval and chance say the same in less
        Field("verdict", verdict, not lean and any(map(verdict, ranks))),
    )
    return listing_of(f"{about.benchmark}, {measure}: {over}", fields, ranks)


def _differences(
    title: str,
    pairs: Sequence[Comparison],
    level: float,
    letters: Mapping[str, str],
    *,
    lean: bool,
) -> Listing:
    fields = (
        Field("first", lambda pair: letters.get(pair.first, pair.first)),
        Field("second", lambda pair: letters.get(pair.second, pair.second)),
        Field("first − second", lambda pair: _points(pair.difference)),
        Field(f"{100 * level:g} % interval", lambda pair: interval(pair.low, pair.high, "to")),
        Field("p", lambda pair: _p(pair.p), not lean),
        Field("p (Holm)", lambda pair: _p(pair.p_adjusted)),
        Field("verdict", lambda pair: pair_verdict(pair, letters)),
        Field("detectable", _detectable, not lean),
        Field("n", lambda pair: pair.n),
    )
    return listing_of(title, fields, pairs)


def _agreements(pairs: Sequence[Agreement], level: float) -> Listing:
    fields = (
        Field("benchmark", lambda each: each.benchmark),
        Field("measure", lambda each: each.measure),
        Field("first", lambda each: each.first),
        Field("second", lambda each: each.second),
        Field("score", lambda each: percent(each.value)),
        Field(f"{100 * level:g} % interval", lambda each: interval(each.low, each.high)),
        Field("n", lambda each: each.n),
        Field("units", lambda each: each.units),
    )
    return listing_of("", fields, pairs)


def _places(rank: Rank) -> str:
    if rank.best == rank.worst:
        return f"{rank.best}"
    return f"{rank.best}-{rank.worst}"


def _points(value: float) -> str:
    return "–" if isnan(value) else f"{100 * value:+.1f}"


def _detectable(pair: Comparison) -> str:
    """A dash where two models gave the same answers: that shows nothing of what could be seen."""
    return _points(pair.detectable).lstrip("+") if pair.detectable > 0 else "–"


def _p(value: float) -> str:
    if isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def pair_verdict(pair: Comparison, letters: Mapping[str, str] = MappingProxyType({})) -> str:
    """What the test says of a pair, in words."""
    if pair.differ:
        return f"{letters.get(pair.ahead, pair.ahead)} is better"
    return "tied" if pair.tied else "–"
