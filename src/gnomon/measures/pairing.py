"""The items that two runs share, row by row the same."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.contracts import Measure
from gnomon.errors import UsageError
from gnomon.measures.columns import Codes, Floats
from gnomon.measures.statistics import Statistics, looked_at
from gnomon.measures.table import Flags, Table

# The same items with choices in another order: joined by the choices' texts, never by place.
#
# A run may ask an item with its choices permuted. Picks and scores are kept by place, so that two
# such tables are brought into one order before they are compared.


def _in_order_of(one: Table, two: Table) -> Table:
    """The second table with the choices of each item in the order of the first.

    Row by row they hold the same items, with one vocabulary. Where the choices are not the same,
    or other ones are right, the second table is given as it is.
    """
    mine, theirs = _same_width(one.choices, two.choices, -1)
    if (mine == theirs).all():
        return two
    places = _places(mine, theirs)
    if places is None:
        return two
    right = np.zeros(places.shape, dtype=bool)
    np.put_along_axis(right, places[:, : two.gold_at.shape[1]], two.gold_at, axis=1)
    ours, _ = _same_width(one.gold_at, right, False)
    if (right != ours).any():
        return two

    scores = two.scores
    if scores is not None:
        scores = _moved(scores, places)[:, : one.choices.shape[1]]
    picked = np.where(two.picked >= 0, places[np.arange(len(two)), two.picked], -1)
    return replace(two, picked=picked, kind=one.kind, kinds=one.kinds, scores=scores)


def _moved(scores: Floats, places: NDArray[np.int64]) -> Floats:
    """The scores, each at the place where its choice now stands."""
    found = np.full(places.shape, np.nan)
    np.put_along_axis(found, places[:, : scores.shape[1]], scores, axis=1)
    return found


def _relabelled(table: Table, labels: tuple[str, ...]) -> Table:
    """The table with codes into these labels, which hold its own."""
    code = {label: number for number, label in enumerate(labels)}
    new = np.array([code[label] for label in table.labels] + [-1])
    kinds = table.kinds._replace(choices=new[table.kinds.choices])
    return replace(table, labels=labels, choice=new[table.choice], kinds=kinds)


def _same_width(one: NDArray[Any], two: NDArray[Any], fill: int) -> tuple[NDArray[Any], ...]:
    """Two matrices, the narrower one filled up."""
    width = max(one.shape[1], two.shape[1])
    found = []
    for each in (one, two):
        missing = (0, 0), (0, width - each.shape[1])
        found.append(np.pad(each, missing, constant_values=fill))
    return tuple(found)


def _places(mine: Codes, theirs: Codes) -> NDArray[np.int64] | None:
    """For each place of theirs the place of the same choice in mine; none if any differs."""
    order, other = np.argsort(mine, axis=1), np.argsort(theirs, axis=1)
    ours = np.take_along_axis(mine, order, axis=1)
    if not (ours == np.take_along_axis(theirs, other, axis=1)).all():
        return None
    found = np.empty(mine.shape, dtype=np.int64)
    np.put_along_axis(found, other, order, axis=1)
    return found


class NothingSharedError(UsageError):
    """Two tables have no item in common."""


def paired(one: Table, two: Table, measure: Measure) -> tuple[Statistics, Statistics]:
    """A measure's statistics for both tables over the items they share, cell by cell.

    A measure that leaves items out (those without an answer, or without scores) is taken over the
    items that it leaves out for neither model: anything else would compare them on different
    questions.
    """
    one, two = aligned(one, two)
    keep = np.ones(len(one), dtype=bool)
    for usable in (_answered, _scored):
        if any(_leaves_out(measure, table, usable(table)) for table in (one, two)):
            keep &= usable(one) & usable(two)
    if not keep.all():
        one, two = one.where(keep), two.where(keep)
    looked = max(one.about.looked, two.about.looked)
    a = looked_at(measure.statistics(one), looked)
    b = looked_at(measure.statistics(two), looked)
    if not _same_cells(a, b):
        raise UsageError(
            f"{measure.name} cannot be compared here: it is over different items for {one.model} "
            f"and {two.model}.",
            "Compare by accuracy.",
        )
    return a, b


def _same_cells(one: Statistics, two: Statistics) -> bool:
    if one.sums.shape != two.sums.shape:
        return False
    shared = zip(chain(*one.kinds), chain(*two.kinds), strict=True)
    return all(np.array_equal(mine.of_cells, theirs.of_cells) for mine, theirs in shared)


def _leaves_out(measure: Measure, table: Table, usable: Flags) -> bool:
    """Whether the measure passes over items that are not usable: without them it is the same."""
    if usable.all() or not usable.any():
        return False
    whole, part = measure.statistics(table), measure.statistics(table.where(usable))
    same = whole.n == part.n and whole.clusters == part.clusters
    return same and bool(np.isclose(whole.value, part.value, rtol=1e-12))


def aligned(one: Table, two: Table) -> tuple[Table, Table]:
    """Both tables on their common items in one order, with one vocabulary.

    Items whose ids agree but whose wordings do not are different questions, and left out.
    """
    if one.benchmark.partition("@")[0] != two.benchmark.partition("@")[0]:
        raise UsageError(
            f"{one.model} answered {one.benchmark}, {two.model} {two.benchmark}.",
            "Compare runs on the same benchmark.",
        )
    one, two = _on_same_items(one, two)
    if not len(one):
        raise NothingSharedError(
            f"The runs of {one.model} and {two.model} on {one.benchmark} share no items.",
            "Make both with the same seed, options and data.",
        )
    labels = tuple(dict.fromkeys([*one.labels, *two.labels]))
    one, two = _relabelled(one, labels), _relabelled(two, labels)
    two = _in_order_of(one, two)
    _check(one, two)
    one, two = one.judged, two.judged
    if not len(one):
        raise NothingSharedError(
            f"The items of {one.benchmark} that these runs share name no right answers.",
            "Judge what the models made first: there is nothing yet to compare.",
        )
    second = replace(
        one,
        choice=two.choice,
        picked=two.picked,
        failed=two.failed,
        scores=two.scores,
        scale=two.scale,
        samples=two.samples,
        about=two.about,
    )
    return one, second


def _on_same_items(one: Table, two: Table) -> tuple[Table, Table]:
    if not _same_ids(one, two):
        place = {name: row for row, name in enumerate(two.ids.tolist())}
        rows = np.array([place.get(name, -1) for name in one.ids.tolist()], dtype=np.int64)
        one, two = one.where(np.flatnonzero(rows >= 0)), two.where(rows[rows >= 0])
    if _wordings_matter([one, two]):
        same = _hashes(one) == _hashes(two)
        if not same.all():
            one, two = one.where(same), two.where(same)
    return one, two


def _same_ids(one: Table, two: Table) -> bool:
    return len(one) == len(two) and bool((one.ids == two.ids).all())


def boards(tables: Sequence[Table]) -> list[list[int]]:
    """Which tables can stand on one leaderboard, as places in `tables`, each list in their order.

    They have at least half of the smaller one's items in common, directly or through others.
    """
    if _alike(tables):
        return [list(range(len(tables)))]
    keys = list(map(set, _keys(tables)))
    found: list[list[int]] = []
    for i in range(len(tables)):
        merged, others = [i], []
        for board in found:
            if any(_overlap(keys[i], keys[j]) for j in board):
                merged += board
            else:
                others.append(board)
        found = [*others, sorted(merged)]
    return sorted(found)


def same_items(tables: Sequence[Table]) -> list[list[int]]:
    """Which tables were asked just the same items, as places in `tables`; most items first.

    Neither the order of the items nor that of their choices makes them others. Items that name no
    right answer do not count.
    """
    tables = [table.judged for table in tables]
    selected: dict[Any, list[int]] = {}
    for place, table in enumerate(tables):
        selected.setdefault(_selection(table, place), []).append(place)
    if len(selected) == 1:  # as usual: nothing need be read of a million items
        return list(selected.values())

    asked: dict[bytes, list[list[int]]] = {}
    for members in selected.values():
        asked.setdefault(_digest_of_ids(tables[members[0]]), []).append(members)

    found: list[list[int]] = []
    for sets in asked.values():
        found += _with_same_wordings(tables, sets)
    return sorted(found, key=lambda members: -len(tables[members[0]]))


def _selection(table: Table, place: int) -> Any:
    """What only tables of the same items have; not all of those have it."""
    if table.numbers is None or not table.about.digest:
        return place
    return table.about.digest, table.numbers.tobytes()


def _with_same_wordings(tables: Sequence[Table], sets: list[list[int]]) -> list[list[int]]:
    """Sets of tables with the same ids, joined where these mean the same questions."""
    if not _wordings_matter([tables[members[0]] for members in sets]):
        return [sorted(chain(*sets))]
    found: dict[bytes, list[int]] = {}
    for members in sets:
        found.setdefault(_digest_of_questions(tables[members[0]]), []).extend(members)
    return [sorted(members) for members in found.values()]


def _digest_of_ids(table: Table) -> bytes:
    return np.sort(_id_hashes(table)).tobytes()


def _digest_of_questions(table: Table) -> bytes:
    """The same for the same ids with the same wordings, in any order."""
    both = np.stack([_id_hashes(table), _hashes(table)])
    return both[:, np.lexsort(both)].tobytes()


def _id_hashes(table: Table) -> NDArray[np.int64]:
    return np.fromiter(map(hash, table.ids), dtype=np.int64, count=len(table))


def shared(tables: Sequence[Table]) -> list[Table]:
    """The tables narrowed to the items that all of them have, each in its own order."""
    if _alike(tables):
        return list(tables)
    keys = _keys(tables)
    everywhere = set(keys[0]).intersection(*keys[1:])
    found = []
    for table, key in zip(tables, keys, strict=True):
        if len(everywhere) < len(table):
            table = table.where(np.array([each in everywhere for each in key]))
        found.append(table)
    return found


def _alike(tables: Sequence[Table]) -> bool:
    """Whether all tables have the same items in the same order, as runs usually do."""
    first, *others = tables
    if not all(_same_ids(first, other) for other in others):
        return False
    if not _wordings_matter(tables):
        return True
    return all(bool((_hashes(first) == _hashes(other)).all()) for other in others)


def _overlap(one: set[Any], two: set[Any]) -> bool:
    return 2 * len(one & two) >= max(1, min(len(one), len(two)))


def _keys(tables: Sequence[Table]) -> list[list[Any]]:
    """What identifies each table's items: ids and, where tables are of other items, wordings."""
    matter = _wordings_matter(tables)
    found = []
    for table in tables:
        ids: list[Any] = table.ids.tolist()
        found.append(list(zip(ids, _hashes(table).tolist(), strict=True)) if matter else ids)
    return found


def _wordings_matter(tables: Sequence[Table]) -> bool:
    """Whether the same id may mean different questions, and that can be seen."""
    digests = {table.about.digest for table in tables}
    same = len(digests) == 1 and "" not in digests
    return not same and all(table.details.wordings is not None for table in tables)


def _hashes(table: Table) -> NDArray[np.int64]:
    assert table.details.wordings is not None
    return table.details.wordings


def _check(one: Table, two: Table) -> None:
    """The same id must mean the same question: the same choices in order, the same ones right."""
    mine, theirs = _same_width(one.choices, two.choices, -1)
    ours, right = _same_width(one.gold_at, two.gold_at, False)
    differs = (mine != theirs).any(axis=1) | (ours != right).any(axis=1)
    if differs.any():
        raise UsageError(
            f"Item '{one.ids[differs.argmax()]}' is not the same question to {one.model} and "
            f"{two.model}.",
            "Make both with the same seed, options and data.",
        )


def _answered(table: Table) -> Flags:
    return table.answered


def _scored(table: Table) -> Flags:
    return np.asarray(~np.isnan(table.probabilities).any(axis=1))
