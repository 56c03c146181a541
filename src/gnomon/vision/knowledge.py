"""What pictures teach about objects: ViPhy's steps, and the record of what was found.

From names to subtypes, from answers to colours, from counts to typical labels: section 2 and
appendix A of the paper.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.errors import check_known
from gnomon.files import package_data, read_yaml

COLOURS = tuple("red orange yellow brown green blue purple pink white gray black".split())
MOST_REGIONS = 50  # that a finding names; its counts are of all
OBJECT_MINIMUM = 100  # how often a name occurs before it has subtypes
SUBTYPE_MINIMUM = 10  # how often a name occurs before it is one


class PropertyFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What the pictures say about an object, or about a pair of them."""

    what: str  # an object, or a pair as "a|b"
    property: str  # "name", "subtype", "colour", "size" or "elevation"
    objects: tuple[str, ...] = ()  # the one object, or the two of the pair in order
    scene: str = ""  # empty for all scenes together
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    distribution: dict[str, float] = msgspec.field(default_factory=dict)
    # of each label's share, low and high
    intervals: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    typical: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()  # the first of those behind it, at most MOST_REGIONS
    # the first of those behind each label; of a pair, a region of each object by turns
    examples: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    pictures: int = 0  # that say something about it


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
    "code" or "paper", as in gnomon.vision.knowledge.
    """
    import numpy as np

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


# Which labels are typical of an object, given their shares: ViPhy's rules (appendix A.2).
#
# The paper and the released code differ, so there are two rules, "paper" and "code"; the published
# data follow the code, and so do its tables. All sums are in float32, as there: some published rows
# lie on a boundary that float64 would decide otherwise.


Floats = NDArray[np.floating]
Flags = NDArray[np.bool_]
Shares = Mapping[str, float]
TYPICAL_RULES = ("code", "paper")
# The share a label needs if 0, 1, 2, 3, or 4 and more labels are left.
LEAST = np.array([0.0, 0.0, 0.3, 0.2, 0.1], dtype=np.float32)


def typical_sets(probabilities: Floats, rule: str = "code", *, real: Flags | None = None) -> Flags:
    """[rows, labels] which labels are typical: repeatedly drop the rare ones and renormalise.

    Both rules keep p against p_min = .1, .2 and .3 for 4 or more, 3 and 2 labels left, and stop
    when a step would leave none or drops none. "paper" keeps p > p_min, with p_min by the labels
    there are from the start. "code" keeps p >= p_min, starts from .1 whatever the number of labels,
    and so never gets to .2 or .3 if nothing is below .1.

    `real` says which labels there are, where rows have fewer than columns.

    >>> shares = np.array([[0.5, 0.35, 0.15]])
    >>> typical_sets(shares, "code").tolist(), typical_sets(shares, "paper").tolist()
    ([[True, True, True]], [[True, True, False]])
    """
    check_known("rule for typical labels", rule, TYPICAL_RULES)
    shares = np.asarray(probabilities, dtype=np.float32)
    kept = np.ones(shares.shape, dtype=bool) if real is None else real.copy()
    going = np.ones(len(shares), dtype=bool)  # rows that are not decided yet
    least = np.full(len(shares), 0.1, dtype=np.float32)
    while going.any():
        count = kept.sum(axis=1)
        if rule == "paper":
            least = LEAST[np.minimum(count, 4)]
            going &= count > 1
            passing = shares > least[:, None]
        else:
            passing = shares >= least[:, None]

        left = np.where(going[:, None], kept & passing, kept)
        going &= left.any(axis=1)  # where none would be left, the set stays as it was
        left = np.where(going[:, None], left, kept)
        shares = np.where(going[:, None], _renormalised(shares, left), shares)

        kept = left
        now = kept.sum(axis=1)
        going &= (now < count) & (now > 1)
        least = LEAST[np.minimum(now, 4)]
    return kept


def _renormalised(shares: Floats, kept: Flags) -> Floats:
    rest = np.where(kept, shares, np.float32(0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = rest / rest.sum(axis=1, keepdims=True, dtype=np.float32)
    return found


def typical_labels(shares: Shares, rule: str = "code") -> dict[str, float]:
    """The typical ones of some labels, with their shares among themselves.

    A label whose share is 0 counts as one for the code, which so gets to the thresholds for fewer
    labels by dropping it, and as none for the paper.

    >>> shares = {"above": 0.72, "level": 0.14, "below": 0.14}
    >>> sorted(typical_labels(shares, "code")), sorted(typical_labels(shares, "paper"))
    (['above', 'below', 'level'], ['above'])
    """
    values = np.array([list(shares.values())], dtype=np.float32)
    if not values.any():
        return dict(shares)
    flags = typical_sets(values, rule, real=values > 0 if rule == "paper" else None)
    among = _renormalised(values, flags)
    found = {}
    for label, is_typical, share in zip(shares, flags[0], among[0], strict=True):
        if is_typical:
            found[label] = float(share)
    return found


def typical_relations(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Typical elevations of a pair from its counts of ">", "=" and "<", as in the published column.

    At least a fifth of the counts; of two that are left, at least three tenths. All three labels (a
    pair the authors dropped) may come out.

    >>> typical_relations({">": 23, "=": 258, "<": 129})
    ('=', '<')
    """
    labels = np.array(list(counts))
    shares = _shares(list(counts.values()))
    frequent = shares >= np.float32(0.2)
    labels, shares = labels[frequent], shares[frequent]
    if len(labels) == 2:
        labels = labels[_shares(shares.tolist()) >= np.float32(0.3)]
    return tuple(labels.tolist())


def _shares(values: Sequence[float]) -> Floats:
    array = np.asarray(values, dtype=np.float32)
    total = array.sum()
    return array / total if total else array


def typical_size(greater: int, lesser: int) -> str:
    """ ">" or "<" where seven tenths of the counts say so; empty for a pair left out as ambiguous.

    >>> typical_size(70, 30), typical_size(6, 4)
    ('>', '')
    """
    total = greater + lesser
    if total and lesser / total >= 0.7:
        return "<"
    if total and greater / total >= 0.7:
        return ">"
    return ""
