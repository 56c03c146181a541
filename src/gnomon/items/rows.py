"""Rows of files and dataset folders that hold questions; all are bounded, and nothing is run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gnomon.errors import DataError, GnomonError, UsageError, importing, path_hint
from gnomon.files import FILE_LIMIT, delimiter_of, read_json, read_jsonl, read_lines, read_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Row = Mapping[str, Any]
Reader = Callable[[Path], Iterator[tuple[int, Row]]]
# what a JSON file that is one object may call its list
LISTS = ("data", "items", "examples", "rows", "samples", "questions", "annotations")
SPLITS = re.compile(r"(train|training|dev|val|valid|validation|test)(?=[-_.]|$)")
MEMORY = "1GB"  # that reading Parquet may hold
FETCHED = 256  # rows of Parquet at a time: each may hold a picture
_AGAIN = "Fetch the file again."


def read_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Number (of the line, or of the row) and fields of each row."""
    ending = Path(path.name.removesuffix(".gz")).suffix
    if ending not in READERS:
        raise DataError(
            "the ending does not say what is in it.",
            f"Give a file that ends in {', '.join(READERS)}, or a folder of a dataset.",
            file=path,
        )
    if not path.exists():
        raise DataError("there is no such file.", path_hint(path, "Check the path."), file=path)
    return _questions_of_log(READERS[ending](path))


def read_files(paths: Iterable[Path]) -> Iterator[tuple[int, Row]]:
    """Number and fields of the rows of several files, counted through all of them."""
    rows = chain.from_iterable(map(read_rows, paths))
    for number, (_, row) in enumerate(rows, start=1):
        yield number, row


def split_of(path: Path) -> str:
    """The split that a file's name says it holds; empty if it says none.

    >>> split_of(Path("data/test-00000-of-00001.parquet")), split_of(Path("latest.jsonl"))
    ('test', '')
    """
    found = SPLITS.match(path.name)
    return found[1] if found else ""


def json_lines(path: Path) -> Iterator[tuple[int, Row]]:
    """One object a line."""
    return read_jsonl(path, dict[str, Any])


def json_document(path: Path) -> Iterator[tuple[int, Row]]:
    """One document that is a list of rows or has one; some call JSON lines so, too."""
    _, head = next(read_lines(path), (1, ""))
    if _is_row(head):
        yield from json_lines(path)
        return
    content: Any = read_json(path, object)
    yield from enumerate(_listed(path, content), start=1)


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


def table(path: Path) -> Iterator[tuple[int, Row]]:
    """A table with a header, which says what separates; rows with nothing in them are none."""
    for number, row in read_table(path, (), delimiter=delimiter_of(path)):
        if any(value.strip() for value in row.values()):
            yield number, row


def parquet(path: Path) -> Iterator[tuple[int, Row]]:
    """Parquet through duckdb, in little memory; a file that unpacks to gigabytes is refused."""
    with importing("Reading Parquet", "parquet"):
        import duckdb

    with duckdb.connect() as db:
        try:
            db.execute(f"SET memory_limit='{MEMORY}'")
            db.execute("SET threads=1")
            _check_size(db, path)
            found = db.execute("SELECT * FROM read_parquet(?)", [str(path)])
            names = [column[0] for column in found.description or ()]
            batches = iter(lambda: found.fetchmany(FETCHED), [])
            for number, row in enumerate(chain.from_iterable(batches), start=1):
                yield number, dict(zip(names, row, strict=True))
        except duckdb.OutOfMemoryException:
            raise _too_large(path) from None
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise DataError(f"not a Parquet file: {reason}.", _AGAIN, file=path) from None


def _check_size(db: DuckDBPyConnection, path: Path) -> None:
    """Refuse a file whose own account of itself unpacks to more than any file may have."""
    query = "SELECT sum(total_uncompressed_size) FROM parquet_metadata(?)"
    found = db.execute(query, [str(path)]).fetchone()
    if found and (found[0] or 0) > FILE_LIMIT:
        raise _too_large(path)


def _too_large(path: Path) -> DataError:
    return DataError(
        f"it unpacks to more than {FILE_LIMIT // 2**30} GB, or a row to more than {MEMORY}.",
        "Cut the file into smaller ones, and give one of them.",
        file=path,
    )


def class_names(path: Path) -> dict[str, tuple[str, ...]]:
    """The names of numbered labels, by column, that Hugging Face writes into a Parquet file."""
    try:
        import duckdb
    except ImportError:
        return {}

    query = "SELECT value FROM parquet_kv_metadata(?) WHERE key = 'huggingface'::BLOB"
    with duckdb.connect() as db:
        try:
            found = db.execute(query, [str(path)]).fetchone()
        except duckdb.Error:
            return {}
    return _named_classes(found[0]) if found else {}


def _named_classes(raw: bytes) -> dict[str, tuple[str, ...]]:
    try:
        content = msgspec.json.decode(raw)
        features = content["info"]["features"]
        found = {}
        for column, feature in features.items():
            if isinstance(feature, dict) and isinstance(feature.get("names"), list):
                found[str(column)] = tuple(map(str, feature["names"]))
    except (msgspec.MsgspecError, KeyError, TypeError, AttributeError):
        return {}
    return found


def arrow_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """A file that `save_to_disk` of Hugging Face's datasets wrote."""
    try:
        import pyarrow as arrow  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise GnomonError(
            f"{path}: Arrow files need pyarrow, which is not installed.",
            "Install it with `pip install pyarrow`, or write the dataset as Parquet: "
            "dataset.to_parquet('test.parquet').",
        ) from None

    try:
        with arrow.memory_map(str(path)) as stream:
            batches = arrow.ipc.open_stream(stream)
            rows = chain.from_iterable(batch.to_pylist() for batch in batches)
            yield from enumerate(rows, start=1)
    except arrow.ArrowInvalid as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"not an Arrow file: {reason}.", _AGAIN, file=path) from None


def inspect_log(path: Path) -> Iterator[tuple[int, Row]]:
    """The samples of an Inspect log."""
    from gnomon.items.answers.inspect import samples_of

    yield from enumerate(samples_of(path, dict[str, Any]), start=1)


def _questions_of_log(rows: Iterable[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
    """The rows, where they are a log's with each question once and as its dataset has it.

    lm-eval writes a line for each filter, Inspect asks in epochs.
    """
    filter_of_log = None
    for number, row in rows:
        if isinstance(row.get("doc"), dict) and "filtered_resps" in row:
            filter_of_log = filter_of_log or row.get("filter")
            if row.get("filter") == filter_of_log:
                yield number, _document(row)
        elif "input" in row and "target" in row and "scores" in row:
            if row.get("epoch", 1) == 1:
                yield number, _sample(row)
        else:
            yield number, row


def _document(row: Row) -> Row:
    """The document that a sample of lm-eval is about, with the choices of its requests."""
    found = {"doc_id": row.get("doc_id"), "choices": _requests(row), **row["doc"]}
    if not found["choices"]:
        del found["choices"]
    return found


def _requests(row: Row) -> list[str]:
    arguments = row.get("arguments")
    if not isinstance(arguments, dict):
        return []
    texts = [str(request.get("arg_1", "")).strip() for request in arguments.values()]
    return texts if len(texts) > 1 else []


def _sample(row: Row) -> Row:
    """What a sample of Inspect asks; a conversation is the text of its messages."""
    found = {name: row[name] for name in ("id", "input", "choices", "target") if row.get(name)}
    if isinstance(row["input"], list):
        parts = [str(part.get("content", "")) for part in row["input"] if isinstance(part, dict)]
        found["input"] = " ".join(parts)
    return found


# What reads a file, by its ending: every kind that can be read is named here, and nowhere else.
READERS: dict[str, Reader] = {
    ".jsonl": json_lines,
    ".ndjson": json_lines,
    ".json": json_document,
    ".csv": table,
    ".tsv": table,
    ".txt": table,
    ".parquet": parquet,
    ".arrow": arrow_rows,
    ".eval": inspect_log,
}


# Dataset folders as Hugging Face keeps them: data files by split, with a card, or save_to_disk.
#
# Only data files are opened; scripts and pickles that lie beside them are not even read.


ENDINGS = tuple(READERS.keys() - {".json", ".txt", ".eval"})  # these lie beside the data
PREFERRED = ("test", "validation", "valid", "val", "dev")  # splits that are for asking
MOST_FILES = 10_000
CARD = "README.md"


def is_dataset(folder: Path) -> bool:
    """Whether a folder holds data files, at most two folders deep."""
    return folder.is_dir() and next(_data_files(folder), None) is not None


def _data_files(folder: Path) -> Iterator[Path]:
    for pattern in ("*", "*/*", "*/*/*"):
        for count, file in enumerate(sorted(folder.glob(pattern))):
            if count > MOST_FILES:
                raise DataError(
                    f"there are more than {MOST_FILES:,} files in it.",
                    "Give one of its folders, or one file.",
                    file=folder,
                )
            cached = file.name.startswith("cache-")  # what Hugging Face's datasets left behind
            ending = file.name.removesuffix(".gz").endswith(ENDINGS)
            if ending and not cached and file.is_file():
                yield file


def splits_in(folder: Path) -> dict[str, list[Path]]:
    """The files of each split; files that name none are of the split ""."""
    root = folder.resolve()
    found: dict[str, list[Path]] = {}
    for file in _data_files(folder):
        if not file.resolve().is_relative_to(root):
            raise DataError("this is a link out of the folder.", "Copy the file here.", file=file)
        split = split_of(file) or split_of(file.parent)
        found.setdefault(split, []).append(file)
    return found


def chosen_split(folder: Path, wanted: str) -> str:
    """The split to ask: as told, the only one, or the one for testing."""
    splits = splits_in(folder)
    if wanted:
        if wanted not in splits:
            raise UsageError(
                f"{folder} has no split '{wanted}'.", f"It has: {', '.join(filter(None, splits))}."
            )
        return wanted
    if len(splits) == 1:
        return next(iter(splits))
    for name in PREFERRED:
        if name in splits:
            return name
    listed = ", ".join(sorted(splits))
    raise UsageError(
        f"{folder} has several splits and none for testing: {listed}.",
        f"Choose one: --split {next(filter(None, sorted(splits)))}",
    )


def files_of_split(folder: Path, split: str) -> list[Path]:
    """The files of a split; those of several configurations cannot be read as one set."""
    files = splits_in(folder).get(split, [])
    if not files:
        raise DataError(
            "there is no data file of that split in it.", "Look at --split.", file=folder
        )
    places = sorted({file.parent for file in files})
    if len(places) > 1:
        listed = ", ".join(place.name for place in places)
        raise DataError(
            f"it holds several sets: {listed}.",
            f"Give the folder of one of them: {places[0]}",
            file=folder,
        )
    return files


def read_all_splits(folder: Path) -> Iterator[tuple[int, Row]]:
    """Number and fields of each row of all splits; a column `split` says of which it is."""
    number = 0
    for split in splits_in(folder):
        for _, row in read_split(folder, split):
            number += 1
            yield number, {"split": split, **row} if split else row


def read_split(folder: Path, split: str) -> Iterator[tuple[int, Row]]:
    """Number and fields of each row of a split."""
    return read_files(files_of_split(folder, split))
