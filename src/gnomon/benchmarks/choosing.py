"""Options that name several of a few things: "rcc8, allen"."""

from __future__ import annotations

from collections.abc import Iterable

from gnomon.errors import unknown


def several(text: str, known: Iterable[str], what: str) -> list[str]:
    """Those that are named, in the order of what is known; all if none is.

    >>> several("places, four", ["four", "eight", "places"], "family")
    ['four', 'places']
    """
    names = list(known)
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    for name in wanted:
        if name not in names:
            raise unknown(what, name, names)
    return [name for name in names if name in wanted or not wanted]
