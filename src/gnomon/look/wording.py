"""Words of captions, and the names that follow from what kind of word each is.

A name is a run of nouns, the last of them in the singular: "the tennis players" name a tennis
player. What is said to be part of something carries it before its own name: "the front of the bus"
and "the bus has a front" both name a bus front.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from gnomon.files import package_data, read_yaml

NOUN, PLURAL, MODIFIER, OTHER = "N", "S", "M", "O"
OWNER = "'s"
HAVING = frozenset({"has", "have", "had", "having"})
TOWARDS = frozenset({"in", "on", "at", "to", "from", "by"})
BREAKS = frozenset(",.;:/&")
WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*|[,.;:/&]")
NOUNS = re.compile(f"[{NOUN}{PLURAL}]+")
LONGEST_PHRASE = 1000  # characters; the rest of a longer caption is not read


class Name(NamedTuple):
    """What a phrase calls a thing, and what the thing is a part of."""

    name: str
    whole: str = ""


# Consecutive nouns: their first word, the one behind them, the name. A plain tuple, as it is made
# for every noun of every caption.
_Run = tuple[int, int, str]


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
    runs = _runs(words, classes, singular)
    if len(runs) == 1:  # most phrases
        return [Name(runs[0][2])]
    names = []
    place = 0
    while place < len(runs):
        joined = None
        if place + 1 < len(runs):
            joined = _joined(runs[place], runs[place + 1], words, classes)
        if joined:
            names += joined
            place += 2
        else:
            names.append(Name(runs[place][2]))
            place += 1
    return names


def _runs(
    words: Sequence[str], classes: Sequence[str], singular: Callable[[str], str]
) -> list[_Run]:
    """The runs of nouns in a phrase, without colours before them and without mere places."""
    hues, empty, places = _tables()
    found = []
    for match in NOUNS.finditer("".join(classes)):
        start, end = match.span()
        first = start
        while first < end - 1 and words[first] in hues:
            first += 1
        name = words[end - 1]
        if classes[end - 1] == PLURAL:
            name = singular(name)
        if end - first > 1:
            name = " ".join((*words[first : end - 1], name))
        if name in places and _is_place(words, classes, start, end):
            continue
        if name not in empty:
            found.append((start, end, name))
    return found


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
    _, end, name = run
    start, _, other = after
    link = words[end]
    for place in range(end + 1, start):
        if classes[place] != MODIFIER:
            return None
    if link == OWNER:
        return [Name(other), Name(name)]
    if link == "of":
        return [Name(f"{other} {name}", other)]
    if link in HAVING:
        return [Name(f"{name} {other}", name)]
    return None


@cache
def sure_kinds() -> dict[str, str]:
    """Words that are of one kind whatever stands beside them.

    A colour is no noun. Orange may be a fruit; as a noun it is left out before other nouns.
    """
    found = dict.fromkeys((*BREAKS, OWNER), OTHER)
    found.update(dict.fromkeys(_table("colours"), MODIFIER))
    found["orange"] = NOUN
    return found


@cache
def _tables() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Colours, words that are no names, and places."""
    return _table("colours"), _table("no_names"), _table("places")


@cache
def _table(name: str) -> frozenset[str]:
    return frozenset(naming_data()[name])


@cache
def naming_data() -> dict[str, Any]:
    """What is fixed about names (data/vision/names.yaml)."""
    content: dict[str, Any] = read_yaml(package_data("vision/names.yaml"))
    return content
