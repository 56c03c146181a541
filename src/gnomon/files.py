"""Reading strangers' files: plain or packed, bounded, with errors that name file, line and field.

Every reader of data from outside goes through here, so that a line of a gigabyte, a zip bomb, a
named pipe or a missing column is one clear sentence.
"""

import csv
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar, get_args, get_type_hints

import msgspec

from gnomon.errors import DataError, nearest, path_hint

LINE_LIMIT = 16 * 2**20  # bytes in one line
FILE_LIMIT = 2 * 2**30  # bytes in one file, after unpacking
UTF16_LIMIT = 256 * 2**20  # bytes of a file in UTF-16, which is read whole
MOST_LINES = 20_000_000  # in one file; twenty times the largest runs
MOST_BLANK = 1_000_000  # blank lines, which cost time and say nothing
MOST_VALUES = 5_000_000  # in one YAML file, with every alias written out
PACKED = (".gz", ".bz2", ".xz", ".zip")  # endings of files that are unpacked on the way
DEEPEST = 64  # lists and mappings of YAML inside each other; libyaml crashes at some thousands
CHECK = "Check that the path names the file you meant, and fetch or write it again if it does."
CORRECT = "Correct or remove the row, or fetch the file again."
QUOTE = f"Put quotes round a field that holds a comma. {CORRECT}"
T = TypeVar("T")

csv.field_size_limit(LINE_LIMIT)  # a cell may hold a picture; the limit is the process's

# What msgspec says, and what its types are called by people.
_WRONG_TYPE = re.compile(r"Expected `(?P<wanted>.+?)`, got `(?P<got>.+?)`")
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(?P<name>.+?)`")
_IN_QUOTES = "Put words such as yes and no in quotes: YAML takes them for truths."
_TYPE_WORDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "yes or no",
    "array": "a list",
    "object": "fields with values",
    "null": "nothing",
}


def find(folder: str | Path, *candidates: str, what: str = "") -> Path:
    """The first of the candidate paths that exists below `folder`, plain or with .gz.

    Candidates cover the authors' repository as checked out and a flat folder. If none is there, the
    error says what is missing.
    """
    root = Path(folder)
    if not root.is_dir():
        hint = path_hint(root, "Give the folder that holds the authors' files with --data.")
        raise DataError("there is no such folder.", hint, file=root)
    found = find_optional(root, *candidates)
    if found:
        return found
    raise DataError(
        f"{what or 'a needed file'} is missing: looked for {', '.join(candidates)}.",
        "Give the authors' repository as checked out, or a flat folder of its files, with --data.",
        file=root,
    )


def find_optional(folder: Path, *candidates: str) -> Path | None:
    """The first of the candidate paths that exists below `folder`, plain or with .gz, or none."""
    for candidate in candidates:
        for name in (candidate, f"{candidate}.gz"):
            if (folder / name).is_file():
                return folder / name
    return None


def read_lines(
    file: str | Path,
    *,
    skip: Callable[[int], None] | None = None,
    blanks: bool = False,
    latin: bool = False,
) -> Iterator[tuple[int, str]]:
    """Number and text of each line, without its line end; blank lines only if asked for.

    A line that is not UTF-8 ends the reading, unless `skip` is given: then it is told of the line.
    `latin` says that all lines are in Latin-1, as Windows writes it.
    """
    file = Path(file)
    number = blank = size = 0
    with _opened(file) as stream:
        while raw := stream.readline(LINE_LIMIT + 1):
            number += 1
            size += len(raw)
            _check_bounds(file, number, blank, len(raw), size)
            encoding = "cp1252" if latin else "utf-8-sig" if number == 1 else "utf-8"
            try:
                text = raw.decode(encoding).rstrip("\r\n")
            except UnicodeDecodeError:
                if skip is not None:
                    skip(number)
                    continue
                raise DataError(
                    "the line is not UTF-8 text.", CHECK, file=file, line=number
                ) from None
            if not text.strip():
                blank += 1
                if not blanks:
                    continue
            yield number, text


def _check_bounds(file: Path, number: int, blank: int, length: int, size: int) -> None:
    if length > LINE_LIMIT:
        problem = f"the line is longer than {LINE_LIMIT // 2**20} MB"
    elif size > FILE_LIMIT:
        problem = f"the file unpacks to more than {FILE_LIMIT // 2**30} GB"
    elif blank > MOST_BLANK:
        problem = f"the file has more than {MOST_BLANK:,} blank lines"
    elif number > MOST_LINES:
        problem = f"the file has more than {MOST_LINES:,} lines"
    else:
        return
    raise DataError(f"{problem}.", CHECK, file=file, line=number)


def read_text(file: str | Path, *, limit: int = 256 * 2**20, hint: str = CHECK) -> str:
    """A whole text file, at most `limit` bytes of it after unpacking."""
    file = Path(file)
    with _opened(file) as stream:
        raw = stream.read(limit + 1)
    if len(raw) > limit:
        raise DataError(f"the file is larger than {limit // 2**20} MB.", hint, file=file)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DataError("the file is not UTF-8 text.", hint, file=file, line=line) from None


def read_jsonl(file: str | Path, type: type[T]) -> Iterator[tuple[int, T]]:
    """Line number and record of each line, validated against `type` (a msgspec.Struct, dict)."""
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


def read_json(file: str | Path, type: type[T], *, limit: int = 256 * 2**20, hint: str = CHECK) -> T:
    """A whole JSON file, validated against `type`; `hint` says which file is expected."""
    text = read_text(file, limit=limit, hint=hint)
    try:
        return msgspec.json.decode(text, type=type)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(f"{_json_problem(error)}.", hint, file=file) from None


def read_table(
    file: str | Path,
    columns: Sequence[str],
    *,
    delimiter: str = ",",
    quoted: bool = False,
    latin: bool = False,
    header: list[str] | None = None,
) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and fields of each row of a CSV or TSV file whose header has the `columns`.

    Between tabs a quotation mark is a letter like any other, unless `quoted` says otherwise. A file
    without a header is read with the names that `header` gives.
    """
    numbered = _Numbered(file, latin=latin)
    if delimiter == "\t" and not quoted:
        reader = csv.reader(numbered, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(numbered, delimiter=delimiter, strict=True)
    rows = filter(_holds_something, reader)
    try:
        header = header or [name.strip() for name in next(rows, [])] or None
        _check_header(header, columns, file)
        for row in rows:
            if header is None or len(row) != len(header):
                is_split = delimiter == "," and len(row) > len(header or ())
                raise DataError(
                    f"the row has {len(row)} fields, the header {len(header or ())}.",
                    QUOTE if is_split else CORRECT,
                    file=file,
                    line=numbered.last,
                )
            yield numbered.last, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise DataError(f"not a table: {error}.", CORRECT, file=file, line=numbered.last) from None


def _holds_something(row: list[str]) -> bool:
    """Whether a row is more than a blank line between rows, or a line that names what separates."""
    if row[:1] == ["sep="]:
        return False
    return len(row) > 1 or any(cell.strip() for cell in row)


def delimiter_of(file: str | Path, *, latin: bool = False) -> str:
    """What separates the columns of a table, by its header: tab, semicolon, bar or comma.

    Spreadsheets write semicolons where the comma is a decimal point, and some say so before the
    header: sep=;
    """
    head = next(read_lines(file, latin=latin), (1, ""))[1]
    if head.startswith("sep=") and len(head) == len("sep=;"):
        return head[-1]
    if "\t" in head:
        return "\t"
    return max(",;|", key=head.count)


class _Numbered:
    """The lines of a file for `csv`, which does not tell how many of them a row took."""

    def __init__(self, file: str | Path, *, latin: bool = False) -> None:
        self.last = 0
        self._lines = read_lines(file, blanks=True, latin=latin)  # a cell may hold paragraphs

    def __iter__(self) -> Iterator[str]:
        for number, line in self._lines:
            self.last = number
            yield line + "\n"


def _check_header(header: list[str] | None, columns: Sequence[str], file: str | Path) -> None:
    if header is None:
        hint = f"Its first line must name the columns{': ' if columns else ''}{', '.join(columns)}."
        raise DataError("the file is empty.", hint, file=file)
    for column in header:
        if not columns and column and header.count(column) > 1:  # only the last would be seen
            raise DataError(
                f"two columns are named '{column}'.", "Rename or remove one.", file=file, line=1
            )
    for column in columns:
        if column not in header:
            raise DataError(
                f"the column {column} is missing.",
                f"Name it in the first line, which has: {', '.join(header)}.",
                file=file,
                line=1,
            )


def parse(text: str, convert: Callable[[str], T], *, field: str, file: str | Path, line: int) -> T:
    """Convert one field, or say which field of which line is not what it should be.

    >>> parse("7", int, field="label", file="a.csv", line=3)
    7
    """
    try:
        value = convert(text)
    except ValueError:
        problem = f"the field {field} is {text[:40]!r}, not a {convert.__name__}."
        raise DataError(problem, CORRECT, file=file, line=line) from None
    is_nan = isinstance(value, float) and value != value
    if is_nan:
        raise DataError(f"the field {field} is not a number.", CORRECT, file=file, line=line)
    return value


def read_yaml(file: str | Path, *, limit: int = 32 * 2**20) -> Any:
    """A YAML file, safe-loaded: plain data only, no objects."""
    import yaml

    text = read_text(file, limit=limit)
    for _ in yaml_events(text, file):
        pass  # what is nested too deeply must not reach the loader
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with _told_as_yaml(text, file):
        content = yaml.load(text, Loader=loader)  # noqa: S506 - both are safe
        values = _values(content, {})
    if values > MOST_VALUES:
        raise DataError(
            f"its aliases unfold to more than {MOST_VALUES:,} values.",
            "Write the values out instead of naming them with & and *.",
            file=file,
        )
    return content


def yaml_events(text: str, file: str | Path = "", *, deepest: int = DEEPEST) -> Iterator[Any]:
    """The parse events of a YAML text, of bounded nesting; what is wrong is told with its line."""
    import yaml

    depth = 0
    with _told_as_yaml(text, file):
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > deepest:
                raise DataError(
                    f"it is nested too deeply: more than {deepest} levels.",
                    "Put the inner lists into entries of their own.",
                    file=file,
                    line=event.start_mark.line + 1,
                )
            yield event


@contextmanager
def _told_as_yaml(text: str, file: str | Path) -> Iterator[None]:
    """What YAML finds wrong inside is told in a sentence."""
    import yaml

    try:
        yield
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise not_yaml(text, str(error.problem), line, file) from None
    except RecursionError:
        raise DataError("it is nested too deeply.", CHECK, file=file) from None
    except (yaml.YAMLError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"not YAML: {reason}.", CHECK, file=file) from None


def not_yaml(text: str, problem: str, line: int, file: str | Path) -> DataError:
    """What to do about a text that is not YAML: tabs are the usual reason."""
    hint = "Correct the line: indentation, quotes or brackets are off."
    lines = text.splitlines()
    if 0 < line <= len(lines) and "\t" in lines[line - 1]:
        hint = "Write spaces where the line has tabs: YAML is indented by spaces."
    return DataError(f"not YAML: {problem}.", hint, file=file, line=line)


def _values(content: Any, known: dict[int, int]) -> int:
    """How many values there are if every alias is written out."""
    if not isinstance(content, dict | list):
        return 1
    if id(content) in known:
        return known[id(content)]
    known[id(content)] = MOST_VALUES  # a list that holds itself has no end
    parts = content.values() if isinstance(content, dict) else content
    total = 1
    for part in parts:
        total += _values(part, known)
    known[id(content)] = total
    return total


def package_data(name: str) -> Path:
    """The path of a file that ships with the package, below gnomon/data."""
    return Path(__file__).parent / "data" / name


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    """A regular file for reading, unpacked on the way; what goes wrong is said in a sentence."""
    try:
        with open_regular(file) as stream, _unpacked(file, stream) as plain:
            yield _as_utf8(plain)
    except _packing_errors():
        raise DataError(
            "the packed data is damaged or cut short.", "Fetch the file again.", file=file
        ) from None
    except UnicodeError:
        message = "the file begins like UTF-16 and is not, and is not UTF-8 text."
        raise DataError(message, CHECK, file=file) from None
    except OSError as error:
        hint = "Check the path and its permissions."
        if isinstance(error, FileNotFoundError):
            hint = path_hint(file, "Check the path.")
        raise DataError(f"{_reason(error)}.", hint, file=file) from None


def _packing_errors() -> tuple[type[Exception], ...]:
    """What is raised of damaged packed data; the modules are loaded when something is."""
    import lzma
    import zipfile

    return EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile


def _unpacked(file: Path, stream: IO[bytes]) -> IO[bytes]:
    """The content of a file, by its first bytes; a zip archive must hold one file."""
    head = _head_of(stream)
    if head.startswith(b"\x1f\x8b") or file.suffix == ".gz":
        return io.BufferedReader(gzip.GzipFile(fileobj=stream, mode="rb"))
    if head.startswith(b"BZh") and file.suffix == ".bz2":
        import bz2

        return io.BufferedReader(bz2.BZ2File(stream))
    if head.startswith(b"\xfd7zXZ"):
        import lzma

        return io.BufferedReader(lzma.LZMAFile(stream))
    if head.startswith(b"PK\x03\x04") and file.suffix == ".zip":
        return _only_member(file, stream)
    return stream


def _head_of(stream: IO[bytes]) -> bytes:
    head = stream.read(6)
    stream.seek(0)
    return head


def _only_member(file: Path, stream: IO[bytes]) -> IO[bytes]:
    """The one file that an archive holds."""
    import zipfile

    archive = zipfile.ZipFile(stream)
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        raise DataError(
            f"the archive holds {len(members):,} files, and one is read.",
            "Unpack it, and give the file or the folder that you mean.",
            file=file,
        )
    try:
        return archive.open(members[0])
    except (NotImplementedError, RuntimeError) as error:  # another method; a password
        raise DataError(f"it cannot be unpacked: {error}.", "Unpack it first.", file=file) from None


def _as_utf8(stream: IO[bytes]) -> IO[bytes]:
    """The content as UTF-8 where its first bytes say that it is UTF-16, as spreadsheets write."""
    head = stream.peek(2)[:2] if isinstance(stream, io.BufferedReader) else b""
    if head not in (b"\xff\xfe", b"\xfe\xff"):
        return stream
    content = stream.read(UTF16_LIMIT + 1)
    if len(content) > UTF16_LIMIT:
        raise OSError(f"a file in UTF-16 may have {UTF16_LIMIT // 2**20} MB, write it as UTF-8")
    return io.BytesIO(content.decode("utf-16").encode())


def open_regular(file: Path) -> IO[bytes]:
    """A file opened for reading. Pipes and devices, which may never end, are refused unread."""
    # Opening a pipe waits for its other end unless told not to.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(file, flags)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise DataError("this is a folder.", "Give the path of a file in it.", file=file)
    raise DataError(
        "this is a pipe or a device, not a file.", "Write its content to a file first.", file=file
    )


def first_bytes(file: Path, most: int, hint: str = "Check the path.") -> bytes:
    """The content of a file up to so many bytes; what cannot be read is said in a sentence."""
    try:
        with open_regular(file) as stream:
            return stream.read(most)
    except OSError as error:
        raise DataError(f"{error.strerror}.", hint, file=file) from None


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return error.strerror or str(error)


def shaped(
    content: Any,
    kind: type[T],
    what: str,
    hint: str,
    file: str | Path,
    *,
    at: str = "",
    strict: bool = True,
) -> T:
    """Plain data as a record; what does not fit is told with its place and the nearest field."""
    try:
        return msgspec.convert(content, kind, strict=strict)
    except msgspec.ValidationError as error:
        raise not_shaped(error, kind, what, hint, file, at=at) from None


def not_shaped(
    error: Exception, kind: Any, what: str, hint: str, file: str | Path, *, at: str = ""
) -> DataError:
    """The error for data of the wrong shape; `at` is where they stand in the file."""
    if "got `bool`" in str(error):
        hint = _IN_QUOTES
    return DataError(f"{what}{shape_problem(error, kind, at)}.", hint, file=file)


def shape_problem(error: Exception, kind: Any = None, at: str = "") -> str:
    """What msgspec says of data of the wrong shape, in words; with the nearest field of a record.

    >>> shape_problem(ValueError("Expected `str`, got `bool` - at `$.forms[...]`"))
    'forms[...] must be a text, not yes or no'
    >>> shape_problem(ValueError("Object missing required field `text`"))
    "it lacks the field 'text'"
    """
    problem, _, where = str(error).partition(" - at ")
    in_keys = where.startswith("`key` in ")
    place = where.removeprefix("`key` in ").strip("`").removeprefix("$").lstrip(".")
    called = ".".join(filter(None, (at, place))) or "it"
    if in_keys:
        called = f"a name in {called}"
    wrong = _WRONG_TYPE.fullmatch(problem)
    if wrong:
        wanted, got = type_words(wrong["wanted"]), type_words(wrong["got"])
        return f"{called} must be {wanted}, not {got}"
    unknown = _UNKNOWN_FIELD.fullmatch(problem)
    if unknown:
        name = unknown["name"]
        return f"{called} has an unknown field '{name}'{_meant(name, kind, place)}"
    said = problem.replace("Object missing required", "lacks the").replace("Expected", "must be")
    said = said.replace("`", "'")
    return f"{called} {said}" if said != problem else f"{called}: {said}"


def _meant(name: str, kind: Any, place: str) -> str:
    """The fields that may be meant by one that is not known, of the record at a place."""
    if kind is None:
        return ""
    for step in filter(None, re.sub(r"\[[^]]*\]", "", place).split(".")):
        kind = next(_records_in(get_type_hints(kind).get(step)), kind)
    known = kind.__struct_encode_fields__
    near = nearest(name, known)
    return f" (did you mean {' or '.join(near)}?)" if near else f" (known: {', '.join(known)})"


def _records_in(hint: Any) -> Iterator[Any]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for inner in get_args(hint):
        yield from _records_in(inner)


def type_words(types: str) -> str:
    """Types as msgspec names them, in words.

    >>> type_words("str | null")
    'a text or nothing'
    """
    return " or ".join(_TYPE_WORDS.get(each.strip(), each) for each in types.split("|"))


def _json_problem(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    if isinstance(error, msgspec.ValidationError):
        return f"wrong types: {error}"
    return f"not JSON: {error}"
