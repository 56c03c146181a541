"""Pairs of objects in bands of difficulty, drawn so that the names do not give the answer away.

Each pair is drawn with a twin of the same band in which whatever the names show is the other way
round: if the longer, the wordier or the more common name is the greater thing in one, it is the
lesser thing in the other. Objects are used evenly, and on both sides where they can be.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import permutations
from random import Random
from typing import NamedTuple

from gnomon.benchmarks.objects import SizedThing, everyday_things, is_clearly_less, typical_ratio
from gnomon.errors import UsageError, check_known

# How many times as large across, or as tall, the typical greater object is: from here on.
BANDS = {"1.5-3": 1.5, "3-10": 3.0, "10-100": 10.0, "100+": 100.0}
ALL = -1  # a number of pairs with a meaning of its own
FULL = 2400  # pairs of a full set: about seven for each object; more would tell little
LOOKED_AT = 60  # candidates from which the best is taken
UNEVEN = 2  # what a win or loss too many costs, against one more use of an object

Pair = tuple[str, str]  # the lesser object first
Shows = tuple[int, ...]  # what the names show: above 0 of the greater thing, below of the lesser
Shelves = Mapping[Shows, Sequence[Pair]]
Pool = Mapping[str, Shelves]  # by band


class BandedPair(NamedTuple):
    """Two objects of which one is clearly larger, or taller, and their band."""

    lesser: str
    greater: str
    band: str


def band_of(ratio: float) -> str:
    """The band of a typical ratio, or nothing if it is too close to 1.

    >>> band_of(1.2), band_of(3), band_of(5000)
    ('', '3-10', '100+')
    """
    found = ""
    for band, least in BANDS.items():
        if ratio >= least:
            found = band
    return found


def shown_by_names(lesser: SizedThing, greater: SizedThing) -> Shows:
    """Whether the greater thing's name is longer, has more words, is more common: 1, 0 or -1."""
    return (
        _sign(len(greater.name) - len(lesser.name)),
        _sign(greater.name.count(" ") - lesser.name.count(" ")),
        _sign(greater.common - lesser.common),
    )


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def shelved(pairs: Iterable[tuple[str, Shows, Pair]]) -> Pool:
    """Pairs by band and by what they show; only such as have a possible twin."""
    found: dict[str, dict[Shows, list[Pair]]] = {band: {} for band in BANDS}
    for band, shows, pair in pairs:
        found[band].setdefault(shows, []).append(pair)
    for shelves in found.values():
        for shows in list(shelves):
            if _opposite(shows) not in shelves:
                del shelves[shows]
    return found


@cache
def clear_pairs(scale: str) -> Pool:
    """All pairs of the lexicon of which one is clearly greater."""
    return shelved(_places(scale, permutations(everyday_things(), 2)))


def _places(scale: str, pairs: Iterable[Pair]) -> Iterable[tuple[str, Shows, Pair]]:
    """Band and what is shown of each pair whose first object is clearly the lesser."""
    things = everyday_things()
    for pair in pairs:
        lesser, greater = things[pair[0]], things[pair[1]]
        if is_clearly_less(scale, lesser, greater):
            band = band_of(typical_ratio(scale, lesser, greater))
            if band:
                yield band, shown_by_names(lesser, greater), pair


def chosen_bands(names: str, known: Collection[str] = tuple(BANDS)) -> list[str]:
    """The bands of an option such as "1.5-3,3-10"; all that are known if it is empty.

    >>> chosen_bands("3-10, 1.5-3")
    ['3-10', '1.5-3']
    """
    if not names:
        return list(known)
    chosen = [name.strip() for name in names.split(",")]
    for name in chosen:
        check_known("band", name, known)
    return list(dict.fromkeys(chosen))


def twins_of_each(pairs: int, parts: int) -> int:
    """How many twins each of so many parts gets of a number of pairs.

    >>> twins_of_each(240, 4)
    30
    """
    if pairs == ALL:
        pairs = FULL
    if pairs < 2 * parts:
        raise UsageError(
            f"{pairs} pairs are too few: they come in twos, in {parts} parts.",
            f"Ask for {2 * parts} or more, or for {ALL}: the full set.",
        )
    return pairs // (2 * parts)


def balanced_pairs(scale: str, pairs: int, bands: str, draw: Random) -> list[BandedPair]:
    """Pairs of everyday objects, as many of each band, each next to its twin.

    Half of a band closes triangles where it can: with A < B and B < C drawn, A < C is drawn too, so
    that it can be measured whether answers are transitive.
    """
    names = chosen_bands(bands)
    count = twins_of_each(pairs, len(names))
    drawing = Drawing(draw)
    drawn = drawing.fill(clear_pairs(scale), dict.fromkeys(names, count - count // 2))
    left = Counter(dict.fromkeys(names, count // 2))
    closing = drawing.fill(shelved(_places(scale, _closing(drawn))), left)
    left.subtract(contrast.band for contrast in closing[::2])
    return drawn + closing + drawing.fill(clear_pairs(scale), left)


def _closing(drawn: Iterable[BandedPair]) -> list[Pair]:
    """The pairs that follow from two that were drawn."""
    above: dict[str, list[str]] = defaultdict(list)
    for contrast in drawn:
        above[contrast.lesser].append(contrast.greater)
    found: dict[Pair, None] = {}
    for low, middles in above.items():
        for middle in middles:
            for high in above.get(middle, ()):
                found[low, high] = None
    return list(found)


class Drawing:
    """Draws pairs in twins, and remembers which pairs and objects it has used."""

    def __init__(self, draw: Random) -> None:
        self._draw = draw
        self._taken: set[Pair] = set()
        self._uses: Counter[str] = Counter()
        self._lead: Counter[str] = Counter()  # how much oftener an object is the greater one

    def fill(self, pool: Pool, wanted: Mapping[str, int]) -> list[BandedPair]:
        """So many twins of each band, band by band in turn; fewer where the pool runs out."""
        shelves = {band: dict(pool[band]) for band in wanted}
        drawn: list[BandedPair] = []
        for turn in range(max(wanted.values())):
            for band, count in wanted.items():
                if turn >= count:
                    continue
                for lesser, greater in self._twins(shelves[band]):
                    drawn.append(BandedPair(lesser, greater, band))
        return drawn

    def _twins(self, shelves: dict[Shows, Sequence[Pair]]) -> list[Pair]:
        """A pair and one that shows the opposite, in any order; nothing if none are left."""
        while shelves:
            shows = self._any_shelf(shelves)
            first = self._best(shelves[shows])
            second = self._best(shelves[_opposite(shows)], besides=first)
            if first is not None and second is not None:
                self._use(first)
                self._use(second)
                return self._draw.sample([first, second], 2)
            for exhausted in {shows, _opposite(shows)}:
                del shelves[exhausted]
        return []

    def _any_shelf(self, shelves: Shelves) -> Shows:
        """One by chance, the likelier the more twins it can give."""
        names = list(shelves)
        weights = [min(len(shelves[name]), len(shelves[_opposite(name)])) for name in names]
        return self._draw.choices(names, weights)[0]

    def _best(self, pairs: Sequence[Pair], besides: Pair | None = None) -> Pair | None:
        """Of some candidates the one that spreads uses, wins and losses most evenly."""
        some = self._draw.sample(pairs, min(LOOKED_AT, len(pairs)))
        free = self._free(some, besides) or self._free(pairs, besides)
        return min(free, key=self._cost, default=None)

    def _free(self, pairs: Iterable[Pair], besides: Pair | None) -> list[Pair]:
        return [pair for pair in pairs if pair not in self._taken and pair != besides]

    def _cost(self, pair: Pair) -> int:
        low, high = self._lead[pair[0]], self._lead[pair[1]]
        more_uneven = abs(low - 1) - abs(low) + abs(high + 1) - abs(high)
        return self._uses[pair[0]] + self._uses[pair[1]] + UNEVEN * more_uneven

    def _use(self, pair: Pair) -> None:
        self._taken.add(pair)
        self._uses.update(pair)
        self._lead[pair[0]] -= 1
        self._lead[pair[1]] += 1


def _opposite(shows: Shows) -> Shows:
    return tuple(-one for one in shows)
