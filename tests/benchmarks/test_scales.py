"""scales: right by construction, balanced, and without the shortcut of the published questions."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon import load
from gnomon.benchmarks.contrasts import BANDS
from gnomon.benchmarks.scales import fresh, published
from gnomon.errors import DataError, MissingFileWarning
from gnomon.files import package_data, read_yaml
from gnomon.measures import Table
from gnomon.measures.laws import symmetry
from gnomon.measures.transitivity import transitivity
from gnomon.records import Answer
from gnomon.registry import benchmark


def test_published_levels_hold_twenty_five_different_objects():
    table = read_yaml(package_data("scales.yaml"))
    assert set(table) == {"size", "height"}
    for levels in table.values():
        assert [len(level) for level in levels] == [5] * 5
        assert len({name for level in levels for name in level}) == 25


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**9))
def test_fresh_is_balanced_within_each_comparative_word_for_every_seed(seed):
    items = list(fresh(seed=seed))
    assert len({item.id for item in items}) == len(items) == 1920
    for band in BANDS:
        asked = [item for item in items if item.tags["band"] == band]
        questions = [item for item in asked if item.form == "choice"]
        words = Counter((item.tags["comparative"], item.gold) for item in questions)
        assert set(words.values()) == {30}
        assert len(words) == 8
        clozes = Counter(item.gold for item in asked if item.form == "cloze")
        assert clozes == dict.fromkeys([("larger",), ("smaller",), ("taller",), ("shorter",)], 60)


def test_both_forms_and_both_orders_of_a_pair_share_a_group():
    groups = Counter(item.group for item in fresh(seed=1))
    assert set(groups.values()) == {4}
    assert len(groups) == 480


def test_scale_form_and_bands_narrow():
    items = list(fresh(scale="size", form="cloze", pairs=40, bands="1.5-3"))
    assert len(items) == 80
    assert {(item.tags["scale"], item.form, item.tags["band"]) for item in items} == {
        ("size", "cloze", "1.5-3")
    }


def test_a_question_is_asked_both_ways_with_the_same_word():
    words: dict[str, set[str]] = {}
    for item in fresh(form="choice", pairs=40):
        words.setdefault(item.group, set()).add(item.tags["comparative"])
        lesser, greater = item.group.partition(": ")[2].split(" / ")
        assert {item.tags["obj_a"], item.tags["obj_b"]} == {lesser, greater}
        is_greater = item.tags["obj_a"] == greater
        asks_greater = item.tags["comparative"] in ("larger", "taller")
        assert item.gold == ("yes" if is_greater == asks_greater else "no",)
    assert {len(found) for found in words.values()} == {1}


def test_the_full_set_has_ten_times_as_many_pairs_as_the_default():
    items = list(fresh(scale="height", form="cloze", pairs=-1))
    assert len(items) == 4800
    assert len({item.tags["obj_a"] for item in items}) > 450


@pytest.mark.parametrize("name", ["scales", "viphy-size"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_right_answers_are_transitive_over_many_triples_and_symmetric(name: str, seed: int):
    rows = []
    for item in load(name, seed=seed).items():
        rows.append((item, Answer(item=item.id, choice=item.gold[0])))
    table = Table.of(rows, laws=benchmark(name).laws)
    found = transitivity(table)
    assert found.value == 1
    assert found.n >= 100
    assert symmetry(table).value == 1


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
