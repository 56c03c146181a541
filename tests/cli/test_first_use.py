"""What misled or stopped new users, each as they met it (what is not tested elsewhere)."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.records import Item
from gnomon.reports.overview import BEST, IN_WORDS, MEANING, SIGNS


def first_choice(item: Item) -> str:
    return item.choices[0]


def the_same(item: Item) -> str:
    return item.choices[0]


def test_two_models_that_answer_alike_have_no_detectable_difference_of_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = gnomon.load("scales", seed=1)
    for model in (first_choice, the_same):
        gnomon.run(source, model, limit=40, runs=str(tmp_path))
    assert main(["compare", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    heads, _, row = out.partition("Differences in points\n")[2].splitlines()[:3]
    start = heads.index("detectable")
    assert row[start : start + len("detectable")].strip() == "–"


def test_items_of_a_plugin_are_not_given_our_licence(
    plugin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, licence in (("dice", "not stated"), ("scales", "Apache-2.0")):
        folder = tmp_path / name
        assert main(["make", name, "--as", "dataset", "-o", str(folder), "--limit", "8"]) == 0
        card = (folder / "README.md").read_text(encoding="utf-8")
        assert licence in card
        assert ("apache" in card.lower()) == (name == "scales")


def test_marks_on_pages_and_in_the_terminal_are_the_same_and_no_shapes_of_models() -> None:
    assert SIGNS.keys() == {"above", "below", "constant"}
    assert not set(SIGNS.values()) & set("●■▲▼◆")
    for verdict, sign in SIGNS.items():
        assert MEANING[sign].startswith(IN_WORDS[verdict])
    assert MEANING[BEST].startswith("the best")
    assets = Path(gnomon.__file__).parent / "reports" / "assets"
    for page in ("matrix.html.j2", "viewer/home.html.j2"):
        assert "{{ legend(overview) }}" in (assets / page).read_text(encoding="utf-8")


def test_a_legend_has_the_marks_that_occur_and_no_others(tmp_path: Path) -> None:
    runs = []
    for name in ("scales", "posrel"):
        runs.append(gnomon.run(gnomon.load(name), "random", limit=20, runs=str(tmp_path)))
    legend = gnomon.overview(runs).legend
    assert list(legend) == ["no sign"]
    page = gnomon.report(runs, tmp_path / "page.html").read_text(encoding="utf-8")
    key = page.partition('class="note key">')[2].partition("</p>")[0]
    assert "<b>no sign</b> may well be guessing" in key
    assert "<b>!</b>" not in key
    assert "★" not in key


def test_a_model_with_one_benchmark_is_corrected_for_that_one(tmp_path: Path) -> None:
    names = ("scales", "posrel", "spacenli", "spatialqa")
    others = [gnomon.run(name, "random", limit=40, runs=str(tmp_path)) for name in names]
    alone = gnomon.run("scales", "majority", limit=40, runs=str(tmp_path))
    found = gnomon.overview([*others, alone])
    by_itself = gnomon.overview([alone])
    [column] = by_itself.columns
    cell = by_itself.cells["majority", column.name]
    assert found.cells["majority", column.name].shows == cell.shows
    assert cell.shows == pytest.approx((cell.high - cell.low) / 2)
    corrected = found.cells["random", column.name]
    assert corrected.shows > (corrected.high - corrected.low) / 2


@pytest.mark.parametrize("command", ["report", "table", "score", "compare"])
def test_without_runs_the_folder_runs_is_meant(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([command]) == 1
    assert "No runs are here" in capsys.readouterr().err
    for model in ("random", "majority"):
        gnomon.run("scales", model, limit=20, runs="runs")
    assert main([command]) == 0
    assert "scales@fresh" in capsys.readouterr().out or Path("report.html").is_file()


def test_after_two_models_compare_comes_next_and_after_one_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "scales", "-m", "random", "-m", "majority", "--limit", "20"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("More: gnomon compare runs/scales@fresh-random")
    assert main(last.removeprefix("More: gnomon ").split()) == 0
    assert main(["run", "scales", "-m", "random", "--limit", "20"]) == 0
    assert "More: gnomon score runs/scales@fresh-random" in capsys.readouterr().out


def test_a_pair_keeps_the_order_in_which_its_runs_are_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = gnomon.load("scales", seed=1)
    paths = []
    for model in ("majority", "random"):
        paths.append(str(gnomon.run(source, model, limit=40, runs=str(tmp_path)).path))
    for given in (paths, paths[::-1]):
        assert main(["compare", *given]) == 0
        row = capsys.readouterr().out.partition("Differences in points\n")[2].splitlines()[2]
        assert row.split()[:2] == [Path(each).name.split("-")[1] for each in given]


def test_every_column_of_a_table_of_scores_has_a_heading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = gnomon.load("scales", seed=1)
    for model in ("majority", "random"):
        gnomon.run(source, model, limit=40, runs=str(tmp_path))
    for command in ("score", "compare"):
        assert main([command, str(tmp_path)]) == 0
        lines = capsys.readouterr().out.splitlines()
        for heads, rule in pairwise(lines):
            if rule.startswith("─"):
                starts = [found.start() for found in re.finditer("─+", rule)]
                ends = [found.end() for found in re.finditer("─+", rule)]
                assert all(heads[a:b].strip() for a, b in zip(starts, ends, strict=True))


def test_words_of_a_verdict_and_of_a_measure_are_explained_below_the_first_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = ["--runs", str(tmp_path), "--limit", "20"]
    assert main(["run", "spatialqa", "-m", "random", *runs]) == 0
    out = capsys.readouterr().out
    table, _, legend = out.partition("\n\n")
    assert "partial_credit: accuracy averaged over" in legend
    for word in ("may be chance", "at chance", "better than chance", "worse than chance"):
        assert (word in table) == (f"{word}: " in legend)
    for head in ("n ", "chance", "95 % interval", "units"):
        assert head in table
        assert re.search(f"(?m)^{head}", legend)


def test_the_readme_says_how_to_get_torch_without_gigabytes() -> None:
    """B11: the line to type, with the file that it names."""
    root = Path(__file__).parents[2]
    readme = (root / "README.md").read_text(encoding="utf-8")
    [line] = [each for each in readme.splitlines() if "-c constraints.txt" in each]
    assert line.startswith("pip install -c constraints.txt '.[hf]'")
    assert "CPU build" in line
    constraints = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [each for each in constraints if each.startswith("torch==")]


MINE = "what nobody else wrote\n"


@pytest.mark.parametrize("name", ["mine.json", "mine.svg", "mine.png", "mine.scene.json"])
def test_a_scene_replaces_what_this_command_wrote_and_nothing_else(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / name
    mine.write_text(MINE, encoding="utf-8")
    output = tmp_path / name.replace(".scene.json", ".png")
    words = ["scene", "--say", "a cup on a table", "-o", str(output), "--size", "64"]
    assert main(words) == 2
    assert "Gnomon did not write it" in capsys.readouterr().err
    assert mine.read_text(encoding="utf-8") == MINE
    mine.unlink()
    assert main(words) == 0
    assert main(words) == 0


def test_what_was_left_out_is_written_in_place_of_no_other_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "clean.left-out.jsonl"
    mine.write_text(MINE, encoding="utf-8")
    items = str(tmp_path / "items.jsonl")
    assert main(["make", "scales", "--limit", "60", "-o", items, "--quiet"]) == 0
    words = ["audit", items, "-o", str(tmp_path / "clean.jsonl")]
    assert main(words) == 2
    assert "Gnomon did not write it" in capsys.readouterr().err
    assert not (tmp_path / "clean.jsonl").exists()
    mine.unlink()
    assert main(words) in (0, 1)
    assert main(words) in (0, 1)
