"""Sample logs of lm-eval: one JSON line for each document and filter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gnomon.contracts import AnswerFormat
from gnomon.errors import DataError
from gnomon.files import read_jsonl
from gnomon.items.mapping import column_names
from gnomon.records import Prediction

UNFILTERED = "none"  # lm-eval's name for replies as they are


class Request(msgspec.Struct):
    """What the model was given: of multiple choice, the question and one of the choices."""

    arg_1: Any = None


class Sample(msgspec.Struct):
    """The fields of a line of a sample log that are read."""

    doc_id: int
    doc: dict[str, Any]
    filtered_resps: list[Any]
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
    chosen = chosen_filter(file, filter)
    for line, sample in read_jsonl(file, Sample):
        if sample.filter == chosen:
            yield prediction_of(file, line, sample)


def chosen_filter(file: Path, wanted: str) -> str:
    """The filter whose replies count. A task with several writes each document once for each."""
    found = {sample.filter for _, sample in read_jsonl(file, Sample)}
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
