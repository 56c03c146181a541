"""Rows of any file that holds questions, as plain fields: JSON, tables, Parquet, folders, logs.

Reading is by the project's bounded readers, so that no file can fill the memory by a single line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gnomon.answerfiles.archive import unpacked
from gnomon.errors import DataError, GnomonError, MissingExtraError
from gnomon.files import read_json, read_jsonl, read_lines, read_table

Row = Mapping[str, Any]
SPLIT = "split"  # the field that says from which part of a folder a row comes
# what a JSON file that is one object may call its list
LISTS = ("data", "items", "examples", "rows", "samples", "questions", "annotations")
SPLITS = re.compile(r"(train|training|dev|val|valid|validation|test)(?=[-_.]|$)")
_JSON = (".jsonl", ".ndjson", ".json")


def rows_of(path: Path) -> Iterator[tuple[int, Row]]:
    """Number and fields of each question, once: logs ask some of them several times."""
    kept = None
    for number, row in _rows(path):
        if "filtered_resps" in row:  # lm-eval writes a line for each filter
            kept = kept or row.get("filter")
            if row.get("filter") != kept:
                continue
        if row.get("epoch", 1) not in (1, "1") and "scores" in row:  # Inspect asks in epochs
            continue
        yield number, row


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    if path.is_dir():
        yield from _folder(path)
        return
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        yield from _parquet(path)
    elif name.endswith(".arrow"):
        yield from _arrow(path)
    elif name.endswith(".eval"):
        yield from _archive(path)
    elif name.endswith(_JSON):
        yield from _json(path)
    elif name.endswith((".csv", ".tsv", ".txt")):
        yield from _table(path)
    else:
        raise DataError(
            "the ending does not say what is in it.",
            "Give a .jsonl, .json, .csv, .tsv, .parquet or .eval file, or a folder of a dataset.",
            file=path,
        )


def split_of(path: Path) -> str:
    """The split that a file's name says it holds; empty if it says none.

    >>> split_of(Path("data/test-00000-of-00001.parquet")), split_of(Path("latest.jsonl"))
    ('test', '')
    """
    found = SPLITS.match(path.name)
    return found[1] if found else ""


def _json(path: Path) -> Iterator[tuple[int, Row]]:
    """JSON lines, or one document that is a list of rows or has one."""
    head = next(read_lines(path), (1, ""))[1].lstrip()
    lines = not path.name.removesuffix(".gz").endswith(".json") or _is_object(head)
    if lines:
        for number, line in read_jsonl(path, dict[str, Any]):
            yield number, _flat(line)
        return
    content: Any = read_json(path, object)
    for number, row in enumerate(_listed(path, content), start=1):
        yield number, _flat(row)


def _is_object(line: str) -> bool:
    """Whether a line is a whole JSON object: the file then has one on each line."""
    if not line.startswith("{"):
        return False
    try:
        found = msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return not any(isinstance(found.get(name), list) for name in LISTS)


def _listed(path: Path, content: Any) -> list[Row]:
    found = content
    if isinstance(content, dict):
        lists = [content[name] for name in LISTS if isinstance(content.get(name), list)]
        found = lists[0] if lists else None
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise DataError(
            "there is no list of objects in it.",
            f"Write one object a line, or a list of them, or one named {', '.join(LISTS[:3])}.",
            file=path,
        )
    return found


def _flat(row: Row) -> Row:
    """The fields of a row; those of the document that an lm-eval sample is about come first."""
    document = row.get("doc")
    if isinstance(document, dict) and "filtered_resps" in row:
        return {**row, **document, "choices": document.get("choices") or _asked(row)}
    return row


def _asked(row: Row) -> list[str] | None:
    """The choices of an lm-eval sample, from the requests that were made for it."""
    arguments = row.get("arguments")
    if not isinstance(arguments, dict):
        return None
    texts = []
    for request in arguments.values():
        text = request.get("arg_1") if isinstance(request, dict) else None
        if isinstance(text, str):
            texts.append(text.strip())
    return texts if len(texts) > 1 else None


def _table(path: Path) -> Iterator[tuple[int, Row]]:
    head = next(read_lines(path), (1, ""))[1]
    yield from read_table(path, (), delimiter="\t" if "\t" in head else ",")


def _archive(path: Path) -> Iterator[tuple[int, Row]]:
    """The samples of an Inspect log."""
    for number, (name, raw) in enumerate(unpacked(path, "samples/", ".json"), start=1):
        try:
            yield number, msgspec.json.decode(raw, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            hint = "Write the log again with Inspect."
            raise DataError(f"{name} is not a sample: {error}.", hint, file=path) from None


def _parquet(path: Path) -> Iterator[tuple[int, Row]]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("Reading Parquet", "parquet") from None

    with duckdb.connect() as db:
        try:
            found = db.execute("SELECT * FROM read_parquet(?)", [str(path)])
        except duckdb.Error as error:
            hint = "Fetch the file again."
            raise DataError(f"not a Parquet file: {error}.", hint, file=path) from None
        names = [column[0] for column in found.description or ()]
        number = 0
        while some := found.fetchmany(4096):
            for row in some:
                number += 1
                yield number, dict(zip(names, row, strict=True))


def _arrow(path: Path) -> Iterator[tuple[int, Row]]:
    try:
        import pyarrow as arrow  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise GnomonError(
            f"{path}: Arrow files need pyarrow, which is not installed.",
            "Install it with `pip install pyarrow`, or write the dataset as Parquet: "
            "dataset.to_parquet('test.parquet').",
        ) from None

    number = 0
    with arrow.memory_map(str(path)) as stream:
        for batch in arrow.ipc.open_stream(stream):
            for row in batch.to_pylist():
                number += 1
                yield number, row


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
