"""Labels of the patterns about order, proved: premises and hypothesis are read as conditions on
places along a line, and every arrangement is tried. An entailment holds in all that satisfy the
premises, a contradiction in none, and a neutral hypothesis in some but not in all.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import permutations

import pytest

from gnomon.files import package_data
from gnomon.language.patternfile import read_bank
from gnomon.language.patterns import Bank, Pattern

Places = Mapping[str, int]
ROOM = 9  # places on the line: enough for halves of halves among four things

S = r"\{(\w)\}(?: \{\w:is\})?"  # a slot, perhaps with its verb
MORE = (
    "to the right of|right above|above|in front of|right on top of|on top of|due north of|north of"
)
LESS = "to the left of|below|somewhere behind|behind|right under|under|due south of|south of"
FRAMES = r"(?:(?:In the \w+|On the shelf|Along the road|Seen from where \{P\} is), )?"


def between(x: int, a: int, b: int) -> bool:
    return min(a, b) < x < max(a, b)


# What a sentence says: a shape, and the condition on the places of the slots it names, in order.
SHAPES: list[tuple[str, Callable[..., bool]]] = [
    (rf"{FRAMES}{S} ?(?:is|hangs|lives|is flying)? ?(?:{MORE}) {S}", lambda a, b: a > b),
    (rf"{FRAMES}{S} ?(?:is|hangs|lives)? ?(?:{LESS}) {S}", lambda a, b: a < b),
    (rf"{FRAMES}{S} ?(?:is)? ?not (?:{MORE}) {S}", lambda a, b: not a > b),
    (rf"{FRAMES}{S} ?(?:is)? ?not (?:{LESS}) {S}", lambda a, b: not a < b),
    (rf"{FRAMES}{S} (?:is|lies)(?: somewhere)? between {S} and {S}", between),
    (rf"{S} is not between {S} and {S}", lambda x, a, b: not between(x, a, b)),
    (rf"{S} is exactly halfway between {S} and {S}", lambda x, a, b: 2 * x == a + b),
    (
        rf"{S} is between {S} and {S}, but not halfway",
        lambda x, a, b: between(x, a, b) and 2 * x != a + b,
    ),
    (rf"{S} is next to {S}", lambda a, b: abs(a - b) == 1),
    (rf"{S} is close to {S}", lambda a, b: abs(a - b) <= 2),
    (rf"{S} is closer to {S} than to {S}", lambda x, a, b: abs(x - a) < abs(x - b)),
    (rf"{S} is closer to {S} than {S} is", lambda x, a, y: abs(x - a) < abs(y - a)),
    (rf"{S} is as far from {S} as from {S}", lambda x, a, b: abs(x - a) == abs(x - b)),
    (rf"Along the road, first comes {S}, then {S}, then {S}", lambda a, b, c: a < b < c),
    (
        rf"Along the road, {S} comes before {S}, and {S} comes before {S}",
        lambda a, b, c, d: a < b and c < d,
    ),
    (rf"{S} is in front of {S}, and {S} is in front of {S}", lambda a, b, c, d: a > b and c > d),
    (rf"{S} is at the back, and {S} is in front of {S}", lambda a, b, c: a < b and a < c and b > c),
    (rf"From {{(\w)'s}} viewpoint, {S} is behind {S}", lambda p, a, b: between(b, p, a)),
    (rf"From {{(\w)'s}} viewpoint, {S} is in front of {S}", lambda p, a, b: between(a, p, b)),
]
ALWAYS = (
    r"(?:\{\w\},? (?:and )?)+(?:are all on one straight line|stand in a straight line, in one order or another"
    r"|are walking forward in single file)"
)
FAMILIES = [
    "pr-03",
    "pr-04",
    "pr-05",
    "pr-08",
    "pr-09",
    "pr-14",
    "pr-15",
    "pr-17",
    "pr-18",
    "pr-20",
    "pr-21",
    "pr-24",
    "np-09",
    "np-10",
    "np-11",
    "np-12",
    "np-24",
    "np-25",
]


@cache
def bank() -> Bank:
    return read_bank(package_data("patterns/bank"))


def meaning(sentence: str) -> Callable[[Places], bool]:
    """The condition that a sentence of a pattern puts on the places of its slots."""
    if re.fullmatch(ALWAYS, sentence):
        return lambda places: True
    for shape, holds in SHAPES:
        if match := re.fullmatch(shape, sentence):
            slots = [slot for slot in match.groups() if slot]
            return lambda places: holds(*(places[slot] for slot in slots))
    raise AssertionError(f"no shape fits: {sentence}")


def label_by_trying(pattern: Pattern) -> str:
    """The label that follows from the meanings, by trying every arrangement that satisfies the
    premises."""
    names = [
        slot.name
        for slot in pattern.slots
        if slot.name != "P" or "Seen from" not in pattern.hypothesis.text
    ]
    premises = [meaning(sentence.text) for sentence in pattern.premises]
    hypothesis = meaning(pattern.hypothesis.text)
    room = ROOM if len(names) <= 4 else len(names)
    arrangements = (
        dict(zip(names, order, strict=True)) for order in permutations(range(room), len(names))
    )
    outcomes = {
        hypothesis(places) for places in arrangements if all(holds(places) for holds in premises)
    }
    assert outcomes, "no arrangement satisfies the premises"
    return (
        "neutral" if len(outcomes) == 2 else "entailment" if outcomes == {True} else "contradiction"
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_labels_of_order_patterns_hold_in_every_arrangement(family: str) -> None:
    members = [pattern for pattern in bank().patterns if pattern.id.startswith(family)]
    assert len(members) == 3
    for pattern in members:
        assert label_by_trying(pattern) == pattern.label, pattern.id
