"""The labels of our bank follow from what its sentences mean; planted faults are found."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

pytest.importorskip("z3")

from gnomon.benchmarks import spacenli
from gnomon.files import package_data, read_yaml
from gnomon.language.patternfile import read_bank
from gnomon.language.patterns import LABELS
from gnomon.language.surface import parse_sentence
from gnomon.proofs.meaning.stories import readings
from gnomon.proofs.solver import digest_of_sources, prove_patterns

# How many labels do not follow under each reading but the ordinary one, under which all do.
HANG_ON = {
    "whole boxes": 14,
    "sharp limits": 9,
    "open plan": 27,
    "loosely between": 1,
    "viewer's front": 30,
    "passing results": 133,
}
# Expressions with their opposites; both directions are swapped at once.
OPPOSITES = [
    ("to the left of", "to the right of"),
    ("in front of", "behind"),
    ("above", "below"),
    ("farther north", "farther south"),
    ("due north", "due south"),
    ("due east", "due west"),
    ("into", "out of"),
    ("inside", "outside"),
    ("comes before", "comes after"),
    ("closer to", "farther from"),
    ("higher", "lower"),
    ("ahead of", "behind"),
]


@pytest.fixture(scope="module")
def bank():
    return read_bank(package_data("patterns/bank")).patterns


@pytest.fixture(scope="module")
def proofs(bank):
    return prove_patterns(bank, names=["ordinary"])


@pytest.fixture(scope="module")
def kept():
    return read_yaml(package_data("patterns/proofs.yaml"))


def test_every_label_of_the_bank_follows_under_the_ordinary_reading(bank, proofs):
    assert len(proofs) == len(bank) == 1080
    assert [proof.pattern.id for proof in proofs if proof.tag != "all readings"] == []


def test_every_proof_of_a_yes_or_no_names_the_premises_that_it_takes(proofs):
    for proof in proofs:
        assert bool(proof.ordinary.needed) == (proof.pattern.label != "neutral"), proof.pattern.id


def test_the_kept_proofs_are_those_of_this_bank_and_lexicon(kept):
    hint = "Run: python scripts/proofs.py src/gnomon/data/patterns/proofs.yaml"
    assert kept["digest"] == digest_of_sources(), hint


def test_the_labels_that_hang_on_a_reading_are_known(kept):
    assert kept["not_expressible"] == {}
    counts = Counter(name for names in kept["refuted_under"].values() for name in names)
    assert counts == HANG_ON
    assert set(counts) < set(readings())


def test_the_kept_proofs_are_found_again(bank, kept):
    squares = ("np-26", "np-14", "pr-33", "np-07", "di-05", "pr-04", "ao-25")
    chosen = [pattern for pattern in bank if pattern.id[:5] in squares]
    found = {}
    for proof in prove_patterns(chosen, needed=False):
        other = [name for name in proof.proofs if name not in proof.holds_under]
        if other:
            found[proof.pattern.id] = other
    expected = {name: on for name, on in kept["refuted_under"].items() if name[:5] in squares}
    assert found == expected
    assert len(found) > 20


def test_an_item_says_under_how_many_readings_its_label_follows():
    tags = {item.group: item.tags["proof"] for item in spacenli.fresh(per_group=1)}
    assert tags["np-26-a1"] == "some readings"
    assert tags["np-01-a2"] == "all readings"
    assert Counter(tags.values()) == {"all readings": 880, "some readings": 200}
    assert len(readings()) == spacenli.READINGS


def test_a_swapped_label_is_found(bank):
    rng = Random(1)
    mutants = []
    for pattern in rng.sample(bank, 100):
        other = rng.choice([label for label in LABELS if label != pattern.label])
        mutants.append(replace(pattern, label=other, family=""))
    found = [proof.refuted for proof in prove_patterns(mutants, names=["ordinary"], needed=False)]
    assert sum(found) == 100


def test_an_expression_swapped_for_its_opposite_is_found(proofs):
    """The kept label must no longer be what follows.

    Swapped is one expression: in a hypothesis that follows, or in a premise of a single clause that
    the proof takes, if the hypothesis speaks of the same axis. Elsewhere (in a clause about somebody
    else) a swap need not touch the label.
    """
    mutants = [*_opposite_hypotheses(proofs), *_opposite_premises(proofs)]
    found = prove_patterns(mutants, names=["ordinary"], needed=False)
    understood = [proof for proof in found if not proof.reason]  # not "lower up than"
    missed = [proof.pattern.id for proof in understood if not proof.refuted]
    assert len(understood) > 350
    assert missed == []


def _opposite_hypotheses(proofs):
    for proof in proofs:
        pattern = proof.pattern
        for one, other in OPPOSITES:
            swapped = _swapped(pattern.hypothesis.text, one, other)
            if pattern.label == "entailment" and swapped != pattern.hypothesis.text:
                name = f"{pattern.id} hypothesis {one}"
                sentence = parse_sentence(swapped)
                yield replace(pattern, hypothesis=sentence, id=name, family="")


def _opposite_premises(proofs):
    for proof in proofs:
        pattern = proof.pattern
        for number in proof.ordinary.needed:
            text = pattern.premises[number].text
            for one, other in OPPOSITES:
                same_axis = one in pattern.hypothesis.text or other in pattern.hypothesis.text
                swapped = _swapped(text, one, other)
                clauses = 1 + text.count(",") + text.count(" as ") - text.startswith(FRAMED)
                if same_axis and swapped != text and clauses == 1:
                    premises = list(pattern.premises)
                    premises[number] = parse_sentence(swapped)
                    name = f"{pattern.id} {number} {one}"
                    yield replace(pattern, premises=tuple(premises), id=name, family="")


FRAMED = ("In ", "On ", "Along ", "Seen ")  # a setting and a comma


def _swapped(text, one, other):
    text = f" {text} "
    text = text.replace(f" {one} ", " \0 ").replace(f" {other} ", f" {one} ")
    return text.replace(" \0 ", f" {other} ").strip()
