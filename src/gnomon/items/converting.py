"""A stranger's row as an item, by a map that leaves nothing open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from gnomon.errors import DataError
from gnomon.items.mapping import ColumnMap
from gnomon.items.pictures import PictureFinder
from gnomon.items.resolving import Tell, choices_in, present
from gnomon.items.rows import Row
from gnomon.items.values import (
    MISSING,
    NLI,
    TRUTHS,
    Choices,
    OddCellError,
    as_list,
    as_text,
    read_gold,
    scalar,
    value_at,
)
from gnomon.items.writing import FIELD as CANARY
from gnomon.records import FORMS, MASK, Form, Image, Item, digest, problem

SHORT = 100  # characters up to which the value of another column becomes a tag
MOST_TAGS = 50
SPLIT = "split"  # the column, and the tag, that says from which part of a dataset a row comes


def convert(
    rows: Iterable[tuple[int, Row]],
    mapping: ColumnMap,
    pictures: PictureFinder,
    *,
    form: str = "",
    tell: Tell,
) -> Iterator[tuple[int, Item, Row]]:
    """The items of rows with lines and rows; `tell` is told of a row that is none."""
    seen: Counter[str] = Counter()
    for line, row in rows:
        try:
            item = _item(row, mapping, pictures, form, seen)
        except (OddCellError, DataError) as error:
            tell(line, _sentence(error))
            continue
        yield line, item, row


def _sentence(error: Exception) -> str:
    message = error.message if isinstance(error, DataError) else str(error)
    return message.rstrip(".")


def _item(
    row: Row, mapping: ColumnMap, pictures: PictureFinder, form: str, seen: Counter[str]
) -> Item:
    choices = choices_in(row, mapping)
    value = present(row, mapping.gold[0], "gold")
    gold = read_gold(value, choices, mapping.gold_is)
    if gold is None:
        told = repr(value)[:80]
        raise OddCellError(f"the gold {told} does not name one of the {len(choices.texts)} choices")
    text = _joined(row, mapping.text, "text")
    context = _joined(row, mapping.context, "context")
    if not text.strip():
        raise OddCellError("the text is empty")
    images = _images(row, mapping, pictures)
    shown = [image.identity for image in images]
    item = Item(
        id=_id(row, mapping, (context, text, *choices.texts, *shown), seen),
        form=_form(row, mapping, form, text, choices, images),
        text=text,
        context=context,
        choices=choices.texts,
        gold=gold,
        group=_joined(row, mapping.group, "group", between=" / "),
        tags=_tags(row, mapping),
        images=images,
    )
    wrong = problem(item)
    if wrong:
        raise OddCellError(wrong)
    return item


def _joined(row: Row, names: Sequence[str], what: str, between: str = " ") -> str:
    parts = []
    for name in names:
        value = present(row, name, what)
        if isinstance(value, Mapping):
            field = next(iter(value), "FIELD")
            raise OddCellError(
                f"the {what} is an object: name one of its fields, such as "
                f"--map {what}={name}.{field}"
            )
        if value is not None:
            parts.append(as_text(value, what))
    return between.join(parts)


def _id(row: Row, mapping: ColumnMap, parts: Sequence[str], seen: Counter[str]) -> str:
    """As the row has it; without one, a digest of the question, which another order keeps."""
    if mapping.id:
        return _joined(row, mapping.id, "id", between="/")
    name = digest(*parts)
    seen[name] += 1
    if seen[name] > 1:
        return f"{name}-{seen[name]}"
    return name


def _form(
    row: Row, mapping: ColumnMap, given: str, text: str, choices: Choices, images: Sequence[Image]
) -> Form:
    found = given
    if mapping.form:
        found = _joined(row, mapping.form, "form")
    if not found:
        found = _likely_form(mapping, text, choices, images)
    if found not in FORMS:
        raise OddCellError(f"there is no form '{found[:40]}', only {', '.join(FORMS)}")
    return cast(Form, found)


def _likely_form(mapping: ColumnMap, text: str, choices: Choices, images: Sequence[Image]) -> str:
    labels = set(choices.texts)
    if mapping.context and labels <= {*NLI, "not_entailment"}:
        return "entailment"
    if images and labels == set(TRUTHS):
        return "caption"
    return "cloze" if text.count(MASK) == 1 else "choice"


def _images(row: Row, mapping: ColumnMap, pictures: PictureFinder) -> tuple[Image, ...]:
    found: list[Image] = []
    for name in mapping.image:
        value = value_at(row, name)
        if value not in (None, MISSING, ""):
            found += map(pictures.find, as_list(value))
    return tuple(found)


def _tags(row: Row, mapping: ColumnMap) -> dict[str, str]:
    """The columns that are to be tags; if none is named, every other one with a short value."""
    if mapping.tags:
        values = {name: value_at(row, name) for name in mapping.tags}
        return dict(_short(values.items()))
    used = mapping.taken | {CANARY}
    others = ((name, value) for name, value in row.items() if name not in used)
    return dict(islice(_short(others), MOST_TAGS))


def _short(values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    for name, value in values:
        text = scalar(value) if value is not MISSING else None
        if text and len(text) <= SHORT:
            yield name, text
