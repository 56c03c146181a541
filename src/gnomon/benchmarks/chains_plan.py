"""Which stories are told: every combination of the dials in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, product
from random import Random
from typing import NamedTuple

from gnomon.benchmarks.chains_words import World, worlds_of
from gnomon.errors import UsageError
from gnomon.proofs.chains import make_trio


class Wanted(NamedTuple):
    """One trio that is asked for."""

    hops: int
    family: str
    distractors: int
    world: World
    person: str


def planned(
    *,
    hops: Sequence[int],
    distractors: Sequence[int],
    families: Sequence[str],
    persons: Sequence[str],
    namings: Sequence[str],
    random: Random,
) -> Iterator[Wanted]:
    """Every combination in turn, over and over, each time in another order."""
    told = {family: _settings(family, namings, persons) for family in families}
    kinds = []
    for family, steps, others in product(families, hops, distractors):
        if told[family] and make_trio(family, steps, others, Random(0)) is not None:
            kinds.append((family, steps, others))
    if not kinds:
        raise UsageError(
            "No story has these hops, distractors, directions and names together.",
            "Chains of 1 hop need 2 distractors, and eight directions 2 hops; boxes in a hall have "
            "no names.",
        )
    settings = {family: cycle(found) for family, found in told.items()}
    while True:
        random.shuffle(kinds)
        for family, steps, others in kinds:
            world, who = next(settings[family])
            yield Wanted(steps, family, others, world, who)


def _settings(
    family: str, namings: Sequence[str], persons: Sequence[str]
) -> list[tuple[World, str]]:
    found = []
    for world, who in product(worlds_of(family), persons):
        if world.naming in namings:
            found.append((world, who))
    return found


def numbers(text: str, what: str, least: int, most: int) -> list[int]:
    """The numbers of a range such as 2-5, or one number."""
    first, _, last = text.partition("-")
    if first.isdecimal() and (last or first).isdecimal():
        found = list(range(int(first), int(last or first) + 1))
        if found and least <= found[0] and found[-1] <= most:
            return found
    raise UsageError(
        f"'{text}' is no number or range of {what} from {least} to {most}.",
        f"Write --set {what}=2 or --set {what}=2-4.",
    )
