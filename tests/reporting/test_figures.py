from __future__ import annotations

import csv
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gnomon.reporting.figures import Figure, figures
from gnomon.reporting.figures.groups import group_shares
from gnomon.reporting.study import Study, studies
from gnomon.reporting.tables.export import write_figures
from gnomon.runs import Run


def study_of(runs: Path, *names: str) -> Study:
    return studies([Run.open(runs / name) for name in names])[0]


def named(found: list[Figure]) -> dict[str, Figure]:
    by_name = {figure.name: figure for figure in found}
    assert len(by_name) == len(found), "names of figures must differ: they name files"
    return by_name


def test_entailment_runs_get_the_figures_of_the_papers(runs: Path) -> None:
    found = named(figures(study_of(runs, "good", "middling", "guess")))
    assert {"pattern-accuracy", "data-map", "reliability", "confusion", "size"} <= set(found)
    assert any(name.endswith("-by-class") for name in found)
    assert any(name.startswith("boxes-by-") for name in found)


def test_pairs_get_symmetry_bars_and_form_agreement(runs: Path) -> None:
    found = named(figures(study_of(runs, "pairs")))
    assert "objects-size-cloze" in found
    assert "forms" in found
    assert {row[2] for row in found["objects-size-cloze"].rows} == {
        "ant",
        "coin",
        "cup",
        "cat",
        "chair",
        "horse",
        "car",
        "house",
    }


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
    found = named(figures(studies(runs)[0]))["size"]
    assert [row[0] for row in found.rows] == ["hf:a-1b", "hf:a-3b"]
    assert "Runs on other items (1) are left out." in found.caption
    assert "size" not in named(figures(studies([runs[0], runs[2]])[0]))


def test_captions_say_how_many_items_a_group_has(runs: Path) -> None:
    found = named(figures(study_of(runs, "good")))
    for name in ("pattern-accuracy", "data-map"):
        assert "(8 items each)" in found[name].caption


def test_pattern_accuracy_by_class_needs_enough_items(made: ModuleType, tmp_path: Path) -> None:
    few = made.write(tmp_path / "few", "spacenli@fresh", "m", made.entailment(24, 8))
    enough = made.write(tmp_path / "enough", "spacenli@fresh", "m", made.entailment(24, 12))
    assert "pattern_accuracy-0.9-by-class" not in named(figures(studies([few])[0]))
    assert "pattern_accuracy-0.9-by-class" in named(figures(studies([enough])[0]))


def test_the_pattern_curve_is_the_share_of_patterns_at_each_threshold(runs: Path) -> None:
    study = study_of(runs, "middling")
    curve = named(figures(study))["pattern-accuracy"]
    _, share = group_shares(study.entrants[0].table)
    for _, threshold, value in curve.rows:
        assert value == pytest.approx(np.mean(share >= threshold - 1e-9))
    values = [row[2] for row in curve.rows]
    assert values == sorted(values, reverse=True)


def test_the_confusion_matrix_counts_every_item_once(runs: Path) -> None:
    confusion = named(figures(study_of(runs, "guess")))["confusion"]
    assert sum(row[3] for row in confusion.rows) == 24 * 8


def test_a_run_without_any_answer_breaks_no_figure(made: ModuleType, tmp_path: Path) -> None:
    run = made.write(
        tmp_path / "r", "spacenli@fresh", "m", made.entailment(4, 5), answered=0, finished=False
    )
    for figure in figures(studies([run])[0]):
        ElementTree.fromstring(figure.svg())


def test_every_figure_is_well_formed_and_says_what_it_shows(runs: Path) -> None:
    for name in ("good", "pairs", "colours"):
        for figure in figures(study_of(runs, name)):
            root = ElementTree.fromstring(figure.svg("x-"))
            texts = {node.tag.rpartition("}")[2]: node.text for node in root}
            assert texts["title"] == figure.title
            assert len(texts["desc"] or "") > 10
            assert all(len(row) == len(figure.columns) for row in figure.rows)
            assert figure.rows


def test_figures_are_written_as_svg_png_and_csv(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="resvg-py is not installed")
    study = study_of(runs, "good", "middling")
    drawn = figures(study)
    written = write_figures([study], [drawn], tmp_path / "figures")
    assert len(written) == 3 * len(drawn)
    for file in written:
        head = file.read_bytes()[:8]
        assert {
            ".svg": head.startswith(b"<svg"),
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
