"""Small tables: nothing is cut but for a terminal, and there bars go before names, and figures are
never cut."""

import csv
import io
import json

import pytest

from gnomon import tabular as tables
from gnomon.contracts import Listing
from gnomon.errors import inert
from gnomon.measures.scoring import Scored
from gnomon.records import Score
from gnomon.reports.tables.scores import beside_chance, headline
from gnomon.tabular import render

LONG = "runs/scales@fresh-a-model-with-a-long-name--0123abcd"
WIDE = Listing("", ("run", "benchmark"), ((LONG, "x" * 80),))


def scores():
    return [
        Score(
            benchmark="scales@fresh",
            model="random",
            measure="accuracy",
            value=0.382,
            low=0.3,
            high=0.451,
            n=9,
            clusters=9,
        ),
        Score(
            benchmark="scales@fresh",
            model="random",
            measure="symmetry",
            value=None,
            low=None,
            high=None,
            n=0,
            clusters=0,
        ),
    ]


def labelled():
    return [Scored(score, score.model) for score in scores()]


def test_what_does_not_go_to_a_terminal_is_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = render(WIDE)
    assert LONG in text
    assert "x" * 80 in text


def test_a_terminal_is_not_overrun(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(tables.sys.stdout, "isatty", lambda: True, raising=False)
    assert max(map(len, render(WIDE).splitlines())) <= 60
    assert "…" in render(WIDE)


def one_less(scores: list[Scored]) -> int:
    """A width into which the whole table just does not fit."""
    lines = headline(scores, width=tables.UNCUT).splitlines()
    [rule] = [line for line in lines if line.startswith("─")]
    return len(rule) - 1


@pytest.mark.parametrize("width", [30, 40, 45])
def test_figures_are_never_cut(width):
    text = headline(labelled(), width=width)
    assert "38.2 %" in text
    assert "30.0 – 45.1" in text


def test_without_its_verdicts_the_table_fits_and_no_name_is_cut():
    text = headline(labelled(), width=one_less(labelled()))
    assert "…" not in text
    assert "scales@fresh" in text


@pytest.mark.parametrize(
    ("low", "high", "chance", "told"),
    [
        (0.6, 0.8, 0.5, "better than chance"),
        (0.2, 0.4, 0.5, "worse than chance"),
        (0.45, 0.55, 0.5, "at chance"),
        (0.3, 0.7, 0.5, "may be chance"),
        (None, None, 0.5, ""),  # a single unit
        (0.6, 0.8, None, ""),
    ],
)
def test_every_verdict_has_a_word_and_only_what_was_not_tested_has_none(low, high, chance, told):
    about = {"benchmark": "scales@fresh", "measure": "accuracy", "n": 9, "value": 0.5}
    tested = Score(**about, model="tested", low=0.1, high=0.9, chance=0.5)
    score = Score(**about, model="model", low=low, high=high, chance=chance)
    table = headline([Scored(tested, "tested"), Scored(score, "model")], width=tables.UNCUT)
    _, heads, _, _, row = table.splitlines()[:5]
    column = slice(heads.index("verdict"), heads.index(" n "))
    assert row[column].strip() == told
    assert beside_chance(low, high, chance) == told


def test_words_on_chance_below_a_table_of_several_benchmarks_name_them():
    guesses = [
        Scored(
            Score(
                benchmark=name,
                model="random",
                measure="accuracy",
                value=0.5,
                low=0.4,
                high=0.6,
                chance=0.5,
                n=100,
            ),
            "random",
        )
        for name in ("scales@fresh", "posrel@fresh")
    ]
    text = headline(guesses, width=one_less(guesses))
    assert "scales@fresh random accuracy; posrel@fresh random accuracy." in " ".join(text.split())


@pytest.mark.parametrize(
    ("cells", "right"),
    [
        ((1, 20), True),
        (("61.0 %", "–"), True),
        (("+0.5", "−1.2"), True),
        (("< 0.001", "0.04"), True),
        (("-1.5 to 3.0", "–"), True),
        (("3 of 4", "x"), False),
        (("–", "name"), False),
        (("1st", "2nd"), False),
    ],
)
def test_figures_stand_to_the_right(cells, right):
    lines = render(Listing("", ("a long heading",), tuple((cell,) for cell in cells))).splitlines()[
        2:
    ]
    assert all(line.startswith(" ") for line in lines) == right


# Strangers' words in tables.

HOSTILE = "m\n\\input{/etc/passwd}\x1b]0;title\x07\u202e"


def acting(text):
    """What of a text would steer a terminal or turn the direction of writing."""
    return [character for character in text if inert(character) != character]


@pytest.mark.parametrize("format", tables.FORMATS)
def test_what_is_printed_cannot_act(format):
    listing = Listing(HOSTILE, ("name", HOSTILE), ((HOSTILE, 1), ("b", 2)))
    assert acting(HOSTILE)
    text = render(listing, format)
    assert "input" in text
    assert acting(text) == []


def test_json_says_the_same_text_in_its_own_escapes():
    name = "a\x7f\x9b\u202e\U000e0041"
    printed = render(Listing("", ("name",), ((name,),)), "json")
    assert printed.isascii()
    assert json.loads(printed) == [{"name": name}]


def test_no_title_or_cell_breaks_out_of_latex():
    text = render(Listing(HOSTILE, (HOSTILE,), ((HOSTILE,), ("[2cm] \\x ~^{}$&%#_",))), "latex")
    lines = text.splitlines()
    assert lines[0].startswith("% m \\input")
    assert [line for line in lines[1:] if "\\input" in line] == []
    assert r"{}[2cm] \textbackslash{}x \textasciitilde{}\textasciicircum{}\{\}\$\&\%\#\_" in text


def test_no_text_is_a_formula_in_a_spreadsheet_and_numbers_stay_numbers():
    names = ("=1+1", "+1 2", "-x", "@SUM(A1)", "\t=1", "\r=1")
    rows = (names, (-0.5, 3, None, "-0.5", "+1", "plain"))
    text = render(Listing("", names, rows), "csv")
    head, cells, numbers = csv.reader(io.StringIO(text, newline=""))
    assert head == cells
    assert not [cell for cell in head if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert numbers == ["-0.5", "3", "", "-0.5", "+1", "plain"]
