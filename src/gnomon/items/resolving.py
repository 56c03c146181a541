"""What a map leaves open, settled by a look at all rows: the labels, and how answers are named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from gnomon.errors import DataError, UsageError
from gnomon.items import values
from gnomon.items.mapping import ColumnMap, check_map, guessed_map, parse_map
from gnomon.items.rows import Row

Rows = Callable[[], Iterator[tuple[int, Row]]]
UNDECIDED = "-"  # what SNLI writes where its annotators did not agree: such a row is no question
LOOKED_AT = 50  # rows by which the columns are known
MOST_LABELS = 20
IN_WORDS = {
    "text": "the text of a choice",
    "name": "the name of a choice",
    "letter": "a letter",
    "index0": "a number counted from 0",
    "index1": "a number counted from 1",
}


# Is told the line of a row and what is wrong with it; if it returns, the row is passed over.
Tell = Callable[[int, str], object]


def refuse(file: Path) -> Tell:
    """For those who want all rows of a file or none: the first that cannot be an item is an error.

    It is the way of every command but `gnomon audit`.
    """
    hint = "Correct the row, or name other columns with --map; `gnomon audit` lists all such rows."

    def tell(line: int, message: str) -> None:
        raise DataError(f"{message}.", hint, file=file, line=line) from None

    return tell


def resolve(
    file: Path,
    rows: Rows,
    given: ColumnMap,
    classes: Mapping[str, tuple[str, ...]],
    tell: Tell,
) -> ColumnMap:
    """The whole map of a file. `classes` names the numbers of columns that hold labels."""
    columns: dict[str, Any] = {}
    for _, row in islice(rows(), LOOKED_AT):
        for name, value in row.items():
            if columns.get(name) is None:
                columns[name] = value
    if not columns:
        raise DataError("there are no questions in it.", "Give another file.", file=file)
    try:
        mapping = guessed_map(values.columns_of(columns), given)
        check_map(mapping, columns)
    except UsageError as error:
        raise UsageError(f"{file}: {error.message}", error.hint) from None
    if not mapping.choices and not mapping.labels:
        mapping = _with_labels(file, rows, mapping, classes)
    if not mapping.gold_is:
        mapping = replace(mapping, gold_is=_how_gold_is_named(file, rows, mapping, tell))
    return mapping


def choices_in(row: Row, mapping: ColumnMap) -> values.Choices:
    """The choices of a row."""
    if not mapping.choices:
        return values.Choices(mapping.labels)
    if len(mapping.choices) > 1:
        return _in_columns(row, mapping.choices)
    name = mapping.choices[0]
    return values.as_choices(_with_labels_beside(row, name, present(row, name, "choices")))


def _with_labels_beside(row: Row, name: str, texts: Any) -> Any:
    """For the field a.text, the whole of a, whose labels stand beside the texts."""
    whole = values.value_at(row, name.removesuffix(".text"))
    if name in row or not name.endswith(".text") or whole is values.MISSING:
        return texts
    return whole


def _in_columns(row: Row, columns: Sequence[str]) -> values.Choices:
    """A column for each option; a question may have fewer options than there are columns."""
    every = []
    for name in columns:
        value = present(row, name, "choices")
        every.append("" if value is None else values.as_text(value, f"choice {name}"))
    filled = {name: text for name, text in zip(columns, every, strict=True) if text}
    return values.Choices(tuple(filled.values()), tuple(filled), tuple(every))


def present(row: Row, name: str, what: str) -> Any:
    """What a row holds in a column that it must have."""
    value = values.value_at(row, name)
    if value is values.MISSING:
        raise values.OddCellError(f"the row has no column '{name}', which is the {what}")
    return value


def _with_labels(
    file: Path, rows: Rows, mapping: ColumnMap, classes: Mapping[str, tuple[str, ...]]
) -> ColumnMap:
    """The map with the labels of all items, where no column lists choices."""
    named = classes.get(mapping.gold[0])
    if named:
        return replace(mapping, labels=named, gold_is=mapping.gold_is or "index0")
    found: dict[str, None] = {}
    for _, row in rows():
        for value in values.golds(values.value_at(row, mapping.gold[0])):
            text = values.scalar(value)
            if text is not None and text.strip():  # what is no label is told of later
                found[text.strip()] = None
        if len(found) > MOST_LABELS:
            break
    return replace(mapping, labels=_labels(file, list(found), mapping))


def _labels(file: Path, found: list[str], mapping: ColumnMap) -> tuple[str, ...]:
    found = [label for label in found if not _names_others(label, found)]
    decided = {label.lower() for label in found if label != UNDECIDED}
    for usual in (values.NLI, values.TRUTHS):
        if decided and decided <= set(usual):
            return usual
    gold = mapping.gold[0]
    if len(found) > MOST_LABELS or len(found) < 2:
        count = f"more than {MOST_LABELS}" if len(found) > 1 else "fewer than two"
        raise UsageError(
            f"{file}: no column lists the choices, and '{gold}' has {count} different labels.",
            "Name the column: --map choices=COLUMN, or columns: --map choices=A+B+C+D.",
        )
    if all(label.lstrip("-").isdecimal() for label in found):
        numbers = ", ".join(sorted(found))
        raise UsageError(
            f"{file}: '{gold}' holds the numbers {numbers}, and nothing says what they mean.",
            "Name them in their order from 0: --map labels=entailment+neutral+contradiction",
        )
    return tuple(sorted(found))


def _names_others(label: str, labels: list[str]) -> bool:
    """Whether a label is put together of others."""
    parts = values.put_together(label)
    return len(parts) > 1 and set(parts) <= set(labels)


def _how_gold_is_named(file: Path, rows: Rows, mapping: ColumnMap, tell: Tell) -> str:
    """The way in which all rows name their right answers."""
    alive = list(values.READINGS)
    by_label = True  # whether every answer is the label of a choice, written as that is
    differ: dict[frozenset[str], int] = {}  # two ways, and the first line where they differ
    for line, row in rows():
        try:
            meant = _ways_to_read(row, mapping, alive)
        except values.OddCellError as odd:
            tell(line, str(odd))
            continue
        alive = list(meant)
        by_label = by_label and _is_label(row, mapping)
        _note_differences(meant, differ, line)
    if by_label and "name" in alive:  # what stands beside the choices is not counted instead
        alive = [way for way in alive if way in ("text", "name")]
    return _only_way(file, alive, differ)


def _is_label(row: Row, mapping: ColumnMap) -> bool:
    """Whether the right answers are texts that stand beside the choices."""
    labels = choices_in(row, mapping).labels
    given = values.golds(values.value_at(row, mapping.gold[0]))
    return all(isinstance(value, str) and value in labels for value in given)


def _ways_to_read(row: Row, mapping: ColumnMap, ways: list[str]) -> dict[str, tuple[str, ...]]:
    """What each way of reading that fits the row takes for its right answers."""
    choices = choices_in(row, mapping)
    value = present(row, mapping.gold[0], "gold")
    found = {}
    for way in ways:
        meant = values.read_gold(value, choices, way)
        if meant is not None:
            found[way] = meant
    if not found:
        raise values.OddCellError(_fits_none(value, choices, ways))
    return found


def _note_differences(
    meant: Mapping[str, tuple[str, ...]], differ: dict[frozenset[str], int], line: int
) -> None:
    for one, other in combinations(meant, 2):
        if meant[one] != meant[other]:
            differ.setdefault(frozenset((one, other)), line)


def _only_way(file: Path, alive: list[str], differ: Mapping[frozenset[str], int]) -> str:
    """The way that is left; two that mean different choices somewhere are refused."""
    for one, other in combinations(alive, 2):
        line = differ.get(frozenset((one, other)))
        if line is None:
            continue
        raise DataError(
            f"the right answer could be {IN_WORDS[one]} or {IN_WORDS[other]}: every row fits both.",
            f"Say which: --map gold_is={one} or gold_is={other}, beside your other columns.",
            file=file,
            line=line,
        )
    return alive[0]


def _fits_none(value: Any, choices: values.Choices, alive: list[str]) -> str:
    shown = values.scalar(value)
    told = repr(value if shown is None else shown)[:80]
    listed = values.quoted(choices.texts)
    if len(alive) == len(values.READINGS):
        labels = (
            f"one of their labels {values.quoted(choices.labels)}, nor " if choices.labels else ""
        )
        return f"the gold {told} is not one of the choices {listed}, nor {labels}a letter or number"
    if choices.labels:
        listed += f", their labels {values.quoted(choices.labels)}"
    earlier = " or ".join(IN_WORDS[way] for way in alive)
    return f"the gold {told} is not {earlier}, as in the rows before; the choices are {listed}"


# What was taken for what in a file of one's own, in a sentence.


def taken_in_words(options: Mapping[str, Any]) -> str:
    """Which columns were taken for what; empty if no map is among the options.

    >>> taken_in_words({"file": "a.csv", "map": "text=q,choices=A+B,gold=key,gold_is=letter"})
    'a.csv: text is q; choices are A, B; gold is key (a letter).'
    """
    if not isinstance(options.get("map"), str) or "file" not in options:
        return ""
    mapping = parse_map(options["map"])
    parts = []
    for what, columns in msgspec.structs.asdict(mapping).items():
        if columns and what != "gold_is":
            verb = "are" if what.endswith("s") else "is"
            parts.append(f"{what} {verb} {', '.join(columns)}{_way(what, mapping)}")
    if "split" in options:
        parts.append(f"split {options['split']}")
    return f"{options['file']}: {'; '.join(parts)}."


def _way(what: str, mapping: ColumnMap) -> str:
    """How right answers are named, where that is what is told of."""
    if what != "gold" or not mapping.gold_is:
        return ""
    return f" ({IN_WORDS[mapping.gold_is]})"
