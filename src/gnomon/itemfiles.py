"""Files of items that `gnomon make` wrote, read back: the items, their digest, and the canary.

A file of items can be asked like a benchmark. Its tag `benchmark` may name the one that the items
come from, whose measures and units then hold for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.canary import FIELD, has_canary
from gnomon.contracts import Benchmark
from gnomon.errors import DataError, MissingExtraError
from gnomon.files import read_jsonl, read_table
from gnomon.records import Fingerprint, Image, Item, problem
from gnomon.registry import known_benchmark

ENDINGS = (".jsonl", ".csv", ".parquet")
LISTS = ("choices", "gold", "tags", "images")  # JSON text in a CSV cell
ORIGIN = "benchmark"  # the tag that names the benchmark from which an item comes
UNKNOWN = "items"  # stands for the benchmark of a file whose items name none
_HINT = "Give a file that `gnomon make` wrote; docs/formats.md lists the fields."


class ItemFile(NamedTuple):
    """What a file of items holds."""

    items: int
    digest: str  # the same as items_sha256 of a run on these items
    canaries: int  # items that carry the canary


def is_item_file(file: str) -> bool:
    """Whether a file's name is that of a file of items."""
    return file.endswith(ENDINGS)


def check_item_file(file: Path) -> ItemFile:
    """Read a file of items from end to end; what cannot be an item is an error with its line."""
    digest = Fingerprint()
    count = canaries = 0
    for line, row in _rows(file):
        item = _item(file, line, row)
        wrong = problem(item)
        if wrong:
            raise DataError(f"this item cannot be asked: {wrong}.", _HINT, file=file, line=line)
        digest.add(item)
        count += 1
        canaries += has_canary(str(row.get(FIELD, "")))
    return ItemFile(count, digest.hexdigest(), canaries)


def benchmark_of_file(file: Path) -> tuple[Benchmark, str]:
    """A file of items as a benchmark with one source, which is called by the file's name."""
    first = next(read_items(file), None)
    if first is None:
        raise DataError("the file holds no items.", _HINT, file=file)
    source = file.name
    origin = first.tags.get(ORIGIN, "")
    known = known_benchmark(origin) if origin else None
    if known is None:
        summary = f"the items of {source}"
        return Benchmark(name=UNKNOWN, summary=summary, sources={source: items_to_ask}), source
    benchmark = replace(
        known,
        sources={source: items_to_ask},
        full={},
        illustrators={},
        whole_groups=(),
        statistics=None,
    )
    return benchmark, source


def items_to_ask(*, file: str) -> Iterator[Item]:
    """The items of a file, with pictures as seen from here and not from the file.

    file     the file of items
    """
    path = Path(file)
    for item in read_items(path):
        if not item.images:
            yield item
            continue
        images = [_seen_from_here(image, path.parent) for image in item.images]
        yield msgspec.structs.replace(item, images=tuple(images))


def _seen_from_here(image: Image, folder: Path) -> Image:
    """A picture by its path from here, which may be the path that the file has."""
    if "://" in image.path or Path(image.path).is_absolute():
        return image
    if Path(image.path).is_file() and not (folder / image.path).is_file():
        return image
    return msgspec.structs.replace(image, path=(folder / image.path).as_posix())


def read_items(file: Path) -> Iterator[Item]:
    """The items of a file; the canary is no part of them."""
    for line, row in _rows(file):
        yield _item(file, line, row)


def _item(file: Path, line: int, row: dict[str, Any]) -> Item:
    try:
        return msgspec.convert(row, Item)
    except msgspec.ValidationError as error:
        raise DataError(f"not an item: {error}.", _HINT, file=file, line=line) from None


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if file.suffix == ".csv":
        return _from_csv(file)
    if file.suffix == ".parquet":
        return _from_parquet(file)
    return iter(read_jsonl(file, dict[str, Any]))


def _from_csv(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, row in read_table(file, ("id", "form", "text"), delimiter=","):
        found: dict[str, Any] = dict(row)
        for name in LISTS:
            found[name] = _parsed(file, line, found.get(name, ""))
        yield line, {name: _as_written(value) for name, value in found.items()}


def _parsed(file: Path, line: int, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise DataError(f"a list is not JSON: {error}.", _HINT, file=file, line=line) from None


def _as_written(value: Any) -> Any:
    """A cell without the mark that keeps a spreadsheet from taking it for a formula."""
    from gnomon.writing import spreadsheet_cell

    if isinstance(value, str) and value.startswith("'") and spreadsheet_cell(value[1:]) == value:
        return value[1:]
    return value


def _from_parquet(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("Reading Parquet", "parquet") from None

    with duckdb.connect() as db:
        try:
            found = db.execute("SELECT * FROM read_parquet(?)", [str(file)])
        except duckdb.Error as error:
            raise DataError(f"not a Parquet file: {error}.", _HINT, file=file) from None
        names = [column[0] for column in found.description or ()]
        number = 0
        while rows := found.fetchmany(4096):
            for row in rows:
                number += 1
                yield number, dict(zip(names, row, strict=True))
