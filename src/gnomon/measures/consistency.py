"""Does a model agree with itself: within groups, between forms and between ways of asking."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from gnomon.contracts import Measure, Need
from gnomon.measures.accuracy import groups
from gnomon.measures.columns import Codes, Floats, compact, differs_within, first_rows
from gnomon.measures.statistics import Statistics, mean_of, ratio
from gnomon.measures.table import Flags, Table
from gnomon.measures.units import Units


class UnitAnswers(NamedTuple):
    """What each row says about which unit; pairs of one unit are compared if variants differ."""

    unit: Codes
    outcome: Codes  # -1 for a missing answer
    right: Flags
    clusters: Units
    variant: Codes | None = None


class AnswerPairs(NamedTuple):
    """The pairs of rows of each unit that has any."""

    number: Floats
    agree: Floats
    right: Floats  # both right, and so in agreement
    clusters: Units


def pairs(said: UnitAnswers) -> AnswerPairs:
    """Count the pairs of each unit without forming them.

    There are n(n-1)/2 over equal values, less those of equal variants.
    """
    unit, units = compact(said.unit)
    answered = said.outcome >= 0
    count = _pairs_by(unit, None, units)
    agree = _pairs_by(unit[answered], said.outcome[answered], units)
    right = _pairs_by(unit[said.right], None, units)
    if said.variant is not None:
        top = int(said.outcome.max(initial=0)) + 1
        both = np.asarray(said.variant, dtype=np.int64) * top + said.outcome
        count = count - _pairs_by(unit, said.variant, units)
        agree = agree - _pairs_by(unit[answered], both[answered], units)
        right = right - _pairs_by(unit[said.right], said.variant[said.right], units)
    some = count > 0
    first = first_rows(unit, units)[some]
    return AnswerPairs(count[some], agree[some], right[some], said.clusters[first])


def agreement(said: UnitAnswers | None, *, and_right: bool = False) -> Statistics:
    """The mean over units of the share of their pairs that agree (and are right)."""
    if said is None or not len(said.unit):
        return mean_of([], np.zeros(0, dtype=np.int64))
    found = pairs(said)
    good = found.right if and_right else found.agree
    return mean_of(good / found.number, found.clusters)


def within_groups(table: Table, *, between_forms: bool = False) -> UnitAnswers:
    """Rows of one group: they agree if they give the same label.

    Where right labels or choices differ within the group (an ant is smaller than a bird, a bird
    larger than an ant), they agree if both are right or both are wrong.
    """
    grouped = np.flatnonzero(table.group.codes >= 0)
    part = table.where(grouped)
    unit, units = compact(part.group.codes)
    question = _kinds_in_any_order(part)[part.kind]
    alike = ~differs_within(unit, units, question)[unit]
    outcome = np.where(alike, part.choice, np.where(part.answered, part.right, -1))
    variant = part.form.codes if between_forms else None
    return UnitAnswers(unit, outcome, part.right, part.clusters, variant)


def _kinds_in_any_order(table: Table) -> Codes:
    """A code for each kind, the same where the choices differ in nothing but their order."""
    choices, gold, _ = table.kinds
    order = np.argsort(choices, axis=1)
    offered = np.take_along_axis(choices, order, axis=1)
    right = np.take_along_axis(gold, order, axis=1)
    both = np.concatenate([offered, right], axis=1)
    _, codes = np.unique(both, axis=0, return_inverse=True)
    return np.asarray(codes, dtype=np.int64).reshape(-1)


def same_choice(tags: str) -> Measure:
    """The measure "same_choice@TAG,TAG": items alike in tags, but not in gold, that get one answer.

    Spatial commonsense, section 4.2, asks it of person and object: a model that answers alike
    whatever the action does not read the action.
    """
    names = [name.strip() for name in tags.split(",")]
    alike = " and ".join(names)
    return Measure(
        name=f"same_choice@{tags}",
        statistics=lambda table: agreement(_sharing(table, names)),
        summary=f"share of pairs alike in {alike}, but not in the right label, that get one answer",
    )


def _sharing(table: Table, names: Sequence[str]) -> UnitAnswers:
    unit: Codes = table.form.codes.astype(np.int64)
    known = np.ones(len(table), dtype=bool)
    for column in (table.column(name) for name in names):
        unit = compact(unit * (len(column.values) + 1) + column.codes + 1)[0]
        known &= column.codes >= 0
    return UnitAnswers(
        unit[known],
        table.choice[known],
        table.right[known],
        table.clusters[known],
        table.first_right[known],
    )


def with_twin(
    name: str, statistics: Callable[..., Statistics], *needs: Need
) -> tuple[Measure, Measure]:
    """A measure of consistency, and its twin that also asks for right answers."""
    strict = Measure(
        name=f"{name}_and_right",
        statistics=partial(statistics, and_right=True),
        needs=frozenset(needs),
    )
    plain = Measure(
        name=name,
        statistics=statistics,
        twin=strict.name,
        needs=frozenset(needs),
    )
    return plain, strict


def _pairs_by(unit: Codes, value: Codes | None, units: int) -> Floats:
    """For each unit, the pairs of rows that share a value."""
    if value is None:
        size: Floats = np.bincount(unit, minlength=units).astype(float)
        return np.asarray(size * (size - 1) / 2)
    if not len(unit):
        return np.zeros(units)
    width = int(value.max()) + 1
    keys, alike = np.unique(np.asarray(unit, dtype=np.int64) * width + value, return_counts=True)
    return np.asarray(
        np.bincount(keys // width, weights=alike * (alike - 1) / 2, minlength=units), dtype=float
    )


def group_agreement(table: Table, *, and_right: bool = False) -> Statistics:
    """The mean over groups of the share of pairs of their items that are answered alike."""
    return agreement(within_groups(table), and_right=and_right)


def form_agreement(table: Table, *, and_right: bool = False) -> Statistics:
    """The same over pairs that put one fact in two forms."""
    return agreement(within_groups(table, between_forms=True), and_right=and_right)


def group_right(table: Table) -> Statistics:
    """The share of groups of two items or more that are right throughout, such as quads."""
    found = groups(table)
    several = found.size > 1
    right = found.right == found.size
    return mean_of(right[several], found.clusters[several])


GROUP_AGREEMENT, GROUP_AGREEMENT_AND_RIGHT = with_twin("group_agreement", group_agreement, "groups")
FORM_AGREEMENT, FORM_AGREEMENT_AND_RIGHT = with_twin("form_agreement", form_agreement, "groups")
GROUP_RIGHT = Measure(name="group_right", statistics=group_right, needs=frozenset({"groups"}))


# Is one fact answered alike however it is put: by its converse, denied, in a mirror.
#
# The items of one fact share the tag `fact`, and the tag `way` says how each puts it. Their right
# answers follow from one another, so answers agree if all of them are right or all are wrong.


FACT, WAY = "fact", "way"  # tags
PLAIN = "plain"  # the way in which every fact is put


def consistency(table: Table, *, and_right: bool = False) -> Statistics:
    """The share of facts, put in two ways or more, whose answers all agree (and are right)."""
    return _alike(_in_ways(table), and_right=and_right)


def way_agreement(way: str) -> Measure:
    """The measure "way_agreement@WAY": facts answered alike plainly and in another way.

    >>> way_agreement("converse").twin
    'way_agreement_and_right@converse'
    """
    return Measure(
        name=f"way_agreement@{way}",
        statistics=partial(_of_way, way=way, and_right=False),
        summary=f"share of facts answered alike plainly and by {way}",
        twin=f"way_agreement_and_right@{way}",
        needs=frozenset({"ways"}),
    )


def way_agreement_and_right(way: str) -> Measure:
    """The measure "way_agreement_and_right@WAY": facts right plainly and in another way."""
    return Measure(
        name=f"way_agreement_and_right@{way}",
        statistics=partial(_of_way, way=way, and_right=True),
        summary=f"share of facts right plainly and by {way}",
        needs=frozenset({"ways"}),
    )


def has_ways(table: Table) -> bool:
    """Whether some fact is put in two ways or more."""
    return bool(len(_in_ways(table)))


def _of_way(table: Table, *, way: str, and_right: bool) -> Statistics:
    part = _in_ways(table)
    if not len(part):
        return _alike(part, and_right=and_right)
    column = part.tags[WAY]
    wanted = [code for code, value in enumerate(column.values) if value in (PLAIN, way)]
    return _alike(_in_ways(part.where(np.isin(column.codes, wanted))), and_right=and_right)


def _in_ways(table: Table) -> Table:
    """The rows of facts that are put in two ways or more."""
    if FACT not in table.tags or WAY not in table.tags:
        return table.where(np.zeros(len(table), dtype=bool))
    way = table.tags[WAY].codes
    part = table.where((way >= 0) & (table.tags[FACT].codes >= 0))
    if not len(part):
        return part

    fact, facts = _facts(part)
    return part.where(differs_within(fact, facts, part.tags[WAY].codes)[fact])


def _facts(table: Table) -> tuple[Codes, int]:
    """The fact of each row; groups keep apart what runs of several seeds have in common."""
    column = table.tags[FACT]
    groups = compact(table.group.codes)[0].astype(np.int64)
    return compact(groups * len(column.values) + column.codes)


def _alike(part: Table, *, and_right: bool) -> Statistics:
    if not len(part):
        return mean_of([], np.zeros(0, dtype=np.int64))
    fact, facts = _facts(part)
    size = np.bincount(fact, minlength=facts)
    right = np.bincount(fact[part.right], minlength=facts)
    answered = np.bincount(fact[part.answered], minlength=facts)
    alike = right == size
    if not and_right:
        alike = alike | ((right == 0) & (answered == size))
    return mean_of(alike, part.clusters[first_rows(fact, facts)])


CONSISTENCY, CONSISTENCY_AND_RIGHT = with_twin("consistency", consistency, "ways")


def options_kept(table: Table) -> Statistics:
    """Of the facts right among their fewest options, the share still right among the most."""
    if not {"fact", "options"} <= set(table.tags):
        return Statistics(np.zeros((0, 2)), ratio, 0, 0)
    options = table.column("options")
    counts = np.array([*map(_number, options.values), -1])[options.codes]
    known = np.flatnonzero((counts > 0) & (table.column("fact").codes >= 0))
    fact, number = compact(table.column("fact").codes[known])
    order = np.lexsort((counts[known], fact))
    ends = np.searchsorted(fact[order], np.arange(number + 1))
    fewest, most = known[order[ends[:-1]]], known[order[ends[1:] - 1]]
    several = counts[fewest] < counts[most]
    fewest, most = fewest[several], most[several]
    first = table.right[fewest]
    columns = np.stack([first & table.right[most], first], axis=1).astype(float)
    return Statistics.of(table.clusters[fewest], columns, ratio, n=int(first.sum()))


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else -1


OPTIONS_KEPT = Measure(name="options_kept", statistics=options_kept, needs=frozenset({"options"}))
