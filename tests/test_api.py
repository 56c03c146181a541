"""The Python API takes what the command line takes, and says what is wrong in a sentence."""

import subprocess
import sys

import numpy as np
import pytest

import gnomon
from gnomon.errors import GnomonError, UsageError


@pytest.fixture
def runs(tmp_path):
    source = gnomon.load("scales")
    return [gnomon.run(source, model, limit=200) for model in ("random", "majority")]


ORDERS = {
    "twice": "gnomon.report(run, 'a.html'); gnomon.report(run, 'b.html')",
    "after one of its modules was imported": "from gnomon.tabular import render; gnomon.report(run, 'a.html')",
    "before its modules": "gnomon.report(run, 'a.html'); import gnomon.reports.page.page; gnomon.reports.page.page.write_report",
    "after a failure": """
try:
    gnomon.report([], 'a.html')
except gnomon.GnomonError:
    gnomon.report(run, 'a.html')
""",
    "by name": "from gnomon import report; import gnomon.tabular; report(run, 'a.html')",
}


@pytest.mark.parametrize("code", ORDERS.values(), ids=ORDERS)
def test_report_can_be_called_in_any_order(code):
    script = f"import gnomon\nrun = gnomon.run('scales', 'random', limit=20)\n{code}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_report_takes_a_run_a_path_a_folder_or_several(runs, tmp_path):
    for given in (runs[0], runs[0].path, "runs", runs, [str(runs[0].path), runs[1]]):
        page = gnomon.report(given, tmp_path / "page.html", figures=tmp_path / "figures")
        assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list((tmp_path / "figures").glob("*.svg"))


def test_score_takes_seeds_together():
    for seed in (0, 1):
        for model in ("random", "majority"):
            gnomon.run(gnomon.load("scales", seed=seed), model, limit=100)
    found = gnomon.score("runs", over_seeds=True, by="scale", measures="accuracy")
    assert [(score.model, score.key) for score in found] == [
        ("random", ""),
        ("majority", ""),
        ("random", "height"),
        ("random", "size"),
        ("majority", "height"),
        ("majority", "size"),
    ]
    assert [score.n for score in found[:2]] == [200, 200]
    assert found[2].n + found[3].n == 200


def test_runs_without_a_tag_are_not_sliced_by_it():
    for name in ("scales", "posrel"):
        gnomon.run(name, "random", limit=20)
    found = gnomon.score("runs", by="scale", measures="accuracy")
    assert [(score.benchmark, score.by) for score in found] == [
        ("scales@fresh", ""),
        ("scales@fresh", "scale"),
        ("scales@fresh", "scale"),
        ("posrel@fresh", ""),
    ]
    with pytest.raises(UsageError, match="have no tag 'nonsense'"):
        gnomon.score("runs", by="nonsense")


@pytest.mark.parametrize(
    "options", [{"draws": 1}, {"draws": -3}, {"minimum": 0}, {"over_seeds": True, "draws": 9}]
)
def test_values_that_would_have_no_effect_are_refused(options, runs):
    with pytest.raises(UsageError):
        gnomon.score(*runs, **options)


def test_slices_come_after_the_total(runs):
    keys = [score.key for score in gnomon.score(runs[0], by="scale", measures="accuracy")]
    assert keys == ["", "height", "size"]


def test_compare_takes_a_folder(runs):
    (pair,) = gnomon.compare("runs", measure="accuracy", level=0.9, draws=100)
    assert {pair.first, pair.second} == {"random", "majority"}


@pytest.mark.parametrize("ask", [gnomon.score, gnomon.compare])
def test_a_level_that_is_none_is_refused(ask, runs):
    with pytest.raises(UsageError, match="between 0 and 1, not 95"):
        ask(*runs, level=95)


@pytest.mark.parametrize("limit", [True, 0, -1, 2.5, "many"])
def test_a_limit_that_is_none_is_refused_before_anything_is_written(limit, tmp_path):
    with pytest.raises(UsageError, match="must be 1 or more"):
        gnomon.run("scales", "random", limit=limit)
    assert not (tmp_path / "runs").exists()


def test_whole_numbers_of_numpy_are_whole_numbers():
    three = np.int64(3)
    numbers = gnomon.run(
        gnomon.load("scales", seed=three), gnomon.model("random", model_seed=three), limit=three
    )
    assert (
        numbers.path
        == gnomon.run(
            gnomon.load("scales", seed=3), gnomon.model("random", model_seed=3), limit=3
        ).path
    )


def test_runs_and_sources_say_what_they_are(runs):
    assert repr(runs[0]) == f"<Run of random on scales@fresh: 200 of 200 asked, in {runs[0].path}>"
    assert repr(gnomon.load("scales", form="cloze").limited(5)) == (
        "<scales@fresh, seed=0, scale='', form='cloze', pairs=240, bands='', limit=5>"
    )


# What commands do, in Python


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("door")
    source = gnomon.load("scales", seed=1)
    return [gnomon.run(source, name, limit=60, runs=folder) for name in ("majority", "random")]


@pytest.mark.parametrize(
    ("form", "holds"),
    [
        ("latex", "\\begin{tabular}"),
        ("markdown", "| majority |"),
        ("csv", "majority,"),
        ("html", "<table"),
    ],
)
def test_a_table_is_what_the_command_prints(two_runs, form, holds):
    assert holds in gnomon.table(two_runs, format=form)


def test_a_table_by_a_tag_has_a_column_for_each_value(two_runs):
    head = gnomon.table(two_runs, format="markdown", by="scale").splitlines()[0]
    assert head == "| Model | taller or shorter | larger or smaller | all |"


@pytest.mark.parametrize("given", [{"format": "word"}, {"marks": "smileys"}, {"by": "nothing"}])
def test_what_a_table_cannot_be_is_said(two_runs, given):
    with pytest.raises(GnomonError):
        gnomon.table(two_runs, **given)


def test_cite_takes_benchmarks_runs_and_folders(two_runs):
    folder = two_runs[0].path.parent
    entry = gnomon.cite(two_runs[0])
    assert entry == gnomon.cite(folder) == gnomon.cite(str(folder))
    assert "Things not Written in Text" in entry
    assert gnomon.cite("vsr", format="text") != gnomon.cite("vsr")
    with pytest.raises(GnomonError, match="nosuch"):
        gnomon.cite("nosuch")


def test_power_says_whether_the_items_are_enough():
    few, many = gnomon.power("scales", limit=40), gnomon.power("scales", difference=0.2)
    assert not few.is_enough
    assert many.is_enough
    assert few.plan.detectable > many.plan.detectable


def test_an_audit_of_a_file_takes_a_map_with_lists(tmp_path):
    file = tmp_path / "mine.csv"
    rows = [f"{n},Is {n} more than ten?,yes,no,yes" for n in range(40)]
    file.write_text("\n".join(["number,ask,A,B,key", *rows]), encoding="utf-8")
    mapped = {"text": "ask", "choices": ["A", "B"], "gold": "key"}
    report = gnomon.audit.audit(file, map=mapped, checks=["constants"])
    assert [finding.check for finding in report.alarms] == ["constants"]
    assert "40 items" in str(report)
    assert "<table" in report._repr_html_()
    assert (
        gnomon.audit.audit(file, map=mapped, checks=["constants"], allow=["constants"]).alarms == []
    )


def test_figures_begin_with_the_overview(two_runs):
    found = gnomon.figures(two_runs)
    assert found[0].name == "overview"
    assert all(figure._repr_svg_().startswith("<svg") for figure in found)
    names = [figure.name for figure in found]
    assert len(set(names)) == len(names) > 1
    assert all(name.startswith("scales-fresh-") for name in names[1:])


def test_preview_of_a_model_without_a_prompt_says_so():
    with pytest.raises(GnomonError, match="reads no prompt"):
        gnomon.preview("scales", "random")
