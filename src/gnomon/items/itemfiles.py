"""Files and folders of items that can be asked like a benchmark.

They are what `gnomon make` wrote, any other rows whose columns are mapped, dataset folders, and
multiple-choice tasks of lm-eval. The tag `benchmark` of an item that Gnomon wrote may name the
benchmark that it comes from, whose measures and units then hold for the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.contracts import Benchmark
from gnomon.errors import DataError, UsageError
from gnomon.files import shape_problem
from gnomon.items.converting import (
    FindPicture,
    SharedPictures,
    convert,
    found_picture,
    named_picture,
    picture_or_name,
)
from gnomon.items.lmtask import PROMPT, is_task_file, read_task, rows_of_task, task_item
from gnomon.items.mapping import ColumnMap, parse_map, read_map, write_map
from gnomon.items.resolving import Rows, Tell, refuse, resolve, with_twins
from gnomon.items.rows import (
    ENDINGS as READ_ENDINGS,
)
from gnomon.items.rows import (
    SPLIT,
    bare_name,
    chosen_split,
    class_names,
    is_dataset,
    read_all_splits,
    read_rows,
    read_split,
    split_of,
    splits_in,
)
from gnomon.items.shapes import Row
from gnomon.items.sidecar import columns, described, read_sidecar
from gnomon.items.values import OddCellError, from_json
from gnomon.items.writing import FIELD, has_canary
from gnomon.records import Image, Item
from gnomon.registry import BENCHMARKS, TASK_SETS, known_benchmark
from gnomon.trust import is_below

ENDINGS = (".jsonl", ".csv", ".parquet")  # that `gnomon make` writes
LISTS = ("choices", "gold", "tags", "images")  # JSON text in a CSV cell
OWN = ("id", "form", "text", "choices", "gold")  # every item of Gnomon's own has these
ORIGIN = "benchmark"  # the tag that names the benchmark from which an item comes
RESERVED = ("fresh", "published", "own")  # sources of benchmarks; a folder is not one of them
UNSEEN = "none"  # the folder of pictures, where nobody looks at them
NO_ITEMS = (".yaml", ".yml", ".xml", ".toml", ".py", ".md", ".html", ".gguf")
UNKNOWN = "items"  # stands for the benchmark of a file whose items name none
_HINT = (
    "Give a table whose first line names its columns, such as question,option1,option2,answer, or "
    "a file that `gnomon make` wrote (docs/own.md, docs/formats.md)."
)


def is_item_file(file: str) -> bool:
    """Whether a file's name is that of a file of items as `gnomon make` writes it."""
    return file.endswith(ENDINGS)


def names_items(spec: str) -> bool:
    """Whether what a user wrote in the place of a benchmark is a file or folder of items."""
    if not spec or spec in BENCHMARKS or spec in TASK_SETS or "://" in spec:
        return False
    path = Path(spec)
    if bare_name(path.name).endswith(READ_ENDINGS) or is_task_file(spec):
        return True
    if path.is_file():  # known by what is in it, whatever it is called
        return path.suffix.lower() not in NO_ITEMS
    return is_dataset(path) and not (path / "run.json").exists()


def benchmark_of_file(file: Path) -> tuple[Benchmark, str]:
    """A file or folder of items as a benchmark with one source, which is called by its name."""
    source = file.name or file.resolve().name
    if source in RESERVED:
        source += "/"
    if is_task_file(str(file)):
        return _benchmark_of_task(file, source), source
    plain = Benchmark(
        name=UNKNOWN, summary=f"the items of {source}", sources={source: items_to_ask}
    )
    sidecar = read_sidecar(file)
    return described(_with_origin(file, plain, sidecar.like), sidecar), source


def _benchmark_of_task(file: Path, source: str) -> Benchmark:
    task = read_task(file)
    name = task.task if isinstance(task.task, str) else ""
    return Benchmark(
        name=UNKNOWN,
        title=name,
        summary=f"the lm-eval task {name or source}",
        sources={source: items_to_ask},
        prompt=PROMPT,
    )


def _with_origin(file: Path, plain: Benchmark, origin: str) -> Benchmark:
    """What is known of the benchmark that the sidecar or the first item names, if one does."""
    row = _first_row(file, partial(rows_of_file, file, ""))
    if not origin and _is_own(row):
        origin = _item(file, 1, _as_item(file, 1, row)).tags.get(ORIGIN, "")
    known = known_benchmark(origin) if origin else None
    if known is None:
        return plain
    return replace(
        known,
        sources=plain.sources,
        full={},
        illustrators={},
        whole_groups=(),
        statistics=None,
    )


def _is_own(row: Row) -> bool:
    """Whether a row is an item of Gnomon's own: it has the fields, and lists where these are."""
    if not all(name in row for name in OWN):
        return False
    return all(_is_list(row[name]) for name in ("choices", "gold"))


def _is_list(value: Any) -> bool:
    return not isinstance(value, str) or value.startswith("[")


def _first_row(file: Path, rows: Rows) -> Row:
    for _, row in rows():
        return row
    raise DataError("the file holds no items.", _HINT, file=file)


def options_of_file(file: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options with which a file is read, with nothing left to be found out later."""
    found = {name: value for name, value in given.items() if value not in ("", None)}
    found["file"] = str(file)
    if file.is_dir():
        found["split"] = chosen_split(file, str(given.get("split") or ""))
    mapping = mapping_of(file, found.get("map", ""), str(found.get("split", "")))
    if mapping is not None:
        found["map"] = write_map(mapping)
    elif is_task_file(str(file)) and "map" in found:
        raise UsageError("A task says itself what its fields are.", "Leave out --map.")
    return {name: value for name, value in found.items() if value != ""}


def mapping_of(
    file: Path, given: str | Mapping[str, Any], split: str, tell: Tell | None = None
) -> ColumnMap | None:
    """The whole map of a file's columns; none for items of Gnomon's own, and for tasks."""
    if is_task_file(str(file)):
        return None
    rows = partial(rows_of_file, file, split)
    return mapping_of_rows(file, rows, read_map(given), tell or refuse(file), split)


def mapping_of_rows(
    file: Path, rows: Rows, given: ColumnMap, tell: Tell, split: str = ""
) -> ColumnMap | None:
    """The same for some rows: those of the file, or of several that are one set."""
    mapping = columns(read_sidecar(file))
    mapping = msgspec.structs.replace(mapping, **_set_fields(given))
    if mapping == ColumnMap() and _is_own(_first_row(file, rows)):
        return None
    classes = {}
    parquet = _data_file(file, split)
    if parquet.suffix == ".parquet":
        classes = class_names(parquet)
    return resolve(file, rows, mapping, classes, tell)


def _set_fields(mapping: ColumnMap) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(mapping).items() if value}


def _data_file(file: Path, split: str) -> Path:
    if file.is_dir():
        names = splits_in(file)
        return (names.get(split) or next(iter(names.values())))[0]
    return file


def items_to_ask(*, file: str, map: str = "", split: str = "", images: str = "") -> Iterator[Item]:
    """The items of a file, with pictures as seen from here and not from the file.

    file     the file, or the folder of a dataset
    map      which column holds what: text=question,choices=options,gold=answer
    split    only this split, such as test
    images   the folder from which paths of pictures start, if not that of the file; none to ask
             without looking for them
    """
    for found in numbered_items(Path(file), map=map, split=split, images=images):
        yield found.item


class Numbered(NamedTuple):
    """An item, the line and the row that it stands in, and whether it carries the canary."""

    line: int
    item: Item
    row: Row
    canary: bool = False


def numbered_items(
    file: Path,
    *,
    map: str = "",
    split: str = "",
    images: str = "",
    tell: Tell | None = None,
    pictures: bool = True,
) -> Iterator[Numbered]:
    """The items of a file with their lines; `tell` is told of rows that are none.

    `pictures` says whether those that a map names must be there.
    """
    if is_task_file(str(file)):
        yield from _task_items(file, split, tell or refuse(file))
        return
    folder = picture_folder(file, images)
    if not map:
        for found in items_of_rows(file, partial(rows_of_file, file, split), None):
            _check_pictures_are_known(file, found, folder)
            yield found._replace(item=_with_pictures_from_here(found.item, folder))
        return
    mapping = parse_map(map)
    if not mapping.gold_is:
        mapping = mapping_of(file, map, split, tell) or mapping
    look = pictures and images != UNSEEN
    finder = partial(found_picture, folder) if look else named_picture
    beside = picture_folder(file, "" if images == UNSEEN else images)
    regions = partial(picture_or_name, beside) if pictures else named_picture
    rows = partial(rows_of_file, file, split)
    for found in items_of_rows(file, rows, mapping, finder, tell, regions=regions):
        yield found._replace(item=_of_split(found.item, split))


def items_of_rows(
    file: Path,
    rows: Rows,
    mapping: ColumnMap | None,
    pictures: FindPicture | None = None,
    tell: Tell | None = None,
    kept: Iterable[tuple[int, Row]] | None = None,
    regions: FindPicture = named_picture,
) -> Iterator[Numbered]:
    """The items of rows, by the map of their columns; without one they are Gnomon's own.

    `kept` are those rows of which items are wanted, if not all; `regions` finds masks.
    """
    wanted = rows() if kept is None else kept
    if mapping is None:
        for line, row in wanted:
            item = _item(file, line, _as_item(file, line, row))
            yield Numbered(line, item, row, _carries_canary(row))
        return
    if mapping.twins:
        wanted = with_twins(wanted, mapping.twins[0])
    finder = pictures or partial(found_picture, picture_folder(file, ""))
    if mapping.image:
        finder = SharedPictures(finder, rows, mapping)
    form = read_sidecar(file).form
    found = convert(wanted, mapping, finder, form=form, tell=tell or refuse(file), regions=regions)
    yield from starmap(Numbered, found)


def rows_of_set(paths: Sequence[Path], split: str = "") -> Iterator[tuple[int, Row]]:
    """The rows of files that are one set, or those of one split; of several files counted through.

    A column `split` says what the name of a file, or the place in a folder, says.
    """
    number = 0
    for path in paths:
        part = split_of(path) if path.is_file() else ""
        for line, row in read_all_splits(path) if path.is_dir() else read_rows(path):
            number += 1
            mine = {SPLIT: part, **row} if part else row
            if not split or _split_of(mine) == split:
                yield line if len(paths) == 1 else number, mine


def _of_split(item: Item, split: str) -> Item:
    if not split or SPLIT in item.tags:
        return item
    return msgspec.structs.replace(item, tags={**item.tags, SPLIT: split})


def picture_folder(file: Path, given: str) -> Path:
    """The folder from which paths of pictures start."""
    if given:
        return Path(given)
    if file.is_dir():
        return file
    return file.parent


def _task_items(file: Path, split: str, tell: Tell) -> Iterator[Numbered]:
    task = read_task(file)
    for line, row in rows_of_task(file, task, split):
        try:
            item = task_item(task, row, line)
        except OddCellError as odd:
            tell(line, str(odd))
            continue
        yield Numbered(line, item, row, _carries_canary(row))


def _with_pictures_from_here(item: Item, folder: Path) -> Item:
    if not item.images:
        return item
    seen = tuple(_seen_from_here(image, folder) for image in item.images)
    return msgspec.structs.replace(item, images=seen)


def _check_pictures_are_known(file: Path, found: Numbered, folder: Path) -> None:
    """Refuse a picture from elsewhere, unless the item names its digest: who does, has seen it."""
    for image in found.item.images:
        if image.sha256 or "://" in image.path or is_below(folder, image.path):
            continue
        raise DataError(
            f"the picture '{image.path[:200]}' lies outside the folder {folder}.",
            "Put it there, or give the folder of the pictures with --images.",
            file=file,
            line=found.line,
        )


def _carries_canary(row: Row) -> bool:
    return has_canary(str(row.get(FIELD, "")))


def _seen_from_here(image: Image, folder: Path) -> Image:
    """A picture by its path from here, which may be the path that the file has."""
    if "://" in image.path or Path(image.path).is_absolute():
        return image
    if Path(image.path).is_file() and not (folder / image.path).is_file():
        return image
    return msgspec.structs.replace(image, path=(folder / image.path).as_posix())


def read_items(file: Path) -> Iterator[Item]:
    """The items of a file that Gnomon wrote; the canary is no part of them."""
    for line, row in _own_rows(file):
        yield _item(file, line, row)


def rows_of_file(file: Path, split: str) -> Iterator[tuple[int, Row]]:
    """The rows of a file or folder; if a split is named, those of this split."""
    if file.is_dir():
        yield from read_split(file, split or chosen_split(file, ""))
        return
    if not split:
        yield from read_rows(file)
        return
    seen: set[str] = set()
    for line, row in read_rows(file):
        own = _split_of(row)
        seen.add(own)
        if own == split:
            yield line, row
    if split not in seen:
        named = ", ".join(sorted(filter(None, seen))[:10])
        hint = f"It has: {named}." if named else "Its rows name no split: leave out --split."
        raise UsageError(f"{file} has no rows of the split '{split}'.", hint)


def _split_of(row: Row) -> str:
    """The split that a row says it belongs to: in a column, or among the tags of an item."""
    tags = row.get("tags")
    if isinstance(tags, str):  # in a table
        tags = from_json(tags)
    if SPLIT in row or not isinstance(tags, dict):
        return str(row.get(SPLIT, ""))
    return str(tags.get(SPLIT, ""))


def _own_rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, row in read_rows(file):
        for name in OWN:
            if name not in row and _is_table(file):
                raise DataError(f"the column {name} is missing.", _HINT, file=file, line=1)
        yield line, _as_item(file, line, row)


def _is_table(file: Path) -> bool:
    return file.name.removesuffix(".gz").endswith((".csv", ".tsv"))


def _as_item(file: Path, line: int, row: Row) -> dict[str, Any]:
    """The fields of an item; in a table its lists are JSON text."""
    found = dict(row)
    if not _is_table(file) and not file.is_dir():
        return found
    for name in LISTS:
        if isinstance(found.get(name), str):
            found[name] = _parsed(file, line, found[name])
    return {name: _as_written(value) for name, value in found.items()}


def _item(file: Path, line: int, row: dict[str, Any]) -> Item:
    try:
        return msgspec.convert(row, Item)
    except msgspec.ValidationError as error:
        raise DataError(
            f"not an item: {shape_problem(error)}.", _HINT, file=file, line=line
        ) from None


def _parsed(file: Path, line: int, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(f"a list is not JSON: {error}.", _HINT, file=file, line=line) from None


def _as_written(value: Any) -> Any:
    """A cell without the mark that keeps a spreadsheet from taking it for a formula."""
    from gnomon.tabular import spreadsheet_cell

    if isinstance(value, str) and value.startswith("'") and spreadsheet_cell(value[1:]) == value:
        return value[1:]
    return value
