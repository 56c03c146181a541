"""Logs of Inspect: .eval archives, as it writes them by default, and .json."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gnomon.contracts import AnswerFormat
from gnomon.errors import DataError
from gnomon.files import read_json
from gnomon.records import Prediction

MEMBER_LIMIT = 64 * 2**20  # bytes in one member of an archive, unpacked
ARCHIVE_LIMIT = 1 * 2**30  # bytes in all of them together, and in a log that is one JSON object
ZSTD = 93  # the zip method of Inspect's default


class _Spoken(msgspec.Struct):
    completion: str = ""


class _Scored(msgspec.Struct):
    answer: str | None = None


class _Error(msgspec.Struct):
    message: str = ""


class Sample(msgspec.Struct):
    """A sample of an Inspect log, as far as it matters here."""

    id: str | int
    epoch: int = 1
    choices: list[str] | None = None
    output: _Spoken = msgspec.field(default_factory=_Spoken)
    scores: dict[str, _Scored] | None = None
    error: _Error | None = None


class Log(msgspec.Struct):
    samples: list[Sample] | None = None


def read(file: Path) -> Iterator[Prediction]:
    """Samples of the first epoch. A multiple-choice answer is a letter; else the reply is read."""
    samples = (
        _members(file)
        if file.suffix == ".eval"
        else read_json(file, Log, limit=ARCHIVE_LIMIT).samples
    )
    if not samples:
        raise DataError(
            "the log has no samples.", "Was it written with --no-log-samples?", file=file
        )
    for number, sample in enumerate(samples, start=1):
        if sample.epoch != 1:
            continue
        name = (
            sample.id if isinstance(sample.id, str) else sample.id - 1
        )  # Inspect counts from 1 where ids are missing
        if sample.error is not None:
            yield Prediction(number, name, error=sample.error.message[:500] or "failed")
            continue
        answer = next((s.answer for s in (sample.scores or {}).values() if s.answer), None)
        place = _letter(answer, len(sample.choices)) if sample.choices else None
        yield Prediction(number, name, place=place, reply=sample.output.completion or answer)


def _letter(answer: str | None, choices: int) -> int | None:
    place = ord(answer.strip().upper()) - ord("A") if answer and len(answer.strip()) == 1 else -1
    return place if 0 <= place < choices else None


def _members(file: Path) -> list[Sample]:
    """The samples in an .eval archive, each bounded, in the order of the archive."""
    decode = msgspec.json.Decoder(Sample).decode
    found, total = [], 0
    try:
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                if not (
                    member.filename.startswith("samples/") and member.filename.endswith(".json")
                ):
                    continue
                total += member.file_size
                if member.file_size > MEMBER_LIMIT or total > ARCHIVE_LIMIT:
                    raise DataError(
                        f"{member.filename} unpacks to too much.",
                        "Is this the right file?",
                        file=file,
                    )
                with archive.open(member) as stream:
                    raw = stream.read(MEMBER_LIMIT + 1)
                found.append(decode(raw))
    except (NotImplementedError, RuntimeError):
        raise DataError(
            "the archive is compressed in a way that this Python cannot read.",
            "Convert it with `inspect log convert --to json`, and give the .json file.",
            file=file,
        ) from None
    except (zipfile.BadZipFile, EOFError, msgspec.MsgspecError, OSError) as error:
        raise DataError(
            f"not an Inspect log: {error}.", "Is this the right file?", file=file
        ) from None
    return found


def recognises(file: Path, head: Sequence[str]) -> bool:
    """An archive by its ending; one JSON object by its first fields."""
    if file.suffix == ".eval":
        return True
    if not file.name.removesuffix(".gz").endswith(".json"):
        return False
    text = "".join(head)[:4096]
    return text.lstrip().startswith("{") and '"version"' in text and '"status"' in text


FORMAT = AnswerFormat(name="inspect", recognises=recognises, read=read)
