"""Rows of any file that holds questions, as plain fields: JSON, tables, Parquet, folders, logs.

Reading is by the project's bounded readers, so that no file can fill the memory by a single line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gnomon.answerfiles.archive import unpacked
from gnomon.errors import DataError, GnomonError, MissingExtraError
from gnomon.files import read_json, read_jsonl, read_lines, read_table

Row = Mapping[str, Any]
Reader = Callable[[Path], Iterator[tuple[int, Row]]]
SPLIT = "split"  # the field that says from which part of a folder a row comes
# what a JSON file that is one object may call its list
LISTS = ("data", "items", "examples", "rows", "samples", "questions", "annotations")
SPLITS = re.compile(r"(train|training|dev|val|valid|validation|test)(?=[-_.]|$)")


def rows_of(path: Path) -> Iterator[tuple[int, Row]]:
    """Number and fields of each question, once: logs ask some of them several times."""
    wanted = None
    for number, row in _reader(path)(path):
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
    ending = Path(path.name.removesuffix(".gz")).suffix
    readers: dict[str, Reader] = {
        ".jsonl": _json_lines,
        ".ndjson": _json_lines,
        ".json": _json,
        ".csv": _table,
        ".tsv": _table,
        ".txt": _table,
        ".parquet": _parquet,
        ".arrow": _arrow,
        ".eval": _archive,
    }
    if ending in readers:
        return readers[ending]
    raise DataError(
        "the ending does not say what is in it.",
        f"Give a file that ends in {', '.join(readers)}, or a folder of a dataset.",
        file=path,
    )


def split_of(path: Path) -> str:
    """The split that a file's name says it holds; empty if it says none.

    >>> split_of(Path("data/test-00000-of-00001.parquet")), split_of(Path("latest.jsonl"))
    ('test', '')
    """
    found = SPLITS.match(path.name)
    return found[1] if found else ""


def _json_lines(path: Path) -> Iterator[tuple[int, Row]]:
    for number, row in read_jsonl(path, dict[str, Any]):
        yield number, _flat(row)


def _json(path: Path) -> Iterator[tuple[int, Row]]:
    """One document that is a list of rows or has one; some call JSON lines so, too."""
    _, head = next(read_lines(path), (1, ""))
    if _is_row(head):
        yield from _json_lines(path)
        return
    content: Any = read_json(path, object)
    for number, row in enumerate(_listed(path, content), start=1):
        yield number, _flat(row)


def _is_row(line: str) -> bool:
    """Whether a line is a whole JSON object, and not one that has the list of rows."""
    try:
        found = msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        return False
    return _list_of(found) is None


def _list_of(content: dict[str, Any]) -> list[Any] | None:
    for name in LISTS:
        if isinstance(content.get(name), list):
            found: list[Any] = content[name]
            return found
    return None


def _listed(path: Path, content: Any) -> list[Row]:
    found = content
    if isinstance(content, dict):
        found = _list_of(content)
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
