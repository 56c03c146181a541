"""How often something must be seen before it is a finding, and how sure its shares are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from msgspec.structs import replace

from gnomon.look.records import MOST_REGIONS, PropertyFinding

Z = 1.959963984540054  # of a 95 % interval
DIGITS = 6  # of shares, so that a file is the same on every machine
MOST_EXAMPLES = 12  # regions that are named for a label


class Least(NamedTuple):
    """How often something must be seen before it is a finding."""

    colour: int
    pair: int
    relation: int  # of a pair, for the released code

    @classmethod
    def usual(cls, pictures: int, pair: int = 0) -> Least:
        """The paper's 10 and 100 for a hundred thousand pictures, less for fewer, but 3 at least.

        `pair` is what the user wants for pairs; 0 leaves it to the number of pictures.

        >>> Least.usual(108_000), Least.usual(128)
        (Least(colour=10, pair=100, relation=10), Least(colour=3, pair=3, relation=1))
        """
        least = pair or max(3, min(100, pictures // 1000))
        return cls(colour=min(10, least), pair=least, relation=max(1, least // 10))


def wilson(share: float, count: float) -> tuple[float, float]:
    """The interval of a share that was seen in so many independent votes (Wilson 1927), 95 %.

    >>> [round(bound, 3) for bound in wilson(0.7, 10)]
    [0.397, 0.892]
    """
    if count <= 0:
        return 0.0, 1.0
    middle = share + Z * Z / (2 * count)
    half = Z * sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    whole = 1 + Z * Z / count
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def shares_of(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights as shares of their sum."""
    total = sum(weights.values())
    return {label: weight / total for label, weight in weights.items()}


def finished(
    finding: PropertyFinding, shares: Mapping[str, float], votes: float, typical: Sequence[str]
) -> PropertyFinding:
    """A finding with counts and examples, completed by what its shares and votes say."""
    distribution, intervals = {}, {}
    for label, share in shares.items():
        low, high = wilson(share, votes)
        distribution[label] = round(share, DIGITS)
        intervals[label] = (round(low, DIGITS), round(high, DIGITS))
    regions: dict[str, None] = {}
    for behind in finding.examples.values():
        regions |= dict.fromkeys(behind)
    return replace(
        finding,
        distribution=distribution,
        intervals=intervals,
        typical=tuple(typical),
        regions=tuple(regions)[:MOST_REGIONS],
    )
