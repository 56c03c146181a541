"""What to compute, planned before anything is computed: no token twice.

A row is a tree laid flat: each token knows its parent and its depth, and attends to its ancestors
only. The choices of an item branch off its context, items that begin alike branch off their common
beginning, and what a whole family of queries shares (worked examples, a system message) is a prefix
computed once. Lists and masks of numpy; no torch.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.models.choices import Query, take

ROOT = -1  # the parent of a row's first token: the end of the family's prefix
ROW_LIMIT = 256  # tokens in a row of merged queries: attention within it grows with the square
FAMILY_SHARE = 32  # tokens that neighbours must share to be of one family
FAMILY_SAVING = 1024  # tokens that a prefix must save to be worth a pass of its own
PADDING = 2  # times the tokens of a pass that attention may be given, where rows are packed
SIZES = 4  # of packed rows, for each doubling of their length: attention is given rows of one size
LONG = 2048  # tokens of a text that is a prefix of its own: masks grow with the square of a row


class WantedToken(NamedTuple):
    """A log-probability that is asked for: of `token` after the row's token `node`."""

    node: int
    token: int
    query: int  # for which it counts
    choice: int  # and for which of its continuations


class QueryPart(NamedTuple):
    """Some continuations of a query: those from `first` on."""

    number: int  # of the whole query
    first: int
    query: Query


@dataclass
class TokenRow:
    """Tokens of one row of a batch, with the tree they form."""

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)  # counted from the end of the prefix
    wanted: list[WantedToken] = field(default_factory=list)
    chain: bool = True  # every token's parent is the token before it

    def add(self, token: int, parent: int) -> int:
        """Append a token below its parent and return its place."""
        place = len(self.tokens)
        self.chain = self.chain and parent == place - 1
        self.tokens.append(token)
        self.parents.append(parent)
        self.depths.append(0 if parent == ROOT else self.depths[parent] + 1)
        return place


class QueryFamily(NamedTuple):
    """Queries (by number) whose contexts all begin with `prefix`, which may be empty."""

    prefix: list[int]
    members: list[int]


def families(queries: Sequence[Query], known: Sequence[Sequence[int]] = ()) -> list[QueryFamily]:
    """Group queries by long common beginnings; `known` are prefixes that have been computed before.

    >>> family, = families([Query([7] * 40 + [i], [[1]]) for i in range(64)])
    >>> len(family.prefix), len(family.members)
    (40, 64)
    """
    order = sorted(range(len(queries)), key=lambda number: queries[number].context)
    found: list[QueryFamily] = []
    rest: list[int] = []
    for segment in _segments(queries, order):
        prefix = _worthwhile_prefix(queries, segment, known)
        members = []
        for number in segment:
            context = queries[number].context
            if len(context) > len(prefix) + LONG:
                found.append(QueryFamily(context[:-1], [number]))
            else:
                members.append(number)

        if not prefix:
            rest += members
        elif members:
            found.append(QueryFamily(prefix, members))
    if rest:
        found.append(QueryFamily([], rest))
    return found


def rows(
    queries: Sequence[Query], family: QueryFamily, *, limit: int = ROW_LIMIT
) -> Iterator[TokenRow]:
    """The family's queries as rows.

    One row each, or one for several that share at least a quarter of their own tokens.
    """
    skip = len(family.prefix)
    row = TokenRow()
    spine: list[int] = []  # the places of the last query's context tokens
    last: list[int] = []
    for number in family.members:
        query = queries[number]
        own = query.context[skip:]
        common = shared(last, own)
        if row.tokens and not _joins(row, query, len(own), common, limit):
            yield row
            row, spine, common = TokenRow(), [], 0

        del spine[common:]
        for token in own[common:]:
            spine.append(row.add(token, spine[-1] if spine else ROOT))
        _branch(row, spine[-1], number, query.continuations)
        last = own
    if row.tokens:
        yield row


def batches(
    made: Sequence[TokenRow],
    *,
    tokens: int,
    outputs: int,
    most: int | None = None,
    packed: bool = False,
) -> Iterator[list[TokenRow]]:
    """Rows of like length and kind together, the longest first.

    In a batch are at most `tokens`, padding counted, `outputs` wanted places and `most` rows. Where
    rows are to be packed, what neighbours begin with alike counts once and padding does not: rows
    that come sorted by their tokens stay so among those of like length.
    """
    limit = PADDING * tokens if packed else tokens
    batch: list[TokenRow] = []
    own = places = longest = 0

    def order(row: TokenRow) -> tuple[bool, float]:
        size = len(row.tokens)
        return row.chain, int(SIZES * math.log2(size)) if packed else size

    for row in sorted(made, key=order, reverse=True):
        size, wants = len(row.tokens), len(row.wanted)
        new = size
        if batch:
            new -= shared(batch[-1].tokens, row.tokens)
            padded = (len(batch) + 1) * max(longest, size)
            full = padded > limit or own + new > tokens
            full = full or places + wants > outputs or len(batch) == most
            if full or batch[0].chain != row.chain:
                yield _longest_first(batch)
                batch, new = [], size
                own = places = longest = 0
        batch.append(row)
        own += new
        places += wants
        longest = max(longest, size)
    if batch:
        yield _longest_first(batch)


def _longest_first(batch: list[TokenRow]) -> list[TokenRow]:
    return sorted(batch, key=lambda row: len(row.tokens), reverse=True)


def portions(queries: Sequence[Query], most: int) -> Iterator[QueryPart]:
    """The queries, those that ask for more than `most` tokens in several parts.

    >>> found = portions([Query([1], [[2, 3]] * 5)], 4)
    >>> [(part.first, len(part.query.continuations)) for part in found]
    [(0, 2), (2, 2), (4, 1)]
    """
    for number, query in enumerate(queries):
        if sum(map(len, query.continuations)) <= most:
            yield QueryPart(number, 0, query)
            continue

        first = asked = 0
        for place, continuation in enumerate(query.continuations):
            if place > first and asked + len(continuation) > most:
                yield QueryPart(
                    number, first, Query(query.context, query.continuations[first:place])
                )
                first, asked = place, 0
            asked += len(continuation)
        yield QueryPart(number, first, Query(query.context, query.continuations[first:]))


def shared(one: list[int], other: list[int]) -> int:
    """How many tokens two sequences have in common from the start.

    >>> shared([1, 2, 3], [1, 2, 4])
    2
    """
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    # one[:low] is common, one[:high] is not: slices compare much faster than a loop
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _joins(row: TokenRow, query: Query, own: int, common: int, limit: int) -> bool:
    """Whether a query of so many tokens shares enough of them with a row, and fits into it."""
    if common < 4 or 4 * common < own:
        return False
    longest = own + sum(map(len, query.continuations)) - len(query.continuations)
    return len(row.tokens) + longest - common <= limit


def _branch(row: TokenRow, stem: int, number: int, continuations: Sequence[list[int]]) -> None:
    """Continuations as a tree below the context; the last token of each is asked for, not read."""
    below: dict[tuple[int, int], int] = {}
    for choice, continuation in enumerate(continuations):
        node = stem
        for token in continuation[:-1]:
            row.wanted.append(WantedToken(node, token, number, choice))
            place = below.get((node, token))
            if place is None:
                place = below[node, token] = row.add(token, node)
            node = place
        row.wanted.append(WantedToken(node, continuation[-1], number, choice))


def _segments(queries: Sequence[Query], order: list[int]) -> Iterator[list[int]]:
    """Runs of neighbours, in sorted order, that share at least FAMILY_SHARE tokens."""

    def beginning(number: int) -> list[int]:
        return queries[number].context[:FAMILY_SHARE]

    for common, run in groupby(order, key=beginning):
        if len(common) == FAMILY_SHARE:
            yield list(run)
            continue
        for number in run:  # too short to share that much
            yield [number]


def _worthwhile_prefix(
    queries: Sequence[Query], segment: list[int], known: Sequence[Sequence[int]]
) -> list[int]:
    """What a segment shares, or as much of it as is known; nothing if too little is saved."""
    prefix = common_beginning([query.context for query in take(queries, segment)])
    seen = max((shared(list(old), prefix) for old in known), default=0)
    if seen >= FAMILY_SHARE and seen >= len(prefix) - FAMILY_SHARE:
        return prefix[:seen]
    if (len(segment) - 1) * len(prefix) < FAMILY_SAVING:
        return []
    return prefix


def common_beginning(contexts: Sequence[list[int]]) -> list[int]:
    """What all contexts share, less so much that each keeps a token of its own."""
    first, last = min(contexts), max(contexts)  # what these two share, all share
    shortest = min(map(len, contexts))
    return first[: min(shared(first, last), shortest - 1)]


def plain_rows(queries: Sequence[Query]) -> Iterator[TokenRow]:
    """Rows without branches, as any model takes them: one for each text that must be read."""
    for number, query in enumerate(queries):
        made: dict[tuple[int, ...], TokenRow] = {}
        end = len(query.context) - 1
        for choice, continuation in enumerate(query.continuations):
            path = tuple(continuation[:-1])
            if path not in made:
                made[path] = _chain([*query.context, *path])
            for place, token in enumerate(continuation, start=end):
                made[path].wanted.append(WantedToken(place, token, number, choice))
        yield from made.values()


def _chain(tokens: list[int]) -> TokenRow:
    row = TokenRow()
    for place, token in enumerate(tokens):
        row.add(token, place - 1)
    return row


# --- what a token of a batch of rows sees, and how rows of unlike length are filled up -----------


def filled(values: list[int], length: int) -> list[int]:
    """A row filled up with its last value: nothing that stands after a token changes it.

    >>> filled([4, 5], 4)
    [4, 5, 5, 5]
    """
    return values + values[-1:] * (length - len(values))


def ancestors(batch: Sequence[TokenRow], length: int) -> NDArray[np.bool_]:
    """For each row and token, which tokens of the row it sees: its ancestors and itself.

    Rows of a batch that are chains all see the same, so one stands for all.
    """
    if batch[0].chain:
        return np.tril(np.ones((1, length, length), dtype=bool))
    sees = np.zeros((len(batch), length, length), dtype=bool)
    for row, seen in zip(batch, sees, strict=True):
        np.fill_diagonal(seen, True)
        for place, parent in enumerate(row.parents):
            if parent >= 0:
                seen[place, : parent + 1] |= seen[parent, : parent + 1]
    return sees


# --- rows of a batch as one line of tokens, in which nothing stands twice ------------------------


@dataclass
class TokenLine:
    """The tokens of a batch, those that follow the same tokens once."""

    tokens: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)  # counted from the end of the prefix
    homes: list[int] = field(default_factory=list)  # for each token, one of its places in the batch
    places: list[int] = field(default_factory=list)  # for each place of the batch, its token here


def line_up(batch: Sequence[TokenRow]) -> TokenLine:
    """The line of a batch, whose first row is its longest.

    A place is counted through the batch: row times length plus token. Rows are filled up to one
    length with their last token.

    >>> rows = [TokenRow([7, 8, 9], [-1, 0, 1], [0, 1, 2]), TokenRow([7, 5], [-1, 0], [0, 1])]
    >>> line = line_up(rows)
    >>> line.tokens, line.places
    ([7, 8, 9, 5], [0, 1, 2, 0, 3, 3])
    """
    line = TokenLine()
    length = len(batch[0].tokens)
    known: dict[tuple[int, int], int] = {}  # what a token follows, and the token: where it stands
    for number, row in enumerate(batch):
        own: list[int] = []
        for node, (token, parent) in enumerate(zip(row.tokens, row.parents, strict=True)):
            above = ROOT if parent == ROOT else own[parent]
            place = known.setdefault((above, token), len(known))
            if place == len(line.tokens):
                line.tokens.append(token)
                line.depths.append(row.depths[node])
                line.homes.append(number * length + node)
            own.append(place)
        line.places += filled(own, length)
    return line
