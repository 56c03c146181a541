"""How many items a bar, a point or a cell needs before it is drawn: the one rule of all charts.

What rests on less says more about chance than about the model. It stays in the numbers behind the
chart, with its n.
"""

from __future__ import annotations

from gnomon.contracts import Measure
from gnomon.records import Score

ITEMS = 20  # that a bar, a point or a row of a matrix rests on
WIDEST = 0.5  # of a 95 % interval, as a share of the whole axis
GROUPS = 10  # that a figure of whole groups rests on
GROUP = 8  # items that a group has on average, before shares of groups are drawn
RUNS = 3  # that a share of runs, as on a single item, rests on
RULE = (
    f"Bars and points are drawn from {ITEMS} items (or {GROUPS} whole groups) on, where the 95 % "
    f"interval is at most {100 * WIDEST:.0f} points wide; the numbers behind a chart hold the rest."
)


def enough(n: int) -> bool:
    """Whether a share of n items is worth drawing.

    >>> enough(3), enough(40)
    (False, True)
    """
    return n >= ITEMS


def well_known(score: Score, measure: Measure) -> bool:
    """Whether a figure is worth drawing; one of whole groups counts groups, not items."""
    least = GROUPS if measure.least_group else ITEMS
    if score.value is None or score.n < least:
        return False
    if score.low is None or score.high is None:
        return True
    return score.high - score.low <= WIDEST
