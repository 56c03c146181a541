"""Drawing: uniform, without replacement, reproducible, and always within the restrictions."""

from collections import Counter
from itertools import permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from gnomon.language.population import Population
from gnomon.language.sampling import ALL, EXAMPLES, bank_samples, draws, samples


def chi_square(counts: Counter, cells: int) -> float:
    expected = counts.total() / cells
    return sum((counts[cell] - expected) ** 2 / expected for cell in counts) + expected * (
        cells - len(counts)
    )


@given(st.integers(0, 50), st.integers(0, 60), st.integers())
def test_draws_are_different_numbers_below_the_total(total, count, seed):
    drawn = list(draws(total, count, Random(seed)))
    assert len(drawn) == len(set(drawn)) == min(count, total)
    assert all(0 <= number < total for number in drawn)


@given(st.integers(1, 10**15), st.integers(0, 30), st.integers(0, 30), st.integers())
def test_asking_for_more_keeps_what_was_there(total, fewer, more, seed):
    first, second = (
        list(draws(total, fewer, Random(seed))),
        list(draws(total, fewer + more, Random(seed))),
    )
    assert second[: len(first)] == first


def test_every_ordered_draw_is_equally_likely():
    random = Random(7)
    counts = Counter(tuple(draws(5, 3, random)) for _ in range(60_000))
    assert set(counts) == set(permutations(range(5), 3))
    assert (
        chi_square(counts, 60) < 105
    )  # 59 degrees of freedom: exceeded once in 5,000 times; the seed is fixed


def test_every_problem_of_a_pattern_is_equally_likely(bank):
    pattern = bank.patterns[0]
    population = Population(pattern)
    assert len(population) == 10
    counts = Counter(
        sample.fillers
        for seed in range(4000)
        for sample in samples(pattern, 3, seed=seed, population=population)
    )
    assert set(counts) == set(population)
    assert chi_square(counts, 10) < 33.7  # 9 degrees of freedom; drawing 3 at once only narrows it


def test_samples_satisfy_every_restriction(bank):
    for pattern, sample in bank_samples(bank, 30, seed=3):
        assert pattern.allows(sample.fillers)
        assert sample.problem == pattern.problem(sample.fillers)
        assert Population(pattern).rank(sample.fillers) == sample.rank


def test_the_same_seed_gives_the_same_and_another_seed_another(bank):
    first, again, other = (
        [s.rank for _, s in bank_samples(bank, 10, seed=seed)] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_a_pattern_draws_the_same_whatever_stands_beside_it(bank):
    alone = [sample.rank for sample in samples(bank.patterns[2], 8, seed=5)]
    together = [
        sample.rank
        for pattern, sample in bank_samples(bank, 8, seed=5)
        if pattern is bank.patterns[2]
    ]
    assert alone == together


def test_all_are_all_in_order_and_examples_are_the_examples(bank):
    pattern = bank.patterns[0]
    assert [sample.rank for sample in samples(pattern, ALL)] == list(range(10))
    texts = [sample.problem.hypothesis for sample in samples(pattern, EXAMPLES)]
    assert texts == ["The ball is in the wardrobe.", "The scissors are in the shelves."]
