"""Sentences about space: what follows, what cannot be, what is left open, and why."""

import builtins

import pytest

z3 = pytest.importorskip("z3")

from gnomon.errors import MissingExtraError, UsageError
from gnomon.proofs.meaning.stories import readings
from gnomon.proofs.meaning.vocabulary import NotUnderstoodError
from gnomon.proofs.solver import clash, clash_of_facts, prove, prove_facts

CUP = ["The cup is on the table", "The table is in the kitchen"]
ROW = ["The cup is to the left of the plate", "The plate is to the left of the fork"]


@pytest.mark.parametrize(
    ("premises", "claim", "verdict"),
    [
        (CUP, "The cup is in the kitchen", "entailment"),
        (CUP, "The cup is under the table", "contradiction"),
        (CUP, "The cup is near the door", "neutral"),
        (ROW, "The fork is to the right of the cup", "entailment"),
        (ROW, "The fork is not to the right of the cup", "contradiction"),
        (["Ann is facing the church"], "The church is in front of Ann", "entailment"),
        (["Ann is facing the church"], "Ann is in front of the church", "neutral"),
        (["The cat has run out of the house"], "The cat is in the house", "contradiction"),
        (["The cat ran towards the house"], "The cat is in the house", "neutral"),
        (["Ben walked across the street"], "Ben is on the other side of the street", "entailment"),
        (["The dog is near the bench", "The bench is far from the oak"], "The dog is far from the oak", "neutral"),
        (["Nora is in Oslo"], "Nora is in Lyon", "contradiction"),
        (["Nora put the key into the box", "The box is in the attic"], "The key is in the attic", "entailment"),
        (["Nora looked for the key in the box"], "The key is in the box", "neutral"),
        (["Nora is in the attic or in the cellar"], "Nora is in the kitchen", "contradiction"),
        (["The box contains the zorb"], "The zorb is in the box", "entailment"),
    ],
)  # fmt: skip
def test_the_verdict_is_what_a_reader_would_say(premises, claim, verdict):
    assert prove(premises, claim).verdict == verdict


def test_a_proof_takes_only_the_premises_that_it_needs():
    premises = ["The dog is asleep", *CUP, "The lamp is above the desk"]
    assert prove(premises, "The cup is in the kitchen").needed == (1, 2)


def test_premises_that_cannot_all_be_true_are_named():
    assert clash(["Ann is in Oslo", "The cat is asleep", "Ann is in Lyon"]) == (0, 2)
    assert clash(CUP) is None
    assert (
        prove(["Ann is in Oslo", "Ann is in Lyon"], "Ann is asleep in Oslo").verdict
        == "inconsistent"
    )


def test_facts_need_no_words():
    facts = [("above", "a", "b"), ("above", "b", "c"), ("left", "d", "a")]
    assert prove_facts(facts, ("below", "c", "a")).needed == (0, 1)
    assert prove_facts(facts, ("left", "d", "c")).verdict == "neutral"
    assert clash_of_facts([*facts, ("not", "above", "a", "c")]) == (0, 1, 3)
    with pytest.raises(UsageError, match="relation"):
        prove_facts(facts, ("leftish", "a", "b"))


def test_a_verdict_may_hang_on_the_reading():
    assert prove(CUP, "The cup is in the kitchen", reading="open plan").verdict == "neutral"
    gone = ["Ann has gone into the house"]
    assert prove(gone, "Ann is in the house").verdict == "entailment"
    assert prove(gone, "Ann is in the house", reading="passing results").verdict == "neutral"
    with pytest.raises(UsageError, match="reading"):
        prove(CUP, "The cup is in the kitchen", reading="literal")


def test_every_reading_but_the_first_throws_one_switch_and_says_so():
    ordinary, *others = readings().values()
    for reading in others:
        changed = []
        for field in reading.__struct_fields__[2:]:
            if getattr(reading, field) != getattr(ordinary, field):
                changed.append(field)
        assert len(changed) == 1, reading.name
        assert reading.says.endswith(".")


def test_words_that_are_not_in_the_lexicon_are_named():
    with pytest.raises(NotUnderstoodError, match="does not have 'squints'"):
        prove(CUP, "The cup squints at the table")


@pytest.mark.parametrize(
    "claim", ["", "{X} @ | is", "@", "The | is on the )(", "is " * 90, "the the the"]
)
def test_what_is_no_sentence_is_an_error_in_one_sentence(claim):
    with pytest.raises(NotUnderstoodError):
        prove(CUP, claim)


def test_a_name_cannot_speak_to_the_solver():
    with pytest.raises(UsageError, match="name of a thing"):
        prove_facts([], ("left", "a|) (exit) (|", "b"))


def test_what_the_grammar_cannot_read_is_shown():
    with pytest.raises(NotUnderstoodError, match="cannot read 'cup is than table'"):
        prove(CUP, "The cup is than the table")


def test_without_the_solver_one_sentence_says_what_to_install(monkeypatch):
    load = builtins.__import__

    def without(name, *rest):
        if name == "z3":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"gnomon\[prove\]"):
        prove(CUP, "The cup is in the kitchen")
