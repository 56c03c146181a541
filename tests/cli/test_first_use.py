"""What misled or stopped new users, each as they met it (what is not tested elsewhere)."""

from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.records import Item
from gnomon.reports.overview import IN_WORDS, SIGNS
from gnomon.reports.tables.overviews import MEANING


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
    assert SIGNS.keys() == IN_WORDS.keys()
    assert not set(SIGNS.values()) & set("●■▲▼◆")
    told = {sign: said for sign, said in MEANING.items() if sign in SIGNS.values()}
    for verdict, sign in SIGNS.items():
        if IN_WORDS[verdict]:
            assert IN_WORDS[verdict] in told[sign]
    assert MEANING["*"] == "* best of the benchmark"
    assets = Path(gnomon.__file__).parent / "reports" / "assets"
    for page in ("matrix.html.j2", "viewer/home.html.j2"):
        text = (assets / page).read_text(encoding="utf-8").replace("</b>", "").replace("<b>", "")
        assert "★ best" in text or "★ is the best" in text
        for verdict, words in (("above", "better"), ("below", "worse"), ("at", "at chance")):
            assert f"{SIGNS[verdict]} {words}" in text
        assert "! gives one answer" in text or "! one answer" in text
