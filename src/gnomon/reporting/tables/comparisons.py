"""Comparisons as scripts and people read them: leaderboards, and what tells each two models apart.

Where a terminal is too narrow for the names of a pair, models are named by letters rather than cut;
where it is narrower still, the figures go that can best be missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import msgspec

from gnomon.contracts import Listing
from gnomon.measures.compared import Agreement, Board, Compared, Outcome
from gnomon.measures.comparison import Comparison, Rank
from gnomon.records import letter_of
from gnomon.reporting.tables.render import UNCUT, render
from gnomon.reporting.tables.scores import PLAIN, beside_chance, interval, percent, too_wide


def shown(
    outcome: Outcome, format: str = "table", *, plain: bool = False, level: float = 0.95
) -> str:
    """The outcome in one of the formats: all fields, or tables for people."""
    if format == "json":
        return _json(outcome)
    if format == "csv":
        return _csv(outcome)
    parts = [_compared(part, level, format) for part in outcome.compared]
    if outcome.agreements:
        parts.append(render(_agreements(outcome.agreements, level), format))
    text = "\n\n".join(parts)
    if plain:
        text = text.translate(PLAIN)
    return text


def _json(outcome: Outcome) -> str:
    comparisons: list[dict[str, Any]] = []
    board: list[dict[str, Any]] = []
    for part in outcome.compared:
        for each in part.pairs:
            tested = each.differ or each.tied
            comparisons.append(each._asdict() | {"differ": each.differ if tested else None})
        about = {"benchmark": part.pairs[0].benchmark, "measure": part.pairs[0].measure}
        for ranks, _ in part.boards:
            board += [about | rank._asdict() for rank in ranks]
    whole: dict[str, Any] = {"comparisons": comparisons, "leaderboard": board}
    if outcome.agreements:
        whole["agreements"] = [each._asdict() for each in outcome.agreements]
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()


def _csv(outcome: Outcome) -> str:
    """The pairs; of measures over two runs in a second table, as they have other fields."""
    tables = []
    pairs: list[tuple[Any, ...]] = []
    for part in outcome.compared:
        pairs += part.pairs
    for fields, rows in ((Comparison._fields, pairs), (Agreement._fields, outcome.agreements)):
        if rows:
            tables.append(render(Listing("", fields, tuple(rows)), "csv"))
    return "\n\n".join(tables)


def _compared(part: Compared, level: float, format: str) -> str:
    """The leaderboards and the pairs, for one benchmark and measure."""
    names: dict[str, None] = {}
    for each in part.pairs:
        names |= {each.first: None, each.second: None}
    letters = {name: letter_of(i) for i, name in enumerate(names)}
    for called in ({}, letters):
        listings = _listings(part, level, called, lean=False)
        whole = [render(listing, format, width=UNCUT) for listing in listings]
        if format != "table" or not any(map(too_wide, whole)):
            return "\n\n".join(whole)
    listings = _listings(part, level, letters, lean=True)
    return "\n\n".join(render(listing) for listing in listings)


def _listings(
    part: Compared, level: float, letters: Mapping[str, str], *, lean: bool
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
    board: Board, about: Comparison, level: float, letters: Mapping[str, str], *, lean: bool
) -> Listing:
    ranks = board.ranks
    over = f"{ranks[0].n:,} items ({ranks[0].units})"
    if ranks[0].n < board.most:
        over = f"the {over} that all {len(ranks)} runs share"
    measure = about.measure
    if about.better == "lower":
        measure += " (lower is better)"
    columns = ["rank", "model", "score", f"{100 * level:g} % interval", "chance"]
    columns.append("tied" if lean else "tied with")
    told = [beside_chance(rank.low, rank.high, rank.chance) for rank in ranks]
    if lean:  # interval and chance say the same, in less room
        told = ["" for _ in ranks]
    if any(told):
        columns.append("")
    rows = []
    for rank, verdict in zip(ranks, told, strict=True):
        tied = ", ".join(letters.get(name, name) for name in rank.tied) or "–"
        cells = [_places(rank), rank.model, percent(rank.value)]
        cells += [interval(rank.low, rank.high), percent(rank.chance), tied]
        if any(told):
            cells.append(verdict)
        if letters:
            cells.insert(0, letters[rank.model])
        rows.append(tuple(cells))
    if letters:
        columns.insert(0, "")
    return Listing(f"{about.benchmark}, {measure}: {over}", tuple(columns), tuple(rows))


def _differences(
    title: str,
    pairs: Sequence[Comparison],
    level: float,
    letters: Mapping[str, str],
    *,
    lean: bool,
) -> Listing:
    columns = ["first", "second", "first − second", f"{100 * level:g} % interval"]
    if lean:
        columns += ["p (Holm)", "", "n"]
    else:
        columns += ["p", "p (Holm)", "", "detectable", "n"]
    rows = []
    for each in pairs:
        cells: list[Any] = [letters.get(each.first, each.first)]
        cells += [letters.get(each.second, each.second), _points(each.difference)]
        cells.append(interval(each.low, each.high, "to"))
        if lean:
            cells += [_p(each.p_adjusted), _verdict(each)]
        else:
            cells += [_p(each.p), _p(each.p_adjusted), _verdict(each)]
            cells.append(_points(each.detectable).lstrip("+"))
        rows.append((*cells, each.n))
    return Listing(title, tuple(columns), tuple(rows))


def _agreements(pairs: Sequence[Agreement], level: float) -> Listing:
    columns = ("benchmark", "measure", "first", "second", "score", f"{100 * level:g} % interval")
    rows = []
    for each in pairs:
        about = (each.benchmark, each.measure, each.first, each.second)
        figures = (percent(each.value), interval(each.low, each.high), each.n, each.units)
        rows.append((*about, *figures))
    return Listing("", (*columns, "n", "units"), tuple(rows))


def _places(rank: Rank) -> str:
    if rank.best == rank.worst:
        return f"{rank.best}"
    return f"{rank.best}-{rank.worst}"


def _points(value: float) -> str:
    return "–" if isnan(value) else f"{100 * value:+.1f}"


def _p(value: float) -> str:
    if isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _verdict(pair: Comparison) -> str:
    if pair.differ:
        return "differ"
    return "tied" if pair.tied else "–"
