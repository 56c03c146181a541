"""The columnar table: rows in, the same rows out, slices, probabilities and what is missing."""

import numpy as np
import pytest

import gnomon
from gnomon.errors import DataError, UsageError
from gnomon.measures import Table
from gnomon.measures.accuracy import ACCURACY
from gnomon.measures.entries import ScoredTable, on_items_of
from gnomon.measures.pairing import NothingSharedError, aligned
from gnomon.measures.remarks import remarks
from gnomon.measures.scoring import score
from gnomon.measures.seeds import over_seeds
from gnomon.measures.table import in_order, unknown_tag
from gnomon.records import Answer, Item
from gnomon.registry import benchmark


def item(name, gold=("yes",), choices=("no", "yes"), group="", **tags):
    return Item(
        id=name, form="choice", text="?", choices=choices, gold=gold, group=group, tags=tags
    )


def said(name, choice=None, scores=None, error=None):
    return Answer(item=name, choice=choice, scores=scores, error=error)


def test_an_answer_is_right_if_it_is_one_of_the_right_labels():
    table = Table.of(
        [
            (item("a"), said("a", "yes")),
            (item("b"), said("b", "no")),
            (item("c", ("e", "n"), ("e", "n", "c")), said("c", "n")),
        ]
    )
    assert table.right.tolist() == [True, False, True]
    assert table.labels == ("no", "yes", "e", "n", "c")
    assert table.gold.tolist() == [[False, True, False, False, False]] * 2 + [
        [False, False, True, True, False]
    ]
    assert table.cardinality.tolist() == [1, 1, 2]


def test_failed_unread_and_stray_answers_are_wrong_and_told_apart():
    table = Table.of(
        [
            (item("b"), said("b", error="timeout")),
            (item("c"), said("c")),
            (item("d"), said("d", "perhaps")),
        ]
    )
    assert table.right.tolist() == [False] * 3
    assert table.failed.tolist() == [True, False, False]
    assert table.answered.tolist() == [False, False, True]
    assert table.labels[table.choice[2]] == "perhaps"
    assert table.picked[2] == -1


def test_an_item_that_was_not_asked_is_no_row_but_counts_in_the_total():
    table = Table.of([(item("a"), None), (item("b"), said("b", "yes")), (item("c"), None)])
    assert table.ids.tolist() == ["b"]
    assert table.total == 3
    assert table.right.tolist() == [True]


def test_log_probabilities_go_through_a_softmax_and_probabilities_are_renormalised():
    rows = [
        (item("a"), said("a", "yes", (np.log(1), np.log(3)))),
        (item("b", ("x",), ("x", "y", "z")), said("b", "x", (0.0, 0.0, 0.0))),
    ]
    assert np.allclose(
        Table.of(rows, scale="log-probability").probabilities, [[0.25, 0.75, 0], [1 / 3] * 3]
    )
    table = Table.of([(item("a"), said("a", "yes", (0.2, 0.2)))], scale="probability")
    assert table.probabilities.tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("scale", ["probability", "log-probability"])
def test_a_score_that_is_no_number_has_probability_zero_and_a_row_of_them_has_none(scale):
    nan = float("nan")
    table = Table.of(
        [
            (item("a"), said("a", "yes", (nan, 0.5))),
            (item("b"), said("b", None, (nan, nan))),
            (item("c"), said("c", "no")),
        ],
        scale=scale,
    )
    assert table.probabilities[0].tolist() == [0, 1]
    assert np.isnan(table.probabilities[1:]).all()


def test_slices_are_ordered_numbers_first_and_rows_without_the_tag_last():
    table = Table.of(
        [
            (item("a", premises="10"), said("a")),
            (item("b", premises="2"), said("b")),
            (item("c"), said("c")),
            (item("d", premises="few"), said("d")),
        ]
    )
    assert [(key, part.ids.tolist()) for key, part in table.by("premises")] == [
        ("2", ["b"]),
        ("10", ["a"]),
        ("few", ["d"]),
        ("", ["c"]),
    ]


def test_slices_by_form_group_gold_and_choice_need_no_tag():
    table = Table.of(
        [(item("a", group="g"), said("a", "yes")), (item("b", ("no", "yes")), said("b"))]
    )
    assert [key for key, _ in table.by("form")] == ["choice"]
    assert [key for key, _ in table.by("group")] == ["g", ""]
    assert [key for key, _ in table.by("gold")] == ["no, yes", "yes"]
    assert [key for key, _ in table.by("choice")] == ["yes", ""]
    assert [(key, len(part)) for key, part in table.by("cardinality")] == [("1", 1), ("2", 1)]


def test_an_unknown_tag_is_refused_with_the_known_ones():
    table = Table.of([(item("a", scale="size"), said("a"))], benchmark="scales")
    with pytest.raises(UsageError, match="no tag 'colour'") as error:
        list(table.by("colour"))
    assert "scale" in error.value.hint


def test_scores_must_fit_the_choices():
    with pytest.raises(DataError, match="2 choices but its answer 3 scores"):
        Table.of([(item("a"), said("a", "yes", (1.0, 2.0, 3.0)))])


def test_an_empty_table_has_no_rows_and_no_parts():
    table = Table.of([])
    assert len(table) == 0
    assert list(table.by("form")) == []
    assert table.right.tolist() == []


def test_a_runs_table_is_that_of_its_rows():
    run = gnomon.run("scales", "random", limit=300)
    read, built = Table.of_run(run, benchmark("scales")), Table.of(run.rows())
    assert (read.benchmark, read.model) == ("scales@fresh", "random")
    assert read.sharing.kinds == ((("obj_a", "obj_b"), "objects"),)
    assert read.laws == benchmark("scales").laws
    assert read.about.seed == 0
    for name in ("ids", "choice", "picked", "kind", "failed"):
        assert (getattr(read, name) == getattr(built, name)).all()
    assert read.labels == built.labels
    assert read.group.text() == built.group.text()
    assert dict(read.tags).keys() == dict(built.tags).keys()
    for name in built.tags:
        assert read.tags[name].text() == built.tags[name].text()


def test_tags_are_cut_with_the_rows_however_often():
    table = Table.of([(item(str(i), number=str(i)), said(str(i))) for i in range(10)])
    part = table.where(np.arange(10) % 2 == 0).where(np.array([3, 1]))
    assert part.tags["number"].text() == ["6", "2"]
    assert part.ids.tolist() == ["6", "2"]


def test_scores_of_no_named_scale_are_log_probabilities_if_any_is_negative():
    rows = [(item("a"), said("a", "yes", (-0.1, -3.0))), (item("b"), said("b", "yes", (0.0, 0.0)))]
    assert Table.of(rows).scale == "log-probability"
    assert Table.of(rows[1:]).scale == "probability"
    assert Table.of(rows, scale="probability").scale == "probability"


def test_numbers_come_before_words_and_what_is_not_a_number_is_a_word():
    assert sorted(["b", "10", "nan", "2", "a"], key=in_order) == ["2", "10", "a", "b", "nan"]


def scene(name: str, **about) -> Item:
    return Item(id=name, form="scene", text="A cat on a mat.", **about)


def test_scenes_that_nobody_has_judged_have_no_accuracy():
    rows = [(scene(name), Answer(item=name, files=(f"{name}.png",))) for name in "ab"]
    table = Table.of(rows, benchmark="scenes@fresh", model="painter")
    assert table.right.tolist() == [False, False]
    found = score(table, ACCURACY)
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
    said = list(remarks(ScoredTable(table, ("accuracy",), "painter"), ["accuracy"]))
    assert said == [
        "painter on scenes@fresh: 2 items name no right answer; the figures leave them out."
    ]


def test_scenes_without_choices_are_left_out_beside_items_that_have_them():
    asked = scene("judged", choices=("yes", "no"), gold=("yes",))
    rows = [
        (asked, Answer(item="judged", choice="yes")),
        (scene("painted"), Answer(item="painted", files=("painted.png",))),
    ]
    table = Table.of(rows, model="painter")
    found = score(table, ACCURACY)
    assert (found.value, found.n) == (1.0, 1)
    assert over_seeds([table], ACCURACY).score.value == 1.0
    one, two = aligned(table, table)
    assert one.ids.tolist() == two.ids.tolist() == ["judged"]
    painted = table.where(np.array([1]))
    with pytest.raises(NothingSharedError, match="name no right answers"):
        aligned(painted, painted)


def test_an_unknown_tag_is_answered_with_each_name_once(table):
    made = table(["a"], ["a"], tags=[{"cardinality": "1"}])
    with pytest.raises(UsageError) as error:
        made.column("colour")
    assert error.value.hint.count("cardinality") == 1


@pytest.fixture
def inferences():
    """Four items of two classes, whose expressions are listed."""
    rows = []
    for name, kind, expressions in (
        ("a", "non-projective", "between, in"),
        ("b", "non-projective", "far from"),
        ("c", "projective", "between"),
        ("d", "projective", ""),
    ):
        tags = {"class": kind}
        if expressions:
            tags["expressions"] = expressions
        rows.append((item(name, **tags), said(name, "yes")))
    return Table.of(rows, benchmark="inferences")


def test_two_tags_together_slice_by_both(inferences):
    found = {key: part.ids.tolist() for key, part in inferences.by("class+expression=between")}
    assert found == {
        "non-projective + between": ["a"],
        "non-projective + other than between": ["b"],
        "projective + between": ["c"],
        "projective + other than between": ["d"],
    }
    listed = {key: part.ids.tolist() for key, part in inferences.by("class+expression")}
    assert listed["non-projective + in"] == ["a"]
    assert listed["projective + between"] == ["c"]


def test_one_value_of_a_tag_is_told_from_all_others(inferences):
    found = {key: part.ids.tolist() for key, part in inferences.by("class=projective")}
    assert found == {"projective": ["c", "d"], "other than projective": ["a", "b"]}
    assert not inferences.has("class=projectiv")
    assert not inferences.has("class+expresion")
    with pytest.raises(UsageError, match="value of class named 'projectiv'"):
        raise unknown_tag("class=projectiv", [inferences])
    with pytest.raises(UsageError, match="no tag 'expresion'"):
        raise unknown_tag("class+expresion", [inferences])


def test_a_table_is_cut_to_what_another_run_recognised_whatever_the_form():
    def one(form, name, choice):
        asked = Item(id=f"size/{form}/{name}", form=form, text="?", choices=("a", "b"), gold=("a",))
        return asked, said(asked.id, choice)

    said_so = Table.of([one("cloze", name, "a") for name in ("x", "y", "z")], benchmark="scales")
    painted = Table.of(
        [one("scene", "x", "b"), one("scene", "y", None), one("scene", "z", "a")],
        benchmark="scales",
    )
    kept = on_items_of(said_so, [painted])
    assert kept.ids.tolist() == ["size/cloze/x", "size/cloze/z"]
    assert kept.total == len(kept)
    nothing = Table.of([one("scene", "x", None)], benchmark="scales")
    with pytest.raises(UsageError, match="an answer to no item"):
        on_items_of(said_so, [painted, nothing])
