"""`gnomon run --judge-again`: old pictures, another judge, nothing painted."""

from gnomon.cli.dispatch import main
from gnomon.paint.painters.render import Renderer
from gnomon.runs import runs_in as runs_of

HOW = ["--set", "detector=true", "--set", "depth=true", "--set", "trial=0", "--set", "size=48"]


def runs_in(folder):
    return [run.path for run in runs_of(folder)]


def run(*arguments):
    return main([*arguments])


def painted(tmp_path):
    code = run(
        "run",
        "posrel",
        "--set",
        "form=scene",
        "-m",
        "synth:render",
        *HOW,
        "--limit",
        "8",
        "--runs",
        str(tmp_path / "runs"),
        "--quiet",
    )
    assert code == 0
    (found,) = runs_in(tmp_path / "runs")
    return found


def test_a_run_is_judged_again_beside_the_old_one(tmp_path, monkeypatch, capsys):
    old = painted(tmp_path)

    def none_painted(self, requests):
        raise AssertionError("something was painted")

    monkeypatch.setattr(Renderer, "paint", none_painted)
    assert run("run", "--judge-again", str(old), "--set", "rule=released", "--set", "trial=0") == 0
    (new,) = set(runs_in(tmp_path / "runs")) - {old}
    shown = capsys.readouterr().out
    assert "accuracy" in shown
    assert str(new) in shown
    pictures = sorted(file.name for file in (old / "pictures").glob("*.png"))
    assert len(pictures) == 8
    assert sorted(file.name for file in (new / "pictures").glob("*.png")) == pictures


def test_a_judge_without_a_change_is_refused(tmp_path, capsys):
    old = painted(tmp_path)
    assert run("run", "--judge-again", str(old)) == 2
    assert "--set rule=visor" in capsys.readouterr().err
    assert run("run", "--judge-again", str(old), "--set", "nonsense") == 2


def test_a_run_that_was_not_painted_is_refused(tmp_path, capsys):
    assert (
        run("run", "scales", "-m", "random", "--limit", "2", "--runs", str(tmp_path), "--quiet")
        == 0
    )
    (old,) = runs_in(tmp_path)
    assert run("run", "--judge-again", str(old), "--set", "rule=visor") != 0
    assert "random does not paint" in capsys.readouterr().err
