"""Questions from files: those that `gnomon make` wrote, and any others whose fields are named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec

from gnomon.audit.mapping import FieldMap, complete_map
from gnomon.audit.questions import Compared, Question, QuestionSet, UnitKind, Votes
from gnomon.audit.rows import SPLIT, Row, rows_of, split_of
from gnomon.audit.sources import FIELDS, plain_question
from gnomon.errors import DataError
from gnomon.itemsource import spread
from gnomon.records import Item

MOST = 250_000  # questions that are audited; of more, so many are taken, spread evenly
LOOKED_AT = 100  # rows by which the fields are known
OWN = ("id", "form", "text", "choices", "gold")  # every item of Gnomon's own has these
GREATER = ("greater", ">", "larger", "bigger", "taller", "higher", "above", "longer", "heavier")
LESSER = ("lesser", "<", "smaller", "shorter", "lower", "below", "lighter")
LEVEL = ("level", "=", "same", "equal")
TRUE = ("1", "true", "yes", "entailment")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
THINGS = UnitKind(("first", "second"), "things")
GROUPS = (UnitKind(("group",), "groups"), UnitKind(("picture",), "pictures"))


def of_files(
    name: str, paths: Sequence[Path], given: Mapping[str, tuple[str, ...]], split: str = ""
) -> QuestionSet:
    """The questions of one or several files; files named after splits are the splits of one set."""
    rows = _Rows(paths, split)
    total = sum(1 for _ in rows())
    if not total:
        raise DataError("there are no questions in it.", "Give another file.", file=paths[0])
    kept = _kept(rows(), total)
    head = list(islice(kept, LOOKED_AT))
    every = chain(head, kept)
    if not given and all(_is_own(row) for row in head):
        questions = [_own(row) for row in every]
        return QuestionSet(name, FIELDS, questions, GROUPS, total=total)

    columns = list(dict.fromkeys(chain.from_iterable(head)))
    fields = complete_map(given, columns)
    return QuestionSet(
        name=name,
        fields=tuple(fields.texts()),
        questions=_questions(every, fields),
        kinds=(THINGS,) if fields.has("first") and not fields.has("group") else GROUPS,
        total=total,
        slices=("relation",) if fields.has("relation") else (),
    )


class _Rows:
    """The rows of some files, to be read any number of times."""

    def __init__(self, paths: Sequence[Path], split: str) -> None:
        self.paths, self.split = paths, split

    def __call__(self) -> Iterator[Row]:
        for path in self.paths:
            part = split_of(path) if path.is_file() else ""
            for _, row in rows_of(path):
                mine = {SPLIT: part, **row} if part else row
                if not self.split or str(mine.get(SPLIT, "")) == self.split:
                    yield mine


def _kept(rows: Iterable[Row], total: int) -> Iterator[Row]:
    """The rows, or as many as are audited: one by one, so that a large file is never in memory."""
    wanted = iter(spread(total, MOST))
    want = next(wanted, -1)
    for number, row in enumerate(rows):
        if number == want:
            yield row
            want = next(wanted, -1)


def _is_own(row: Row) -> bool:
    return all(name in row for name in OWN)


def _own(row: Row) -> Question:
    """A row that `gnomon make` wrote; in a table its lists are JSON."""
    found = dict(row)
    for name in ("choices", "gold", "tags", "images"):
        if isinstance(found.get(name), str):
            found[name] = msgspec.json.decode(found[name])
    known = {key: found[key] for key in Item.__struct_fields__ if key in found}
    question = plain_question(msgspec.convert(known, Item))
    return question._replace(split=question.split or str(row.get(SPLIT, "")))


def _questions(rows: Iterable[Row], fields: FieldMap) -> list[Question]:
    found = [_question(number, row, fields) for number, row in enumerate(rows)]
    if not any(question.choices for question in found):
        return _with_labels_as_choices(found)
    return found


def _question(number: int, row: Row, fields: FieldMap) -> Question:
    choices, names = _choices(fields.value(row, "choices"))
    tags = {}
    for what in ("relation", "first", "second"):
        if fields.has(what):
            tags[what] = _text(fields.value(row, what))
    compared = _compared(tags, choices)
    return Question(
        id=_text(fields.value(row, "id")) or f"row {number + 1}",
        texts=tuple(_text(row.get(name)) for name in fields.texts()),
        choices=choices,
        gold=_gold(fields.value(row, "gold"), choices, names),
        group=" / ".join(_text(row.get(name)) for name in fields.fields.get("group", ())),
        split=_text(fields.value(row, "split")),
        picture=_text(fields.value(row, "image")),
        votes=_votes(row, fields),
        held_out=(compared.first, compared.second) if compared else (),
        compared=compared,
        tags=tags,
    )


def _text(value: Any) -> str:
    """A field as text: a list is joined; of an object its path or its content is taken."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _text(value.get("path") or value.get("content") or value.get("text"))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return " ".join(map(_text, value))
    return str(value)


def _choices(value: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The choices and the names by which they are called, if they have any."""
    if isinstance(value, str):
        value = _list_in(value)
    if isinstance(value, Mapping):  # as in ARC: {"text": [...], "label": [...]}
        names = tuple(map(_text, value.get("label", ())))
        return tuple(map(_text, value.get("text", ()))), names
    if isinstance(value, Sequence):
        return tuple(map(_text, value)), ()
    return (), ()


def _list_in(text: str) -> list[str]:
    """A list that a table holds as text: JSON, or parts between bars or semicolons."""
    try:
        found = msgspec.json.decode(text)
    except msgspec.MsgspecError:
        found = re.split(r"\s*[|;]\s*", text)
    return found if isinstance(found, list) else [text]


def _gold(value: Any, choices: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """The right answers as choices: they may be given by text, by name, by number or by letter."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_one_gold(one, choices, names) for one in value)
    return (_one_gold(value, choices, names),) if _text(value) else ()


def _one_gold(value: Any, choices: Sequence[str], names: Sequence[str]) -> str:
    text = _text(value)
    if text in choices or not choices:
        return text
    if text in names:
        return choices[list(names).index(text)]
    place = -1
    if text.isdigit():
        place = int(text)
    elif len(text) == 1 and text.upper() in LETTERS:
        place = LETTERS.index(text.upper())
    return choices[place] if 0 <= place < len(choices) else text


def _with_labels_as_choices(questions: list[Question]) -> list[Question]:
    """Where nobody lists the choices they are the labels that occur; "a,b" means both of them."""
    labels: dict[str, None] = {}
    for question in questions:
        labels |= dict.fromkeys(question.gold)
    single = [label for label in labels if not _parts(label, labels)]
    choices = tuple(sorted(single))
    found = []
    for question in questions:
        gold: list[str] = []
        for label in question.gold:
            gold += _parts(label, labels) or [label]
        compared = question.compared and question.compared._replace(targets=_targets(choices))
        found.append(question._replace(choices=choices, gold=tuple(gold), compared=compared))
    return found


def _parts(label: str, labels: Iterable[str]) -> list[str]:
    """The labels of which one is put together; none if it is a single one."""
    parts = [part.strip() for part in label.split(",")]
    return parts if len(parts) > 1 and set(parts) <= set(labels) else []


def _compared(tags: Mapping[str, str], choices: Sequence[str]) -> Compared | None:
    if "first" not in tags or "second" not in tags:
        return None
    return Compared(tags["first"], tags["second"], _targets(choices))


def _targets(choices: Sequence[str]) -> dict[str, str]:
    """What each choice says of the first of two things."""
    found = {}
    for choice in choices:
        found[choice] = choice
        for target, words in (("greater", GREATER), ("lesser", LESSER), ("level", LEVEL)):
            if choice.lower() in words:
                found[choice] = target
    return found


def _votes(row: Row, fields: FieldMap) -> Votes | None:
    """How people voted: a list of labels, or those who said true and those who said false."""
    gold = _text(fields.value(row, "gold")).lower()
    if fields.has("votes_true") and fields.has("votes_false"):
        true = _count(fields.value(row, "votes_true"))
        false = _count(fields.value(row, "votes_false"))
        return Votes(true if gold in TRUE else false, true + false)
    value = fields.value(row, "votes")
    if isinstance(value, str):
        value = _list_in(value)
    if not isinstance(value, Sequence):
        return None
    return Votes(sum(_text(vote).lower() == gold for vote in value), len(value))


def _count(value: Any) -> int:
    """How many voted: a number, or a list of the voters."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.MsgspecError:
            return 0
    if isinstance(value, Sequence):
        return len(value)
    return value if isinstance(value, int) else 0
