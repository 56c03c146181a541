"""What the prover says holds of scenes that the solver has not seen; its witnesses are real."""

from random import Random

import pytest

pytest.importorskip("z3")

from gnomon.proofs.meaning.formulas import Names, every, holds, smt
from gnomon.proofs.meaning.stories import reading_named
from gnomon.proofs.solver import Case, text_of
from gnomon.proofs.witnesses import ShownWitness, WitnessScene, cast_of, scene_of
from gnomon.scenes.relations import decide

PLACES = """in|inside|outside|out of|on|on top of|under|touching|next to|beside|near|close to|far from|above|below
to the left of|to the right of|in front of|behind|north of|south of|east of|west of|due north of|due east of|northeast of
at|right beside|a few steps from|miles away from|many miles from|between the jug and|halfway between the jug and
closer to the jug than to|as far from the jug as from|leaning against|a long way from|higher than|farther west than
ahead of|due west of|due south of|southwest of|exactly between the jug and|less than two miles from"""
MOTIONS = """has run into|has run out of|is walking towards|has jumped onto|has jumped off|walked through
has climbed up on|is walking away from|has come back from|has never been in|has been to|is facing"""
THINGS = ("cup", "box", "ball", "Ann", "dog", "table")
PROBLEMS = 800
SCENES = 60  # that are tried for each problem


def _sentence(rng: Random) -> str:
    subject, ground = rng.sample(THINGS, 2)
    denied = rng.choice(["", "", "not "])
    shown = [name if name[0].isupper() else f"the {name}" for name in (subject, ground)]
    if rng.random() < 0.15 and subject in ("Ann", "dog"):
        return f"{shown[0]} {rng.choice(MOTIONS.replace(chr(10), '|').split('|'))} {shown[1]}"
    place = rng.choice(PLACES.replace("\n", "|").split("|"))
    return f"{shown[0]} is {denied}{place} {shown[1]}"


def _problems(count):
    rng = Random(20)
    for _ in range(count):
        premises = [_sentence(rng) for _ in range(rng.choice([1, 1, 2, 3]))]
        claim = _sentence(rng)
        if rng.random() < 0.5:  # about the same things, so that something follows
            claim = rng.choice(premises).replace(" is ", rng.choice([" is ", " is not "]), 1)
            claim = claim.replace("is not not", "is")
        yield premises, claim


def _random_scene(names: Names, rng: Random):
    """Numbers on a grid, so that things meet and line up now and then."""
    values = {}
    for name in names.quantities:
        values[name] = rng.randrange(-3, 4)
        if ".half-" in name:
            values[name] = rng.choice([1, 1, 2])
    for number, length in enumerate(("step", "near", "far", "mile")):
        values[length] = 4 * 5**number
    values["floor"] = values["rim"] = 1
    flags = {name: rng.random() < 0.5 for name in names.flags}
    for name in names.flags:
        thing, _, _ = name.rpartition(" faces ")
        faced = [f"{thing} faces {wind}" for wind in range(4)]
        if all(flag in names.flags for flag in faced):
            chosen = rng.choice(faced)
            flags.update({flag: flag == chosen for flag in faced})
    return values, flags


def test_no_scene_contradicts_a_proof_and_every_witness_is_one():
    rng = Random(21)
    seen = {"entailment": 0, "contradiction": 0, "neutral": 0, "inconsistent": 0}
    tried = 0
    for premises, claim in _problems(PROBLEMS):
        case = Case(*text_of(premises, [claim]).formulas(reading_named("ordinary")))
        proof = case.proof(witnesses=True, needed=False)
        seen[proof.verdict] += 1
        *told, claimed = case.statements
        world = every([*case.background, *told])
        if proof.verdict == "neutral":
            assert proof.could.makes(world & claimed), (premises, claim)
            assert proof.need_not.makes(world & ~claimed), (premises, claim)
            continue
        names = Names()
        smt(world & claimed, names)
        for _ in range(SCENES):
            values, flags = _random_scene(names, rng)
            if not holds(world, values, flags):
                continue
            tried += 1
            assert proof.verdict != "inconsistent", premises
            assert holds(claimed, values, flags) == (proof.verdict == "entailment"), premises
    assert min(seen["entailment"], seen["contradiction"], seen["neutral"]) > 160, seen
    assert tried > 400


# Words that both the lexicon and the judge of pictures have, with the judge's words and frame.
SHARED = {
    "to the left of": ("left of", "viewer"),
    "to the right of": ("right of", "viewer"),
    "above": ("above", "agreed"),
    "on": ("on", "agreed"),
    "under": ("under", "agreed"),
    "in": ("in", "agreed"),
    "touching": ("touching", "agreed"),
    "near": ("near", "agreed"),
    "far from": ("far from", "agreed"),
    "next to": ("next to", "agreed"),
    "in front of": ("in front of", "viewer"),
    "behind": ("behind", "viewer"),
}
PAIRS = [("cup", "table"), ("ball", "box"), ("apple", "vase"), ("book", "cup"), ("ball", "table")]


@pytest.mark.parametrize("word", SHARED)
def test_a_drawn_witness_is_judged_as_it_was_meant(word):
    """In the scene where it is true, the judge of pictures never says that it is false."""
    relation, frame = SHARED[word]
    judged = []
    for subject, ground in PAIRS:
        if (word == "in" and ground != "box") or (word == "touching" and ground == "table"):
            continue
        near = [f"The {ground} is near the {subject}"]
        if word in ("near", "far from"):
            near = []
        text = text_of(near, [f"The {subject} is {word} the {ground}"])
        for truth in (True, False):
            stage = WitnessScene(text, reading_named("ordinary"), cast_of(text))
            witness = stage.witness(0, truth)
            if witness is None:
                continue
            scene = scene_of(ShownWitness("", witness, stage))
            if scene is not None:
                fact = decide(scene, subject, relation, ground, frame=frame)
                judged.append((truth, fact.truth))
                assert fact.truth is not (not truth), (subject, word, ground, truth, fact.why)
    if word in ("to the left of", "to the right of", "on", "in", "under", "far from"):
        assert (True, True) in judged  # the others may be doubtful cases for the judge
    assert (False, False) in judged, judged
