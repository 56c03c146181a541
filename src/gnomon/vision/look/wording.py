"""Words of captions, and the names that follow from what kind of word each is.

A name is a run of nouns, the last of them in the singular: "the tennis players" name a tennis
player. What is said to be part of something carries it before its own name: "the front of the bus"
and "the bus has a front" both name a bus front.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from gnomon.files import package_data, read_yaml

NOUN, PLURAL, MODIFIER, OTHER = "N", "S", "M", "O"
OWNER = "'s"
HAVING = frozenset({"has", "have", "had", "having"})
TOWARDS = frozenset({"in", "on", "at", "to", "from", "by"})
BREAKS = frozenset(",.;:/&")
WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*|[,.;:/&]")
LONGEST_PHRASE = 1000  # characters; the rest of a longer caption is not read


class Name(NamedTuple):
    """What a phrase calls a thing, and what the thing is a part of."""

    name: str
    whole: str = ""


class _Run(NamedTuple):
    """Consecutive nouns from one word to another."""

    start: int
    end: int
    name: str


def words_of(phrase: str) -> list[str]:
    """The words of a phrase in lower case; commas and the like, and 's, are words of their own.

    >>> words_of("The man's T-shirt, red.")
    ['the', 'man', "'s", 't-shirt', ',', 'red', '.']
    """
    phrase = phrase[:LONGEST_PHRASE].lower()
    words: list[str] = WORD.findall(phrase)
    if "'" not in phrase and "’" not in phrase:
        return words
    split: list[str] = []
    for word in words:
        if word.endswith(("'s", "’s")):
            split += (word[:-2], OWNER)
        else:
            split.append(word)
    return split


def names_in(
    words: Sequence[str], classes: Sequence[str], singular: Callable[[str], str]
) -> list[Name]:
    """The names in a phrase, that of the thing it is about first.

    `classes` says of each word whether it is a NOUN, a PLURAL, a MODIFIER or something else.

    >>> names_in("the front of the red bus".split(), "MNOMMN", str)
    [Name(name='bus front', whole='bus')]
    """
    runs = list(_runs(words, classes, singular))
    if len(runs) == 1:  # most phrases
        return [Name(runs[0].name)]
    names = []
    place = 0
    while place < len(runs):
        run = runs[place]
        after = runs[place + 1] if place + 1 < len(runs) else None
        joined = after and _joined(run, after, words, classes)
        if after and joined:
            names += joined
            place += 2
        else:
            names.append(Name(run.name))
            place += 1
    return names


def _runs(
    words: Sequence[str], classes: Sequence[str], singular: Callable[[str], str]
) -> Iterator[_Run]:
    hues, empty, places = _table("colours"), _table("no_names"), _table("places")
    place, end = 0, len(words)
    while place < end:
        if classes[place] not in (NOUN, PLURAL):
            place += 1
            continue
        start = place
        while place < end and classes[place] in (NOUN, PLURAL):
            place += 1
        first = start
        while first < place - 1 and words[first] in hues:
            first += 1
        last = words[place - 1]
        if classes[place - 1] == PLURAL:
            last = singular(last)
        name = " ".join((*words[first : place - 1], last)) if place - first > 1 else last
        if name in places and _is_place(words, classes, start, place):
            continue
        if name not in empty:
            yield _Run(start, place, name)


def _is_place(words: Sequence[str], classes: Sequence[str], start: int, end: int) -> bool:
    """Whether a noun is part of a longer preposition: in front of, on the side of."""
    if end >= len(words) or words[end] != "of":
        return False
    before = start - 1
    while before >= 0 and classes[before] == MODIFIER:
        before -= 1
    return before >= 0 and words[before] in TOWARDS


def _joined(
    run: _Run, after: _Run, words: Sequence[str], classes: Sequence[str]
) -> list[Name] | None:
    """Two runs that name one thing: a part and its whole, or a thing and its owner; else none."""
    link = words[run.end]
    for place in range(run.end + 1, after.start):
        if classes[place] != MODIFIER:
            return None
    if link == OWNER:
        return [Name(after.name), Name(run.name)]
    if link == "of":
        return [Name(f"{after.name} {run.name}", after.name)]
    if link in HAVING:
        return [Name(f"{run.name} {after.name}", run.name)]
    return None


@cache
def sure_colours() -> frozenset[str]:
    """Colours that are never the name of a thing."""
    return _table("colours") - {"orange"}


@cache
def _table(name: str) -> frozenset[str]:
    return frozenset(naming_data()[name])


@cache
def naming_data() -> dict[str, Any]:
    """What is fixed about names (data/vision/names.yaml)."""
    content: dict[str, Any] = read_yaml(package_data("vision/names.yaml"))
    return content
