"""Which column holds what: as --map says, or by the usual names, and never by a guess."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import UsageError
from gnomon.items.mapping import GOLD_IS, ColumnMap, check_map, guessed_map, parse_map, write_map
from gnomon.items.values import value_at

names = st.text(min_size=1, max_size=8)
several = st.lists(names, max_size=3).map(tuple)
maps = st.builds(
    ColumnMap,
    id=several,
    context=several,
    text=several,
    choices=several,
    labels=several,
    gold=several,
    gold_is=st.sampled_from(("", *GOLD_IS)),
    group=several,
    image=several,
    tags=several,
)


@given(maps.filter(lambda mapping: mapping != ColumnMap()))
def test_a_map_that_is_written_and_read_is_the_same_whatever_columns_are_called(mapping):
    assert parse_map(write_map(mapping)) == mapping


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("text", "does not say which column"),
        ("text=", "does not say which column"),
        ("text=a=b", "does not say which column"),
        ("txet=a", "field of an item named 'txet'"),
        ("text=a,text=b", "mapped twice"),
        ("gold=a,gold_is=colour", "gold_is cannot be 'colour'"),
    ],
)
def test_a_map_that_says_nothing_sensible_is_refused(text, told):
    with pytest.raises(UsageError, match=told):
        parse_map(text)


def test_a_misspelt_field_is_answered_with_the_nearest_one():
    with pytest.raises(UsageError, match="Did you mean choices"):
        parse_map("chioces=a")


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (["question", "choices", "answer"], "text=question,choices=choices,gold=answer"),
        (["premise", "hypothesis", "label"], "context=premise,text=hypothesis,gold=label"),
        (["question", "A", "B", "C", "D", "answer"], "text=question,choices=A+B+C+D,gold=answer"),
        (
            ["ctx", "endings", "label", "idx"],
            "id=idx,text=ctx,choices=endings,gold=label",
        ),
        (
            ["question", "option1", "option2", "answer"],
            "text=question,choices=option1+option2,gold=answer",
        ),
    ],
)
def test_the_columns_of_known_formats_are_recognised(columns, found):
    assert write_map(guessed_map(columns, ColumnMap())) == found


def test_two_columns_that_could_both_be_the_answer_are_refused_with_a_map_to_copy():
    with pytest.raises(UsageError) as caught:
        guessed_map(["question", "choices", "answer", "label"], ColumnMap())
    assert "answer, label" in caught.value.message
    assert "--map text=question,choices=choices,gold=answer" in caught.value.hint


def test_what_is_not_known_is_said_with_the_columns_that_there_are():
    row = {"frage": "Wo?", "antwort": "A"}
    with pytest.raises(UsageError) as caught:
        check_map(guessed_map(list(row), ColumnMap()), row)
    assert "hold the text" in caught.value.message
    assert "frage, antwort" in caught.value.hint
    assert "--map text=QUESTION" in caught.value.hint


def test_a_column_that_is_not_there_is_answered_with_the_nearest_one_also_of_nested_ones():
    row = {"q": "?", "choices": {"text": ["a", "b"]}, "key": "A"}
    with pytest.raises(UsageError, match=r"choices\.text"):
        check_map(parse_map("text=q,choices=choices.texts,gold=key"), row)


def test_a_dotted_name_is_a_column_of_that_name_or_a_field_of_an_object():
    assert value_at({"a.b": 1, "a": {"b": 2}}, "a.b") == 1
    assert value_at({"a": {"b": 2}}, "a.b") == 2
    assert value_at({"a": [{"b": 3}]}, "a.0.b") == 3
