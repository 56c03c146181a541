"""Files that can be read in two ways are refused with both readings, and never guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gnomon
from gnomon.errors import GnomonError

Rows = list[dict[str, Any]]
SIDES = ["left", "right", "above"]


def rows(*golds: Any, **columns: Any) -> Rows:
    """Questions about things, one for each right answer."""
    found = []
    for number, gold in enumerate(golds):
        row = {"question": f"Where is thing {number}?", "choices": SIDES, "answer": gold}
        found.append({**row, **columns})
    return found


def without(name: str, given: Rows) -> Rows:
    return [{key: value for key, value in row.items() if key != name} for row in given]


def inside(*endings: str, golds: str = "AB") -> Rows:
    """Questions whose options stand in the text."""
    found = []
    for number, ending in enumerate(endings):
        text = f"Where is thing {number}?{ending}"
        found.append({"question": text, "answer": golds[number % len(golds)]})
    return found


LISTED = "\nA. left\nB. right"
IN_LINE = " Options: A: left, B: right"
CASES: dict[str, tuple[Rows, tuple[str, ...]]] = {
    "two right answers": (rows("A", "B", label="B"), ("answer", "label")),
    "answer and truth": (rows("A", "B", truth="left"), ("answer", "truth")),
    "answer and ground truth": (rows(0, 2, ground_truth=1), ("answer", "ground_truth")),
    "answer and Correct Answer": (rows("A", **{"Correct Answer": "B"}), ("answer", "Correct")),
    "gold and target": (
        without("answer", rows("A", gold="A", target="B")),
        ("gold", "target"),
    ),
    "two capitals": (rows("A", Answer="B"), ("answer", "Answer")),
    "two questions": (rows("A", "B", query="Where?"), ("question", "query")),
    "question and text": (rows("A", text="What?"), ("question", "text")),
    "Question and question": (rows("A", Question="What?"), ("question", "Question")),
    "two lists": (rows("A", options=["in", "on", "by"]), ("choices", "options")),
    "choices and candidates": (rows("A", candidates=SIDES), ("choices", "candidates")),
    "two stories": (rows("A", story="A.", passage="B."), ("story", "passage")),
    "from 0 or 1": (rows(1, 2, 1), ("'right'", "'left'", "counted from 0", "counted from 1")),
    "from 0 or 1 in text": (rows("2", "1"), ("counted from 0", "counted from 1")),
    "from 0 or 1 in a list": (rows([1], [2]), ("counted from 0", "counted from 1")),
    "a number that is a text": (
        rows("2", "1", choices=["1", "2", "3"]),
        ("the text of a choice ('2')", "counted from 0 ('3')"),
    ),
    "a letter that is a text": (
        rows("A", "B", choices=["B", "A", "C"]),
        ("the text of a choice ('A')", "a letter ('B')"),
    ),
    "a letter that is a text of two": (
        rows("b", choices=["b", "a"]),
        ("the text of a choice ('b')", "a letter ('a')"),
    ),
    "a number that is a name": (
        rows("1", "2", choices={"text": ["2", "1", "0"], "label": ["1", "2", "3"]}),
        ("the text of a choice ('1')", "the name of a choice ('2')"),
    ),
    "options in some texts": (inside(LISTED, LISTED, ""), ("in some rows", "letters alone")),
    "options in lines and in line": (inside(LISTED, IN_LINE), ("in some rows", "letters alone")),
    "options twice in a text": (
        inside(LISTED, LISTED + LISTED),
        ("in some rows", "letters alone"),
    ),
    "an option that lacks its letter": (
        inside(LISTED, "\nA. left\nright"),
        ("in some rows", "letters alone"),
    ),
    "an option that is empty": (inside(LISTED, "\nA. \nB. right"), ("in some rows", "letters")),
    "an option that is there twice": (
        inside(LISTED, "\nA. left\nB. left"),
        ("in some rows", "letters"),
    ),
    "an answer beyond the options": (inside(LISTED, LISTED, golds="AC"), ("in some rows",)),
    "others inside than beside": (
        rows("A", question="Where? (A) up (B) down (C) in"),
        ("choices ('left'", "inside question ('up'"),
    ),
    "others inside than in columns": (
        [{"question": "Where?\nA. up\nB. down", "A": "left", "B": "right", "answer": "A"}],
        ("A, B ('left'", "inside question ('up'"),
    ),
    "answers in words": (
        [{"question": f"Which {end}?", "options": None, "answer": end} for end in ("by", "at")],
        ("no row has choices", "free text cannot be asked"),
    ),
    "numbers that mean nothing": (
        without("choices", rows(0, 1, 2)),
        ("the numbers 0, 1, 2", "nothing says what they mean"),
    ),
    "gold that is neither": (rows("A", "under"), ("'under'", "not a letter")),
    "letters and numbers": (rows("A", 2), ("not a letter", "as in the rows before")),
}


def test_there_are_thirty_of_them():
    assert len(CASES) >= 30


@pytest.mark.parametrize("case", CASES)
def test_what_can_be_read_in_two_ways_is_refused_with_both(case, tmp_path):
    given, told = CASES[case]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in given))
    with pytest.raises(GnomonError) as caught:
        list(gnomon.load(str(file)).items())
    for words in told:
        assert words in caught.value.message
    assert caught.value.hint


def written(tmp_path: Path, name: str, content: bytes) -> str:
    file = tmp_path / name
    file.write_bytes(content)
    return str(file)


TABLE = "Question;Option 1;Option 2;Correct Answer\nWo ist die Tür, links?;ja;später;1\n"
TABLE += "Wo ist das Haus?;nah;größer;2\nWo nicht?;a;b;2\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1"])
def test_a_table_is_read_as_spreadsheets_write_it(encoding, tmp_path):
    start = "\ufeff" if encoding == "utf-16-be" else ""
    file = written(tmp_path, "mine.csv", (start + TABLE).encode(encoding))
    first, second, _ = gnomon.load(file, map={"gold_is": "index1"}).items()
    assert first.choices == ("ja", "später")
    assert first.gold == ("ja",)
    assert second.gold == ("größer",)


def test_a_table_without_a_header_has_numbers_for_columns(tmp_path):
    text = "in,Where is it?,in,on\nat,Where was it?,by,at\n"
    file = written(tmp_path, "mine.csv", text.encode())
    with pytest.raises(GnomonError, match="No column is known") as caught:
        gnomon.load(file)
    assert "The columns are: 1, 2, 3, 4" in caught.value.hint
    _, second = gnomon.load(file, map="text=2,choices=3+4,gold=1").items()
    assert (second.text, second.choices, second.gold) == ("Where was it?", ("by", "at"), ("at",))


def test_a_heading_may_end_like_a_question(tmp_path):
    text = "Statement,True?\nA dog is larger than a bus.,false\nA bus is larger than a dog.,true\n"
    first, _ = gnomon.load(
        written(tmp_path, "m.csv", text.encode()), map="text=Statement,gold=True?"
    )
    assert (first.text, first.gold) == ("A dog is larger than a bus.", ("false",))


def test_rows_that_lack_the_last_of_numbered_keys_are_refused_in_a_sentence(tmp_path):
    lines = ['{"1": "Where?", "2": "in", "3": "on", "4": "on"}', '{"1": "Where?", "2": "in"}']
    file = written(tmp_path, "mine.jsonl", "\n".join(lines).encode())
    with pytest.raises(GnomonError, match="has no column '3'"):
        gnomon.load(file)


def test_a_table_with_the_names_of_our_records_is_read_like_any_other(tmp_path):
    text = "id,form,text,choices,gold\n7,choice,Where?,in|on,on\n"
    (item,) = gnomon.load(written(tmp_path, "own.csv", text.encode())).items()
    assert (item.id, item.choices, item.gold) == ("7", ("in", "on"), ("on",))


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zip"])
def test_packed_files_are_read_whatever_they_are_called(ending, tmp_path):
    import bz2
    import gzip
    import io
    import lzma
    import zipfile

    lines = "".join(json.dumps(row) + "\n" for row in rows("A", "B")).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner.txt", lines)
    contents = {
        "gz": gzip.compress(lines),
        "bz2": bz2.compress(lines),
        "xz": lzma.compress(lines),
        "zip": packed.getvalue(),
    }
    file = written(tmp_path, f"mine.txt.{ending}", contents[ending])
    assert [item.gold for item in gnomon.load(file).items()] == [("left",), ("right",)]
    cut = written(tmp_path, f"cut.txt.{ending}", contents[ending][:-20])
    with pytest.raises(GnomonError, match="damaged or cut short"):
        gnomon.load(cut)


def test_cells_that_pandas_quotes_between_tabs_are_read(tmp_path):
    text = 'index\tquestion\tA\tB\tanswer\n0\t"Where?\nSay ""in"" or on."\tin\ton\tA\n'
    (item,) = gnomon.load(written(tmp_path, "mine.tsv", text.encode())).items()
    assert item.text == 'Where?\nSay "in" or on.'
    plain = 'question\tA\tB\tanswer\nWhere is the 5" disc?\tin\ton\tA\n'
    (item,) = gnomon.load(written(tmp_path, "plain.tsv", plain.encode())).items()
    assert item.text == 'Where is the 5" disc?'


@pytest.mark.parametrize(
    ("content", "count"),
    [
        ({"questions": rows("A", "B")}, 2),
        ({"version": 1, "anything": rows("A", "B", "C")}, 3),
        ({"a": rows("A")[0], "b": rows("B")[0]}, 2),
        ({"meta": {"x": 1}, "data": rows("A")}, 1),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_rows_are_found_within_a_document(content, count, indent, tmp_path):
    file = written(tmp_path, "mine.json", json.dumps(content, indent=indent).encode())
    items = list(gnomon.load(file).items())
    assert len(items) == count
    if "a" in content:
        assert [item.id for item in items] == ["a", "b"]


@pytest.mark.parametrize(
    ("choices", "gold", "right"),
    [
        ("A. right\nB. left", "B", "left"),
        (["A. right", "B. left"], "B. left", "left"),
        (["(A) right", "(B) left"], "(B)", "left"),
        ({"A": "right", "B": "left"}, "B.", "left"),
        ("['right', 'left']", 0, "right"),
    ],
)
def test_options_and_answers_are_read_however_they_are_written(choices, gold, right, tmp_path):
    given = rows(gold, choices=choices)
    file = written(tmp_path, "mine.jsonl", json.dumps(given[0]).encode())
    (item,) = gnomon.load(file).items()
    assert sorted(item.choices) == ["left", "right"]
    assert item.gold == (right,)
