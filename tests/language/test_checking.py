"""What `gnomon audit` finds in a bank."""

import pytest

from gnomon.language.checking import check
from gnomon.language.patternfile import parse_bank


def findings(text: str, world: str) -> list[tuple[str, str, str]]:
    return [
        (f.level, f.pattern.id, f.message)
        for f in check(parse_bank(text, world, "bank.yaml")).findings
    ]


def test_a_sound_bank_has_only_its_small_populations_to_complain_about(bank):
    report = check(bank)
    assert report.errors == 0
    assert report.populations == {"chain-1": 10, "chain-2": 10, "sight": 186}
    assert {finding.message.split(" problems")[0] for finding in report.findings} == {
        "it has only 10",
        "it has only 186",
    }


@pytest.mark.parametrize(
    ("old", "new", "level", "says"),
    [
        (
            'where: ["sees(X, Y)"',
            'where: ["sees(Y, X)", "Y in toy"',
            "error",
            "cannot be satisfied",
        ),
        (
            "Z: wardrobe}",
            "Z: crate}",
            "error",
            "the example cannot be derived: X: ball, Y: crate, Z: crate",
        ),
        (
            "Y: crate, Z: wardrobe}",
            "Y: trash can, Z: wardrobe}",
            "error",
            "the example cannot be derived",
        ),
        (
            "The trash can is in the shelves",
            "The trash can is in the crate",
            "error",
            "the example cannot be derived: The sc",
        ),
        ("sibling: chain-1", "note: alone", "warning", "no sibling"),
        (
            "expressions: [behind, in front of]",
            "expressions: [behind, above]",
            "warning",
            "no sentence holds its expression 'above'",
        ),
        ("{Y:was} in front", "was in front", "warning", "does not agree with 'was'"),
        ("{X} saw {a Y}", "{X} saw a {bare Y}", "warning", "article"),
        ("{X} saw {a Y}", "{X} saw saw {a Y}", "warning", "doubled"),
    ],
)
def test_findings(world_text, patterns_text, old, new, level, says):
    assert old in patterns_text
    found = findings(patterns_text.replace(old, new), world_text)
    assert any(kind == level and says in message for kind, _, message in found), found


def test_the_same_problem_with_two_labels_is_an_error_however_rare(world_text):
    text = """
patterns:
  - {id: one, label: neutral, class: projective, expressions: near, premises: "{X} is near {Y}",
     hypothesis: "{Y} is near {X}", slots: {X: thing, Y: thing}}
  - {id: two, label: entailment, class: projective, expressions: near, premises: "{A} is near {B}",
     hypothesis: "{B} is near {A}", slots: {A: "{apple}", B: "{crate}"}}
"""
    says = "1 of its problems are also problems of 'one', but labelled entailment here and neutral there"
    assert ("error", "two", says) in findings(text, world_text)


def test_patterns_with_other_sentences_that_can_coincide_are_found_in_samples(world_text):
    text = """
patterns:
  - {id: one, label: neutral, class: projective, expressions: near, premises: "{X} {X:is} near the crate",
     hypothesis: "The crate is near {X}", slots: {X: toy}}
  - {id: two, label: contradiction, class: projective, expressions: near, premises: "{X} {X:is} near {Y}",
     hypothesis: "{Y} {Y:is} near {X}", slots: {X: toy, Y: box}}
"""
    assert any(
        level == "error" and "labelled contradiction here" in message
        for level, _, message in findings(text, world_text)
    )


def test_a_hypothesis_that_can_equal_a_premise_is_an_error(world_text):
    text = """
patterns:
  - {id: one, label: neutral, class: projective, expressions: near, premises: "{X} {X:is} near {Y}",
     hypothesis: "{X} {X:is} near {Z}", slots: {X: toy, Y: box, Z: box}, distinct: no}
"""
    assert any(
        level == "error" and "one of the premises" in message
        for level, _, message in findings(text, world_text)
    )
