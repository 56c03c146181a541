"""What is made of translations: sentences with a blank, and words for it."""

from __future__ import annotations

from collections import Counter

import pytest

from gnomon.errors import UsageError
from gnomon.models.prompts.candidates import EXCHANGED, NO_BLANK, NO_OBJECT, CandidateList
from gnomon.models.prompts.wording import mentions
from gnomon.records import Item
from gnomon.train.backtranslation import (
    Rendering,
    back_translated,
    examples,
    frames,
    round_trips,
    with_fields,
)

ITEM = Item(
    id="1",
    form="cloze",
    text="A horse is [MASK] than an ant.",
    choices=("larger", "smaller"),
    gold=("larger",),
    tags={"obj_a": "horse", "obj_b": "ant"},
)
SEEDS = CandidateList(templates=("{tag:obj_a} is {answer} than {tag:obj_b}.",))


def by(table):
    """A translator that looks texts up; what it does not know it leaves as it is."""

    def translate(texts, count):
        found = []
        for text in texts:
            said = table.get(text, [text])[:count]
            found.append([Rendering(each, -float(rank)) for rank, each in enumerate(said)])
        return found

    return translate


def test_a_round_trip_gives_new_sentences_and_new_answer_words():
    back = {
        "A horse is larger than an ant.": ["Compared to the ant, a horse is bigger."],
        "A horse is smaller than an ant.": ["Compared to the ant, a horse is smaller."],
    }
    found = back_translated(SEEDS, [ITEM], by({}), by(back), 5)
    assert found.candidates.templates[1:] == ("Compared to {tag:obj_b}, {tag:obj_a} is {answer}.",)
    assert found.candidates.answers[1:] == ({"larger": "bigger", "smaller": "smaller"},)
    assert not any(found.dropped.values())


def test_translations_that_lost_an_object_or_the_blank_are_counted():
    back = {
        "A horse is larger than an ant.": ["A steed is larger than an ant.", "A horse, an ant."],
        "A horse is smaller than an ant.": ["A horse is smaller than an insect."],
    }
    found = back_translated(SEEDS, [ITEM], by({}), by(back), 5)
    assert found.candidates.templates == SEEDS.templates
    assert found.dropped == {NO_OBJECT: 2, NO_BLANK: 1}


def test_an_answer_may_have_several_words_but_none_that_all_share():
    told = {"above": ["It is on top of it."], "below": ["It is under it."]}
    (frame,) = frames(told, Counter())
    assert frame.template == "It is {answer} it."
    assert frame.answers == {"above": "on top of", "below": "under"}


def test_a_sentence_without_one_of_the_labels_is_none():
    dropped = Counter()
    assert frames({"a": ["{tag:x} is up."], "b": ["Down is {tag:x}."]}, dropped) == []
    assert dropped[NO_BLANK] == 2


def test_round_trips_are_ranked_by_their_likelihood_there_and_back():
    there = by({"one": ["eins", "zwei"]})
    back = by({"eins": ["first", "second"], "zwei": ["second", "third"]})
    assert round_trips(["one"], there, back, 2) == [["first", "second"]]


def test_the_article_stays_where_the_item_s_own_text_has_none():
    item = Item(
        id="1", form="cloze", text="She is [MASK] the car.", tags={"person": "girl", "thing": "car"}
    )
    names = mentions(item, ["person", "thing"])
    text = with_fields("The girl is inside the car.", names, item)
    assert text == "The {tag:person} is inside {tag:thing}."


def test_examples_are_of_every_set_of_labels():
    others = [
        Item(id=f"{n}", form="cloze", text="[MASK]", choices=("up", "down")) for n in range(9)
    ]
    found = examples([ITEM, *others])
    assert [item.id for item in found] == ["1", "0", "3", "6"]


def test_sentences_without_tags_cannot_be_translated_back():
    seeds = CandidateList(templates=("{before}{answer}{after}",))
    with pytest.raises(UsageError, match="tag:obj_a"):
        back_translated(seeds, [ITEM], by({}), by({}), 2)


def test_words_of_a_sentence_with_its_objects_exchanged_are_not_shared_with_the_others():
    back = {
        "A horse is larger than an ant.": ["An ant is smaller than a horse."],
        "A horse is smaller than an ant.": ["An ant is larger than a horse."],
    }
    found = back_translated(SEEDS, [ITEM], by({}), by(back), 5)
    assert found.candidates.answers == ({},)
    assert found.candidates.templates == SEEDS.templates
    assert found.dropped[EXCHANGED] == 1
