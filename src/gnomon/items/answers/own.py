"""Tables and JSON lines: each row has an item's id, and a label, scores or a column a choice."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from gnomon.contracts import AnswerFormat
from gnomon.errors import DataError
from gnomon.files import delimiter_of, read_jsonl, read_lines, read_table
from gnomon.items.answers.logs import predictions_by_text
from gnomon.items.mapping import column_names, columns_among, named_columns
from gnomon.records import Prediction


def read(file: Path, *, column: str = "") -> Iterator[Prediction]:
    """The rows of a file.

    column   the column that holds the answer, where several could
    """
    for number, (line, row) in enumerate(_rows(file)):
        if not number and not column and not _names_items(row):
            yield from predictions_by_text(file)
            return
        yield _prediction(file, line, row, column)


def _names_items(row: Mapping[str, Any]) -> bool:
    """Whether a row has an id, or no question by which its item could be found instead."""
    known = column_names()
    by_name = named_columns(row)
    has_id = any(name in row for name in known.answers["id"])
    return has_id or not columns_among(by_name, known.usual["text"])


def _rows(file: Path) -> Iterable[tuple[int, Mapping[str, Any]]]:
    name = file.name.removesuffix(".gz")
    if name.endswith((".jsonl", ".json", ".ndjson")):
        return read_jsonl(file, dict[str, Any])
    head = next(read_lines(file), (1, ""))[1]
    delimiter = delimiter_of(file)
    _check_header(file, head, delimiter)
    return read_table(file, (), delimiter=delimiter)


def _check_header(file: Path, head: str, delimiter: str) -> None:
    """Of two columns with one name, only the last would be seen."""
    try:
        columns = next(csv.reader([head], delimiter=delimiter), [])
    except csv.Error:
        return  # the reader of tables says what is wrong
    for column in columns:
        if columns.count(column) > 1:
            raise DataError(
                f"two columns are named '{column}'.", "Rename or remove one.", file=file, line=1
            )


def _prediction(file: Path, line: int, row: Mapping[str, Any], column: str) -> Prediction:
    answer = _answer_column(file, line, row, column)
    names = column_names().answers
    scores = _first(row, names["scores"])
    if scores is None:
        known = {*chain(*names.values()), "reply", "error", "choices"}
        others = {name: value for name, value in row.items() if name not in known}
        scores = others or None
    return Prediction(
        line,
        _id(file, line, row),
        label=_text(file, line, row, answer),
        scores=scores,
        reply=_text(file, line, row, "reply") or None,
        error=_text(file, line, row, "error") or None,
        choices=_shown(file, line, row),
    )


def _shown(file: Path, line: int, row: Mapping[str, Any]) -> list[str] | None:
    """The options as the model was shown them, in the order of the letters A, B, ...

    In a table they stand in one cell, with | between them.
    """
    listed = row.get("choices")
    if isinstance(listed, str) and "|" in listed:
        return [choice.strip() for choice in listed.split("|")]
    if not listed:
        return None
    if not isinstance(listed, list) or not all(isinstance(choice, str) for choice in listed):
        raise DataError(
            "the field choices must be a list of texts.",
            "List the options as they were shown, the first one for A; in a table, A | B | C.",
            file=file,
            line=line,
        )
    return listed


def _id(file: Path, line: int, row: Mapping[str, Any]) -> str:
    for name in column_names().answers["id"]:
        value = row.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            return str(value)
    raise DataError(
        "there is no field id.",
        f"Name the item in a column id. The columns are: {', '.join(row)}.",
        file=file,
        line=line,
    )


def _answer_column(file: Path, line: int, row: Mapping[str, Any], column: str) -> str:
    """Where the answer stands; empty if the row has scores or a reply instead."""
    if column:
        if column in row:
            return column
        raise DataError(
            f"there is no column '{column}'.",
            f"The columns are: {', '.join(row)}.",
            file=file,
            line=line,
        )
    found = [name for name in column_names().answers["answer"] if name in row]
    if len(found) > 1:  # one of them may hold the right answers
        raise DataError(
            f"several columns could be the answer: {', '.join(found)}.",
            f"Say which with the option column, such as --set column={found[-1]}.",
            file=file,
            line=line,
        )
    return found[0] if found else ""


def _first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    for name in names:
        if row.get(name) is not None:
            return row[name]
    return None


def _text(file: Path, line: int, row: Mapping[str, Any], name: str) -> str | None:
    """A field as text: none if it is not there, empty if it is there without a value."""
    if name not in row:
        return None
    value = row[name]
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    raise DataError(
        f"the field {name} is not a text.", "Write it as one text.", file=file, line=line
    )


FORMAT = AnswerFormat(name="table", recognises=lambda file, head: True, read=read)
