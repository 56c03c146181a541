"""What annotators chose for two pictures becomes captions for others to validate."""

import json

import pytest

from gnomon.cli import main
from gnomon.errors import DataError
from gnomon.items.itemfiles import read_items
from gnomon.people.answering import AskedItems, PersonSettings, open_person_run
from gnomon.people.tasks import task_named
from gnomon.people.votes import captions_of, hold_contrasts, is_contrast
from gnomon.records import Image, Item, problem
from tests.people.voting import people_runs

PAIR = Item(
    id="pairs/1",
    form="choice",
    text="The cat (is) ... the box.",
    choices=("in", "contains"),
    group="box / cat",
    tags={
        "task": "contrast",
        "subj": "cat",
        "obj": "box",
        "image": "1.jpg",
        "image_2": "2.jpg",
        "without_is": "contains, consists of",
        "captions": "vsr",
    },
    images=(Image(path="1.jpg"), Image(path="2.jpg")),
)


def chosen(relation, true_of, subject, object):
    words = {"relation": relation, "true_of": true_of, "subject": subject, "object": object}
    return json.dumps(words)


def runs_of(folder, **replies):
    """A run of each person with their reply to the pair; nothing is an item that was skipped."""
    runs = []
    for name, reply in replies.items():
        choices = {name: {"pairs/1": json.loads(reply)["relation"] if reply else None}}
        given = {"pairs/1": reply} if reply else {}
        runs += people_runs(folder, [PAIR], choices, task="contrast", replies=given)
    return runs


def test_a_relation_is_a_caption_true_of_one_picture_and_false_of_the_other(tmp_path):
    runs = runs_of(tmp_path, ann=chosen("in", 1, "cat", "box"))
    assert all(map(is_contrast, runs))
    first, second = captions_of(runs)
    assert first.text == second.text == "The cat is in the box."
    assert (first.gold, second.gold) == (("false",), ("true",))
    assert [item.tags["image"] for item in (first, second)] == ["1.jpg", "2.jpg"]
    assert first.images[0].path.endswith("1.jpg")
    assert first.tags["annotator"] == "ann"
    assert first.tags["benchmark"] == "vsr"
    assert problem(first) == problem(second) == ""


def test_a_relation_that_is_a_verb_stands_without_is(tmp_path):
    first, _ = captions_of(runs_of(tmp_path, ann=chosen("contains", 0, "box", "cat")))
    assert first.text == "The box contains the cat."
    assert first.gold == ("true",)


def test_the_same_caption_by_two_people_is_asked_once_and_skipped_pairs_give_none(tmp_path):
    same = chosen("in", 1, "cat", "box")
    found = list(captions_of(runs_of(tmp_path, ann=same, ben=same, cas="")))
    assert [item.tags["annotator"] for item in found] == ["ann", "ann"]


def test_two_people_who_contradict_each_other_put_the_same_two_questions_to_others(tmp_path):
    one, two = chosen("in", 1, "cat", "box"), chosen("in", 0, "cat", "box")
    found = list(captions_of(runs_of(tmp_path, ann=one, ben=two)))
    assert [item.gold for item in found] == [("false",), ("true",)]


def test_a_reply_that_is_no_contrast_is_named(tmp_path):
    runs = people_runs(
        tmp_path, [PAIR], {"ann": {"pairs/1": "in"}}, task="contrast", replies={"pairs/1": "in"}
    )
    with pytest.raises(DataError, match="ann to 'pairs/1' is not a contrast"):
        list(captions_of(runs))


def test_a_writer_who_never_began_does_not_change_what_is_written(tmp_path):
    asked = AskedItems("pairs@file", {}, None, (PAIR,))
    for name in ("ann", "ben"):
        run = open_person_run(
            asked, name, PersonSettings(task_named("contrast")), tmp_path / "runs"
        )
        if name == "ann":
            run.keep(run.slots[0], {"order": "ab", "relation": "in", "true_of": "1"})
        run.close()
    file = tmp_path / "captions.jsonl"
    assert main(["people", "agree", str(tmp_path / "runs"), "-o", str(file)]) == 0
    assert [item.text for item in read_items(file)] == 2 * ["The cat is in the box."]
    assert not hold_contrasts([])
