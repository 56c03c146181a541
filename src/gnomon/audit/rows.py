"""Rows of any file that can be audited: files of questions, folders, logs of other programs.

Reading is by the project's bounded readers, so that no file can fill the memory by a single line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import DataError
from gnomon.items.answers.archive import unpacked
from gnomon.items.rows import READERS, Reader, Row, split_of, table

SPLIT = "split"  # the field that says from which part of a folder a row comes


def rows_of(path: Path) -> Iterator[tuple[int, Row]]:
    """Number and fields of each question, once: logs ask some of them several times."""
    wanted = None
    for number, found in _reader(path)(path):
        row = _flat(found)
        if "filtered_resps" in row:  # lm-eval writes a line for each filter
            wanted = wanted or row.get("filter")
            if row.get("filter") != wanted:
                continue
        if "scores" in row and row.get("epoch", 1) != 1:  # Inspect asks in epochs
            continue
        yield number, row


def _reader(path: Path) -> Reader:
    """What reads a file of this name, or a folder."""
    if path.is_dir():
        return _folder
    readers = {**READERS, ".txt": table, ".eval": _archive}
    ending = Path(path.name.removesuffix(".gz")).suffix
    if ending in readers:
        return readers[ending]
    raise DataError(
        "the ending does not say what is in it.",
        f"Give a file that ends in {', '.join(readers)}, or a folder of a dataset.",
        file=path,
    )


def _flat(row: Row) -> Row:
    """The fields of a row; those of the document that an lm-eval sample is about come first."""
    document = row.get("doc")
    if not isinstance(document, dict) or "filtered_resps" not in row:
        return row
    return {**row, "choices": _asked(row), **document}


def _asked(row: Row) -> list[str]:
    """The choices of an lm-eval sample, from the requests that were made for it."""
    arguments = row.get("arguments")
    if not isinstance(arguments, dict):
        return []
    texts = [str(request.get("arg_1", "")).strip() for request in arguments.values()]
    return texts if len(texts) > 1 else []


def _archive(path: Path) -> Iterator[tuple[int, Row]]:
    """The samples of an Inspect log."""
    for number, (name, raw) in enumerate(unpacked(path, "samples/", ".json"), start=1):
        try:
            yield number, msgspec.json.decode(raw, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            hint = "Write the log again with Inspect."
            raise DataError(f"{name} is not a sample: {error}.", hint, file=path) from None


def _folder(path: Path) -> Iterator[tuple[int, Row]]:
    """A dataset as Hugging Face saves it: files of one split, or a folder for each split."""
    files = sorted(file for file in path.rglob("*") if _is_data(file))
    if not files:
        raise DataError(
            "there is no .parquet, .arrow, .jsonl, .csv or .tsv file in the folder.",
            "Give the folder that `save_to_disk` wrote, or one with the files of a dataset.",
            file=path,
        )
    number = 0
    for file in files:
        split = split_of(file) or split_of(file.parent)
        for _, row in rows_of(file):
            number += 1
            yield number, {SPLIT: split, **row} if split else row


def _is_data(file: Path) -> bool:
    endings = (".parquet", ".arrow", ".jsonl", ".csv", ".tsv")
    cached = file.name.startswith("cache-")  # what Hugging Face's datasets left behind
    return file.is_file() and not cached and file.name.removesuffix(".gz").endswith(endings)
