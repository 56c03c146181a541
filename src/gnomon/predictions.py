"""Answers that were given elsewhere, read from a file and joined with the items by id.

CSV and TSV with the columns id and label (or a column for each choice: its probability), and JSON lines with the same
fields or with Gnomon's own Answer records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gnomon.errors import DataError
from gnomon.files import read_jsonl, read_lines, read_table
from gnomon.records import Answer, Item, pick

IDS, LABELS = ("id", "item", "item_id"), ("label", "choice", "prediction", "answer")


def read_predictions(file: str, items: Iterable[Item]) -> Iterator[tuple[Item, Answer | None]]:
    """Every item with the answer that the file has for it, or none."""
    found = dict(_records(Path(file)))
    used = 0
    for item in items:
        record = found.get(item.id)
        used += record is not None
        yield item, None if record is None else _answer(item, *record, file)
    if not used:
        raise DataError("no id in the file is the id of an item.", "Give the benchmark, its source and its options as "
                        "they were when the answers were made.", file=file)


def _records(file: Path) -> Iterator[tuple[str, tuple[int, dict[str, Any]]]]:
    name = file.name.removesuffix(".gz")
    rows: Iterable[tuple[int, dict[str, Any]]]
    if name.endswith((".jsonl", ".json", ".ndjson")):
        rows = read_jsonl(file, dict[str, Any])
    else:
        head = next(read_lines(file), (1, ""))[1]
        rows = read_table(file, (), delimiter="\t" if "\t" in head else ",")
    seen: dict[str, int] = {}
    for line, row in rows:
        key = next((name for name in IDS if name in row), None)
        if key is None:
            raise DataError("there is no field id.", f"It has: {', '.join(row)}.", file=file, line=line)
        name = str(row[key])
        if name in seen:
            raise DataError(f"the id '{name}' was there already, in line {seen[name]}.", "Remove one of the two.",
                            file=file, line=line)
        seen[name] = line
        yield name, (line, row)


def _answer(item: Item, line: int, row: dict[str, Any], file: str) -> Answer:
    scores = _scores(item, row, file, line)
    label = next((row[name] for name in LABELS if name in row), None)
    error = row.get("error")
    if label is None and scores is not None:
        return pick(item, scores)
    choice = None if label in (None, "") else str(label)
    return Answer(item=item.id, choice=choice, scores=scores, reply=row.get("reply") or None, error=error or None)


def _scores(item: Item, row: dict[str, Any], file: str, line: int) -> tuple[float, ...] | None:
    """From a list `scores`, a mapping `probabilities`, or a column for each choice."""
    given = row.get("scores", row.get("probabilities"))
    if given is None and all(choice in row for choice in item.choices):
        given = [row[choice] for choice in item.choices]
    if given is None:
        return None
    if isinstance(given, dict):
        given = [given.get(choice) for choice in item.choices]
    if not isinstance(given, list) or len(given) != len(item.choices):
        raise DataError(f"there must be {len(item.choices)} scores, one for each choice of item '{item.id}'.",
                        f"Its choices: {', '.join(item.choices)}.", file=file, line=line)
    try:
        return tuple(float("nan") if value in (None, "") else float(value) for value in given)
    except (TypeError, ValueError):
        raise DataError("a score is not a number.", "Mend the line.", file=file, line=line) from None
