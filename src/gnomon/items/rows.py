"""Rows of files and dataset folders that hold questions; all are bounded, and nothing is run."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gnomon.errors import DataError, GnomonError, UsageError, importing, path_hint
from gnomon.files import (
    FILE_LIMIT,
    PACKED,
    delimiter_of,
    first_bytes,
    read_json,
    read_jsonl,
    read_lines,
    read_table,
)
from gnomon.items.mapping import column_names, columns_among, has_column, named_columns
from gnomon.items.shapes import (
    LOG_SHAPES,
    QUESTIONS,
    Row,
    asks,
    babi_rows,
    is_babi,
    log_shape,
    plain_rows,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Reader = Callable[[Path], Iterator[tuple[int, Row]]]
# what a JSON file that is one object may call its list
LISTS = (
    *("data", "items", "examples", "rows", "samples", "questions", "annotations"),
    "request_states",  # of HELM
)
LOOKED_AT = 20  # lines by which a file of text is known
SPLITS = re.compile(r"(train|training|dev|val|valid|validation|test)(?=[-_.]|$)")
SPLIT = "split"  # the column that says from which part of a dataset a row comes
DEEPEST = 3  # records within records in which rows are looked for
LETTERS = re.compile(r"[A-J] [A-J]")  # the right answers of two rows
SHEET_LIMIT = 2**29  # bytes that an .xlsx file may unpack to
SMALL_SHEET, DENSEST = 2**24, 50  # beyond so many bytes, at most so many times its own size
MOST_EMPTY = 10_000  # rows of nothing in a sheet: what is left out costs a file no bytes
FREE_ROWS = 10_000  # of Parquet; any more take a byte each at least
MEMORY = "1GB"  # that reading Parquet may hold
FETCHED = 256  # rows of Parquet at a time: each may hold a picture
_AGAIN = "Fetch the file again."


def read_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Number (of the line, or of the row) and fields of each row, by what is in the file."""
    if not path.exists():
        raise DataError("there is no such file.", path_hint(path, "Check the path."), file=path)
    return plain_rows(raw_rows(path))


def raw_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """The rows as they stand in the file: those of a log are its samples."""
    ending = bare_name(path.name)
    if ending.endswith(tuple(BINARY)):
        if path.exists():
            first_bytes(path, 1)  # pipes and devices are refused: who opens them may wait for ever
        return BINARY[Path(ending).suffix](path)
    head = [line for _, line in islice(text_lines(path), LOOKED_AT)]
    if not head and not ending.endswith((".csv", ".tsv")):
        return iter(())
    first = head[0].lstrip()[:1] if head else ""
    if first in ("{", "["):
        return json_document(path)
    if is_babi(head):
        return babi_rows(read_lines(path))
    return table(path)


def rows_of_log(path: Path, program: str) -> Iterator[tuple[int, Row]]:
    """The rows of a program's log, each of which must be one of its own."""
    for number, row in raw_rows(path):
        if not LOG_SHAPES[program].recognises(row):
            raise DataError(
                f"the row is not one of a log of {program}.",
                "Copy or write the log again.",
                file=path,
                line=number,
            )
        yield number, row


def bare_name(name: str) -> str:
    """The name of a file without the endings that say how it is packed.

    >>> bare_name("test.jsonl.gz"), bare_name("test.zip")
    ('test.jsonl', 'test')
    """
    for ending in PACKED:
        name = name.removesuffix(ending)
    return name


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
    """JSON lines, or one document that holds rows."""
    head = [line for _, line in islice(read_lines(path), 2)]
    first = _object_in(head[0])
    if first is not None and (len(head) == 2 or rows_within(first) is None):
        yield from json_lines(path)
        return
    content: Any = read_json(path, object)
    rows = rows_within(content)
    if rows is None:
        raise DataError(
            "there is no list of objects in it.",
            f"Write one object a line, or a list of them, or one named {', '.join(LISTS[:3])}.",
            file=path,
        )
    yield from enumerate(rows, start=1)


def _object_in(line: str) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        return None


def rows_within(content: Any, depth: int = 0) -> list[Row] | None:
    """The rows of a document; none if it is no document of rows, such as a row itself.

    They are a list, a list under a key, a list for each split, columns, or records by their ids.

    >>> rows_within({"question": ["Where?", "When?"], "answer": ["in", "on"], "of": "x"})[1]
    {'question': 'When?', 'answer': 'on', 'of': 'x'}
    """
    if isinstance(content, list):
        return _listed_rows(content)
    if not isinstance(content, dict) or depth == DEEPEST or log_shape(content):
        return None
    if isinstance(content.get("columns"), list) and isinstance(content.get("data"), list):
        return _numbered_columns(content["data"], content["columns"])
    lists = {name: rows for name, rows in content.items() if _are_objects(rows)}
    for name in LISTS:
        if name in lists and name in QUESTIONS and has_column(tuple(content), "context"):
            return [content]  # a story, with the questions about it
        if name in lists:
            return _with_pictures(content.get("images"), lists[name])
    by_columns = {_singular(name, value): value for name, value in content.items()}
    if asks(by_columns):
        return _of_columns(by_columns)
    splits = [(name, rows) for name, rows in lists.items() if asks(rows[0])]
    if len(splits) > 1:
        return [{SPLIT: name, **row} for name, rows in splits for row in rows]
    if len(lists) == 1:
        return _with_pictures(content.get("images"), next(iter(lists.values())))
    records = {name: row for name, row in content.items() if isinstance(row, dict) and row}
    if len(records) > 1 and set.intersection(*map(set, records.values())):
        return [{"id": name, **row} for name, row in records.items()]
    found = [rows_within(record, depth + 1) for record in records.values()]
    within = [rows for rows in found if rows and asks(rows[0])]
    return within[0] if len(within) == 1 else None


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _singular(name: str, value: Any) -> str:
    """The name of a column, where a list is called by that of several: questions, answers."""
    one = name.removesuffix("s")
    is_column = isinstance(value, list) and (
        has_column((one,), "text") or has_column((one,), "gold")
    )
    return one if is_column else name


def _listed_rows(content: list[Any]) -> list[Row] | None:
    if all(isinstance(row, dict) for row in content):
        return content
    if all(isinstance(row, list) for row in content):
        most = max(map(len, content))
        return _numbered_columns(content, [str(number + 1) for number in range(most)])
    return None


def _numbered_columns(rows: list[Any], names: list[Any]) -> list[Row] | None:
    """Rows that are lists, as rows with names; the fields of a record in a list are columns."""
    found: list[Row] = []
    for row in rows:
        if not isinstance(row, list):
            return None
        named: dict[str, Any] = dict(zip(map(str, names), row, strict=False))
        for value in row:
            if isinstance(value, dict):
                named |= value
        found.append(named)
    return found


def _of_columns(content: dict[str, Any]) -> list[Row] | None:
    """Rows that a document holds by columns: lists, or records by number, of the same length.

    What is no such column holds for all rows.
    """
    known = column_names()
    names = columns_among(named_columns(content), (*known.usual["text"], *known.seldom["text"]))
    asked = content[names[0]]
    if not isinstance(asked, list | dict) or not all(
        isinstance(each, str) for each in _cells(asked)
    ):
        return None
    columns = {}
    for name, value in content.items():
        if isinstance(value, type(asked)) and len(value) == len(asked):
            columns[name] = _cells(value)
    if len(asked) < 2 or len(columns) < 2:
        return None
    whole = {name: value for name, value in content.items() if name not in columns}
    rows = zip(*columns.values(), strict=True)
    return [{**dict(zip(columns, row, strict=True)), **whole} for row in rows]


def _cells(column: list[Any] | dict[str, Any]) -> list[Any]:
    return list(column.values()) if isinstance(column, dict) else column


def _with_pictures(images: Any, rows: list[Row]) -> list[Row]:
    """The rows with the pictures that a document lists by id, as COCO and VQA do."""
    if not isinstance(images, list) or images is rows:
        return rows
    names = {}
    for image in images:
        if isinstance(image, dict) and "file_name" in image:
            names[image.get("id")] = image["file_name"]
    found = []
    for row in rows:
        name = names.get(row.get("image_id"))
        found.append({**row, "file_name": name} if name and "image" not in row else row)
    return found


def table(path: Path) -> Iterator[tuple[int, Row]]:
    """A table with a header, which says what separates; rows with nothing in them are none."""
    latin = _is_latin(path)
    delimiter = delimiter_of(path, latin=latin)
    quoted = delimiter == "\t" and _quotes_cells(path, latin)
    header = _made_header(path, delimiter, latin)
    rows = read_table(path, (), delimiter=delimiter, quoted=quoted, latin=latin, header=header)
    for number, row in rows:
        if any(value.strip() for value in row.values()):
            yield number, row


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file of text; those of a table may be in Latin-1."""
    return read_lines(path, latin=_is_latin(path))


def _is_latin(path: Path) -> bool:
    """Whether a table is in Latin-1, as old spreadsheets write it: no UTF-8, and text all the same.

    Only files whose name is a table's are asked; anything else that is no UTF-8 is refused.
    """
    if not bare_name(path.name).endswith((".csv", ".tsv")):
        return False
    odd: list[int] = []
    for _ in read_lines(path, skip=odd.append):
        if odd:
            break
    if not odd:
        return False
    return all(line.replace("\t", "").isprintable() for _, line in read_lines(path, latin=True))


def _quotes_cells(path: Path, latin: bool) -> bool:
    """Whether the cells between tabs are quoted, as pandas writes those with line ends in them."""
    tabs = None
    plain = True
    for _, line in read_lines(path, latin=latin):
        tabs = line.count("\t") if tabs is None else tabs
        if line.count("\t") != tabs or '""' in line:
            plain = False
            break
    if plain:
        return False
    try:
        for _ in read_table(path, (), delimiter="\t", quoted=True, latin=latin):
            pass
    except DataError:
        return False
    return True


def _made_header(path: Path, delimiter: str, latin: bool) -> list[str] | None:
    """Numbers for columns where the first line names none: it holds a question, or its answer.

    "True?" heads a column of answers. A question is longer, or the next row has one below it.
    """
    lines = [line for _, line in islice(read_lines(path, latin=latin), 2)]
    try:
        cells, *others = csv.reader(lines, delimiter=delimiter)
    except (csv.Error, ValueError):
        return None  # the reader of tables says what is wrong
    below = others[0] if others else []
    questions = [_is_question(*pair) for pair in zip_longest(cells, below, fillvalue="")]
    lettered = len(cells) == len(below) > 3 and bool(LETTERS.fullmatch(f"{cells[-1]} {below[-1]}"))
    if len(cells) < 2 or not (any(questions) or (lettered and len(cells[0].split()) > 3)):
        return None
    return [str(number) for number in range(1, len(cells) + 1)]


def _is_question(cell: str, below: str) -> bool:
    if "? " in cell and "?" in below:  # and what to answer
        return True
    asks = cell.strip().endswith("?")
    return asks and (len(cell.split()) > 2 or below.strip().endswith("?"))


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

    counted = db.execute("SELECT sum(num_rows) FROM parquet_file_metadata(?)", [str(path)])
    (rows,) = counted.fetchone() or (0,)
    if rows > FREE_ROWS + path.stat().st_size:
        raise DataError(f"it says the same {rows:,} times.", "Write each question once.", file=path)


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


def spreadsheet(path: Path) -> Iterator[tuple[int, Row]]:
    """The first sheet of an .xlsx file, as VLMEvalKit writes its predictions."""
    with importing("Reading .xlsx", "xlsx"):
        import openpyxl  # type: ignore[import-untyped, unused-ignore]
    try:
        _check_unpacked(path)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        sheet = book.worksheets[0]
        names = next(sheet.iter_rows(max_row=1, values_only=True), ())
        rows = sheet.iter_rows(min_row=2, max_col=max(1, len(names)), values_only=True)
        empty = 0
        for number, cells in enumerate(rows, start=2):
            named = zip(names, cells, strict=False)
            row = {str(name): value for name, value in named if name is not None}
            if any(value is not None for value in row.values()):
                yield number, row
                continue
            empty += 1
            if empty > MOST_EMPTY:
                problem = f"the sheet has more than {MOST_EMPTY:,} empty rows."
                raise DataError(problem, "Save the rows alone.", file=path, line=number)
    except GnomonError:
        raise
    except Exception as error:  # whatever the library makes of a damaged file
        reason = str(error).splitlines()[:1] or [type(error).__name__]
        raise DataError(f"not an .xlsx file: {reason[0]}.", _AGAIN, file=path) from None


def _check_unpacked(path: Path) -> None:
    """Refuse an archive of sheets that unpacks to much more than it takes."""
    import zipfile

    with zipfile.ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > min(SHEET_LIMIT, max(SMALL_SHEET, DENSEST * path.stat().st_size)):
        hint = "Save the table as .csv, and give that file."
        raise DataError(f"it unpacks to {unpacked // 2**20} MB.", hint, file=path)


def inspect_log(path: Path) -> Iterator[tuple[int, Row]]:
    """The samples of an Inspect log."""
    from gnomon.items.answers.inspect import samples_of

    yield from enumerate(samples_of(path), start=1)


# What reads files that are not text; all others are known by their first lines.
BINARY: dict[str, Reader] = {
    ".parquet": parquet,
    ".arrow": arrow_rows,
    ".eval": inspect_log,
    ".xlsx": spreadsheet,
}
# Endings of files that hold items where nothing else says so.
ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", *BINARY)


# Dataset folders as Hugging Face keeps them: data files by split, with a card, or save_to_disk.
#
# Only data files are opened; scripts and pickles that lie beside them are not even read.


IN_FOLDERS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".arrow")  # others lie beside them
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
            ending = bare_name(file.name).endswith(IN_FOLDERS)
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
    if not splits:
        hint = "Give a file, or a folder with files of data."
        raise DataError("there is no file of data in this folder.", hint, file=folder)
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
