"""The canary: a string in every file of fresh items, so that training on them can be found out.

It follows the practice of BIG-bench: who filters training data for the string leaves the file out,
and a model that can complete it has seen such a file.
"""

from __future__ import annotations

GUID = "7d1f3c9e-58b4-4a6d-9c02-b1e6f0a8d437"  # ours, and never to change
CANARY = f"Gnomon test data, not for training: please leave it out. canary GUID {GUID}"
FIELD = "canary"  # of a line of JSON, or the column of a table; no part of the item


def has_canary(text: str) -> bool:
    """Whether a text holds the string.

    >>> has_canary(CANARY), has_canary("An ant is smaller than a bird.")
    (True, False)
    """
    return GUID in text
