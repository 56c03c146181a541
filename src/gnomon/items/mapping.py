r"""Which columns of a stranger's rows hold what: as `--map` says, or by their usual names.

A map is written WHAT=COLUMN,WHAT=COLUMN+COLUMN; a backslash takes the meaning from the next sign:
text=question\,\ long. Written out again it is part of what identifies a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import msgspec

from gnomon.errors import UsageError, unknown
from gnomon.files import package_data, read_yaml
from gnomon.items.values import MISSING, as_list, value_at, with_fields

# How the right answer is named: by its text, its letter, its number, or a name beside the choices.
# Or what it is, where it is no choice: a number, a set or an order of choices, or a region.
GOLD_IS = ("text", "letter", "index0", "index1", "name", "first")
WRITTEN_GOLD = ("number", "set", "order", "mask", "box", "polygon", "point")
NONE = ("none",)  # what a map says of something that the items are not to have
LETTERED = "abcdefghij"
PREFIXES = (
    *("", "option_", "option", "opt_", "opt", "choice_", "choice"),
    *("ending", "sol", "answer_", "answer"),
)
LETTERED_ONLY = ("", "answer")  # answer1, answer2 are what several people said
NUMBERED = ("0123456789", "123456789")
SEVERAL = re.compile(r"(image|img|picture|photo|frame)_?(\d+)")  # pictures, each in its column
FIRST_COUNTS = ("id", "group", "image")  # of several columns; what is not used is told
_PART = re.compile(r"((?:[^\\,+=]|\\.)*)([,+=]|$)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_UNSAFE = re.compile(r"[\\,+=]|^\s+|\s+\Z")


class ColumnNames(msgspec.Struct, frozen=True):
    """What columns are called (data/columns.yaml)."""

    aliases: dict[str, str]
    usual: dict[str, tuple[str, ...]]
    seldom: dict[str, tuple[str, ...]]
    captions: dict[str, tuple[str, ...]]
    scenes: dict[str, tuple[str, ...]]
    regions: dict[str, tuple[str, ...]]
    units: tuple[str, ...]
    answers: dict[str, tuple[str, ...]]
    logs: dict[str, tuple[str, ...]]
    sources: tuple[str, ...]
    marked: tuple[str, ...]


@cache
def column_names() -> ColumnNames:
    """All names that are known."""
    return msgspec.convert(read_yaml(package_data("columns.yaml")), ColumnNames)


class ColumnMap(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which columns hold what; `a.b` is the field b of the column a."""

    id: tuple[str, ...] = ()
    form: tuple[str, ...] = ()
    context: tuple[str, ...] = ()  # several are joined
    text: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()  # a list, or a column for each option
    labels: tuple[str, ...] = ()  # no columns: the choices of every item, in the order of numbers
    gold: tuple[str, ...] = ()
    gold_is: str = ""  # one of GOLD_IS
    group: tuple[str, ...] = ()
    image: tuple[str, ...] = ()
    thing_a: tuple[str, ...] = ()  # of a scene to be painted, whose gold is the relation
    thing_b: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()  # none: every other column with a short value
    twins: tuple[str, ...] = ()  # true captions without labels: each gets a false twin

    @property
    def columns(self) -> list[str]:
        """All columns that are named."""
        found: list[str] = []
        for what in self.__struct_fields__:
            if what not in ("labels", "gold_is"):
                found += getattr(self, what)
        return found

    @property
    def inside(self) -> bool:
        """Whether the choices stand inside the text."""
        return bool(self.choices) and self.choices == self.text[-1:]

    @property
    def shuffled(self) -> bool:
        """Whether the right choice has a place of its own in the rows, which must not be told."""
        return bool(set(self.gold) & set(self.choices))

    @property
    def taken(self) -> set[str]:
        """The columns that are named, with those of which only a field is."""
        outer = {name.partition(".")[0] for name in self.columns}
        return outer.union(self.columns)


FIELDS = ColumnMap.__struct_fields__
NEEDED = {"text": "text of a question", "gold": "right answer to a question (gold)"}


def read_map(given: str | Mapping[str, Any]) -> ColumnMap:
    """What a user writes, or says in Python or in YAML; nothing is a map that leaves all open."""
    if isinstance(given, str):
        return parse_map(given) if given else ColumnMap()
    return map_of(given)


def parse_map(text: str) -> ColumnMap:
    """What a user writes.

    >>> parse_map("text=question,choices=A+B+C,gold=answer").choices
    ('A', 'B', 'C')
    """
    return _map_of(entries_of_map(text))


def map_of(given: Mapping[str, Any]) -> ColumnMap:
    """What a user says in Python or in YAML: a column, or a list of them, for each field.

    >>> map_of({"question": "stem", "choices": ["A", "B"]}).text
    ('stem',)
    """
    entries = []
    for what, names in given.items():
        several = as_list(names)
        if not all(isinstance(name, str) for name in several):
            raise UsageError(
                f"The map gives {what} as {names!r}.",
                "Give the name of a column, or a list of them.",
            )
        entries.append((what, several))
    return _map_of(entries)


def _map_of(entries: Iterable[tuple[str, Sequence[str]]]) -> ColumnMap:
    found: dict[str, Any] = {}
    aliases = column_names().aliases
    for written, names in entries:
        what = aliases.get(written, written)
        if what not in FIELDS:
            error = unknown("field of an item", what, [*FIELDS, *aliases])
            raise UsageError(error.message, f"{error.hint} A map is WHAT=COLUMN,WHAT=COLUMN.")
        if what in found:
            raise UsageError(f"'{what}' is mapped twice.", "Join several columns with +.")
        found[what] = tuple(names)
    if "gold_is" in found:
        found["gold_is"] = gold_is(found["gold_is"])
    return ColumnMap(**found)


def gold_is(values: Sequence[str]) -> str:
    """How right answers are named, as a map says it."""
    if len(values) != 1 or values[0] not in (*GOLD_IS, *WRITTEN_GOLD):
        raise UsageError(
            f"gold_is cannot be '{'+'.join(values)}'.",
            "Choose text, letter, index0 (counted from 0), index1 (from 1), name, or first; or "
            f"what it is: {', '.join(WRITTEN_GOLD)}.",
        )
    return values[0]


def entries_of_map(text: str) -> list[tuple[str, list[str]]]:
    """The parts of a map: what is mapped, and to which columns."""
    found: list[tuple[str, list[str]]] = []
    for part in _split(text, ","):
        what, *columns = _split(part, "=")
        names = [_plain(name) for name in _split("=".join(columns), "+")]
        if len(columns) != 1 or not all(names):
            raise UsageError(
                f"'{part}' does not say which column holds what.",
                "Write WHAT=COLUMN or WHAT=COLUMN+COLUMN, such as text=question,gold=answer. "
                "A comma, plus or equals sign in a column's name needs a backslash before it.",
            )
        found.append((_plain(what), names))
    return found


def _split(text: str, sign: str) -> list[str]:
    """The text at every sign that has no backslash before it; the parts stay as written."""
    parts = [""]
    for match in _PART.finditer(text):
        parts[-1] += match[1]
        if match[2] == sign:
            parts.append("")
        else:
            parts[-1] += match[2]
    return parts


def _plain(text: str) -> str:
    """A name without backslashes; spaces around it do not count unless they have one."""
    kept = re.sub(r"^\s+|(?<!\\)\s+$", "", text)
    return _ESCAPED.sub(r"\1", kept)


def write_map(mapping: ColumnMap) -> str:
    """The map as `--map` takes it.

    >>> write_map(parse_map("answer=key, question=stem"))
    'text=stem,gold=key'
    """
    parts = []
    for what, value in msgspec.structs.asdict(mapping).items():
        names = as_list(value)
        if any(names):
            parts.append(f"{what}={'+'.join(map(_escaped, names))}")
    return ",".join(parts)


def _escaped(name: str) -> str:
    """A name with a backslash before every sign that would mean something, or be dropped."""
    return _UNSAFE.sub(_with_backslashes, name)


def _with_backslashes(found: re.Match[str]) -> str:
    return "".join(f"\\{sign}" for sign in found[0])


def guessed_map(columns: Sequence[str], given: ColumnMap) -> ColumnMap:
    """The map with the usual columns for what it leaves open; what could be two things is refused.

    >>> write_map(guessed_map(["question", "options", "answer"], ColumnMap()))
    'text=question,choices=options,gold=answer'
    """
    taken = given.taken
    found = msgspec.structs.asdict(given)
    off = {what for what, value in found.items() if value == NONE and NONE[0] not in columns}
    by_name = named_columns(columns)
    special = _captions(by_name, found) or _scene(by_name, found)
    for what, names in special.items():
        if not found[what]:
            found[what] = names
            taken |= set(names)
    for what in column_names().usual:
        if found[what] or (special and what in ("text", "choices", "gold") and not _open(special)):
            continue
        if what == "choices" and found["labels"]:
            continue
        name = _usual_column(what, by_name, taken, found)
        if name:
            found[what] = (name,)
            taken.add(name)
    if not found["gold"] and not found["choices"]:
        found |= _region(by_name, taken)
    if not found["image"]:
        found["image"] = _series_of_pictures(by_name, taken)
    if not found["choices"] and not found["labels"] and not found["thing_a"]:
        found["choices"] = _option_columns(by_name, taken) or _with_distractors(by_name, found)
    found |= dict.fromkeys(off, ())
    return ColumnMap(**found)


def _region(by_name: Mapping[str, list[str]], taken: set[str]) -> dict[str, Any]:
    """The column that holds a region of the picture, where rows have no other answer."""
    for kind, names in column_names().regions.items():
        there = [name for name in columns_among(by_name, names) if name not in taken]
        if len(there) == 1:
            return {"gold": (there[0],), "gold_is": kind}
    return {}


def _open(special: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether the question itself is still to be found: of a scene it is the prompt."""
    return "thing_a" in special


def plain_name(name: str) -> str:
    """The name of a column as names are compared.

    >>> plain_name("Correct Answer")
    'correct_answer'
    """
    return re.sub(r"[\s\-]+", "_", name.strip()).casefold()


def named_columns(columns: Iterable[str]) -> dict[str, list[str]]:
    """The columns by their plain names."""
    found: dict[str, list[str]] = {}
    for name in columns:
        found.setdefault(plain_name(name), []).append(name)
    return found


def columns_among(by_name: Mapping[str, list[str]], names: Iterable[str]) -> list[str]:
    """The columns that have one of the names, in the order of the names."""
    found = []
    for name in dict.fromkeys(map(plain_name, names)):
        found += by_name.get(name, [])
    return found


@lru_cache(maxsize=4096)
def has_column(columns: tuple[str, ...], what: str) -> bool:
    """Whether a column has a name that is known for the text, the gold and so on.

    >>> has_column(("Question", "key"), "text"), has_column(("Question", "key"), "gold")
    (True, False)
    """
    known = column_names()
    names = (*known.usual[what], *known.seldom.get(what, ()))
    return bool(columns_among(named_columns(columns), names))


def _captions(by_name: Mapping[str, list[str]], found: Mapping[str, Any]) -> dict[str, Any]:
    """A true sentence with false ones, or a list of sentences of which the first is true."""
    known = column_names().captions
    if found["text"] or found["choices"] or found["gold"] or found["labels"]:
        return {}
    right = columns_among(by_name, known["right"])[:1]
    foils = columns_among(by_name, known["foils"])
    if right and foils:
        return {"choices": (*right, *foils), "gold": tuple(right)}
    listed = columns_among(by_name, known["lists"])
    usual = column_names().usual
    others = columns_among(by_name, (*usual["text"], *usual["gold"], *usual["choices"]))
    if len(listed) != 1 or others:
        return {}
    return {"choices": tuple(listed), "gold": tuple(listed), "gold_is": "first"}


def _with_distractors(
    by_name: Mapping[str, list[str]], found: Mapping[str, Any]
) -> tuple[str, ...]:
    """The column of the right answer and those of the wrong ones, where these have usual names."""
    wrong = columns_among(by_name, column_names().captions["distractors"])
    if not wrong or len(found["gold"]) != 1:
        return ()
    return (*found["gold"], *wrong)


def _scene(by_name: Mapping[str, list[str]], found: Mapping[str, Any]) -> dict[str, Any]:
    """Two things and their relation, where the rows have no other answer."""
    usual = column_names().usual
    others = columns_among(by_name, (*usual["gold"], *usual["choices"]))
    if found["gold"] or found["choices"] or found["labels"] or others:
        return {}
    made = {}
    for what, names in column_names().scenes.items():
        there = columns_among(by_name, names)
        if len(there) != 1:
            return {}
        made["gold" if what == "relation" else what] = (there[0],)
    return made


def _usual_column(
    what: str, by_name: Mapping[str, list[str]], taken: set[str], found: Mapping[str, Any]
) -> str:
    """The column with a usual name for something; empty if there is none."""
    known_names = column_names()
    there: list[str] = []
    for names in (known_names.usual[what], known_names.seldom.get(what, ())):
        free = [name for name in columns_among(by_name, names) if name not in taken]
        there = there or free
    if not there:
        return ""
    if len(there) == 1 or what in FIRST_COUNTS:
        return there[0]
    known = ColumnMap(**{**found, what: (there[0],)})
    columns = [name for several in by_name.values() for name in several]
    raise UsageError(
        f"Several columns could be the {what}: {', '.join(there)}.", _how_to_map(columns, known)
    )


def _series_of_pictures(by_name: Mapping[str, list[str]], taken: set[str]) -> tuple[str, ...]:
    """Columns such as image_1, image_2, in the order of their numbers."""
    found: dict[str, list[tuple[int, str]]] = {}
    for plain, names in by_name.items():
        match = SEVERAL.fullmatch(plain)
        if match and len(match[2]) < 5 and len(names) == 1 and names[0] not in taken:
            found.setdefault(match[1], []).append((int(match[2]), names[0]))
    if len(found) != 1:
        return ()
    (numbered,) = found.values()
    return tuple(name for _, name in sorted(numbered))


def _option_columns(by_name: Mapping[str, list[str]], taken: set[str]) -> tuple[str, ...]:
    """Columns with a name for each option, such as A, B, C, D or option_1, option_2."""
    for prefix in PREFIXES:
        series = (LETTERED,) if prefix in LETTERED_ONLY else (LETTERED, *NUMBERED)
        for ends in series:
            names = []
            for end in ends:
                there = by_name.get(f"{prefix}{end}", [])
                if len(there) != 1 or there[0] in taken:
                    break
                names += there
            if len(names) > 1:
                return tuple(names)
    return ()


def check_no_lone_options(mapping: ColumnMap, columns: Sequence[str]) -> None:
    """Refuse columns that are named as options, but not as a series of them: they would be lost."""
    by_name = named_columns(columns)
    for prefix in PREFIXES:
        ends = LETTERED if prefix in LETTERED_ONLY else LETTERED + NUMBERED[0]
        lone = columns_among(by_name, [f"{prefix}{end}" for end in ends])
        lone = [name for name in lone if name not in mapping.taken]
        if lone and (prefix or plain_name(lone[0]) == ends[0]):
            raise UsageError(
                f"{', '.join(lone)} could be choices, of which others have no column in their "
                f"series, or none: then those are the labels in {mapping.gold[0]}.",
                "Say which, beside your other columns: --map choices=COLUMN+COLUMN or "
                "--map choices=none",
            )


def check_map(mapping: ColumnMap, row: Mapping[str, Any]) -> None:
    """Refuse columns that the first row lacks, and a map that leaves text or gold open."""
    columns = list(row)
    for name in mapping.columns:
        if value_at(row, name) is MISSING:
            error = unknown("column", name, with_fields(row))
            raise UsageError(error.message, f"{error.hint} The columns are: {', '.join(columns)}.")
    needed = ("gold",) if mapping.shuffled else ("text", "gold")
    for what in needed:
        if not getattr(mapping, what):
            raise UsageError(
                f"No column is known to hold the {NEEDED[what]}.",
                _how_to_map(columns, mapping),
            )


def _how_to_map(columns: Sequence[str], mapping: ColumnMap) -> str:
    """A `--map` to copy: what is known, and names to fill in for the rest."""
    shown = {"text": "QUESTION", "choices": "OPTIONS", "gold": "ANSWER"}
    parts = []
    for what, stand_in in shown.items():
        names = getattr(mapping, what) or (stand_in,)
        parts.append(f"{what}={'+'.join(map(_escaped, names))}")
    listed = ", ".join(columns)
    hint = f"The columns are: {listed}. Say which is which: --map {','.join(parts)}"
    if mapping.text and mapping.image and not mapping.gold:
        twins = f"--map twins={_escaped(mapping.text[-1])}"
        hint += f"\nIf all are true captions, {twins} gives each a false twin (docs/own.md)."
    return hint


def question_text(row: Mapping[str, Any]) -> str:
    """The question of a row, whatever it is called; without a usual name the whole row."""
    known = column_names()
    by_name = named_columns(row)
    parts = []
    for what in ("context", "text"):
        names = columns_among(by_name, (*known.usual[what], *known.seldom[what]))
        parts += [value for value in (row[name] for name in names[:1]) if isinstance(value, str)]
    if parts:
        return "\n".join(parts)
    return msgspec.json.encode(row, order="sorted").decode()
