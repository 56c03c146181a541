"""Answers in logs of Inspect, and the members of the archives that they are."""

import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import IO, Any

import msgspec

from gnomon.contracts import AnswerFormat
from gnomon.errors import DataError, importing
from gnomon.items.converting import short_values
from gnomon.items.rows import raw_rows
from gnomon.items.shapes import LOG_SHAPES, LogRow, Row
from gnomon.records import Item, Prediction, problem

# Members of a zip archive, one after the other and bounded, also those packed with zstd.
#
# Inspect packs with zstd (zip method 93), which Python's zipfile cannot read before 3.14.


MEMBER_LIMIT = 64 * 2**20  # bytes of one member, unpacked
ARCHIVE_LIMIT = 4 * 2**30  # bytes of all of them together
ZSTD = 93
WINDOW = 2**26  # bytes that unpacking may look back, and so hold
LOCAL_HEADER = struct.Struct("<4s22xHH")  # signature ... lengths of name and extra field
SIGNATURE = b"PK\x03\x04"


def unpacked(file: Path, start: str, end: str | tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every member whose name starts and ends so, in the archive's order."""
    total = 0
    try:
        with file.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            for member in archive.infolist():
                if not (member.filename.startswith(start) and member.filename.endswith(end)):
                    continue
                if max(member.file_size, member.compress_size) > MEMBER_LIMIT:
                    raise _too_much(file, member)
                raw = _unpack(archive, member, stream)  # a header may claim less than there is
                total += len(raw)
                if len(raw) > MEMBER_LIMIT or total > ARCHIVE_LIMIT:
                    raise _too_much(file, member)
                yield member.filename, raw
    except (zipfile.BadZipFile, EOFError, zlib.error, struct.error, OSError, UnicodeError) as error:
        raise _damaged(file, error) from None
    except (NotImplementedError, RuntimeError) as error:  # another method; a password
        raise DataError(
            f"the archive cannot be unpacked: {error}.",
            "Convert it with `inspect log convert --to json`, and give the .json file.",
            file=file,
        ) from None


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, stream: IO[bytes]) -> bytes:
    """At most one byte more than the limit allows."""
    if member.compress_type == ZSTD:
        return _unpack_zstd(member, stream)
    with archive.open(member) as packed:
        return packed.read(MEMBER_LIMIT + 1)


def _unpack_zstd(member: zipfile.ZipInfo, stream: IO[bytes]) -> bytes:
    with importing("Reading Inspect's .eval logs", "inspect"):
        import zstandard

    stream.seek(member.header_offset)
    signature, name, extra = LOCAL_HEADER.unpack(stream.read(LOCAL_HEADER.size))
    if signature != SIGNATURE:
        raise zipfile.BadZipFile(f"{member.filename} has no header")
    stream.seek(name + extra, 1)
    packed = stream.read(member.compress_size)
    unpacker = zstandard.ZstdDecompressor(max_window_size=WINDOW)
    try:
        with unpacker.stream_reader(packed, read_across_frames=True) as reader:
            raw = reader.read(MEMBER_LIMIT + 1)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(f"{member.filename}: {error}") from None
    if len(raw) <= MEMBER_LIMIT and zlib.crc32(raw) != member.CRC:
        raise zipfile.BadZipFile(f"bad checksum of {member.filename}")
    return raw


def _too_much(file: Path, member: zipfile.ZipInfo) -> DataError:
    return DataError(
        f"{member.filename} unpacks to too much (at most {MEMBER_LIMIT // 2**20} MB a sample, "
        f"{ARCHIVE_LIMIT // 2**30} GB in all).",
        "Log fewer samples in one file, or score them in parts.",
        file=file,
    )


def _damaged(file: Path, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError("there is no such file.", "Check the path.", file=file)
    return DataError(f"the archive is damaged: {error}.", "Copy or write the log again.", file=file)


MOST_EPOCHS = 100_000
_AGAIN = "Write the log again with Inspect."
REASON = 500  # characters of a reason for failure


class _Spoken(msgspec.Struct):
    completion: str = ""


class _Scored(msgspec.Struct):
    answer: str | None = None


class _Error(msgspec.Struct):
    message: str = ""


class InspectSample(msgspec.Struct):
    """The fields of a sample of an Inspect log that are read."""

    id: str | int
    epoch: int = 1
    choices: list[str] | None = None
    target: str | list[str] = ""
    metadata: dict[str, Any] = {}
    output: _Spoken = msgspec.field(default_factory=_Spoken)
    scores: dict[str, _Scored] | None = None
    error: _Error | None = None


def recognises(file: Path, head: Sequence[str]) -> bool:
    """An archive by its ending; one JSON object by its first fields."""
    if file.suffix == ".eval":
        return True
    if not file.name.removesuffix(".gz").endswith(".json"):
        return False
    text = "".join(head)[:4096]
    return text.lstrip().startswith("{") and '"version"' in text and '"status"' in text


def read(file: Path) -> Iterator[Prediction]:
    """Samples of the first epoch; ids that are numbers are places, counted from 0."""
    first: int | None = None
    row = None
    for row in log_rows(file):
        if row.sample:
            continue
        said = row.said
        if isinstance(said.item, int):
            if first is None:
                first = _first_number(file)
            said = said._replace(item=said.item - first)
        yield said
    if row is None:
        raise DataError(
            "the log has no samples.", "Run the task without --no-log-samples.", file=file
        )


def _first_number(file: Path) -> int:
    """Where ids are numbers: Inspect itself counts from 1, people also from 0."""
    return 0 if any(row.said.item == 0 for row in log_rows(file)) else 1


def log_rows(file: Path) -> Iterator[LogRow]:
    """The samples with their epochs; those of an archive are never all in memory."""
    for line, row in raw_rows(file):
        try:
            sample = msgspec.convert(row, InspectSample)
        except msgspec.ValidationError as error:
            raise DataError(
                f"not a sample of Inspect: {error}.", _AGAIN, file=file, line=line
            ) from None
        question = LOG_SHAPES["inspect"].question(row)
        said = prediction_of(line, sample)
        epoch = min(max(1, sample.epoch), MOST_EPOCHS)
        yield LogRow(said, question, _outcome(row), _item(question, sample), sample=epoch - 1)


def _item(question: Row, sample: InspectSample) -> Item | None:
    """The item of a sample with choices, whose target is a letter or several."""
    choices = tuple(sample.choices or ())
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    places = [_place(target.strip(), len(choices)) for target in targets]
    gold = [choices[place] for place in places if place is not None]
    if not choices or len(gold) != len(targets):
        return None
    tags = dict(short_values(sample.metadata.items()))
    item = Item(
        id=str(sample.id),
        form="choice",
        text=str(question.get("input", "")),
        choices=choices,
        gold=tuple(gold),
        tags=tags,
    )
    return None if problem(item) else item


def samples_of(file: Path) -> Iterator[Row]:
    """The samples of an archive, one after the other."""
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    for name, raw in unpacked(file, "samples/", ".json"):
        try:
            yield decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise DataError(
                f"{name} is not a sample of Inspect: {error}.", _AGAIN, file=file
            ) from None


def prediction_of(number: int, sample: InspectSample) -> Prediction:
    """What a sample says of its question."""
    if sample.error is not None:
        reason = sample.error.message[:REASON] or "failed"
        return Prediction(number, sample.id, error=reason)
    answer = _answer(sample)
    reply = sample.output.completion or answer
    if not sample.choices:
        return Prediction(number, sample.id, reply=reply)
    place = _place(answer, len(sample.choices))
    return Prediction(number, sample.id, place=place, choices=sample.choices, reply=reply)


def _outcome(row: Row) -> Any:
    """Whether the first scorer took a sample for right: C or I, or 1 or 0."""
    for scored in (row.get("scores") or {}).values():
        if isinstance(scored, dict):
            return scored.get("value")
    return None


def _answer(sample: InspectSample) -> str | None:
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
