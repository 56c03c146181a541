"""Rows of strangers as items, with the pictures that they name or hold."""

from __future__ import annotations

import base64
import binascii
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, cast

from gnomon.errors import DataError
from gnomon.items.listed import listed_options
from gnomon.items.mapping import ColumnMap
from gnomon.items.resolving import (
    Rows,
    Tell,
    cannot_be_asked,
    choices_in,
    gold_in,
    is_unjudged,
    lacks_choices,
    present,
    same_options,
)
from gnomon.items.shapes import Row
from gnomon.items.source import permuted
from gnomon.items.values import (
    MISSING,
    NLI,
    NOTHING,
    TRUTHS,
    Choices,
    OddCellError,
    as_list,
    as_text,
    golds,
    read_gold,
    scalar,
    value_at,
    yes_or_no,
)
from gnomon.items.writing import FIELD as CANARY
from gnomon.items.writing import atomic_file
from gnomon.items.written import FORM_OF, REGIONS, labels_of, number_gold, region_gold
from gnomon.records import CAPTIONS, FORMS, MASK, Form, Image, Item, digest, problem
from gnomon.vision.images import MOST_BYTES, describe, size_in

# Pictures that rows name or hold: paths below one folder, addresses, or bytes within the file.
#
# A path that leads out of the folder is refused, so that a stranger's file cannot have other
# files shown to a model. Bytes are kept in the cache, each picture once.


FindPicture = Callable[[Any], Image]  # the record of a picture, from what a row holds
BASE64 = ("iVBORw0KGgo", "/9j/")  # how a PNG and a JPEG begin, written in base64
OTHER_KINDS = {"R0lGOD": "GIF", "UklGR": "WebP", "Qk0": "BMP"}
LONG = 64  # characters: a shorter cell names a picture, or the row that has it


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
    coded = in_base64(value)
    if coded:
        return _kept(_decoded(coded))
    return _below(folder, value)


def in_base64(value: str) -> str:
    """The base64 of a picture that a cell holds, with or without what data URIs begin with."""
    if len(value) < LONG and not value.startswith(BASE64[0]):
        return ""
    coded = value.partition(";base64,")[2] if value.startswith("data:image/") else value
    if coded.startswith(BASE64):
        return coded
    for start, kind in OTHER_KINDS.items():
        if coded.startswith(start) and len(coded) > 4 * LONG and "/" not in coded[:8]:
            raise OddCellError(f"the picture is a {kind}: only PNG and JPEG are read")
    return ""


def _decoded(coded: str) -> bytes:
    if len(coded) > MOST_BYTES:
        raise OddCellError(f"a picture has more than {MOST_BYTES // 2**20} MB")
    try:
        return base64.b64decode("".join(coded.split()), validate=True)
    except (binascii.Error, ValueError):
        raise OddCellError("the picture is not whole: its base64 is damaged") from None


def is_number_of_row(value: Any) -> bool:
    """Whether a cell of pictures names another row that has the picture, as VLMEvalKit does."""
    text = scalar(value) if not isinstance(value, bool) else None
    return text is not None and text.isascii() and text.isdecimal() and len(text) < LONG


class SharedPictures:
    """Pictures of rows that may name another row's: read when they are first needed, by its id."""

    def __init__(self, find: FindPicture, rows: Rows, mapping: ColumnMap) -> None:
        self._find = find
        self._rows = rows
        self._mapping = mapping
        self._known: dict[str, Image] | None = None

    def __call__(self, value: Any) -> Image:
        """The record of the picture that a cell holds or names."""
        if not self._mapping.id or not is_number_of_row(value):
            return self._find(value)
        if self._known is None:
            self._known = self._read()
        text = scalar(value) or ""
        if not self._known:  # the number is the picture's own
            return self._find(value)
        if text not in self._known:
            raise OddCellError(f"the picture is that of row '{text}', which has none")
        return self._known[text]

    def _read(self) -> dict[str, Image]:
        """The pictures of all rows that hold one, by the row's index, or else its id.

        Each is kept on disk.
        """
        found = {}
        for _, row in self._rows():
            value = value_at(row, self._mapping.image[0])
            name = scalar(row.get("index", value_at(row, self._mapping.id[0])))
            if name and isinstance(value, str) and in_base64(value):
                found[name] = self._find(value)
        return found


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
    try:
        there = path.is_file()
    except OSError:  # the name is too long for a file
        there = False
    if not there:
        raise OddCellError(
            f"there is no picture '{name[:80]}' in {folder}; give its folder with --images, or ask "
            "without pictures: --blind"
        )
    return describe((folder / name).as_posix())


def named_picture(value: Any) -> Image:
    """A picture by its name alone, for those who look at none; a digest if the file holds it."""
    if isinstance(value, Mapping):
        value = value.get("path") or value.get("bytes")
    if isinstance(value, str) and in_base64(value):
        value = value.encode()
    if isinstance(value, bytes):
        value = sha256(value).hexdigest()
    if not isinstance(value, str | int):
        raise OddCellError("the picture has no name")
    return Image(path=str(value))


def picture_or_name(folder: Path, value: Any) -> Image:
    """A picture below a folder, by its name alone where it is not there."""
    try:
        return found_picture(folder, value)
    except OddCellError:
        return named_picture(value)


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
SHUFFLE = 0  # the seed by which right answers get their places, where all have one in the rows
WHICH = "Which of the sentences is true?"
WHICH_OF_PICTURE = "Which of the sentences is true of the picture?"
NAMES = ("name", "class", "label", "object")  # what the name of a thing is called in an object


def convert(
    rows: Iterable[tuple[int, Row]],
    mapping: ColumnMap,
    picture: FindPicture,
    *,
    form: str = "",
    tell: Tell,
    regions: FindPicture = named_picture,
    numbered: bool = True,
) -> Iterator[tuple[int, Item, Row]]:
    """The items of rows with lines and rows; `tell` is told of a row that is none.

    `regions` finds masks, and the size of pictures in which regions lie. A question that stands
    there twice without an id is two items, unless they are not numbered.
    """
    seen: Counter[str] | None = Counter() if numbered else None
    for line, row in rows:
        if cannot_be_asked(row, mapping):
            continue  # which is told with the number of such rows
        try:
            item = _item(row, mapping, picture, form, seen, regions)
        except (OddCellError, DataError) as error:
            tell(line, _sentence(error))
            continue
        yield line, item, row


def _sentence(error: Exception) -> str:
    message = error.message if isinstance(error, DataError) else str(error)
    return message.rstrip(".")


def _item(
    row: Row,
    mapping: ColumnMap,
    picture: FindPicture,
    form: str,
    seen: Counter[str] | None,
    regions: FindPicture,
) -> Item:
    images = _images(row, mapping, picture)
    choices, gold = _choices_and_gold(row, mapping, images, regions)
    text = _text(row, mapping, choices, images)
    context = _joined(row, mapping.context, "context")
    if not text.strip():
        raise OddCellError("the text is empty")
    shown = [image.identity for image in images]
    item = Item(
        id=_id(row, mapping, (context, text, *choices.texts, *shown), seen),
        form=_form(row, mapping, form, text, choices, images),
        text=text,
        context=context,
        choices=choices.texts,
        gold=gold,
        group=_group(row, mapping, context, images),
        tags=_tags(row, mapping),
        images=images,
    )
    wrong = problem(item)
    if wrong:
        raise OddCellError(wrong)
    return permuted(item, SHUFFLE) if mapping.shuffled else item


def _choices_and_gold(
    row: Row, mapping: ColumnMap, images: Sequence[Image], regions: FindPicture
) -> tuple[Choices, tuple[str, ...]]:
    """What is to choose from, and what is right; nothing of a scene that tells no relation."""
    if is_unjudged(row, mapping):
        return Choices(()), ()
    if mapping.gold_is in REGIONS:
        return Choices(()), region_gold(row, mapping, images, regions)
    value = gold_in(row, mapping)
    bare = lacks_choices(row, mapping)
    if mapping.gold_is == "number" or (bare and not yes_or_no(value)):
        return Choices(()), number_gold(row, mapping)
    choices = choices_in(row, mapping)
    if bare:
        return choices, (value.strip().casefold(),)
    if mapping.gold_is in FORM_OF:
        gold = labels_of(value, choices)
    else:
        gold = read_gold(value, choices, mapping.gold_is)
    if gold is None:
        told = repr(value)[:80]
        raise OddCellError(f"the gold {told} does not name one of the {len(choices.texts)} choices")
    return choices, gold


def _text(row: Row, mapping: ColumnMap, choices: Choices, images: Sequence[Image]) -> str:
    """The question, without the options that it lists where these are the choices."""
    if not mapping.text:  # sentences to choose from
        return WHICH_OF_PICTURE if images else WHICH
    *before, last = mapping.text
    text = _joined(row, [last], "text")
    listed = listed_options(text) if choices.texts and mapping.choices else None
    if listed is not None and listed.text and same_options(listed.options, choices.texts):
        text = listed.text
    parts = [_joined(row, before, "text"), text]
    return " ".join(filter(None, parts))


def _group(row: Row, mapping: ColumnMap, context: str, images: Sequence[Image]) -> str:
    """What belongs together; questions about one story or picture have its digest."""
    if mapping.group and mapping.group == mapping.image:
        return digest(*(image.identity for image in images)) if images else ""
    if mapping.group and mapping.group == mapping.context:
        return digest(context) if context else ""
    return _joined(row, mapping.group, "group", between=" / ")


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
        if value is not None and value not in NOTHING:
            parts.append(as_text(value, what))
    return between.join(parts)


def _id(row: Row, mapping: ColumnMap, parts: Sequence[str], seen: Counter[str] | None) -> str:
    """As the row has it; without one, a digest of the question, which another order keeps."""
    if mapping.id:
        return _joined(row, mapping.id, "id", between="/")
    name = digest(*parts)
    if seen is None:
        return name
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
    if not found and (mapping.gold_is in FORM_OF or not choices.texts):
        found = FORM_OF.get(mapping.gold_is, "number")
    if not found:
        found = _likely_form(mapping, text, choices, images)
    if found not in FORMS:
        raise OddCellError(f"there is no form '{found[:40]}', only {', '.join(FORMS)}")
    return cast(Form, found)


def _likely_form(mapping: ColumnMap, text: str, choices: Choices, images: Sequence[Image]) -> str:
    labels = set(choices.texts)
    if mapping.thing_a:
        return "scene"
    if mapping.context and labels <= {*NLI, "not_entailment"}:
        return "entailment"
    if images and labels == set(TRUTHS):
        return "caption"
    return "cloze" if text.count(MASK) == 1 else "choice"


def _images(row: Row, mapping: ColumnMap, picture: FindPicture) -> tuple[Image, ...]:
    found: list[Image] = []
    for name in mapping.image:
        value = value_at(row, name)
        if value in (None, MISSING, ""):
            continue
        if isinstance(value, str) and value.startswith("["):
            value = golds(value)  # a list that a table holds as text
        found += map(picture, as_list(value))
    return tuple(found)


def _tags(row: Row, mapping: ColumnMap) -> dict[str, str]:
    """The columns that are to be tags; if none is named, every other one with a short value."""
    own = _things(row, mapping)
    if not mapping.text:
        own["task"] = CAPTIONS
    if mapping.tags:
        values = {name: value_at(row, name) for name in mapping.tags}
        return dict(short_values(values.items())) | own
    used = (mapping.taken - set(mapping.gold if mapping.thing_a else ())) | {CANARY}
    others = ((name, value) for name, value in row.items() if name not in used)
    return dict(islice(short_values(others), MOST_TAGS)) | own


def _things(row: Row, mapping: ColumnMap) -> dict[str, str]:
    """The names of the two things of a scene, in text, in an object, or first in a list."""
    found = {}
    for what, columns in (("thing_a", mapping.thing_a), ("thing_b", mapping.thing_b)):
        value = value_at(row, columns[0]) if columns else None
        if isinstance(value, Mapping):
            value = next((value[name] for name in NAMES if name in value), None)
        if isinstance(value, list) and value:
            value = value[0]
        text = scalar(value)
        if text:
            found[what] = text.strip()
    if mapping.thing_a and not is_unjudged(row, mapping):
        found["relation"] = str(gold_in(row, mapping))
    return found


def short_values(values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """The values that are short enough to be tags."""
    for name, value in values:
        text = scalar(value) if value is not MISSING else None
        if text and name and len(text) <= SHORT:
            yield name, text
