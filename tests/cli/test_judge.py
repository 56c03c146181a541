"""`gnomon run --judge-again`: old pictures, another judge, nothing painted."""

import json

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


def own_items(tmp_path, count=4):
    """A painted run of items of one's own."""
    lines = []
    for number in range(count):
        first, second = ("ant", "bird") if number % 2 else ("cup", "house")
        item = {"id": f"own {number}", "form": "scene", "text": f"A {first} and a {second}."}
        item |= {"choices": ["larger", "smaller"], "gold": ["smaller"]}
        lines.append(json.dumps({**item, "tags": {"thing_a": first, "thing_b": second}}))
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(lines) + "\n")
    runs = tmp_path / "own"
    assert run("run", str(file), "-m", "synth:render", *HOW, "--runs", str(runs), "--quiet") == 0
    (found,) = runs_in(runs)
    return found


def test_items_of_ones_own_are_judged_again(tmp_path):
    old = own_items(tmp_path)
    changes = ("--set", "depth=none", "--set", "trial=0", "--quiet")
    assert run("run", "--judge-again", str(old), *changes) == 0
    assert len(runs_in(tmp_path / "own")) == 2


def test_pictures_that_nobody_has_looked_at_are_not_judged(tmp_path, capsys):
    old = own_items(tmp_path)
    table = tmp_path / "looked.csv"
    table.write_text("item,picture,choice\nown 0,0,smaller\nown 2,0,\n")
    how = ("--set", f"judge=people:{table}", "--set", "trial=0", "--quiet")
    assert run("run", "--judge-again", str(old), *how) == 0
    assert "2 of 4 items are left out: nobody has looked" in capsys.readouterr().err
    (new,) = [each for each in runs_of(tmp_path / "own") if each.path != old]
    answers = {item.id: answer.choice for item, answer in new.answers()}
    assert answers == {"own 0": "smaller", "own 2": None}
    assert new.manifest.counts.items == 2
