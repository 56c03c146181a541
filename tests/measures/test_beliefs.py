"""Beliefs: what answers say together, under a law of order and under relations with converses."""

import random
from itertools import combinations, permutations

import pytest

from gnomon.contracts import Laws, OrderLaw, RelationLaw
from gnomon.measures.beliefs import beliefs
from gnomon.measures.table import Table
from gnomon.records import Answer, Item

ORDER = Laws(
    order=OrderLaw(
        first="a",
        second="b",
        within=("scale",),
        word="word",
        greater=("larger", "taller"),
        lesser=("smaller", "shorter"),
    )
)
PLACES = Laws(
    relations=RelationLaw(
        first="a",
        second="b",
        within=("story",),
        converse=(("left of", "right of"),),
        transitive=("inside",),
    )
)
SIZES = {"ant": 1, "cup": 2, "dog": 3, "car": 4, "ship": 5}


def cloze(one, two, said, right):
    item = Item(
        id=f"{one}/{two}",
        form="cloze",
        text=f"A {one} is [MASK] than a {two}.",
        choices=("larger", "smaller"),
        gold=(right,),
        tags={"a": one, "b": two, "scale": "size"},
    )
    return item, Answer(item=item.id, choice=said)


def question(one, two, word, said, right="yes", story="s", number=0):
    item = Item(
        id=f"{story}/{one}/{word}/{two}/{number}",
        form="choice",
        text=f"Is {one} {word} {two}?",
        choices=("yes", "no", "cannot tell"),
        gold=(right,),
        tags={"a": one, "b": two, "relation": word, "story": story},
    )
    return item, Answer(item=item.id, choice=said)


def truth(one, two):
    return "larger" if SIZES[one] > SIZES[two] else "smaller"


def test_right_answers_give_the_true_order_and_nothing_to_change():
    rows = [
        cloze(one, two, truth(one, two), truth(one, two)) for one, two in permutations(SIZES, 2)
    ]
    (found,) = beliefs(Table.of(rows, laws=ORDER))
    assert found.objects == ("ship", "car", "dog", "cup", "ant")
    assert (found.context, found.relation) == ("size cloze", "larger")
    assert (found.answers, found.changes, found.both_ways, found.triangles) == (20, 0, 0, 0)
    assert found.right == found.order_right == 20
    assert found.by_chance > 2


@pytest.mark.parametrize("flips", [1, 2, 3])
def test_flipped_answers_are_the_most_that_must_change(flips):
    pairs = list(combinations(SIZES, 2))
    flipped = set(random.Random(flips).sample(pairs, flips))
    rows = []
    for one, two in pairs:
        right = truth(one, two)
        said = right
        if (one, two) in flipped:
            said = "larger" if right == "smaller" else "smaller"
        rows.append(cloze(one, two, said, right))
    (found,) = beliefs(Table.of(rows, laws=ORDER))
    assert found.changes <= flips
    assert found.exact
    assert found.right == 10 - flips


def test_a_circle_of_three_is_one_triangle_and_one_change():
    rows = [
        cloze("ant", "cup", "larger", "smaller"),
        cloze("cup", "dog", "larger", "smaller"),
        cloze("dog", "ant", "larger", "larger"),
    ]
    (found,) = beliefs(Table.of(rows, laws=ORDER))
    assert (found.triangles, found.changes) == (1, 1)
    assert set(found.tangles[0]) == {"ant", "cup", "dog"}


def test_said_both_ways_round_is_one_pair_and_one_change():
    rows = [cloze("ant", "cup", "larger", "smaller"), cloze("cup", "ant", "larger", "larger")]
    (found,) = beliefs(Table.of(rows, laws=ORDER))
    assert (found.both_ways, found.changes, found.tangles) == (1, 1, ())


def test_no_to_a_question_of_order_says_the_opposite():
    items = []
    for word, said in (("larger", "no"), ("smaller", "yes")):
        item = Item(
            id=word,
            form="choice",
            text=f"Is an ant {word} than a cup?",
            choices=("yes", "no"),
            gold=(said,),
            tags={"a": "ant", "b": "cup", "scale": "size", "word": word},
        )
        items.append((item, Answer(item=word, choice=said)))
    (found,) = beliefs(Table.of(items, laws=ORDER))
    assert found.objects == ("cup", "ant")
    assert found.over[0, 1] == 2
    assert found.right == 2


def test_a_relation_and_its_converse_are_one_order():
    rows = [
        question("A", "B", "left of", "yes"),
        question("C", "B", "right of", "yes"),
        question("A", "C", "left of", "no"),
        question("C", "A", "left of", "cannot tell"),
    ]
    (found,) = beliefs(Table.of(rows, laws=PLACES))
    assert found.objects == ("A", "B", "C")
    assert found.answers == 2, "no and cannot tell claim no order"
    assert found.changes == 0


def test_yes_claims_an_order_also_where_it_cannot_be_told():
    rows = [
        question("A", "B", "left of", "yes", right="cannot tell"),
        question("B", "A", "left of", "yes", right="cannot tell"),
    ]
    (found,) = beliefs(Table.of(rows, laws=PLACES))
    assert (found.answers, found.changes, found.right) == (2, 1, 0)


def test_stories_and_relations_are_kept_apart():
    rows = [
        question("A", "B", "left of", "yes", story="one"),
        question("B", "A", "left of", "yes", story="two"),
        question("A", "B", "inside", "yes", story="two"),
    ]
    found = beliefs(Table.of(rows, laws=PLACES))
    assert [(one.context, one.relation) for one in found] == [
        ("one choice", "left of"),
        ("two choice", "left of"),
        ("two choice", "inside"),
    ]
    assert not any(one.changes for one in found)


def test_what_the_order_would_get_right_is_counted_by_the_truth():
    rows = [
        question("A", "B", "left of", "yes", right="yes"),
        question("B", "A", "left of", "yes", right="no", number=1),
        question("A", "B", "left of", "yes", right="yes", number=2),
    ]
    (found,) = beliefs(Table.of(rows, laws=PLACES))
    assert found.objects == ("A", "B")
    assert (found.changes, found.right, found.order_right) == (1, 2, 2)


def test_a_table_without_laws_or_claims_has_no_beliefs():
    assert beliefs(Table.of([cloze("ant", "cup", "larger", "smaller")])) == []
    assert beliefs(Table.of([question("A", "B", "left of", "no")], laws=PLACES)) == []
    item, _ = cloze("ant", "cup", "larger", "smaller")
    assert beliefs(Table.of([(item, Answer(item=item.id, error="down"))], laws=ORDER)) == []
