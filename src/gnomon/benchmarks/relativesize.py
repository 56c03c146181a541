"""RelativeSize (Bagherinezhad et al. 2016): of 486 pairs of objects, which one is larger.

The set is not ours to pass on and has no fixed format, so the reader takes what people have: a
table with a header, or lines such as "elephant > butterfly". The spatial-commonsense paper asks it
like its own size set (appendix B, Table 8).
"""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from gnomon.benchmarks.descriptions import described
from gnomon.benchmarks.viphy.items import with_article
from gnomon.benchmarks.viphy.tables import order_listing
from gnomon.contracts import Listing
from gnomon.errors import DataError, unknown
from gnomon.files import find, read_lines
from gnomon.records import MASK, Form, Item

NAMES = ("relativesize", "relative_size", "size_pairs", "pairs")
# What a header may call the two objects and the answer.
COLUMNS = (
    ("first", "obj_a", "object_a", "object1", "object_1", "obj1", "o1"),
    ("second", "obj_b", "object_b", "object2", "object_2", "obj2", "o2"),
    ("label", "relation", "larger", "bigger", "answer", "typical"),
)
GREATER = ("1", ">", "larger", "bigger", "true", "yes")
LESSER = ("0", "-1", "<", "smaller", "false", "no")
WRITE = 'Write "elephant,butterfly,>" or "elephant > butterfly".'
MOST_PAIRS = 100_000
FORMS: tuple[Form, ...] = ("cloze", "choice")


class SizePair(NamedTuple):
    """Two objects, and whether the first is the larger."""

    first: str
    second: str
    larger: bool


def published(*, data: str = "", form: str = "") -> Iterator[Item]:
    """The pairs of your own copy (the paper has 486), in two forms; chance is 50 %.

    data  the file, or a folder with relativesize.csv (.tsv, .txt)
    form  cloze, choice or scene (prompts for image synthesis); else cloze and choice
    """
    if form and form not in (*FORMS, "scene"):
        raise unknown("form", form, (*FORMS, "scene"))
    for pair in read_pairs(_file(data)):
        if form == "scene":
            yield pair_item(pair, "scene")
            yield pair_item(SizePair(pair.second, pair.first, not pair.larger), "scene")
        for put in FORMS:
            if form in ("", put):
                yield pair_item(pair, put)


def read_pairs(file: Path) -> list[SizePair]:
    """The pairs of a file.

    A pair that occurs twice is an error, since one of the two labels may be wrong.
    """
    rows = _rows(file)
    header = _header(rows[0][1]) if rows else ()
    if header:
        rows = rows[1:]
    if not rows:
        raise DataError("the file is empty.", f"It must hold pairs. {WRITE}", file=file)
    pairs = []
    seen: dict[frozenset[str], int] = {}
    for line, fields in rows:
        # without a header two names alone, the larger one first, or an answer beside them
        places = header or (0, 1, 2)[: max(2, len(fields))]
        pair = _pair(fields, places, file, line)
        before = seen.setdefault(frozenset((pair.first, pair.second)), line)
        if before != line:
            raise DataError(
                f"the pair {pair.first}, {pair.second} is there twice (line {before}).",
                "Remove one of the two lines.",
                file=file,
                line=line,
            )
        pairs.append(pair)
    return pairs


def _rows(file: Path) -> list[tuple[int, list[str]]]:
    """Line number and fields of each line that is not a comment."""
    rows = []
    for line, text in read_lines(file):
        if not text.lstrip().startswith("#"):
            rows.append((line, _fields(text, file, line)))
        if len(rows) > MOST_PAIRS:
            problem = f"the file has more than {MOST_PAIRS:,} pairs."
            raise DataError(problem, "Give the 486 pairs of RelativeSize.", file=file)
    return rows


def _fields(text: str, file: Path, line: int) -> list[str]:
    compared = re.fullmatch(r"(.+?)\s*([<>])\s*(.+)", text)
    if "\t" in text:
        parts = text.split("\t")
    elif "," in text:
        try:
            parts = next(csv.reader([text]))
        except csv.Error as error:  # a bare carriage return, a field without end
            raise DataError(f"not a row: {error}.", WRITE, file=file, line=line) from None
    elif compared:
        parts = [compared[1], compared[3], compared[2]]
    else:
        parts = text.split()
    return [part.strip() for part in parts]


def _header(fields: Sequence[str]) -> tuple[int, ...]:
    """Where the objects and the answer are, if the line is a header; else nothing."""
    names = [name.lower() for name in fields]
    found = []
    for known in COLUMNS:
        there = [names.index(name) for name in known if name in names]
        found.append(there[:1])
    if not found[0] or not found[1]:
        return ()
    return tuple(chain(*found))


def _pair(fields: Sequence[str], places: Sequence[int], file: Path, line: int) -> SizePair:
    problem = f"not a pair of two objects: {fields}."
    if len(fields) <= max(places):
        raise DataError(problem, WRITE, file=file, line=line)
    first, second, *answer = [fields[place] for place in places]
    if not first or not second or first == second:
        raise DataError(problem, WRITE, file=file, line=line)
    said = answer[0].lower() if answer else ">"
    if said in GREATER or said == first.lower():
        return SizePair(first, second, True)
    if said in LESSER or said == second.lower():
        return SizePair(first, second, False)
    raise DataError(
        f"the answer {said!r} is not one of > < 1 0 larger smaller or one of the two names.",
        WRITE,
        file=file,
        line=line,
    )


def pair_item(pair: SizePair, form: Form) -> Item:
    """A pair as a cloze, as a question about the word larger or smaller, or to be painted.

    Which of the two words it is, the length of the names decides. A prompt names both objects and
    says nothing about them.
    """
    a, b = with_article(pair.first), with_article(pair.second)
    capital = f"{a[0].upper()}{a[1:]}"
    choices = ("larger", "smaller")
    gold = choices[not pair.larger]
    relation = ">" if pair.larger else "<"
    tags = {"obj_a": pair.first, "obj_b": pair.second, "relation": relation}
    prompt = f"{capital} and {b}."
    if form == "cloze":
        text = f"{capital} is {MASK} than {b}."
    elif form == "scene":
        text = prompt
        tags |= {"thing_a": pair.first, "thing_b": pair.second}
    else:
        word = "larger" if (len(pair.first) + len(pair.second)) % 2 else "smaller"
        text, choices = f"Is {a} {word} than {b}?", ("yes", "no")
        gold = choices[pair.larger != (word == "larger")]
        tags |= {"comparative": word, "scene": prompt}
    return Item(
        id=f"{form}/{pair.first}/{pair.second}".replace(" ", "_"),
        form=form,
        text=text,
        choices=choices,
        gold=(gold,),
        group=" / ".join(sorted((pair.first, pair.second))),
        tags=tags,
    )


def statistics(items: Sequence[Item]) -> list[Listing]:
    """Whether the sizes are an order."""
    if not items:
        return []
    once = [item for item in items if item.form == items[0].form]
    return [order_listing(once)]


def _file(data: str) -> Path:
    if not data:
        raise DataError(
            "RelativeSize is not shipped and cannot be fetched by its name.",
            "Ask its authors for the pairs, and give the file, or its folder, with --data.",
        )
    path = Path(data).expanduser()
    if path.is_file():
        return path
    candidates = [f"{name}.{ending}" for name in NAMES for ending in ("csv", "tsv", "txt")]
    return find(path, *candidates, what="the file of pairs")


RELATIVESIZE = described(
    "relativesize", "relativesize", sources={"published": published}, statistics=statistics
)
