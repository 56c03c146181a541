"""The words of captions: opposites are opposites, and what is changed stays English."""

import pytest

from gnomon.lexicon.relations import lexicon
from gnomon.lexicon.statements import negation, opposite, question, stem
from gnomon.scenes.descriptions import scene_of
from gnomon.scenes.relations import facts, relations

OPPOSITES = {each.name: each.opposite for each in lexicon().relations.values() if each.opposite}


@pytest.mark.parametrize(
    ("caption", "wanted"),
    [
        ("The horse is left of the car.", "The horse is right of the car."),
        ("The cats are in front of the bed.", "The cats are behind the bed."),
        ("The cup is inside the box.", "The cup is outside the box."),
        ("The cup is on top of the box.", "The cup is beneath the box."),
        ("The dog is near the car.", "The dog is far from the car."),
        ("The dog is facing away from the car.", "The dog is facing the car."),
        ("The dog is touching the car.", "The dog is not touching the car."),
        ("The box contains the cat.", "The box does not contain the cat."),
        ("The boxes contain the cat.", "The boxes do not contain the cat."),
        ("The cake consists of the pizza.", "The cake does not consist of the pizza."),
        ("The car has as a part the wheel.", "The car does not have as a part the wheel."),
        ("There is an owl.", "There is no owl."),
        ("There are scissors.", "There are no scissors."),
    ],
)
def test_the_opposite_of_a_caption(caption, wanted):
    assert opposite(caption) == wanted


def test_a_frame_before_the_caption_stays():
    text = "From the dog's own point of view, the cat is left of the dog."
    wanted = "From the dog's own point of view, the cat is right of the dog."
    assert opposite(text, "left of") == wanted
    assert stem(text, "left of") == "From the dog's own point of view, the cat is left of"


def test_the_longest_relation_is_found_without_a_tag():
    assert opposite("The cat is in the middle of the bed.") == "The cat is at the edge of the bed."
    assert stem("The cat is at the left side of the bed.") == "The cat is at the left side of"


@pytest.mark.parametrize(
    "caption",
    [
        "The horse is left of the car.",
        "The cats are on the bed.",
        "The box contains the cat.",
        "The boxes consist of the cat.",
        "There is an owl.",
        "There are scissors.",
        "The dog is fast asleep.",
    ],
)
def test_a_caption_denied_twice_is_the_caption(caption):
    assert negation(caption) != caption
    assert negation(negation(caption)) == caption


@pytest.mark.parametrize("relation", sorted(OPPOSITES))
def test_opposites_are_relations_and_never_the_same(relation):
    other = OPPOSITES[relation]
    assert other != relation
    known = set(lexicon().relations)
    assert {relation, other} <= known


@pytest.mark.parametrize(
    ("caption", "wanted"),
    [
        ("The horse is left of the car.", "Is the horse left of the car?"),
        ("The cats are on the bed.", "Are the cats on the bed?"),
        ("The boxes contain the cat.", "Do the boxes contain the cat?"),
        ("There is an owl.", "Is there an owl?"),
        ("A dog sleeps.", "Is it true that a dog sleeps?"),
        ("Mary is behind the car.", "Is Mary behind the car?"),
    ],
)
def test_a_caption_as_a_question(caption, wanted):
    assert question(caption) == wanted


def test_a_caption_of_unknown_form_has_no_stem():
    assert stem("A dog sleeps.") == ""
    assert stem("There is an owl.") == ""


@pytest.mark.parametrize("said", ["left of", "behind", "inside", "near", "facing"])
def test_a_relation_and_its_opposite_are_never_both_true(said):
    table = OPPOSITES
    decided = [name for name in {*table, *table.values()} if name in relations()]
    scene = scene_of(f"a cat {said} a box")
    found = facts(scene, "cat", "box", only=decided)
    true = {name for name, fact in found.items() if fact.truth}
    assert said in true
    assert not {table[name] for name in true if name in table} & true
