"""The same fact among two, three or more words."""

from collections import Counter
from itertools import pairwise

import pytest

import gnomon
from gnomon.errors import UsageError
from gnomon.grouped import grouped
from gnomon.measures import Table
from gnomon.measures.consistency import options_kept
from gnomon.records import Answer

SETS = {
    "posrel": ("2-4", {"scenes": 24}),
    "viphy-color": ("2-5", {"each": 20}),
    "viphy-spatial": ("2-3", {"blocks": 4}),
    "chains": ("2-4", {"stories": 24}),
    "vsr": ("2-4", {"quads": 4, "form": "text"}),
}


def asked(name):
    options, dials = SETS[name]
    return list(gnomon.load(name, options=options, **dials).items())


@pytest.mark.parametrize("name", SETS)
def test_the_words_of_a_smaller_number_are_among_those_of_a_larger(name):
    facts = grouped(asked(name), lambda item: item.tags["fact"])
    first, last = map(int, SETS[name][0].split("-"))
    for items in facts.values():
        assert [len(item.choices) for item in items] == list(range(first, last + 1))
        assert len({(item.text, item.context, item.gold) for item in items}) == 1
        for few, many in pairwise(items):
            assert [word for word in many.choices if word in few.choices] == list(few.choices)
        assert all("" not in item.choices for item in items)


@pytest.mark.parametrize("name", SETS)
def test_the_first_of_two_words_is_right_as_often_as_the_second(name):
    two = [item for item in asked(name) if item.tags["options"] == "2"]
    places = Counter(item.choices.index(item.gold[0]) for item in two)
    assert abs(places[0] - places[1]) <= 4 * len(two) ** 0.5 / 2 + 1


def test_without_the_dial_nothing_changes():
    plain = list(gnomon.load("posrel", scenes=24).items())
    most = [item for item in asked("posrel") if item.tags["options"] == "4"]
    assert [item.choices for item in plain] == [item.choices for item in most]
    assert "options" not in plain[0].tags


def test_words_that_are_wrong_for_chains_are_ruled_out_by_the_story():
    """Stories of one direction say nothing of the other axis: there are two words, not three."""
    with pytest.raises(UsageError, match="rules out 2"):
        list(gnomon.load("chains", options="3", directions="four", stories=4).items())
    two = list(gnomon.load("chains", options="2", directions="four", stories=4).items())
    assert all(len(item.choices) == 2 for item in two)


@pytest.mark.parametrize("options", ["1", "5", "2-9", "many"])
def test_numbers_that_cannot_be_are_refused(options):
    with pytest.raises(UsageError, match=r"options|cannot be offered"):
        list(gnomon.load("posrel", options=options).items())


def test_the_share_still_right_among_more_is_of_those_right_among_few():
    items = asked("posrel")
    facts = list(dict.fromkeys(item.tags["fact"] for item in items))
    rows = []
    for item in items:
        number = facts.index(item.tags["fact"])
        # the first half is right among two, the first quarter also among four
        among = {"2": len(facts) // 2, "3": 0, "4": len(facts) // 4}[item.tags["options"]]
        wrong = next(word for word in item.choices if word not in item.gold)
        said = item.gold[0] if number < among else wrong
        rows.append((item, Answer(item=item.id, choice=said)))
    found = options_kept(Table.of(rows))
    assert (found.value, found.n) == (0.5, len(facts) // 2)
    assert options_kept(Table.of(rows[:1])).n == 0


def test_vsr_offers_relations_that_geometry_denies():
    with pytest.raises(UsageError, match="clear frames"):
        list(gnomon.load("vsr", options="2", quads=1, controls="yes").without_pictures())
    for item in asked("vsr"):
        assert item.form == "choice"
        assert item.context
        assert item.gold == (item.tags["relation"],)
