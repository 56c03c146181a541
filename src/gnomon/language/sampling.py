"""Drawing problems from a population: uniform, without replacement, reproducible.

The cost grows with the draws, not with the population.

Each pattern has a stream of its own, seeded by the seed and its id: adding a pattern leaves the
others' problems as they were, and asking for more keeps those that were there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gnomon.errors import DataError
from gnomon.language.examples import derive
from gnomon.language.patterns import Bank, Pattern, Problem
from gnomon.language.population import Population

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BATCH = 4096  # fillings decoded at once
# Numbers of samples with a meaning of their own, as in the authors' generator.
ALL = -1
EXAMPLES = 0


class Numbered(Protocol):
    """Fillings by number: a Population or an Enumeration."""

    def unrank_all(self, ranks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The fillings with those numbers, one row each."""
        ...


class Sample(NamedTuple):
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
) -> Iterator[Sample]:
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
) -> Iterator[tuple[Pattern, Sample]]:
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


def decoded(pattern: Pattern, population: Numbered, ranks: Iterable[int]) -> Iterator[Sample]:
    """The problems with those numbers, decoded batch by batch."""
    import numpy as np

    ranks = iter(ranks)
    *premises, hypothesis = pattern.renderers()
    while batch := list(islice(ranks, BATCH)):
        fillings = population.unrank_all(np.array(batch, dtype=np.int64)).tolist()
        for rank, fillers in zip(batch, fillings, strict=True):
            said = tuple([render(fillers) + "." for render in premises])
            yield Sample(rank, tuple(fillers), Problem(said, hypothesis(fillers) + "."))
