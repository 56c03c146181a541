"""Sample logs of lm-eval: one JSON line for each document and filter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gnomon.answerfiles.own import IDS
from gnomon.contracts import AnswerFormat
from gnomon.errors import DataError
from gnomon.files import read_jsonl
from gnomon.records import Prediction

UNFILTERED = "none"  # lm-eval's name for replies as they are


class Sample(msgspec.Struct):
    """A line of a sample log, as far as it matters here."""

    doc_id: int
    doc: dict[str, Any]
    filtered_resps: list[Any]
    filter: str = UNFILTERED
    arguments: Any = None


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
    chosen = _chosen(file, filter)
    for line, sample in read_jsonl(file, Sample):
        if sample.filter == chosen:
            yield _prediction(file, line, sample)


def _chosen(file: Path, wanted: str) -> str:
    """The filter whose replies count. A task with several writes each document once for each."""
    found = {sample.filter for _, sample in read_jsonl(file, Sample)}
    names = ", ".join(sorted(found))
    if wanted and wanted not in found:
        raise DataError(
            f"there are no samples of the filter '{wanted}'.", f"There are: {names}.", file=file
        )
    if wanted:
        return wanted
    if len(found) == 1:
        return found.pop()
    if UNFILTERED in found or not found:
        return UNFILTERED
    raise DataError(
        f"the samples went through several filters: {names}.",
        f"Say which with the option filter, such as --filter {min(found)}.",
        file=file,
    )


def _prediction(file: Path, line: int, sample: Sample) -> Prediction:
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
    choices = _asked(sample.arguments, len(replies))
    if choices is None:
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
    for key in IDS:
        if key in sample.doc:
            return str(sample.doc[key])
    return sample.doc_id


def _asked(arguments: Any, count: int) -> list[str] | None:
    """The text of each choice, as the model was asked it; none if the log does not say."""
    texts = []
    for place in range(count):
        text = _continuation(arguments, place)
        if not isinstance(text, str):
            return None
        texts.append(text.strip())
    return texts


def _continuation(arguments: Any, place: int) -> Any:
    """What was scored at that place: {"gen_args_0": {"arg_1": TEXT}}, or [[..., TEXT]] of old."""
    if isinstance(arguments, Mapping):
        pair = arguments.get(f"gen_args_{place}")
        return pair.get("arg_1") if isinstance(pair, Mapping) else None
    if not isinstance(arguments, list) or place >= len(arguments):
        return None
    pair = arguments[place]
    return pair[1] if isinstance(pair, list) and len(pair) > 1 else None


FORMAT = AnswerFormat(name="lm-eval", recognises=recognises, read=read)
