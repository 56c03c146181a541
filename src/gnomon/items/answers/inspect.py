"""Logs of Inspect: .eval archives, as it writes them by default, and .json.

Every sample lists its own choices, perhaps shuffled: a letter means one of those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from string import ascii_uppercase

import msgspec

from gnomon.contracts import AnswerFormat
from gnomon.errors import DataError
from gnomon.files import read_json
from gnomon.items.answers.archive import unpacked
from gnomon.records import Prediction

LOG_LIMIT = 256 * 2**20  # bytes of a log that is one JSON object: it has to be read whole
REASON = 500  # characters of a reason for failure


class _Spoken(msgspec.Struct):
    completion: str = ""


class _Scored(msgspec.Struct):
    answer: str | None = None


class _Error(msgspec.Struct):
    message: str = ""


class Sample(msgspec.Struct):
    """The fields of a sample of an Inspect log that are read."""

    id: str | int
    epoch: int = 1
    choices: list[str] | None = None
    output: _Spoken = msgspec.field(default_factory=_Spoken)
    scores: dict[str, _Scored] | None = None
    error: _Error | None = None


class Log(msgspec.Struct):
    """The fields of a log that are read."""

    samples: list[Sample] | None = None


def recognises(file: Path, head: Sequence[str]) -> bool:
    """An archive by its ending; one JSON object by its first fields."""
    if file.suffix == ".eval":
        return True
    if not file.name.removesuffix(".gz").endswith(".json"):
        return False
    text = "".join(head)[:4096]
    return text.lstrip().startswith("{") and '"version"' in text and '"status"' in text


def read(file: Path) -> Iterator[Prediction]:
    """Samples of the first epoch."""
    samples = _samples(file)
    first: int | None = None
    number = 0
    for number, sample in enumerate(samples(), start=1):
        if sample.epoch != 1:
            continue
        said = _prediction(number, sample)
        if isinstance(said.item, int):
            if first is None:
                first = _first_number(samples())
            said = said._replace(item=said.item - first)
        yield said
    if not number:
        raise DataError(
            "the log has no samples.", "Run the task without --no-log-samples.", file=file
        )


def _first_number(samples: Iterable[Sample]) -> int:
    """Where ids are numbers: Inspect itself counts from 1, people also from 0."""
    return 0 if any(sample.id == 0 for sample in samples) else 1


def _samples(file: Path) -> Callable[[], Iterable[Sample]]:
    """The samples, to be read any number of times; those of an archive are never all in memory."""
    if file.suffix == ".eval":
        return partial(_members, file)
    samples = read_json(file, Log, limit=LOG_LIMIT).samples or []
    return lambda: samples


def _members(file: Path) -> Iterator[Sample]:
    decode = msgspec.json.Decoder(Sample).decode
    for name, raw in unpacked(file, "samples/", ".json"):
        try:
            yield decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise DataError(
                f"{name} is not a sample of Inspect: {error}.",
                "Write the log again with Inspect.",
                file=file,
            ) from None


def _prediction(number: int, sample: Sample) -> Prediction:
    if sample.error is not None:
        reason = sample.error.message[:REASON] or "failed"
        return Prediction(number, sample.id, error=reason)
    answer = _answer(sample)
    reply = sample.output.completion or answer
    if not sample.choices:
        return Prediction(number, sample.id, reply=reply)
    place = _place(answer, len(sample.choices))
    return Prediction(number, sample.id, place=place, choices=sample.choices, reply=reply)


def _answer(sample: Sample) -> str | None:
    """What the first scorer that found an answer took it for."""
    for scored in (sample.scores or {}).values():
        if scored.answer:
            return scored.answer.strip()
    return None


def _place(answer: str | None, count: int) -> int | None:
    """The place of a letter among so many choices; none for anything else."""
    letters = ascii_uppercase[:count]
    if not answer or len(answer) != 1 or answer.upper() not in letters:
        return None
    return letters.index(answer.upper())


FORMAT = AnswerFormat(name="inspect", recognises=recognises, read=read)
