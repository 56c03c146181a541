"""Candidates: sentences that name an item's objects, sifted, and written as a prompt file."""

from __future__ import annotations

import pytest
import yaml

from gnomon.errors import DataError, UsageError
from gnomon.files import package_data
from gnomon.items.source import load
from gnomon.models.prompts.candidates import (
    NO_BLANK,
    NO_OBJECT,
    SAME,
    SAME_ANSWER,
    CandidateList,
    is_candidate_list,
    kinds_of,
    our_candidates,
    read_candidates,
    sift,
    write_prompt,
)
from gnomon.models.prompts.library import load_prompt
from gnomon.records import MASK, Item

FIRST = "{tag:obj_a} is {answer} than {tag:obj_b}."
KINDS = [("larger", "smaller")]
BUS = Item(
    id="1",
    form="cloze",
    text="A bus is [MASK] than the bus shelter.",
    choices=("larger", "smaller"),
    gold=("larger",),
    tags={"obj_a": "bus", "obj_b": "bus shelter"},
)
OURS = sorted(package_data("candidates").glob("*.yaml"))


def prompt_of(tmp_path, *templates, answers=({},)):
    sifted = sift(CandidateList(templates=templates, answers=answers), KINDS)
    return load_prompt(write_prompt(sifted.candidates, "cloze", tmp_path, "mine"))


def test_a_sentence_names_the_objects_as_the_item_does(tmp_path):
    prompt = prompt_of(tmp_path, FIRST, "Beside {tag:obj_b}, {tag:obj_a} is {answer}.")
    assert prompt.context(BUS) == "A bus is"
    assert prompt.words(BUS)[0] == (" larger than the bus shelter.",)
    other = prompt.worded(2)
    assert other.context(BUS) == "Beside the bus shelter, a bus is"


def test_an_object_that_opens_a_sentence_has_a_capital(tmp_path):
    prompt = prompt_of(tmp_path, "Here is {tag:obj_b}. {tag:obj_a} is {answer}.")
    assert prompt.context(BUS) == "Here is the bus shelter. A bus is"


def test_an_item_without_the_tag_of_a_sentence_is_an_error_that_names_both(tmp_path):
    prompt = prompt_of(tmp_path, "{tag:thing} is {answer}.")
    with pytest.raises(UsageError, match=r"'thing'.*'1'") as error:
        prompt.context(BUS)
    assert "obj_a" in error.value.hint


def test_candidates_that_lost_the_blank_or_an_object_are_dropped_and_counted():
    templates = (FIRST, "{tag:obj_a} is large.", "{tag:obj_a} is {answer}.", "A {tag:obj_b}.")
    sifted = sift(CandidateList(templates=templates), KINDS)
    assert [each.template for each in sifted.candidates] == [FIRST]
    assert sifted.dropped == {NO_BLANK: 2, NO_OBJECT: 1}


def test_the_item_s_own_sentence_lost_nothing():
    templates = (FIRST, "So it is: {before}{answer}{after}", "{blank} The blank is {answer}.")
    assert len(sift(CandidateList(templates=templates), KINDS).candidates) == 3


def test_candidates_are_the_same_without_regard_to_capitals_spaces_and_punctuation():
    same = "{tag:obj_a}  IS {answer}, than {tag:obj_b}"
    sifted = sift(CandidateList(templates=(FIRST, same)), KINDS)
    assert [each.template for each in sifted.candidates] == [FIRST]
    assert sifted.dropped == {SAME: 1}


def test_every_sentence_is_tried_with_every_set_of_answer_words():
    answers = ({}, {"larger": "bigger"}, {"larger": "Larger"}, {"larger": "smaller"})
    templates = (FIRST, "{tag:obj_a}, {tag:obj_b}: {answer}.")
    sifted = sift(CandidateList(templates=templates, answers=answers), KINDS)
    assert [each.answers for each in sifted.candidates] == [{}, {}, *[{"larger": "bigger"}] * 2]
    assert sifted.dropped == {SAME: 1, SAME_ANSWER: 1}


def test_words_for_labels_that_no_item_has_are_left_out():
    answers = ({}, {"larger": "bigger", "taller": "higher"}, {"larger": "bigger"})
    sifted = sift(CandidateList(templates=(FIRST,), answers=answers), KINDS)
    assert [each.answers for each in sifted.candidates] == [{}, {"larger": "bigger"}]
    assert sifted.dropped == {SAME: 1}


def test_nothing_left_is_an_error_that_counts():
    with pytest.raises(UsageError, match="2 lost the blank"):
        sift(CandidateList(templates=("no", "none")), KINDS)


def test_the_same_candidates_give_the_same_file_and_labels_say_what_they_are(tmp_path):
    sifted = sift(CandidateList(templates=(FIRST,), answers=({}, {"larger": "bigger"})), KINDS)
    one = write_prompt(sifted.candidates, "cloze", tmp_path, "mine")
    two = write_prompt(sifted.candidates, "cloze", tmp_path, "mine")
    other = write_prompt(sifted.candidates[:1], "cloze", tmp_path, "mine")
    assert one == two != other
    label = load_prompt(one, 2).describe()["label"]
    assert label == f"{FIRST} (larger: bigger)"


@pytest.mark.parametrize("file", OURS, ids=[file.stem for file in OURS])
def test_our_candidates_can_ask_the_items_of_their_benchmarks(file, tmp_path):
    found = read_candidates(file)
    for name in found.benchmarks:
        assert our_candidates(name, found.form) == found
    name = found.benchmarks[0]  # the others have items like these
    options = {"form": "cloze"} if name == "scales" else {}
    items = list(load(name, **options).limited(20).items())
    sifted = sift(found, kinds_of(items))
    assert not sifted.dropped
    prompt = load_prompt(write_prompt(sifted.candidates, found.form, tmp_path, name))
    for wording in range(1, prompt.wordings + 1):
        put = prompt.worded(wording)
        for item in items:
            text = put.context(item) + put.words(item)[0][0]
            assert "{" not in text
            assert MASK not in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("templates: 3", "not a list of candidates"),
        ("templates: ['{odd} is {answer}']", "names {odd}"),
        ("templates: ['{answer}']\nform: sonnet", "not a list of candidates"),
    ],
)
def test_a_file_that_is_no_list_of_candidates_says_why(text, said, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(DataError, match=said):
        read_candidates(file)


def test_a_prompt_file_is_told_from_a_list_of_candidates(tmp_path):
    for name, content in (("list", {"templates": ["x"]}), ("prompt", {"summary": "s"})):
        (tmp_path / name).write_text(yaml.safe_dump(content))
    assert is_candidate_list(tmp_path / "list")
    assert not is_candidate_list(tmp_path / "prompt")
