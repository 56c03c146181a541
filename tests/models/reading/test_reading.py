"""Replies as models write them, and the label each must be read as; None where it must not be
read."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import DataError
from gnomon.models.prompts.library import load_prompt
from gnomon.models.reading.assertion import ItemQuestion
from gnomon.models.reading.replies import as_answer, explain
from gnomon.models.reading.segments import RULES
from gnomon.records import Item

REPLIES = runpy.run_path(str(Path(__file__).with_name("replies.py")))["REPLIES"]

SIZE = [["larger", "bigger"], ["smaller"]]
TRUTH = [["true", "yes", "correct"], ["false", "no", "incorrect"]]
NLI = [
    ["entailment", "true", "yes"],
    ["contradiction", "false", "no"],
    ["neutral", "neither", "cannot be determined"],
]
SIDE = [["left", "to the left of"], ["right", "to the right of"], ["in front of"], ["behind"]]
TRUE, FALSE, NEITHER = 0, 1, 2


def read(reply, words, **how):
    return explain(reply, words, **how).place


CASES = [
    # the label alone, in any dress
    ("larger", SIZE, 0),
    ("Larger.", SIZE, 0),
    ("  SMALLER\n", SIZE, 1),
    ("**Smaller**", SIZE, 1),
    ("`bigger`", SIZE, 0),
    ("_smaller_", SIZE, 1),
    ("“smaller”", SIZE, 1),
    ("# Larger", SIZE, 0),
    ("- larger", SIZE, 0),
    ("[smaller]", SIZE, 1),
    # letters of multiple choice
    ("(b)", SIZE, 1),
    ("B", SIZE, 1),
    ("b.", SIZE, 1),
    ("A) larger", SIZE, 0),
    ("**(b) smaller**", SIZE, 1),
    ("Option B", SIZE, 1),
    ("The answer is (a).", SIZE, 0),
    ("Answer: B", SIZE, 1),
    ("(b) larger", SIZE, None),
    ("c", SIZE, None),
    ("A bird is an animal.", SIZE, None),
    ("I would go with option b.", SIZE, 1),
    # announced after reasoning
    ("Ants are tiny. A bird is larger. Answer: smaller", SIZE, 1),
    ("... larger ... so the answer is smaller.", SIZE, 1),
    ("The answer is larger? No. Final answer: **smaller**", SIZE, 1),
    ("Final Answer:\n\n**smaller**", SIZE, 1),
    (r"larger or smaller? \boxed{\text{Smaller}}", SIZE, 1),
    (r"\boxed{larger} wait, \boxed{smaller}", SIZE, 1),
    ("It looks larger, hmm. <answer>smaller</answer>", SIZE, 1),
    ('{"answer": "smaller"}', SIZE, 1),
    ("<think>larger? yes, larger</think>smaller", SIZE, 1),
    ("<think>it must be larger", SIZE, None),
    ("The answer is larger. The answer is based on size.", SIZE, 0),
    ("The correct option is bigger, not smaller.", SIZE, 0),
    ("The answer to the question is smaller.", SIZE, 1),
    ("The answer is not larger.", SIZE, None),
    ("The answer isn't larger but smaller.", SIZE, 1),
    # the last line, the first word, a conclusion
    ("A bird is larger than an ant.\nSmaller", SIZE, 1),
    ("Smaller, because a bird is larger.", SIZE, 1),
    ("Smaller. A bird is larger than an ant.", SIZE, 1),
    ("Smaller\n\nExplanation: birds are larger.", SIZE, 1),
    ("A bird is larger than an ant, so an ant is smaller.", SIZE, 1),
    ("A bird is larger. Therefore, it is smaller.", SIZE, 1),
    ("Birds are larger.\nThe ant is smaller than the bird.", SIZE, 1),
    ("Larger. Wait, so it is smaller.", SIZE, 1),
    ("larger\nsmaller", SIZE, None),
    # questions repeated
    ("Is an ant larger or smaller than a bird? It is smaller.", SIZE, 1),
    ("Larger?", SIZE, 0),
    # models that go on to ask themselves the next question
    ("smaller\n\nQuestion: Is a cat larger?\nAnswer: larger", SIZE, 1),
    ("Answer: smaller\nQ: next? A: larger", SIZE, 1),
    ("Let me see.\nQuestion: is it larger?\nAnswer: smaller", SIZE, 1),
    # yes and no as words of their own only
    ("I think yes", TRUTH, TRUE),
    ("I'm not sure, but no.", TRUTH, FALSE),
    ("yes and no", TRUTH, None),
    ("I have no idea.", TRUTH, None),
    ("<b>No</b>", TRUTH, FALSE),
    ("Answer - yes", TRUTH, TRUE),
    ("There's no way that's so", TRUTH, FALSE),
    ("I choose B.", SIZE, 1),
    ("so no one knows", TRUTH, None),
    # negations
    ("It is not larger.", SIZE, None),
    ("It is not larger, it is smaller.", SIZE, 1),
    ("Not larger but smaller.", SIZE, 1),
    ("An ant isn't bigger than a bird.", SIZE, None),
    ("It is smaller rather than larger.", SIZE, 1),
    ("It isn't true.", TRUTH, FALSE),
    ("That's not correct.", TRUTH, FALSE),
    ("This is not false.", TRUTH, TRUE),
    ("It is not necessarily true.", TRUTH, None),
    ("The statement is true.", TRUTH, TRUE),
    ("isn't true", TRUTH, FALSE),
    ("I do not think that is true", TRUTH, FALSE),
    ("The statement isn't true.", NLI, None),
    ("No, it is not.", TRUTH, FALSE),
    ("Yes.", TRUTH, TRUE),
    ("There is no doubt about it.", TRUTH, None),
    ("There is no contradiction.", NLI, None),
    ("It is not the case that the ball is larger.", SIZE, None),
    ("It is not only larger but also heavier.", SIZE, 0),
    # neither A nor B
    ("Neither.", NLI, NEITHER),
    ("It is neither true nor false.", NLI, NEITHER),
    ("neither larger nor smaller", SIZE, None),
    ("Neither true nor false", NLI, NEITHER),
    ("It cannot be determined whether it is true or false.", NLI, NEITHER),
    # several labels
    ("larger or smaller", SIZE, None),
    ("It could be larger or smaller.", SIZE, None),
    ("Both larger and smaller", SIZE, None),
    ("The answer is larger or smaller.", SIZE, None),
    ("bigger, i.e. larger", SIZE, 0),
    # nothing to read
    ("", SIZE, None),
    ("   \n ", SIZE, None),
    ("I'm sorry, I can't help with that.", SIZE, None),
    ("I don't know if it is larger.", SIZE, None),
    ("There is not enough information to say that it is larger.", SIZE, None),
    ("enlargers", SIZE, None),
    ("Whether it is smaller is unclear.", SIZE, None),
    ("The answer is not possible. A fridge is indeed larger than", SIZE, None),
    ("The answer cannot be known.", SIZE, None),
    ("The answer is unclear. Larger?", SIZE, None),
    # labels of several words
    ("The cat is to the left of the dog.", SIDE, 0),
    ("It is In Front Of the tree.", SIDE, 2),
    ("in-front-of", SIDE, 2),
]


@pytest.mark.parametrize(("reply", "words", "expected"), CASES)
def test_reply_is_read_as(reply, words, expected):
    assert read(reply, words) == expected, explain(reply, words)


@pytest.mark.parametrize(("reply", "words", "expected"), REPLIES)
def test_a_reply_is_read_as_a_careful_person_would(reply, words, expected):
    assert read(reply, words) == expected, explain(reply, words)


def test_a_thought_longer_than_what_is_read_is_no_answer():
    assert read("<think>" + "It is larger. " * 10_000, SIZE) is None
    assert read("<think>" + "It is larger. " * 10_000 + "</think>smaller", SIZE) == 1


def test_words_of_the_prompt_decide_what_counts():
    assert read("huge", SIZE) is None
    assert read("huge", [[*SIZE[0], "huge"], SIZE[1]]) == 0


def test_longer_label_wins_over_the_one_inside_it():
    assert read("It is not entailed.", [["entailed"], ["not entailed"]]) == 1
    assert read("It is entailed.", [["entailed"], ["not entailed"]]) == 0


def test_letters_can_be_switched_off_and_never_shadow_letter_labels():
    assert read("(b)", SIZE, letters=False) is None
    assert read("b", [["b"], ["a"]]) == 0
    assert read("A bird is a fine animal.", [["A", "larger"], ["B", "smaller"]]) is None
    assert read("B. smaller", [["A", "larger"], ["B", "smaller"]]) == 1


def test_a_word_shared_by_two_choices_decides_nothing():
    assert read("big", [["big", "large"], ["big", "small"]]) is None


def test_the_rule_that_decided_is_named():
    names = [*(rule.name for rule in RULES), "verdict"]
    for reply, words, expected in CASES:
        rule = explain(reply, words).rule
        assert (rule in names) == (expected is not None)
        assert expected is not None or rule in ("none", "several")


@given(st.text(max_size=400))
def test_any_text_is_read_or_not_but_never_breaks(reply):
    assert read(reply, NLI) in (None, 0, 1, 2)


@given(
    st.sampled_from(CASES),
    st.sampled_from([str.upper, str.lower, lambda t: f"\n{t}\n", lambda t: f" {t} "]),
)
def test_casing_and_blank_space_change_nothing(case, dress):
    reply, words, expected = case
    if "\\" not in reply:
        assert read(dress(reply), words) == expected


def test_a_long_hostile_reply_is_read_in_bounded_steps():
    assert read("not " * 50_000 + "larger", SIZE) is None
    assert read("(" * 50_000, SIZE) is None
    assert read("so, " * 20_000 + "smaller", SIZE) in (None, 1)
    things = ItemQuestion(subject="ant", object="bird")
    for hostile in ("larger, ", "a, ", "answer: ", "not x, ", "the ", "réponse "):
        assert read(hostile * 10_000, SIZE, question=things) in (None, 0)


@pytest.mark.parametrize("reply", [["smaller"], {"text": "smaller"}, 5, None, b"smaller"])
def test_a_reply_that_is_no_text_is_refused_in_a_sentence(reply):
    with pytest.raises(DataError, match="not a text"):
        read(reply, SIZE)


def test_letters_that_grow_in_lower_case_do_not_move_the_end_of_a_thought():
    assert read("İẞŉ" * 200 + "<THINK>larger</THINK>smaller", SIZE) == 1
    assert read("ẞ" * 6 + "</think>smaller", SIZE) == 1


def test_an_answer_names_the_rule_by_which_its_reply_was_read():
    item = Item(
        id="1",
        form="cloze",
        text="An ant is [MASK] than a bird.",
        choices=("larger", "smaller"),
        gold=("smaller",),
    )
    assert explain("Smaller, because birds are large.", SIZE) == (1, "lead")
    assert explain("Who knows?", SIZE).place is None
    answer = as_answer(item, "Smaller, because birds are large.", load_prompt("chat"), tokens=9)
    assert (answer.choice, answer.rule, answer.tokens) == ("smaller", "lead", 9)
    unread = as_answer(item, "Who knows?", load_prompt("chat"))
    assert (unread.choice, unread.rule, unread.reply) == (None, None, "Who knows?")


BOXES = [["Box A"], ["Box B"]]
IMAGES = [["the second image"], ["the third image"]]
DEPTH = [["A is closer"], ["B is closer"]]
SHADE = [["A is darker"], ["B is darker"], ["about the same"]]
SIDES = [["left"], ["right"]]
LONGER = [
    ("<s> A", IMAGES, 0),
    ("B<|im_end|>", IMAGES, 1),
    ("<|im_start|>assistant\nB</s>[INST] and now? [/INST] A", IMAGES, 1),
    ("Box B more accurately encloses it. Box A, on the other hand, is too large.", BOXES, 1),
    ("Box A is tight, thus it fits better compared to Box B.", BOXES, 0),
    ("Box A is smaller than Box B.", BOXES, None),
    ("While box A is neat, box B fits more closely.", BOXES, 1),
    ("I cannot select either (A) or (B).", IMAGES, None),
    ("The second and third images are paintings. Neither shares the style.", IMAGES, None),
    ("The second image is blue. The third image is most similar to the first.", IMAGES, 1),
    ("The correct answer is:\n(A) the second image\n(B) the third image", IMAGES, None),
    ("Point B is farther from the camera than point A.", DEPTH, 0),
    ("Point A, which is circled on the bell, is closer.", DEPTH, 0),
    ("A is not closer.", DEPTH, 1),
    ("Both points A and B are near.", DEPTH, None),
    ("Point B is slightly darker than point A.", SHADE, 1),
    ("A is not darker.", SHADE, None),
    ("They are equally dark.", SHADE, 2),
    ("左边", SIDES, 0),
    ("a la derecha", SIDES, 1),
    ("Not left.", SIDES, 1),
    ("✗", [["yes"], ["no"]], 1),
    ("It sure is.", [["yes"], ["no"]], 0),
]


@pytest.mark.parametrize(("reply", "words", "expected"), LONGER)
def test_the_decision_of_a_longer_reply_is_found(reply, words, expected):
    assert read(reply, words) == expected, explain(reply, words)


ASKED = [
    ("Which is bigger, a cat or an elephant?", "cat elephant", "The cat is smaller.", "elephant"),
    ("Which is bigger, a cat or an elephant?", "cat elephant", "elephant > cat", "elephant"),
    ("Which is bigger, a cat or an elephant?", "cat elephant", "It's not the cat.", "elephant"),
    ("Who is further north, Ann or Eva?", "Ann Eva", "Ann is south of Eva.", "Eva"),
    ("Who is further north, Ann or Eva?", "Ann Eva", "Bob is north of Eva.", None),
    ("Who is further north, Ann or Eva?", "Ann Eva", "North of Ann is Eva.", "Eva"),
    ("Where is the dog relative to the car?", "left right", "The car is left of the dog.", "right"),
    ("Where is the dog relative to the car?", "left right", "It is left of the tree.", None),
    ("Is the ball above or below the box?", "above below", "The box is above the ball.", "below"),
    ("Could it be that they touch?", "yes no", "That is impossible.", "no"),
    ("Is the cup on the table?", "yes no", "The cup is not on the table.", "no"),
]


@pytest.mark.parametrize(("text", "choices", "reply", "expected"), ASKED)
def test_a_reply_is_read_by_what_the_question_asks(text, choices, reply, expected):
    item = Item(id="1", form="choice", text=text, choices=tuple(choices.split()))
    assert as_answer(item, reply, load_prompt("chat")).choice == expected
