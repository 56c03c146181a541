"""The command line of `gnomon people ask`: what it refuses, and what it tells the researcher."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra 'people' is not installed")

from gnomon.cli import main
from gnomon.people.order import LINK
from gnomon.people.page import app as serving
from gnomon.runs import Run, runs_in


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scales"], "Nobody is named"),
        (["scales", "--people", "ann,ann"], "same name"),
        (["scales", "--people", "../ann"], "pseudonym"),
        (["scales", "--people", "ann", "--task", "chose"], "task"),
        (["scales", "--people", "ann", "--task", "validate", "--limit", "4"], "no picture"),
        (["scales", "--people", "ann", "--host", "0.0.0.0"], "--allow-remote"),
        (["scales", "--people", "ann", "--limit", "0"], "--limit"),
        (["scales", "--people", "ann", "--set", "repeat=-1", "--limit", "4"], "repeat must"),
        (["scales", "--people", "ann", "--set", "ask_frame=yes"], "ask_frame"),
        (["scales", "--people", "ann", "--set", "address=lab"], "not an address"),
        (["scales", "--people", "ann", "--limit", "4", "--set", "completion_link=lab"], "https://"),
        (["scales", "--people", "ann", "--set", "address=https://"], "not an address"),
        (
            ["scales", "--people", "ann", "--set", "address=https://me:pw@lab"],
            "'https://***@lab' is",
        ),
        (["scales", "--people", "ann", "--set", "address=https://lab:port"], "not an address"),
        (["scales", "--people", "ann", "--set", "address=https://lab/study"], "below a path"),
        (["scales", "--people", "ann", "--limit", "4", "--set", "repeat=3"], "2 can come twice"),
        (["nothing.jsonl", "--people", "ann"], "nothing.jsonl"),
        (["scales", "--people", "ann", "--limit", "4", "--set", "catch=no.jsonl"], "no.jsonl"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    words: list[str], message: str, tmp_path: Path, capsys: Any
) -> None:
    assert main(["people", "ask", *words, "--runs", str(tmp_path / "runs")]) in (1, 2)
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("missing", ["jinja2", "starlette", "uvicorn"])
def test_an_extra_that_is_not_installed_is_named(
    missing: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert (
        main(["people", "ask", "scales", "--people", "ann", "--runs", str(tmp_path / "runs")]) == 1
    )
    assert "pip install 'gnomon[people]'" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The studies that would have been served; each is told an address and closed."""
    studies: list[Any] = []

    def serve(study: Any, where: Any, ready: Any) -> None:
        studies.append(study)
        ready("http://127.0.0.1:8766")
        study.close()

    monkeypatch.setattr(serving, "serve", serve)
    return studies


def give(*words: str) -> int:
    return main(["people", "ask", "scales", "--limit", "4", *words])


def test_links_are_printed_once(served: list[Any], tmp_path: Path, capsys: Any) -> None:
    words = ("--people", "ann,ben", "--runs", str(tmp_path))
    assert give(*words) == 0
    first = capsys.readouterr().out
    links = re.findall(r"^  (\w+)  http://127.0.0.1:8766/join\?token=(\S{32})$", first, re.M)
    assert [name for name, _ in links] == ["ann", "ben"]
    assert "4 items, about 1 min" in first
    assert give(*words) == 0
    again = capsys.readouterr().out
    assert again.count("known already") == 2
    assert not [token for _, token in links if token in again]
    assert give(*words, "--set", "new_links=yes") == 0
    renewed = capsys.readouterr().out
    assert len(re.findall(r"token=\S{32}", renewed)) == 2
    assert not [token for _, token in links if token in renewed]
    assert sorted(run.model for run in runs_in(tmp_path)) == ["people:ann", "people:ben"]


def test_a_panel_has_one_link(served: list[Any], tmp_path: Path, capsys: Any) -> None:
    assert give("--set", "panel=PROLIFIC_PID", "--runs", str(tmp_path)) == 0
    assert re.search(r"token=\S{32}&PROLIFIC_PID={{%PROLIFIC_PID%}}", capsys.readouterr().out)


def test_catch_items_come_from_a_file(served: list[Any], tmp_path: Path) -> None:
    file = tmp_path / "known.jsonl"
    assert main(["make", "scales", "-o", str(file), "--seed", "9"]) == 0
    lines = file.read_text(encoding="utf-8").splitlines()[:3]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    runs = str(tmp_path / "runs")
    assert (
        give("--people", "ann", "--set", f"catch={file}", "--set", "repeat=1", "--runs", runs) == 0
    )
    (study,) = served
    assert len(study.settings.catch) == 3
    (run,) = runs_in(runs)
    assert run.manifest.model_description["catch"] == 3
    assert Run.open(run.path).counts().items == 4


def test_a_run_cannot_ask_people_and_says_what_can(tmp_path: Path, capsys: Any) -> None:
    assert main(["run", "scales", "-m", "people:ann", "--runs", str(tmp_path)]) in (1, 2)
    assert "gnomon people ask" in capsys.readouterr().err


def test_a_set_for_people_has_options_to_list(capsys: Any) -> None:
    assert main(["list", "benchmarks", "vsr-pairs"]) == 0
    assert "vsr-pairs@scenes" in capsys.readouterr().out


def test_where_the_port_is_taken_no_link_is_made(tmp_path: Path, capsys: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert give("--people", "ann", "--port", port, "--runs", str(tmp_path)) == 2
    told = capsys.readouterr().err
    assert f"The page cannot listen at 127.0.0.1, port {port}" in told
    assert "viewer" not in told
    assert not list(tmp_path.rglob(LINK))


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_page_that_listens_everywhere_is_shown_by_the_name_of_the_machine(host: str) -> None:
    assert serving._host_name(host) == socket.gethostname()
    assert serving._host_name("::1") == "::1"
