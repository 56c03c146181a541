"""How often answers are right: over items, over groups of them, and of two runs together."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Measure, PairMeasure
from gnomon.errors import UsageError
from gnomon.measures.columns import Codes, Floats, compact, first_rows
from gnomon.measures.statistics import Statistics, mean_of
from gnomon.measures.table import Table
from gnomon.measures.units import Units
from gnomon.records import Score


def accuracy(table: Table) -> Statistics:
    """The share of items answered with a right label; a failed or unread answer counts as wrong.

    An item that was answered several times counts by the share of its answers that are right.
    """
    return mean_of(table.credit, table.clusters)


class ErrorParts(NamedTuple):
    """Where the error of an accuracy comes from, if items were answered several times."""

    samples: float  # of an item, as a mean
    error: float
    answering: float  # the part that other answers to the same items would change
    items: float  # the part that remains however many samples are drawn


def error_parts(tables: Sequence[Table], error: float) -> ErrorParts | None:
    """Split the error of an accuracy, or of the difference of two, into items and answering.

    The variance of an item's mean over K samples, p(1 - p) / (K - 1), is that of answering alone.
    None where no item was answered twice.
    """
    variance = 0.0
    counts = []
    for table in tables:
        if table.samples is None:
            continue
        count, right = table.samples
        counts.append(float(count.mean()))
        several = count > 1
        of_items = right[several] * (1 - right[several]) / (count[several] - 1)
        variance += float(of_items.sum()) / len(table) ** 2
    if not counts:
        return None
    rest = max(0.0, error**2 - variance)
    return ErrorParts(max(counts), error, sqrt(variance), sqrt(rest))


def told_parts(parts: ErrorParts, what: str) -> str:
    """The parts of an error as a sentence."""
    samples = f"{parts.samples:.1f}".removesuffix(".0")
    whole, answering, items = (
        f"{100 * each:.1f}" for each in (parts.error, parts.answering, parts.items)
    )
    return (
        f"with {samples} samples an item the standard error of {what} is {whole} points: "
        f"{answering} from answering and {items} from items, which more samples would leave."
    )


def recognised_accuracy(table: Table) -> Statistics:
    """Accuracy among the items that have a readable answer.

    That is a label in the reply, or the objects found in the picture.
    """
    part = table.where(table.answered)
    return mean_of(part.right, part.clusters)


def recognised_share(table: Table) -> Statistics:
    """The share of items that have a readable answer."""
    return mean_of(table.answered, table.clusters)


def guessed_accuracy(table: Table) -> Statistics:
    """Accuracy if every item without an answer were guessed: the expected value.

    Spatial commonsense, section 4: figures on the full data complete unrecognised items with random
    guesses.
    """
    from gnomon.measures.chance import share_of_right

    return mean_of(np.where(table.answered, table.right, share_of_right(table)), table.clusters)


def guessed(table: Table, seed: int = 0) -> Table:
    """The table with a seeded guess where there is no answer: one draw, for any measure."""
    choices = (table.choices >= 0).sum(axis=1)
    drawn_share = np.random.default_rng(seed).random(len(table))
    place = (drawn_share * choices).astype(np.int64)
    drawn = table.choices[np.arange(len(table)), place]
    return replace(
        table,
        choice=np.where(table.answered, table.choice, drawn),
        picked=np.where(table.answered, table.picked, place),
        failed=np.zeros(len(table), dtype=bool),
        samples=None,
    )


ACCURACY = Measure(name="accuracy", statistics=accuracy, guessable=True)
RECOGNISED_ACCURACY = Measure(name="recognised_accuracy", statistics=recognised_accuracy)
RECOGNISED_SHARE = Measure(name="recognised_share", statistics=recognised_share)
GUESSED_ACCURACY = Measure(name="guessed_accuracy", statistics=guessed_accuracy)


# Items by group: what templates, patterns and pairs are measured by.
#
# Figures of whole groups (such as pattern accuracy) mean little if a group has only a few items:
# with 4, "90 % of them right" is the same as "all of them right"; with 1 it is plain accuracy.


FEWEST = 5  # pairs, triples or groups of items that a figure may be a share of
LEAST_ITEMS = 10  # items of a group, for measures that ask whether a whole group is right


class Groups(NamedTuple):
    """The groups of a table in order of their codes; an item without a group is a group of one."""

    of: Codes  # the group of each row
    first: Codes  # a row of each group
    size: Codes
    right: Codes
    clusters: Units  # the units that each group belongs to

    @property
    def share(self) -> Floats:
        """The accuracy of each group."""
        return np.asarray(self.right / self.size)


def groups(table: Table) -> Groups:
    """The groups of a table."""
    of, count = compact(table.group.codes)
    size = np.bincount(of, minlength=count)
    right = np.bincount(of[table.right], minlength=count)
    first = first_rows(of, count)
    return Groups(of, first, size, right, table.clusters[first])


def items_per_group(table: Table) -> float:
    """How many items a group has on average; 0 for an empty table."""
    if not len(table):
        return 0.0
    return len(table) / len(groups(table).size)


def items_each(table: Table) -> str:
    """How many items the groups have, in words.

    >>> items_each(Table.of([]))
    '0 items each'
    """
    sizes = groups(table).size
    if not len(sizes):
        return "0 items each"
    if int(sizes.min()) == int(sizes.max()):
        return f"{int(sizes[0]):,} items each"
    mean = items_per_group(table)
    return f"about {mean:,.0f} items each" if mean >= 10 else f"about {mean:.1f} items each"


def least_size(measure: str) -> int:
    """How many items a group needs before the measure of that name says something, or 0.

    >>> least_size("pattern_accuracy@0.95"), least_size("accuracy")
    (20, 0)
    """
    from gnomon.registry import measure as named

    return named(measure).least_group


def large_enough(measure: str, table: Table) -> bool:
    """Whether the groups of a table are large enough for the measure of that name."""
    least = least_size(measure)
    return not least or items_per_group(table) >= least


def enough_units(score: Score, table: Table) -> bool:
    """Whether a figure is a share of items, or of enough pairs, triples or groups of them."""
    return score.n >= min(FEWEST, len(table))


# spatialQA's two accuracies: over templates, with and without partial credit (section 4).
#
# A template is a group. The overall figures are means of the category figures, so a small
# category counts as much as a large one; in the published code a row is right if its answer is
# one of the labels that its gold names.


CATEGORY = "category"  # the tag


def partial_credit(table: Table) -> Statistics:
    """Mean accuracy of templates, averaged over categories."""
    found = groups(table)
    return _over_categories(table, found, found.share)


def without_partial_credit(table: Table) -> Statistics:
    """Share of templates whose items are all right, averaged over categories."""
    found = groups(table)
    return _over_categories(table, found, (found.right == found.size).astype(float))


def _over_categories(table: Table, found: Groups, value: Floats) -> Statistics:
    codes, names = _category(table)
    category = codes[found.first]
    columns = np.zeros((len(found.size), 2 * len(names)))
    columns[np.arange(len(category)), 2 * category] = value
    columns[np.arange(len(category)), 2 * category + 1] = 1
    return Statistics.of(found.clusters, columns, _mean_of_means, n=len(table))


def _mean_of_means(sums: Floats) -> Floats:
    total, count = sums[..., ::2], sums[..., 1::2]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = total / count
        there = (count > 0).sum(axis=-1)
        return np.asarray(np.nansum(means, axis=-1) / there)


def _category(table: Table) -> tuple[Codes, tuple[str, ...]]:
    if CATEGORY not in table.tags:
        return np.zeros(len(table), dtype=np.int64), ("",)
    column = table.tags[CATEGORY]
    return np.where(column.codes < 0, len(column.values), column.codes), (*column.values, "")


PARTIAL_CREDIT = Measure(
    name="partial_credit",
    statistics=partial_credit,
    guessable=True,
    needs=frozenset({"groups"}),
)
WITHOUT_PARTIAL_CREDIT = Measure(
    name="without_partial_credit",
    statistics=without_partial_credit,
    least_group=LEAST_ITEMS,
    needs=frozenset({"groups"}),
)


# SpaceNLI's pattern accuracy and its curve (section 4.2.2), and the data map (section 4.3).
#
# PA_t is the share of patterns with at least t of their samples right. The area under its curve
# is the mean accuracy of patterns, hence plain accuracy where all patterns have the same number
# of samples.


class PatternCurve(NamedTuple):
    """Pattern accuracy: `share[i]` holds for thresholds up to `threshold[i]`."""

    threshold: Floats
    share: Floats

    @property
    def area(self) -> float:
        """The area under the curve from 0 to 1."""
        return float((np.diff(self.threshold, prepend=0.0) * self.share).sum())


class MapPoint(NamedTuple):
    """A pattern in the data map: how sure the model is, and how that varies over samples."""

    pattern: str
    confidence: float  # mean probability of the right labels
    variability: float  # population standard deviation of it
    correctness: float  # share of samples answered right
    n: int


def pattern_accuracy(threshold: str) -> Measure:
    """The measure "pattern_accuracy@T", for T between 0 and 1.

    >>> pattern_accuracy("0.95").name
    'pattern_accuracy@0.95'
    """
    try:
        least = float(threshold)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise UsageError(
            f"pattern_accuracy@{threshold}: the threshold must be a number between 0 and 1.",
            "For example pattern_accuracy@0.95.",
        )
    return Measure(
        name=f"pattern_accuracy@{threshold}",
        needs=frozenset({"groups"}),
        least_group=_least_group(least),
        summary=f"share of patterns with at least {least:.0%} of their items right",
        statistics=lambda table: _pattern_accuracy(table, least),
    )


def _least_group(threshold: float) -> int:
    """So many items of a pattern that one may be wrong and the threshold still be reached."""
    if threshold == 1:
        return LEAST_ITEMS
    return max(LEAST_ITEMS, ceil(1 / (1 - threshold) - 1e-9))


def pattern_accuracy_auc(table: Table) -> Statistics:
    """The area under the pattern accuracy curve: the mean over patterns of their accuracy."""
    found = groups(table)
    return mean_of(found.share, found.clusters, n=len(table))


def curve(table: Table) -> PatternCurve:
    """The whole pattern accuracy curve, exactly: from 0 to 1 in the steps that occur."""
    steps = np.union1d(groups(table).share, [1.0])
    steps = steps[steps > 0]
    return PatternCurve(steps, curve_at(table, steps))


def curve_at(table: Table, thresholds: Floats) -> Floats:
    """Pattern accuracy at the given thresholds."""
    share = np.sort(groups(table).share)
    least = _below(np.asarray(thresholds, dtype=float))
    at_least = len(share) - np.searchsorted(share, least, side="left")
    return np.asarray(at_least / max(1, len(share)))


def data_map(table: Table) -> list[MapPoint]:
    """Confidence and variability of each pattern.

    As in Swayamdipta et al. 2020, but over samples instead of epochs.

    Items without usable scores are left out of both; a pattern without any has NaN.
    """
    found = groups(table)
    sure = (table.probabilities * table.gold_at).sum(axis=1)
    known = ~np.isnan(sure)
    pattern, sure = found.of[known], sure[known]
    patterns = len(found.size)
    count = np.bincount(pattern, minlength=patterns)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(pattern, weights=sure, minlength=patterns) / count
        away = (sure - mean[pattern]) ** 2
        spread = np.sqrt(np.bincount(pattern, weights=away, minlength=patterns) / count)
    names = table.group.text()
    points = []
    for i, row in enumerate(found.first.tolist()):
        name = names[row] or str(table.ids[row])
        share, size = float(found.share[i]), int(found.size[i])
        points.append(MapPoint(name, float(mean[i]), float(spread[i]), share, size))
    return points


def _pattern_accuracy(table: Table, least: float) -> Statistics:
    found = groups(table)
    return mean_of(found.share >= _below(np.array(least)), found.clusters, n=len(table))


def _below(threshold: Floats) -> Floats:
    """A hair below the threshold, so that 19 of 20 reaches 0.95 whatever the last bit is."""
    return np.asarray(threshold - 1e-9)


PATTERN_ACCURACY_AUC = Measure(
    name="pattern_accuracy_auc",
    statistics=pattern_accuracy_auc,
    needs=frozenset({"groups"}),
)


# How two runs agree on the items that both were asked: two models, or a model and people.


def agreement(first: Table, second: Table) -> Statistics:
    """The share of items that both answer alike; a missing answer agrees with nothing."""
    same = (first.picked == second.picked) & (first.picked >= 0)
    return mean_of(same, first.clusters)


def both_right(first: Table, second: Table) -> Statistics:
    """The share of items that both get right."""
    return mean_of(first.right & second.right, first.clusters)


AGREEMENT = PairMeasure(name="agreement", statistics=agreement)
BOTH_RIGHT = PairMeasure(name="both_right", statistics=both_right)
