"""RelativeSize: whatever plain form a user's copy has, it is read alike, or refused with file and
line."""

from __future__ import annotations

import pytest

from gnomon.benchmarks import relativesize
from gnomon.benchmarks.relativesize import SizePair, read_pairs
from gnomon.errors import DataError, UsageError
from gnomon.records import problem

WANTED = [
    SizePair("elephant", "butterfly", True),
    SizePair("fire hydrant", "car", False),
    SizePair("ant", "orange", False),
]


@pytest.mark.parametrize(
    "text",
    [
        "object1,object2,label\nelephant,butterfly,1\nfire hydrant,car,0\nant,orange,0\n",
        "o2,o1,typical\nbutterfly,elephant,>\ncar,fire hydrant,<\norange,ant,<\n",
        "first\tsecond\tlarger\nelephant\tbutterfly\telephant\nfire hydrant\tcar\tcar\nant\torange\torange\n",
        "# pairs\nelephant > butterfly\nfire hydrant < car\n\nant < orange\n",
        "elephant,butterfly,larger\nfire hydrant,car,smaller\nant,orange,SMALLER\n",
    ],
)
def test_headers_tabs_and_plain_lines_say_the_same(tmp_path, text):
    (tmp_path / "relativesize.csv").write_text(text)
    assert read_pairs(tmp_path / "relativesize.csv") == WANTED


def test_two_names_alone_have_the_larger_one_first(tmp_path):
    (tmp_path / "pairs.txt").write_text("elephant butterfly\n")
    assert read_pairs(tmp_path / "pairs.txt") == WANTED[:1]


def test_items_in_both_forms(tmp_path):
    (tmp_path / "relativesize.txt").write_text(
        "elephant > butterfly\nfire hydrant < car\nant < orange\n"
    )
    items = list(relativesize.published(data=str(tmp_path)))
    assert items == list(relativesize.published(data=str(tmp_path / "relativesize.txt")))
    assert not [message for item in items if (message := problem(item))]
    assert [item.form for item in items] == ["cloze", "choice"] * 3
    cloze, question = items[:2]
    assert (cloze.text, cloze.gold) == ("An elephant is [MASK] than a butterfly.", ("larger",))
    for item in items[1::2]:
        larger = item.tags["relation"] == ">"
        assert item.gold == ("yes" if larger == (item.tags["comparative"] == "larger") else "no",)
    assert question.group == cloze.group
    assert [item.form for item in relativesize.published(data=str(tmp_path), form="choice")] == [
        "choice"
    ] * 3
    assert dict(relativesize.statistics(items)[0].rows)["is an order"] == "yes"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("a,b,maybe\n", "csv:1: the answer 'maybe'"),
        ("a,a,>\n", "csv:1: not a pair"),
        ("object1,object2,label\na,b\n", "csv:2: not a pair"),
        ("elephant\n", "csv:1: not a pair"),
        ("# nothing else\n", "the file is empty"),
        ("object1,object2\n", "the file is empty"),
        ("elephant,but\rterfly,>\n", "csv:1: not a row: new-line character seen"),
        ("elephant," + "b" * 20_000_000 + "\n", "csv:1: the line is longer than 16 MB"),
        ("a > b\nb < a\n", r"csv:2: the pair b, a is there twice \(line 1\)"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path, text, message):
    (tmp_path / "relativesize.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        list(relativesize.published(data=str(tmp_path)))


def test_without_a_file_it_says_where_to_look(tmp_path):
    with pytest.raises(DataError, match="not shipped") as error:
        list(relativesize.published())
    assert "--data" in error.value.hint
    with pytest.raises(DataError, match=r"the file of pairs is missing.*relativesize\.csv"):
        list(relativesize.published(data=str(tmp_path)))
    with pytest.raises(UsageError, match="no form named"):
        list(relativesize.published(data=str(tmp_path), form="riddle"))
