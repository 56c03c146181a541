"""The papers' tables: every layout finds its published figures, and runs stand beside them."""

import pytest

from gnomon import registry
from gnomon.contracts import Listing
from gnomon.errors import UsageError
from gnomon.measures import Table
from gnomon.records import Answer, Item, Score
from gnomon.reporting.published.beside import beside_papers
from gnomon.reporting.published.layouts import figures, like_paper, needed, papers
from gnomon.reporting.tables.render import render

NAMES = {
    registry.benchmark(name).paper: registry.benchmark(name).figures for name in registry.BENCHMARKS
}


def test_every_benchmark_belongs_to_a_paper_with_tables():
    assert set(NAMES) == set(papers())


@pytest.mark.parametrize("paper", NAMES)
def test_every_column_of_every_layout_has_a_published_figure(paper):
    for layout in papers()[paper].tables:
        for column in layout.columns:
            found = [
                f
                for f in figures(NAMES[paper])
                if (f.table, f.benchmark, f.measure, f.by, f.key)
                == (
                    layout.table,
                    column.benchmark or layout.benchmark,
                    column.measure,
                    column.by,
                    column.key,
                )
            ]
            assert found, f"{paper}, {layout.table}, {column.head}"


@pytest.mark.parametrize("paper", NAMES)
def test_published_figures_are_fractions_that_cite_their_table(paper):
    for figure in figures(NAMES[paper]):
        assert 0 <= figure.value <= 1
        assert figure.table.startswith("Table ")
        assert figure.paper == paper


@pytest.mark.parametrize("paper", NAMES)
def test_measures_that_the_layouts_need_exist(paper):
    for name in registry.BENCHMARKS:
        for _, measure, _ in needed(paper, name):
            assert registry.measure(measure).name == measure


def score(measure, value, by="", key=""):
    return Score(
        benchmark="spatialqa@published", model="mine", measure=measure, value=value, by=by, key=key
    )


def test_a_run_is_the_last_row_with_its_spread():
    slices = [
        score("partial_credit", v, "category", k) for v, k in ((0.2, "motion"), (0.4, "metaphor"))
    ]
    table2, table5, table6 = like_paper(
        "spatialQA",
        "spatialqa",
        {
            "": [
                score("without_partial_credit", 0.25),
                score("partial_credit", 0.30, "", ""),
                *slices,
            ]
        },
    )
    assert table2.rows[0] == ("GPT-3", "26.5", "61.1 (6.8)")
    assert table2.rows[-1] == ("mine", "25.0", "30.0 (14.1)")
    assert table5.rows[-1][-1] == "25.0"
    assert table6.rows[-1] == ("mine", "20.0", None, None, None, "40.0", "30.0 (14.1)")


def test_tables_without_a_run_are_left_out():
    assert [
        t.title.split(".")[0]
        for t in like_paper("spatialQA", "spatialqa", {"": [score("without_partial_credit", 0.5)]})
    ] == ["spatialQA, Table 2", "spatialQA, Table 5"]


def test_figures_of_groups_from_a_handful_of_items_are_left_out_beside_the_papers():
    def answered(size):
        rows = [
            (
                Item(
                    id=f"{i}",
                    form="entailment",
                    text="?",
                    choices=("a", "b"),
                    gold=("a",),
                    group=f"{i // size}",
                ),
                Answer(item=f"{i}", choice="a"),
            )
            for i in range(3 * size)
        ]
        return Table.of(rows, benchmark="spacenli@published", model=f"m{size}")

    listings, caveats = beside_papers([answered(size) for size in (9, 10, 20, 200)])
    assert listings[0].columns == ("Model", "Acc", "PA0.95", "PA1.0")
    assert listings[0].rows[-4:] == (
        ("m9", "100.0", None, None),
        ("m10", "100.0", None, "100.0"),
        ("m20", "100.0", "100.0", "100.0"),
        ("m200", "100.0", "100.0", "100.0"),
    )
    assert [caveat.split(" on ")[0] for caveat in caveats] == ["m9", "m10", "m20"]
    assert (
        "10.0 items a group on average, 200 in the paper. From so few pattern_accuracy@0.95 would"
        in caveats[1]
    )
    assert "easier to reach" in caveats[2]


def test_sources_of_one_benchmark_have_a_row_each():
    item = Item(id="1", form="entailment", text="?", choices=("a", "b"), gold=("a",), group="p")
    tables = [
        Table.of([(item, None)], benchmark=f"spacenli@{source}", model="m")
        for source in ("fresh", "published")
    ]
    [listing, *_], _ = beside_papers(tables)
    assert [row[0] for row in listing.rows[-2:]] == ["m (items fresh)", "m (items published)"]
    assert listing.title.endswith("; some runs answered fresh items")


def test_a_title_says_that_runs_answered_fresh_items():
    fresh = Score(benchmark="spatialqa@fresh", model="mine", measure="partial_credit", value=0.5)
    told = [
        like_paper("spatialQA", "spatialqa", {"": each})[0].title
        for each in ([fresh], [score("partial_credit", 1)])
    ]
    assert [title.endswith("; the runs answered fresh items") for title in told] == [True, False]


def test_unknown_paper_is_named():
    with pytest.raises(UsageError, match="Did you mean spatialQA"):
        needed("spatialqa", "spatialqa")


LISTING = Listing("A title", ("name", "share"), (("a_b & c|d", "12.5 %"), ("e", None)))


def test_latex_and_markdown_escape_what_would_break_them():
    assert r"a\_b \& c|d & 12.5 \% \\" in render(LISTING, "latex")
    assert r"| a_b & c\|d | 12.5 % |" in render(LISTING, "markdown")


def test_table_fits_the_width():
    wide = Listing("", ("text", "n"), (("x" * 200, 3),))
    assert max(map(len, render(wide, width=40).splitlines())) == 40


def test_unknown_format_is_named():
    with pytest.raises(UsageError, match="latex"):
        render(LISTING, "word")


def test_tables_of_one_form_take_only_that_form():
    half = Score(
        benchmark="scales@fresh",
        model="mine",
        measure="accuracy",
        by="scale",
        key="size",
        value=0.5,
    )
    titles = [
        t.title.split(".")[0]
        for t in like_paper("spatial commonsense", "spatial-commonsense", {"choice": [half]})
    ]
    assert titles == ["spatial commonsense, Table 6"]
    titles = [
        t.title.split(".")[0]
        for t in like_paper("spatial commonsense", "spatial-commonsense", {"cloze": [half]})
    ]
    assert titles == ["spatial commonsense, Table 2a"]
