"""`--shard` of run and make, and `gnomon runs merge`, as people use them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gnomon.cli.dispatch import main
from gnomon.runs import Run

SMALL = ("--set", "pairs=20")
RUN = ("run", "scales", "-m", "random", *SMALL, "--quiet")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["gnomon", *RUN])


@pytest.fixture
def shards():
    """Three shards of a run, by their folders."""
    for number in (1, 2, 3):
        assert main([*RUN, "--shard", f"{number}/3"]) == 0
    return sorted(map(str, Path("runs").glob("*--shard-*-of-3")))


def test_shards_are_run_listed_merged_and_gone_on_with(shards, capsys):
    assert len(shards) == 3
    assert main(["runs", "list"]) == 0
    listed = capsys.readouterr().out
    assert all(f"shard {number}/3, finished" in listed for number in (1, 2, 3))

    assert main(["runs", "merge", *shards]) == 0
    assert "Merged 3 shards: 128 items in runs/scales@fresh-random--" in capsys.readouterr().out
    assert main([*RUN[:-1], "--json"]) == 0, "the same command without a shard finds it"
    told = json.loads(capsys.readouterr().out)
    assert told["counts"] == {"items": 128, "answered": 128, "unread": 0, "errors": 0}
    assert told["shard"] == ""
    assert len(list(Path("runs").iterdir())) == 4


def test_a_shard_is_never_taken_for_a_whole_run(shards, capsys):
    assert main(["score", shards[1]]) == 0
    told = capsys.readouterr()
    assert "random (shard 2/3)" in told.out
    assert "part of a run" in told.err
    assert "asked 43 of 128 items" in told.err

    assert main(["compare", *shards[:2]]) == 2
    told = capsys.readouterr().err
    assert "is part of a run: it holds 42 of 128 items" in told
    assert "gnomon runs merge" in told

    assert main(["runs", "list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(run["shard"] for run in found) == ["1/3", "2/3", "3/3"]

    assert main(["report", shards[1], "-o", "page.html"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "random (shard 2/3)" in page
    assert "is part of a run of 128 items" in page
    assert "shard 2/3 of a run of 128" in page


def test_what_cannot_be_merged_is_said_in_a_sentence(shards, capsys):
    assert main(["runs", "merge", shards[0], shards[2]]) == 1
    told = capsys.readouterr().err
    assert told.startswith("gnomon: Of 3 shards, shard 2 is missing.")
    assert "--incomplete" in told

    assert main(["runs", "merge", shards[0], shards[2], "--incomplete", "-o", "some"]) == 0
    assert "not the whole run but shards 1,3/3, of 128 items" in capsys.readouterr().out
    assert main(["score", "some"]) == 0
    assert "asked 85 of 128 items" in capsys.readouterr().err


def test_merge_tells_json(shards, capsys):
    assert main(["runs", "merge", "runs", "-o", "all", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["run"], told["shards"], told["counts"]["items"]) == ("all", 3, 128)


def test_an_empty_shard_is_no_run_and_the_others_are_the_whole(capsys):
    assert main([*RUN, "--limit", "2", "--shard", "1/3"]) == 0
    told = capsys.readouterr().err
    assert "Shard 1/3 of scales@fresh has no items: there are 2 in all." in told
    assert "merge the other shards" in told
    assert not list(Path().glob("runs/*"))
    assert main([*RUN, "--limit", "2", "--shard", "2/3"]) == 0
    assert main(["runs", "merge", "runs"]) == 1, "a shard that has items is missing"
    assert main([*RUN, "--limit", "2", "--shard", "3/3"]) == 0
    assert main(["runs", "merge", "runs", "-o", "all"]) == 0
    merged = Run.open(Path("all"))
    assert merged.manifest.shard == ""
    assert merged.counts().answered == 2


def test_what_is_no_shard_is_refused_before_anything_runs(capsys):
    assert main([*RUN, "--shard", "4/3"]) == 2
    assert "There is no shard 4/3" in capsys.readouterr().err
    assert main(["make", "scales", "-o", "x.jsonl", "--shard", "three"]) == 2
    assert "'three' is not a shard" in capsys.readouterr().err


MAKE = ("make", "scales", "--set", "pairs=8", "--limit", "50", "--quiet", "-o")


def made(name, *more):
    assert main([*MAKE, name, *more]) == 0
    return Path(name).read_bytes()


@pytest.mark.parametrize("count", [1, 2, 7])
def test_shards_of_a_file_are_the_file_whatever_their_number(count):
    parts = []
    for number in range(1, count + 1):
        parts.append(made("part.jsonl", "--shard", f"{number}/{count}"))
    assert b"".join(parts) == made("whole.jsonl")


def test_more_shards_than_items_leave_some_empty():
    whole = made("whole.jsonl").splitlines(keepends=True)
    for number in (1, 4, 100, 200):
        mine = whole[(number - 1) * 50 // 200 : number * 50 // 200]
        assert made("part.jsonl", "--shard", f"{number}/200") == b"".join(mine)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_empty_shard_is_an_empty_file(ending, capsys):
    if ending == "parquet":
        pytest.importorskip("duckdb")
    name = f"part.{ending}"
    assert main(["make", "scales", *SMALL, "--limit", "2", "--shard", "1/3", "-o", name]) == 0
    assert "0 items of scales@fresh (shard 1/3)" in capsys.readouterr().err
    assert Path(name).stat().st_size > 0, "it has its columns"


def test_pictures_are_drawn_for_the_shard_alone_and_all_shards_give_all_of_them(tmp_path):
    pytest.importorskip("PIL")
    make = ["make", "vsr@fresh", "--set", "quads=3", "--set", "size=64", "--set", "processes=1"]
    assert main([*make, "-o", "whole", "--quiet"]) == 0
    lines = b""
    pictures = {}
    for number in range(1, 8):
        folder = tmp_path / f"part-{number}"
        assert main([*make, "-o", str(folder), "--shard", f"{number}/7", "--quiet"]) == 0
        part = (folder / "items.jsonl").read_bytes()
        drawn = {file.name: file.read_bytes() for file in folder.glob("pictures/*.png")}
        asked = {Path(image["path"]).name for item in decoded(part) for image in item["images"]}
        assert set(drawn) == asked
        assert not set(drawn) & set(pictures), "none is drawn twice: no shard divides a quad"
        lines += part
        pictures |= drawn
    assert lines == Path("whole/items.jsonl").read_bytes()
    assert len(lines.splitlines()) == 12
    assert pictures == {
        file.name: file.read_bytes() for file in Path("whole/pictures").glob("*.png")
    }
    assert len(pictures) == 6


def decoded(lines):
    return map(json.loads, lines.splitlines())


@pytest.mark.parametrize("command", ["score", "table", "compare", "report"])
def test_merged_shards_do_not_stand_beside_their_whole(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for part in (1, 2, 3):
        words = ["run", "scales", "-m", "random", "--limit", "30", "--shard", f"{part}/3"]
        assert main([*words, "--runs", "parts", "--quiet"]) == 0
    assert main(["run", "scales", "-m", "majority", "--limit", "30", "--runs", "parts"]) == 0
    assert main(["runs", "merge", *map(str, Path("parts").glob("*shard*"))]) == 0
    capsys.readouterr()
    assert main([command, "parts"]) == 0
    told = capsys.readouterr()
    shown = Path("report.html").read_text() if command == "report" else told.out
    assert "shard" not in shown + told.err
    assert "random" in shown
    if command == "score":  # a shard that is named is scored
        (first,) = Path("parts").glob("*shard-1-of-3")
        assert main(["score", str(first)]) == 0
        assert "part of a run" in capsys.readouterr().err
