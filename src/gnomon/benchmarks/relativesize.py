"""RelativeSize (Bagherinezhad et al. 2016): 486 pairs of objects, which one is larger; read from
the user's own copy.

The set is not ours to pass on and has no fixed format, so the reader takes what people have: a
table with a header, or lines such as "elephant > butterfly". The spatial-commonsense paper asks it
like its own size set (appendix B, Table 8).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gnomon.benchmarks.viphy.tables import order_listing
from gnomon.benchmarks.viphy.tasks import with_article
from gnomon.contracts import Benchmark, Laws, Listing, OrderLaw
from gnomon.errors import DataError, unknown
from gnomon.files import find, read_lines
from gnomon.records import MASK, Form, Item

NAMES = ("relativesize", "relative_size", "size_pairs", "pairs")
# What a header may call the two objects and the answer.
FIRST = ("first", "obj_a", "object_a", "object1", "object_1", "obj1", "o1")
SECOND = ("second", "obj_b", "object_b", "object2", "object_2", "obj2", "o2")
ANSWER = ("label", "relation", "larger", "bigger", "answer", "typical")
GREATER, LESSER = (
    ("1", ">", "larger", "bigger", "true", "yes"),
    ("0", "-1", "<", "smaller", "false", "no"),
)
MOST_PAIRS = 100_000
FORMS: tuple[Form, ...] = ("cloze", "choice")


class Pair(NamedTuple):
    """Two objects, and whether the first is the larger."""

    first: str
    second: str
    larger: bool


def published(*, data: str = "", form: str = "") -> Iterator[Item]:
    """The pairs of a file, or of relativesize.csv (.tsv, .txt) in a folder; FORM is cloze or
    choice, else both."""
    if form and form not in FORMS:
        raise unknown("form", form, FORMS)
    for pair in read_pairs(_file(data)):
        for put in FORMS:
            if form in ("", put):
                yield pair_item(pair, put)


def read_pairs(file: Path) -> list[Pair]:
    """The pairs of a file; a pair that occurs twice is an error, since one of the two labels may be
    wrong."""
    rows = (
        (line, _fields(text))
        for line, text in read_lines(file)
        if not text.lstrip().startswith("#")
    )
    first = next(rows, None)
    if first is None:
        raise DataError("the file is empty.", "It must hold pairs of objects.", file=file)
    columns = _columns(first[1])
    body = rows if columns else _chain(first, rows)
    seen: dict[frozenset[str], int] = {}
    pairs: list[Pair] = []
    for line, fields in body:
        pair = _pair(fields, columns, file, line)
        both = frozenset((pair.first, pair.second))
        if both in seen:
            raise DataError(
                f"the pair {pair.first}, {pair.second} is there twice (line {seen[both]}).",
                "Remove one of the two lines.",
                file=file,
                line=line,
            )
        if len(pairs) >= MOST_PAIRS:
            raise DataError(
                f"the file has more than {MOST_PAIRS:,} pairs.",
                "Is this the right file?",
                file=file,
            )
        seen[both] = line
        pairs.append(pair)
    return pairs


def pair_item(pair: Pair, form: Form) -> Item:
    """A pair as a cloze, or as a question about the word larger or smaller, balanced by the order
    of the names."""
    a, b = with_article(pair.first), with_article(pair.second)
    tags = {"obj_a": pair.first, "obj_b": pair.second, "relation": ">" if pair.larger else "<"}
    if form == "cloze":
        text, choices = f"{a[0].upper()}{a[1:]} is {MASK} than {b}.", ("larger", "smaller")
        gold = choices[not pair.larger]
    else:
        word = "larger" if (len(pair.first) + len(pair.second)) % 2 else "smaller"
        text, choices = f"Is {a} {word} than {b}?", ("yes", "no")
        gold = choices[pair.larger != (word == "larger")]
        tags["comparative"] = word
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
    return [order_listing([item for item in items if item.form == items[0].form])] if items else []


def _file(data: str) -> Path:
    if not data:
        raise DataError(
            "RelativeSize is not shipped and cannot be fetched by its name.",
            "Ask its authors for the pairs, and give the file, or its folder, with --data.",
        )
    path = Path(data).expanduser()
    if path.is_file():
        return path
    return find(
        path,
        *(f"{name}.{ending}" for name in NAMES for ending in ("csv", "tsv", "txt")),
        what="the pairs",
    )


def _fields(text: str) -> list[str]:
    if "\t" in text:
        parts = text.split("\t")
    elif "," in text:
        parts = next(csv.reader([text]))
    elif found := re.fullmatch(r"(.+?)\s*([<>])\s*(.+)", text):
        parts = [found[1], found[3], found[2]]
    else:
        parts = text.split()
    return [part.strip() for part in parts]


def _columns(header: Sequence[str]) -> tuple[int, int, int | None] | None:
    """Where the two objects and the answer are, if the line is a header."""
    names = [name.lower() for name in header]

    def at(known: Iterable[str]) -> int | None:
        return next((names.index(name) for name in known if name in names), None)

    first, second = at(FIRST), at(SECOND)
    return None if first is None or second is None else (first, second, at(ANSWER))


def _pair(
    fields: Sequence[str], columns: tuple[int, int, int | None] | None, file: Path, line: int
) -> Pair:
    one, two, answer = columns or (0, 1, 2 if len(fields) > 2 else None)
    if (
        len(fields) <= max(one, two, answer or 0)
        or not fields[one]
        or not fields[two]
        or fields[one] == fields[two]
    ):
        raise DataError(
            f"not a pair of two objects: {fields}.",
            'Write "elephant,butterfly,>" or "elephant > butterfly".',
            file=file,
            line=line,
        )
    first, second = fields[one], fields[two]
    said = (
        fields[answer].lower() if answer is not None else ">"
    )  # two names alone: the larger one first
    if said in GREATER or said == first.lower():
        return Pair(first, second, True)
    if said in LESSER or said == second.lower():
        return Pair(first, second, False)
    raise DataError(
        f"the answer {said!r} is not one of > < 1 0 larger smaller or one of the two names.",
        "Mend the line.",
        file=file,
        line=line,
    )


def _chain(
    first: tuple[int, list[str]], rest: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    yield first
    yield from rest


RELATIVESIZE = Benchmark(
    name="relativesize",
    summary="which of two objects is larger, for the pairs of RelativeSize",
    paper="spatial commonsense",
    sources={"published": published},
    measures=("accuracy", "macro_f1", "symmetry", "transitivity", "form_agreement"),
    noun="pairs",
    hold_out=(("obj_a", "obj_b"),),
    published_results="spatial-commonsense",
    statistics=statistics,
    laws=Laws(
        order=OrderLaw(
            first="obj_a",
            second="obj_b",
            word="comparative",
            greater=("larger",),
            lesser=("smaller",),
        )
    ),
)
