"""Tasks for programs that ask models which see: lmms-eval, and VLMEvalKit.

Both list the choices with letters and read a letter; items without pictures are asked as well.
"""

import base64
import csv
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import msgspec

from gnomon.errors import UsageError
from gnomon.files import package_data
from gnomon.items.export.inspect import DATA, inert, lettered_records, question
from gnomon.items.export.job import Exported, Job
from gnomon.items.writing import FIELD, atomic_file, write_records
from gnomon.records import Item
from gnomon.vision.images import describe

FEW = 26  # choices: the letters of the alphabet
# What pandas takes for an empty cell, unless a space stands after it.
MISSING = {"", "#N/A", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}


def write_lmms(job: Job) -> Exported:
    """Write TASK.yaml, TASK.py, items.jsonl and the pictures."""
    data = job.folder / DATA
    items = write_records(data, _records(job))
    words = {
        "title": inert(job.title),
        "canary": inert(job.canary),
        "name": job.name,
        "data": msgspec.json.encode(str(data.resolve())).decode(),
    }
    files = []
    for ending in ("yaml", "py"):
        template = package_data(f"exports/lmms-eval.{ending}.txt").read_text(encoding="utf-8")
        file = job.folder / f"{job.name}.{ending}"
        with atomic_file(file) as part:
            part.write_text(template.format(**words), encoding="utf-8")
        files.append(file)
    command = (
        f"lmms_eval --model MODEL --tasks {job.name} --include_path {job.folder} "
        "--log_samples --output_path results"
    )
    return Exported([*files, data], items, command)


def _records(job: Job) -> Iterator[dict[str, Any]]:
    """Those of Inspect; what differs from row to row is text, since all rows share one schema."""
    for record in lettered_records(job):
        _check_local(job, record["images"])
        yield {**record, "metadata": msgspec.json.encode(record["metadata"]).decode()}


def _check_local(job: Job, paths: list[str]) -> None:
    if any("://" in path for path in paths):
        raise UsageError(
            f"Pictures of {job.source.name} are addresses, and the program reads files.",
            "Fetch them, and name the files; or make them with --as inspect.",
        )


def write_vlmevalkit(job: Job) -> Exported:
    """Write TASK.tsv: pictures in base64, a column for each choice, the letter of the right one."""
    file = job.folder / f"{job.name}.tsv"
    items = list(job.source.items())
    most = max((len(item.choices) for item in items), default=0)
    with_pictures = any(item.images for item in items)
    letters = ascii_uppercase[:most]
    columns = ["index", "id", "question", *letters, "answer", "group"]
    columns += ["image"] * with_pictures + [FIELD] * bool(job.canary)
    with atomic_file(file) as part, part.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, columns, delimiter="\t", lineterminator="\n")
        table.writeheader()
        for row in _rows(job, items):
            table.writerow({name: row.get(name, "") for name in columns})
    command = f"LMUData={job.folder} python run.py --data {job.name} --model MODEL"
    return Exported([file], len(items), command)


def _rows(job: Job, items: list[Item]) -> Iterator[dict[str, Any]]:
    """A row for each item; a picture that was there already is named by the row that has it."""
    holders: dict[str, int] = {}
    for number, item in enumerate(items):
        _check_single(job, item)
        row: dict[str, Any] = {"index": number, "id": item.id, "question": question(item)}
        for place, choice in enumerate(item.choices):
            row[ascii_uppercase[place]] = f"{choice} " if choice in MISSING else choice
        row["answer"] = ascii_uppercase[item.choices.index(item.gold[0])]
        row |= {"group": item.group, FIELD: job.canary}
        row["image"] = _pictures(job, item)
        before = holders.setdefault(row["image"], number)
        if before != number and row["image"]:
            row["image"] = str(before)
        yield row


def _check_single(job: Job, item: Item) -> None:
    if not item.choices or len(item.gold) != 1 or len(item.choices) > FEW:
        raise UsageError(
            f"Item '{item.id}' has {len(item.choices)} choices, {len(item.gold)} of them right, "
            f"and VLMEvalKit takes 2 to {FEW} with one.",
            "Make it with --as dataset.",
        )


def _pictures(job: Job, item: Item) -> str:
    """The picture of an item in base64; of several, a list."""
    _check_local(job, [image.path for image in item.images])
    packed = []
    for image in item.images:
        describe(image.path)  # refuses what is no picture
        packed.append(base64.b64encode(Path(image.path).read_bytes()).decode())
    if len(packed) > 1:
        return msgspec.json.encode(packed).decode()
    return "".join(packed)
