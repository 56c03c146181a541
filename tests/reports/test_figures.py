from __future__ import annotations

import ast
import csv
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gnomon import registry
from gnomon.records import Answer, Item
from gnomon.reports import figures as figures_room
from gnomon.reports import papers, papertables
from gnomon.reports.charts.pdf import system_faces
from gnomon.reports.figures import Figure, figures
from gnomon.reports.figures.files import write_figures
from gnomon.reports.figures.groups import group_shares
from gnomon.reports.study import Study, studies
from gnomon.runs import Run


def study_of(runs: Path, *names: str) -> Study:
    return studies([Run.open(runs / name) for name in names])[0]


def named(found: list[Figure]) -> dict[str, Figure]:
    by_name = {figure.name: figure for figure in found}
    assert len(by_name) == len(found), "names of figures must differ: they name files"
    return by_name


def test_entailment_runs_get_the_figures_of_the_papers(runs: Path) -> None:
    found = named(figures(study_of(runs, "good", "middling", "guess")))
    assert {
        "pattern-accuracy",
        "data-map",
        "reliability",
        "confusion",
        "accuracy-against-size",
    } <= set(found)
    assert any(name.endswith("-by-class") for name in found)
    assert any(name.startswith("boxes-by-") for name in found)


def test_numbers_behind_figures_name_values_of_tags_as_the_items_do(runs: Path) -> None:
    """Pages say "whose place it is"; every file of numbers has the tag's own value."""
    study = study_of(runs, "good", "middling", "guess")
    values = {item.tags["class"] for item in study.items}
    found = named(figures(study))
    boxes = {row[1] for row in found["boxes-by-class"].rows}
    bars = {row[1] for row in found["accuracy-by-class"].rows}
    assert boxes == bars == values
    known = registry.benchmark("spacenli")
    assert known.title_of("class", "argument orientation") == "whose place it is"


def test_pairs_get_symmetry_bars_and_form_agreement(made: ModuleType, runs: Path) -> None:
    found = named(figures(study_of(runs, "pairs")))
    assert "objects-size-cloze" in found
    assert "forms" in found
    ranks = found["objects-size-cloze"]
    place = ranks.columns.index("object")
    assert {row[place] for row in ranks.rows} == set(made.OBJECTS)


def test_a_few_objects_get_no_figure_of_ranks(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.reports.figures.answers.LEAST_OBJECTS", 13)
    found = named(figures(study_of(runs, "pairs")))
    assert not [name for name in found if name.startswith("objects-")]


def test_items_with_several_right_labels_get_a_curve_over_their_number(runs: Path) -> None:
    found = named(figures(study_of(runs, "colours")))
    curve = next(figure for name, figure in found.items() if name.endswith("-by-right-labels"))
    assert sorted({row[1] for row in curve.rows}) == [1, 2, 3, 4]


def test_runs_with_other_numbers_of_shots_get_a_curve(made: ModuleType, tmp_path: Path) -> None:
    items = list(made.entailment(6, 4))
    runs = [
        made.write(
            tmp_path / str(shots),
            "b@fresh",
            "m",
            items,
            skill=0.2 + shots / 10,
            seed=shots,
            model_options={"shots": shots},
        )
        for shots in (0, 2, 4)
    ]
    found = named(figures(studies(runs)[0]))
    assert [row[1] for row in found["by-shots"].rows] == [0, 2, 4]


def test_trained_models_get_curves_of_loss_and_of_dev_scores(
    made: ModuleType, tmp_path: Path
) -> None:
    items = list(made.entailment(6, 4))
    training = {
        "losses": [[1, 1.1], [2, 0.9], [3, 0.4]],
        "dev": [[2, {"accuracy": 0.5, "loss": 1.2}], [3, {"accuracy": 0.75, "loss": 0.7}]],
    }
    runs = [
        made.write(tmp_path / "one", "b@fresh", "hf:taught", items),
        made.write(tmp_path / "two", "b@fresh", "plain", items),
    ]
    runs[0].manifest.model_description["training"] = training
    found = named(figures(studies(runs)[0]))
    assert [row[1:] for row in found["training-loss"].rows] == [(1, 1.1), (2, 0.9), (3, 0.4)]
    assert [row[1:] for row in found["training-dev-accuracy"].rows] == [(2, 0.5), (3, 0.75)]
    assert "0.5 to 0.75" in found["training-dev-accuracy"].description
    assert {row[0] for row in found["training-loss"].rows} == {"hf:taught"}
    del runs[0].manifest.model_description["training"]
    assert not [name for name in named(figures(studies(runs)[0])) if name.startswith("training")]


def test_runs_that_differ_in_more_than_the_number_of_shots_are_not_averaged(
    made: ModuleType, tmp_path: Path
) -> None:
    items = list(made.entailment(6, 4))
    runs = [
        made.write(
            tmp_path / f"{shots}{dtype}",
            "b@fresh",
            "m",
            items,
            model_options={"shots": shots, "dtype": dtype},
        )
        for shots in (0, 2)
        for dtype in ("float32", "int8")
    ]
    rows = named(figures(studies(runs)[0]))["by-shots"].rows
    assert {(row[0], row[3]) for row in rows} == {("m (dtype float32)", 1), ("m (dtype int8)", 1)}


def test_size_is_not_read_off_runs_on_other_items(made: ModuleType, tmp_path: Path) -> None:
    items = list(made.entailment(12, 4))
    runs = [
        made.write(tmp_path / name, "b@fresh", f"hf:{name}", items[:count])
        for name, count in (("a-1b", 48), ("a-3b", 48), ("a-7b", 20))
    ]
    found = named(figures(studies(runs)[0]))["accuracy-against-size"]
    assert [row[0] for row in found.rows] == ["hf:a-1b", "hf:a-3b"]
    assert "Runs on other items (1) are left out." in found.caption
    assert "accuracy-against-size" not in named(figures(studies([runs[0], runs[2]])[0]))


def test_captions_say_how_many_items_a_group_has(runs: Path) -> None:
    found = named(figures(study_of(runs, "good")))
    for name in ("pattern-accuracy", "data-map"):
        assert "(8 items each)" in found[name].caption


def test_pattern_accuracy_by_class_needs_enough_items(made: ModuleType, tmp_path: Path) -> None:
    few = made.write(tmp_path / "few", "spacenli@fresh", "m", made.entailment(48, 8))
    enough = made.write(tmp_path / "enough", "spacenli@fresh", "m", made.entailment(48, 12))
    assert "pattern_accuracy-0.9-by-class" not in named(figures(studies([few])[0]))
    assert "pattern_accuracy-0.9-by-class" in named(figures(studies([enough])[0]))


def test_pattern_accuracy_by_class_is_the_papers_where_patterns_have_enough_items(
    made: ModuleType, tmp_path: Path
) -> None:
    """SpaceNLI's Figure 5 has a threshold of 0.95; with fewer than 20 items the benchmark's own."""
    run = made.write(tmp_path / "r", "spacenli@fresh", "m", made.entailment(96, 20), skill=0.9)
    study = studies([run])[0]
    found = named(figures(study))["pattern_accuracy-0.95-by-class"]
    assert len(found.rows) == 4
    for _, category, value, *_ in found.rows:
        _, shares = group_shares(dict(study.entrants[0].table.by("class"))[category])
        assert value == pytest.approx(np.mean(shares >= 0.95 - 1e-9))


CATEGORIES = ("motion", "orientation", "distance")


def templates(each: int = 12, rounds: int = 1) -> list[Item]:
    """Nine templates of three categories, or several rounds of them; template k of a round is the
    k-th hardest for those who answer by skill."""
    found = []
    for i in range(9 * rounds * each):
        template = i % (9 * rounds)
        found.append(
            Item(
                id=str(i),
                form="entailment",
                context=f"Premise {template} #{i // (9 * rounds)}",
                text=f"Hypothesis {i}.",
                choices=("entailment", "neutral"),
                gold=("entailment",),
                group=f"template {template}",
                tags={"category": CATEGORIES[template % 3]},
            )
        )
    return found


def able(skill: int) -> Callable[[Item], Answer]:
    """Right on every item of the templates from the (9 - skill)-th on, and on half of the others'."""

    def say(item: Item) -> Answer:
        template = int(item.group.split()[1]) % 9
        right = template >= 9 - skill or int(item.context.rpartition("#")[2]) % 2 == 0
        return Answer(item=item.id, choice="entailment" if right else "neutral")

    return say


@pytest.fixture
def sized(made: ModuleType, tmp_path: Path) -> Study:
    """Answers of models of the spatialQA paper, by the names of its authors' files, and others."""
    return answers_of_sizes(made, tmp_path, templates())


def answers_of_sizes(made: ModuleType, tmp_path: Path, items: list[Item]) -> Study:
    skills = {
        "answers:somewhere/results-t5-small.tsv": 1,
        "answers:somewhere/results-t5-3b.tsv.gz": 6,
        "answers:results-ada.tsv": 3,
        "hf:roberta-large-mnli": 4,
        "answers:results-ynie-bart-large-snli_mnli_fever_anli_R1_R2_R3-nli.tsv": 9,
        "random": 0,
    }
    runs = []
    for i, (model, skill) in enumerate(skills.items()):
        folder = tmp_path / str(i)
        runs.append(made.write(folder, "spatialqa@published", model, items, say=able(skill)))
    return studies(runs)[0]


def test_answers_of_a_papers_models_are_drawn_against_the_sizes_that_it_lists(
    sized: Study,
) -> None:
    found = named(figures(sized))
    assert found["partial_credit-against-size"].columns == (
        "model",
        "family",
        "parameters",
        "partial_credit",
        "low",
        "high",
        "n",
    )
    assert [row[1:3] for row in found["partial_credit-against-size"].rows] == [
        ("T5", 60e6),
        ("RoBERTa", 355e6),
        ("GPT-3", 2.7e9),
        ("T5", 3e9),
    ]
    for label, _, _, value, *_ in found["partial_credit-against-size"].rows:
        entrant = next(e for e in sized.entrants if e.label == label)
        parts = [part for _, part in entrant.table.by("category")]
        means = [float(np.mean(group_shares(part)[1])) for part in parts]
        assert value == pytest.approx(np.mean(means))
    caption = found["partial_credit-against-size"].caption
    assert "Models of unknown size (1) are left out." in caption  # BART; a guess has no size


def test_size_is_drawn_with_and_without_partial_credit_and_by_category(
    made: ModuleType, tmp_path: Path
) -> None:
    sized = answers_of_sizes(made, tmp_path, templates(each=12, rounds=8))
    found = named(figures(sized))
    whole = found["without_partial_credit-against-size"]
    assert [row[3] for row in whole.rows] == pytest.approx([1 / 9, 4 / 9, 3 / 9, 6 / 9])
    by_category = found["without_partial_credit-against-size-by-category"]
    assert by_category.columns[3:] == ("category", "without_partial_credit", "n")
    smallest = {row[3]: row[4] for row in by_category.rows if row[2] == 60e6}
    assert smallest == pytest.approx({"motion": 0, "orientation": 0, "distance": 1 / 3})
    credit = found["partial_credit-against-size-by-category"]
    assert len(credit.rows) == len(by_category.rows) == 4 * 3
    for row in credit.rows:
        entrant = next(e for e in sized.entrants if e.label == row[0])
        part = dict(entrant.table.by("category"))[row[3]]
        assert row[4] == pytest.approx(float(np.mean(group_shares(part)[1])))
    drawn = by_category.svg()
    assert all(f">{category}</text>" in drawn for category in CATEGORIES)
    assert all(f">{family}</text>" in drawn for family in ("T5", "RoBERTa", "GPT-3"))


def test_small_groups_are_not_drawn_against_size(made: ModuleType, tmp_path: Path) -> None:
    runs = [
        made.write(tmp_path / name, "spatialqa@published", f"hf:{name}", templates(each=4))
        for name in ("t5-small", "t5-large")
    ]
    found = named(figures(studies(runs)[0]))
    assert "partial_credit-against-size" in found
    assert "without_partial_credit-against-size" not in found


def test_the_hardest_and_easiest_groups_are_those_of_the_largest_models(sized: Study) -> None:
    """Figures 9 and 10 of the spatialQA paper: the largest model of each family, averaged."""
    found = named(figures(sized))
    hardest, easiest = found["hardest-groups"], found["easiest-groups"]
    assert hardest.title == "The hardest templates over 3 models"
    assert sorted(hardest.rows) == sorted(easiest.rows)
    shares = [row[2] for row in easiest.rows]
    assert shares == sorted(shares, reverse=True)  # each file begins with what it is about
    means = {row[1]: row[2] for row in hardest.rows}
    # t5-3b is right on the templates from 3 on, roberta-large from 5, ada from 6
    assert means["template 0"] == pytest.approx(1 / 2)
    assert means["template 3"] == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert means["template 8"] == 1
    assert len(means) == 9
    assert list(means.values()) == sorted(means.values())
    assert hardest.rows[0][:2] == ("motion", "template 0")
    assert hardest.rows[0][-1] == "Premise 0 #0 → Hypothesis 0."
    names = [text.split(" %")[0] for text in hardest.description.removeprefix("Bars. ").split("; ")]
    assert names[0] == "template 0 50"
    assert "Premise 0 #0 → Hypothesis 0." in hardest.svg()


def test_one_model_has_no_hardest_groups_over_models(made: ModuleType, tmp_path: Path) -> None:
    run = made.write(tmp_path / "r", "spatialqa@published", "m", templates(), say=able(3))
    guess = made.write(tmp_path / "g", "spatialqa@published", "random", templates(), say=able(0))
    assert "hardest-groups" not in named(figures(studies([run, guess])[0]))


def test_figures_of_a_benchmark_that_is_not_installed_go_by_accuracy(
    made: ModuleType, tmp_path: Path
) -> None:
    runs = [
        made.write(
            tmp_path / name, "elsewhere@fresh", f"hf:{name}", templates(rounds=4), say=able(skill)
        )
        for name, skill in (("a-1b", 2), ("a-7b", 5))
    ]
    found = named(figures(studies(runs)[0]))
    assert found["accuracy-against-size"].columns[3] == "accuracy"
    assert [row[1:3] for row in found["accuracy-against-size"].rows] == [("a", 1e9), ("a", 7e9)]
    assert "accuracy-by-category" in found


def test_no_figure_knows_a_benchmark_or_a_measure_by_name() -> None:
    """What is drawn follows from fields of benchmarks and measures; texts for people are free."""
    files = sorted(Path(figures_room.__file__).parent.glob("*.py"))
    files += [Path(papers.__file__), Path(papertables.__file__)]
    names = {*registry.BENCHMARKS, *registry.MEASURES} - {"accuracy", "symmetry"}
    found = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and str(node.value).partition("@")[0] in names:
                found.append((file.name, node.lineno, node.value))
    assert found == []


def test_the_pattern_curve_is_the_share_of_patterns_at_each_threshold(runs: Path) -> None:
    study = study_of(runs, "middling")
    curve = named(figures(study))["pattern-accuracy"]
    _, share = group_shares(study.entrants[0].table)
    assert len(curve.rows) > 4
    for _, threshold, value in curve.rows:
        assert value == pytest.approx(np.mean(share >= threshold - 1e-9))
    values = [row[2] for row in curve.rows]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(("count", "drawn"), [(9, False), (10, True)])
def test_a_share_of_groups_is_drawn_from_ten_groups_on(
    made: ModuleType, tmp_path: Path, count: int, drawn: bool
) -> None:
    run = made.write(tmp_path / "r", "spacenli@fresh", "m", made.entailment(count, 8))
    assert ("pattern-accuracy" in named(figures(studies([run])[0]))) == drawn


def test_the_confusion_matrix_counts_every_item_once(runs: Path) -> None:
    confusion = named(figures(study_of(runs, "guess")))["confusion"]
    assert sum(row[3] for row in confusion.rows) == 24 * 8


def test_a_run_without_any_answer_breaks_no_figure(made: ModuleType, tmp_path: Path) -> None:
    run = made.write(
        tmp_path / "r", "spacenli@fresh", "m", made.entailment(12, 20), answered=0, finished=False
    )
    half = made.write(
        tmp_path / "half", "spacenli@fresh", "n", made.entailment(12, 20), answered=0.5
    )
    assert figures(studies([run])[0]) == []
    drawn = figures(studies([run, half])[0])
    assert {"accuracy-by-class", "confusion"} & {figure.name for figure in drawn}
    for figure in drawn:
        ElementTree.fromstring(figure.svg())


def test_every_figure_is_well_formed_and_says_what_it_shows(runs: Path) -> None:
    for name in ("good", "pairs", "colours"):
        drawn = figures(study_of(runs, name))
        assert len(drawn) > 2
        for figure in drawn:
            root = ElementTree.fromstring(figure.svg("x-"))
            texts = {node.tag.rpartition("}")[2]: node.text for node in root}
            assert texts["title"] == figure.title
            assert len(texts["desc"] or "") > 10
            assert all(len(row) == len(figure.columns) for row in figure.rows)
            assert figure.rows


def test_figures_are_written_as_svg_pdf_png_and_csv(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="resvg-py is not installed")
    study = study_of(runs, "good", "middling")
    drawn = figures(study)
    written = write_figures([study], [drawn], tmp_path / "figures")
    assert len(written) == (4 if system_faces() else 3) * len(drawn)
    for file in written:
        head = file.read_bytes()[:8]
        assert {
            ".svg": head.startswith(b"<svg"),
            ".pdf": head.startswith(b"%PDF-1.4"),
            ".png": head == b"\x89PNG\r\n\x1a\n",
            ".csv": True,
        }[file.suffix]
    table = list(
        csv.reader(
            (tmp_path / "figures" / "spacenli-fresh-pattern-accuracy.csv")
            .read_text(encoding="utf-8")
            .splitlines()
        )
    )
    assert table[0] == ["model", "threshold", "pattern_accuracy"]
    assert len(table) > 4
