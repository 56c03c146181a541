"""Things put together by what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Thing = TypeVar("Thing")
Key = TypeVar("Key")


def grouped(things: Iterable[Thing], key: Callable[[Thing], Key]) -> dict[Key, list[Thing]]:
    """Things by what a function says of them, both in the order in which they come.

    >>> grouped(["ant", "bee", "ape"], lambda word: word[0])
    {'a': ['ant', 'ape'], 'b': ['bee']}
    """
    found: dict[Key, list[Thing]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return found
