"""Fresh size comparisons: everyday objects, and subtypes whose modifier turns an order round.

Both are drawn from our lexicon in balanced twins (see `contrasts`).
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, product
from random import Random
from typing import NamedTuple

from gnomon.benchmarks import contrasts, objects
from gnomon.benchmarks.viphy.items import with_article
from gnomon.files import package_data, read_yaml

# How large a toy is varies so much that hardly any closer comparison is clear; farther ones that a
# modifier reverses need things that are huge.
SUBTYPE_BANDS = ("3-10", "10-100")
# Each is as often the larger thing's as the smaller one's; the rest are taken together.
COMMON_MODIFIERS = ("toy ", "plastic toy ", "dollhouse ", "newborn ", "plush ")


def size_pairs(seed: int, pairs: int, bands: str) -> list[contrasts.BandedPair]:
    """Pairs of everyday objects of which one is clearly larger."""
    return contrasts.balanced_pairs("size", pairs, bands, Random(f"{seed}/viphy-size"))


class SubtypePair(NamedTuple):
    """A subtype and an everyday object, and whether the modifier turns their order round."""

    contrast: contrasts.BandedPair
    modifier: str  # "reverses" or "keeps"


def subtype_pairs(seed: int, pairs: int, bands: str) -> list[SubtypePair]:
    """Pairs of a subtype and an object; half of them are the other way round for the bare noun.

    To go by the bare noun is therefore no better than chance, and nor is to go by the modifier: a
    thing that is called a toy is as often the larger one.
    """
    names = contrasts.chosen_bands(bands, SUBTYPE_BANDS)
    count = contrasts.twins_of_each(pairs, len(names))
    drawing = contrasts.Drawing(Random(f"{seed}/viphy-size-subtype"))
    drawn = drawing.fill(_subtype_pool(), dict.fromkeys(names, count))
    modifiers = _modifiers()
    return [SubtypePair(one, modifiers[one.lesser, one.greater]) for one in drawn]


@cache
def subtypes() -> Mapping[str, objects.SizedThing]:
    """The subtypes by name; their kind is the object that they are called after."""
    found = {}
    for head, entries in read_yaml(package_data("viphy/subtypes.yaml")).items():
        for name, entry in entries.items():
            found[name] = objects.read_thing(name, head, entry)
    return found


def effect_of_modifier(
    subtype: objects.SizedThing, head: objects.SizedThing, other: objects.SizedThing
) -> str:
    """What a modifier does to a comparison: "reverses" or "keeps" it.

    Nothing if one of the comparisons is not clear, or if the order is kept because of the modifier:
    that a toy car is smaller than a castle, as a car is.
    """
    is_larger = objects.is_clearly_less("size", other, subtype)
    if not is_larger and not objects.is_clearly_less("size", subtype, other):
        return ""
    head_is_larger = objects.is_typically_larger(head, other)
    if not head_is_larger and not objects.is_typically_larger(other, head):
        return ""
    if is_larger != head_is_larger:
        return "reverses"
    makes_small = subtype.size.middle < head.size.middle
    if is_larger == makes_small:
        return "keeps"
    return ""


@cache
def _modifiers() -> Mapping[contrasts.Pair, str]:
    """What the modifier does in each pair of a subtype and an object."""
    things = objects.everyday_things()
    found = {}
    for subtype, other in product(subtypes().values(), things.values()):
        head = things[subtype.kind]
        effect = effect_of_modifier(subtype, head, other)
        if not effect or other.name == head.name:
            continue
        pair = (subtype.name, other.name)
        if objects.is_clearly_less("size", other, subtype):
            pair = (other.name, subtype.name)
        found[pair] = effect
    return found


@cache
def _subtype_pool() -> contrasts.Pool:
    return contrasts.shelved(_places())


def _places() -> Iterator[tuple[str, contrasts.Shows, contrasts.Pair]]:
    """Twins have the same modifier; what it does is the opposite, and so is which thing has it."""
    things = {**objects.everyday_things(), **subtypes()}
    for pair, effect in _modifiers().items():
        lesser, greater = things[pair[0]], things[pair[1]]
        band = contrasts.band_of(objects.typical_ratio("size", lesser, greater))
        if not band:
            continue
        reverses = 1 if effect == "reverses" else -1
        yield band, (*contrasts.shown_by_names(lesser, greater), reverses, _modified(pair)), pair


def _modified(pair: contrasts.Pair) -> int:
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


# Fresh transitive comparisons: two premises are given, and what follows from them is asked.
#
# The premises are true of the world, or the reverse of the truth, or about invented words. So who
# knows the objects but does not read the premises is right half of the time, and so is who
# repeats a word of the premises.


KINDS = ("true", "reversed", "invented")
DISTANT = ("10-100", "100+")  # bands with room for a third object between two


class Chain(NamedTuple):
    """Three things, each smaller than the next one according to the premises."""

    low: str
    middle: str
    high: str
    kind: str  # one of KINDS
    premises: str


def chains(seed: int, pairs: int) -> list[Chain]:
    """As many chains of each kind, none twice."""
    draw = Random(f"{seed}/viphy-size-transitive")
    count = 2 * contrasts.twins_of_each(pairs, len(KINDS))
    real = _real_triples(2 * count, draw)
    found = []
    for low, middle, high in real[:count]:
        found.append(_chain(low, middle, high, "true", draw))
    for low, middle, high in real[count:]:
        found.append(_chain(high, middle, low, "reversed", draw))
    for low, middle, high in _invented_triples(count, draw):
        found.append(_chain(low, middle, high, "invented", draw))
    return found


def _real_triples(count: int, draw: Random) -> list[tuple[str, str, str]]:
    """Objects in rising order of size; the names of the first and last show nothing."""
    wanted = count // 4
    spare = 5 + wanted // 4  # in the nearer band not every pair has an object between
    twins = contrasts.Drawing(draw).fill(
        contrasts.clear_pairs("size"), dict.fromkeys(DISTANT, wanted + spare)
    )
    found: list[tuple[str, str, str]] = []
    for first, second in zip(twins[::2], twins[1::2], strict=True):
        if len(found) == count:
            break
        middles = _between(first), _between(second)
        if all(middles):
            found.append((first.lesser, draw.choice(middles[0]), first.greater))
            found.append((second.lesser, draw.choice(middles[1]), second.greater))
    return found


def _between(contrast: contrasts.BandedPair) -> list[str]:
    """The objects whose size is clearly between those of two others."""
    things = objects.everyday_things()
    low, high = things[contrast.lesser], things[contrast.greater]
    found = []
    for thing in things.values():
        if objects.is_clearly_less("size", low, thing) and objects.is_clearly_less(
            "size", thing, high
        ):
            found.append(thing.name)
    return found


def _invented_triples(count: int, draw: Random) -> list[tuple[str, str, str]]:
    """Words in any order, no three of them twice, none much oftener than another."""
    words = list(chain.from_iterable(read_yaml(package_data("viphy/invented.yaml"))))
    left: list[str] = []
    found: dict[frozenset[str], tuple[str, str, str]] = {}
    while len(found) < count:
        if len(left) < 3:
            left = draw.sample(words, len(words))
        triple = left.pop(), left.pop(), left.pop()
        found.setdefault(frozenset(triple), triple)
    return list(found.values())


def _chain(low: str, middle: str, high: str, kind: str, draw: Random) -> Chain:
    """The two premises in any order, each with either word."""
    said = [_premise(low, middle, draw), _premise(middle, high, draw)]
    first, second = draw.sample(said, 2)
    return Chain(low, middle, high, kind, f"Suppose that {first}, and that {second}.")


def _premise(low: str, high: str, draw: Random) -> str:
    if draw.random() < 0.5:
        return f"{with_article(low)} is smaller than {with_article(high)}"
    return f"{with_article(high)} is larger than {with_article(low)}"
