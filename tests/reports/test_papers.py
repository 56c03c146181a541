"""The papers' tables: every published figure has its place, and runs stand beside them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

import gnomon
from gnomon import registry
from gnomon.contracts import Benchmark, Listing
from gnomon.errors import UsageError
from gnomon.measures import Table
from gnomon.records import Answer, Form, Item, Score
from gnomon.reports.page.headline import headline, sliced
from gnomon.reports.page.page import write_report
from gnomon.reports.page.summary import sentences
from gnomon.reports.papers import Result, published_size, results, results_of, sizes
from gnomon.reports.papertables import (
    PaperPlace,
    RunFigures,
    beside_papers,
    like_paper,
    needed,
    papers,
    place_of,
    published_rows,
    rounded,
)
from gnomon.reports.study import studies
from gnomon.tabular import render

OF_PAPERS = [name for name in registry.BENCHMARKS if registry.benchmark(name).paper]
NAMES = {
    registry.benchmark(name).paper: registry.benchmark(name).published_results for name in OF_PAPERS
}


def test_every_benchmark_of_a_paper_belongs_to_one_with_tables() -> None:
    assert set(NAMES) == set(papers())
    own = registry.BENCHMARKS.keys() - set(OF_PAPERS)
    assert not [name for name in own if "published" in registry.benchmark(name).sources]


@pytest.mark.parametrize("paper", NAMES)
def test_every_column_of_every_layout_has_a_published_figure(paper: str) -> None:
    empty = []
    for layout in papers()[paper].tables:
        known = set()
        for result in results(NAMES[paper]):
            if result.table == layout.table:
                form = layout.form if result.form in layout.beside else result.form
                known.add(place_of(result)._replace(form=form))
        empty += [(layout.table, c.head) for c in layout.filled() if place_of(c) not in known]
    assert empty == []


@pytest.mark.parametrize("paper", NAMES)
def test_every_published_figure_is_in_its_table(paper: str) -> None:
    """Also those whose measure or benchmark Gnomon lacks, of a part of the items, and of people."""
    stored = Counter(result.table for result in results(NAMES[paper]))
    shown = {}
    for layout in papers()[paper].tables:
        rows = published_rows(papers()[paper], layout, results(NAMES[paper]))
        cells = sum(cell is not None for row in rows for cell in row[1:])
        shown.setdefault(layout.table, cells)  # a second one shows some of the same rows
    assert shown == stored


def test_the_package_holds_so_many_figures_of_each_paper() -> None:
    assert {paper: len(results(name)) for paper, name in NAMES.items()} == {
        "spatial commonsense": 146,
        "SpaceNLI": 101,
        "ViPhy": 107,
        "VSR": 29,
        "spatialQA": 98,
    }
    guide = Path(__file__).parents[2] / "docs" / "report.md"
    assert "The package holds 481 figures" in guide.read_text(encoding="utf-8")


def row(paper: str, table: str, name: str) -> tuple[str | None, ...]:
    """A row of a paper's table as it is shown."""
    how = papers()[paper]
    layout = next(layout for layout in how.tables if layout.table == table)
    rows = published_rows(how, layout, results(NAMES[paper]))
    return next(row[1:] for row in rows if row[0] == name)


def test_rows_read_as_the_papers_print_them() -> None:
    boxes = row("spatial commonsense", "Table 2a", "ISM (Box), guess where not recognised")
    assert boxes == ("54.8", "54.8", "81.6", "81.6", "15")
    part = row("spatial commonsense", "Table 2a", "VinVL, items recognised by people")
    assert part == (None, None, "61.6", "54.3", None)
    assert row("spatial commonsense", "Table 3", "RoBERTa") == (
        "31.0 (15.4)",
        "20.1 (9.29)",
        None,
        None,
        None,
    )
    dagger = row("spatial commonsense", "Table 4", "VinVL, items recognised by people")
    assert dagger == ("44.4", "95.3", "32.2", "97.8")
    assert row("spatial commonsense", "Section 4.2", "RoBERTa") == ("64",)
    assert row("VSR", "Table 3", "human ceiling") == ("95.4", None, None)
    assert row("SpaceNLI", "Table 5", "DeBERTa-L (MNLI)")[:5] == (
        "89.6",
        "91.3",
        "91.1",
        "90.7",
        "54.1",
    )
    assert row("SpaceNLI", "Section 5", "mean of the models") == ("41.6", "54.1", "46.1")
    assert row("ViPhy", "Table 3", "UnifiedQA-large") == ("51.00", "51.76", "63.04")
    assert row("ViPhy", "Table 6", "random baseline") == ("50.00", "50.00", "50.00")


@pytest.mark.parametrize("paper", NAMES)
def test_published_figures_are_fractions_that_cite_their_table(paper: str) -> None:
    found = results(NAMES[paper])
    assert found
    for result in found:
        assert 0 <= result.value <= 1
        assert result.table.startswith(("Table ", "Section ", "README"))
        assert result.paper == paper


def test_people_and_averages_are_told_from_models_by_their_kind() -> None:
    found = [result for name in set(NAMES.values()) for result in results(name)]
    kinds: dict[str, set[str]] = {}
    for result in found:
        kinds.setdefault(result.kind, set()).add(result.model)
    assert kinds["human"] == {"human ceiling", "Human", "Human (CoDa)"}
    assert kinds["average"] == {"LM average", "VLM average", "mean of the models"}
    assert kinds["chance"] == {"random baseline"}
    assert "ISM (Human)" in kinds["model"]  # a model whose pictures people looked at


@pytest.mark.parametrize("paper", NAMES)
def test_measures_that_runs_need_exist_and_those_of_the_paper_alone_do_not(paper: str) -> None:
    wanted = set().union(*(needed(paper, name) for name in OF_PAPERS))
    assert wanted
    for _, measure, _ in wanted:
        assert registry.measure(measure).name == measure


def test_columns_of_the_paper_alone_are_columns_that_no_run_could_fill() -> None:
    alone = [
        (paper, column.head)
        for paper, found in papers().items()
        for layout in found.tables
        for column in layout.filled()
        if column.paper_only
    ]
    assert Counter(alone) == {
        ("VSR", "either split"): 1,
        ("VSR", "any part"): 1,
        ("SpaceNLI", "SNLI+MNLI"): 1,
        ("SpaceNLI", "SNLI"): 1,
        ("SpaceNLI", "Mm"): 1,
        ("SpaceNLI", "Mmm"): 1,
        ("SpaceNLI", "S+M"): 1,
    }


def score(
    measure: str,
    value: float,
    by: str = "",
    key: str = "",
    benchmark: str = "spatialqa@published",
) -> Score:
    return Score(benchmark=benchmark, model="mine", measure=measure, value=value, by=by, key=key)


def mine(*scores: Score, form: str = "") -> dict[str, RunFigures]:
    """Scores of one run, in their places."""
    values: dict[PaperPlace, float | None] = {}
    for s in scores:
        base = s.benchmark.partition("@")[0]
        values[PaperPlace(base, form, s.measure, s.by, s.key)] = s.value
    return {"mine": RunFigures({scores[0].benchmark.partition("@")[2]}, values)}


def spatialqa(*scores: Score) -> list[Listing]:
    return like_paper("spatialQA", results("spatialqa"), mine(*scores))


def test_a_run_is_the_last_row_with_its_spread() -> None:
    slices = [
        score("partial_credit", v, "category", k) for v, k in ((0.2, "motion"), (0.4, "metaphor"))
    ]
    table2, table5, table6 = spatialqa(
        score("without_partial_credit", 0.25), score("partial_credit", 0.30), *slices
    )
    assert table2.rows[0] == ("GPT-3", "26.5", "61.1 (6.8)")
    assert table2.rows[-1] == ("mine", "25.0", "30.0 (14.1)")
    assert table5.rows[-1][-1] == "25.0"
    assert table6.rows[-1] == ("mine", "20.0", None, None, None, "40.0", "30.0 (14.1)")


def test_tables_without_a_run_are_left_out() -> None:
    found = spatialqa(score("without_partial_credit", 0.5))
    titles = [table.title.split(".")[0] for table in found]
    assert titles == ["spatialQA, Table 2", "spatialQA, Table 5"]


def test_a_half_is_rounded_as_the_paper_rounds_it() -> None:
    """SpaceNLI prints 58 of 160 as 36.2 and 66 of 160 as 41.2, but 70 of 160 as 43.8."""
    solved = score("pattern_accuracy@1.0", 58 / 160, benchmark="spacenli@published")
    table4, _ = like_paper("SpaceNLI", results("spacenli"), mine(solved))
    albert = next(row for row in table4.rows if row[0] == "ALBERT-XXLv2 (SMFA)")
    assert table4.rows[-1][-1] == albert[-1] == "36.2"
    assert [rounded(n / 160, 1, "half even") for n in (66, 70)] == ["41.2", "43.8"]
    assert rounded(66 / 160, 1, "half up") == "41.3"


def vsr_run(right: int, seed: int, part: str = "random/test") -> Table:
    """The answers of one of several runs that differ in the model's seed; `right` of 10 are."""
    rows = []
    for i in range(10):
        item = Item(
            id=f"{i}",
            form="caption",
            text="The cat is on the mat.",
            choices=("false", "true"),
            gold=("true",),
            group=f"{i}",
            tags={"part": part, "relation": "on"},
        )
        rows.append((item, Answer(item=item.id, choice="true" if i < right else "false")))
    table = Table.of(rows, benchmark="vsr@published", model="mine")
    about = replace(table.about, seed=seed, settings={"seed": seed, "split": part})
    return replace(table, about=about)


def test_fresh_pictures_never_stand_beside_the_papers_photographs() -> None:
    published = vsr_run(6, 0)
    fresh = replace(published, about=replace(published.about, benchmark="vsr@fresh"))
    listings, caveats = beside_papers([fresh])
    assert listings == []
    assert caveats == ["vsr@fresh is in no table of a paper: left out."]
    assert beside_papers([published])[0]


def test_a_report_on_fresh_pictures_shows_none_of_the_papers_models(
    made: ModuleType, tmp_path: Path
) -> None:
    shown = {}
    for source in ("fresh", "published"):
        items = []
        for i in range(4):
            item = Item(
                id=str(i),
                form="caption",
                text="The cat is on the mat.",
                choices=("false", "true"),
                gold=("true",),
                group=str(i),
                tags={"relation": "on", "part": "random/test"},
            )
            items.append(item)
        run = made.write(tmp_path / source, f"vsr@{source}", "m", items)
        report = write_report([run], tmp_path / f"{source}.html")
        shown[source] = report.read_text(encoding="utf-8")
    assert "LXMERT" in shown["published"]
    assert "LXMERT" not in shown["fresh"]


def test_runs_with_several_seeds_stand_in_a_papers_table_as_mean_and_deviation() -> None:
    """VSR's Table 3 prints the mean and the standard deviation over three seeds."""
    tables = [vsr_run(right, seed) for seed, right in enumerate((6, 7, 8))]
    (table3, table8, readme), caveats = beside_papers(tables, seeds_together=True)
    assert table3.rows[1] == ("VisualBERT", None, "57.4 ± 0.9", "54.0 ± 1.3")
    assert table3.rows[-1] == ("mine", None, "70.0 ± 10.0", None)
    assert [row[0] for row in table8.rows].count("mine") == 1
    assert readme.rows[:2] == (("CLIP, frozen", "56.0", "54.5"), ("CLIP, finetuned", "65.1", None))
    assert "mine on vsr@published: mean and standard deviation over 3 seeds." in caveats

    (alone, *_), caveats = beside_papers(tables)
    assert [row[2] for row in alone.rows[-3:]] == ["60.0", "70.0", "80.0"]
    assert not any("seeds" in caveat for caveat in caveats)


def person_run(name: str, said: str) -> Table:
    """What somebody saw in painted pictures: right, wrong or nothing, a letter for each."""
    rows = []
    for number, letter in enumerate(said):
        item = Item(
            id=f"size/{number}",
            form="scene",
            text="A cup and a jug.",
            choices=("larger", "smaller"),
            gold=("smaller",),
            group=f"{number}",
            tags={"scale": "size"},
        )
        choice = {"r": "smaller", "w": "larger"}.get(letter)
        rows.append((item, Answer(item=item.id, choice=choice)))
    table = Table.of(rows, benchmark="scales@published", model=f"people:{name}")
    return replace(table, about=replace(table.about, digest="the same pictures"))


def test_two_annotators_are_averaged_as_the_paper_says() -> None:
    """Section 3.3: the average of their performance, also where they do not agree."""
    ann = person_run("ann", "rrrrrrrrww..")  # 10 recognised, 80 % right; 9 of 12 with guesses
    ben = person_run("ben", "......rrrrww")  # 6 recognised, 67 % right; 7 of 12 with guesses
    listings, caveats = beside_papers([ann, ben])
    painted = next(listing for listing in listings if "painted" in listing.title)
    row = dict(zip(painted.columns, painted.rows[-1], strict=True))
    assert row["Model"] == "mean of 2 people"
    assert row["Acc"].startswith("66.7 (")
    assert row["Acc (recognised)"].startswith("73.3 (")
    assert row["Recognised"].startswith("67 (")
    said = "mean of 2 people on scales@published: mean and standard deviation over 2 people."
    assert said in caveats
    assert [name for name, *_ in painted.rows[-3:-1]] == ["people:ann", "people:ben"]


def test_people_who_saw_the_pictures_of_two_painters_have_a_mean_for_each() -> None:
    first = [person_run("ann", "rr"), person_run("ben", "rr")]
    second = []
    for table in (person_run("ann", "ww"), person_run("ben", "ww")):
        second.append(replace(table, about=replace(table.about, digest="other pictures")))
    listings, _ = beside_papers([*first, *second])
    painted = next(listing for listing in listings if "painted" in listing.title)
    means = {row[0]: row[1] for row in painted.rows if str(row[0]).startswith("mean of")}
    assert means == {"mean of 2 people #1": "100.0 (0.00)", "mean of 2 people #2": "0.0 (0.00)"}


def test_people_who_saw_other_pictures_are_not_averaged() -> None:
    ann, ben = person_run("ann", "rw"), person_run("ben", "rr")
    other = replace(ben, about=replace(ben.about, digest="other pictures"))
    listings, _ = beside_papers([ann, other])
    assert not [row for listing in listings for row in listing.rows if "mean" in str(row[0])]


def test_draws_of_one_training_share_a_row_and_so_do_the_parts_of_the_items() -> None:
    tables = []
    for draw, right in enumerate((6, 8)):
        for part in ("random/test", "random/dev"):
            table = vsr_run(right, 0, part=part)
            settings = {**table.settings, "split": part, "weights": f"weights of draw {draw}"}
            about = replace(table.about, model=f"ViLT #{draw + 1}", settings=settings)
            tables.append(replace(table, about=about))
    draws = {"ViLT #1": "ViLT", "ViLT #2": "ViLT"}
    listings, caveats = beside_papers(tables, draws=draws)
    (table8,) = (listing for listing in listings if "Table 8" in listing.title)
    row = dict(zip(table8.columns, table8.rows[-1], strict=True))
    assert row["Model"] == "ViLT (this run)"
    assert (row["random dev"], row["random test"]) == ("70.0 ± 14.1", "70.0 ± 14.1")
    assert sum(str(name).startswith("ViLT") for name, *_ in table8.rows) == 2
    assert "over 2 seeds" in caveats[0]


def test_runs_of_one_seed_each_are_not_taken_together() -> None:
    tables = [vsr_run(6, 0), vsr_run(8, 0, part="zeroshot-published/test")]
    (table3, *_), caveats = beside_papers(tables, seeds_together=True)
    assert table3.rows[-1][2:] == ("60.0", "80.0")  # a column each, and no deviation
    assert caveats[0].startswith("No two of these runs differ only in the seed")


def test_runs_that_no_paper_is_about_are_left_out_and_the_others_shown() -> None:
    elsewhere = vsr_run(9, 0)
    elsewhere = replace(elsewhere, about=replace(elsewhere.about, benchmark="dice@fresh"))
    (table3, *_), caveats = beside_papers([elsewhere, vsr_run(6, 0)])
    assert table3.rows[-1] == ("mine", None, "60.0", None)
    assert caveats[0] == "dice@fresh is in no table of a paper: left out."


def answered(size: int, groups: int = 3, **about: str) -> Table:
    rows = []
    for i in range(groups * size):
        item = Item(
            id=f"{i}",
            form="entailment",
            text="?",
            choices=("a", "b"),
            gold=("a",),
            group=f"{i // size}",
        )
        rows.append((item, Answer(item=f"{i}", choice="a")))
    return Table.of(rows, **{"benchmark": "spacenli@published", "model": f"m{size}", **about})


def test_figures_of_groups_from_a_handful_of_items_are_left_out_beside_the_papers() -> None:
    listings, caveats = beside_papers([answered(size) for size in (9, 10, 20, 200)])
    assert listings[0].columns == ("Model", "SNLI+MNLI", "Acc", "PA0.95", "PA1.0")
    assert listings[0].rows[-4:] == (
        ("m9", None, "100.0", None, None),
        ("m10", None, "100.0", None, "100.0"),
        ("m20", None, "100.0", "100.0", "100.0"),
        ("m200", None, "100.0", "100.0", "100.0"),
    )
    assert [caveat.split(" on ")[0] for caveat in caveats] == ["m9", "m10", "m20"]
    assert (
        "10.0 items a group on average, 200 in the paper. From so few pattern_accuracy@0.95 would"
        in caveats[1]
    )
    assert "easier to reach" in caveats[2]


def test_the_papers_own_items_get_no_caveat_about_a_rounded_number_of_items() -> None:
    """20,480 items of 94 templates are 217.9 a template; the paper's number is known as 218."""
    rows = []
    for i in range(2179):  # ten templates, 217.9 items each
        item = Item(
            id=f"{i}",
            form="entailment",
            text="?",
            choices=("a", "b"),
            gold=("a",),
            group=f"{i % 10}",
            tags={"category": "motion"},
        )
        rows.append((item, Answer(item=f"{i}", choice="a")))
    table = Table.of(rows, benchmark="spatialqa@published", model="m")
    _, caveats = beside_papers([table])
    assert caveats == []


def test_a_run_on_other_items_than_the_papers_table_gets_a_caveat(
    made: ModuleType, tmp_path: Path
) -> None:
    def beside(name: str, options: dict[str, object]) -> tuple[list[Listing], list[str]]:
        run = made.write(
            tmp_path / name, "viphy-spatial@published", "m", made.pairs(), options=options
        )
        table = Table.of_run(run, registry.benchmark("viphy-spatial"))
        return beside_papers([table])

    def caveats(name: str, options: dict[str, object]) -> list[str]:
        return beside(name, options)[1]

    listings, said = beside("three", {"levels": 3, "split": "test"})
    assert ["Table 5" in listing.title for listing in listings] == [True]  # and not in Table 3
    assert said == []
    split, levels = caveats("all", {"levels": 2, "split": ""})
    assert "is not on the items of Table 5, Table 3: split (all) here, split test in the" in split
    assert "is not on the items of Table 5: levels 2 here, levels 3 in the paper." in levels
    taught = {"levels": 2, "split": "test", "prompt": "finetune"}
    assert any("Table 3: prompt finetune here" in said for said in caveats("taught", taught))
    asked = {**taught, "prompt": "question"}
    assert not any("Table 3" in said for said in caveats("asked", asked))


def test_what_holds_of_several_rows_is_said_once_and_a_run_is_told_from_the_papers_row() -> None:
    rows = []
    for i in range(20):
        item = Item(
            id=f"{i}",
            form="entailment",
            text="?",
            choices=("a", "b"),
            gold=("a",),
            group=f"{i // 2}",
        )
        rows.append((item, Answer(item=f"{i}", choice="a")))
    tables = []
    for name in ("T5", "mine"):
        tables.append(Table.of(rows, benchmark="spatialqa@published", model=name))
    listings, (caveat,) = beside_papers(tables)
    assert caveat.startswith("T5; mine on spatialqa@published: 2.0 items a group on average")
    names = [row[0] for row in listings[0].rows]
    assert "T5" in names
    assert names[-2:] == ["T5 (this run)", "mine"]


def test_sources_of_one_benchmark_have_a_row_each() -> None:
    item = Item(id="1", form="entailment", text="?", choices=("a", "b"), gold=("a",), group="p")
    tables = [
        Table.of([(item, Answer(item="1"))], benchmark=f"spacenli@{source}", model="m")
        for source in ("fresh", "published")
    ]
    [listing, *_], _ = beside_papers(tables)
    assert [row[0] for row in listing.rows[-2:]] == ["m (items fresh)", "m (items published)"]
    assert listing.title.endswith("; some runs answered fresh items")


def test_runs_of_one_model_on_two_benchmarks_share_a_row_of_a_table_about_both() -> None:
    tables = []
    for name, source in (("scales", "fresh"), ("posrel", "published")):
        rows = [(item, Answer(item=item.id, choice="yes")) for item in places("choice")]
        tables.append(Table.of(rows, benchmark=f"{name}@{source}", model="m"))
    (listing,), _ = beside_papers(tables)
    assert listing.title.startswith("spatial commonsense, Table 6.")
    assert listing.title.endswith("; some runs answered fresh items")
    assert listing.rows[-1][0] == "m"
    assert listing.rows[-1][1::2] == ("100.0", "0.0", "50.0")  # size, height, position


def test_a_title_says_that_runs_answered_fresh_items() -> None:
    fresh = score("partial_credit", 0.5, benchmark="spatialqa@fresh")
    told = [spatialqa(each)[0].title for each in (fresh, score("partial_credit", 1))]
    assert [title.endswith("; the runs answered fresh items") for title in told] == [True, False]


def test_unknown_paper_is_named() -> None:
    with pytest.raises(UsageError, match="Did you mean spatialQA"):
        needed("spatialqa", "spatialqa")


def test_tables_of_one_form_take_only_that_form() -> None:
    half = score("accuracy", 0.5, "scale", "size", benchmark="scales@fresh")
    published = results("spatial-commonsense")

    def titles(form: str) -> list[str]:
        found = like_paper("spatial commonsense", published, mine(half, form=form))
        return [table.title.split(".")[0] for table in found]

    assert titles("choice") == ["spatial commonsense, Table 6"]
    assert titles("cloze") == ["spatial commonsense, Table 2a"]


def places(form: Form, count: int = 24) -> list[Item]:
    """Items of posrel or scales in one form."""
    found = []
    for i in range(count):
        choices = ("inside", "above", "below", "beside") if form == "cloze" else ("yes", "no")
        found.append(
            Item(
                id=f"{form}/{i}",
                form=form,
                text="?",
                choices=choices,
                gold=(choices[i % len(choices)],),
                group=str(i),
                tags={"object": str(i), "person": "man", "scale": ("size", "height")[i % 2]},
            )
        )
    return found


def test_a_report_compares_with_the_table_of_its_own_form(made: ModuleType, tmp_path: Path) -> None:
    def report(form: Form) -> tuple[list[str], str]:
        run = made.write(tmp_path / form, "posrel@published", "m", places(form))
        (study,) = studies([run])
        table = headline(study)
        names = [line.model for line in table.lines if line.series < 0]
        return names, sentences(study, table)[-1]

    names, said = report("cloze")
    assert {"VinVL", "BERT", "RoBERTa"} == set(names)
    assert said == "In the paper the best model asked in this form, VinVL, reaches 56\u00a0%."
    names, said = report("scene")
    assert {"ISM (Human)", "ISM (Box)"} == set(names)
    assert said == "In the paper the best model asked in this form, ISM (Human), reaches 73\u00a0%."
    names, said = report("choice")
    assert {"UnifiedQA", "ISM w/ VinVL"} == set(names)
    assert (
        said == "In the paper the best model asked in this form, ISM w/ VinVL, reaches 60\u00a0%."
    )


def test_a_part_of_the_papers_items_that_was_not_asked_is_told(
    made: ModuleType, tmp_path: Path
) -> None:
    """Without the height set the paper's figures of heights have nothing beside them."""
    told = "The paper also has scale height, of which no item was asked."
    both = places("cloze")
    sizes = [item for item in both if item.tags["scale"] == "size"]
    for name, items in (("sizes", sizes), ("both", both)):
        (study,) = studies([made.write(tmp_path / name, "scales@published", "m", items)])
        assert (told in headline(study).notes) == (name == "sizes")


def test_painters_stand_beside_the_papers_painters_alone(made: ModuleType, tmp_path: Path) -> None:
    painted = made.write(tmp_path / "scene", "posrel@published", "painter", places("scene"))
    said = made.write(tmp_path / "cloze", "posrel@published", "speaker", places("cloze"))
    tables = [Table.of_run(run, registry.benchmark("posrel")) for run in (painted, said)]
    listings, _ = beside_papers(tables)
    by_title = {listing.title: [str(row[0]) for row in listing.rows] for listing in listings}
    (scenes,) = [
        names for title, names in by_title.items() if "Table 3. " in title and "painted" in title
    ]
    (words,) = [
        names
        for title, names in by_title.items()
        if "Table 3. " in title and "painted" not in title
    ]
    assert "painter" in scenes
    assert "speaker" not in scenes
    assert {name.partition(",")[0] for name in scenes} == {"ISM (Box)", "ISM (Human)", "painter"}
    assert "speaker" in words
    assert "painter" not in words
    assert any(name.startswith("BERT") for name in words)


def test_forms_are_not_mixed_beside_the_paper(made: ModuleType, tmp_path: Path) -> None:
    both = [*places("cloze"), *places("choice")]
    run = made.write(tmp_path / "both", "scales@published", "m", both, skill=0.5)
    (study,) = studies([run])
    assert [line.model for line in headline(study).lines if line.series < 0] == []
    found = {table.title: table for table in sliced(study)}
    cloze = found["accuracy by scale, cloze items"]
    choice = found["accuracy by scale, choice items"]
    assert {line.source for line in cloze.lines} == {"", "Tables 2a, 2b"}
    assert {line.source for line in choice.lines} == {"", "Table 6"}
    parts = dict(study.entrants[0].table.by("form"))
    for table, form in ((cloze, "cloze"), (choice, "choice")):
        mine = next(line for line in table.lines if line.series == 0)
        for key, cell in zip(table.measures, mine.cells, strict=True):
            assert cell is not None
            assert cell.value == dict(parts[form].by("scale"))[key].right.mean()


def test_the_sizes_of_spatialqas_models_are_those_of_its_table_4() -> None:
    by_family: dict[str, list[int]] = {}
    for size in sizes().values():
        by_family.setdefault(size.family, []).append(size.parameters)
    million = 10**6
    assert by_family == {
        "GPT-3": [2_700 * million, 6_700 * million, 13_000 * million, 175_000 * million],
        "UnifiedQAv2": [60 * million, 220 * million, 770 * million, 3_000 * million],
        "T5": [60 * million, 220 * million, 770 * million, 3_000 * million],
        "DeBERTa": [86 * million, 350 * million, 700 * million, 1_320 * million],
        "RoBERTa": [125 * million, 355 * million],
        "ALBERT": [17 * million],
        "XLNet": [110 * million],
    }


def test_a_model_is_found_by_its_name_and_no_other_model_is_taken_for_it() -> None:
    known = published_size("answers:data/results-t5-3b.tsv")
    assert known is not None
    assert (known.family, known.size) == ("T5", "XL")
    assert published_size("hf:google/flan-t5-3b") is None
    assert published_size("random") is None


def test_results_of_a_benchmark_are_those_on_it_alone() -> None:
    found = results_of(registry.benchmark("posrel"))
    assert len(found) == 31
    assert {result.benchmark for result in found} == {"posrel"}
    assert results_of(None) == []


def test_a_benchmark_of_a_plug_in_without_published_figures_has_none() -> None:
    elsewhere = Benchmark(name="b", summary="", sources={}, published_results="not-in-the-package")
    assert results_of(elsewhere) == []


def test_a_row_that_is_no_figure_names_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gnomon.errors import DataError
    from gnomon.reports import papers as module

    columns = Result.__struct_fields__
    fields = dict.fromkeys(columns, "") | {"kind": "person", "value": "0.5"}
    text = ",".join(columns) + "\n" + ",".join(fields[column] for column in columns) + "\n"
    (tmp_path / "x.csv").write_text(text)
    monkeypatch.setattr(module, "package_data", lambda name: tmp_path / Path(name).name)
    with pytest.raises(DataError, match=r"x.csv.*kind") as caught:
        module.results("x")
    assert "2" in str(caught.value)


LISTING = Listing("A title", ("name", "share"), (("a_b & c|d", "12.5 %"), ("e", None)))


def test_latex_and_markdown_escape_what_would_break_them() -> None:
    assert r"a\_b \& c\textbar{}d & 12.5 \% \\" in render(LISTING, "latex")
    assert r"| a_b & c\|d | 12.5 % |" in render(LISTING, "markdown")


def test_table_fits_the_width() -> None:
    wide = Listing("", ("text", "n"), (("x" * 200, 3),))
    assert max(map(len, render(wide, width=40).splitlines())) == 40


def test_unknown_format_is_named() -> None:
    with pytest.raises(UsageError, match="latex"):
        render(LISTING, "word")


def test_a_figure_of_one_pair_does_not_stand_beside_the_papers(tmp_path: Path) -> None:
    """200 items of scales hold one pair of objects asked both ways: no symmetry can be told."""
    few = gnomon.run("scales", "random", limit=200, runs=tmp_path)
    (study,) = studies([few])
    titles = [table.title for table in sliced(study)]
    assert "accuracy by scale, cloze items" in titles
    assert not [title for title in titles if title.startswith("symmetry")]

    listings, caveats = beside_papers([Table.of_run(few, registry.benchmark("scales"))])
    (table,) = [listing for listing in listings if "Table 4" in listing.title]
    (mine,) = [row for row in table.rows if row[0] == "random"]
    assert set(mine[1:]) <= {"", "–", None}
    assert [said for said in caveats if "fewer than 5 pairs" in said and "symmetry" in said]


def test_a_table_by_category_says_how_many_items_each_figure_rests_on(tmp_path: Path) -> None:
    run = gnomon.run("scales", "random", limit=200, runs=tmp_path)
    page = tmp_path / "page.html"
    gnomon.report([run], page)
    part = page.read_text().split("<h4>Accuracy by scale, cloze items</h4>")[1].split("</table>")[0]
    assert re.search(r", n \d\d<", part)
    assert ">Items<" not in part
