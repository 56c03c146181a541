"""Fresh size comparisons: everyday objects, and subtypes whose modifier turns an order round.

Both are drawn from our lexicon in balanced twins (see `contrasts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from random import Random
from typing import NamedTuple

from gnomon.benchmarks.contrasts import (
    Contrast,
    Drawing,
    Pair,
    Pool,
    Shows,
    balanced_pairs,
    band_of,
    chosen_bands,
    shelved,
    shown_by_names,
    twins_of_each,
)
from gnomon.benchmarks.objects import (
    Thing,
    everyday_things,
    is_clearly_less,
    is_typically_larger,
    read_thing,
    typical_ratio,
)
from gnomon.files import package_data, read_yaml

# How large a toy is varies so much that hardly any closer comparison is clear; farther ones that a
# modifier reverses need things that are huge.
SUBTYPE_BANDS = ("3-10", "10-100")
# Each is as often the larger thing's as the smaller one's; the rest are taken together.
COMMON_MODIFIERS = ("toy ", "plastic toy ", "dollhouse ", "newborn ", "plush ")


def size_pairs(seed: int, pairs: int, bands: str) -> list[Contrast]:
    """Pairs of everyday objects of which one is clearly larger."""
    return balanced_pairs("size", pairs, bands, Random(f"{seed}/viphy-size"))


class SubtypePair(NamedTuple):
    """A subtype and an everyday object, and whether the modifier turns their order round."""

    contrast: Contrast
    modifier: str  # "reverses" or "keeps"


def subtype_pairs(seed: int, pairs: int, bands: str) -> list[SubtypePair]:
    """Pairs of a subtype and an object; half of them are the other way round for the bare noun.

    To go by the bare noun is therefore no better than chance, and nor is to go by the modifier: a
    thing that is called a toy is as often the larger one.
    """
    names = chosen_bands(bands, SUBTYPE_BANDS)
    count = twins_of_each(pairs, len(names))
    drawing = Drawing(Random(f"{seed}/viphy-size-subtype"))
    drawn = drawing.fill(_subtype_pool(), dict.fromkeys(names, count))
    modifiers = _modifiers()
    return [SubtypePair(one, modifiers[one.lesser, one.greater]) for one in drawn]


@cache
def subtypes() -> Mapping[str, Thing]:
    """The subtypes by name; their kind is the object that they are called after."""
    found = {}
    for head, entries in read_yaml(package_data("viphy/subtypes.yaml")).items():
        for name, entry in entries.items():
            found[name] = read_thing(name, head, entry)
    return found


def effect_of_modifier(subtype: Thing, head: Thing, other: Thing) -> str:
    """What a modifier does to a comparison: "reverses" or "keeps" it.

    Nothing if one of the comparisons is not clear, or if the order is kept because of the modifier:
    that a toy car is smaller than a castle, as a car is.
    """
    is_larger = is_clearly_less("size", other, subtype)
    if not is_larger and not is_clearly_less("size", subtype, other):
        return ""
    head_is_larger = is_typically_larger(head, other)
    if not head_is_larger and not is_typically_larger(other, head):
        return ""
    if is_larger != head_is_larger:
        return "reverses"
    makes_small = subtype.size.middle < head.size.middle
    if is_larger == makes_small:
        return "keeps"
    return ""


@cache
def _modifiers() -> Mapping[Pair, str]:
    """What the modifier does in each pair of a subtype and an object."""
    things = everyday_things()
    found = {}
    for subtype, other in product(subtypes().values(), things.values()):
        head = things[subtype.kind]
        effect = effect_of_modifier(subtype, head, other)
        if not effect or other.name == head.name:
            continue
        pair = (subtype.name, other.name)
        if is_clearly_less("size", other, subtype):
            pair = (other.name, subtype.name)
        found[pair] = effect
    return found


@cache
def _subtype_pool() -> Pool:
    return shelved(_places())


def _places() -> Iterator[tuple[str, Shows, Pair]]:
    """Twins have the same modifier; what it does is the opposite, and so is which thing has it."""
    things = {**everyday_things(), **subtypes()}
    for pair, effect in _modifiers().items():
        lesser, greater = things[pair[0]], things[pair[1]]
        band = band_of(typical_ratio("size", lesser, greater))
        if not band:
            continue
        reverses = 1 if effect == "reverses" else -1
        yield band, (*shown_by_names(lesser, greater), reverses, _modified(pair)), pair


def _modified(pair: Pair) -> int:
    """The number of the modifier: positive if the greater thing has it."""
    lesser, greater = pair
    if greater in subtypes():
        return _number_of_modifier(greater)
    return -_number_of_modifier(lesser)


def _number_of_modifier(subtype: str) -> int:
    """A number for each modifier that many subtypes have, and another for all the rest."""
    for number, modifier in enumerate(COMMON_MODIFIERS, 2):
        if subtype.startswith(modifier):
            return number
    return 1
