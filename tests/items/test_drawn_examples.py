"""Worked examples that are drawn: balanced, seeded, and never about what is asked."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import msgspec
import pytest

from gnomon.errors import UsageError
from gnomon.items.examples import draw, shared_units
from gnomon.records import Item

HOLD_OUT = (("obj_a", "obj_b"),)
OBJECTS = ("ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay")


def item(a, b, form="choice"):
    return Item(
        id=f"{form}/{a}/{b}",
        form=form,
        text=f"Is a {a} larger than a {b}?",
        choices=("no", "yes"),
        gold=("yes" if a > b else "no",),
        group=" / ".join(sorted((a, b))),
        tags={"obj_a": a, "obj_b": b},
    )


ITEMS = [item(a, b) for a, b in permutations(OBJECTS, 2)]


def test_no_item_shares_a_group_or_a_held_out_unit_with_its_examples():
    drawn = draw(ITEMS, ITEMS, 3, HOLD_OUT)
    for each in ITEMS:
        examples = drawn.examples("choice", drawn.set_for(each))
        assert len(examples) == 3
        for example in examples:
            assert not shared_units(each, HOLD_OUT) & shared_units(example, HOLD_OUT)
            assert each.tags["obj_a"] not in example.tags.values()
            assert each.tags["obj_b"] not in example.tags.values()


def test_right_labels_are_balanced():
    drawn = draw(ITEMS, ITEMS, 4, HOLD_OUT)
    assert len(drawn.sets) > 1
    for examples in drawn.sets:
        assert Counter(each.gold[0] for each in examples) == {"no": 2, "yes": 2}


def test_a_seed_gives_the_same_examples_and_another_seed_others():
    assert draw(ITEMS, ITEMS, 2, HOLD_OUT, 1) == draw(ITEMS, ITEMS, 2, HOLD_OUT, 1)
    assert draw(ITEMS, ITEMS, 2, HOLD_OUT, 1).sets != draw(ITEMS, ITEMS, 2, HOLD_OUT, 2).sets


def test_items_of_each_form_have_examples_of_that_form():
    both = [*ITEMS, *(item(a, b, "caption") for a, b in permutations(OBJECTS, 2))]
    drawn = draw(both, both, 2, HOLD_OUT)
    for each in (ITEMS[0], both[-1]):
        examples = drawn.examples(each.form, drawn.set_for(each))
        assert [example.form for example in examples] == [each.form] * 2


def test_few_sets_serve_all_so_that_beginnings_are_shared():
    assert len(draw(ITEMS, ITEMS, 2, HOLD_OUT).sets) <= 4


def test_what_cannot_be_drawn_is_said():
    few = [item("ant", "bee"), item("bee", "ant")]
    with pytest.raises(UsageError, match="share nothing") as caught:
        draw(few, few, 2, HOLD_OUT)
    assert "shots_from=FILE" in caught.value.hint


def test_the_question_that_is_asked_is_no_example_even_without_group_and_tags():
    bare = [msgspec.structs.replace(each, group="", tags={}) for each in ITEMS]
    drawn = draw(ITEMS, bare, 2, HOLD_OUT)
    assert len(drawn.sets) > 1
    shown = [drawn.examples("choice", drawn.set_for(each)) for each in ITEMS]
    for each, examples in zip(ITEMS, shown, strict=True):
        assert len(examples) == 2
        assert each.text not in [example.text for example in examples]


def test_an_example_with_other_tags_than_the_item_shares_what_both_name():
    hold_out = (("type_a", "type_b"), *HOLD_OUT)
    tags = {"obj_a": "ant", "obj_b": "bee", "type_a": "insect", "type_b": "bug"}
    asked = msgspec.structs.replace(item("ant", "bee"), tags=tags)
    example = item("cow", "bee")
    assert shared_units(asked, hold_out) & shared_units(example, hold_out) == {"unit bee"}


def test_a_form_without_examples_is_named():
    with pytest.raises(UsageError, match="no worked examples of the form caption"):
        draw([item("ant", "bee", "caption")], ITEMS, 2, HOLD_OUT)
