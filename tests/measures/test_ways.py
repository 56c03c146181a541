"""One fact in several ways: answers agree if they are all right or all wrong."""

import pytest

from gnomon.measures.scoring import score
from gnomon.measures.seeds import together
from gnomon.registry import measure

from .conftest import make

CONSISTENCY, RIGHT = measure("consistency"), measure("consistency_and_right")


def put(facts, ways, golds, answers, **about):
    tags = [{"fact": fact, "way": way} for fact, way in zip(facts, ways, strict=True)]
    about.setdefault("groups", facts)
    return make(golds, answers, choices=("false", "true"), tags=tags, **about)


def test_answers_agree_if_all_are_right_or_all_wrong():
    ways = ["plain", "converse", "negation"] * 3
    facts = ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    golds = ["true", "true", "false"] * 3
    answers = ["true", "true", "false", "false", "false", "true", "true", "true", "true"]
    table = put(facts, ways, golds, answers)
    assert score(table, CONSISTENCY).value == pytest.approx(2 / 3)
    assert score(table, RIGHT).value == pytest.approx(1 / 3)


def test_a_fact_that_is_put_in_one_way_only_does_not_count():
    ways, golds = ["plain", "negation", "plain"], ["true", "false", "true"]
    table = put(["a", "a", "b"], ways, golds, ["true", "false", "false"])
    found = score(table, CONSISTENCY)
    assert (found.value, found.n) == (1.0, 1)
    assert score(table.where(table.tags["way"].codes == 0), CONSISTENCY).value is None


def test_a_missing_answer_agrees_with_nothing():
    table = put(["a", "a"], ["plain", "mirror"], ["true", "true"], ["false", None])
    assert score(table, CONSISTENCY).value == 0


def test_each_way_is_also_compared_with_the_plain_one():
    ways = ["plain", "converse", "negation"] * 2
    facts = ["a"] * 3 + ["b"] * 3
    golds = ["true", "true", "false"] * 2
    answers = ["true", "true", "true", "false", "false", "false"]
    table = put(facts, ways, golds, answers)
    assert score(table, measure("way_agreement@converse")).value == 1.0
    assert score(table, measure("way_agreement_and_right@converse")).value == 0.5
    assert score(table, measure("way_agreement@negation")).value == 0.0
    assert score(table, measure("way_agreement@mirror")).value is None


def test_facts_of_several_seeds_are_not_mixed():
    one = put(["a", "a"], ["plain", "mirror"], ["true"] * 2, ["true"] * 2)
    two = put(["a", "a"], ["plain", "mirror"], ["true"] * 2, ["false"] * 2)
    found = score(together([one, two]), CONSISTENCY)
    assert (found.value, found.n) == (1.0, 2)
