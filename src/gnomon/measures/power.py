"""What a design can show: the difference that a set can tell, and what a difference takes."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from math import ceil, inf, nan, sqrt
from typing import NamedTuple

from gnomon.contracts import Benchmark
from gnomon.errors import UsageError
from gnomon.measures.intervals import NORMAL, t_quantile
from gnomon.measures.units import KindOfUnit, Sharing
from gnomon.records import Item

UnitsOfItem = Sequence[Sequence[Hashable]]  # for each kind of unit, those that an item belongs to


class PowerPlan(NamedTuple):
    """What a set of items can show of two models, and what it would take to show a difference."""

    items: int
    units_per_kind: tuple[int, ...]
    detectable: float  # the least true difference that is found with the chance asked for
    items_needed: int | None  # of the same units; none if no number of items would do
    # of each kind, with items growing along; none for fewer than two units, which tell nothing
    units_needed: tuple[int | None, ...]


# The share of the variance between items that other answers to the same items would change, where
# answers are drawn at a temperature; a guess: `gnomon score` says what it is for a run.
LUCK = 0.5
SAMPLES = (1, 2, 3, 5, 10, 20)  # that are tried
# By how much effects in logits flatten the curve of accuracies, for each squared logit: that of the
# normal distribution which is most like the logistic one.
FLATTER = 0.346
WORTH = 0.05  # more samples are worth their price if they show a difference smaller by this share


class _VariancePart(NamedTuple):
    """A part of the variance of a difference, and how many independent units it comes from."""

    variance: float
    units: int


def plan(
    units: Sequence[UnitsOfItem],
    *,
    difference: float = 0.03,
    accuracy: float = 0.7,
    unit_sd: float = 0.5,
    item_correlation: float = 0.5,
    samples: int = 1,
    level: float = 0.95,
    power: float = 0.8,
) -> PowerPlan:
    """What items with these units can show of two models of about this accuracy.

    `units[i]` holds, for each kind of unit, the units of item i: (("ant", "cow"),) for a pair of
    objects, (("car",), ("drives",)) for an object and a verb. `unit_sd` is how much the difference
    of the two models varies from unit to unit, in logits; `item_correlation` is that of their
    answers to one item. Of several `samples` of an item the mean counts; half of what varies from
    item to item is taken to be luck in answering.

    >>> pairs = [((one, two),) for one in range(50) for two in range(one)]
    >>> found = plan(pairs)
    >>> found.items, found.units_per_kind, round(found.detectable, 3), found.items_needed
    (1225, (50,), 0.092, None)
    """
    _check(difference, accuracy, item_correlation, level, power)
    items = len(units)
    if not items:
        return PowerPlan(0, (), nan, None, ())
    slope = accuracy * (1 - accuracy)  # of accuracy over logits
    left = 1 - LUCK + LUCK / samples
    of_items = _VariancePart(2 * slope * (1 - item_correlation) * left / items, items)
    of_units = _parts_of_units(units, (unit_sd * slope) ** 2)
    parts = [of_items, *of_units]

    def shows(candidate: Sequence[_VariancePart]) -> bool:
        return _detectable(candidate, level, power) <= difference

    times = _least(lambda times: shows(_grown(parts, times)))
    counts = tuple(part.units for part in of_units)
    more_items = _least(lambda times: shows([*_grown(parts[:1], times), *of_units]))
    return PowerPlan(
        items=items,
        units_per_kind=counts,
        detectable=_detectable(parts, level, power),
        items_needed=_times(items, more_items),
        units_needed=tuple(_times(count, times) for count in counts),
    )


def items_for_half_width(
    units: Sequence[UnitsOfItem],
    half: float,
    *,
    accuracy: float = 0.5,
    unit_sd: float = 0.5,
    level: float = 0.95,
    power: float = 0.8,
) -> int | None:
    """A fixed number of items after which an accuracy is known to plus or minus `half`.

    That is, in the share `power` of runs: the half width varies, the more so the fewer units there
    are. The items are of the same units; none if no number of them would do. With an accuracy of
    one half it is enough whatever the accuracy is.

    >>> items_for_half_width([((item,),) for item in range(5000)], 0.03, unit_sd=0)
    1109
    """
    slope = accuracy * (1 - accuracy)
    tags = sum(map(len, units[0]))
    of_one = (unit_sd * slope) ** 2 / (1 + FLATTER * tags * unit_sd**2)
    of_items = _VariancePart((slope - tags * of_one) / len(units), len(units))
    of_units = _parts_of_units(units, of_one)
    fewest = _fewest_units(units)

    def is_narrow(times: float) -> bool:
        error, freedom = _error([*_grown([of_items], times), *of_units])
        freedom = min(freedom, max(1.0, fewest - 1))  # no run knows that units do not vary
        unlucky = error * _error_times(power, freedom)
        return t_quantile((1 + level) / 2, freedom) * unlucky <= half

    if any(part.units < 2 for part in of_units):
        return None
    return _times(len(units), _least(is_narrow))


def _error_times(share: float, freedom: float) -> float:
    """How many times the true error that of a run is at most, in this share of runs.

    The root of chi-squared over its degrees of freedom, by Wilson and Hilferty (1931).
    """
    spread = 2 / (9 * freedom)
    root = 1 - spread + NORMAL.inv_cdf(share) * sqrt(spread)
    return sqrt(max(root, 0.0) ** 3)


def _check(
    difference: float, accuracy: float, item_correlation: float, level: float, power: float
) -> None:
    """Refuse values that make no sense."""
    shares = {"difference": difference, "accuracy": accuracy, "level": level, "power": power}
    for name, value in shares.items():
        if not 0 < value < 1:
            raise UsageError(
                f"The {name} must lie between 0 and 1, not {value}.",
                f"Give a share: {value / 100:g} is {value:g} %.",
            )
    if not -1 <= item_correlation <= 1:
        raise UsageError(
            f"The correlation must lie between -1 and 1, not {item_correlation}.",
            "0.5 is usual for two models on the same items.",
        )


def _parts_of_units(units: Sequence[UnitsOfItem], variance: float) -> list[_VariancePart]:
    """For each kind of unit, what its units add to the variance of a mean over the items."""
    found = []
    for sizes in _sizes_of_units(units):
        squares = sum(size**2 for size in sizes)
        found.append(_VariancePart(variance * squares / len(units) ** 2, len(sizes)))
    return found


def _fewest_units(units: Sequence[UnitsOfItem]) -> float:
    """How many units of one size they amount to, of the kind that has fewest."""
    counts = []
    for sizes in _sizes_of_units(units):
        squares = sum(size**2 for size in sizes)
        counts.append(sum(sizes) ** 2 / squares)
    return min(counts)


def _sizes_of_units(units: Sequence[UnitsOfItem]) -> list[list[int]]:
    """For each kind, how many items each unit has."""
    found = []
    for of_kind in zip(*units, strict=True):
        sizes: Counter[Hashable] = Counter()
        for of_item in of_kind:
            sizes.update(set(of_item))
        found.append(list(sizes.values()))
    return found


def _detectable(parts: Sequence[_VariancePart], level: float, power: float) -> float:
    """The least difference found with a chance of `power`."""
    if any(part.units < 2 for part in parts):
        return nan
    error, freedom = _error(parts)
    if error == 0:
        return 0.0
    beyond = t_quantile((1 + level) / 2, freedom) + t_quantile(power, freedom)
    return beyond * error


def _error(parts: Sequence[_VariancePart]) -> tuple[float, float]:
    """The standard error, with Satterthwaite's degrees of freedom."""
    variance = scatter = 0.0
    for part in parts:
        variance += part.variance
        scatter += part.variance**2 / max(1, part.units - 1)
    freedom = variance**2 / scatter if scatter > 0 else inf
    return sqrt(variance), freedom


def _grown(parts: Sequence[_VariancePart], times: float) -> list[_VariancePart]:
    """The parts of a design with so many times the units."""
    return [_VariancePart(part.variance / times, ceil(part.units * times)) for part in parts]


def _least(enough: Callable[[float], bool]) -> float | None:
    """The least factor, to a thousandth, that is enough; none if not even a million is."""
    low, high = 1e-6, 1e6
    if not enough(high):
        return None
    while high / low > 1.001:
        middle = sqrt(low * high)
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _times(count: int, factor: float | None) -> int | None:
    return None if factor is None else max(2, ceil(count * factor))


# Planning a run: the items and units of a benchmark, what they can show, what would be needed.


class PlannedSet(NamedTuple):
    """A set of items with its plan."""

    nouns: tuple[str, ...]  # what the units of each kind are called
    plan: PowerPlan
    difference: float
    # samples of an item that are worth asking for, and the difference that they would show
    samples: tuple[int, float] = (1, nan)

    @property
    def is_enough(self) -> bool:
        """Whether the items can show the difference asked for."""
        return self.plan.detectable <= self.difference

    @property
    def items_for_difference(self) -> int | None:
        """How many items a set has that can show it: with more units where the same do not do."""
        if self.plan.items_needed is not None:
            return self.plan.items_needed
        known = []
        for needed, there in zip(self.plan.units_needed, self.plan.units_per_kind, strict=True):
            if needed is not None and there:
                known.append(needed / there)
        return round(self.plan.items * max(known)) if known else None


def plan_set(
    items: Sequence[Item], benchmark: Benchmark, *, difference: float, accuracy: float
) -> PlannedSet:
    """What the items of a benchmark can show of two models of about this accuracy."""
    kinds = kinds_of(items, benchmark)
    units = [units_of(item, kinds) for item in items]
    nouns = tuple(kind.noun for kind in kinds)
    found = plan(units, difference=difference, accuracy=accuracy)
    worth = (1, found.detectable)
    for samples in SAMPLES[1:]:
        with_them = plan(units, difference=difference, accuracy=accuracy, samples=samples)
        detectable = with_them.detectable
        if not detectable < (1 - WORTH) * worth[1]:
            break
        worth = samples, detectable
    return PlannedSet(nouns, found, difference, worth)


def kinds_of(items: Sequence[Item], benchmark: Benchmark) -> tuple[KindOfUnit, ...]:
    """The kinds of unit that the benchmark names and these items have; else their groups."""
    sharing = Sharing.of(benchmark)
    known = {"group"}
    for item in items:
        known.update(item.tags)
    groups = sharing.groups
    if not any(item.group for item in items):
        groups = groups._replace(noun="items")
    there = [kind for kind in sharing.kinds if known.issuperset(kind.tags)]
    return tuple(groups if kind == sharing.groups else kind for kind in there) or (groups,)


def units_of(item: Item, kinds: Sequence[KindOfUnit]) -> tuple[tuple[Hashable, ...], ...]:
    """The units of an item, kind by kind; where a tag is missing the item is a unit of its own.

    >>> pair = Item(id="1", form="choice", text="?", tags={"a": "ant", "b": "cow"})
    >>> units_of(pair, [KindOfUnit(("a", "b"), "objects"), KindOfUnit(("group",), "groups")])
    (('ant', 'cow'), (('item', '1'),))
    """
    found = []
    for kind in kinds:
        units: list[Hashable] = []
        for tag in kind.tags:
            name = item.group if tag == "group" else item.tags.get(tag, "")
            units.append(name or ("item", item.id))
        found.append(tuple(units))
    return tuple(found)
