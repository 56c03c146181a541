"""How far what `gnomon look` found agrees with our own tables and with the published ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.contracts import Listing
from gnomon.measures.scoring import score_table
from gnomon.measures.sharing import Sharing
from gnomon.measures.table import Table
from gnomon.registry import benchmark, meetings
from gnomon.reports.words import percentage

if TYPE_CHECKING:
    from gnomon.records import Answer, Item

COLUMNS = ("property", "beside", "meet", "agree", "in percent", "95 % interval")
MOST_NAMED = 20  # disagreements that are listed


def agreement(knowledge: str, data: str = "") -> list[dict[str, Any]]:
    """One record for each property and each table that it meets; the interval is over objects.

    `disagree` names the first findings that differ: what was asked, what the pictures say, and what
    the table says.
    """
    met: dict[tuple[str, str, str], list[tuple[Item, Answer]]] = {}
    for meet in meetings():
        for asked, property, beside, item, answer in meet(knowledge, data):
            met.setdefault((asked, property, beside), []).append((item, answer))
    return [_record(*key, rows) for key, rows in met.items()]


def _record(
    name: str, property: str, beside: str, rows: list[tuple[Item, Answer]]
) -> dict[str, Any]:
    asked = benchmark(name)
    table = Table.of(rows, benchmark=asked.name, sharing=Sharing.of(asked))
    (score,) = score_table(table, ["accuracy"])
    differing = []
    for item, answer in rows:
        if answer.choice not in item.gold:
            differing.append(f"{item.group}: {answer.choice}, not {' or '.join(item.gold)}")
    return {
        "property": property,
        "beside": beside,
        "meet": len(rows),
        "agree": len(rows) - len(differing),
        "share": score.value,
        "low": score.low,
        "high": score.high,
        "units": score.units,
        "disagree": differing[:MOST_NAMED],
    }


def agreement_listing(records: list[dict[str, Any]]) -> Listing:
    """The records as a table for people."""
    rows = []
    for record in records:
        interval = ""
        if record["low"] is not None:
            interval = f"{percentage(record['low'])} to {percentage(record['high'])}"
        counts = record["meet"], record["agree"]
        share = percentage(record["share"])
        rows.append((record["property"], record["beside"], *counts, share, interval))
    return Listing("Agreement with other knowledge", COLUMNS, tuple(rows))
