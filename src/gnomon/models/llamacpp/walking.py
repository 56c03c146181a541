"""All that is asked in a batch as a tree of tokens, walked in depth-first order with one cache.

So every shared beginning (instruction, examples, premises, pictures, choices that begin alike) is
computed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gnomon.models.choices import Query
from gnomon.models.llamacpp.llama import Llama, PathPlace

Prefix = tuple[int, ...]
Known = dict[tuple[Prefix, int], float]  # (what stands before, token) -> log-probability


def walk(llama: Llama, queries: Sequence[Query]) -> list[list[float]]:
    """The log-probability of each continuation of each query, summed over its tokens."""
    known = _along_paths(llama, queries)
    found = []
    for query in queries:
        sums = [_sum_along(known, query.context, tokens) for tokens in query.continuations]
        found.append(sums)
    return found


def _along_paths(llama: Llama, queries: Sequence[Query]) -> Known:
    """The log-probability of each token of each continuation after what stands before it."""
    wanted: dict[Prefix, set[int]] = {}
    for query in queries:
        for tokens in query.continuations:
            for prefix, token in _steps(query.context, tokens):
                wanted.setdefault(prefix, set()).add(token)

    known: Known = {}
    for chain in chains(sorted(wanted)):
        places = [PathPlace(len(prefix), tuple(sorted(wanted[prefix]))) for prefix in chain]
        found = llama.log_probabilities(chain[-1], places)
        for prefix, place, values in zip(chain, places, found, strict=True):
            for token, value in zip(place.tokens, values, strict=True):
                known[prefix, token] = value
    return known


def chains(prefixes: Sequence[Prefix]) -> Iterator[list[Prefix]]:
    """Sorted prefixes cut into runs in which each continues the one before.

    A run is computed in one go.

    >>> list(chains([(1,), (1, 2), (1, 2, 3), (1, 4), (5,)]))
    [[(1,), (1, 2), (1, 2, 3)], [(1, 4)], [(5,)]]
    """
    chain: list[Prefix] = []
    for prefix in prefixes:
        if chain and prefix[: len(chain[-1])] != chain[-1]:
            yield chain
            chain = []
        chain.append(prefix)
    if chain:
        yield chain


def _sum_along(known: Known, context: Sequence[int], tokens: Sequence[int]) -> float:
    return sum(known[step] for step in _steps(context, tokens))


def _steps(context: Sequence[int], tokens: Sequence[int]) -> Iterator[tuple[Prefix, int]]:
    """Each token of a continuation with what stands before it."""
    path = (*context, *tokens)
    for place in range(len(context), len(path)):
        yield path[:place], path[place]
