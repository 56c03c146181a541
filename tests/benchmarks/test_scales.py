"""scales: right by construction, balanced, and without the shortcut of the published questions."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.benchmarks.scales import fresh, ordered_pairs, published
from gnomon.errors import DataError, MissingFileWarning
from gnomon.files import package_data, read_yaml

LEVELS = read_yaml(package_data("scales.yaml"))


def test_published_levels_hold_twenty_five_different_objects():
    for levels in LEVELS["published"].values():
        assert [len(level) for level in levels] == [5] * 5
        assert len({name for level in levels for name in level}) == 25


def test_no_fresh_object_stands_in_two_levels_and_each_level_offers_a_choice():
    for levels in LEVELS["fresh"].values():
        names = [name for level in levels for name in level]
        assert len(names) == len(set(names))
        assert min(len(level) for level in levels) > 5


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**9))
def test_fresh_is_balanced_within_each_comparative_word_for_every_seed(seed):
    items = list(fresh(seed=seed))
    assert len({item.id for item in items}) == len(items) == 2000
    words = Counter(
        (item.tags["comparative"], item.gold) for item in items if item.form == "choice"
    )
    assert set(words.values()) == {125}
    assert Counter(item.gold for item in items if item.form == "cloze") == dict.fromkeys(
        [("larger",), ("smaller",), ("taller",), ("shorter",)], 250
    )


def test_both_forms_and_both_orders_of_a_pair_share_a_group():
    groups = Counter(item.group for item in fresh(seed=1))
    assert set(groups.values()) == {4}
    assert len(groups) == 500


def test_scale_and_form_narrow():
    items = list(fresh(scale="size", form="cloze"))
    assert len(items) == 500
    assert {(item.tags["scale"], item.form) for item in items} == {("size", "cloze")}


def test_pairs_never_join_objects_of_one_level():
    assert set(ordered_pairs([["a", "b"], ["c"]])) == {
        ("a", "c"),
        ("b", "c"),
        ("c", "a"),
        ("c", "b"),
    }


@pytest.mark.published
def test_published_size_items_follow_the_authors_file(shared):
    with pytest.warns(MissingFileWarning, match="height"):
        items = list(published(data=str(shared / "data" / "spatial-commonsense")))
    clozes = [item for item in items if item.form == "cloze"]
    questions = [item for item in items if item.form == "choice"]
    assert len(clozes) == len(questions) == 500
    assert clozes[0].text == "An ant is [MASK] than a bird."
    assert Counter(item.gold for item in clozes) == {("smaller",): 250, ("larger",): 250}
    # The shortcut of the published questions: every "larger" is no, every "smaller" is yes.
    assert Counter((q.tags["comparative"], q.gold) for q in questions) == {
        ("larger", ("no",)): 250,
        ("smaller", ("yes",)): 250,
    }
    assert len({item.id for item in items}) == 1000


@pytest.mark.published
def test_missing_height_is_named_when_it_is_asked_for(shared):
    with pytest.raises(DataError, match="the height set is missing"):
        list(published(data=str(shared / "data" / "spatial-commonsense"), scale="height"))
