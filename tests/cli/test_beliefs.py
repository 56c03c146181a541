"""`gnomon score --beliefs`: the table, the records, the page and the map, as people get them."""

import json
import re
from xml.etree import ElementTree

import pytest

from gnomon.cli import main


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("beliefs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["run", "scales", "-m", "random", "--limit", "400"]) == 0
        arguments = ["--set", "ask=pairs", "--set", "stories=8", "--set", "hops=4"]
        assert main(["run", "chains", "-m", "random", *arguments]) == 0
        assert main(["run", "calculus", "-m", "random", "--limit", "8"]) == 0
    return folder / "runs"


def of(runs, name):
    return str(next(runs.glob(f"{name}@*")))


def test_the_table_says_what_would_have_to_change(runs, capsys):
    assert main(["score", "--beliefs", of(runs, "scales")]) == 0
    out, told = capsys.readouterr()
    assert "size cloze" in out
    assert "taller" in out
    found = re.search(r"random on scales@fresh: (\d+) of 400 answers would have to change", told)
    assert found
    (total,) = re.findall(r"all 4 .*", out)
    assert found[1] in total.split()


def test_records_hold_the_order_and_their_numbers_agree(runs, capsys):
    assert main(["score", "--beliefs", of(runs, "chains"), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) > 12
    assert any(row["changes"] for row in rows), "a guess contradicts itself somewhere"
    for row in rows:
        assert len(row["order"]) == row["objects"] == len(set(row["order"]))
        assert row["at_least"] == row["changes"]
        assert row["exact"]
        assert row["both_ways"] <= row["changes"] <= row["answers"] // 2


def test_a_map_is_a_drawing_and_a_page_needs_nothing_else(runs, tmp_path, capsys):
    drawn, page = tmp_path / "map.svg", tmp_path / "page.html"
    assert main(["score", "--beliefs", of(runs, "scales"), "-o", str(drawn)]) == 0
    squares = ElementTree.parse(drawn).getroot().iter("{http://www.w3.org/2000/svg}rect")
    assert len(list(squares)) > 50
    assert (
        main(["score", "--beliefs", of(runs, "scales"), of(runs, "chains"), "-o", str(page)]) == 0
    )
    text = page.read_text()
    assert "random on scales@fresh" in text
    assert "random on chains@fresh" in text
    assert text.count("<svg") == 12
    assert 'http-equiv="Content-Security-Policy"' in text
    assert not re.search(r"<[^>]*(?:src|href)=", text)


def test_the_same_runs_give_the_same_page(runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = []
    for _ in range(2):
        assert main(["score", "--beliefs", of(runs, "scales"), "-o", "page.html"]) == 0
        pages.append((tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1]


def test_answers_that_claim_no_order_are_refused_with_a_remedy(runs, capsys):
    assert main(["score", "--beliefs", of(runs, "calculus")]) == 2
    assert "--set ask=pairs" in capsys.readouterr().err


def test_an_ending_that_is_not_known_is_refused_before_anything_is_read(capsys):
    assert main(["score", "--beliefs", "no-such-run", "-o", "beliefs.pdf"]) == 2
    assert "none of .html, .svg" in capsys.readouterr().err
