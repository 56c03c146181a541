"""Strangers' files: bounded, and every complaint names file and line."""

import gzip
import os

import msgspec
import pytest

from gnomon import files
from gnomon.errors import DataError


class Row(msgspec.Struct):
    a: int


def test_jsonl_plain_and_gzipped_with_blank_lines_and_a_mark(tmp_path):
    (tmp_path / "x.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n{"a": 2}')
    with gzip.open(tmp_path / "y.jsonl.gz", "wb") as out:
        out.write(b'{"a": 3}\n')
    assert [(n, row.a) for n, row in files.read_jsonl(tmp_path / "x.jsonl", Row)] == [
        (1, 1),
        (3, 2),
    ]
    assert [row.a for _, row in files.read_jsonl(tmp_path / "y.jsonl.gz", Row)] == [3]


def test_line_too_long_is_refused_without_reading_it_all(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LINE_LIMIT", 1000)
    (tmp_path / "x").write_text("short\n" + "y" * 5000)
    with pytest.raises(DataError, match=r"x:2: the line is longer"):
        list(files.read_lines(tmp_path / "x"))


def test_gzip_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FILE_LIMIT", 100_000)
    with gzip.open(tmp_path / "bomb.gz", "wb") as out:
        out.write(b"0" * 99 + b"\n")
        for _ in range(2000):
            out.write(b"0" * 99 + b"\n")
    with pytest.raises(DataError, match="unpacks to more"):
        list(files.read_lines(tmp_path / "bomb.gz"))
    with pytest.raises(DataError, match="larger than"):
        files.read_text(tmp_path / "bomb.gz", limit=100_000)


def test_damaged_gzip_is_named(tmp_path):
    whole = gzip.compress(b"some text\n" * 1000)
    (tmp_path / "cut.gz").write_bytes(whole[:-20])
    (tmp_path / "not.gz").write_bytes(b"plain text")
    for name in ("cut.gz", "not.gz"):
        with pytest.raises(DataError, match="damaged or cut short"):
            list(files.read_lines(tmp_path / name))


BAD_TABLES = {
    "no header": ("", "the file is empty"),
    "missing column": ("a,c\n1,2\n", r"t.csv:1: the column b is missing"),
    "short row": ("a,b\n1,2\n3\n", r"t.csv:3: the row has 1 fields, the header 2"),
    "open quote": ('a,b\n"1,2\n', "not a table"),
}


@pytest.mark.parametrize(("text", "words"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_tables_are_named(text, words, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        list(files.read_table(tmp_path / "t.csv", ["a", "b"]))


def test_tabs_do_not_care_about_quotes(tmp_path):
    (tmp_path / "t.tsv").write_text('a\tb\nsaid "so\tit is\n')
    assert [row for _, row in files.read_table(tmp_path / "t.tsv", ["a"], delimiter="\t")] == [
        {"a": 'said "so', "b": "it is"}
    ]


def test_fields_are_converted_or_named():
    with pytest.raises(DataError, match=r"f\.csv:7: the field n is 'x', not a int"):
        files.parse("x", int, field="n", file="f.csv", line=7)
    with pytest.raises(DataError, match="the field p is not a number"):
        files.parse("nan", float, field="p", file="f.csv", line=7)


def test_yaml_is_safe_and_names_the_line(tmp_path):
    (tmp_path / "y.yaml").write_text("a: 1\nb: [1, 2\n")
    with pytest.raises(DataError, match=r"y.yaml:\d+: not YAML"):
        files.read_yaml(tmp_path / "y.yaml")
    (tmp_path / "evil.yaml").write_text("!!python/object/apply:os.system ['touch hacked']")
    with pytest.raises(DataError, match="not YAML"):
        files.read_yaml(tmp_path / "evil.yaml")
    assert not (tmp_path / "hacked").exists()


def test_deeply_nested_json_is_refused(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(DataError, match=r"nested too deeply|not JSON"):
        files.read_json(tmp_path / "deep.json", list)


def test_find_says_what_was_looked_for(tmp_path):
    (tmp_path / "b.csv.gz").touch()
    assert files.find(tmp_path, "a/b.csv", "b.csv").name == "b.csv.gz"
    with pytest.raises(DataError, match=r"the knowledge is missing: looked for x.csv, y/x.csv"):
        files.find(tmp_path, "x.csv", "y/x.csv", what="the knowledge")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_refused_and_nobody_waits_for_its_other_end(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    for read in (files.read_text, lambda file: list(files.read_lines(file))):
        with pytest.raises(DataError, match="this is a pipe or a device, not a file"):
            read(tmp_path / "pipe.jsonl")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no /dev/zero here")
def test_a_device_is_refused_before_it_is_read():
    with pytest.raises(DataError, match="this is a pipe or a device, not a file"):
        files.read_text("/dev/zero")


def test_a_folder_in_place_of_a_file_is_called_one(tmp_path):
    with pytest.raises(DataError, match="this is a folder"):
        files.read_text(tmp_path)


def test_blank_lines_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_BLANK", 1000)
    with gzip.open(tmp_path / "blank.gz", "wb") as out:
        out.write(b"\n" * 5000)
    with pytest.raises(DataError, match=r"blank.gz:1002: the file has more than 1,000 blank lines"):
        list(files.read_lines(tmp_path / "blank.gz"))


def test_lines_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_LINES", 1000)
    (tmp_path / "many").write_text("1\n" * 5000)
    with pytest.raises(DataError, match=r"many:1001: the file has more than 1,000 lines"):
        list(files.read_lines(tmp_path / "many"))


def test_yaml_aliases_that_unfold_without_end_are_refused(tmp_path):
    (tmp_path / "laughs.yaml").write_text(
        "a: &a [" + "x, " * 3000 + "]\nb: [" + "*a, " * 3000 + "]\n"
    )
    with pytest.raises(DataError, match="its aliases unfold to more than 5,000,000 values"):
        files.read_yaml(tmp_path / "laughs.yaml")
    (tmp_path / "snake.yaml").write_text("&a [1, *a]\n")
    with pytest.raises(DataError, match="its aliases unfold"):
        files.read_yaml(tmp_path / "snake.yaml")
    (tmp_path / "few.yaml").write_text("a: &a [1, 2]\nb: *a\n")
    assert files.read_yaml(tmp_path / "few.yaml") == {"a": [1, 2], "b": [1, 2]}


def test_every_hint_names_a_remedy(tmp_path):
    (tmp_path / "x").write_bytes(b"\xff\xfa")
    for read in (files.read_text, files.read_yaml, lambda file: list(files.read_lines(file))):
        with pytest.raises(DataError) as caught:
            read(tmp_path / "x")
        assert caught.value.hint.startswith("Check that the path names the file you meant")


def test_deeply_nested_yaml_is_refused(tmp_path):
    for text in ("a: " + "[" * 2000 + "]" * 2000, "[" * 100_000, "- " * 100_000):
        (tmp_path / "deep.yaml").write_text(text)
        with pytest.raises(DataError, match="nested too deeply"):
            files.read_yaml(tmp_path / "deep.yaml")
