"""What cells of strangers hold: texts, choices, right answers, and fields within fields."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

import msgspec

from gnomon.items.listed import ListedOptions, lettered, listed_options, without_label
from gnomon.records import letter_of

# Fields within fields: what a row holds under a dotted name such as question.stem.


MISSING = object()


def value_at(row: Mapping[str, Any], name: str) -> Any:
    """What a row holds under a name, or under a.b for a field of an object; MISSING if nothing.

    >>> value_at({"choices": {"text": ["in", "on"]}}, "choices.text")
    ['in', 'on']
    >>> value_at({"choices": [{"text": "in"}, {"text": "on"}]}, "choices.text")
    ['in', 'on']
    """
    if name in row:
        return row[name]
    outer, dot, inner = name.partition(".")
    if not dot or outer not in row:
        return MISSING
    value = row[outer]
    if isinstance(value, Mapping):
        return value_at(value, inner)
    if isinstance(value, list):
        return _in_list(value, inner)
    return MISSING


def _in_list(values: Sequence[Any], name: str) -> Any:
    """The value at a number, such as choices.0; or what each of the objects holds under a name."""
    by_number = dict(zip(map(str, range(len(values))), values, strict=True))
    found = value_at(by_number, name)
    if found is not MISSING:
        return found
    if not values or not all(isinstance(value, Mapping) for value in values):
        return MISSING
    every = [value_at(value, name) for value in values]
    return MISSING if MISSING in every else every


def columns_of(row: Mapping[str, Any]) -> list[str]:
    """The columns of a row; where the question is an object, as in ARC, its fields instead.

    >>> columns_of({"id": "1", "question": {"stem": "Where?", "choices": []}})
    ['id', 'question.stem', 'question.choices']
    """
    found = []
    for name, value in row.items():
        if name == "question" and isinstance(value, Mapping):
            found += [f"{name}.{inner}" for inner in value]
        else:
            found.append(name)
    return found


def with_fields(row: Mapping[str, Any]) -> list[str]:
    """The columns of a row, and the fields of those that are objects."""
    found = list(row)
    for name, value in row.items():
        if isinstance(value, Mapping):
            found += [f"{name}.{inner}" for inner in value]
    return found


LONGEST = 2**20  # characters of a text: more is no question
MOST_CHOICES = 1000
LONGEST_LIST = 10**6  # characters of a list that is written as text
NLI = ("entailment", "neutral", "contradiction")
TRUTHS = ("false", "true")
ANSWERS = ("no", "yes")  # what truths are called among choices that hold neither of their names
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp")
NOTHING = ("nan", "NaN", "<NA>")  # an empty cell, as tables have it that pandas wrote
LABEL_NAMES = ("label", "key", "id")  # what the label of a choice is called beside its text


class OddCellError(ValueError):
    """A cell that cannot be what it should be; the message says why, in a few words."""


class Choices(NamedTuple):
    """The choices of an item, and the names by which they are called, if they have any."""

    texts: tuple[str, ...]
    names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  # where each has a column: as the row has them, with empty ones

    @property
    def places(self) -> tuple[str, ...]:
        """What letters and numbers count: an option that is left empty keeps its place."""
        return self.columns or self.texts

    @property
    def labels(self) -> tuple[str, ...]:
        """The names that stand beside the choices; columns are no labels."""
        return () if self.columns else self.names


def as_text(value: Any, what: str) -> str:
    """A cell as text: a list of texts is joined with spaces.

    >>> as_text(["Ann sits.", "Ben stands."], "context"), as_text(4.0, "gold")
    ('Ann sits. Ben stands.', '4')
    """
    if isinstance(value, list | tuple):
        parts = [as_text(part, what) for part in value]
        return " ".join(parts)
    text = scalar(value)
    if text is None:
        raise OddCellError(f"the {what} is {_kind(value)}, not text")
    if len(text) > LONGEST:
        raise OddCellError(f"the {what} is longer than {LONGEST:,} characters")
    return text


def scalar(value: Any) -> str | None:
    """A text, number or truth as text; none for anything else, such as NaN."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return TRUTHS[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and not isnan(value):
        return str(int(value)) if value.is_integer() else str(value)
    return None


def as_list(value: Any) -> list[Any]:
    """A list as it is; anything else as a list of one."""
    if isinstance(value, list | tuple):
        return list(value)
    return [value]


def literal(text: str) -> Any:
    """What a text is, written as Python writes it; if it is nothing of that kind, the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def from_json(text: str) -> Any:
    """What a text is, written as JSON; if it is no JSON, the text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return text


def _kind(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, float):
        return "NaN"
    if isinstance(value, Mapping):
        return f"an object with {', '.join(map(str, value))[:80]}"
    return f"a {type(value).__name__}"


def as_choices(value: Any) -> Choices:
    """A list of choices; as in ARC, with labels; or as text in the cell of a table.

    >>> as_choices("in | on").texts, as_choices({"text": ["in", "on"], "label": ["A", "B"]}).names
    (('in', 'on'), ('A', 'B'))
    >>> as_choices([{"label": "A", "text": "in"}, {"label": "B", "text": "on"}]).names
    ('A', 'B')
    """
    if isinstance(value, str):
        value = _unpacked(value)
    if isinstance(value, Mapping):
        return _named_choices(value)
    if not isinstance(value, list | tuple):
        raise OddCellError(f"the choices are {_kind(value)}, not a list")
    if len(value) > MOST_CHOICES:
        raise OddCellError(f"there are more than {MOST_CHOICES:,} choices")
    if value and all(isinstance(each, Mapping) for each in value):
        return _choice_objects(value)
    return bare_choices(tuple(as_text(each, "choice") for each in value))


def bare_choices(texts: tuple[str, ...]) -> Choices:
    """Choices whose letters, if each begins with its own, are taken off once.

    >>> bare_choices(("A. sofa", "B. tv"))
    Choices(texts=('sofa', 'tv'), names=('A', 'B'), columns=())
    """
    labels = lettered(texts)
    if not labels:
        return Choices(texts)
    return Choices(tuple(map(without_label, texts)), labels)


def _named_choices(value: Mapping[str, Any]) -> Choices:
    """Two lists, text and label; or an object that has the text of each choice by its name."""
    if "text" in value:
        texts = as_choices(value["text"]).texts
        labels = as_choices(value.get("label", [])).texts
        return _labelled(texts, labels)
    names = tuple(map(str, value))
    return Choices(as_choices(list(value.values())).texts, names)


def _choice_objects(value: Sequence[Mapping[str, Any]]) -> Choices:
    """An object for each choice, with its text and, if all have one, its label."""
    texts = _texts_under("text", value)
    names = {name for each in value for name in each if name not in LABEL_NAMES}
    if not texts and len(names) == 1:
        texts = _texts_under(names.pop(), value)
    if not texts:
        raise OddCellError(f'a choice is {_kind(value[0])}: its words must be called "text"')
    for name in LABEL_NAMES:
        labels = _texts_under(name, value)
        if labels:
            return _labelled(texts, labels)
    return Choices(texts)


def marked_choices(value: Any) -> tuple[list[str], list[str]] | None:
    """The choices that a cell holds with a mark each, and those that are marked as right.

    >>> marked_choices({"in": 1, "on": 0})
    (['in', 'on'], ['in'])
    >>> marked_choices({"choices": ["in", "on"], "labels": [0, 1]})
    (['in', 'on'], ['on'])
    """
    marks: list[tuple[Any, Any]] = []
    if isinstance(value, Mapping):
        texts, labels = value.get("choices"), value.get("labels")
        marks = list(value.items())
        if isinstance(texts, list) and isinstance(labels, list) and len(texts) == len(labels):
            marks = list(zip(texts, labels, strict=True))
    elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        for each in value:
            flags = [mark for mark in each.values() if isinstance(mark, bool)]
            texts = [text for text in each.values() if isinstance(text, str)]
            if len(flags) != 1 or len(texts) != 1:
                return None
            marks.append((texts[0], flags[0]))
    if len(marks) < 2 or any(mark not in (0, 1) for _, mark in marks):
        return None
    right = [str(text) for text, mark in marks if mark]
    return ([str(text) for text, _ in marks], right) if right else None


def _texts_under(name: str, objects: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What each object holds under a name; nothing if one of them does not have it."""
    if not all(name in each for each in objects):
        return ()
    return tuple(as_text(each[name], f"{name} of a choice") for each in objects)


def _labelled(texts: tuple[str, ...], labels: tuple[str, ...]) -> Choices:
    """Choices with their labels, if these name each of them once."""
    if labels and len(labels) != len(texts):
        raise OddCellError(f"there are {len(texts)} choices and {len(labels)} labels for them")
    if len(set(labels)) < len(labels):
        raise OddCellError(f"two choices have the same label, of {quoted(labels)}")
    return Choices(texts, labels)


def quoted(texts: Sequence[str]) -> str:
    """The first few texts, for a message."""
    return ", ".join(repr(text[:40]) for text in texts[:8])


def _unpacked(text: str) -> Any:
    """Choices that a table holds as text: JSON, as Python prints it, or parts between bars."""
    if len(text) > LONGEST_LIST:
        raise OddCellError(f"the choices are longer than {LONGEST_LIST:,} characters")
    found = _written(text)
    if found is not None:
        return found
    if "|" in text:
        return [part.strip() for part in text.split("|")]
    listed = listed_options(text)
    if listed is None or listed.text:
        raise OddCellError("the choices are one text, not a list")
    if not listed.labels:
        return list(listed.options)
    return dict(zip(listed.labels, listed.options, strict=True))


def _written(text: str) -> Any:
    """What a text writes, in JSON or as Python prints it, if that has parts; else none."""
    for read in (from_json, literal):
        found = read(text)
        if isinstance(found, list | tuple | Mapping):
            return found
    return None


def yes_or_no(value: Any) -> bool:
    """Whether a right answer is yes or no."""
    return isinstance(value, str) and value.strip().casefold() in ANSWERS


def holds_picture(value: Any) -> bool:
    """Whether a cell, or a part of it, holds a picture or names one."""
    if isinstance(value, Mapping):
        return "bytes" in value or any(map(holds_picture, value.values()))
    if isinstance(value, list):
        return any(map(holds_picture, value))
    return isinstance(value, str) and value.lower().endswith(PICTURES)


Reading = Callable[[Any, Choices], "str | None"]


def by_text(value: Any, choices: Choices) -> str | None:
    """The choice with this text; in other capitals too, if that is one. A truth may be a yes."""
    if isinstance(value, bool):
        return _same_words(TRUTHS[value], choices) or _same_words(ANSWERS[value], choices)
    text = scalar(value)
    if text is None or text in choices.texts:
        return text
    return _same_words(text, choices)


def _same_words(text: str, choices: Choices) -> str | None:
    plain = text.strip().casefold()
    same = [choice for choice in choices.texts if choice.strip().casefold() == plain]
    return same[0] if len(same) == 1 else None


def by_name(value: Any, choices: Choices) -> str | None:
    """The choice that is called so: by its label, or by its column."""
    text = scalar(value)
    if text is None or text not in choices.names:
        return None
    return choices.texts[choices.names.index(text)]


def by_letter(value: Any, choices: Choices) -> str | None:
    """The choice with this letter: A is the first, unless labels say which letter is whose."""
    if not isinstance(value, str):
        return None
    letter = _bare(value)
    if len(letter) > 2:
        return _by_letter_and_text(value, choices)
    own = [_bare(label) for label in choices.labels]
    if any(len(label) == 1 and label.isalpha() for label in own):
        return choices.texts[own.index(letter)] if own.count(letter) == 1 else None
    for place, text in enumerate(choices.places):
        if letter_of(place) == letter:
            return text or None
    return None


def _by_letter_and_text(value: str, choices: Choices) -> str | None:
    """The choice that is named by its letter and its text at once: "B. right"."""
    text = without_label(value)
    if text == value:
        return None
    letter = value.strip()[: len(value.strip()) - len(text)]
    meant = by_letter(letter, choices)
    return meant if meant is not None and meant == _same_words(text, choices) else None


def _bare(letter: str) -> str:
    """A letter without the signs around it: (A), a., B)."""
    return letter.strip().strip("().:").lower()


def by_number(value: Any, choices: Choices, first: int) -> str | None:
    """The choice with this number, counted from 0 or from 1."""
    if isinstance(value, bool):
        return None
    text = scalar(value)
    if text is None or not (text.strip().isascii() and text.strip().isdecimal()):
        return None
    place = int(text.strip()[:9]) - first
    if 0 <= place < len(choices.places):
        return choices.places[place] or None
    return None


READINGS: dict[str, Reading] = {
    "text": by_text,
    "name": by_name,
    "letter": by_letter,
    "index0": lambda value, choices: by_number(value, choices, 0),
    "index1": lambda value, choices: by_number(value, choices, 1),
}
FIRST = "first"  # the right answer is the first choice of the row, whatever the cell holds


def of_text(listed: ListedOptions) -> Choices:
    """The choices that stand inside a text."""
    return Choices(listed.options, listed.labels)


def read_any(value: Any, choices: Choices) -> tuple[str, ...] | None:
    """The right choices, by any way to read them; none if no way fits."""
    if names_a_set(value, choices):
        return choices.texts
    for way in READINGS:
        found = read_gold(value, choices, way)
        if found is not None:
            return found
    return None


def golds(value: Any) -> list[Any]:
    """The right answers as the cell has them: one, or a list of several."""
    if isinstance(value, str) and value.startswith("[") and len(value) <= LONGEST_LIST:
        found = _written(value)
        return [value] if found is None else as_list(found)
    return as_list(value)


def _several(values: list[Any], choices: Choices) -> list[Any]:
    """The right answers, where one is put together of choices: "contradiction,neutral" is two."""
    if len(values) != 1 or not isinstance(values[0], str) or values[0] in choices.texts:
        return values
    parts = put_together(values[0])
    return parts if set(parts) <= set(choices.texts) else values


def names_a_set(value: Any, choices: Choices) -> bool:
    """Whether a gold names several options that are right together: "a,c" of a checkbox."""
    if not isinstance(value, str) or by_text(value, choices) in choices.texts:
        return False
    parts = [part.strip() for part in re.split(r"[,;&]|\band\b", value)]
    if len(parts) < 2:
        return False
    return all(by_letter(part, choices) or by_name(part, choices) for part in parts)


def put_together(label: str) -> list[str]:
    """The parts of a label that names several."""
    return [part.strip() for part in label.split(",")]


def read_gold(value: Any, choices: Choices, reading: str) -> tuple[str, ...] | None:
    """The right choices, read in one way; none if that is impossible."""
    if reading == FIRST:
        return choices.texts[:1] or None
    read = READINGS[reading]
    found = []
    for each in _several(golds(value), choices):
        meant = read(each, choices)
        if meant is None or meant not in choices.texts:
            return None
        found.append(meant)
    return tuple(dict.fromkeys(found)) or None
