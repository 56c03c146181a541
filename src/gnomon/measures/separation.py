"""Do scores tell true statements from false ones: overall, and within contrastive pairs.

All read how much a model prefers "true" (or "yes") to its opposite. That needs no threshold, so a
model that says "true" too readily can still be seen to know. A pair holds the tag `pair`: one
statement of two pictures, true of one of them. A quad is a group of two such pairs, whose pictures
are the same two the other way round: the tag `against` says what the other statement says.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Measure, Need
from gnomon.measures.columns import Codes, Floats, compact
from gnomon.measures.laws import NO, YES
from gnomon.measures.statistics import Statistics, mean_of, ratio
from gnomon.measures.table import Flags, Table

PAIR, AGAINST, WAY = "pair", "against", "way"  # tags
NOISE = 1e-5  # scores of one question asked twice differ by less: such a difference is a tie


class ContrastPairs(NamedTuple):
    """The rows of each pair that was asked as a whole: where the statement is true, and false."""

    true: Codes
    false: Codes


def auc(table: Table) -> Statistics:
    """The area under the ROC curve: how often a true statement scores higher than a false one.

    Ties count half. Each row counts by its placement among the rows of the other label, and every
    pair of rows is in two placements, of a true one and a false one: the error is DeLong's (1988),
    over whatever units the rows share. Rows without usable scores are left out.
    """
    preference, is_true = preferences(table)
    known = ~np.isnan(preference)
    part = table.where(known)
    preference, is_true = preference[known], is_true[known]
    preference = np.round(preference / NOISE)

    columns = np.zeros((len(part), 4))
    columns[is_true, 0] = _share_below(preference[is_true], preference[~is_true])
    columns[is_true, 1] = 1
    columns[~is_true, 2] = 1 - _share_below(preference[~is_true], preference[is_true])
    columns[~is_true, 3] = 1
    return Statistics.of(part.clusters, columns, _mean_of_both, error_times=2)


def pair_image(table: Table) -> Statistics:
    """The share of pairs in which the picture that the statement is true of scores higher.

    Ties count half; a pair without usable scores counts as missed.
    """
    preference, _ = preferences(table)
    pairs = whole_pairs(table)
    true, false = preference[pairs.true], preference[pairs.false]
    equal = np.abs(true - false) <= NOISE  # no comparison with NaN holds
    better = ((true > false) & ~equal) + 0.5 * equal
    return mean_of(better, table.clusters[pairs.true])


def pair_right(table: Table) -> Statistics:
    """The share of pairs whose two halves are both answered right."""
    pairs = whole_pairs(table)
    both = table.right[pairs.true] & table.right[pairs.false]
    return mean_of(both, table.clusters[pairs.true])


def quad_text(table: Table) -> Statistics:
    """The share of quads in which each picture's own statement scores above the other one.

    Winoground's text score (Thrush et al. 2022): ties count as missed.
    """
    return _of_quads(table, lambda own: own.texts)


def quad_image(table: Table) -> Statistics:
    """The share of quads in which each statement's own picture scores above the other one."""
    return _of_quads(table, lambda own: own.pictures)


def quad_group(table: Table) -> Statistics:
    """The share of quads in which both hold."""
    return _of_quads(table, lambda own: own.texts & own.pictures)


class QuadsWon(NamedTuple):
    """For each quad whether what belongs together scores highest."""

    texts: Flags  # of the two statements, for both pictures
    pictures: Flags  # of the two pictures, for both statements


def _of_quads(table: Table, won: Callable[[QuadsWon], Flags]) -> Statistics:
    preference, _ = preferences(table)
    one, other = whole_quads(table)

    def above(some: Codes, others: Codes) -> Flags:
        return np.asarray(preference[some] - preference[others] > NOISE)  # never with NaN

    texts = above(one.true, other.false) & above(other.true, one.false)
    pictures = above(one.true, one.false) & above(other.true, other.false)
    return mean_of(won(QuadsWon(texts, pictures)), table.clusters[one.true])


def whole_quads(table: Table) -> tuple[ContrastPairs, ContrastPairs]:
    """The two pairs of each quad that was asked as a whole, in one way."""
    pairs = whole_pairs(table)
    said = table.tags.get(AGAINST)
    if said is None:
        nothing = np.zeros(0, dtype=np.int64)
        return ContrastPairs(nothing, nothing), ContrastPairs(nothing, nothing)
    keys = compact(table.group.codes)[0].astype(np.int64)
    if WAY in table.tags:
        ways = table.tags[WAY]
        keys = keys * (len(ways.values) + 1) + ways.codes + 1
    keys = np.where(said.codes >= 0, keys, -1)[pairs.true]
    values, counts = np.unique(keys, return_counts=True)
    wanted = values[(counts == 2) & (values >= 0)]
    places = np.flatnonzero(np.isin(keys, wanted))
    places = places[np.argsort(keys[places], kind="stable")]
    first, second = places[::2], places[1::2]
    return (
        ContrastPairs(pairs.true[first], pairs.false[first]),
        ContrastPairs(pairs.true[second], pairs.false[second]),
    )


def preferences(table: Table) -> tuple[Floats, Flags]:
    """For each row how much the model prefers "true" to "false", and whether it is true.

    Log-probabilities are subtracted, probabilities divided by their sum; NaN where that cannot be
    done, or where the choices are not these two.
    """
    place = _place_of_true(table)[table.kind]
    is_true: Flags = table.gold_at[np.arange(len(table)), place]
    if table.scores is None:
        return np.full(len(table), np.nan), is_true

    rows = np.arange(len(table))
    true, false = table.scores[rows, place], table.scores[rows, 1 - place]
    with np.errstate(invalid="ignore", divide="ignore"):
        if table.scale == "log-probability":
            preference = true - false
        else:
            preference = true / (true + false)
    return np.where(place >= 0, preference, np.nan), is_true


def asks_for_truth(table: Table) -> bool:
    """Whether some item has the choices true and false, or yes and no."""
    return bool((_place_of_true(table)[table.kind] >= 0).any())


def whole_pairs(table: Table) -> ContrastPairs:
    """The pairs of which both halves were asked, one true and one false."""
    if PAIR not in table.tags:
        nothing = np.zeros(0, dtype=np.int64)
        return ContrastPairs(nothing, nothing)

    column = table.tags[PAIR]
    # groups keep apart what runs of several seeds have in common
    groups = compact(table.group.codes)[0].astype(np.int64)
    keys = groups * (len(column.values) + 1) + column.codes
    place = _place_of_true(table)[table.kind]
    asked = (column.codes >= 0) & (place >= 0)
    is_true = table.gold_at[np.arange(len(table)), place]
    true, false = np.flatnonzero(asked & is_true), np.flatnonzero(asked & ~is_true)

    once = np.intersect1d(_unrepeated(keys[true]), _unrepeated(keys[false]))
    return ContrastPairs(_rows_of(once, keys, true), _rows_of(once, keys, false))


def _unrepeated(keys: Codes) -> Codes:
    values, counts = np.unique(keys, return_counts=True)
    return np.asarray(values[counts == 1], dtype=np.int64)


def _rows_of(wanted: Codes, keys: Codes, rows: Codes) -> Codes:
    """The row of each wanted key, in their order."""
    mine = rows[np.isin(keys[rows], wanted)]
    return np.asarray(mine[np.argsort(keys[mine])], dtype=np.int64)


def _place_of_true(table: Table) -> Codes:
    """For each kind of item the place of "true" among its two choices; -1 if they are others."""
    places = []
    for codes in table.kinds.choices:
        labels = [table.labels[code].lower() for code in codes[codes >= 0].tolist()]
        places.append(_place_among(labels))
    return np.array(places, dtype=np.int64)


def _place_among(labels: list[str]) -> int:
    if len(labels) != 2:
        return -1
    for place in (0, 1):
        if labels[place] in YES and labels[1 - place] in NO:
            return place
    return -1


def _share_below(values: Floats, others: Floats) -> Floats:
    """For each value the share of the others that lie below it; equal ones count half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, values, side="left")
    up_to = np.searchsorted(ordered, values, side="right")
    return np.asarray((below + up_to) / 2 / max(1, len(others)))


def _mean_of_both(sums: Floats) -> Floats:
    """The mean placement of true rows and that of false rows: both are the area."""
    return np.asarray((ratio(sums[..., :2]) + ratio(sums[..., 2:])) / 2)


AUC = Measure(name="auc", statistics=auc, needs=frozenset({"scores", "truth"}), chance=0.5)
PAIR_IMAGE = Measure(
    name="pair_image",
    statistics=pair_image,
    needs=frozenset({"scores", "pairs"}),
    chance=0.5,
)
PAIR_RIGHT = Measure(
    name="pair_right",
    statistics=pair_right,
    needs=frozenset({"pairs"}),
    chance=0.25,
)
_QUADS: frozenset[Need] = frozenset({"scores", "quads"})
QUAD_TEXT = Measure(name="quad_text", statistics=quad_text, needs=_QUADS, chance=0.25)
QUAD_IMAGE = Measure(name="quad_image", statistics=quad_image, needs=_QUADS, chance=0.25)
QUAD_GROUP = Measure(name="quad_group", statistics=quad_group, needs=_QUADS, chance=1 / 6)
