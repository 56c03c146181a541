"""What to compute, before anything is computed: queries become rows of tokens in which nothing is
computed twice.

A row is a tree laid flat: each token knows its parent and its depth, and attends to its ancestors
only. The choices of an item branch off its context, items that begin alike branch off their common
beginning, and what a whole family of queries shares (worked examples, a system message) is a prefix
computed once. Plain lists; no tensors here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

ROOT = -1  # the parent of a row's first token: the end of the family's prefix
ROW_LIMIT = 256  # tokens in a row of merged queries: attention within it grows with the square
FAMILY_SHARE = 32  # tokens that neighbours must share to be of one family
FAMILY_SAVING = 1024  # tokens that a prefix must save to be worth a pass of its own
# tokens of a text that is read as a prefix of its own: a tree's mask grows with the square of its
# row
LONG = 2048


class Query(NamedTuple):
    """A tokenised question: a context of at least one token, and continuations of at least one
    token each."""

    context: list[int]
    continuations: Sequence[list[int]]


class Wanted(NamedTuple):
    """After the row's token `node` the log-probability of `token` is asked; it counts for `query`,
    `choice`."""

    node: int
    token: int
    query: int
    choice: int


@dataclass
class Row:
    """Tokens of one row of a batch, with the tree they form."""

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)  # counted from the end of the prefix
    wanted: list[Wanted] = field(default_factory=list)
    chain: bool = True  # every token's parent is the token before it

    def add(self, token: int, parent: int) -> int:
        """Append a token below its parent and return its place."""
        place = len(self.tokens)
        self.chain = self.chain and parent == place - 1
        self.tokens.append(token)
        self.parents.append(parent)
        self.depths.append(0 if parent == ROOT else self.depths[parent] + 1)
        return place


class Family(NamedTuple):
    """Queries (by number) whose contexts all begin with `prefix`, which may be empty."""

    prefix: list[int]
    members: list[int]


def families(queries: Sequence[Query], known: Sequence[Sequence[int]] = ()) -> list[Family]:
    """Group queries by long common beginnings; `known` are prefixes that have been computed before.

    >>> family, = families([Query([7] * 40 + [i], [[1]]) for i in range(64)])
    >>> len(family.prefix), len(family.members)
    (40, 64)
    """
    order = sorted(range(len(queries)), key=lambda i: queries[i].context)
    found: list[Family] = []
    rest: list[int] = []
    for segment in _segments(queries, order):
        prefix = _prefix(queries, segment)
        seen = max((shared(list(old), prefix) for old in known), default=0)
        if seen >= FAMILY_SHARE and seen >= len(prefix) - FAMILY_SHARE:
            prefix = prefix[:seen]
        elif (len(segment) - 1) * len(prefix) < FAMILY_SAVING:
            prefix = []
        alike = [number for number in segment if len(queries[number].context) <= len(prefix) + LONG]
        if len(alike) < len(segment):
            long = (
                number for number in segment if len(queries[number].context) > len(prefix) + LONG
            )
            found += [Family(queries[number].context[:-1], [number]) for number in long]
        if prefix and alike:
            found.append(Family(prefix, alike))
        else:
            rest += alike
    return [*found, Family([], rest)] if rest else found


def rows(queries: Sequence[Query], family: Family, *, limit: int = ROW_LIMIT) -> Iterator[Row]:
    """The family's queries as rows: one each, or several where they share at least a quarter of
    their own tokens."""
    skip = len(family.prefix)
    row = Row()
    spine: list[int] = []  # the places of the last query's context tokens
    last: list[int] = []
    for number in family.members:
        query = queries[number]
        own = query.context[skip:]
        longest = len(own) + sum(len(continuation) - 1 for continuation in query.continuations)
        common = shared(last, own)
        fits = (
            4 * common >= len(own) and common >= 4 and len(row.tokens) + longest - common <= limit
        )
        if row.tokens and not fits:
            yield row
            row, spine = Row(), []
            common = 0
        del spine[common:]
        for token in own[common:]:
            spine.append(row.add(token, spine[-1] if spine else ROOT))
        _branch(row, spine[-1], number, query.continuations)
        last = own
    if row.tokens:
        yield row


def batches(
    made: Sequence[Row], *, tokens: int, outputs: int, most: int | None = None
) -> Iterator[list[Row]]:
    """Rows of like length together, at most `tokens` with padding, `outputs` wanted places and
    `most` rows in each."""
    batch: list[Row] = []
    places = 0
    for row in sorted(made, key=lambda row: (row.chain, len(row.tokens)), reverse=True):
        wants = len(row.wanted)
        fits = (
            (len(batch) + 1) * len(batch[0].tokens) <= tokens and places + wants <= outputs
            if batch
            else True
        )
        if batch and (not fits or batch[0].chain != row.chain or len(batch) == most):
            yield batch
            batch, places = [], 0
        batch.append(row)
        places += wants
    if batch:
        yield batch


def portions(queries: Sequence[Query], most: int) -> Iterator[tuple[int, int, Query]]:
    """Queries as (number, first choice, query), those that ask for more than `most` tokens in
    several portions.

    >>> [(number, first, len(part.continuations)) for number, first, part in portions([Query([1], [[2, 3]] * 5)], 4)]
    [(0, 0, 2), (0, 2, 2), (0, 4, 1)]
    """
    for number, query in enumerate(queries):
        if sum(map(len, query.continuations)) <= most:
            yield number, 0, query
            continue
        first = asked = 0
        for place, continuation in enumerate(query.continuations):
            if place > first and asked + len(continuation) > most:
                yield number, first, Query(query.context, query.continuations[first:place])
                first, asked = place, 0
            asked += len(continuation)
        yield number, first, Query(query.context, query.continuations[first:])


def shared(one: list[int], other: list[int]) -> int:
    """How many tokens two sequences have in common from the start.

    >>> shared([1, 2, 3], [1, 2, 4])
    2
    """
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    low, high = (
        0,
        most,
    )  # one[:low] is common, one[:high] is not: slices compare much faster than a loop
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _branch(row: Row, stem: int, number: int, continuations: Sequence[list[int]]) -> None:
    """Continuations as a tree below the context; the last token of each is only asked for, never
    computed."""
    below: dict[tuple[int, int], int] = {}
    for choice, continuation in enumerate(continuations):
        node = stem
        for token in continuation[:-1]:
            row.wanted.append(Wanted(node, token, number, choice))
            place = below.get((node, token))
            if place is None:
                place = below[node, token] = row.add(token, node)
            node = place
        row.wanted.append(Wanted(node, continuation[-1], number, choice))


def _segments(queries: Sequence[Query], order: list[int]) -> Iterator[list[int]]:
    """Runs of neighbours, in sorted order, that share at least FAMILY_SHARE tokens."""
    run: list[int] = []
    for number in order:
        if run:
            one, other = queries[run[-1]].context, queries[number].context
            if one[:FAMILY_SHARE] != other[:FAMILY_SHARE] or len(other) < FAMILY_SHARE:
                yield run
                run = []
        run.append(number)
    if run:
        yield run


def _prefix(queries: Sequence[Query], segment: list[int]) -> list[int]:
    """What a sorted segment shares, less so much that each query keeps a token of its own."""
    first, last = queries[segment[0]].context, queries[segment[-1]].context
    shortest = min(len(queries[number].context) for number in segment)
    return first[: min(shared(first, last), shortest - 1)]


def plain_rows(queries: Sequence[Query]) -> Iterator[Row]:
    """Rows without branches, for models that take no tree: one for each different text that must be
    read."""
    for number, query in enumerate(queries):
        made: dict[tuple[int, ...], Row] = {}
        for choice, continuation in enumerate(query.continuations):
            path = tuple(continuation[:-1])
            row = made.get(path)
            if row is None:
                row = made[path] = Row()
                for place, token in enumerate((*query.context, *path)):
                    row.add(token, place - 1)
            start = len(query.context) - 1
            row.wanted += [
                Wanted(start + i, token, number, choice) for i, token in enumerate(continuation)
            ]
        yield from made.values()
