"""ViPhy's published files: readers, and the 20/10/70 splits rebuilt from the aggregated knowledge exactly as released.

The folder may be the authors' repository (results/, dataset/, data/) or a flat one (colors.json, size.csv ...).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

from gnomon.benchmarks.viphy_knowledge import COLOURS, subtypes
from gnomon.benchmarks.viphy_order import transitive_pairs
from gnomon.errors import DataError, MissingFileWarning, unknown
from gnomon.files import find, parse, read_json, read_table

SPLITS = ("train", "val", "test")
RELATIONS = (">", "=", "<")
TRANSITIVE_ITEMS = 20_000
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
    """The released split of n rows: (split, row) in the released order, then the rows that its rounding loses.

    numpy's legacy generator with seed 0 shuffles, then int() cuts at 20, 10 and 70 %.

    >>> split_of(11)[-1]
    ('lost', 5)
    """
    from numpy.random import RandomState

    order = list(range(n))
    RandomState(0).shuffle(order)
    names = [name for name, share in zip(SPLITS, (0.2, 0.1, 0.7), strict=True) for _ in range(int(n * share))]
    return list(zip(names + ["lost"] * (n - len(names)), order, strict=True))


def read_colours(folder: Path) -> list[tuple[str, Colours]]:
    """Objects with their typical colours, each with the split it is in."""
    def read(file: Path) -> list[Colours]:
        rows = []
        for name, shares in read_json(file, dict[str, dict[str, float]]).items():
            wrong = [colour for colour, share in shares.items() if colour not in COLOURS or not 0 < share <= 1]
            if wrong or not shares or not name.strip():
                raise DataError(f"the colours of '{name}' are not shares of the eleven colours: {shares}.",
                                "Is this the right file?", file=file)
            rows.append(Colours(name, shares))
        return rows

    whole = _optional(folder, "results/colors.json", "colors.json")
    if whole:
        return _with_splits(read(whole))
    return [(split, row) for split in SPLITS
            for row in read(find(folder, f"dataset/color/{split}.json", f"color/{split}.json",
                                 what="the colours (results/colors.json)"))]


def read_sizes(folder: Path) -> list[tuple[str, Comparison]]:
    """Pairs of objects with the larger and the smaller one, each with the split it is in."""
    whole = _optional(folder, "results/size.csv", "size.csv")
    if whole:
        return _with_splits(read_comparisons(whole, (">", "<")))
    return [(split, row) for split in SPLITS
            for row in read_comparisons(find(folder, f"dataset/size/{split}.csv", f"size/{split}.csv",
                                             what="the sizes (results/size.csv)"), (">", "<"))]


def read_elevations(folder: Path) -> list[tuple[str, Comparison]]:
    """Pairs of objects of a scene with their relative elevation, each with the split it is in."""
    whole = _optional(folder, "results/spatial.csv", "spatial.csv")
    if whole:
        return _with_splits(read_comparisons(whole, RELATIONS))
    return [(split, row) for split in SPLITS
            for row in read_comparisons(find(folder, f"dataset/spatial/{split}.csv", f"spatial/{split}.csv",
                                             what="the elevations (results/spatial.csv)"), RELATIONS)]


def read_comparisons(file: Path, relations: Sequence[str]) -> list[Comparison]:
    """The rows of a size or spatial table."""
    scenic = "=" in relations
    rows = []
    for line, row in read_table(file, ["o1", "o2", *relations, "typical", *(["scene"] if scenic else [])]):
        counts = {relation: parse(row[relation], int, field=relation, file=file, line=line) for relation in relations}
        typical = tuple(row["typical"].split(","))
        if not row["o1"].strip() or not row["o2"].strip() or min(counts.values()) < 0:
            raise DataError("an object's name is missing or a count is negative.", "Mend the row.", file=file,
                            line=line)
        if not set(typical) <= set(relations) or len(set(typical)) != len(typical):
            raise DataError(f"the field typical is {row['typical']!r}, not of {' '.join(relations)}.", "Mend the row.",
                            file=file, line=line)
        rows.append(Comparison(row["o1"], row["o2"], counts, typical, row["scene"] if scenic else ""))
    return rows


def read_names(folder: Path) -> dict[str, int]:
    """Object names with their frequency."""
    return read_json(find(folder, "data/object_names_c5.json", "object_names_c5.json", what="the object names"),
                     dict[str, int])


def read_subtype_sizes(folder: Path, seed: int) -> list[Comparison]:
    """The subtype test set as released, or made by its rule: test pairs whose objects both have subtypes."""
    released = _optional(folder, "dataset/size_sub/test.csv", "size_sub/test.csv", "size_sub.csv")
    if released:
        return read_comparisons(released, (">", "<"))
    mapping = subtypes(read_names(folder))
    draw = Random(f"{seed}/subtypes")

    def chosen(name: str) -> str:
        return draw.choice([subtype for subtype in mapping[name] if subtype != name])

    warnings.warn("dataset/size_sub/test.csv is not there: the subtypes are drawn anew.", MissingFileWarning,
                  stacklevel=2)
    return [row._replace(first=chosen(row.first), second=chosen(row.second)) for split, row in read_sizes(folder)
            if split == "test" and len(mapping.get(row.first, ())) > 1 and len(mapping.get(row.second, ())) > 1]


def read_transitive_sizes(folder: Path, seed: int) -> list[Comparison]:
    """The transitive test set as released, or drawn anew by its rule (every label is "<", and pairs may repeat)."""
    released = _optional(folder, "dataset/size_trans/test.csv", "size_trans/test.csv", "size_trans.csv")
    if released:
        return read_comparisons(released, (">", "<"))
    smaller = [(row.first, row.second) for _, row in read_sizes(folder) if row.typical == ("<",)]
    derived = [(a, c) for a, _, c in transitive_pairs(smaller)]
    warnings.warn("dataset/size_trans/test.csv is not there: the pairs are drawn anew.", MissingFileWarning,
                  stacklevel=2)
    drawn = Random(f"{seed}/transitive").sample(derived, min(TRANSITIVE_ITEMS, len(derived)))
    return [Comparison(a, c, {">": 100, "<": 100}, ("<",)) for a, c in drawn]


def split_name(split: str) -> str:
    """The name of a split in the files: dev is val; empty for all. An unknown one is refused."""
    name = "val" if split == "dev" else split
    if name and name not in SPLITS:
        raise unknown("split", split, SPLITS)
    return name


def read_old_colours(folder: Path) -> dict[str, tuple[float, ...]]:
    """The earlier colour shares (colors_old.csv) of objects that were seen with a colour at least ten times."""
    file = find(folder, "results/colors_old.csv", "colors_old.csv", what="the earlier colours")
    found = {}
    for line, row in read_table(file, ["object", "total", *COLOURS]):
        shares = tuple(parse(row[colour], float, field=colour, file=file, line=line) for colour in COLOURS)
        if not all(math.isfinite(share) and 0 <= share <= 1 for share in shares):
            raise DataError("a share is not between 0 and 1.", "Mend the row.", file=file, line=line)
        if parse(row["total"], int, field="total", file=file, line=line) >= 10:
            found[row["object"]] = shares
    return found


def _with_splits(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    return [(split, rows[number]) for split, number in split_of(len(rows))]


def _optional(folder: Path, *candidates: str) -> Path | None:
    """The file if it is there; a folder that is not there at all is an error all the same."""
    if not folder.is_dir():
        return find(folder, *candidates)
    return next((folder / name for name in (*candidates, *(f"{name}.gz" for name in candidates))
                 if (folder / name).is_file()), None)
