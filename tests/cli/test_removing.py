"""`gnomon runs rm` and `gnomon runs recover`, as people use them."""

import io
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.runs import LOG, RunLog


@pytest.fixture
def runs():
    """Two runs, in the folder runs."""
    return [gnomon.run("scales", model, limit=20).path for model in ("random", "majority")]


class Terminal(io.StringIO):
    """Standard input with a person behind it."""

    def isatty(self):
        return True


def test_runs_are_listed_and_removed_once_agreed(runs, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    assert main(["runs", "rm", *map(str, runs)]) == 0
    out = capsys.readouterr().out
    assert "random on scales@fresh: 20 of 20 items asked" in out
    assert out.endswith("Removed 2 runs.\n")
    assert not any(run.exists() for run in runs)


@pytest.mark.parametrize("reply", ["\n", "n\n", "what?\n"])
def test_anything_but_yes_removes_nothing(runs, capsys, monkeypatch, reply):
    monkeypatch.setattr("sys.stdin", Terminal(reply))
    assert main(["runs", "rm", str(runs[0])]) == 1
    assert "Nothing was removed." in capsys.readouterr().out
    assert runs[0].exists()


def test_nobody_to_ask_needs_yes(runs, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["runs", "rm", str(runs[0])]) == 2
    assert "Give --yes" in capsys.readouterr().err
    assert runs[0].exists()
    assert main(["runs", "rm", str(runs[0]), "--yes"]) == 0
    assert not runs[0].exists()


@pytest.mark.parametrize("other", ["runs", "thesis", "nowhere"])
def test_a_folder_that_is_no_run_is_never_removed_nor_are_runs_beside_it(runs, capsys, other):
    Path("thesis").mkdir()
    Path("thesis/chapter.txt").write_text("precious")
    assert main(["runs", "rm", str(runs[0]), other, "--yes"]) == 1
    assert f"{other} is not a run" in capsys.readouterr().err
    assert runs[0].exists()
    assert Path("thesis/chapter.txt").exists()


def test_a_folder_with_another_programs_run_json_is_not_removed(capsys):
    Path("other").mkdir()
    Path("other/run.json").write_text('{"tool": "something else"}')
    assert main(["runs", "rm", "other", "--yes"]) == 1
    assert "does not look like a run" in capsys.readouterr().err
    assert Path("other/run.json").exists()


def test_a_run_in_use_is_not_removed(runs, capsys):
    with RunLog(runs[0]):
        assert main(["runs", "rm", *map(str, runs), "--yes"]) == 1
    assert "Another process is at work" in capsys.readouterr().err
    assert all(run.exists() for run in runs)


def test_a_damaged_run_can_be_removed(runs, capsys):
    (runs[0] / "run.json").write_text("{")
    assert main(["runs", "rm", str(runs[0]), "--yes"]) == 0
    assert "(damaged)" in capsys.readouterr().out
    assert not runs[0].exists()


def test_recover_says_how_much_of_how_much_it_saved(runs, capsys):
    with closing(sqlite3.connect(runs[0] / LOG)) as db:
        db.execute("UPDATE answers SET scores = '{' WHERE n = 3")
        db.commit()
    assert main(["score", str(runs[0])]) == 1
    assert f"gnomon runs recover {runs[0]}" in capsys.readouterr().err
    assert main(["runs", "recover", str(runs[0]), "-o", "saved/run"]) == 0
    assert capsys.readouterr().out == "Saved 20 of 20 items and 19 of 20 answers in saved/run.\n"
    assert main(["score", "saved/run"]) == 0


def test_recover_fails_where_items_are_lost_but_keeps_the_rest(runs, capsys):
    with closing(sqlite3.connect(runs[0] / LOG)) as db:
        db.execute("UPDATE items SET record = '{' WHERE n = 3")
        db.commit()
    assert main(["runs", "recover", str(runs[0]), "-o", "saved"]) == 1
    out = capsys.readouterr().out
    assert "Saved 19 of 20 items" in out
    assert "but not continued" in out
    assert main(["score", "saved"]) == 0


def test_a_link_to_a_run_is_not_followed(runs, capsys):
    Path("link").symlink_to(runs[0])
    assert main(["runs", "rm", "link", "--yes"]) == 1
    assert "link is a link to" in capsys.readouterr().err
    assert runs[0].exists()


def test_a_folder_that_holds_anything_beside_the_run_is_not_removed(runs, capsys):
    (runs[0] / "notes.txt").write_text("precious")
    assert main(["runs", "rm", str(runs[0]), "--yes"]) == 1
    assert "what is not of the run: notes.txt" in capsys.readouterr().err
    assert (runs[0] / "notes.txt").read_text() == "precious"


def test_pictures_that_answers_name_go_with_their_run_but_not_what_links_lead_to(runs):
    Path("album").mkdir()
    Path("album/photo").write_text("precious")
    (runs[0] / "pictures").mkdir()
    (runs[0] / "pictures/0.png").symlink_to(Path("album/photo").absolute())
    (runs[0] / "more").symlink_to(Path("album").absolute())
    with closing(sqlite3.connect(runs[0] / LOG)) as db:
        db.execute("""UPDATE answers SET files = '["pictures/0.png", "more/1.png"]' WHERE n = 0""")
        db.commit()
    assert main(["runs", "rm", str(runs[0]), "--yes"]) == 0
    assert not runs[0].exists()
    assert Path("album/photo").read_text() == "precious"


def test_a_run_can_be_removed_from_inside(runs, monkeypatch):
    folder = runs[0].absolute()
    monkeypatch.chdir(folder)
    assert main(["runs", "rm", ".", "--yes"]) == 0
    assert not folder.exists()
