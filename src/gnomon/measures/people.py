"""Agreement of people: kappas, alpha, majorities, a ceiling, and coarser readings of a scale.

Judgements are a matrix [items, people] of small integers; -1 is a judgement that was not made.
Every function is a few lines of numpy, which the tests compare with scikit-learn, statsmodels and
krippendorff.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from math import isnan, nan
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.measures.statistics import Floats

Level = Literal["nominal", "ordinal", "interval"]
Judgements = NDArray[np.int64]


class Mapped(NamedTuple):
    """For each person what each fine value stands for, and the mean Cohen's kappa of that."""

    mappings: tuple[tuple[int, ...], ...]
    kappa: float


class Disagreement(NamedTuple):
    """How much people disagree about one kind of item."""

    key: str
    n: int
    excluded: float  # share of items below the threshold of agreement
    disputed: float  # share with at least one dissenting vote


def cohen_kappa(one: ArrayLike, two: ArrayLike) -> float:
    """Agreement of two people beyond chance, over the items both judged.

    NaN if chance alone already agrees.

    >>> round(cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]), 2)
    0.5
    """
    a, b = np.asarray(one, dtype=np.int64), np.asarray(two, dtype=np.int64)
    both = (a >= 0) & (b >= 0)
    if not both.any():
        return nan
    a, b = a[both], b[both]
    width = int(max(a.max(), b.max())) + 1
    table = np.bincount(a * width + b, minlength=width * width).reshape(width, width) / len(a)
    chance = float(table.sum(axis=0) @ table.sum(axis=1))
    return _beyond_chance(float(np.trace(table)), chance)


def _beyond_chance(observed: float, chance: float) -> float:
    return (observed - chance) / (1 - chance) if chance < 1 else nan


def mean_cohen_kappa(judgements: ArrayLike) -> float:
    """The mean of Cohen's kappa over all pairs of people."""
    people = np.asarray(judgements, dtype=np.int64).T
    return _mean([cohen_kappa(one, two) for one, two in combinations(people, 2)], nan)


def _mean(values: Iterable[float], default: float) -> float:
    """The mean of those that are numbers."""
    known = [value for value in values if not isnan(value)]
    return float(np.mean(known)) if known else default


def fleiss_kappa(judgements: ArrayLike) -> float:
    """Agreement of several people beyond chance, over the items that two or more judged.

    Chance is the mean over items of the share of each value, which is Fleiss' own formula where
    each item is judged by the same number of people.
    """
    counts = _counts(np.asarray(judgements, dtype=np.int64))
    counts = counts[counts.sum(axis=1) >= 1]
    people = counts.sum(axis=1)
    several = people >= 2
    if not several.any():
        return nan
    same = (counts * (counts - 1)).sum(axis=1)[several]
    observed = float((same / (people * (people - 1))[several]).mean())
    shares = (counts / people[:, None]).mean(axis=0)
    return _beyond_chance(observed, float((shares**2).sum()))


def krippendorff_alpha(judgements: ArrayLike, level: Level = "nominal") -> float:
    """Agreement beyond chance of any number of people with gaps; for names, ranks or distances.

    NaN if nothing can be paired or everybody always says the same.
    """
    counts = _counts(np.asarray(judgements, dtype=np.int64))
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return nan
    weighted = counts / (counts.sum(axis=1, keepdims=True) - 1)
    coincidence = weighted.T @ counts - np.diag(weighted.sum(axis=0))
    totals = coincidence.sum(axis=1)
    distance = _distances(totals, level)
    observed = float((coincidence * distance).sum())
    expected = float((np.outer(totals, totals) * distance).sum()) / (float(totals.sum()) - 1)
    return 1 - observed / expected if expected > 0 else nan


def majority(judgements: ArrayLike, threshold: float = 0.5, *, strict: bool = True) -> Judgements:
    """The value that more than `threshold` of an item's judges gave, or -1; not strict, at least.

    VSR keeps an item if at least two thirds of its validators agree with its label: threshold=2/3,
    strict=False.
    """
    counts = _counts(np.asarray(judgements, dtype=np.int64))
    people = counts.sum(axis=1)
    top = counts.max(axis=1, initial=0)
    share = np.divide(top, people, out=np.zeros(len(top)), where=people > 0)
    least = threshold + 1e-12 if strict else threshold - 1e-12
    enough = share > least
    alone = (counts == top[:, None]).sum(axis=1) == 1
    return np.where(enough & alone & (people > 0), counts.argmax(axis=1), -1)


def human_ceiling(judgements: ArrayLike, gold: ArrayLike) -> float:
    """The mean accuracy of people, each over the items that they judged (VSR, section 2.5)."""
    matrix, truth = np.asarray(judgements, dtype=np.int64), np.asarray(gold, dtype=np.int64)
    made = matrix >= 0
    right = ((matrix == truth[:, None]) & made).sum(axis=0)
    judged = made.sum(axis=0)
    some = judged > 0
    return float((right[some] / judged[some]).mean()) if some.any() else nan


def best_mapping(judgements: ArrayLike, fine: int = 5, coarse: int = 3) -> Mapped:
    """The readings of a fine scale as a coarse one by which people agree most (SpaceNLI, 3.1).

    A reading keeps the order and uses every coarse value: cut points in the fine scale. All
    combinations are tried, or beyond a hundred thousand of them each person's is improved in turn
    until none gets better. Of readings that are equally good, the most even one is taken. The kappa
    is NaN where no two people can be compared.
    """
    matrix = np.asarray(judgements, dtype=np.int64)
    people = matrix.shape[1]
    readings = even_readings(fine, coarse)
    couples = list(combinations(range(people), 2))
    kappas: dict[tuple[int, int, int, int], float] = {}
    for (i, j), (a, b) in product(couples, product(range(len(readings)), repeat=2)):
        one, two = _read(matrix[:, i], readings[a]), _read(matrix[:, j], readings[b])
        kappas[i, j, a, b] = cohen_kappa(one, two)

    def kappa(chosen: Sequence[int]) -> float:
        return _mean([kappas[i, j, chosen[i], chosen[j]] for i, j in couples], nan)

    def worth(chosen: Sequence[int]) -> float:
        found = kappa(chosen)
        return -1.0 if isnan(found) else round(found, 12)  # rounded, so that equals are equal

    chosen = _best(worth, people, len(readings))
    return Mapped(tuple(readings[i] for i in chosen), kappa(chosen))


def even_readings(fine: int, coarse: int) -> list[tuple[int, ...]]:
    """Every way to cut a fine scale into a coarse one: for each fine value its coarse value.

    The most even first: both ends alike, then those with a narrow middle.

    >>> even_readings(4, 3)
    [(0, 1, 1, 2), (0, 1, 2, 2), (0, 0, 1, 2)]
    """
    found = []
    for cuts in combinations(range(1, fine), coarse - 1):
        found.append(tuple(np.searchsorted(cuts, np.arange(fine), side="right").tolist()))
    return sorted(found, key=_unevenness)


def _unevenness(reading: tuple[int, ...]) -> tuple[int, int]:
    low, high = reading.count(0), reading.count(max(reading))
    return abs(low - high), len(reading) - low - high


def disagreement(
    keys: Sequence[str],
    agree: ArrayLike,
    total: ArrayLike,
    *,
    threshold: float = 2 / 3,
    more_than: int = 0,
) -> list[Disagreement]:
    """The share of each key's items (a relation's) with which too few voters agree.

    An item without votes counts as excluded. Keys with no more than `more_than` items are left out
    (VSR's figure 8: 20). Sorted by the share excluded, highest first.
    """
    yes, votes = np.asarray(agree, dtype=float), np.asarray(total, dtype=float)
    kept = (votes > 0) & (yes >= threshold * votes - 1e-9)
    disputed = yes < votes
    names, code = np.unique(np.asarray(keys, dtype=object), return_inverse=True)
    count = np.bincount(code)
    out = np.bincount(code, weights=~kept) / count
    split = np.bincount(code, weights=disputed) / count
    rows = []
    for i, name in enumerate(names):
        if count[i] > more_than:
            rows.append(Disagreement(str(name), int(count[i]), float(out[i]), float(split[i])))
    return sorted(rows, key=lambda row: (-row.excluded, row.key))


def coded(judgements: Iterable[Sequence[str | None]]) -> tuple[Judgements, tuple[str, ...]]:
    """Judgements in words as a matrix of codes, and what the codes stand for; none is -1."""
    codes: dict[str | None, int] = {None: -1}
    rows = []
    for row in judgements:
        rows.append([codes.setdefault(word, len(codes) - 1) for word in row])
    words = tuple(word for word in codes if word is not None)
    return np.array(rows, dtype=np.int64), words


def landis_koch(kappa: float) -> str:
    """What Landis and Koch (1977) call an agreement of that strength.

    >>> landis_koch(0.895), landis_koch(0.71)
    ('almost perfect', 'substantial')
    """
    steps = {0.0: "poor", 0.2: "slight", 0.4: "fair", 0.6: "moderate", 0.8: "substantial"}
    return next((word for most, word in steps.items() if kappa <= most), "almost perfect")


def _best(worth: Callable[[Sequence[int]], float], people: int, readings: int) -> list[int]:
    if readings**people <= 100_000:
        every = [list(chosen) for chosen in product(range(readings), repeat=people)]
        return max(every, key=worth)
    alike = [[reading] * people for reading in range(readings)]
    chosen = max(alike, key=worth)  # the best that all share
    while True:
        before = worth(chosen)
        for person in range(people):
            others = [chosen.copy() for _ in range(readings)]
            for reading, other in enumerate(others):
                other[person] = reading
            chosen = max(others, key=worth)
        if worth(chosen) <= before:
            return chosen


def _read(values: Judgements, reading: tuple[int, ...]) -> Judgements:
    return np.array([*reading, -1])[values]


def _counts(matrix: Judgements) -> Floats:
    """[items, values] how many people gave each value."""
    width = int(matrix.max(initial=0)) + 1
    row, person = np.nonzero(matrix >= 0)
    flat = np.bincount(row * width + matrix[row, person], minlength=len(matrix) * width)
    return flat.reshape(len(matrix), width).astype(float)


def _distances(totals: Floats, level: Level) -> Floats:
    size = len(totals)
    if level == "nominal":
        return 1 - np.eye(size)
    if level == "interval":
        values = np.arange(size, dtype=float)
        return np.asarray((values[:, None] - values) ** 2)
    upto = np.cumsum(totals) - totals / 2
    return np.asarray((upto[:, None] - upto) ** 2)
