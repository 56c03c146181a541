"""Right answers of strangers' rows that are written: numbers, sets, orders, regions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gnomon.errors import DataError
from gnomon.forms.numbers import quantity_of, written
from gnomon.forms.regions import write_mask, write_shape
from gnomon.items.mapping import ColumnMap, column_names, columns_among, named_columns
from gnomon.items.shapes import Row
from gnomon.items.values import (
    MISSING,
    Choices,
    OddCellError,
    as_text,
    by_letter,
    by_name,
    by_text,
    golds,
    scalar,
    value_at,
)
from gnomon.lexicon.quantities import unit_named
from gnomon.records import Image

# The form of items whose right answers are of a kind that a map names.
FORM_OF = {
    "number": "number",
    "set": "set",
    "order": "order",
    "mask": "point",
    "box": "point",
    "polygon": "point",
    "point": "point",
}
REGIONS = tuple(name for name, form in FORM_OF.items() if form == "point")
UNKNOWN_SIZE = (1000, 1000)  # of a picture that is not at hand, where regions are shares of it
_PARTS = re.compile(r"\s*(?:[,;&|<>]|->|→|\band\b)\s*")
_COORDINATE = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_PAIRS = re.compile(r"\s*\[?\s*(?:[\[(]\s*-?[\d.]+\s*,\s*-?[\d.]+\s*[\])]\s*,?\s*)+\]?\s*")
_ASKS_NUMBER = re.compile(
    r"(?i)\bhow (?:many|much|far|long|tall|high|wide|deep|large|big|heavy|close)\b|"
    r"\b(?:distance|height|width|length|size|area|angle|number|count|depth|radius|volume)\b"
)
_ASKED_UNIT = re.compile(
    r"(?i)\b(?:in|how many|number of|unit:?)\s+((?:square |sq\.? |cubic )?[^\W\d_]+)"
)
ASKS_ALL = re.compile(r"(?i)\b(?:all (?:that|which|options|of)|one or more|every option)\b")


def kind_of(rows: Iterable[tuple[int, Row]], mapping: ColumnMap, most_labels: int) -> str:
    """What all right answers of a file without choices are: numbers or points; empty if neither.

    Whole numbers of which few differ may also be labels: there the questions must ask for one.
    """
    kinds: set[str] = set()
    seen: set[str] = set()
    measured = False
    asks = True
    for _, row in rows:
        value = value_at(row, mapping.gold[0])
        kind = _kind(value)
        kinds.add(kind)
        if not kind or len(kinds) > 1:
            return ""
        text = scalar(value) or ""
        seen.add(text)
        found = quantity_of(text) if kind == "number" else None
        if found is not None:
            measured = measured or bool(found.unit) or not found.low.is_integer()
        asks = asks and _ASKS_NUMBER.search(_question(row, mapping)) is not None
    if kinds != {"number"}:
        return kinds.pop() if kinds else ""
    return "number" if measured or asks or len(seen) > most_labels else ""


def _kind(value: Any) -> str:
    if isinstance(value, list | tuple):
        value = str(value)
    text = scalar(value)
    if text is None:
        return ""
    if _PAIRS.fullmatch(text):
        return "point" if len(_COORDINATE.findall(text)) < 6 else "polygon"
    return "number" if is_number(value) else ""


def is_number(value: Any) -> bool:
    """Whether a cell holds one number, with or without a unit."""
    text = scalar(value) if not isinstance(value, bool) else None
    if text is None or len(text) > 60 or not any(map(str.isdigit, text)):
        return False
    return quantity_of(text) is not None


def _question(row: Row, mapping: ColumnMap) -> str:
    value = value_at(row, mapping.text[-1]) if mapping.text else ""
    return value if isinstance(value, str) else ""


def number_gold(row: Row, mapping: ColumnMap) -> tuple[str, ...]:
    """The right numbers of a row, each with its unit: its own, or that which the row asks for."""
    found = []
    for value in golds(value_at(row, mapping.gold[0])):
        quantity = quantity_of(as_text(value, "gold")) if is_number(value) else None
        if quantity is None:
            raise OddCellError(f"the gold {value!r:.80} is not a number")
        unit = quantity.unit or _unit_beside(row) or asked_unit(_question(row, mapping))
        if quantity.low == quantity.high:
            found.append(written(quantity.low, unit))
        else:
            found.append(written(quantity.low, "") + " to " + written(quantity.high, unit))
    return tuple(found)


def _unit_beside(row: Row) -> str:
    """The unit that a column of its own names."""
    for name in columns_among(named_columns(row), column_names().units):
        unit = unit_named(scalar(row[name]) or "")
        if unit:
            return unit
    return ""


def asked_unit(question: str) -> str:
    """The unit in which a question wants its answer; empty if it names none.

    >>> asked_unit("How far is the sofa from the door, in metres?")
    'm'
    """
    for words in reversed(_ASKED_UNIT.findall(question)):
        unit = unit_named(words) or unit_named(words.split()[-1])
        if unit:
            return unit
    return ""


def labels_of(value: Any, choices: Choices) -> tuple[str, ...] | None:
    """The labels of a set or an order that a cell names: "a,c", "B > A > C", a list of texts."""
    parts = golds(value)
    if len(parts) == 1 and isinstance(parts[0], str) and by_text(parts[0], choices) is None:
        parts = _PARTS.split(parts[0])
    if len(parts) == 1 and isinstance(parts[0], str):
        run = parts[0].strip()
        if 1 < len(run) <= len(choices.texts) and run.isalpha() and run.isupper():
            parts = list(run)
    found = []
    for part in parts:
        meant = by_name(part, choices) or by_letter(part, choices) or by_text(part, choices)
        if meant is None or meant not in choices.texts or meant in found:
            return None
        found.append(meant)
    return tuple(found) or None


def is_order(value: Any, choices: Choices) -> bool:
    """Whether a gold names every choice once: in an order, since all of them cannot be right."""
    found = labels_of(value, choices)
    return found is not None and len(found) == len(choices.texts) > 1


def region_gold(
    row: Row,
    mapping: ColumnMap,
    images: Sequence[Image],
    picture: Callable[[Any], Image],
) -> tuple[str, ...]:
    """The region of a picture that a row names; nothing where mask or picture is not at hand."""
    value = value_at(row, mapping.gold[0])
    if value in (None, "", MISSING):
        return ()
    if mapping.gold_is == "mask":
        return _mask(value, picture)
    numbers = _coordinates(value)
    shown = images[0] if images else None
    if shown is not None and not shown.width:  # it is not shown, but its size is needed
        shown = picture(shown.path)
    size = (shown.width, shown.height) if shown else (0, 0)
    if max(numbers, default=0) <= 1:
        size = size if size[0] else UNKNOWN_SIZE
        numbers = [number * size[place % 2] for place, number in enumerate(numbers)]
    if not size[0]:
        return ()
    if mapping.gold_is == "box" and not _is_box(numbers):
        raise OddCellError("a box needs four numbers: left, top, right and bottom")
    if mapping.gold_is == "point" and len(numbers) > 2:
        pairs = zip(numbers[::2], numbers[1::2], strict=False)
        return tuple(write_shape("point", pair, size) for pair in pairs)
    if len(numbers) < 2 or len(numbers) % 2:
        raise OddCellError(f"the {mapping.gold_is} {value!r:.80} is not a list of coordinates")
    return (write_shape(mapping.gold_is, numbers, size),)


def _is_box(numbers: Sequence[float]) -> bool:
    if len(numbers) != 4:
        return False
    left, top, right, bottom = numbers
    return left < right and top < bottom


def _coordinates(value: Any) -> list[float]:
    """All numbers of a cell, in its order; x before y in an object."""
    if isinstance(value, Mapping):
        value = [value.get("x"), value.get("y")]
    return [float(number) for number in _COORDINATE.findall(str(value)[:100_000])]


def _mask(value: Any, picture: Callable[[Any], Image]) -> tuple[str, ...]:
    """A mask: what is light in it is inside."""
    import numpy as np

    from gnomon.vision.images import decode

    found = picture(value)
    if not found.sha256:
        return ()  # told with the number of such rows
    try:
        light = np.asarray(decode(found.path)).max(axis=2)
    except DataError as error:
        raise OddCellError(f"the mask cannot be read: {error.message}") from None
    return (write_mask(light > light.max() / 2),)
