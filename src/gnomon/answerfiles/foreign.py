"""Prediction files of other programs: what each row says about which item, whatever the program
calls it.

Read are spatialQA's results TSV, VSR's prediction lists (one 0 or 1 a line, in the order of the
items), the sample logs of lm-eval, and the logs of Inspect (.json, and .eval).
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import DataError
from gnomon.files import read_json, read_jsonl, read_lines

MEMBER_LIMIT = 64 * 2**20  # bytes in one member of an archive, unpacked
ARCHIVE_LIMIT = 2 * 2**30  # bytes in all of them together


class Prediction(NamedTuple):
    """What a file says about one item: named by id, or by its place among the items if `item` is a
    number."""

    line: int
    item: str | int
    label: str | None = None  # as the file has it; or the place of the choice, if `place` is given
    place: int | None = None
    scores: list[Any] | dict[str, Any] | None = None
    reply: str | None = None
    error: str | None = None


def sniff(file: Path) -> str:
    """Which program wrote the file: spatialqa, vsr, lm-eval, inspect, or empty if none of them."""
    if file.suffix == ".eval":
        return "inspect"
    name = file.name.removesuffix(".gz")
    head = [line for _, line in islice(read_lines(file), 3)] if not name.endswith(".json") else []
    if name.endswith(".json"):
        return "inspect" if _is_whole_json(file) else ""
    if not head:
        return ""
    if {"premise", "hypothesis", "function_name", "answer"} <= set(head[0].split("\t")):
        return "spatialqa"
    if head[0].startswith("{") and '"filtered_resps"' in head[0] and '"doc"' in head[0]:
        return "lm-eval"
    if all(line.strip() in ("0", "1") for line in head):
        return "vsr"
    return ""


def read_foreign(file: Path, program: str) -> Iterator[Prediction]:
    """The predictions in a file that `sniff` knows."""
    readers = {"spatialqa": _spatialqa, "vsr": _vsr, "lm-eval": _lm_eval, "inspect": _inspect}
    return readers[program](file)


def _spatialqa(file: Path) -> Iterator[Prediction]:
    """Rows of results-MODEL.tsv; the answer "None" is a reply that could not be read."""
    from gnomon.benchmarks.spatialqa import read

    for line, (item, row) in enumerate(read(file), start=2):
        yield Prediction(line, item.id, label=None if row["answer"] == "None" else row["answer"])


def _vsr(file: Path) -> Iterator[Prediction]:
    """One label a line: 0 is the first choice (false), 1 the second (true)."""
    for place, (line, text) in enumerate(read_lines(file)):
        if text.strip() not in ("0", "1"):
            raise DataError(
                f"'{text.strip()[:40]}' is not 0 or 1.",
                "A list of predictions has one of them a line.",
                file=file,
                line=line,
            )
        yield Prediction(line, place, place=int(text))


class _Sample(msgspec.Struct):
    """A line of an lm-eval sample log, as far as it matters here."""

    doc_id: int
    doc: dict[str, Any]
    filtered_resps: list[Any]


def _lm_eval(file: Path) -> Iterator[Prediction]:
    """Multiple choice has one (log-likelihood, greedy) pair a choice; generation has the reply."""
    for line, sample in read_jsonl(file, _Sample):
        item = next(
            (str(sample.doc[key]) for key in ("id", "item", "item_id") if key in sample.doc),
            sample.doc_id,
        )
        replies = sample.filtered_resps
        if replies and all(isinstance(reply, list) for reply in replies):
            yield Prediction(line, item, scores=[reply[0] for reply in replies])
        else:
            yield Prediction(line, item, reply=str(replies[0]) if replies else None)


class _Spoken(msgspec.Struct):
    completion: str = ""


class _Scored(msgspec.Struct):
    answer: str | None = None


class _Error(msgspec.Struct):
    message: str = ""


class _InspectSample(msgspec.Struct):
    """A sample of an Inspect log, as far as it matters here."""

    id: str | int
    epoch: int = 1
    choices: list[str] | None = None
    output: _Spoken = msgspec.field(default_factory=_Spoken)
    scores: dict[str, _Scored] | None = None
    error: _Error | None = None


class _InspectLog(msgspec.Struct):
    samples: list[_InspectSample] | None = None


def _inspect(file: Path) -> Iterator[Prediction]:
    """Samples of the first epoch. A multiple-choice answer is a letter; else the reply is read."""
    samples = (
        _members(file)
        if file.suffix == ".eval"
        else read_json(file, _InspectLog, limit=ARCHIVE_LIMIT).samples
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


def _members(file: Path) -> list[_InspectSample]:
    """The samples in an .eval archive, each bounded, in the order of the archive."""
    decode = msgspec.json.Decoder(_InspectSample).decode
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


def _is_whole_json(file: Path) -> bool:
    """Is the file one JSON object with samples, rather than JSON lines?"""
    with file.open("rb") as stream:
        head = stream.read(4096)
    return head.lstrip().startswith(b"{") and b'"version"' in head and b'"status"' in head
