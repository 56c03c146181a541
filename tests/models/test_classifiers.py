"""Trained baselines find shortcuts that hold across groups, not what their own group shows."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.contracts import Benchmark
from gnomon.errors import ModelError, UsageError
from gnomon.models.classifiers import (
    Classifier,
    assign_folds,
    bag_of_words,
    hold_out_of,
    hypothesis_only,
    units,
)
from gnomon.records import Item

pytest.importorskip("sklearn")
LABELS = ("entailment", "contradiction", "neutral")


def item(n, text, label, group, context="", choices=LABELS, tags=None):
    return Item(
        id=str(n),
        form="entailment",
        context=context,
        text=text,
        choices=choices,
        gold=(label,),
        group=group,
        tags=tags or {},
    )


def benchmark(*hold_out):
    return Benchmark(name="mine", summary="items of our own", sources={}, hold_out=hold_out)


def accuracy(model, items, *hold_out):
    model.prepare(iter(items), benchmark(*hold_out))
    pairs = zip(items, model.answer(items), strict=True)
    return sum(answer.choice in asked.gold for asked, answer in pairs) / len(items)


def test_a_word_that_gives_the_label_away_is_found():
    items = [
        item(
            n,
            f"Thing {n} is {'not' if n % 2 else 'surely'} there.",
            LABELS[n % 2],
            f"g{n % 8}",
            "Some premise.",
        )
        for n in range(80)
    ]
    assert accuracy(hypothesis_only(""), items) == 1.0


def test_hypothesis_only_cannot_see_the_premises_but_bag_of_words_can():
    items = [
        item(
            n,
            "The box is here.",
            LABELS[n % 2],
            f"g{n % 7}",
            f"A {'red' if n % 2 else 'blue'} box.",
        )
        for n in range(70)
    ]
    assert accuracy(bag_of_words(""), items) == 1.0
    assert accuracy(hypothesis_only(""), items) <= 0.6


def test_what_only_its_own_group_shows_is_of_no_use():
    """Each group has a word of its own that gives its label away: seen, it would be learnt; it is
    not seen."""
    items = [
        item(n, f"word{n % 10} stands here.", LABELS[n % 10 % 2], f"g{n % 10}") for n in range(100)
    ]
    assert accuracy(hypothesis_only(""), items) <= 0.5


def test_families_that_share_hypotheses_are_held_out_whole():
    """Three patterns of a family have the same hypotheses and one label each: no word says
    anything."""
    items = [
        item(
            f"{f}{n}{label}",
            f"word{f} stands near word{f}x{n}.",
            label,
            f"{f}{label}",
            tags={"family": f"f{f}"},
        )
        for f in range(8)
        for n in range(3)
        for label in LABELS
    ]
    assert accuracy(hypothesis_only(""), items, ("family",)) == pytest.approx(1 / 3, abs=0.1)
    assert accuracy(hypothesis_only(""), items) < 0.1, "with patterns held out, siblings point away"


def test_what_is_learnt_of_an_object_in_one_pair_is_of_no_use_in_another():
    """Sizes of objects can be learnt from other pairs; an item's classifier has seen neither of its
    objects."""
    names = [f"thing{n}" for n in range(16)]
    items = [
        item(
            f"{a}{b}",
            f"{names[a]} is [MASK] than {names[b]}.",
            LABELS[a < b],
            f"{min(a, b)} {max(a, b)}",
            tags={"obj_a": names[a], "obj_b": names[b]},
            choices=LABELS[:2],
        )
        for a in range(16)
        for b in range(16)
        if a != b
    ]
    objects = ("obj_a", "obj_b")
    assert accuracy(hypothesis_only(""), items, objects) == pytest.approx(0.5, abs=0.08)
    assert accuracy(hypothesis_only(""), items) > 0.9, "with only the pair held out, it can"


def test_what_is_left_out_does_not_show_by_its_absence():
    """One place for each action, four for each object: a set without any clue is answered at
    chance, not below."""
    places = ("in", "on", "under", "beside")
    items = [
        item(
            f"{thing}{place}{n}",
            f"She is there with the thing{thing}.",
            place,
            f"{thing}{place}",
            context=f"She verb{place}{(thing + n) % 3} the thing{thing}.",
            choices=places,
            tags={"object": f"thing{thing}", "action": f"verb{place}{thing % 3}"},
        )
        for thing in range(9)
        for place in places
        for n in (0, 0)
    ]
    assert accuracy(hypothesis_only(""), items, ("object", "action")) == 0.25
    assert accuracy(bag_of_words(""), items, ("object", "action")) == 0.25


def test_of_several_lists_of_tags_the_first_that_an_item_has_is_held_out():
    alternatives = hold_out_of("family; type_a, type_b; obj_a, obj_b")
    assert alternatives == (("family",), ("type_a", "type_b"), ("obj_a", "obj_b"))
    pair = item(1, "x", "neutral", "g", tags={"obj_a": "garden ant", "obj_b": "dairy cow"})
    assert units(pair, alternatives) == ("garden ant", "dairy cow")
    kinds = item(1, "x", "neutral", "g", tags=pair.tags | {"type_a": "ant", "type_b": "cow"})
    assert units(kinds, alternatives) == ("ant", "cow")
    assert units(kinds, hold_out_of("obj_b")) == ("dairy cow",)
    assert units(kinds, hold_out_of("family")) == ("g",)
    assert units(kinds) == ("g",)


def test_what_the_user_holds_out_counts_before_what_the_benchmark_does():
    tags = ({"family": "f", "object": "ant"}, {"family": "f", "object": "cow"})
    items = [item(n, "x", LABELS[n], f"g{n}", tags=tags[n]) for n in (0, 1)]
    with pytest.raises(ModelError, match="only one"):
        hypothesis_only("").prepare(items, benchmark(("family",)))
    hypothesis_only("", hold_out="object").prepare(items, benchmark(("family",)))


def test_a_classifier_describes_itself_alike_before_and_after_training():
    items = [
        item(n, f"word{n}", LABELS[n % 2], f"g{n}", tags={"family": f"f{n}"}) for n in range(4)
    ]
    model = bag_of_words("")
    before = model.describe()
    model.prepare(items, benchmark(("family",)))
    assert model.describe() == before


def test_items_without_a_group_stand_for_themselves():
    items = [
        item(n, "It is not so." if n % 2 else "It is so.", LABELS[n % 2], "") for n in range(40)
    ]
    assert accuracy(hypothesis_only(""), items) == 1.0


def test_scores_are_log_probabilities_among_the_choices_of_the_item():
    choices = ("yes", "no", "unheard")
    items = [
        item(n, ("dog", "cat")[n % 2], choices[n % 2], f"g{n % 5}", choices=choices)
        for n in range(20)
    ]
    model = bag_of_words("")
    model.prepare(items, benchmark())
    for answer in model.answer(items):
        assert sum(map(math.exp, answer.scores)) == pytest.approx(1)
        assert answer.scores[2] < -15


def test_order_and_batches_do_not_change_answers():
    items = [item(n, f"a b{n % 3} c{n % 5}", LABELS[n % 3], f"g{n % 6}") for n in range(60)]
    one, other = bag_of_words(""), bag_of_words("")
    one.prepare(items, benchmark())
    other.prepare(items[::-1], benchmark())
    singly = [answer for asked in items for answer in other.answer([asked])]
    for whole, single in zip(one.answer(items), singly, strict=True):
        assert whole.scores == pytest.approx(single.scores, abs=0.02)  # the solver's tolerance


def test_several_right_labels_share_one_vote():
    gold = (("b",), ("a", "b"))
    items = [
        Item(
            id=str(n), form="choice", text="x", choices=("a", "b"), gold=gold[n % 2], group=f"g{n}"
        )
        for n in range(20)
    ]
    model = hypothesis_only("")
    model.prepare(items, benchmark())
    assert all(answer.choice == "b" for answer in model.answer(items))


def test_one_label_only_is_always_that_label():
    items = [item(n, f"word{n}", "neutral", f"g{n}") for n in range(6)]
    assert accuracy(hypothesis_only(""), items) == 1.0


def test_what_cannot_be_trained_says_so():
    with pytest.raises(ModelError, match="only one"):
        hypothesis_only("").prepare(
            [item(1, "a", "neutral", "g"), item(2, "b", "entailment", "g")], benchmark()
        )
    with pytest.raises(ModelError, match="not been trained"):
        bag_of_words("").answer([item(1, "a", "neutral", "g")])
    with pytest.raises(UsageError, match="two folds"):
        bag_of_words("", folds=1)
    with pytest.raises(UsageError, match="takes no name"):
        hypothesis_only("bert")


def test_it_describes_how_it_was_trained():
    model = bag_of_words("", folds=3)
    assert isinstance(model, Classifier)
    assert model.describe()["folds"] == 3
    assert model.spec == "bag-of-words"


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1), st.integers(2, 6), st.randoms())
def test_folds_depend_on_the_groups_and_not_on_their_order(groups, folds, random):
    found = assign_folds(groups, folds)
    shuffled = list(groups)
    random.shuffle(shuffled)
    assert assign_folds(shuffled, folds) == found
    assert set(found) == set(groups)
    assert set(found.values()) == set(range(min(folds, len(found))))


@pytest.mark.parametrize("make", [hypothesis_only, bag_of_words])
def test_texts_without_words_are_answered_by_how_often_labels_are_right(make):
    items = [
        Item(
            id=str(i),
            form="choice",
            text="?!",
            choices=("a", "b"),
            gold=("b" if i % 3 else "a",),
            group=f"g{i % 4}",
        )
        for i in range(24)
    ]
    model = make("")
    model.prepare(items, benchmark())
    answers = model.answer(items)
    assert {answer.choice for answer in answers} == {"b"}
    assert all(sum(map(math.exp, answer.scores)) == pytest.approx(1) for answer in answers)
