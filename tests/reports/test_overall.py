"""The overview as a picture, and scores over dates: in files, in the report, in the viewer, in notebooks."""

from __future__ import annotations

import csv
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

import gnomon
from gnomon.errors import UsageError
from gnomon.reports.charts.pdf import system_faces
from gnomon.reports.figures import figures
from gnomon.reports.study import studies
from gnomon.runs import Run

NIGHTS = 4


@pytest.fixture(scope="module")
def nightly(made: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model behind one name, four nights; the last two with other weights. And another model, once."""
    folder = tmp_path_factory.mktemp("nightly")
    items = list(made.entailment(patterns=24, each=8))
    for night in range(NIGHTS):
        skill = 0.9 if night < 2 else 0.2
        place = folder / f"night{night}"
        made.write(place, "spacenli@fresh", "openai:vlm", items, skill=skill, seed=night)
        start_at(place, datetime(2026, 11, 2, 3, tzinfo=UTC) + timedelta(days=night))
    made.write(folder / "once", "spacenli@fresh", "random", items, skill=0.2)
    return folder


def start_at(folder: Path, started: datetime) -> None:
    manifest = folder / "run.json"
    fields = msgspec.json.decode(manifest.read_bytes())
    fields["started"] = started.isoformat()
    manifest.write_bytes(msgspec.json.encode(fields))


def over_dates(*folders: Path) -> list[gnomon.reports.figures.Figure]:
    study = studies([Run.open(folder) for folder in folders])[0]
    return [figure for figure in figures(study) if figure.name == "over-dates"]


def test_the_overview_has_a_point_an_interval_and_chance_for_each_figure(runs: Path) -> None:
    overview = gnomon.overview(runs)
    figure = overview.plot()
    assert len(figure.rows) == len(overview.cells) == 5
    drawing = figure.svg()
    # a point in the legend for each model, and one for each figure
    assert len(re.findall(r'class="f\d mark"', drawing)) == len(overview.models) + 5
    assert len(re.findall(r'class="l\d"', drawing)) == 5
    with_chance = [column for column in overview.columns if column.chance is not None]
    assert drawing.count('class="chance"') == len(with_chance) > 0


def test_long_names_of_benchmarks_stand_on_two_lines(runs: Path) -> None:
    drawing = gnomon.overview(runs).plot().svg()
    assert "Inference from</text>" in drawing
    assert "sentences about space</text>" in drawing


@pytest.mark.parametrize("kind", ["svg", "png", "pdf", "csv"])
def test_a_figure_is_saved_as_its_name_says(runs: Path, tmp_path: Path, kind: str) -> None:
    pytest.importorskip("resvg_py")
    if kind == "pdf" and system_faces() is None:
        pytest.skip("there is no TrueType font")
    written = gnomon.overview(runs).plot().save(tmp_path / f"overview.{kind}").read_bytes()
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b"model,"}
    assert written.startswith(starts[kind])


def test_another_kind_of_file_is_refused_with_those_there_are(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be saved as '\.gif'") as refused:
        gnomon.overview(runs).plot().save(tmp_path / "overview.gif")
    assert ".svg, .pdf, .png, .csv" in str(refused.value.hint)


def test_a_notebook_shows_a_figure_in_the_colours_of_paper(runs: Path) -> None:
    shown = gnomon.overview(runs).plot()._repr_svg_()
    assert shown.startswith("<svg")
    assert "var(--" not in shown


def test_report_writes_the_overview_beside_the_other_figures(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    page = gnomon.report(runs, tmp_path / "report.html", figures=tmp_path / "figures")
    with (tmp_path / "figures" / "overview.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert {row["benchmark"] for row in rows} == {"spacenli@fresh", "scales@fresh", "viphy@fresh"}
    strips = re.findall(r'<svg class="strip chart".*?</svg>', page.read_text("utf-8"))
    drawn = [len(re.findall(r'class="range l\d"', strip)) for strip in strips]
    assert sorted(drawn) == [1, 1, 3]  # an interval for each model that was asked
    assert any('class="chance"' in strip for strip in strips)


def test_one_model_at_several_dates_is_a_line_from_the_oldest_run_on(nightly: Path) -> None:
    nights = [nightly / f"night{night}" for night in range(NIGHTS)]
    (figure,) = over_dates(nights[2], nights[0], nightly / "once", nights[3], nights[1])
    started = [row[1] for row in figure.rows]
    assert started == sorted(started)
    assert len(started) == NIGHTS
    assert {row[0] for row in figure.rows} == {"openai:vlm"}
    assert figure.rows[0][2] > figure.rows[-1][2]
    assert "2 Nov</text>" in figure.svg()
    assert "5 Nov</text>" in figure.svg()


def test_runs_on_other_items_or_at_one_time_make_no_line(
    nightly: Path, made: ModuleType, tmp_path: Path
) -> None:
    assert over_dates(nightly / "night0", nightly / "once") == []
    others = made.entailment(patterns=24, each=9)
    made.write(tmp_path / "other", "spacenli@fresh", "openai:vlm", others, skill=0.8)
    assert over_dates(nightly / "night0", tmp_path / "other") == []


def test_hours_stand_below_a_line_of_one_day(nightly: Path, tmp_path: Path) -> None:
    import shutil

    folders = []
    for hour in (3, 9):
        folder = tmp_path / f"at{hour}"
        shutil.copytree(nightly / f"night{hour // 9}", folder)
        start_at(folder, datetime(2026, 11, 2, hour, tzinfo=UTC))
        folders.append(folder)
    (figure,) = over_dates(*folders)
    assert "3:00</text>" in figure.svg()
    assert "9:00</text>" in figure.svg()


def test_the_viewer_shows_both(nightly: Path) -> None:
    testclient = pytest.importorskip("starlette.testclient")
    from gnomon.reports.viewer.app import make_app

    client = testclient.TestClient(make_app(nightly), base_url="http://localhost:8321")
    assert "Models by benchmarks" in client.get("/").text
    page = client.get("/benchmark?name=spacenli@fresh").text
    assert "over dates" in page
    assert "openai:vlm" in page
