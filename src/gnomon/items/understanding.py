"""What was understood of a file of one's own, in a few lines before anything is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import GnomonError
from gnomon.items.converting import SHORT, found_picture
from gnomon.items.itemfiles import numbered_items, picture_folder, rows_of_file
from gnomon.items.mapping import ColumnMap, parse_map, plain_name
from gnomon.items.resolving import IN_WORDS, cannot_be_asked
from gnomon.items.shapes import Row
from gnomon.items.values import OddCellError, holds_picture, value_at
from gnomon.naming import counted
from gnomon.records import WRITTEN

LOOKED_AT = 50  # rows in which pictures are looked for
IDS_OF_PICTURES = ("image_id", "imageid", "img_id")
MOST_NAMES = 5  # of columns in a line
NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def understood(options: Mapping[str, Any]) -> list[str]:
    """Which columns were taken for what, what is shown and left out, and what the units are.

    Empty where no map is among the options: such items say themselves what they are.
    """
    if not isinstance(options.get("map"), str) or "file" not in options:
        return []
    mapping = parse_map(options["map"])
    lines = [taken_in_words(options)]
    file, split = Path(options["file"]), str(options.get("split", ""))
    try:
        lines += _counted(file, split, mapping, options["map"], str(options.get("images", "")))
    except GnomonError:  # what is wrong is told by who reads the items
        return lines
    return lines


def taken_in_words(options: Mapping[str, Any]) -> str:
    """Which columns were taken for what; empty if no map is among the options.

    >>> taken_in_words({"file": "a.csv", "map": "text=q,choices=A+B,gold=key,gold_is=letter"})
    'a.csv: text is q; choices are A, B; gold, what is right, is key (the letter of a choice).'
    """
    if not isinstance(options.get("map"), str) or "file" not in options:
        return ""
    mapping = parse_map(options["map"])
    parts = []
    for what, columns in msgspec.structs.asdict(mapping).items():
        if columns and what != "gold_is":
            verb = "are" if what.endswith("s") else "is"
            name = "gold, what is right," if what == "gold" else what
            parts.append(f"{name} {verb} {_columns_in_words(what, columns, mapping)}")
    if "split" in options:
        parts.append(f"split {options['split']}")
    return f"{options['file']}: {'; '.join(parts)}."


def _columns_in_words(what: str, columns: Iterable[str], mapping: ColumnMap) -> str:
    if what == "choices" and mapping.inside:
        return "inside it, letters taken off"
    named = ", ".join(columns)
    if what == "gold" and mapping.shuffled:
        first = "the first of " if mapping.gold_is == "first" else ""
        return f"{first}{named} (its place is shuffled by a seed)"
    if what == "gold" and mapping.gold_is:
        is_lettered = mapping.gold_is == "name" and all(len(each) == 1 for each in mapping.choices)
        if is_lettered or mapping.gold_is == "letter":
            return f"{named} (the letter of a choice)"
        return f"{named} ({IN_WORDS[mapping.gold_is]})"
    return named


def masks_not_there(file: Path, split: str, mapping: ColumnMap, images: str) -> int:
    """How many rows name a mask whose file is not there."""
    if mapping.gold_is != "mask":
        return 0
    folder = picture_folder(file, images)
    absent = 0
    for _, row in rows_of_file(file, split):
        try:
            found_picture(folder, value_at(row, mapping.gold[0]))
        except (OddCellError, GnomonError):
            absent += 1
    return absent


def _counted(
    file: Path, split: str, mapping: ColumnMap, written: str, images: str
) -> Iterator[str]:
    """What there is of items, choices, pictures and units."""
    items = 0
    groups: set[str] = set()
    choices: set[int] = set()
    forms: Counter[str] = Counter()
    pictures: set[int] = set()
    unread: list[int] = []
    found = numbered_items(
        file, map=written, split=split, tell=lambda line, _: unread.append(line), pictures=False
    )
    for numbered in found:
        items += 1
        groups.add(numbered.item.group)
        if numbered.item.form in WRITTEN:
            forms[numbered.item.form] += 1
        else:
            choices.add(len(numbered.item.choices))
        pictures.add(len(numbered.item.images))
    bare = [line for line, row in rows_of_file(file, split) if cannot_be_asked(row, mapping)]
    parts = [f"{counted(items, 'items')} {_forms(items, choices, forms)}", _units(mapping, groups)]
    if any(pictures):
        noun = "picture" if pictures == {1} else "pictures"
        parts.insert(1, f"{_range(pictures)} {noun} an item")
    if items:
        yield f"{'; '.join(parts)}."
    absent = masks_not_there(file, split, mapping, images)
    if absent:
        yield (
            f"{absent:,} masks are not there: these items are asked, and not judged. "
            "--images gives the folder of pictures and masks."
        )
    unused = unused_pictures(islice(rows_of_file(file, split), LOOKED_AT), mapping)
    if unused:
        yield f"Not shown: {', '.join(unused)}. --map image=COLUMN shows a column of pictures."
    texts = unused_texts(islice(rows_of_file(file, split), LOOKED_AT), mapping)
    if texts:
        shown = ", ".join(texts[:MOST_NAMES])
        yield f"Not asked: {shown}. --map context=COLUMN puts a text before the question."
    if bare:
        total = items + len(bare) + len(unread)
        yield (
            f"{len(bare):,} of {total:,} rows have no choices, or no answer that was agreed on, "
            f"the first in line {bare[0]}: they cannot be judged and are left out."
        )


def _forms(items: int, choices: set[int], forms: Counter[str]) -> str:
    """What is to choose from, and what is to be written."""
    chosen = f"with {_range(choices)} choices"
    if not forms:
        return chosen
    told = [f"{count:,} {form}s" for form, count in forms.items()]
    if choices:
        told.insert(0, f"{items - forms.total():,} {chosen}")
    return f"({', '.join(told)})"


def _range(counts: set[int]) -> str:
    """Counts in words: four, or 2 to 4."""
    if len(counts) == 1:
        (count,) = counts
        return NUMBERS.get(count, str(count))
    return f"{min(counts, default=0)} to {max(counts, default=0)}"


def _units(mapping: ColumnMap, groups: set[str]) -> str:
    """What varies independently: stories, pictures, groups, or the items themselves."""
    if not mapping.group or groups <= {""}:
        return "units: the items"
    noun = "groups"
    if mapping.group == mapping.context:
        noun = "stories"
    elif mapping.group == mapping.image:
        noun = "pictures"
    alone = " and the items without" if "" in groups else ""
    return f"units: {len(groups - {''}):,} {noun}{alone}"


def unused_texts(rows: Iterable[tuple[int, Row]], mapping: ColumnMap) -> list[str]:
    """The columns of texts that are too long for tags, and are not asked."""
    found: dict[str, None] = {}
    for _, row in rows:
        for name, value in row.items():
            long = isinstance(value, str) and len(value) > SHORT and not holds_picture(value)
            if long and name not in mapping.taken and not mapping.tags:
                found[name] = None
    return list(found)


def unused_pictures(rows: Iterable[tuple[int, Row]], mapping: ColumnMap) -> list[str]:
    """The columns that seem to hold or name pictures and are not shown."""
    found: dict[str, None] = {}
    for _, row in rows:
        for name in row:
            named = not mapping.image and plain_name(name) in IDS_OF_PICTURES
            shown = name in mapping.taken and name not in mapping.group
            if not shown and (named or holds_picture(value_at(row, name))):
                found[name] = None
    return list(found)
