"""From counts to typical labels, and from object names to subtypes: ViPhy's knowledge steps
(section 2, appendix A).

Where the paper and the released code differ, both rules are here under `as_written` and `as_coded`;
the published data follow the code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from gnomon.files import package_data, read_yaml

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Shares = Mapping[str, float]
TypicalRule = Callable[[Shares], dict[str, float]]
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
OBJECT_MINIMUM, SUBTYPE_MINIMUM = 100, 10  # how often a name occurs before it has, or is, a subtype


def threshold(labels: int) -> float:
    """The share a label needs, by how many labels there are (appendix A.2).

    >>> [threshold(n) for n in (2, 3, 4, 11)]
    [0.3, 0.2, 0.1, 0.1]
    """
    return {1: 0.0, 2: 0.3, 3: 0.2}.get(labels, 0.1)


def typical_as_written(shares: Shares) -> dict[str, float]:
    """Typical labels by the paper: keep shares greater than the threshold for their number,
    renormalise, repeat.

    >>> sorted(typical_as_written({"above": 0.72, "level": 0.14, "below": 0.14}))
    ['above']
    """
    kept = {label: share for label, share in shares.items() if share > 0}
    while len(kept) > 1:
        least = threshold(len(kept))
        staying = {label: share for label, share in kept.items() if share > least}
        if not staying or len(staying) == len(kept):
            break
        total = sum(staying.values())
        kept = {label: share / total for label, share in staying.items()}
    return kept


def typical_as_coded(shares: Shares) -> dict[str, float]:
    """Typical labels by the released code, in its float32.

    The first pass asks for a tenth whatever the number of labels, shares equal to the threshold
    stay, and a pass that drops nothing is the last: so two or three labels of at least a tenth each
    are never held to 0.3 or 0.2.

    >>> sorted(typical_as_coded({"above": 0.72, "level": 0.14, "below": 0.14}))
    ['above', 'below', 'level']
    """
    kept, before, least = dict(shares), len(shares), 0.1
    while True:
        kept = {label: share for label, share in kept.items() if share >= least}
        if not kept:
            return dict(shares)
        kept = _renormalised(kept)
        if len(kept) in (1, before):
            return kept
        before, least = len(kept), threshold(len(kept))


def typical_relations(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Typical elevations of a pair from its counts of ">", "=" and "<", as the published column was
    made.

    At least a fifth of the counts; of two that are left, at least three tenths. In float32: four
    published rows lie on a boundary that float64 would decide otherwise. All three labels (a pair
    the authors dropped) may come out.

    >>> typical_relations({">": 23, "=": 258, "<": 129})
    ('=', '<')
    """
    import numpy as np

    shares = _shares(list(counts.values()))
    kept = [
        (label, share)
        for label, share in zip(counts, shares, strict=True)
        if share >= np.float32(0.2)
    ]
    if len(kept) == 2:
        again = _shares([share for _, share in kept])
        kept = [pair for pair, share in zip(kept, again, strict=True) if share >= np.float32(0.3)]
    return tuple(label for label, _ in kept)


def typical_size(greater: int, lesser: int) -> str:
    """ ">" or "<" where seven tenths of the counts say so; empty for a pair that is left out as
    ambiguous.

    >>> typical_size(70, 30), typical_size(6, 4)
    ('>', '')
    """
    total = greater + lesser
    if total and lesser / total >= 0.7:
        return "<"
    return ">" if total and greater / total >= 0.7 else ""


def subtypes(
    names: Mapping[str, int],
    object_minimum: int = OBJECT_MINIMUM,
    subtype_minimum: int = SUBTYPE_MINIMUM,
) -> dict[str, dict[str, int]]:
    """Every object name with its subtypes and their counts, most frequent first; each name is among
    its own.

    A subtype of "ball" ends in the word "ball". If its words joined are a name too ("base ball",
    "baseball"), the more frequent spelling stands for both and their counts are added; a single
    word is its own joined form, so its count is doubled. Names rarer than `subtype_minimum` are
    left out; names rarer than `object_minimum` have no subtypes. Names are looked up by their last
    word, so the time grows with their number, not its square.

    >>> subtypes({"ball": 500, "tennis ball": 90, "base ball": 20, "baseball": 60, "odd ball": 3})["ball"]
    {'ball': 1000, 'tennis ball': 90, 'baseball': 80}
    """
    kept = {name: count for name, count in names.items() if count >= subtype_minimum}
    ending_in: defaultdict[str, list[str]] = defaultdict(list)
    for name in kept:
        ending_in[name.rsplit(maxsplit=1)[-1]].append(name)
    found = {}
    for name, count in kept.items():
        candidates = ending_in.get(name, []) if count >= object_minimum else []
        found[name] = _collapsed(candidates, kept) or {name: count}
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
    return SubtypeCounts(
        len(mapping), len(sizes), fmean(sizes) if sizes else 0.0, pstdev(sizes) if sizes else 0.0
    )


def basic_colours(answers: Mapping[str, int]) -> dict[str, int]:
    """Counts of the eleven basic colours from counts of a model's raw answers (appendix A.4), as
    coded.

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
    rule: TypicalRule = typical_as_coded,
) -> dict[str, dict[str, float]]:
    """Typical colours of each object from the colour shares of all objects (in the order of
    COLOURS).

    An object's shares are the plain mean over its subtypes, itself among them; objects whose name
    begins with a word that is no part of an object ("side", "metal" ...) are left out.
    """
    import numpy as np

    dropped = tuple(read_yaml(package_data("viphy/colours.yaml"))["dropped_beginnings"])
    found = {}
    for name in shares:
        if not name.startswith(dropped):
            among = [
                shares[subtype] for subtype in mapping.get(name, {name: 0}) if subtype in shares
            ]
            mean = np.mean(among or [shares[name]], axis=0)
            found[name] = rule(dict(zip(COLOURS, (float(share) for share in mean), strict=True)))
    return found


def _renormalised(shares: Shares) -> dict[str, float]:
    return dict(
        zip(shares, (float(share) for share in _shares(list(shares.values()))), strict=True)
    )


def _shares(values: Sequence[float]) -> NDArray[np.float32]:
    import numpy as np

    array = np.asarray(values, dtype=np.float32)
    total = array.sum()
    return array / total if total else array


@cache
def _colour_terms() -> tuple[tuple[str, str], ...]:
    return tuple(
        (term, colour) for term, colour in read_yaml(package_data("viphy/colours.yaml"))["terms"]
    )
