"""Ids that say which question they stand for: the same question has the same id under any seed, another another.

Runs are compared by id, so a running number would set unrelated questions beside each other.
"""

from __future__ import annotations

from hashlib import sha256

DIGITS = 12  # hexadecimal; of a million different questions two share a digest with a chance of 0.2 %


def digest(*parts: str, digits: int = DIGITS) -> str:
    """A short name for some texts; which text is which counts.

    >>> digest("Ann sits.", "Ann stands.") == digest("Ann sits.", "Ann stands.") != digest("Ann stands.", "Ann sits.")
    True
    """
    return sha256("\t".join(parts).encode()).hexdigest()[:digits]
