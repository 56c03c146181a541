"""Questions from files: those that `gnomon make` wrote, and any others whose fields are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from pathlib import Path

import msgspec

from gnomon.audit.fieldvalues import (
    choices_of,
    gold_of,
    text_of,
    votes_for_and_against,
    votes_of,
)
from gnomon.audit.mapping import GOLD_IS, FieldMap, complete_map, field_of
from gnomon.audit.questions import (
    GROUPS,
    PICTURES,
    Compared,
    Question,
    QuestionSet,
    UnitKind,
    Votes,
)
from gnomon.audit.rows import SPLIT, rows_of
from gnomon.audit.sources import FIELDS, plain_question
from gnomon.errors import DataError
from gnomon.items.rows import Row, split_of
from gnomon.items.spreading import spread
from gnomon.records import Item

MOST = 250_000  # questions that are audited; of more, so many are taken, spread evenly
LOOKED_AT = 100  # rows by which the fields are known
OWN = frozenset({"id", "form", "text", "choices", "gold"})  # every item of Gnomon's own has these
# what a choice may say of the first of two things
SAID = {
    "greater": ("greater", ">", "larger", "bigger", "taller", "higher", "above", "longer"),
    "lesser": ("lesser", "<", "smaller", "shorter", "lower", "below"),
    "level": ("level", "=", "same", "equal"),
}
THINGS = UnitKind(("first", "second"), "things")


def of_files(
    name: str, paths: Sequence[Path], given: Mapping[str, tuple[str, ...]], split: str = ""
) -> QuestionSet:
    """The questions of one or several files; files named after splits are the splits of one set."""
    total = sum(1 for _ in _rows(paths, split))
    if not total:
        raise DataError("there are no questions in it.", "Give another file.", file=paths[0])
    kept = _kept(_rows(paths, split), total)
    head = list(islice(kept, LOOKED_AT))
    every = chain(head, kept)
    if not given and all(OWN.issubset(row) for row in head):
        questions = [_own(paths[0], row) for row in every]
        return QuestionSet(name, FIELDS, questions, (GROUPS, PICTURES), total=total)

    columns = list(dict.fromkeys(chain.from_iterable(head)))
    fields = _with_pictures(complete_map(given, columns), head)
    first = _first_number(_rows(paths, split), fields, head)
    return QuestionSet(
        name=name,
        fields=tuple(fields.texts()),
        questions=_questions(every, fields, first),
        kinds=_kinds(fields),
        total=total,
        slices=fields.fields.get("relation", ()),
        contexts=fields.fields.get("context", ()),
    )


def _rows(paths: Sequence[Path], split: str) -> Iterator[Row]:
    """The rows of some files, or those of one split."""
    for path in paths:
        part = split_of(path) * path.is_file()
        for _, row in rows_of(path):
            mine = {SPLIT: part, **row} if part else row
            if split in ("", str(mine.get(SPLIT, ""))):
                yield mine


def _kept(rows: Iterable[Row], total: int) -> Iterator[Row]:
    """The rows, or as many as are audited: one by one, so that a large file is never in memory."""
    wanted = iter(spread(total, MOST))
    want = next(wanted, -1)
    for number, row in enumerate(rows):
        if number == want:
            yield row
            want = next(wanted, -1)


def _own(path: Path, row: Row) -> Question:
    """A row that `gnomon make` wrote; in a table its lists are JSON."""
    found = {name: row[name] for name in Item.__struct_fields__ if name in row}
    try:
        for name in ("choices", "gold", "tags", "images"):
            if isinstance(found.get(name), str):
                found[name] = msgspec.json.decode(found[name])
        item = msgspec.convert(found, Item)
    except (msgspec.MsgspecError, RecursionError) as error:
        hint = "Write it again with `gnomon make`, or name its fields with --map."
        raise DataError(f"'{row['id']}' is not an item: {error}.", hint, file=path) from None
    question = plain_question(item)
    return question._replace(split=question.split or str(row.get(SPLIT, "")))


def _with_pictures(fields: FieldMap, head: Sequence[Row]) -> FieldMap:
    """The fields, with a context that only names things (a file, a number) as a picture."""
    contexts = fields.fields.get("context", ())
    if len(contexts) != 1 or fields.has("image"):
        return fields
    values = [text_of(field_of(row, contexts[0])).strip() for row in head]
    if not any(values) or any(len(value.split()) > 1 for value in values):
        return fields
    return FieldMap({**fields.fields, "context": (), "image": contexts})


def _kinds(fields: FieldMap) -> tuple[UnitKind, ...]:
    """What the questions share."""
    if fields.has("first") and not fields.has("group"):
        return (THINGS,)
    return GROUPS, PICTURES


def _first_number(rows: Iterable[Row], fields: FieldMap, head: Sequence[Row]) -> int:
    """From where the numbers of choices count, where right answers are numbers: 0 or 1.

    If the user does not say: from 1 if the last number occurs, and 0 does not.
    """
    said = fields.fields.get(GOLD_IS, ())
    if said:
        return int(said == ("index1",))
    if not any(_number_of_choice(row, fields) for row in head):
        return 0
    last_occurs = False
    for row in rows:
        found = _number_of_choice(row, fields)
        if found is None:
            continue
        number, choices = found
        if number == 0:
            return 0
        last_occurs = last_occurs or number == choices
    return int(last_occurs)


def _number_of_choice(row: Row, fields: FieldMap) -> tuple[int, int] | None:
    """The number that a right answer is, and how many choices there are; none if it is a text."""
    choices = choices_of(fields.value(row, "choices"))
    gold = fields.value(row, "gold")
    if not choices.texts or not choices.is_number(gold):
        return None
    return int(text_of(gold)), len(choices.texts)


def _questions(rows: Iterable[Row], fields: FieldMap, first: int) -> list[Question]:
    found = [_question(number, row, fields, first) for number, row in enumerate(rows, start=1)]
    if any(question.choices for question in found):
        return found
    return _with_labels_as_choices(found)


def _question(number: int, row: Row, fields: FieldMap, first: int) -> Question:
    choices = choices_of(fields.value(row, "choices"))
    tags = {}
    for what in ("relation", "first", "second"):
        if fields.has(what):
            tags[what] = text_of(fields.value(row, what))
    things = tuple(tags[what] for what in THINGS.tags if what in tags)
    compared = None
    if len(things) == 2:
        compared = Compared(*things, _targets(choices.texts))
    return Question(
        id=text_of(fields.value(row, "id")) or f"row {number}",
        texts=tuple(text_of(field_of(row, name)) for name in fields.texts()),
        choices=choices.texts,
        gold=gold_of(fields.value(row, "gold"), choices, first=first),
        group=" / ".join(text_of(field_of(row, name)) for name in fields.fields.get("group", ())),
        split=text_of(fields.value(row, "split")),
        picture=text_of(fields.value(row, "image")),
        votes=_votes(row, fields),
        held_out=things,
        compared=compared,
        tags=tags,
    )


def _votes(row: Row, fields: FieldMap) -> Votes | None:
    gold = fields.value(row, "gold")
    if fields.has("votes_true") and fields.has("votes_false"):
        true, false = fields.value(row, "votes_true"), fields.value(row, "votes_false")
        return votes_for_and_against(true, false, gold)
    return votes_of(fields.value(row, "votes"), gold)


@cache
def _targets(choices: tuple[str, ...]) -> dict[str, str]:
    """What each choice says of the first of two things."""
    meaning: dict[str, str] = {}
    for target, words in SAID.items():
        meaning |= dict.fromkeys(words, target)
    return {choice: meaning.get(choice.lower(), choice) for choice in choices}


def _with_labels_as_choices(questions: list[Question]) -> list[Question]:
    """Where nobody lists the choices they are the labels that occur; "a,b" means both of them."""
    every = chain.from_iterable(question.gold for question in questions)
    parts = _parts_of(set(every))
    choices = tuple(sorted(label for label, of_label in parts.items() if of_label == (label,)))
    found = []
    for question in questions:
        gold = tuple(chain.from_iterable(parts[label] for label in question.gold))
        compared = question.compared and question.compared._replace(targets=_targets(choices))
        found.append(question._replace(choices=choices, gold=gold, compared=compared))
    return found


def _parts_of(labels: set[str]) -> dict[str, tuple[str, ...]]:
    """The labels of which each one is put together: itself, if it is a single one."""
    found = {}
    for label in labels:
        parts = tuple(part.strip() for part in label.split(","))
        found[label] = parts if labels.issuperset(parts) else (label,)
    return found
