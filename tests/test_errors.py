"""Errors for people can be read by people."""

from gnomon.errors import LONGEST, DataError, UsageError


def test_a_sentence_with_a_strangers_endless_word_is_shortened():
    error = DataError("a" * 200_000 + " is not a number.", "b" * 200_000, file="f.csv", line=3)
    assert len(error.message) == len(error.hint) == LONGEST
    assert error.message.startswith("f.csv:3: aaa")
    assert error.message.endswith(" is not a number.")


def test_a_sentence_of_usual_length_stays_as_it_is():
    error = UsageError("There is no model 'x'.", "Did you mean y?")
    assert str(error) == "There is no model 'x'.\nDid you mean y?"
