"""Rows of a batch as one line of tokens, in which nothing stands twice. Plain lists; no tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gnomon.models.transformers.masks import filled
from gnomon.models.transformers.rows import ROOT, TokenRow


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
