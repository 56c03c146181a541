"""The language of sets and conditions: what it says, and that nothing else can be said."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.language.expressions import (
    LENGTH_LIMIT,
    All,
    ClassName,
    Combined,
    ComparedSets,
    ExpressionError,
    Listed,
    MemberOf,
    NotCondition,
    Related,
    Same,
    Some,
    parse_condition,
    parse_product,
    parse_set,
    slots_of,
)


def test_names_with_hyphens_are_not_differences():
    assert parse_set("small-animal") == ClassName("small-animal")
    assert parse_set("small - animal") == Combined("-", ClassName("small"), ClassName("animal"))


def test_both_binds_tighter_than_either():
    assert parse_set("a | b & c") == Combined(
        "|", ClassName("a"), Combined("&", ClassName("b"), ClassName("c"))
    )
    assert parse_set("(a | b) & c") == Combined(
        "&", Combined("|", ClassName("a"), ClassName("b")), ClassName("c")
    )


def test_entities_in_braces_may_hold_spaces():
    assert parse_set("{trash can,  box}") == Listed(("trash can", "box"))


def test_products_are_joined_by_stars():
    assert parse_product("a * {b} * c") == [ClassName("a"), Listed(("b",)), ClassName("c")]


def test_and_binds_tighter_than_or_and_not_tightest():
    assert parse_condition("not p(X) and q(X, Y) or X = Y") == Some(
        (All((NotCondition(Related("p", ("X",))), Related("q", ("X", "Y")))), Same("X", "Y"))
    )


def test_comparisons_on_scales():
    assert parse_condition("size(X) <= size(Y)") == ComparedSets("size", "X", "<=", "Y")
    assert parse_condition("size(X) > small") == ComparedSets("size", "X", ">", "", "small")


def test_membership_and_its_negations():
    assert parse_condition("X not in a") == NotCondition(MemberOf("X", ClassName("a")))
    assert parse_condition("X != {b}") == NotCondition(MemberOf("X", Listed(("b",))))


def test_slots_of_a_condition_are_those_it_names():
    assert slots_of(parse_condition("r(X, Y) and (Z in a or not size(U) < size(V))")) == set(
        "XYZUV"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        ")",
        "X",
        "X in",
        "X = ",
        "p(X",
        "p()",
        "p(X,)",
        "X in {",
        "X in {}",
        "X in {a,,b}",
        "not",
        "and",
        "X in a in b",
        "p(X) q(Y)",
        "__import__('os')",
        "X.y",
        "X[0]",
        "1 < 2",
        "'a' = X",
        "lambda: 0",
        "size(X, Y) < size(Z)",
        "size(X) < weight(Y)",
        "X in a; Y in b",
        "(" * 500 + "X in a" + ")" * 500,
        "not " * 500 + "X in a",
        "a" * 5000,
    ],
)
def test_what_is_not_a_condition_is_one_clear_error(text):
    with pytest.raises(ExpressionError) as caught:
        parse_condition(text)
    assert str(caught.value)


def test_twice_as_long_an_expression_takes_twice_the_work(calls):
    def work(count: int) -> int:
        text = " and ".join(["p(X)"] * count)
        assert len(text) <= LENGTH_LIMIT
        return calls(lambda: parse_condition(text))

    assert work(220) < 2.2 * work(110)


@given(st.text(alphabet="XYab(){}|&-*,=!<>not in and or", max_size=60))
def test_any_text_is_a_tree_or_an_expression_error(text):
    for parse in (parse_set, parse_condition, parse_product):
        with suppress(ExpressionError):
            parse(text)
