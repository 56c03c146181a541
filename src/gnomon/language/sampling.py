"""Drawing problems from a population: uniform, without replacement, reproducible.

The cost grows with the draws, not with the population.

Each pattern has a stream of its own, seeded by the seed and its id: adding a pattern leaves the
others' problems as they were, and asking for more keeps those that were there.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from random import Random
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gnomon.errors import DataError
from gnomon.language.blocks import Bools, Ints, holds, narrowed
from gnomon.language.patterns import Bank, Pattern, Problem, derive
from gnomon.language.population import Population
from gnomon.language.world import Members

# The valid fillings of a pattern in lexicographic order, by masks over the product of its slots.
#
# `population` numbers fillings cheaply but in an order of its own; reproducing a published sample
# needs the order of a plain enumeration. One bit per combination is affordable at the size of the
# authors' mini world, and refused beyond.


CELL_LIMIT = 50_000_000


class Enumeration:
    """The valid fillings, numbered in lexicographic order of filler numbers."""

    def __init__(self, pattern: Pattern) -> None:
        domains, conditions = narrowed(pattern)
        self._values = [np.array(sorted(domain), dtype=np.int64) for domain in domains]
        self._shape = tuple(len(values) for values in self._values)
        cells = math.prod(self._shape)
        if cells > CELL_LIMIT:
            raise DataError(
                f"the pattern '{pattern.id}' has {cells:,} combinations of fillers, too many to "
                "go through.",
                "Restrict its slots.",
                file=pattern.file,
                line=pattern.line,
            )
        mask: Bools = np.ones(self._shape, dtype=np.bool_)
        for condition in conditions:
            mask &= holds(condition, self._within, self._equal)
        if pattern.distinct:
            entities = [place for place, slot in enumerate(pattern.slots) if not slot.words]
            for left, right in combinations(entities, 2):
                mask &= ~self._equal(left, right)
        self._valid = np.flatnonzero(mask)

    def __len__(self) -> int:
        return len(self._valid)

    def unrank(self, rank: int) -> tuple[int, ...]:
        """The filling with that number."""
        if not 0 <= rank < len(self._valid):
            raise IndexError(f"no filling has the number {rank}: there are {len(self._valid)}")
        return tuple(self.unrank_all(np.array([rank], dtype=np.int64))[0].tolist())

    def unrank_all(self, ranks: Ints) -> Ints:
        """The fillings with those numbers, one row each."""
        places = np.unravel_index(self._valid[ranks], self._shape)
        return np.stack([values[i] for values, i in zip(self._values, places, strict=True)], axis=1)

    def rank(self, fillers: Sequence[int]) -> int:
        """The number of a valid filling; ValueError for any other."""
        places = []
        for values, filler in zip(self._values, fillers, strict=True):
            place = int(np.searchsorted(values, filler))
            if place == len(values) or values[place] != filler:
                raise ValueError("a filler is not allowed in its slot")
            places.append(place)
        cell = int(np.ravel_multi_index(places, self._shape))
        rank = int(np.searchsorted(self._valid, cell))
        if rank == len(self._valid) or self._valid[rank] != cell:
            raise ValueError("the fillers do not satisfy the restrictions")
        return rank

    def _along(self, place: int, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of one slot, in a shape that broadcasts along its axis."""
        shape = [1] * len(self._shape)
        shape[place] = -1
        return values.reshape(shape)

    def _within(self, place: int, members: Members) -> Bools:
        return self._along(place, np.isin(self._values[place], list(members)))

    def _equal(self, left: int, right: int) -> Bools:
        one, two = self._along(left, self._values[left]), self._along(right, self._values[right])
        return np.asarray(one == two)


BATCH = 4096  # fillings decoded at once
# Numbers of samples with a meaning of their own, as in the authors' generator.
ALL = -1
EXAMPLES = 0


class _Numbered(Protocol):
    """Fillings by number: a Population or an Enumeration."""

    def unrank_all(self, ranks: Ints) -> Ints:
        """The fillings with those numbers, one row each."""


class ProblemSample(NamedTuple):
    """A problem, the number of its filling in the pattern's population, and the fillers."""

    rank: int
    fillers: tuple[int, ...]
    problem: Problem


def draws(total: int, count: int, random: Random) -> Iterator[int]:
    """`count` different numbers below `total`, each ordered choice equally likely.

    The first n do not depend on `count`.

    >>> sorted(draws(5, 9, Random(0)))
    [0, 1, 2, 3, 4]
    """
    moved: dict[int, int] = {}  # a shuffle of 0 .. total-1 that keeps only what has moved
    for i in range(min(count, total)):
        j = random.randrange(i, total)
        yield moved.get(j, j)
        here = moved.pop(i, i)
        if j != i:
            moved[j] = here


def samples(
    pattern: Pattern, count: int, *, seed: int = 0, population: Population | None = None
) -> Iterator[ProblemSample]:
    """`count` problems of a pattern.

    ALL gives all in the order of their numbers, EXAMPLES its examples only.
    """
    if population is None:
        population = Population(pattern)
    ranks: Iterable[int]
    if count == EXAMPLES:
        ranks = dict.fromkeys(map(population.rank, _examples(pattern)))
    elif count < 0:
        ranks = range(len(population))
    else:
        ranks = draws(len(population), count, Random(f"{seed}/{pattern.id}"))
    return decoded(pattern, population, ranks)


def bank_samples(
    bank: Bank,
    count: int,
    *,
    seed: int = 0,
    populations: dict[str, Population] | None = None,
) -> Iterator[tuple[Pattern, ProblemSample]]:
    """The samples of every pattern of a bank, pattern by pattern.

    `populations`, by the patterns' ids, are used and kept for the next time.
    """
    for pattern in bank.patterns:
        population = _population(pattern, populations)
        for sample in samples(pattern, count, seed=seed, population=population):
            yield pattern, sample


def _population(pattern: Pattern, known: dict[str, Population] | None) -> Population:
    if known is None:
        return Population(pattern)
    if pattern.id not in known:
        known[pattern.id] = Population(pattern)
    return known[pattern.id]


def _examples(pattern: Pattern) -> Iterator[tuple[int, ...]]:
    for number, example in enumerate(pattern.examples, 1):
        filling = derive(pattern, example)
        if filling is None:
            raise DataError(
                f"example {number} of '{pattern.id}' cannot be derived.",
                "Correct it or the restrictions; `gnomon audit` says more.",
                file=pattern.file,
                line=pattern.line,
            )
        yield filling


def decoded(
    pattern: Pattern, population: _Numbered, ranks: Iterable[int]
) -> Iterator[ProblemSample]:
    """The problems with those numbers, decoded batch by batch."""
    ranks = iter(ranks)
    *premises, hypothesis = pattern.renderers()
    while batch := list(islice(ranks, BATCH)):
        fillings = population.unrank_all(np.array(batch, dtype=np.int64)).tolist()
        for rank, fillers in zip(batch, fillings, strict=True):
            said = tuple([render(fillers) + "." for render in premises])
            yield ProblemSample(rank, tuple(fillers), Problem(said, hypothesis(fillers) + "."))
