"""Files of items: written whole or not at all, with the canary that tells of training on them."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import msgspec

from gnomon.errors import DataError, GnomonError, UsageError, importing
from gnomon.files import first_bytes
from gnomon.records import Item
from gnomon.tabular import write_csv
from gnomon.trust import check_replaceable

# The canary: a string in every file of fresh items, so that training on them can be found out.
#
# It follows the practice of BIG-bench: who filters training data for the string leaves the file
# out, and a model that can complete it has seen such a file.


GUID = "7d1f3c9e-58b4-4a6d-9c02-b1e6f0a8d437"  # ours, and never to change
CANARY = f"Gnomon test data, not for training: please leave it out. canary GUID {GUID}"
FIELD = "canary"  # of a line of JSON, or the column of a table; no part of the item


def has_canary(text: str) -> bool:
    """Whether a text holds the string.

    >>> has_canary(CANARY), has_canary("An ant is smaller than a bird.")
    (True, False)
    """
    return GUID in text


_encode = msgspec.json.Encoder().encode
_FIELDS = tuple(field.name for field in msgspec.structs.fields(Item))
_HEAD = 2**16  # bytes by which a file of items is known
_OURS = re.compile(rb'\{"id":"[^\n]*?","form":"|' + ",".join(_FIELDS).encode() + rb"[,\r\n]")
_LISTS = ("choices", "gold", "tags", "images")  # JSON text in a CSV cell
_PARQUET = """
  id: 'VARCHAR', form: 'VARCHAR', text: 'VARCHAR', choices: 'VARCHAR[]', gold: 'VARCHAR[]',
  context: 'VARCHAR', "group": 'VARCHAR', tags: 'MAP(VARCHAR, VARCHAR)',
  images: 'STRUCT(path VARCHAR, sha256 VARCHAR, width BIGINT, height BIGINT)[]'
"""


def write_items(file: Path, items: Iterable[Item], *, canary: str = "") -> int:
    """Write items to FILE.jsonl, FILE.csv or FILE.parquet and return how many."""
    writers = {
        ".jsonl": _write_jsonl,
        ".csv": _write_csv,
        ".parquet": _write_parquet,
    }
    write = writers.get(file.suffix)
    if write is None:
        raise UsageError(
            f"{file} does not end in {', '.join(writers)}.",
            "Give it one of these endings: it says the format.",
        )
    if file.is_file():
        check_replaceable(file, str(file), _is_ours)
    with atomic_file(file) as part:
        return write(part, items, canary)


def _is_ours(file: Path) -> bool:
    """Whether a file begins as Gnomon writes items; of Parquet, whether it has their columns."""
    if file.suffix != ".parquet":
        return _OURS.match(first_bytes(file, _HEAD)) is not None
    from gnomon.items.rows import parquet

    with suppress(GnomonError):
        _, row = next(parquet(file), (0, {}))
        return tuple(row)[: len(_FIELDS)] == _FIELDS
    return False


@contextmanager
def atomic_file(file: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of `file` only if all went well."""
    if not file.parent.is_dir():
        raise DataError("its folder does not exist.", "Make it first.", file=file)
    if file.is_dir():
        raise DataError("this is a folder.", "Give the name of a file.", file=file)

    _remove_leftovers(file)
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


def _remove_leftovers(file: Path) -> None:
    """Remove what processes that were killed have left of this file."""
    leftover = re.compile(rf"\.{re.escape(file.name)}\.([0-9]+)\.(part|lines)")
    with suppress(OSError):  # a folder that cannot be listed can still be written to
        for found in list(file.parent.iterdir()):
            match = leftover.fullmatch(found.name)
            if match and not is_running(int(match[1])):
                found.unlink()


def is_running(process: int) -> bool:
    """Whether there is a process of that number."""
    if os.name == "nt":  # there, asking would end it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's
        pass
    return True


def write_lines(stream: IO[bytes], items: Iterable[Item], *, canary: str = "") -> int:
    """Write items as JSON lines and return how many."""
    end = b"}\n"
    if canary:
        end = b"," + _encode({FIELD: canary})[1:] + b"\n"
    n = 0
    for item in items:
        stream.write(_encode(item)[:-1] + end)
        n += 1
    return n


def write_records(file: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write records of other programs as JSON lines and return how many."""
    count = 0
    with atomic_file(file) as part, part.open("wb") as out:
        for record in records:
            out.write(_encode(record) + b"\n")
            count += 1
    return count


def _write_jsonl(part: Path, items: Iterable[Item], canary: str) -> int:
    with part.open("wb", buffering=2**20) as out:
        return write_lines(out, items, canary=canary)


def _write_csv(part: Path, items: Iterable[Item], canary: str) -> int:
    columns = (*_FIELDS, FIELD) if canary else _FIELDS
    more = [canary] if canary else []
    with part.open("w", encoding="utf-8", newline="") as out:
        return write_csv(out, columns, (_cells(item) + more for item in items))


def _cells(item: Item) -> list[str]:
    cells = []
    for name in _FIELDS:
        value = getattr(item, name)
        if name in _LISTS:
            value = _encode(value).decode()
        cells.append(value)
    return cells


def _write_parquet(part: Path, items: Iterable[Item], canary: str) -> int:
    """Through a temporary JSON-lines file, so that memory does not grow with the benchmark."""
    with importing("Writing Parquet", "parquet"):
        import duckdb

    lines = part.with_suffix(".lines")
    columns = f"{{{_PARQUET}, {FIELD}: 'VARCHAR'}}" if canary else f"{{{_PARQUET}}}"
    reading = f"format='newline_delimited', columns={columns}, maximum_object_size=67108864"
    rows = f"SELECT * FROM read_json(?, {reading})"  # noqa: S608 - our own words
    copy = f"COPY ({rows}) TO '{_quoted(part)}' (FORMAT parquet)"
    try:
        n = _write_jsonl(lines, items, canary)
        with duckdb.connect() as db:
            db.execute(copy, [str(lines)])
        return n
    finally:
        lines.unlink(missing_ok=True)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
