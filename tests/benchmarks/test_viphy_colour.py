"""Fresh colours: a table without brands, doubles or telling words, and balanced draws from it."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product

import pytest

from gnomon.benchmarks.viphy.fresh import ColouredThing, drawn_things, fresh_color, read_things
from gnomon.benchmarks.viphy.items import with_article
from gnomon.errors import UsageError
from gnomon.vision.knowledge import COLOURS

THINGS = read_things()
SMALL_WORDS = {"a", "and", "from", "in", "of", "on", "the"}
PARTS = (  # of compounds that are written as one word
    *("ball", "berry", "bird", "board", "boat", "bread", "brush", "butter", "case", "coal", "coat"),
    *("corn", "cress", "drop", "duck", "egg", "fire", "fish", "flower", "fly", "forest", "fruit"),
    *("ginger", "grass", "hog", "honey", "house", "light", "mint", "moth", "nut", "paper", "pot"),
    *("powder", "rain", "rose", "seed", "shell", "snow", "star", "stick", "stone", "suit", "sun"),
    *("tail", "thorn", "water", "weed", "wheel", "wood", "worm", "wort"),
)
NO_PARTS = {"potassium", "potato"}  # that begin with one by accident


def words(thing: ColouredThing) -> set[str]:
    return set(re.findall(r"[\w'-]+", thing.name.lower())) - SMALL_WORDS


# --- the table ------------------------------------------------------------------------------------


def test_there_are_a_thousand_things_and_none_twice():
    names = [thing.name.lower() for thing in THINGS]
    assert len(names) >= 1000
    assert len(set(names)) == len(names)


def test_every_thing_has_one_to_four_of_the_eleven_colours():
    for thing in THINGS:
        assert 1 <= len(thing.colours) <= 4
        assert set(thing.colours) <= set(COLOURS)
        assert len(set(thing.colours)) == len(thing.colours)


def test_no_name_contains_a_colour():
    assert not [thing for thing in THINGS if any(word in thing.name.lower() for word in COLOURS)]


def test_no_two_things_of_one_colour_share_a_word():
    for colour in COLOURS:
        counts = Counter()
        for thing in THINGS:
            if thing.colours == [colour]:
                counts.update(words(thing))
        assert counts
        assert not [word for word, count in counts.items() if count > 1]


def test_no_two_things_share_a_colour_and_a_part_of_a_compound():
    found = 0
    for part, colour in product(PARTS, COLOURS):
        of_colour = [thing for thing in THINGS if colour in thing.colours and has(part, thing)]
        assert len(of_colour) <= 1, (part, colour)
        found += len(of_colour)
    assert found > 50


def has(part: str, thing: ColouredThing) -> bool:
    """Whether a word of the thing's name begins or ends with it."""
    for word in words(thing) - NO_PARTS:
        word = word.removesuffix("'s")
        if word.startswith(part) or word.endswith(part):
            return True
    return False


def test_articles_are_right():
    articles = {"a": 0, "an": 0}
    for thing in THINGS:
        article = thing.phrase.partition(" ")[0]
        if article in articles:
            articles[article] += 1
            assert thing.phrase == with_article(thing.name)
    assert min(articles.values()) > 50


# --- draws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("each", [1, 20, 80])
@pytest.mark.parametrize("seed", [0, 1, 90210])
def test_every_colour_is_right_equally_often(seed, each):
    counts = Counter()
    for thing in drawn_things(seed, each):
        counts.update(thing.colours)
    assert counts == dict.fromkeys(COLOURS, each)


def test_things_with_several_colours_are_drawn_beside_those_with_one():
    numbers = Counter(len(thing.colours) for thing in drawn_things(0, 80))
    assert numbers[1] > 400
    assert sum(numbers.values()) - numbers[1] > 100


def test_another_seed_draws_other_things():
    first, second = set(map(str, drawn_things(0, 20))), set(map(str, drawn_things(1, 20)))
    assert len(first & second) < 0.3 * len(first)


def test_all_are_asked_about_on_request():
    assert sorted(drawn_things(3, 0)) == sorted(THINGS)


@pytest.mark.parametrize("seed", range(20))
def test_the_default_draw_succeeds_whatever_the_seed(seed):
    assert len(list(fresh_color(seed=seed))) > 550


def test_more_than_there_are_or_fewer_than_none_are_refused():
    with pytest.raises(UsageError, match=r"too few .* things for each=500"):
        drawn_things(0, 500)
    with pytest.raises(UsageError, match="-1 is not a number of things"):
        drawn_things(0, -1)


# --- items ----------------------------------------------------------------------------------------


def test_items_ask_in_english_with_an_article_where_there_is_one():
    texts = {item.tags["object"]: item.text for item in fresh_color(each=0)}
    assert texts["almond"] == "The usual color of an almond is [MASK]."
    assert texts["milk"] == "The usual color of milk is [MASK]."
    assert texts["Taj Mahal"] == "The usual color of the Taj Mahal is [MASK]."


def test_several_colours_may_be_right():
    golds = {item.tags["object"]: item.gold for item in fresh_color(each=0)}
    assert golds["amber"] == ("orange", "yellow", "brown")
    assert golds["zebra"] == ("white", "black")
