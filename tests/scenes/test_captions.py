"""A caption of a small grammar becomes a scene in which it is true."""

import pytest

from gnomon.errors import UsageError
from gnomon.lexicon.statements import Statement
from gnomon.scenes.descriptions import other_nouns, scene_of, understand
from gnomon.scenes.placing import impossibilities
from gnomon.scenes.relations import decide
from gnomon.scenes.things import things


def test_a_caption_names_things_and_relations():
    said = understand("A cup is on a table, a dog behind it and the cat under the table.")
    assert said.names == {"cup": "cup", "table": "dining table", "dog": "dog", "cat": "cat"}
    assert said.statements == [
        Statement("cup", "on", "table"),
        Statement("dog", "behind", "table"),
        Statement("cat", "under", "table"),
    ]


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("the dog is to the left of the bench", ("dog", "left of", "bench")),
        ("a hot dog in front of a teddy bear", ("hot dog", "in front of", "teddy bear")),
        ("a cat facing away from a couch", ("cat", "facing away from", "couch")),
        ("a bowl contains an apple", ("bowl", "contains", "apple")),
        ("a cup at the edge of a table", ("cup", "at the edge of", "table")),
        ("a cup on top of a book", ("cup", "on top of", "book")),
        ("a car far away from a bus", ("car", "far away from", "bus")),
    ],
)
def test_the_longest_relation_is_understood(text, statement):
    assert understand(text).statements == [Statement(*statement)]


def test_two_of_a_kind_are_two_things():
    said = understand("a cup on a table, another cup on the table")
    assert said.names == {"cup": "cup", "table": "dining table", "other cup": "cup"}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_is_said_is_true(seed):
    scene = scene_of("a cup on a table, a dog behind it, a cat under the table", seed)
    for subject, relation in (("cup", "on"), ("dog", "behind"), ("cat", "under")):
        assert decide(scene, subject, relation, "table", frame="viewer").truth is True
    assert impossibilities(scene) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1 to 12 clauses"),
        ("a cup," * 13, "1 to 12 clauses"),
        ("a" * 501, "longer than 500"),
        ("a unicorn on a table", "no thing named 'unicorn'"),
        ("it on a table", "'it' names nothing yet"),
        ("a cup on a cup, the cup on the cup", "itself"),
        ("a bus in a cup", "No scene was found"),
    ],
)
def test_what_cannot_be_said_or_placed_is_one_sentence(text, said):
    with pytest.raises(UsageError, match=said) as caught:
        scene_of(text)
    assert "\n" not in caught.value.message


def test_synonyms_name_things():
    assert set(other_nouns().values()) <= set(things())
    assert not set(other_nouns()) & set(things())
