"""A square becomes nine patterns: each premise and each hypothesis with every label once."""

import pytest

from gnomon.errors import DataError
from gnomon.language.patternfile import parse_bank
from gnomon.language.sampling import EXAMPLES, samples

WORLD = """\
classes: {thing: }
entities: {thing: [cup, fork, spoon, {tongs: plural}]}
relations: {goes-with: [thing * thing]}
"""
SQUARE = """\
squares:
  - square: on the table
    id: t
    class: projective
    expressions: [to the left of, to the right of, in front of, in]
    hops: 2
    slots: {A: thing, B: thing, C: thing}
    where: ["goes-with(A, C)"]
    premises:
      - ["{A} {A:is} to the left of {B}", "{C} {C:is} to the left of {B}"]
      - "{B} and {A} are to the left of {C}"
      - "{A} {A:is} to the right of {B} and {C}"
    hypotheses:
      - "{B} {B:is} to the right of {A}"
      - "{C} {C:is} to the right of {B}"
      - "{C} {C:is} to the left of {A}"
    examples:
      - {A: cup, B: fork, C: spoon}
"""


def test_a_square_is_nine_patterns_with_labels_by_place() -> None:
    bank = parse_bank(SQUARE, WORLD)
    assert {pattern.id: pattern.label for pattern in bank.patterns} == {
        "t-a1": "entailment",
        "t-b1": "neutral",
        "t-c1": "contradiction",
        "t-a2": "contradiction",
        "t-b2": "entailment",
        "t-c2": "neutral",
        "t-a3": "neutral",
        "t-b3": "contradiction",
        "t-c3": "entailment",
    }
    assert {pattern.family for pattern in bank.patterns} == {"on the table"}
    assert {pattern.hops for pattern in bank.patterns} == {2}


def test_the_siblings_of_a_pattern_share_its_hypothesis() -> None:
    patterns = {pattern.id: pattern for pattern in parse_bank(SQUARE, WORLD).patterns}
    assert patterns["t-b3"].siblings == ("t-a3", "t-c3")
    assert patterns["t-a3"].hypothesis == patterns["t-b3"].hypothesis


def test_a_pattern_has_those_expressions_that_its_sentences_hold() -> None:
    patterns = {pattern.id: pattern for pattern in parse_bank(SQUARE, WORLD).patterns}
    assert patterns["t-b3"].expressions == ("to the left of",)
    assert patterns["t-c3"].expressions == ("to the left of", "to the right of")
    longer = SQUARE.replace("are to the left of {C}", "are in front of {C}")
    found = {pattern.id: pattern for pattern in parse_bank(longer, WORLD).patterns}["t-b1"]
    assert found.expressions == ("to the right of", "in front of"), "no 'in' in 'in front of'"


def test_an_example_of_the_square_is_one_of_each_pattern() -> None:
    for pattern in parse_bank(SQUARE, WORLD).patterns:
        found = [sample.problem for sample in samples(pattern, EXAMPLES)]
        assert len(found) == 1, pattern.id
        assert "cup" in found[0].text


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("    id: t\n", "", "the square has no 'id'"),
        ('      - "{C} {C:is} to the left of {A}"\n', "", "there are 2 hypotheses"),
        ('      - "{A} {A:is} to the right of {B} and {C}"\n', "", "there are 2 sets of premises"),
        ("    hops: 2\n", "    hops: 9\n", "'hops' cannot be '9'"),
        ("    hops: 2\n", "    hop: 2\n", "a square has no key 'hop'"),
        ("{A: cup, B: fork", "{A: fork, B: fork", None),
    ],
)
def test_what_is_wrong_with_a_square_is_said(old: str, new: str, complaint: str | None) -> None:
    assert old in SQUARE
    text = SQUARE.replace(old, new)
    if complaint is None:  # an example that cannot be derived is for `gnomon audit`
        assert len(parse_bank(text, WORLD).patterns) == 9
        return
    with pytest.raises(DataError, match=complaint):
        parse_bank(text, WORLD)
