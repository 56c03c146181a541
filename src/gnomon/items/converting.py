"""Rows of strangers as items, with the pictures that they name or hold."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, cast

from gnomon.errors import DataError
from gnomon.items.mapping import ColumnMap
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
from gnomon.items.writing import atomic_file
from gnomon.records import FORMS, MASK, Form, Image, Item, digest, problem
from gnomon.vision.images import MOST_BYTES, describe, size_in

# Pictures that rows name or hold: paths below one folder, addresses, or bytes within the file.
#
# A path that leads out of the folder is refused, so that a stranger's file cannot have other
# files shown to a model. Bytes are kept in the cache, each picture once.


FindPicture = Callable[[Any], Image]  # the record of a picture, from what a row holds


def found_picture(folder: Path, value: Any) -> Image:
    """The record of a picture: from its path below a folder or its address, or from its bytes."""
    if isinstance(value, Mapping):
        if value.get("bytes"):
            return _kept(value["bytes"])
        value = value.get("path")
    if isinstance(value, bytes):
        return _kept(value)
    if not isinstance(value, str) or not value:
        raise OddCellError("the picture is neither a path nor bytes")
    if value.startswith(("https://", "http://")):
        return Image(path=value)
    return _below(folder, value)


def _below(folder: Path, name: str) -> Image:
    if "\0" in name:
        raise OddCellError("the path of a picture has a zero byte in it")
    root = folder.resolve()
    try:
        path = (root / name).resolve()
    except (OSError, RuntimeError):  # a link that leads back to itself
        raise OddCellError(f"the picture '{name[:200]}' is a link to itself") from None
    if not path.is_relative_to(root):
        raise OddCellError(
            f"the picture '{name[:200]}' lies outside the folder {folder}; "
            "give its folder with --images"
        )
    if not path.is_file():
        raise OddCellError(f"there is no picture '{name[:200]}' in {folder}")
    return describe((folder / name).as_posix())


def named_picture(value: Any) -> Image:
    """A picture by its name alone, for those who look at none; a digest if the file holds it."""
    if isinstance(value, Mapping):
        value = value.get("path") or value.get("bytes")
    if isinstance(value, bytes):
        value = sha256(value).hexdigest()
    if not isinstance(value, str | int):
        raise OddCellError("the picture has no name")
    return Image(path=str(value))


def _kept(content: bytes) -> Image:
    """A picture that the file itself holds, in the cache."""
    if len(content) > MOST_BYTES:
        raise OddCellError(f"a picture has more than {MOST_BYTES // 2**20} MB")
    name = sha256(content).hexdigest()
    size = size_in(io.BytesIO(content), Path("a picture within the file"))
    ending = ".png" if content.startswith(b"\x89PNG") else ".jpg"
    file = _cache() / f"{name}{ending}"
    if not file.is_file() or file.stat().st_size != len(content):
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(file) as part:
            part.write_bytes(content)
    return Image(path=file.as_posix(), sha256=name, width=size.width, height=size.height)


def _cache() -> Path:
    from gnomon.downloads.catalogue import cache_folder

    return cache_folder() / "own-pictures"


SHORT = 100  # characters up to which the value of another column becomes a tag
MOST_TAGS = 50
SPLIT = "split"  # the column, and the tag, that says from which part of a dataset a row comes


def convert(
    rows: Iterable[tuple[int, Row]],
    mapping: ColumnMap,
    picture: FindPicture,
    *,
    form: str = "",
    tell: Tell,
) -> Iterator[tuple[int, Item, Row]]:
    """The items of rows with lines and rows; `tell` is told of a row that is none."""
    seen: Counter[str] = Counter()
    for line, row in rows:
        try:
            item = _item(row, mapping, picture, form, seen)
        except (OddCellError, DataError) as error:
            tell(line, _sentence(error))
            continue
        yield line, item, row


def _sentence(error: Exception) -> str:
    message = error.message if isinstance(error, DataError) else str(error)
    return message.rstrip(".")


def _item(
    row: Row, mapping: ColumnMap, picture: FindPicture, form: str, seen: Counter[str]
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
    images = _images(row, mapping, picture)
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


def _images(row: Row, mapping: ColumnMap, picture: FindPicture) -> tuple[Image, ...]:
    found: list[Image] = []
    for name in mapping.image:
        value = value_at(row, name)
        if value not in (None, MISSING, ""):
            found += map(picture, as_list(value))
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
