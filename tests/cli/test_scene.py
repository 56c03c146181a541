"""`gnomon scene` draws from a file, a seed or a caption, and says what is true."""

import json

import pytest

from gnomon.cli import main


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def told(capsys, *arguments):
    code = main(["scene", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_caption_becomes_a_picture_and_its_facts(capsys, tmp_path):
    code, out, err = told(
        capsys,
        "--say",
        "a cup on a table",
        "-o",
        "cup.png",
        "-o",
        "cup.json",
        "--size",
        "64",
        "--facts",
    )
    assert (code, err) == (0, "")
    assert (tmp_path / "cup.png").read_bytes().startswith(b"\x89PNG")
    assert "The cup is on the table. [b] cup stands on the top of table" in out
    assert "The table is under the cup." in out


def test_a_scene_that_was_written_is_drawn_the_same_again(capsys, tmp_path):
    told(capsys, "--seed", "4", "-o", "a.png", "-o", "a.json", "--size", "64")
    assert told(capsys, "a.json", "-o", "b.png", "--size", "64")[0] == 0
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_things_counts_the_things(capsys, tmp_path):
    told(capsys, "--seed", "4", "--things", "2", "-o", "two.json")
    assert len(json.loads((tmp_path / "two.json").read_text())["things"]) == 2


def test_what_floats_is_said_and_drawn(capsys, tmp_path):
    scene = {
        "things": [{"id": "cup", "thing": "cup", "at": [0, 0, 1]}],
        "viewer": {"eye": [0, -1, 1.2], "at": [0, 0, 1]},
    }
    (tmp_path / "floating.json").write_text(json.dumps(scene))
    code, _, err = told(capsys, "floating.json", "-o", "floating.png", "--size", "64")
    assert code == 0
    assert "cup floats." in err
    assert (tmp_path / "floating.png").exists()


def test_a_world_is_asked_and_its_pictures_lie_beside_one_another(capsys, tmp_path):
    code, out, err = told(capsys, "--seed", "7", "--ask", "person", "-o", "who.png", "--size", "32")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 8
    assert all("own point of view" in line and " Answer: " in line for line in lines)
    files = sorted(file.name for file in tmp_path.glob("*.png"))
    assert files == ["who-1.png", "who-2.png", "who-3.png", "who-4.png"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--ask", "person"], "comes from a seed"),
        (["--seed", "1", "--ask", "smell"], "smell"),
        (["--seed", "1", "--ask", "stand", "-o", "x.svg"], "written as pictures"),
        (["-o", "x.png"], "one of FILE, --say and --seed"),
        (["a.json", "--say", "a cup", "-o", "x.png"], "one of FILE, --say and --seed"),
        (["a.json", "--seed", "1", "-o", "x.png"], "has no seed"),
        (["--say", "a cup", "--things", "3", "-o", "x.png"], "--things is for random scenes"),
        (["--seed", "1"], "nothing to do"),
        (["--seed", "1", "-o", "x.gif"], "ends in none of .png, .svg, .json"),
        (["--seed", "1", "-o", "x.png", "--size", "10000"], "cannot be made"),
        (["--seed", "1", "--things", "99", "-o", "x.png"], "99 things"),
        (["--say", "a unicorn", "-o", "x.png"], "unicorn"),
        (["missing.json", "-o", "x.png"], "no such file"),
    ],
)
def test_wrong_usage_is_one_sentence_and_a_hint(capsys, arguments, said):
    code, out, err = told(capsys, *arguments)
    assert code in (1, 2)
    assert out == ""
    assert said in err
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 2
