"""ViPhy's published files: readers, and the 20/10/70 splits rebuilt from the aggregated knowledge
exactly as released.

The folder may be the authors' repository (results/, dataset/, data/) or a flat one (colors.json,
size.csv ...).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

from gnomon.benchmarks.viphy.order import transitive_pairs
from gnomon.errors import DataError, MissingFileWarning, unknown
from gnomon.files import find, parse, read_json, read_table
from gnomon.vision.knowledge import COLOURS, subtypes

SPLITS = ("train", "val", "test")
FEW = (
    "train-20",
    "train-40",
    "train-60",
    "train-80",
    "train-100",
)  # percent of the training part, for few shots
RELATIONS = (">", "=", "<")
TRANSITIVE_ITEMS = 20_000
MOST_ROWS = 1_000_000  # twenty times what was released; more is not this file
Row = TypeVar("Row")


class Colours(NamedTuple):
    """An object with the shares of its typical colours."""

    object: str
    shares: Mapping[str, float]


class Comparison(NamedTuple):
    """Two objects, how often each relation was seen between them, and the typical ones."""

    first: str
    second: str
    counts: Mapping[str, int]
    typical: tuple[str, ...]
    scene: str = ""


def split_of(n: int) -> list[tuple[str, int]]:
    """The released split of n rows: (split, row) in the released order, then the rows that its
    rounding loses.

    numpy's legacy generator with seed 0 shuffles, then int() cuts at 20, 10 and 70 %.

    >>> split_of(11)[-1]
    ('lost', 5)
    """
    from numpy.random import RandomState

    order = list(range(n))
    RandomState(0).shuffle(order)
    names = [
        name
        for name, share in zip(SPLITS, (0.2, 0.1, 0.7), strict=True)
        for _ in range(int(n * share))
    ]
    return list(zip(names + ["lost"] * (n - len(names)), order, strict=True))


def read_colours(folder: Path, split: str = "") -> list[tuple[str, Colours]]:
    """Objects with their typical colours, each with the split it is in."""
    return _divided(folder, split, "color", "colors.json", _colours)


def read_sizes(folder: Path, split: str = "") -> list[tuple[str, Comparison]]:
    """Pairs of objects with the larger and the smaller one, each with the split it is in."""
    return _divided(
        folder, split, "size", "size.csv", lambda file: read_comparisons(file, (">", "<"))
    )


def read_elevations(folder: Path, split: str = "") -> list[tuple[str, Comparison]]:
    """Pairs of objects of a scene with their relative elevation, each with the split it is in."""
    return _divided(
        folder, split, "spatial", "spatial.csv", lambda file: read_comparisons(file, RELATIONS)
    )


def _divided(
    folder: Path, split: str, task: str, whole: str, read: Callable[[Path], Sequence[Row]]
) -> list[tuple[str, Row]]:
    """The rows of a split (all if empty), from the whole table by the rule, else from the released
    parts."""
    wanted = split_name(split)
    ending = whole.rpartition(".")[2]
    if wanted in FEW:  # drawn by the authors without a seed: only as released
        part = wanted.removeprefix("train-")
        file = find(
            folder,
            f"dataset/fs_{task}/train_{part}.{ending}",
            f"fs_{task}/train_{part}.{ending}",
            what=f"the {wanted} part",
        )
        return [(wanted, row) for row in read(file)]
    table = _optional(folder, f"results/{whole}", whole)
    if table:
        rows = read(table)
        divided = [(name, rows[number]) for name, number in split_of(len(rows))]
    else:
        divided = [
            (name, row)
            for name in SPLITS
            for row in read(
                find(
                    folder,
                    f"dataset/{task}/{name}.{ending}",
                    f"{task}/{name}.{ending}",
                    what=f"results/{whole}",
                )
            )
        ]
    return [(name, row) for name, row in divided if wanted in ("", name)]


def _colours(file: Path) -> list[Colours]:
    rows = []
    for name, shares in read_json(file, dict[str, dict[str, float]]).items():
        wrong = [
            colour
            for colour, share in shares.items()
            if colour not in COLOURS or not 0 < share <= 1
        ]
        if wrong or not shares or not name.strip():
            raise DataError(
                f"the colours of '{name}' are not shares of the eleven colours: {shares}.",
                "Is this the right file?",
                file=file,
            )
        rows.append(Colours(name, shares))
    return rows


def read_comparisons(file: Path, relations: Sequence[str]) -> list[Comparison]:
    """The rows of a size or spatial table."""
    scenic = "=" in relations
    rows: list[Comparison] = []
    for line, row in read_table(
        file, ["o1", "o2", *relations, "typical", *(["scene"] if scenic else [])]
    ):
        counts = {
            relation: parse(row[relation], int, field=relation, file=file, line=line)
            for relation in relations
        }
        typical = tuple(row["typical"].split(","))
        if not row["o1"].strip() or not row["o2"].strip() or min(counts.values()) < 0:
            raise DataError(
                "an object's name is missing or a count is negative.",
                "Mend the row.",
                file=file,
                line=line,
            )
        if not set(typical) <= set(relations) or len(set(typical)) != len(typical):
            raise DataError(
                f"the field typical is {row['typical']!r}, not of {' '.join(relations)}.",
                "Mend the row.",
                file=file,
                line=line,
            )
        if len(rows) >= MOST_ROWS:
            raise DataError(
                f"the file has more than {MOST_ROWS:,} pairs.", "Is this the right file?", file=file
            )
        rows.append(
            Comparison(row["o1"], row["o2"], counts, typical, row["scene"] if scenic else "")
        )
    return rows


def read_names(folder: Path) -> dict[str, int]:
    """Object names with their frequency."""
    return read_json(
        find(folder, "data/object_names_c5.json", "object_names_c5.json", what="the object names"),
        dict[str, int],
    )


def read_object_tags(folder: Path) -> dict[str, dict[str, str]]:
    """What is known of objects beside their colours, as far as the files are there: frequency and
    category."""
    tags: dict[str, dict[str, str]] = {}
    names = _optional(folder, "data/object_names_c5.json", "object_names_c5.json")
    for name, count in read_json(names, dict[str, int]).items() if names else ():
        tags[name] = {"frequency": frequency_band(count)}
    categories = _optional(folder, "extra/obj2cat.json", "obj2cat.json")
    for name, category in read_json(categories, dict[str, str]).items() if categories else ():
        tags.setdefault(name, {})["category"] = category
    return tags


def frequency_band(count: int) -> str:
    """How often something was seen, in bands that can be compared.

    >>> frequency_band(120), frequency_band(2400)
    ('100-199', '1000+')
    """
    bands = (
        (10, "under 10"),
        (100, "10-99"),
        (200, "100-199"),
        (500, "200-499"),
        (1000, "500-999"),
    )
    return next((name for limit, name in bands if count < limit), "1000+")


def read_subtype_sizes(folder: Path, seed: int) -> list[Comparison]:
    """The subtype test set as released, or made by its rule: test pairs whose objects both have
    subtypes."""
    released = _optional(folder, "dataset/size_sub/test.csv", "size_sub/test.csv", "size_sub.csv")
    if released:
        return read_comparisons(released, (">", "<"))
    mapping = subtypes(read_names(folder))
    draw = Random(f"{seed}/subtypes")

    def chosen(name: str) -> str:
        return draw.choice([subtype for subtype in mapping[name] if subtype != name])

    warnings.warn(
        "dataset/size_sub/test.csv is not there: the subtypes are drawn anew.",
        MissingFileWarning,
        stacklevel=2,
    )
    return [
        row._replace(first=chosen(row.first), second=chosen(row.second))
        for split, row in read_sizes(folder)
        if split == "test"
        and len(mapping.get(row.first, ())) > 1
        and len(mapping.get(row.second, ())) > 1
    ]


def read_transitive_sizes(folder: Path, seed: int) -> list[Comparison]:
    """The transitive test set as released, or drawn anew by its rule (every label is "<", and pairs
    may repeat)."""
    released = _optional(
        folder, "dataset/size_trans/test.csv", "size_trans/test.csv", "size_trans.csv"
    )
    if released:
        return read_comparisons(released, (">", "<"))
    smaller = [(row.first, row.second) for _, row in read_sizes(folder) if row.typical == ("<",)]
    derived = [(a, c) for a, _, c in transitive_pairs(smaller)]
    warnings.warn(
        "dataset/size_trans/test.csv is not there: the pairs are drawn anew.",
        MissingFileWarning,
        stacklevel=2,
    )
    drawn = Random(f"{seed}/transitive").sample(derived, min(TRANSITIVE_ITEMS, len(derived)))
    return [Comparison(a, c, {">": 100, "<": 100}, ("<",)) for a, c in drawn]


def split_name(split: str) -> str:
    """The name of a split in the files: dev is val; empty for all. An unknown one is refused."""
    name = "val" if split == "dev" else split
    if name and name not in (*SPLITS, *FEW):
        raise unknown("split", split, (*SPLITS, *FEW))
    return name


def _optional(folder: Path, *candidates: str) -> Path | None:
    """The file if it is there; a folder that is not there at all is an error all the same."""
    if not folder.is_dir():
        return find(folder, *candidates)
    return next(
        (
            folder / name
            for name in (*candidates, *(f"{name}.gz" for name in candidates))
            if (folder / name).is_file()
        ),
        None,
    )
