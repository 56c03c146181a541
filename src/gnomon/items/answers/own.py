"""Tables and JSON lines of answers, as any program can write them.

Joined with a benchmark, a row has an item's id, and a label, scores or a column a choice. As a log
of its own, a row has a question with a reply, or whether the answer was right.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from gnomon.contracts import AnswerFormat
from gnomon.errors import DataError
from gnomon.items.mapping import column_names, columns_among, named_columns
from gnomon.items.rows import raw_rows
from gnomon.items.shapes import LogRow, Row, asks, joined_events, opened
from gnomon.items.values import scalar
from gnomon.records import Prediction


def read(file: Path, *, column: str = "") -> Iterator[Prediction]:
    """The rows of a file.

    column   the column that holds the answer, where several could
    """
    for number, (line, row) in enumerate(raw_rows(file)):
        if not number and not column and not _names_items(row):
            from gnomon.items.answers.logs import predictions_by_text

            yield from predictions_by_text(file)
            return
        yield _prediction(file, line, row, column)


def _names_items(row: Mapping[str, Any]) -> bool:
    """Whether a row has an id, or no question by which its item could be found instead."""
    known = column_names()
    by_name = named_columns(row)
    has_id = any(name in row for name in known.answers["id"])
    return has_id or not columns_among(by_name, known.usual["text"])


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


def log_rows(file: Path) -> Iterator[LogRow]:
    """The rows of a table that needs no benchmark: VLMEvalKit's, or any with predictions."""

    def rows() -> Iterator[tuple[int, Row]]:
        return ((line, opened(row)) for line, row in joined_events(raw_rows(file)))

    _, first = next(rows(), (0, {}))
    known = column_names()
    by_name = named_columns(first)
    replies = columns_among(by_name, known.logs["reply"])
    flags = columns_among(by_name, known.logs["correct"])
    models = columns_among(by_name, known.logs["model"])[:1]
    _check_columns(file, first, replies, flags)
    golds = columns_among(by_name, (*known.usual["gold"], *known.seldom["gold"]))
    by_place = not asks(first) and not flags and bool(golds)
    ids = columns_among(by_name, (*known.usual["id"], *known.seldom["id"]))
    for line, row in rows():
        reply = scalar(row.get(replies[0])) if replies else None
        name = (scalar(row.get(ids[0])) if ids else None) or str(line)
        model = _name(row.get(models[0])) if models else ""
        outcome = row.get(flags[0]) if flags else None
        answered = {*replies, *models, *flags}
        question = {key: value for key, value in row.items() if key not in answered}
        if by_place:  # labels beside labels, as classifiers write them
            question = {"question": f"Row {name}", "answer": row.get(golds[0])}
        yield LogRow(Prediction(line, name, reply=reply or ""), question, outcome, model=model)


def _name(value: Any) -> str:
    """The name of a model, which may be in a record."""
    if isinstance(value, dict):
        value = value.get("id", value.get("name"))
    return scalar(value) or ""


def _check_columns(file: Path, columns: Row, replies: Sequence[str], flags: Sequence[str]) -> None:
    """Refuse a table without answers, or one in which several columns could be the answer."""
    if not replies and not flags:
        listed = ", ".join(columns) or "none"
        ask = f"If these are questions to ask: gnomon run {file} -m MODEL" * asks(columns)
        raise DataError(
            "no column holds what a model said or whether it was right.",
            f"Call it prediction, or correct. The columns are: {listed}.\n{ask}\n"
            f"If it answers a benchmark: gnomon score --answers {file} --benchmark NAME",
            file=file,
        )
    if len(replies) > 1:
        raise DataError(
            f"several columns could be the answer: {', '.join(replies)}.",
            "Keep one of them.",
            file=file,
        )


FORMAT = AnswerFormat(name="table", recognises=lambda file, head: True, read=read)
