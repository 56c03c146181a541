"""spatialQA's accuracies over templates and categories."""

import pytest

from gnomon.measures import scores
from gnomon.measures.accuracy import (
    PARTIAL_CREDIT,
    WITHOUT_PARTIAL_CREDIT,
    partial_credit,
    without_partial_credit,
)


@pytest.fixture
def templates(table):
    """motion: t1 all of two right, t2 one of four; distance: t3 right, and it is the only
    template."""
    golds = ["e", "e", "c", "c", "c", ("c", "n"), "n"]
    answers = ["e", "e", "c", "e", None, "e", "n"]
    groups = ["t1", "t1", "t2", "t2", "t2", "t2", "t3"]
    return table(
        golds,
        answers,
        groups=groups,
        tags=[{"category": "motion"}] * 6 + [{"category": "distance"}],
    )


def test_templates_weigh_alike_within_a_category_and_categories_overall(templates):
    assert partial_credit(templates).value == pytest.approx(((1 + 0.25) / 2 + 1) / 2)
    assert without_partial_credit(templates).value == pytest.approx((0.5 + 1) / 2)


def test_slices_by_category_and_template(templates):
    by = scores(templates, [PARTIAL_CREDIT, WITHOUT_PARTIAL_CREDIT], "category")
    assert [(s.measure, s.key, s.value) for s in by] == [
        ("partial_credit", "distance", 1.0),
        ("partial_credit", "motion", 0.625),
        ("without_partial_credit", "distance", 1.0),
        ("without_partial_credit", "motion", 0.5),
    ]
    assert [s.value for s in scores(templates, [PARTIAL_CREDIT], "group")] == [1.0, 0.25, 1.0]


def test_without_categories_it_is_the_mean_over_templates(table):
    assert partial_credit(table(["a", "a", "b"], ["a", "b", "b"], groups=[1, 1, 2])).value == 0.75
