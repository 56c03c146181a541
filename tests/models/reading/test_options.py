"""Replies to options that others worded: statements, listed letters, shares, and what rules out."""

from __future__ import annotations

import pytest

from gnomon.models.reading.replies import explain

JUG = ["The jug is heavier than the bowl", "The jug is lighter than the bowl"]
DESK = ["The desk is larger than the stool", "The stool is larger than the desk"]
LISTED = ["A. above", "B. below", "C. inside"]
SIDES = ["left", "right"]
THREE = ["left", "right", "center"]
SIZES = ["larger", "smaller"]
TOUCH = ["touching", "not touching"]

CASES = [
    # options that are statements about the same two things
    ("Clearly, the bowl is lighter than the jug.", JUG, 0),
    ("In my kitchen the bowl is heavier than the jug.", JUG, 1),
    ("The jug is lighter than the bowl.", JUG, 1),
    ("The stool is the smaller of the two.", DESK, 0),
    ("The desk is smaller than the stool.", DESK, 1),
    ("It is larger.", DESK, None),
    ("The lamp is larger than the vase.", DESK, None),
    # a letter beside the text of another option
    ("The answer is C. below.", LISTED, None),
    ("Answer: A (inside)", LISTED, None),
    ("The answer is C. inside.", LISTED, 2),
    ("[B] below", LISTED, 1),
    ('{"answer": "A", "text": "right"}', SIDES, None),
    ('{"answer": "B", "text": "right"}', SIDES, 1),
    # words that speak of the answer, of what can be, or of the reverse
    ("I cannot give you the right answer without the photo.", SIDES, None),
    ("The right option depends on the photo.", SIDES, None),
    ("It isn't true that they are not touching.", TOUCH, None),
    ("A thing can be smaller than one and larger than another.", SIZES, None),
    ("It can be seen that the jar is smaller.", SIZES, 1),
    ("So the fence is on the left of the cow. You asked for the reverse.", SIDES, None),
    ("ant < dog < whale, and one of them is asked for", ["ant", "dog", "whale"], None),
    # shares
    ("Left: 70%\nRight: 20%\nCenter: 10%", THREE, 0),
    ("Center (20%), right (55%), left (25%)", THREE, 1),
    ("Left: 40%\nRight: 40%\nCenter: 20%", THREE, None),
    ("Left: 60%\nRight: 40%\nAnswer: right", THREE, 1),
    # ticks and crosses
    ("left ✗\nright ✓\ncenter ✗", THREE, 1),
    ("Left ✅\nRight ❌", SIDES, 0),
    ("left ✓\nright ✓\ncenter ✗", THREE, None),
    ("left ❌\nright ❌", SIDES, None),
    # what remains, or is preferred
    ("Neither above nor inside is shown. That leaves B.", LISTED, 1),
    ('Both would do, but I prefer "below".', LISTED, 1),
    # what other languages deny and say
    ("右ではなく左です。", SIDES, 0),
    ("猫不在右边，而是在左边。", SIDES, 0),
    ("Nicht größer, sondern etwas kleiner.", SIZES, 1),
    ("いいえ、猫は箱の中にいません。", ["yes", "no"], 1),
    ("不是，猫在桌子的上面，而不是下面。", ["yes", "no"], 1),
    ("猫在左边，狗在右边。", SIDES, None),
    # verdicts
    ("Therefore, the caption does not match the image.", ["true", "false"], 1),
    ("The caption gets this wrong.", ["true", "false"], 1),
    ("Hence, the caption matches the image.", ["true", "false"], 0),
    ("The text does not entail the claim.", ["entailment", "not entailment"], 1),
    ("We can neither confirm nor deny it.", ["entailment", "contradiction", "neutral"], 2),
]

IMAGES = ["the second image", "the third image"]
SHOWN = "The second image shows a pond with two ducks. The third image shows a road. " * 5
UNDECIDED = [
    # one option after the other, and none taken back
    f"{SHOWN}Therefore, the answer is (A).\n\nThe road is wet. Therefore, the answer is (B).",
    f"The answer is (A).\n\n{SHOWN}\n\nTherefore, the third image is the missing part.",
    # a letter that belongs to the other option
    f"{SHOWN}The second image (B) is most similar.\n\nTherefore, the answer is (B).",
    # cut where the next entry begins, or left open
    f"{SHOWN}\n\nImage 2:\n\n| 20 | 10 |\n\nImage 3:\n\n| 10 | 20 |\n\nImage 2",
    f"{SHOWN}The pond of the second image is similar. The answer will be either one of them.",
]


@pytest.mark.parametrize("reply", UNDECIDED)
def test_a_long_reply_that_decides_for_several_options_or_none_is_unread(reply):
    assert explain(reply, [[option] for option in IMAGES]).place is None


def test_a_long_reply_that_concludes_once_is_read():
    reply = f"{SHOWN}\n\nTherefore, the answer is (B)."
    assert explain(reply, [[option] for option in IMAGES]).place == 1


@pytest.mark.parametrize(("reply", "options", "place"), CASES, ids=lambda value: str(value)[:40])
def test_a_reply_is_read_as_what_it_says_of_the_options(reply, options, place):
    assert explain(reply, [[option] for option in options]).place == place
