"""Items to files: JSON lines, CSV or Parquet, by the file's ending. A file appears whole or not at
all."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec

from gnomon.errors import DataError, MissingExtraError, UsageError
from gnomon.records import Item

_encode = msgspec.json.Encoder().encode
_FIELDS = tuple(field.name for field in msgspec.structs.fields(Item))
_LISTS = ("choices", "gold", "tags", "images")  # JSON text in a CSV cell


def write_items(file: Path, items: Iterable[Item]) -> int:
    """Write items to FILE.jsonl, FILE.csv or FILE.parquet and return how many."""
    writers: dict[str, Callable[[Path, Iterable[Item]], int]] = {
        ".jsonl": _write_jsonl,
        ".csv": _write_csv,
        ".parquet": _write_parquet,
    }
    if file.suffix not in writers:
        raise UsageError(
            f"{file} does not end in {', '.join(writers)}.", "The ending says the format."
        )
    with whole_or_not(file) as part:
        return writers[file.suffix](part, items)


@contextmanager
def whole_or_not(file: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of `file` only if all went well."""
    if not file.parent.is_dir():
        raise DataError("its folder does not exist.", "Make it first.", file=file)
    if file.is_dir():
        raise DataError("this is a folder.", "Give the name of a file.", file=file)
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(file)
    except OSError as error:
        raise DataError(
            f"cannot be written: {error.strerror or error}.",
            "Check the disk and the folder's permissions.",
            file=file,
        ) from None
    finally:
        with suppress(OSError):  # where nothing can be written there is nothing to clear away
            part.unlink()


def write_lines(stream: IO[bytes], items: Iterable[Item]) -> int:
    """Write items as JSON lines and return how many."""
    n = 0
    for item in items:
        stream.write(_encode(item) + b"\n")
        n += 1
    return n


def _write_jsonl(part: Path, items: Iterable[Item]) -> int:
    with part.open("wb", buffering=2**20) as out:
        return write_lines(out, items)


def _write_csv(part: Path, items: Iterable[Item]) -> int:
    n = 0
    with part.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(_FIELDS)
        for item in items:
            fields = ((name, getattr(item, name)) for name in _FIELDS)
            writer.writerow(
                [_encode(value).decode() if name in _LISTS else value for name, value in fields]
            )
            n += 1
    return n


def _write_parquet(part: Path, items: Iterable[Item]) -> int:
    """Through a temporary JSON-lines file, so that memory does not grow with the benchmark."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("Writing Parquet", "parquet") from None

    lines = part.with_suffix(".lines")
    columns = (
        "{id: 'VARCHAR', form: 'VARCHAR', text: 'VARCHAR', choices: 'VARCHAR[]', gold: 'VARCHAR[]', "
        "context: 'VARCHAR', \"group\": 'VARCHAR', tags: 'MAP(VARCHAR, VARCHAR)', images: 'VARCHAR[]'}"
    )
    try:
        n = _write_jsonl(lines, items)
        with duckdb.connect() as db:
            rows = (
                f"read_json(?, format='newline_delimited', columns={columns}, "
                "maximum_object_size=67108864)"
            )
            copy = f"COPY (SELECT * FROM {rows}) TO '{_quoted(part)}' (FORMAT parquet)"  # noqa: S608
            db.execute(copy, [str(lines)])
        return n
    finally:
        lines.unlink(missing_ok=True)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
