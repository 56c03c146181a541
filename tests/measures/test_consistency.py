"""Agreement within groups and between forms, and the laws of relations, on small cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.contracts import Laws, OrderLaw, RelationLaw
from gnomon.measures import Table
from gnomon.measures.comparison import difference, t_test
from gnomon.measures.consistency import agreement, within_groups
from gnomon.measures.intervals import interval
from gnomon.measures.laws import converse, negation, object_bias, symmetry
from gnomon.measures.transitivity import transitivity
from gnomon.records import Answer, Item
from gnomon.registry import measure

ORDER = Laws(
    order=OrderLaw(
        first="obj_a",
        second="obj_b",
        within=("scale",),
        word="comparative",
        greater=("larger", "taller"),
        lesser=("smaller", "shorter"),
    )
)
RELATIONS = Laws(
    relations=RelationLaw(
        first="subject",
        second="object",
        within=("image",),
        symmetric=("next to",),
        converse=(("left of", "right of"),),
        transitive=("inside",),
    )
)


def cloze(a, b, answer, gold="larger", scale="size"):
    item = Item(
        id=f"{scale}/{a}/{b}",
        form="cloze",
        text=f"{a} is [MASK] than {b}",
        choices=("larger", "smaller"),
        gold=(gold,),
        group="/".join(sorted((a, b))),
        tags={"obj_a": a, "obj_b": b, "scale": scale},
    )
    return item, Answer(item=item.id, choice=answer)


def question(a, word, b, answer, gold="yes"):
    item = Item(
        id=f"{a}/{word}/{b}",
        form="choice",
        text="?",
        choices=("yes", "no"),
        gold=(gold,),
        group="/".join(sorted((a, b))),
        tags={"obj_a": a, "obj_b": b, "scale": "size", "comparative": word},
    )
    return item, Answer(item=item.id, choice=answer)


def fact(a, word, b, answer, gold="yes", image="1", negated="no"):
    item = Item(
        id=f"{image}/{a}/{word}/{b}/{negated}",
        form="caption",
        text="?",
        choices=("yes", "no"),
        gold=(gold,),
        tags={"subject": a, "object": b, "relation": word, "image": image, "negated": negated},
    )
    return item, Answer(item=item.id, choice=answer)


def value(function, rows, laws=ORDER):
    return function(Table.of(rows, laws=laws)).value


def test_a_pair_is_symmetric_if_asked_both_ways_it_gets_opposite_words():
    rows = [
        cloze("a", "b", "larger"),
        cloze("b", "a", "smaller"),
        cloze("a", "c", "larger"),
        cloze("c", "a", "larger"),
        cloze("b", "c", "smaller"),
        cloze("c", "b", None),
        cloze("c", "d", "larger"),
    ]  # asked one way only: no pair
    found = symmetry(Table.of(rows, laws=ORDER))
    assert (found.value, found.n) == (pytest.approx(1 / 3), 3)


def test_scales_and_forms_are_kept_apart():
    rows = [
        cloze("a", "b", "larger"),
        cloze("b", "a", "larger", scale="height"),
        question("b", "larger", "a", "yes"),
    ]
    assert symmetry(Table.of(rows, laws=ORDER)).n == 0


def test_yes_and_no_are_read_with_the_word_that_was_asked():
    rows = [
        question("a", "larger", "b", "yes"),
        question("b", "larger", "a", "no"),  # both: a is larger
        question("c", "smaller", "d", "no"),
        question("d", "larger", "c", "no"),  # both: c is larger
        question("a", "larger", "d", "yes"),
        question("a", "smaller", "d", "yes"),
    ]  # at odds
    assert value(symmetry, rows) == pytest.approx(2 / 3)


def test_transitivity_counts_triples_whose_first_two_answers_are_alike():
    # a > b, b > c and a > c: one kept upwards. c ? b, b ? a, c ? a were not asked.
    rows = [cloze("a", "b", "larger"), cloze("b", "c", "larger"), cloze("a", "c", "larger")]
    found = transitivity(Table.of(rows, laws=ORDER))
    assert (found.value, found.n, found.clusters) == (1.0, 1, 3)
    rows[2] = cloze("a", "c", "smaller")
    assert value(transitivity, rows) == 0.0
    rows[2] = cloze("a", "c", None)  # asked, but no answer
    assert value(transitivity, rows) == 0.0
    assert np.isnan(value(transitivity, rows[:2]))  # not asked: the triple does not exist


def test_objects_in_no_triple_do_not_make_a_triple_sure():
    rows = [cloze("a", "b", "larger"), cloze("b", "c", "larger"), cloze("a", "c", "larger")]
    rows += [cloze(x, y, "larger") for x, y in ("de", "fg", "hi", "jk", "lm", "no", "pq")]
    found = transitivity(Table.of(rows, laws=ORDER))
    assert (found.value, found.n, found.clusters) == (1.0, 1, 3)
    assert np.isnan(interval(found).low), "one triple says nothing about others"
    rows += [cloze("s", "t", "larger"), cloze("t", "u", "larger"), cloze("s", "u", "larger")]
    two = interval(transitivity(Table.of(rows, laws=ORDER)))
    assert two.low < 0.5, "two triples say little"
    broken = [*rows[:-1], cloze("s", "u", "smaller")]
    gap = difference(
        transitivity(Table.of(rows[:10], laws=ORDER)),
        transitivity(Table.of(broken[:10], laws=ORDER)),
    )
    assert np.isnan(t_test(gap)), "nor does one triple tell models apart"


def test_a_cycle_breaks_all_its_triples():
    cycle = [("a", "b"), ("b", "c"), ("c", "a")]
    rows = [cloze(x, y, "larger") for x, y in cycle] + [cloze(y, x, "smaller") for x, y in cycle]
    found = transitivity(Table.of(rows, laws=ORDER))
    assert (found.value, found.n) == (0.0, 6)  # three triples going up, three going down


@given(st.permutations(list("abcde")))
def test_a_real_order_is_symmetric_and_transitive_and_right(names):
    rank = {name: i for i, name in enumerate(names)}
    rows = [
        cloze(x, y, answer, gold=answer)
        for x in names
        for y in names
        if x != y
        for answer in ["larger" if rank[x] > rank[y] else "smaller"]
    ]
    table = Table.of(rows, laws=ORDER)
    for name in ("symmetry", "transitivity", "symmetry_and_right", "transitivity_and_right"):
        assert measure(name).statistics(table).value == 1.0


@pytest.mark.parametrize("p", [0.5, 0.8])
def test_random_answers_give_the_closed_forms(p, rng):
    """Independent answers "larger" with chance p: symmetry 2pq, transitivity (p^3 + q^3) / (p^2 +
    q^2)."""
    names = [f"o{i}" for i in range(60)]
    rows = [
        cloze(x, y, "larger" if rng.random() < p else "smaller")
        for x in names
        for y in names
        if x != y
    ]
    table = Table.of(rows, laws=ORDER)
    q = 1 - p
    assert symmetry(table).value == pytest.approx(2 * p * q, abs=0.03)
    assert transitivity(table).value == pytest.approx((p**3 + q**3) / (p**2 + q**2), abs=0.02)
    assert symmetry(table).n == 60 * 59 / 2


def test_a_random_tournament_keeps_half_of_its_triples(rng):
    names = [f"o{i}" for i in range(60)]
    rows = []
    for i, x in enumerate(names):
        for y in names[:i]:
            up = rng.random() < 0.5
            rows += [
                cloze(x, y, "larger" if up else "smaller"),
                cloze(y, x, "smaller" if up else "larger"),
            ]
    table = Table.of(rows, laws=ORDER)
    assert symmetry(table).value == 1.0
    assert transitivity(table).value == pytest.approx(0.5, abs=0.02)


def test_transitivity_agrees_with_counting_triples_one_by_one(rng):
    names = list("abcdefg")
    asked = [(x, y) for x in names for y in names if x != y and rng.random() < 0.8]
    said = {pair: rng.choice(["larger", "smaller", None]) for pair in asked}
    kept = tried = 0
    for x in names:
        for y in names:
            for z in names:
                first, second = said.get((x, y)), said.get((y, z))
                if len({x, y, z}) == 3 and first is not None and first == second and (x, z) in said:
                    tried += 1
                    kept += said[x, z] == first
    found = transitivity(
        Table.of([cloze(x, y, answer) for (x, y), answer in said.items()], laws=ORDER)
    )
    assert (found.n, found.value) == (tried, pytest.approx(kept / tried))


def test_right_and_consistent_is_never_more_than_consistent():
    rows = [
        cloze("a", "b", "smaller"),
        cloze("b", "a", "larger", gold="smaller"),  # consistent and wrong
        cloze("a", "c", "larger"),
        cloze("c", "a", "smaller", gold="smaller"),
    ]  # consistent and right
    table = Table.of(rows, laws=ORDER)
    assert measure("symmetry").statistics(table).value == 1.0
    assert measure("symmetry_and_right").statistics(table).value == 0.5


def test_an_objects_bias_is_how_often_it_is_called_the_greater():
    rows = [
        cloze("a", "b", "larger"),
        cloze("b", "a", "larger", gold="smaller"),
        cloze("a", "c", "smaller"),
    ]
    bias = {each.object: each for each in object_bias(Table.of(rows, laws=ORDER))}
    assert bias["a"][2:] == (3, pytest.approx(1 / 3), 0.5, 0.0, 1.0)
    assert bias["b"].called_greater == 0.5
    assert (bias["c"].called_greater, bias["c"].is_greater) == (1.0, 0.0)
    assert np.isnan(bias["c"].called_greater_first)


def test_symmetric_relations_are_answered_alike_both_ways_round():
    rows = [
        fact("cat", "next to", "dog", "yes"),
        fact("dog", "next to", "cat", "yes"),
        fact("cat", "next to", "box", "yes"),
        fact("box", "next to", "cat", "no"),
        fact("cat", "next to", "dog", "no", image="2"),
        fact("cat", "above", "dog", "yes"),
        fact("dog", "above", "cat", "yes"),
    ]  # no law for above
    found = symmetry(Table.of(rows, laws=RELATIONS))
    assert (found.value, found.n) == (0.5, 2)


def test_a_word_and_its_converse_are_answered_alike():
    rows = [
        fact("cat", "left of", "dog", "yes"),
        fact("dog", "right of", "cat", "yes"),
        fact("cat", "left of", "box", "yes"),
        fact("box", "right of", "cat", "no"),
        fact("cat", "left of", "sofa", "yes"),
        fact("sofa", "left of", "cat", "no"),
    ]  # not the converse
    found = converse(Table.of(rows, laws=RELATIONS))
    assert (found.value, found.n) == (0.5, 2)


def test_words_as_choices_are_turned_round():
    def put(a, b, answer, gold):
        item = Item(
            id=f"{a}/{b}",
            form="cloze",
            text="[MASK]",
            choices=("left of", "right of", "next to"),
            gold=(gold,),
            tags={"subject": a, "object": b, "relation": gold, "image": "1"},
        )
        return item, Answer(item=item.id, choice=answer)

    rows = [
        put("cat", "dog", "left of", "left of"),
        put("dog", "cat", "right of", "right of"),
        put("cat", "box", "left of", "left of"),
        put("box", "cat", "left of", "right of"),
    ]
    found = converse(Table.of(rows, laws=RELATIONS))
    assert (found.value, found.n) == (0.5, 2)


def test_what_is_asserted_and_denied_gets_opposite_answers():
    rows = [
        fact("cat", "inside", "box", "yes"),
        fact("cat", "inside", "box", "no", gold="no", negated="yes"),
        fact("dog", "inside", "box", "yes"),
        fact("dog", "inside", "box", "yes", gold="no", negated="yes"),
    ]
    table = Table.of(rows, laws=RELATIONS)
    assert (negation(table).value, negation(table).n) == (0.5, 2)
    assert measure("negation_and_right").statistics(table).value == 0.5


def test_entailment_and_contradiction_change_places_under_negation_and_neutral_stays():
    def put(image, negated, answer, gold):
        tags = {
            "subject": "cat",
            "object": "box",
            "relation": "inside",
            "image": image,
            "negated": negated,
        }
        item = Item(
            id=f"{image}{negated}",
            form="entailment",
            text="?",
            gold=(gold,),
            tags=tags,
            choices=("entailment", "neutral", "contradiction"),
        )
        return item, Answer(item=item.id, choice=answer)

    rows = [
        put("1", "no", "entailment", "entailment"),
        put("1", "yes", "contradiction", "contradiction"),
        put("2", "no", "neutral", "neutral"),
        put("2", "yes", "neutral", "neutral"),
        put("3", "no", "neutral", "neutral"),
        put("3", "yes", "entailment", "neutral"),
    ]
    assert value(negation, rows, RELATIONS) == pytest.approx(2 / 3)


def test_relations_declared_transitive_are_followed_through():
    rows = [
        fact("pea", "inside", "cup", "yes"),
        fact("cup", "inside", "box", "yes"),
        fact("pea", "inside", "box", "no"),
    ]
    found = transitivity(Table.of(rows, laws=RELATIONS))
    assert (found.value, found.n) == (0.0, 1)


def test_without_a_law_the_measures_are_undefined(table):
    some = table(["a", "b"], ["a", "b"])
    for name in ("symmetry", "transitivity", "converse", "negation"):
        found = measure(name).statistics(some)
        assert np.isnan(found.value)
        assert (found.n, found.clusters) == (0, 0)


def test_group_agreement_is_the_chance_that_two_answers_of_a_group_are_alike(table):
    some = table(
        ["a"] * 6,
        ["a", "a", "b", "a", None, "b"],
        groups=["g", "g", "g", "h", "h", "i"],
        choices=("a", "b"),
    )
    found = agreement(within_groups(some))
    assert (found.value, found.n) == (pytest.approx((1 / 3 + 0) / 2), 2)  # i has one item: no pair
    assert agreement(within_groups(some), and_right=True).value == pytest.approx((1 / 3 + 0) / 2)


def test_where_right_labels_differ_being_right_is_compared():
    rows = [
        cloze("a", "b", "larger"),
        cloze("b", "a", "smaller", gold="smaller"),
        cloze("a", "c", "smaller"),
        cloze("c", "a", "smaller", gold="smaller"),
    ]
    assert agreement(within_groups(Table.of(rows))).value == 0.5


def test_form_agreement_compares_only_across_forms():
    rows = [
        cloze("a", "b", "larger"),
        cloze("b", "a", "larger", gold="smaller"),
        question("a", "larger", "b", "yes"),
    ]
    found = agreement(within_groups(Table.of(rows), between_forms=True))
    assert (found.value, found.n) == (0.5, 1)  # right with right, wrong with right
    assert agreement(within_groups(Table.of(rows[:2]), between_forms=True)).n == 0


def test_same_choice_is_about_items_whose_right_labels_differ(table):
    tags = [{"person": "man", "object": "car"}] * 3 + [{"person": "girl", "object": "car"}, {}]
    some = table(["in", "by", "by", "in", "in"], ["in", "in", "by", "in", "in"], tags=tags)
    found = measure("same_choice@person,object").statistics(some)
    assert (found.value, found.n) == (
        0.5,
        1,
    )  # of (in, by) and (in, by) the first pair got one answer


def test_consistency_of_a_slice_without_groups_is_undefined(table):
    assert np.isnan(agreement(within_groups(table(["a", "b"], ["a", "b"]))).value)
