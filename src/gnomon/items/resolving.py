"""What a map leaves open, settled by a look at all rows: the labels, and how answers are named."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from gnomon.errors import DataError, FewItemsWarning, UsageError
from gnomon.items import values
from gnomon.items.listed import listed_options
from gnomon.items.mapping import (
    NONE,
    ColumnMap,
    check_map,
    check_no_lone_options,
    column_names,
    columns_among,
    guessed_map,
    named_columns,
)
from gnomon.items.shapes import Row
from gnomon.items.written import ASKS_ALL, REGIONS, is_number, is_order, kind_of, labels_of
from gnomon.lexicon.statements import negation, opposite

Rows = Callable[[], Iterator[tuple[int, Row]]]
UNDECIDED = "-"  # what SNLI writes where its annotators did not agree: such a row is no question
LOOKED_AT = 50  # rows by which the columns are known
MOST_LABELS = 20
FEW_LABELS = 4  # that may each occur once
RELATIONS = {"left": "left of", "right": "right of", "top": "above", "bottom": "below"}
IN_WORDS = {
    "text": "the text of a choice",
    "name": "the name of a choice",
    "letter": "a letter",
    "index0": "a number counted from 0",
    "index1": "a number counted from 1",
    "first": "the first of the choices",
    "number": "a number",
    "set": "several that are right together",
    "order": "an order of all choices",
    "mask": "a mask of the picture",
    "box": "a box in the picture",
    "polygon": "a polygon in the picture",
    "point": "a point in the picture",
}


class Difference(NamedTuple):
    """A row in which two ways to read its right answer mean different choices."""

    line: int
    value: Any
    meant: dict[str, tuple[str, ...]]


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
    if given.twins:
        rows, given = _twin_rows(file, rows, given)
    columns: dict[str, Any] = {}
    for _, row in islice(rows(), LOOKED_AT):
        for name, value in row.items():
            if columns.get(name) is None:
                columns[name] = value
    if not columns:
        raise DataError("there are no questions in it.", "Give another file.", file=file)
    if given == ColumnMap():
        given = _by_place(rows, list(columns))
    try:
        mapping = guessed_map(values.columns_of(columns), given)
        check_map(mapping, columns)
    except UsageError as error:
        message = error.message.replace("all rows", f"all {sum(1 for _ in rows()):,} rows")
        raise UsageError(f"{file}: {message}", error.hint) from None
    if mapping.gold_is in ("number", *REGIONS):
        mapping = replace(mapping, choices=())
    elif not mapping.choices and not mapping.labels:
        kind = "" if given.gold_is else kind_of(rows(), mapping, MOST_LABELS)
        if given.choices != NONE and not mapping.thing_a and _stand_inside(file, rows, mapping):
            mapping = replace(mapping, choices=mapping.text[-1:])
        elif kind:
            mapping = replace(mapping, gold_is=kind)
        else:
            if given.choices != NONE:
                _check_no_lone_options(file, mapping, list(columns))
            mapping = _with_labels(file, rows, mapping, classes)
    elif mapping.text and not given.choices:
        _check_not_listed_otherwise(file, rows, mapping)
    if not mapping.gold_is:
        mapping = replace(mapping, gold_is=_how_gold_is_named(file, rows, mapping, tell))
    if not given.group:
        mapping = replace(mapping, group=recurring(rows, mapping))
    return mapping


def _check_no_lone_options(file: Path, mapping: ColumnMap, columns: list[str]) -> None:
    try:
        check_no_lone_options(mapping, columns)
    except UsageError as error:
        raise UsageError(f"{file}: {error.message}", error.hint) from None


def _by_place(rows: Rows, columns: list[str]) -> ColumnMap:
    """The map of a table without a header, where it is question, options, answer; else an open one.

    The answer is one of the options of its row, or in every row a letter. Without options it is a
    label; pictures may stand before the question.
    """
    places = [str(number + 1) for number in range(len(columns))]
    if len(columns) < 2 or columns != places:
        return ColumnMap()
    looked_at = [row for _, row in islice(rows(), LOOKED_AT)]
    pictures = [
        name for name in columns if all(values.holds_picture(row.get(name)) for row in looked_at)
    ]
    first, *options, last = [name for name in columns if name not in pictures] or ["", ""]
    if not options and all("?" in str(row.get(first)) for row in looked_at):
        return ColumnMap(text=(first,), gold=(last,), image=tuple(pictures))
    by_text = all(row.get(last) in [row.get(name) for name in options] for row in looked_at)
    lettered = all(_is_letter(row.get(last)) for row in looked_at)
    if len(options) > 1 and (by_text or lettered):
        return ColumnMap(text=(first,), choices=tuple(options), gold=(last,), image=tuple(pictures))
    return ColumnMap()


TWIN, TWIN_ID, TWIN_LABEL = "twin", "twin_id", "twin_label"  # columns that twins are given


def with_twins(rows: Iterable[tuple[int, Row]], column: str) -> Iterator[tuple[int, Row]]:
    """Each caption as a true one, and with the opposite relation as a false one.

    A caption whose relation has no opposite gives none: "not" would tell which is false.
    """
    for line, row in rows:
        caption = values.scalar(values.value_at(row, column)) or ""
        false = opposite(caption)
        if not false or false == negation(caption):
            continue
        for label, text in (("true", caption), ("false", false)):
            own = {TWIN: str(line), TWIN_ID: f"{line}-{label}", TWIN_LABEL: label}
            yield line, {**row, column: text, **own}


def _twin_rows(file: Path, rows: Rows, given: ColumnMap) -> tuple[Rows, ColumnMap]:
    """Rows of captions with their false twins, and what is known of their columns."""
    if len(given.twins) > 1 or given.id or given.text or given.labels or given.gold or given.group:
        raise UsageError(
            "'twins' names one column of captions, and nothing else of the items is left to name.",
            "Give it alone, such as --map twins=caption; pictures and tags may stand beside it.",
        )
    column = given.twins[0]
    captions = sum(1 for _ in rows())
    twins = sum(1 for _ in with_twins(rows(), column)) // 2
    if not twins:
        raise UsageError(
            f"{file}: '{column}' has no caption with a relation whose opposite is known.",
            'A caption reads "The cup is left of the plate."; name its column: --map twins=COLUMN',
        )
    if twins < captions:
        message = f"{file}: {captions - twins:,} of {captions:,} captions have no relation with an"
        warnings.warn(f"{message} opposite and are left out.", FewItemsWarning, stacklevel=2)
    known = replace(
        given,
        id=(TWIN_ID,),
        text=(column,),
        labels=values.TRUTHS,
        gold=(TWIN_LABEL,),
        gold_is="text",
        group=(TWIN,),
    )
    return lambda: with_twins(rows(), column), known


def _stand_inside(file: Path, rows: Rows, mapping: ColumnMap) -> bool:
    """Whether the options of every row stand inside its text, all written in one way.

    Where they do in some rows only, and the right answers are letters, the file can be read in two
    ways, and is refused.
    """
    styles: dict[str, int] = {}  # and the first line
    bare: list[tuple[int, Any]] = []  # rows without options
    letters = 0
    for line, row in rows():
        value = values.value_at(row, mapping.gold[0])
        listed = listed_options(_text_with_options(row, mapping))
        if listed is None or values.read_any(value, values.of_text(listed)) is None:
            bare.append((line, value))
        else:
            styles.setdefault(listed.style, line)
            letters += _is_letter(value)
        if bare and not styles and len(bare) > LOOKED_AT:
            return False
    others = [_is_letter(value) for _, value in bare]
    if len(styles) == 1 and not any(others) and (letters or not bare):
        return True  # rows without options have answers of another kind
    if not styles or not all(others):
        return False
    line, told = bare[0] if bare else (max(styles.values()), "")
    raise DataError(
        f"options stand inside '{mapping.text[-1]}' in some rows, but in this one not, or written "
        f"otherwise: the choices are those in the text, or the letters alone ({told!r} ...).",
        "Correct the row, or keep all texts as they are with --map choices=none.",
        file=file,
        line=line,
    )


def _is_letter(value: Any) -> bool:
    text = value.strip().strip("().:") if isinstance(value, str) else ""
    return len(text) == 1 and text.isalpha()


def _text_with_options(row: Row, mapping: ColumnMap) -> str:
    value = values.value_at(row, mapping.text[-1])
    return value if isinstance(value, str) else ""


def _check_not_listed_otherwise(file: Path, rows: Rows, mapping: ColumnMap) -> None:
    """Refuse a column of choices where the text lists as many, but other ones."""
    for line, row in islice(rows(), LOOKED_AT):
        listed = listed_options(_text_with_options(row, mapping))
        if listed is None or not listed.labels:
            continue
        try:
            own = choices_in(row, mapping)
        except values.OddCellError:
            continue
        if len(own.texts) == len(listed.options) and not same_options(own.texts, listed.options):
            inside = mapping.text[-1]
            raise DataError(
                f"the choices could be {', '.join(mapping.choices)} "
                f"({values.quoted(own.texts)}) or those inside {inside} "
                f"({values.quoted(listed.options)}).",
                f"Say which: --map choices={'+'.join(mapping.choices)} or choices={inside}, beside "
                "your other columns.",
                file=file,
                line=line,
            )


def same_options(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether two lists of options are the same, capitals and spaces aside."""
    return [text.strip().casefold() for text in one] == [text.strip().casefold() for text in two]


def recurring(rows: Rows, mapping: ColumnMap) -> tuple[str, ...]:
    """The columns whose values several questions share: a group, or else the story or the pictures.

    Where story and pictures both recur, it is the one with fewer different values.
    """
    kinds = [names for names in (mapping.group, mapping.context, mapping.image) if names]
    _, first = next(rows())
    sources = columns_among(named_columns(map(str, first)), column_names().sources)
    if not kinds:
        kinds = [(name,) for name in sources[:1]]
    seen: list[set[int]] = [set() for _ in kinds]
    total = 0
    named: dict[str, int] = {}  # what a row of this id holds, for rows that name it
    for _, row in rows():
        total += 1
        for names, known in zip(kinds, seen, strict=True):
            cells = [values.value_at(row, name) for name in names]
            mark = hash(repr(cells))
            if names == mapping.image and mapping.id:
                own = values.scalar(values.value_at(row, mapping.id[0]))
                mark = named.setdefault(own or "", mark)
                mark = named.get(values.scalar(cells[0]) or "", mark)
            known.add(mark)
    shared = {}
    for names, known in zip(kinds, seen, strict=True):
        if 1 < len(known) < total or (names == mapping.group and len(known) > 1):
            shared[names] = len(known)
    if mapping.group in shared:
        return mapping.group
    return min(shared, key=lambda names: shared[names], default=())


def choices_in(row: Row, mapping: ColumnMap) -> values.Choices:
    """The choices of a row."""
    if not mapping.choices:
        return values.Choices(mapping.labels)
    if lacks_choices(row, mapping) and values.yes_or_no(values.value_at(row, mapping.gold[0])):
        return values.Choices(values.ANSWERS)
    if mapping.inside:
        listed = listed_options(_text_with_options(row, mapping))
        if listed is None:
            raise values.OddCellError("the text does not list its choices in one clear way")
        return values.of_text(listed)
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
    every: list[str] = []
    names: list[str] = []
    for name in columns:
        value = present(row, name, "choices")
        several = [""] if value is None or value in values.NOTHING else values.golds(value)
        for each in several:
            every.append("" if each is None else values.as_text(each, f"choice {name}"))
            names.append(name)
    filled = {name: text for name, text in zip(names, every, strict=True) if text}
    if len(filled) < len([text for text in every if text]):  # several in one column
        return values.Choices(tuple(text for text in every if text))
    return values.Choices(tuple(filled.values()), tuple(filled), tuple(every))


def lacks_choices(row: Row, mapping: ColumnMap) -> bool:
    """Whether a row has nothing to choose from: its answer is of another kind."""
    if not mapping.choices:
        return False
    if mapping.inside:
        return listed_options(_text_with_options(row, mapping)) is None
    cells = [values.value_at(row, name) for name in mapping.choices]
    return all(cell is None or cell in ("", "[]", "null", "None", []) for cell in cells)


def cannot_be_asked(row: Row, mapping: ColumnMap) -> bool:
    """Whether a row has no right answer that its annotators agreed on, or it is free text."""
    gold = values.value_at(row, mapping.gold[0])
    if gold == UNDECIDED and mapping.labels == values.NLI:
        return True
    return lacks_choices(row, mapping) and not is_number(gold) and not values.yes_or_no(gold)


def present(row: Row, name: str, what: str) -> Any:
    """What a row holds in a column that it must have."""
    value = values.value_at(row, name)
    if value is values.MISSING:
        raise values.OddCellError(f"the row has no column '{name}', which is the {what}")
    return value


def gold_in(row: Row, mapping: ColumnMap) -> Any:
    """What a row holds for its right answer; the relation of a scene in plain words."""
    value = present(row, mapping.gold[0], "gold")
    if not mapping.thing_a or not isinstance(value, str):
        return value
    words = value.replace("_", " ").strip()
    return RELATIONS.get(words, words)


def _with_labels(
    file: Path, rows: Rows, mapping: ColumnMap, classes: Mapping[str, tuple[str, ...]]
) -> ColumnMap:
    """The map with the labels of all items, where no column lists choices."""
    named = classes.get(mapping.gold[0])
    if named:
        return replace(mapping, labels=named, gold_is=mapping.gold_is or "index0")
    found: Counter[str] = Counter()
    for _, row in rows():
        if values.value_at(row, mapping.gold[0]) is values.MISSING:
            continue
        for value in values.golds(gold_in(row, mapping)):
            text = values.scalar(value)
            if text is not None and text.strip():  # what is no label is told of later
                found[text.strip()] += 1
        if len(found) > MOST_LABELS:
            break
    if len(found) > FEW_LABELS and max(found.values()) == 1:
        raise UsageError(
            f"{file}: no column lists the choices, and every answer in '{mapping.gold[0]}' is "
            "another one.",
            "Name the column: --map choices=COLUMN. If they are labels: --map labels=IN+ON+UNDER. "
            "Answers that are free text cannot be judged.",
        )
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
        shown = "false+true" if len(found) == 2 else "entailment+neutral+contradiction"
        raise UsageError(
            f"{file}: '{gold}' holds the numbers {numbers}, and nothing says what they mean.",
            f"Name them in their order from 0: --map labels={shown}",
        )
    return tuple(sorted(found))


def _names_others(label: str, labels: list[str]) -> bool:
    """Whether a label is put together of others."""
    parts = values.put_together(label)
    return len(parts) > 1 and set(parts) <= set(labels)


def _how_gold_is_named(file: Path, rows: Rows, mapping: ColumnMap, tell: Tell) -> str:
    """The way in which all rows name their right answers."""
    alive = list(values.READINGS)
    askable = sets = orders = numbers = 0
    by_label = True  # whether every answer is the label of a choice, written as that is
    differ: dict[frozenset[str], Difference] = {}  # of two ways: where they first differ
    for line, row in rows():
        if lacks_choices(row, mapping) or is_unjudged(row, mapping):
            numbers += not cannot_be_asked(row, mapping)
            continue
        if cannot_be_asked(row, mapping):
            continue
        askable += 1
        sets += _names_a_set(row, mapping)
        orders += _names_an_order(row, mapping)
        if sets or orders == askable:
            continue
        try:
            meant = _ways_to_read(row, mapping, alive)
        except values.OddCellError as odd:
            tell(line, str(odd))
            continue
        alive = list(meant)
        by_label = by_label and _is_label(row, mapping)
        _note_differences(meant, differ, line, values.value_at(row, mapping.gold[0]))
    if orders == askable > 0:
        return "order"
    if sets:
        return "set"
    if not askable and not numbers and not mapping.thing_a:
        raise DataError(
            f"no row has choices ('{', '.join(mapping.choices)}' is empty in all of them): answers "
            "that are free text cannot be asked.",
            "Name the columns of choices with --map choices=COLUMN.",
            file=file,
        )
    if by_label and "name" in alive:  # what stands beside the choices is not counted instead
        alive = [way for way in alive if way in ("text", "name")]
    return _only_way(file, alive, differ)


def is_unjudged(row: Row, mapping: ColumnMap) -> bool:
    """Whether a row is a scene of which no relation is told: there is nothing to judge it by."""
    if not mapping.thing_a:
        return False
    return values.value_at(row, mapping.gold[0]) in ("", None, values.MISSING)


def _names_a_set(row: Row, mapping: ColumnMap) -> bool:
    """Whether the gold of a row names several choices that are right together."""
    try:
        choices = choices_in(row, mapping)
    except values.OddCellError:
        return False
    value = values.value_at(row, mapping.gold[0])
    if values.names_a_set(value, choices):
        return True
    several = len(values.golds(value)) > 1 and labels_of(value, choices) is not None
    return several and ASKS_ALL.search(_text_with_options(row, mapping)) is not None


def _names_an_order(row: Row, mapping: ColumnMap) -> bool:
    """Whether the gold of a row names all choices, in an order."""
    if mapping.shuffled:
        return False
    try:
        choices = choices_in(row, mapping)
    except values.OddCellError:
        return False
    asks_all = ASKS_ALL.search(_text_with_options(row, mapping)) is not None
    return not asks_all and is_order(values.value_at(row, mapping.gold[0]), choices)


def _is_label(row: Row, mapping: ColumnMap) -> bool:
    """Whether the right answers are texts that stand beside the choices."""
    labels = choices_in(row, mapping).labels
    given = values.golds(values.value_at(row, mapping.gold[0]))
    return all(isinstance(value, str) and value in labels for value in given)


def _ways_to_read(row: Row, mapping: ColumnMap, ways: list[str]) -> dict[str, tuple[str, ...]]:
    """What each way of reading that fits the row takes for its right answers."""
    choices = choices_in(row, mapping)
    value = gold_in(row, mapping)
    found = {}
    for way in ways:
        meant = values.read_gold(value, choices, way)
        if meant is not None:
            found[way] = meant
    if not found:
        raise values.OddCellError(_fits_none(value, choices, ways))
    return found


def _note_differences(
    meant: Mapping[str, tuple[str, ...]],
    differ: dict[frozenset[str], Difference],
    line: int,
    value: Any,
) -> None:
    for one, other in combinations(meant, 2):
        if meant[one] != meant[other]:
            found = Difference(line, value, {one: meant[one], other: meant[other]})
            differ.setdefault(frozenset((one, other)), found)


def _only_way(file: Path, alive: list[str], differ: Mapping[frozenset[str], Difference]) -> str:
    """The way that is left; two that mean different choices somewhere are refused."""
    for one, other in combinations(alive, 2):
        found = differ.get(frozenset((one, other)))
        if found is None:
            continue
        raise DataError(
            f"the right answer {found.value!r} could be {IN_WORDS[one]} "
            f"({values.quoted(found.meant[one])}) or {IN_WORDS[other]} "
            f"({values.quoted(found.meant[other])}): every row fits both.",
            f"Say which: --map gold_is={one} or gold_is={other}, beside your other columns.",
            file=file,
            line=found.line,
        )
    return alive[0]


def _fits_none(value: Any, choices: values.Choices, alive: list[str]) -> str:
    shown = values.scalar(value)
    if value in (None, "", -1, "-1"):
        return "the row has no right answer: authors keep those of a test back"
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
