"""From object names to subtypes, and from answers to colours: ViPhy's knowledge steps.

Section 2 and appendix A of the paper. Which labels are then typical, gnomon.vision.typical says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from gnomon.files import package_data, read_yaml

COLOURS = (
    "red",
    "orange",
    "yellow",
    "brown",
    "green",
    "blue",
    "purple",
    "pink",
    "white",
    "gray",
    "black",
)
OBJECT_MINIMUM = 100  # how often a name occurs before it has subtypes
SUBTYPE_MINIMUM = 10  # how often a name occurs before it is one


def subtypes(
    names: Mapping[str, int],
    object_minimum: int = OBJECT_MINIMUM,
    subtype_minimum: int = SUBTYPE_MINIMUM,
) -> dict[str, dict[str, int]]:
    """Every object name with its subtypes and their counts, most frequent first.

    Each name is among its own. A subtype of "ball" ends in the word "ball". If its words joined are
    a name too ("base ball", "baseball"), the more frequent spelling stands for both and their
    counts are added; a single word is its own joined form, so its count is doubled. Names rarer
    than `subtype_minimum` are left out; names rarer than `object_minimum` have no subtypes. Names
    are looked up by their last word, so the time grows with their number, not its square.

    >>> names = {"ball": 500, "tennis ball": 90, "base ball": 20, "baseball": 60, "odd ball": 3}
    >>> subtypes(names)["ball"]
    {'ball': 1000, 'tennis ball': 90, 'baseball': 80}
    """
    kept: dict[str, int] = {}
    ending_in: defaultdict[str, list[str]] = defaultdict(list)
    for name, count in names.items():
        words = name.split()
        if words and count >= subtype_minimum:
            kept[name] = count
            ending_in[words[-1]].append(name)
    found = {}
    for name, count in kept.items():
        found[name] = {name: count}
        if count >= object_minimum and name in ending_in:
            found[name] = _collapsed(ending_in[name], kept)
    return found


def _collapsed(candidates: Sequence[str], counts: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in candidates:
        joined = "".join(name.split())
        other = counts.get(joined, 0)
        found[joined if other > counts[name] else name] = counts[name] + other
    return dict(sorted(found.items(), key=lambda pair: pair[1], reverse=True))


class SubtypeCounts(NamedTuple):
    """The first block of Table 1."""

    objects: int
    with_subtypes: int
    cardinality: float  # subtypes of those that have any, the object itself not counted
    deviation: float  # of the population


def subtype_counts(mapping: Mapping[str, Mapping[str, int]]) -> SubtypeCounts:
    """How many objects have subtypes, and how many they have.

    >>> subtype_counts({"ball": {"ball": 9, "tennis ball": 4, "golf ball": 2}, "cup": {"cup": 5}})
    SubtypeCounts(objects=2, with_subtypes=1, cardinality=2.0, deviation=0.0)
    """
    from statistics import fmean, pstdev

    sizes = [len(found) - 1 for found in mapping.values() if len(found) > 1]
    if not sizes:
        return SubtypeCounts(len(mapping), 0, 0.0, 0.0)
    return SubtypeCounts(len(mapping), len(sizes), fmean(sizes), pstdev(sizes))


def basic_colours(answers: Mapping[str, int]) -> dict[str, int]:
    """Counts of the eleven basic colours from counts of raw answers (appendix A.4), as coded.

    Colour terms are replaced inside the answer, in the order of the table, then every basic colour
    that occurs anywhere in it is counted: so "multi-colored" counts as red.

    >>> basic_colours({"teal and white": 2, "clear": 5, "golden": 1})["green"]
    2
    """
    counts = dict.fromkeys(COLOURS, 0)
    for answer, count in answers.items():
        for term, colour in _colour_terms():
            answer = answer.replace(term, colour)
        for colour in COLOURS:
            if colour in answer:
                counts[colour] += count
    return counts


def object_colours(
    shares: Mapping[str, Sequence[float]],
    mapping: Mapping[str, Mapping[str, int]],
    rule: str = "code",
) -> dict[str, dict[str, float]]:
    """Typical colours of each object from the colour shares of all (in the order of COLOURS).

    An object's shares are the plain mean over its subtypes, itself among them; objects whose name
    begins with a word that is no part of an object ("side", "metal" ...) are left out. The rule is
    "code" or "paper", as in gnomon.vision.typical.
    """
    import numpy as np

    from gnomon.vision.typical import typical_labels

    dropped = tuple(read_yaml(package_data("colours.yaml"))["dropped_beginnings"])
    found = {}
    for name, own in shares.items():
        if name.startswith(dropped):
            continue
        among = [shares[subtype] for subtype in mapping.get(name, ()) if subtype in shares]
        mean = np.mean(among or [own], axis=0).tolist()
        found[name] = typical_labels(dict(zip(COLOURS, mean, strict=True)), rule)
    return found


@cache
def _colour_terms() -> tuple[tuple[str, str], ...]:
    terms = read_yaml(package_data("colours.yaml"))["terms"]
    return tuple((term, colour) for term, colour in terms)
