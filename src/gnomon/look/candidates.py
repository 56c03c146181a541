"""Which names are subtypes of which: by their last word, and by WordNet.

The rule by last words is that of the released code (gnomon.vision.knowledge). The paper merges the
hyponyms of a knowledge base; here those of WordNet (data/vision/hyponyms.yaml), where they occur
among the names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from gnomon.files import package_data, read_yaml
from gnomon.vision.knowledge import OBJECT_MINIMUM, SUBTYPE_MINIMUM, subtypes

SIZE_OF_THE_PAPER = 5_400_000  # names in the captions of Visual Genome, for which the minima are


class Minima(NamedTuple):
    """How often a name occurs before it has subtypes, and before it is one."""

    object: int
    subtype: int

    @classmethod
    def usual(cls, total: int) -> Minima:
        """The paper's 100 and 10 for Visual Genome, less for fewer names, but 3 and 2 at least.

        >>> Minima.usual(10_000_000), Minima.usual(900)
        (Minima(object=100, subtype=10), Minima(object=3, subtype=2))
        """
        share = min(1.0, total / SIZE_OF_THE_PAPER)
        return cls(
            object=max(3, round(OBJECT_MINIMUM * share)),
            subtype=max(2, round(SUBTYPE_MINIMUM * share)),
        )


def candidates(
    names: Mapping[str, int], minima: Minima, *, hyponyms: bool = True
) -> dict[str, dict[str, int]]:
    """Every frequent name with its subtypes and their counts, most frequent first.

    >>> names = {"dog": 50, "spaniel": 9, "guide dog": 4}
    >>> candidates(names, Minima(object=10, subtype=3))["dog"]
    {'dog': 100, 'spaniel': 9, 'guide dog': 4}
    >>> candidates(names, Minima(object=10, subtype=3), hyponyms=False)["dog"]
    {'dog': 100, 'guide dog': 4}
    """
    found = subtypes(names, minima.object, minima.subtype)
    if not hyponyms:
        return found
    for name, kinds in _hyponyms().items():
        if names.get(name, 0) < minima.object:
            continue
        added = {}
        for kind in kinds:
            if names.get(kind, 0) >= minima.subtype:
                added[kind] = names[kind]
        if added:
            merged = {**added, **found[name]}
            found[name] = dict(sorted(merged.items(), key=lambda pair: -pair[1]))
    return found


@cache
def _hyponyms() -> dict[str, list[str]]:
    content: dict[str, list[str]] = read_yaml(package_data("vision/hyponyms.yaml"))
    return content
