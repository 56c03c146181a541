"""Agreement of people: kappas, alpha, majorities, a ceiling, and coarser readings of a scale.

Judgements are a matrix [items, people] of small integers; -1 is a judgement that was not made.
Figures with an interval are sums over items and a formula on them (`statistics`), or, for the mean
over pairs of people, the influence of each item on it. The tests compare them with scikit-learn,
statsmodels and krippendorff.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from math import isnan, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.measures.columns import Floats
from gnomon.measures.statistics import Statistics, mean_of, ratio
from gnomon.measures.units import Units
from gnomon.records import digest

Judgements = NDArray[np.int64]
Flags = NDArray[np.bool_]
KAPPA = (-1.0, 1.0)  # the bounds of everything that is corrected for chance


class ScaleReading(NamedTuple):
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
    if chance >= 1:
        return nan
    return (float(np.trace(table)) - chance) / (1 - chance)


def mean_cohen_kappa(judgements: ArrayLike) -> float:
    """The mean of Cohen's kappa over all pairs of people."""
    people = np.asarray(judgements, dtype=np.int64).T
    return _mean([cohen_kappa(one, two) for one, two in combinations(people, 2)], nan)


def _mean(values: Iterable[float], default: float) -> float:
    """The mean of those that are numbers."""
    known = [value for value in values if not isnan(value)]
    return float(np.mean(known)) if known else default


def majority(judgements: ArrayLike, threshold: float = 0.5, *, strict: bool = True) -> Judgements:
    """The value that more than `threshold` of an item's judges gave, or -1; not strict, at least.

    VSR keeps an item if at least two thirds of its validators agree with its label: threshold=2/3,
    strict=False.
    """
    counts = vote_counts(np.asarray(judgements, dtype=np.int64))
    people = counts.sum(axis=1)
    top = counts.max(axis=1, initial=0)
    share = np.divide(top, people, out=np.zeros(len(top)), where=people > 0)
    least = threshold + 1e-12 if strict else threshold - 1e-12
    enough = share > least
    alone = (counts == top[:, None]).sum(axis=1) == 1
    return np.where(enough & alone & (people > 0), counts.argmax(axis=1), -1)


def best_mapping(judgements: ArrayLike, fine: int = 5, coarse: int = 3) -> ScaleReading:
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
    return ScaleReading(tuple(readings[i] for i in chosen), kappa(chosen))


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


def pairwise_agreement(counts: Floats, units: Units) -> Statistics:
    """The share of pairs of people who say the same, mean over items with two votes or more."""
    several = counts.sum(axis=1) >= 2
    return mean_of(_agreeing(counts[several]), units[several])


def _agreeing(counts: Floats) -> Floats:
    """For each item the share of pairs of its votes that agree."""
    voters = counts.sum(axis=1)
    same = (counts * (counts - 1)).sum(axis=1)
    return np.asarray(same / (voters * (voters - 1)))


def fleiss(counts: Floats, units: Units) -> Statistics:
    """Fleiss' kappa, also where items have different numbers of votes.

    Chance is the mean over items of the share of each label; with equally many votes on each item
    this is Fleiss' own formula.
    """
    voters = counts.sum(axis=1)
    some = voters >= 1
    counts, voters = counts[some], voters[some]
    several = voters >= 2
    agreeing = np.zeros(len(counts))
    agreeing[several] = _agreeing(counts[several])
    ones = np.ones(len(counts))
    shares = counts / voters[:, None]
    columns = np.column_stack([agreeing, several, ones, shares])

    def finish(sums: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = sums[..., 0] / sums[..., 1]
            chance = ((sums[..., 3:] / sums[..., 2:3]) ** 2).sum(axis=-1)
            return _beyond(observed, chance)

    n = int(several.sum())
    return Statistics.of(units[some], columns, finish, n=n, bounds=KAPPA)


def _beyond(observed: Floats, chance: Floats) -> Floats:
    """How much of what chance leaves is agreed on; NaN where chance leaves nothing."""
    room = 1 - chance
    return np.asarray(np.where(room > 1e-12, (observed - chance) / room, np.nan))


def nominal_alpha(counts: Floats, units: Units) -> Statistics:
    """Krippendorff's alpha of labels without an order."""
    several = counts.sum(axis=1) >= 2
    counts = counts[several]
    voters = counts.sum(axis=1)
    same = (counts * (counts - 1)).sum(axis=1) / (voters - 1)
    columns = np.column_stack([same, counts])

    def finish(sums: Floats) -> Floats:
        of_labels = sums[..., 1:]
        total = of_labels.sum(axis=-1)
        observed = total - sums[..., 0]
        expected = (total**2 - (of_labels**2).sum(axis=-1)) / (total - 1)
        return _one_less(observed, expected)

    return Statistics.of(units[several], columns, finish, bounds=KAPPA)


def _one_less(observed: Floats, expected: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(expected > 1e-12, 1 - observed / expected, np.nan))


def ordinal_alpha(points: Judgements, units: Units, size: int) -> Statistics:
    """Krippendorff's alpha of points of a scale: being one point apart is no great matter."""
    counts = vote_counts(points, size)
    several = counts.sum(axis=1) >= 2
    counts = counts[several]
    weighted = counts / (counts.sum(axis=1, keepdims=True) - 1)
    together = weighted[:, :, None] * counts[:, None, :]
    place = np.arange(size)
    together[:, place, place] -= weighted

    def finish(sums: Floats) -> Floats:
        coincidence = sums.reshape(*sums.shape[:-1], size, size)
        totals = coincidence.sum(axis=-1)
        distance = _rank_distances(totals)
        observed = (coincidence * distance).sum(axis=(-1, -2))
        products = totals[..., :, None] * totals[..., None, :]
        expected = (products * distance).sum(axis=(-1, -2)) / (totals.sum(axis=-1) - 1)
        return _one_less(observed, expected)

    columns = together.reshape(len(counts), size * size)
    return Statistics.of(units[several], columns, finish, bounds=KAPPA)


def _rank_distances(totals: Floats) -> Floats:
    """The squared difference of mean ranks of each two points (Krippendorff 2011, ordinal)."""
    ranks = np.cumsum(totals, axis=-1) - totals / 2
    return np.asarray((ranks[..., :, None] - ranks[..., None, :]) ** 2)


def vote_counts(judgements: Judgements, size: int | None = None) -> Floats:
    """[items, values] how many people gave each value, of so many or of those that occur."""
    if size is None:
        size = int(judgements.max(initial=0)) + 1
    row, person = np.nonzero(judgements >= 0)
    place = row * size + judgements[row, person]
    flat = np.bincount(place, minlength=len(judgements) * size)
    return flat.reshape(len(judgements), size).astype(float)


def mean_cohen(said: Judgements, units: Units) -> Statistics:
    """The mean of Cohen's kappa over pairs of people, weighted by the items that a pair shares.

    Where all people judge all items this is the plain mean. Its error comes from the influence of
    each item, as if the figure were the mean of them.
    """
    moved = np.zeros(len(said))
    weights, kappas = [], []
    judged = np.zeros(len(said), dtype=bool)
    for one, two in combinations(range(said.shape[1]), 2):
        both = np.flatnonzero((said[:, one] >= 0) & (said[:, two] >= 0))
        kappa = cohen_kappa(said[both, one], said[both, two])
        if np.isnan(kappa):
            continue
        moved[both] += _influence(said[both, one], said[both, two], kappa)
        judged[both] = True
        weights.append(len(both))
        kappas.append(kappa)
    if not weights:
        return mean_of(np.zeros(0), units[np.zeros(0, dtype=np.int64)], bounds=KAPPA)
    mean = float(np.average(kappas, weights=weights))
    rows = np.flatnonzero(judged)
    influence = moved[rows] / sum(weights)
    return mean_of(mean + len(rows) * influence, units[rows], bounds=KAPPA)


def _influence(one: Judgements, two: Judgements, kappa: float) -> Floats:
    """How far each item moves the kappa of two people, times the number of items: sums to 0."""
    n = len(one)
    width = int(max(one.max(), two.max())) + 1
    of_one = np.bincount(one, minlength=width) / n
    of_two = np.bincount(two, minlength=width) / n
    chance = float(of_one @ of_two)
    by_chance = of_two[one] + of_one[two] - 2 * chance
    same = (one == two) - float((one == two).mean())
    return np.asarray((same - (1 - kappa) * by_chance) / (1 - chance))


def mean_over_people(good: Flags, judged: Flags, units: Units) -> Statistics:
    """The mean over people of the share of what they judged that is good: both [items, people]."""
    rows = np.flatnonzero(judged.any(axis=1))
    people = np.flatnonzero(judged.any(axis=0))
    width = len(people)
    cells = np.ix_(rows, people)
    columns = np.column_stack([good[cells] & judged[cells], judged[cells]]).astype(float)

    def finish(sums: Floats) -> Floats:
        both = np.stack([sums[..., :width], sums[..., width:]], axis=-1)
        return np.asarray(ratio(both).mean(axis=-1))

    return Statistics.of(units[rows], columns, finish, n=len(rows))


def label_of_most(item: str, labels: Sequence[str], counts: Sequence[int]) -> str | None:
    """The label with most votes; among several, one drawn by the item's id. None without votes.

    >>> label_of_most("1", ["false", "true"], [1, 2]), label_of_most("1", ["a", "b"], [0, 0])
    ('true', None)
    """
    most = max(counts, default=0)
    if most <= 0:
        return None
    tied = [label for label, count in zip(labels, counts, strict=True) if count == most]
    place = int(digest(item), 16) % len(tied)
    return sorted(tied)[place]
