"""How many items a bar, a point or a cell needs before it is drawn: the one rule of all charts.

What rests on less says more about chance than about the model. It stays in the numbers behind the
chart, with its n.
"""

from __future__ import annotations

from gnomon.records import Score

ITEMS = 20  # that a bar, a point or a row of a matrix rests on
WIDEST = 0.5  # of a 95 % interval, as a share of the whole axis
GROUP = 10  # items that a group has on average, before shares of groups are drawn
RULE = (
    f"Drawn from {ITEMS} items on, where the 95 % interval is at most {100 * WIDEST:.0f} points "
    "wide; the numbers behind the chart hold the rest."
)


def enough(n: int, low: float | None = None, high: float | None = None) -> bool:
    """Whether a share of n items is worth drawing.

    >>> enough(3), enough(40), enough(40, 0.2, 0.8)
    (False, True, False)
    """
    if n < ITEMS:
        return False
    return low is None or high is None or high - low <= WIDEST


def well_known(score: Score) -> bool:
    """Whether a figure is worth drawing."""
    return score.value is not None and enough(score.n, score.low, score.high)
