"""Sample logs of lm-eval: one JSON line for each document and filter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gnomon.contracts import AnswerFormat
from gnomon.errors import DataError
from gnomon.files import read_jsonl
from gnomon.records import Prediction

IDS = ("id", "item", "item_id")


class Sample(msgspec.Struct):
    """A line of a sample log, as far as it matters here."""

    doc_id: int
    doc: dict[str, Any]
    filtered_resps: list[Any]
    filter: str = "none"
    arguments: Any = None


def recognises(file: Path, head: Sequence[str]) -> bool:
    """A JSON line with the fields that every sample has."""
    if not head:
        return False
    line = head[0]
    return line.startswith("{") and '"filtered_resps"' in line and '"doc"' in line


def read(file: Path) -> Iterator[Prediction]:
    """Multiple choice has one (log-likelihood, greedy) pair a choice; generation has the reply.

    A task with several filters writes each document once for each. All but one must be left out, so
    a file with several is refused unless they agree on the filter "none".
    """
    chosen = _filter(file)
    for line, sample in read_jsonl(file, Sample):
        if sample.filter == chosen:
            yield _prediction(line, sample)


def _filter(file: Path) -> str:
    """The filter whose answers count: the only one, or "none"."""
    names: dict[str, None] = {}
    for _, sample in read_jsonl(file, Sample):
        names[sample.filter] = None
    if len(names) == 1 or not names:
        return next(iter(names), "none")
    if "none" in names:
        return "none"
    raise DataError(
        f"the samples went through several filters: {', '.join(names)}.",
        "Keep the lines of the filter that you mean, for example with grep.",
        file=file,
    )


def _prediction(line: int, sample: Sample) -> Prediction:
    item: str | int = sample.doc_id
    for key in IDS:
        if key in sample.doc:
            item = str(sample.doc[key])
            break
    replies = sample.filtered_resps
    if replies and all(isinstance(reply, list) and reply for reply in replies):
        scores = [reply[0] for reply in replies]
        return Prediction(line, item, scores=scores, choices=_asked(sample.arguments, len(scores)))
    reply = str(replies[0]) if replies else None
    return Prediction(line, item, reply=reply)


def _asked(arguments: Any, count: int) -> list[str] | None:
    """The text of each choice, as the model was asked it; none if the log does not say."""
    if isinstance(arguments, Mapping):
        pairs = [arguments.get(f"gen_args_{place}") for place in range(count)]
        texts = [pair.get("arg_1") if isinstance(pair, Mapping) else None for pair in pairs]
    elif isinstance(arguments, list) and len(arguments) == count:
        texts = [
            pair[1] if isinstance(pair, list) and len(pair) > 1 else None for pair in arguments
        ]
    else:
        return None
    if not all(isinstance(text, str) for text in texts):
        return None
    return [str(text).strip() for text in texts]


FORMAT = AnswerFormat(name="lm-eval", recognises=recognises, read=read)
