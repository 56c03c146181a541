"""Sample logs of lm-eval, and of lmms-eval: one JSON line for each document and filter."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gnomon.contracts import AnswerFormat
from gnomon.errors import DataError
from gnomon.items.converting import short_values
from gnomon.items.mapping import column_names, columns_among, named_columns, question_text
from gnomon.items.rows import raw_rows, rows_of_log
from gnomon.items.shapes import LOG_SHAPES, LogRow, Row
from gnomon.items.values import scalar
from gnomon.records import Item, Prediction, problem

UNFILTERED = "none"  # lm-eval's name for replies as they are
METRICS = ("acc", "exact_match", "em", "acc_norm")  # where a sample does not list its own


class Request(msgspec.Struct):
    """What the model was given: of multiple choice, the question and one of the choices."""

    arg_1: Any = None


class Sample(msgspec.Struct):
    """The fields of a line of a sample log that are read."""

    doc_id: int
    filtered_resps: list[Any] | str
    doc: dict[str, Any] = {}
    filter: str = UNFILTERED
    arguments: dict[str, Request] | list[list[Any]] | None = None  # lists in old versions


def recognises(file: Path, head: Sequence[str]) -> bool:
    """A JSON line with the fields that every sample has."""
    if not head:
        return False
    line = head[0]
    return line.startswith("{") and '"filtered_resps"' in line and '"doc"' in line


def read(file: Path, *, filter: str = "") -> Iterator[Prediction]:
    """Multiple choice has one (log-likelihood, greedy) pair a choice; generation has the reply.

    filter   whose replies count, where a task has several; "none" if it is one of them
    """
    for line, sample, _ in _samples(file, filter):
        yield prediction_of(file, line, sample)


def log_rows(file: Path) -> Iterator[LogRow]:
    """The samples, of each filter apart where there are several and none keeps replies whole."""
    found = {str(row.get("filter", UNFILTERED)) for _, row in raw_rows(file)}
    several = sorted(found) if len(found) > 1 and UNFILTERED not in found else [""]
    for name in several:
        yield from _log_rows(file, name)


def _log_rows(file: Path, filter: str) -> Iterator[LogRow]:
    for line, sample, row in _samples(file, filter):
        name = str(sample.doc_id)
        question = {**LOG_SHAPES["lm-eval"].question(row), "doc_id": sample.doc_id}
        for number, reply in enumerate(_repeats(sample)):
            one = msgspec.structs.replace(sample, filtered_resps=reply)
            if not _has_scores(one) or _choices(one):
                said = prediction_of(file, line, one)._replace(item=name)
            else:  # lmms-eval does not say which choices it scored
                said = Prediction(line, name)
            item = _item(name, sample.doc, said, row.get("target"))
            yield LogRow(said, question, _metric(row), item, sample=number, filter=filter)


def _samples(file: Path, filter: str) -> Iterator[tuple[int, Sample, Row]]:
    """Line, fields and row of each sample of one filter."""
    chosen = chosen_filter(file, filter)
    for line, row in rows_of_log(file, "lm-eval"):
        if row.get("filter", UNFILTERED) != chosen:
            continue
        try:
            sample = msgspec.convert(row, Sample)
        except msgspec.ValidationError as error:
            raise DataError(f"not a sample: {error}.", file=file, line=line) from None
        if isinstance(sample.filtered_resps, str):
            sample.filtered_resps = [sample.filtered_resps]
        yield line, sample, row


def _has_scores(sample: Sample) -> bool:
    return any(isinstance(reply, list) for reply in sample.filtered_resps)


def _repeats(sample: Sample) -> list[list[Any]]:
    """The replies to a document that was asked several times, one after the other."""
    replies = list(sample.filtered_resps)
    if len(replies) == 1 and isinstance(replies[0], list):
        replies = replies[0]
    if len(replies) > 1 and all(isinstance(reply, str) for reply in replies):
        return [[reply] for reply in replies]
    return [list(sample.filtered_resps)]


def _item(name: str, doc: Row, said: Prediction, target: Any) -> Item | None:
    """The item of a multiple-choice sample, whose target is the place or the text of a choice."""
    if not said.choices or said.scores is None:
        return None
    choices = tuple(said.choices)
    text = scalar(target)
    if text is not None and text.strip() not in choices and text.isdecimal():
        place = int(text[:9])
        text = choices[place] if place < len(choices) else None
    gold = (text.strip(),) if text is not None else ()
    tags = dict(short_values(doc.items()))
    text = question_text(doc)
    item = Item(id=name, form="choice", text=text, choices=choices, gold=gold, tags=tags)
    return None if problem(item) else item


def _metric(row: Row) -> Any:
    """Whether a sample counted as right, by the first measure that says so."""
    names = row.get("metrics")
    for name in (*(names if isinstance(names, list) else ()), *METRICS):
        if isinstance(row.get(name), int | float):
            return row[name]
    flags = column_names().logs["correct"]
    for value in row.values():  # lmms-eval's measures are records
        if isinstance(value, dict) and value is not row.get("doc"):
            for flag in columns_among(named_columns(value), flags):
                return value[flag]
    return None


def chosen_filter(file: Path, wanted: str) -> str:
    """The filter whose replies count. A task with several writes each document once for each."""
    found = {str(row.get("filter", UNFILTERED)) for _, row in raw_rows(file)}
    names = ", ".join(sorted(found))
    if wanted:
        if wanted in found:
            return wanted
        raise DataError(
            f"there are no samples of the filter '{wanted}'.",
            f"Name one of these with --set filter=NAME: {names}.",
            file=file,
        )
    if len(found) == 1:
        return found.pop()
    if UNFILTERED in found or not found:
        return UNFILTERED
    raise DataError(
        f"the samples went through several filters: {names}.",
        f"Say which with the option filter, such as --set filter={min(found)}.",
        file=file,
    )


def prediction_of(file: Path, line: int, sample: Sample) -> Prediction:
    """What a sample says of its document: a reply, or a score for each choice."""
    item = _id(sample)
    replies = sample.filtered_resps
    if not replies:
        return Prediction(line, item)
    if len(replies) == 1 and isinstance(replies[0], str):
        return Prediction(line, item, reply=replies[0])
    if not all(isinstance(reply, list) and reply for reply in replies):
        raise DataError(
            "filtered_resps is neither one reply nor a score for each choice.",
            "Log the samples of a multiple_choice or generate_until task.",
            file=file,
            line=line,
        )
    choices = _choices(sample)
    if len(choices) != len(replies):
        raise DataError(
            "the log does not say which score belongs to which choice.",
            "Log the samples again with a version of lm-eval that keeps the arguments.",
            file=file,
            line=line,
        )
    scores = [reply[0] for reply in replies]
    return Prediction(line, item, scores=scores, choices=choices)


def _id(sample: Sample) -> str | int:
    """The item's id, if the document has one; else the document's place, counted from 0."""
    for key in column_names().answers["id"]:
        if key in sample.doc:
            return str(sample.doc[key])
    return sample.doc_id


def _choices(sample: Sample) -> list[str]:
    """The name of each choice; empty if the log does not say.

    A task that `gnomon make --as lm-eval` wrote keeps the item's own labels beside the words that
    the model was given for them. Of other tasks these words are the names.
    """
    asked = _asked(sample)
    words, labels = sample.doc.get("choices"), sample.doc.get("labels")
    if not isinstance(words, list) or not isinstance(labels, list) or len(words) != len(labels):
        return asked
    if asked != [str(word).strip() for word in words]:
        return asked
    return [str(label) for label in labels]


def _asked(sample: Sample) -> list[str]:
    """The text of each choice, as the model was given it."""
    asked: list[Any] = []
    if isinstance(sample.arguments, dict):
        for place in range(len(sample.arguments)):
            asked.append(sample.arguments.get(f"gen_args_{place}", Request()).arg_1)
    elif sample.arguments:
        asked = [pair[-1] for pair in sample.arguments if pair]
    return [text.strip() for text in asked if isinstance(text, str)]


FORMAT = AnswerFormat(name="lm-eval", recognises=recognises, read=read)
