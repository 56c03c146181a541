"""What models painted stands in the report, with what the judge saw; and beside what others say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="the extra 'report' is not installed")

from gnomon.api import run
from gnomon.cli import main
from gnomon.registry import model
from gnomon.reports.page.examples import same_facts
from gnomon.reports.pictures import Album, walls
from gnomon.reports.study import studies
from gnomon.runs import Run, open_runs


@pytest.fixture(scope="module")
def painted(tmp_path_factory) -> Path:
    """A small run of the renderer, one of whose pictures was changed since, and one that guesses."""
    folder = tmp_path_factory.mktemp("runs")
    options = ["--set", "detector=true", "--set", "depth=true", "--set", "trial=4"]
    scenes = ["run", "posrel", "--set", "form=scene", "--limit", "12", "--runs", str(folder)]
    assert main([*scenes, "-m", "synth:render", *options]) == 0
    assert main(["run", "posrel", "-m", "random", "--runs", str(folder)]) == 0
    return folder


def study_of(folder: Path):
    (found,) = studies(open_runs([folder]))
    return found


def test_pictures_stand_with_their_prompt_the_boxes_and_the_verdict(painted):
    study = study_of(painted)
    (wall,) = walls(study, study.entrants, Album())
    assert wall.sort == "Painted as asked"
    assert wall.total == 12
    first = wall.shown[0]
    assert first.right
    (painting,) = first.paintings
    assert painting.source.startswith("data:image/jpeg;base64,")
    assert len(painting.marks) == 2
    assert [mark.second for mark in painting.marks] == [False, True]
    for mark in painting.marks:
        assert 0 <= mark.x < mark.x + mark.width <= painting.width + 0.01
    assert painting.said == first.said == first.gold


def test_the_page_shows_them_and_says_what_the_judge_is_worth(painted, tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["report", str(painted), "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.count('<figure class="painting">') == 6
    assert "Said, painted and seen" in text
    assert not re.search(r'<svg[^>]* style="', text)  # which the page's policy forbids
    assert main(["score", str(painted)]) == 0
    told = capsys.readouterr()
    assert "the judge was tried on 8 drawn scenes: it decided 100 %" in told.err
    assert "corrected_accuracy" in told.out


def test_a_picture_that_was_changed_is_not_shown(painted, tmp_path):
    import shutil

    copy = tmp_path / "runs"
    shutil.copytree(painted, copy)
    for file in copy.glob("*/pictures/*.png"):
        file.write_bytes(b"another")
    study = study_of(copy)
    assert [item.paintings for item in walls(study, study.entrants, Album())[0].shown] == [()] * 6


def test_a_strangers_answer_cannot_name_a_file_elsewhere(painted, tmp_path, monkeypatch):
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"x")
    study = study_of(painted)
    row = Run.row

    def forged(self, item):
        found, answer = row(self, item)
        seen = json.dumps([{"picture": f"../../{secret}", "sha256": "0" * 64, "choice": 99}, 7])
        from msgspec.structs import replace

        return found, replace(answer, reply=seen)

    monkeypatch.setattr(Run, "row", forged)
    shown = walls(study, study.entrants, Album())[0].shown
    assert all(item.paintings == () for item in shown)


def test_the_same_facts_in_two_forms_are_compared(painted):
    (row,) = same_facts(study_of(painted))
    assert row.facts == 12
    assert "painted (scene)" in row.first + row.second
    assert "said (cloze)" in row.first + row.second
    assert row.neither == "0\N{NO-BREAK SPACE}%"


def test_one_form_alone_is_not_compared(tmp_path):
    run("posrel", model("random"), runs=tmp_path)
    assert same_facts(study_of(tmp_path)) == []
