from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import IO

import pytest

import gnomon
from gnomon import registry
from gnomon.cli import main
from gnomon.errors import inert
from gnomon.reports.figures import files as export

# `gnomon`, but a viewer says that it would serve, and does not.
STAND_IN = """#!{python}
import sys
import gnomon.reports.viewer.serving as serving

def serve(folder, *, host, port, allow_remote, token, read_only, ready):
    import os
    serving.checked(host, allow_remote=allow_remote, token=token or os.environ.get(serving.TOKEN, ""))
    ready(f"http://{{host}}:{{port}}/")

serving.serve = serve
from gnomon.cli import main
sys.exit(main())
"""


def test_report_takes_runs_or_a_folder_of_runs(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(runs / "good"), str(runs), "-o", "out/all.html"]) == 0
    assert "out/all.html: 0." in capsys.readouterr().out
    assert (tmp_path / "out" / "all.html").is_file()


def test_report_writes_figures_where_asked(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("resvg_py", reason="resvg-py is not installed")
    assert main(["report", str(runs / "pairs"), "--figures", "figures"]) == 0
    assert "figures: " in capsys.readouterr().out
    stems = {file.stem for file in (tmp_path / "figures").iterdir()}
    assert len(stems) > 1
    assert all(
        (tmp_path / "figures" / f"{stem}.{kind}").is_file()
        for stem in stems
        for kind in ("svg", "png", "csv")
    )
    assert "scales-fresh-confusion" in stems


@pytest.mark.parametrize("arguments", [["nowhere"], ["."]])
def test_report_says_what_is_no_run(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", *arguments]) == 1
    error = capsys.readouterr().err
    assert "gnomon runs list" in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    "arguments", [["-o", "."], ["-o", "a-file/report.html"], ["--figures", "a-file"]]
)
def test_report_says_in_a_sentence_where_it_cannot_write(
    runs: Path, tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a-file").write_text("", encoding="utf-8")
    assert main(["report", str(runs / "pairs"), *arguments]) in (1, 2)
    error = capsys.readouterr().err
    assert "folder" in error
    assert "--debug" not in error
    assert not list(tmp_path.glob("**/*.part"))


def test_report_leaves_the_old_page_if_the_new_one_cannot_be_made(
    runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "report.html").write_text("old", encoding="utf-8")
    assert main(["report", str(runs / "nowhere")]) == 1
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "old"


def test_a_figure_that_cannot_be_finished_leaves_the_old_one_whole(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("resvg_py", reason="resvg-py is not installed")
    arguments = ["report", str(runs / "pairs"), "--figures", "figures"]
    assert main(arguments) == 0
    before = {file: file.read_bytes() for file in (tmp_path / "figures").iterdir()}
    assert len(before) > 3

    def full(stream: IO[str], columns: object, rows: object) -> int:
        stream.write("half of ")
        stream.flush()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export, "write_csv", full)
    assert main(arguments) == 1
    assert {file: file.read_bytes() for file in (tmp_path / "figures").iterdir()} == before


def test_a_hostile_name_does_not_act_on_the_terminal(
    made: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "m\x1b]0;title\x07\u202e"
    items = made.entailment(4, 5)
    run = made.write(tmp_path / "runs" / "r", "spacenli@fresh", name, items)
    other = made.write(tmp_path / "runs" / "s", "spacenli@fresh", "n", made.entailment(4, 5))
    for arguments in (
        ["score", str(run.path), str(other.path)],
        ["score", str(run.path), "--by", "class", "--format", "csv"],
        ["runs", "list"],
        ["compare", str(run.path), str(other.path)],
    ):
        assert main(arguments) == 0, arguments
        printed = capsys.readouterr().out
        assert "m\\x1b]0;title" in printed
        assert not [character for character in printed if inert(character) != character]


@pytest.mark.parametrize(
    ("command", "printed"), [("report", "report.html: "), ("view", "Viewing at http://127.0.0.1")]
)
def test_the_examples_in_the_help_work(command: str, printed: str, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="the extra 'report' is not installed")
    for folder in ("runs", "results"):
        gnomon.run("scales", "random", limit=20, runs=tmp_path / folder)
    shim = tmp_path / "bin" / "gnomon"
    shim.parent.mkdir()
    shim.write_text(STAND_IN.format(python=sys.executable), encoding="utf-8")
    shim.chmod(0o755)
    examples = (registry.command(command).__doc__ or "").partition("examples:\n")[2]
    assert examples.count("gnomon ") >= 3
    environment = {
        **os.environ,
        "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(gnomon.__file__).parent.parent),
    }
    done = subprocess.run(
        ["bash", "-e", "-c", examples],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout
