from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.cli import main


def test_report_takes_runs_or_a_folder_of_runs(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(runs / "good"), str(runs), "-o", "out/all.html"]) == 0
    assert "out/all.html: 0." in capsys.readouterr().out
    assert (tmp_path / "out" / "all.html").is_file()


def test_report_writes_figures_where_asked(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("resvg_py", reason="resvg-py is not installed")
    assert main(["report", str(runs / "pairs"), "--figures", "figures"]) == 0
    assert "figures: " in capsys.readouterr().out
    stems = {file.stem for file in (tmp_path / "figures").iterdir()}
    assert all((tmp_path / "figures" / f"{stem}.{kind}").is_file() for stem in stems for kind in ("svg", "png", "csv"))
    assert "scales-fresh-confusion" in stems


@pytest.mark.parametrize("arguments", [["nowhere"], ["."]])
def test_report_says_what_is_no_run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", *arguments]) == 1
    error = capsys.readouterr().err
    assert "gnomon list runs" in error
    assert "Traceback" not in error
