"""Tables as people have them: without a header, with bars or sep=;, captions without labels."""

from pathlib import Path

import pytest

import gnomon
from gnomon.errors import FewItemsWarning, UsageError

PIXEL = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde"
    b"\0\0\0\x0cIDATx\x9cc```\0\0\0\x04\0\x01\xf6\x178U\0\0\0\0IEND\xaeB`\x82"
)


@pytest.mark.parametrize(
    "text",
    [
        "Question,Option 1,Option 2,Answer\nWhich?,dog,house,house\nWhat?,bus,pen,bus\n",
        "QUESTION;Option A;Option B;Correct\nWhich?;dog;house;B\nWhat?;bus;pen;A\n",
        "question|option1|option2|correct_answer\nWhich?|dog|house|house\nWhat?|bus|pen|bus\n",
        "sep=;\nquestion;option1;option2;answer\nWhich?;dog;house;house\nWhat?;bus;pen;bus\n",
        "Which?,dog,house,house\nWhat?,bus,pen,bus\n",
        "Which?;dog;house;B\nWhat?;bus;pen;A\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_table_is_read_however_a_spreadsheet_wrote_it(
    text: str, encoding: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.csv"
    file.write_bytes(text.encode(encoding))
    items = list(gnomon.load(str(file)))
    assert [item.text for item in items] == ["Which?", "What?"]
    assert [item.choices for item in items] == [("dog", "house"), ("bus", "pen")]
    assert [item.gold for item in items] == [("house",), ("bus",)]


def test_latin_1_of_old_spreadsheets_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_bytes(
        "question;option1;option2;answer\nGrößer?;Hündin;Haus;Haus\n".encode("latin-1")
    )
    (item,) = gnomon.load(str(file))
    assert item.text == "Größer?"
    assert item.choices == ("Hündin", "Haus")


def test_columns_without_names_are_not_guessed_where_the_answer_is_no_option(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("Which?,dog,house,zebra\nWhat?,bus,pen,tree\n")
    with pytest.raises(UsageError, match="No column is known to hold the text"):
        gnomon.load(str(file))


def captions(folder: Path, *texts: str) -> str:
    (folder / "a.png").write_bytes(PIXEL)
    rows = ["file_name,text", *(f"a.png,{text}" for text in texts)]
    file = folder / "metadata.csv"
    file.write_text("\n".join(rows) + "\n")
    return str(file)


def test_captions_without_labels_get_false_twins_if_asked(tmp_path: Path) -> None:
    file = captions(tmp_path, "The cup is left of the plate.", "The dog is above the chair.")
    items = list(gnomon.load(file, map="twins=text"))
    said = {(item.text, item.gold) for item in items}
    assert said == {
        ("The cup is left of the plate.", ("true",)),
        ("The cup is right of the plate.", ("false",)),
        ("The dog is above the chair.", ("true",)),
        ("The dog is below the chair.", ("false",)),
    }
    assert len({item.id for item in items}) == 4
    assert len({item.group for item in items}) == 2
    assert all(item.images[0].path.endswith("a.png") for item in items)


def test_a_caption_without_an_opposite_is_left_out_and_told(tmp_path: Path) -> None:
    file = captions(
        tmp_path, "The cup is left of the plate.", "A cat sleeps.", "The cat is near it."
    )
    with pytest.warns(FewItemsWarning, match="of 3 captions have no relation"):
        source = gnomon.load(file, map="twins=text")
    items = list(source)
    golds = [item.gold[0] for item in items]
    assert golds.count("true") == golds.count("false") >= 1
    assert not any(" not " in item.text for item in items)


def test_whoever_has_captions_alone_is_told_of_twins(tmp_path: Path) -> None:
    file = captions(tmp_path, "The cup is left of the plate.")
    with pytest.raises(UsageError, match="--map twins=text"):
        gnomon.load(file)
    with pytest.raises(UsageError, match="no caption with a relation whose opposite is known"):
        gnomon.load(captions(tmp_path, "A cat sleeps."), map="twins=text")


@pytest.mark.parametrize("further", ["gold=text", "labels=yes|no", "id=file_name", "group=text"])
def test_twins_leave_nothing_else_of_the_items_to_name(further: str, tmp_path: Path) -> None:
    file = captions(tmp_path, "The cup is left of the plate.")
    with pytest.raises(UsageError, match="'twins' names one column"):
        gnomon.load(file, map=f"twins=text,{further}")
