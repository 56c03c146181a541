"""ViPhy's published files: readers, and the 20/10/70 splits rebuilt exactly as released.

The folder may be the authors' repository (results/, dataset/, data/) or a flat one (colors.json,
size.csv ...).
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.downloads.catalogue import expected
from gnomon.errors import DataError, RebuiltItemsWarning, UsageError, unknown
from gnomon.files import find, find_optional, parse, read_json, read_jsonl, read_table
from gnomon.graphs import strong_components
from gnomon.vision.knowledge import COLOURS, subtypes, typical_labels

SPLITS = ("train", "val", "test")
# Percent of the training part, for few shots: drawn by the authors without a seed, so as released.
FEW = ("train-20", "train-40", "train-60", "train-80", "train-100")
RELATIONS = (">", "=", "<")
NAMES = ("data/object_names_c5.json", "object_names_c5.json")
CATEGORIES = ("extra/obj2cat.json", "obj2cat.json")
BANDS = (
    (10, "under 10"),
    (100, "10-99"),
    (200, "100-199"),
    (500, "200-499"),
    (1000, "500-999"),
)
TRANSITIVE_ITEMS = 20_000
MOST_ROWS = 1_000_000  # twenty times what was released; more is not this file
Row = TypeVar("Row")


class Colours(NamedTuple):
    """An object with the shares of its typical colours."""

    object: str
    shares: Mapping[str, float]


class SizeComparison(NamedTuple):
    """Two objects, how often each relation was seen between them, and the typical ones."""

    first: str
    second: str
    counts: Mapping[str, int]
    typical: tuple[str, ...]
    scene: str = ""


def split_of(n: int) -> list[tuple[str, int]]:
    """The released split of n rows: (split, row) in order, then the rows that its rounding loses.

    numpy's legacy generator with seed 0 shuffles, then int() cuts at 20, 10 and 70 %.

    >>> split_of(11)[-1]
    ('lost', 5)
    """
    from numpy.random import RandomState

    order = list(range(n))
    RandomState(0).shuffle(order)
    names = []
    for name, share in zip(SPLITS, (0.2, 0.1, 0.7), strict=True):
        names += [name] * int(n * share)
    names += ["lost"] * (n - len(names))
    return list(zip(names, order, strict=True))


def read_colours(folder: Path, split: str = "") -> list[tuple[str, Colours]]:
    """Objects with their typical colours, each with the split it is in."""
    return _divided(folder, split, "color", "colors.json", _colours)


def read_sizes(folder: Path, split: str = "") -> list[tuple[str, SizeComparison]]:
    """Pairs of objects with the larger and the smaller one, each with the split it is in."""
    return _divided(folder, split, "size", "size.csv", read_size_pairs)


def read_elevations(folder: Path, split: str = "") -> list[tuple[str, SizeComparison]]:
    """Pairs of objects of a scene with their relative elevation, each with the split it is in."""
    return _divided(folder, split, "spatial", "spatial.csv", read_elevation_pairs)


def _divided(
    folder: Path, split: str, task: str, whole: str, read: Callable[[Path], Sequence[Row]]
) -> list[tuple[str, Row]]:
    """The rows of a split, all if it is empty.

    They come from the whole table by the rule, else from the released parts.
    """
    wanted = split_name(split)
    ending = whole.rpartition(".")[2]
    if wanted in FEW:
        part = f"fs_{task}/train_{wanted.removeprefix('train-')}.{ending}"
        file = find(folder, f"dataset/{part}", part, what=f"the {wanted} part")
        return [(wanted, row) for row in read(file)]

    if not folder.is_dir():
        find(folder, whole)  # says so
    table = find_optional(folder, f"results/{whole}", whole)
    divided: list[tuple[str, Row]] = []
    if table:
        rows = read(table)
        divided = [(name, rows[number]) for name, number in split_of(len(rows))]
    else:
        for name in SPLITS:
            part = f"{task}/{name}.{ending}"
            file = find(folder, f"dataset/{part}", part, what=f"results/{whole}")
            divided += [(name, row) for row in read(file)]
    return [(name, row) for name, row in divided if wanted in ("", name)]


def _colours(file: Path) -> list[Colours]:
    hint = expected("viphy", "results/colors.json")
    rows = []
    for name, shares in read_json(file, dict[str, dict[str, float]], hint=hint).items():
        if not name.strip() or not _are_shares(shares):
            raise DataError(
                f"the colours of '{name}' are not shares of the eleven colours: {shares}.",
                hint,
                file=file,
            )
        rows.append(Colours(name, shares))
    return rows


def _are_shares(shares: Mapping[str, float]) -> bool:
    known = set(shares) <= set(COLOURS)
    return bool(shares) and known and all(0 < share <= 1 for share in shares.values())


def read_size_pairs(file: Path) -> list[SizeComparison]:
    """The rows of a size table."""
    return _comparisons(file, (">", "<"), "results/size.csv")


def read_elevation_pairs(file: Path) -> list[SizeComparison]:
    """The rows of a spatial table, each with its scene."""
    return _comparisons(file, RELATIONS, "results/spatial.csv")


def _comparisons(file: Path, relations: Sequence[str], path: str) -> list[SizeComparison]:
    columns = ["o1", "o2", *relations, "typical"]
    if "=" in relations:
        columns.append("scene")
    rows: list[SizeComparison] = []
    for line, row in read_table(file, columns):
        counts = {}
        for relation in relations:
            counts[relation] = parse(row[relation], int, field=relation, file=file, line=line)
        typical = tuple(row["typical"].split(","))
        problem = _row_problem(row, counts, typical)
        if len(rows) >= MOST_ROWS:
            problem = f"the file has more than {MOST_ROWS:,} pairs"
        if problem:
            raise DataError(f"{problem}.", expected("viphy", path), file=file, line=line)
        rows.append(SizeComparison(row["o1"], row["o2"], counts, typical, row.get("scene", "")))
    return rows


def _row_problem(row: Mapping[str, str], counts: Mapping[str, int], typical: Sequence[str]) -> str:
    if not row["o1"].strip() or not row["o2"].strip():
        return "an object's name is missing"
    if min(counts.values()) < 0:
        return "a count is negative"
    if not set(typical) <= set(counts) or len(set(typical)) != len(typical):
        return f"the field typical is {row['typical']!r}, not of {' '.join(counts)}"
    return ""


def read_names(folder: Path) -> dict[str, int]:
    """Object names with their frequency."""
    file = find(folder, *NAMES, what="the object names")
    return _names(file)


def _names(file: Path) -> dict[str, int]:
    hint = expected("viphy", NAMES[0])
    names = read_json(file, dict[str, int], hint=hint)
    for name in names:
        if not name.strip():
            raise DataError("an object's name is empty.", hint, file=file)
    return names


def read_object_tags(folder: Path) -> dict[str, dict[str, str]]:
    """What is known of objects beside their colours, where the files are there.

    That is how frequent a name is, and its category.
    """
    tags: dict[str, dict[str, str]] = {}
    names = find_optional(folder, *NAMES)
    if names:
        for name, count in _names(names).items():
            tags[name] = {"frequency": frequency_band(count)}
    categories = find_optional(folder, *CATEGORIES)
    if categories:
        hint = expected("viphy", CATEGORIES[0])
        for name, category in read_json(categories, dict[str, str], hint=hint).items():
            tags.setdefault(name, {})["category"] = category
    return tags


def frequency_band(count: int) -> str:
    """How often something was seen, in bands that can be compared.

    >>> frequency_band(120), frequency_band(2400)
    ('100-199', '1000+')
    """
    for limit, name in BANDS:
        if count < limit:
            return name
    return "1000+"


def read_subtype_sizes(folder: Path, seed: int) -> list[SizeComparison]:
    """The subtype test set as released, or made by its rule.

    The rule: test pairs whose objects both have subtypes, each replaced by one of them.
    """
    released = find_optional(
        folder, "dataset/size_sub/test.csv", "size_sub/test.csv", "size_sub.csv"
    )
    if released:
        return read_size_pairs(released)
    pairs = read_sizes(folder, "test")
    mapping = subtypes(read_names(folder))
    others = {}
    for name, found in mapping.items():
        if len(found) > 1:
            others[name] = [subtype for subtype in found if subtype != name]
    _warn("dataset/size_sub/test.csv is not here: the subtypes are drawn again.")
    draw = Random(f"{seed}/subtypes")
    rows = []
    for _, row in pairs:
        if row.first in others and row.second in others:
            first, second = draw.choice(others[row.first]), draw.choice(others[row.second])
            rows.append(row._replace(first=first, second=second))
    return rows


def read_transitive_sizes(folder: Path, seed: int) -> list[SizeComparison]:
    """The transitive test set as released, or drawn again by its rule.

    Every label is "<", and pairs may repeat.
    """
    released = find_optional(
        folder, "dataset/size_trans/test.csv", "size_trans/test.csv", "size_trans.csv"
    )
    if released:
        return read_size_pairs(released)
    smaller = [(row.first, row.second) for _, row in read_sizes(folder) if row.typical == ("<",)]
    derived = [(a, c) for a, _, c in transitive_pairs(smaller)]
    _warn("dataset/size_trans/test.csv is not here: the pairs are drawn again.")
    drawn = Random(f"{seed}/transitive").sample(derived, min(TRANSITIVE_ITEMS, len(derived)))
    return [SizeComparison(a, c, {">": 100, "<": 100}, ("<",)) for a, c in drawn]


def _warn(message: str) -> None:
    warnings.warn(message, RebuiltItemsWarning, stacklevel=3)


def split_name(split: str) -> str:
    """The name of a split in the files: dev is val; empty for all. An unknown one is refused."""
    name = "val" if split == "dev" else split
    if name and name not in (*SPLITS, *FEW):
        raise unknown("split", split, (*SPLITS, *FEW))
    return name


# Is a set of "smaller than" relations an order? Its cycles, and what follows by transitivity.
#
# The published size relations are not an order: most of their objects lie in one tangle in which
# each is, by some chain, smaller than itself (one strongly connected component of 651
# objects).


Pair = tuple[str, str]  # (a, b): a is smaller than b


class OrderReport(NamedTuple):
    """How far relations are from an order."""

    objects: int
    pairs: int
    components: tuple[tuple[str, ...], ...]  # tangles of two or more objects, the largest first
    tangled: int  # pairs inside a tangle: no order can hold them all
    cycles: int  # cycles of three objects, each counted once
    contradictions: int  # pairs that are there both ways round

    @property
    def is_order(self) -> bool:
        """Whether the relations can be extended to a linear order."""
        return not self.components


def order_report(pairs: Iterable[Pair]) -> OrderReport:
    """Find the cycles in a set of relations.

    >>> order_report([("pea", "cup"), ("cup", "car"), ("car", "pea"), ("car", "ship")]).components
    (('car', 'cup', 'pea'),)
    """
    unique = dict.fromkeys(pairs)
    above = _successors(unique)
    tangles = [tuple(sorted(group)) for group in strong_components(above) if len(group) > 1]
    tangles.sort(key=lambda group: (-len(group), group))
    home: dict[str, int] = {}
    for number, group in enumerate(tangles):
        home |= dict.fromkeys(group, number)

    tangled = both_ways = cycles = 0
    for a, b in unique:
        tangled += a in home and home[a] == home.get(b)
        both_ways += (b, a) in unique
        if a < b:  # count a cycle from its first name
            cycles += sum(a < c and a in above[c] for c in above[b])
    return OrderReport(len(above), len(unique), tuple(tangles), tangled, cycles, both_ways // 2)


def transitive_pairs(pairs: Iterable[Pair]) -> Iterator[tuple[str, str, str]]:
    """(a, b, c) where a < b and b < c are known and a < c is not: what the test set is drawn from.

    >>> list(transitive_pairs([("pea", "cup"), ("cup", "car")]))
    [('pea', 'cup', 'car')]
    """
    above = _successors(dict.fromkeys(pairs))
    for a, middles in above.items():
        for b in middles:
            for c in above[b]:
                if c != a and c not in middles:
                    yield a, b, c


def _successors(pairs: Iterable[Pair]) -> dict[str, dict[str, None]]:
    above: dict[str, dict[str, None]] = {}
    for a, b in pairs:
        above.setdefault(a, {})[b] = None
        above.setdefault(b, {})  # every object is a node
    return above


# CoDa: the colours of objects as people see them (Paik et al. 2021), which ViPhy compares with.
#
# The files are those of the released dataset, default_train.jsonl and so on: a line for each
# object and template, with the shares of eleven colours by the alphabet. Or those of the authors'
# repository, from which these were made: what each person said (annotations.jsonl), and the objects
# that count (objects.jsonl). Gnomon does not ship or fetch them.


ORDER = tuple(sorted(COLOURS))
ANNOTATIONS, OBJECTS = "annotations.jsonl", "objects.jsonl"
HINT = (
    "Give the folder that holds default_train.jsonl and the other files, or that of the authors' "
    f"repository with {ANNOTATIONS} and {OBJECTS}, with --data."
)


class CodaRow(msgspec.Struct):
    """What is read of a line."""

    display_name: str
    label: Annotated[list[float], msgspec.Meta(min_length=len(ORDER), max_length=len(ORDER))]


def read_coda(folder: str) -> list[Colours]:
    """Each object once, with the shares of its typical colours by the rule of ViPhy's code.

    "Basketball (Ball)" is called basketball: ViPhy's objects have no such additions.
    """
    if not folder:
        raise UsageError("The objects of CoDa are read from a folder of your own.", HINT)
    found: dict[str, Colours] = {}
    for row in _coda_rows(Path(folder)):
        name = row.display_name.partition(" (")[0].lower()
        shares = dict(zip(ORDER, row.label, strict=True))
        found.setdefault(name, Colours(name, typical_labels(shares)))
    if not found:
        raise DataError("there is no file of CoDa here.", HINT, file=folder)
    return list(found.values())


def _coda_rows(folder: Path) -> Iterator[CodaRow]:
    if (folder / ANNOTATIONS).is_file():
        yield from _annotated(folder)
        return
    for file in sorted(folder.glob("*.jsonl")):
        for _, row in read_jsonl(file, CodaRow):
            yield row


class CodaObject(msgspec.Struct):
    """What is read of a line about an object."""

    class_id: str
    display_name: str


def _annotated(folder: Path) -> Iterator[CodaRow]:
    """The objects with the mean of what people said of each."""
    said: dict[str, list[list[float]]] = {}
    for line, row in read_jsonl(folder / ANNOTATIONS, dict[str, Any]):
        counts = [row.get(colour) or 0 for colour in ORDER]
        if not all(isinstance(count, (int, float)) for count in counts):
            raise DataError("a colour is no number.", HINT, file=folder / ANNOTATIONS, line=line)
        if row.get("included") and sum(counts):
            said.setdefault(str(row.get("class_id")), []).append(counts)
    for _, thing in read_jsonl(folder / OBJECTS, CodaObject):
        if thing.class_id in said:
            counts_of = np.array(said[thing.class_id])
            shares = counts_of / counts_of.sum(axis=1, keepdims=True)
            label = _agreed(shares).mean(axis=0).tolist()
            yield CodaRow(thing.display_name, label)


def _agreed(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows without those that order the colours against the mean of all, the worst first.

    This is the authors' filter: Kendall's tau with the mean is below 0.
    """
    while True:
        mean = shares.mean(axis=0)
        taus = [_kendall(row, mean) for row in shares]
        worst = int(np.argmin(taus))
        if taus[worst] >= 0:
            return shares
        shares = np.delete(shares, worst, axis=0)


def _kendall(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Kendall's tau-b; 1 where it is not defined, so that nobody is left out for naming all alike.

    >>> _kendall(np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0]))
    -1.0
    """
    upper = np.triu_indices(len(first), 1)
    a = np.sign(np.subtract.outer(first, first))[upper]
    b = np.sign(np.subtract.outer(second, second))[upper]
    pairs = float(np.sqrt(np.count_nonzero(a) * np.count_nonzero(b)))
    return float(a @ b) / pairs if pairs else 1.0
