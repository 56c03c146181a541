"""Reading strangers' files: plain or gzipped, bounded in size, with errors that name file, line and
field.

Every reader of data from outside goes through here, so that a line of a gigabyte, a zip bomb or a
missing column is one clear sentence.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

import msgspec

from gnomon.errors import DataError

LINE_LIMIT = 16 * 2**20  # bytes in one line
FILE_LIMIT = 2 * 2**30  # bytes in one file, after unpacking
T = TypeVar("T")


def find(folder: str | Path, *candidates: str, what: str = "") -> Path:
    """The first of the candidate paths that exists below `folder`, plain or with .gz; else say what
    is missing.

    Candidates cover the authors' repository as checked out and a flat folder.
    """
    root = Path(folder)
    if not root.is_dir():
        raise DataError(
            "there is no such folder.",
            "Give the folder that holds the authors' files with --data.",
            file=root,
        )
    for candidate in candidates:
        for name in (candidate, f"{candidate}.gz"):
            if (root / name).is_file():
                return root / name
    raise DataError(
        f"{what or 'a needed file'} is missing: looked for {', '.join(candidates)}.",
        "Give the authors' repository as checked out, or a flat folder of its files, with --data.",
        file=root,
    )


def read_lines(file: str | Path) -> Iterator[tuple[int, str]]:
    """Number and text of each line, without its line end; blank lines are passed over."""
    file = Path(file)
    number = size = 0
    try:
        with _open(file) as stream:
            while True:
                raw = stream.readline(LINE_LIMIT + 1)
                if not raw:
                    return
                number += 1
                size += len(raw)
                if len(raw) > LINE_LIMIT:
                    raise DataError(
                        f"the line is longer than {LINE_LIMIT // 2**20} MB.",
                        "Is this the right file?",
                        file=file,
                        line=number,
                    )
                if size > FILE_LIMIT:
                    raise DataError(
                        f"the file unpacks to more than {FILE_LIMIT // 2**30} GB.",
                        "Is this the right file?",
                        file=file,
                        line=number,
                    )
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if text.strip():
                    yield number, text
    except UnicodeDecodeError:
        raise DataError(
            "the line is not UTF-8 text.", "Is this the right file?", file=file, line=number
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(
            "the gzip data is damaged or cut short.",
            "Fetch the file again.",
            file=file,
            line=number + 1,
        ) from None
    except OSError as error:
        raise DataError(
            f"{_reason(error)}.", "Check the path and its permissions.", file=file
        ) from None


def read_text(file: str | Path, *, limit: int = 256 * 2**20) -> str:
    """A whole text file, at most `limit` bytes of it after unpacking."""
    file = Path(file)
    try:
        with _open(file) as stream:
            raw = stream.read(limit + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(
            "the gzip data is damaged or cut short.", "Fetch the file again.", file=file
        ) from None
    except OSError as error:
        raise DataError(
            f"{_reason(error)}.", "Check the path and its permissions.", file=file
        ) from None
    if len(raw) > limit:
        raise DataError(
            f"the file is larger than {limit // 2**20} MB.", "Is this the right file?", file=file
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            "the file is not UTF-8 text.",
            "Is this the right file?",
            file=file,
            line=raw[: error.start].count(b"\n") + 1,
        ) from None


def read_jsonl(file: str | Path, type: type[T]) -> Iterator[tuple[int, T]]:
    """Line number and record of each line, validated against `type` (a msgspec.Struct, TypedDict,
    dict ...)."""
    decode = msgspec.json.Decoder(type).decode
    for number, line in read_lines(file):
        try:
            yield number, decode(line)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise DataError(
                f"{_json_problem(error)}.",
                "Each line must be one JSON object.",
                file=file,
                line=number,
            ) from None


def read_json(file: str | Path, type: type[T], *, limit: int = 256 * 2**20) -> T:
    """A whole JSON file, validated against `type`."""
    text = read_text(file, limit=limit)
    try:
        return msgspec.json.decode(text, type=type)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(f"{_json_problem(error)}.", "Is this the right file?", file=file) from None


def read_table(
    file: str | Path, columns: Sequence[str], *, delimiter: str = ","
) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and fields of each row of a CSV or TSV file with a header that has at least
    `columns`."""
    last = [0]

    def lines() -> Iterator[str]:
        for number, line in read_lines(file):
            last[0] = number
            yield line + "\n"

    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE
    reader = csv.reader(lines(), delimiter=delimiter, quoting=quoting, strict=delimiter == ",")
    try:
        header = next(reader, None)
        if header is None:
            raise DataError(
                "the file is empty.",
                f"Its first line must name the columns {', '.join(columns)}.",
                file=file,
            )
        absent = [column for column in columns if column not in header]
        if absent:
            raise DataError(
                f"the column {absent[0]} is missing.",
                f"It has: {', '.join(header)}.",
                file=file,
                line=1,
            )
        for row in reader:
            if len(row) != len(header):
                raise DataError(
                    f"the row has {len(row)} fields, the header {len(header)}.",
                    "Mend or remove the row.",
                    file=file,
                    line=last[0],
                )
            yield last[0], dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise DataError(
            f"not a table: {error}.", "Mend the row.", file=file, line=last[0]
        ) from None


def parse(text: str, convert: Callable[[str], T], *, field: str, file: str | Path, line: int) -> T:
    """Convert one field, or say which field of which line is not what it should be.

    >>> parse("7", int, field="label", file="a.csv", line=3)
    7
    """
    try:
        value = convert(text)
    except ValueError:
        raise DataError(
            f"the field {field} is {text[:40]!r}, not a {convert.__name__}.",
            "Mend the row.",
            file=file,
            line=line,
        ) from None
    if isinstance(value, float) and value != value:
        raise DataError(
            f"the field {field} is not a number.", "Mend the row.", file=file, line=line
        )
    return value


def read_yaml(file: str | Path, *, limit: int = 32 * 2**20) -> Any:
    """A YAML file, safe-loaded: plain data only, no objects."""
    import yaml

    text = read_text(file, limit=limit)
    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise DataError(
            f"not YAML: {error.problem}.", "Mend the line.", file=file, line=line
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(
            f"not YAML: {str(error).splitlines()[0]}.", "Is this the right file?", file=file
        ) from None


def package_data(name: str) -> Path:
    """The path of a file that ships with the package, below gnomon/data."""
    return Path(__file__).parent / "data" / name


def _open(file: Path) -> IO[bytes]:
    if file.suffix == ".gz":
        return io.BufferedReader(gzip.open(file, "rb"))
    return file.open("rb")


def _reason(error: OSError) -> str:
    return (
        "there is no such file"
        if isinstance(error, FileNotFoundError)
        else error.strerror or str(error)
    )


def _json_problem(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    kind = "wrong types" if isinstance(error, msgspec.ValidationError) else "not JSON"
    return f"{kind}: {error}"
