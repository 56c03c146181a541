"""A mini world and a bank small enough to see at a glance."""

import sys

import pytest

from gnomon.language.patternfile import parse_bank

WORLD = """\
classes:
  thing:
  small: {is: thing}
  large: {is: thing}
  person: {is: large}
  name: {is: person, flags: proper}
  toy: {is: small}
  box: {is: small}
  furniture: {is: large}
  tall: {equals: "furniture | {Ada}"}
scales:
  size: [small, large]
entities:
  person: [teacher, boy]
  name: [Ada, Omar]
  toy: [ball, {scissors: plural}, apple]
  box: [crate, trash can]
  furniture: [wardrobe, {shelves: plural}]
relations:
  inside:
    - toy * (box | furniture)
    - box * furniture
    - not {ball} * {trash can}
  holds:
    - inverse of inside
  sees:
    - person * thing
"""

PATTERNS = """\
families:
  - family: chain
    class: non-projective
    expressions: [in]
    slots: {X: toy, Y: box, Z: furniture}
    where: ["inside(X, Y)", "inside(Y, Z)"]
    patterns:
      - id: chain-1
        label: entailment
        premises: ["{X} {X:is} in {Y}", "{Y} {Y:is} in {Z}"]
        hypothesis: "{X} {X:is} in {Z}"
        examples:
          - {X: ball, Y: crate, Z: wardrobe}
          - [The scissors are in the trash can, The trash can is in the shelves, The scissors are in the shelves]
      - id: chain-2
        label: neutral
        premises: ["{X} {X:is} in {Z}"]
        hypothesis: "{X} {X:is} in {Y}"
patterns:
  - id: sight
    label: contradiction
    class: argument orientation
    expressions: [behind, in front of]
    premises: ["{X} saw {a Y} behind {Z} {M}"]
    hypothesis: "{Y} {Y:was} in front of {Z}"
    slots: {X: person, Y: thing, Z: tall, M: {words: [today, ""]}}
    where: ["sees(X, Y)", "size(Y) <= size(Z)", "Y not in person or X != {Ada}"]
    sibling: chain-1
"""


@pytest.fixture
def world_text():
    return WORLD


@pytest.fixture
def patterns_text():
    return PATTERNS


@pytest.fixture
def bank():
    return parse_bank(PATTERNS, WORLD, "small.yaml")


@pytest.fixture(scope="session")
def calls():
    """Count the calls of functions that an action makes: its work, on any machine the same."""

    def count(action) -> int:
        made = 0

        def see(frame, event, argument) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(see)
        try:
            action()
        finally:
            sys.setprofile(before)
        return made

    return count
