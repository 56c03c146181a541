"""Log-probabilities put together."""

from __future__ import annotations

import math
from collections.abc import Iterable


def log_sum(values: Iterable[float]) -> float:
    """The logarithm of a sum of probabilities: a choice is as likely as all its words together.

    >>> round(log_sum([math.log(0.25), math.log(0.5)]), 6) == round(math.log(0.75), 6)
    True
    """
    found = list(values)
    top = max(found)
    if len(found) == 1 or top == -math.inf:
        return top
    return top + math.log(sum(math.exp(value - top) for value in found))
