"""Files appear whole or not at all, and what a killed process left is cleared away."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import msgspec
import pytest
from msgspec.structs import replace

from gnomon.errors import DataError, UsageError
from gnomon.items.writing import CANARY, atomic_file, write_items
from gnomon.records import Image, Item

ITEM = Item(
    id="=1+1",
    form="caption",
    text="-x",
    choices=("no", "yes"),
    gold=("yes",),
    images=(Image(path="a.jpg", sha256="0" * 64, width=3, height=2),),
)


@pytest.fixture
def finished_process() -> int:
    """The id of a process that is no more."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_what_a_killed_process_left_is_removed_by_the_next(
    tmp_path: Path, finished_process: int
) -> None:
    for ending in ("part", "lines"):
        (tmp_path / f".items.csv.{finished_process}.{ending}").write_text("half")
    write_items(tmp_path / "items.csv", [ITEM])
    assert [file.name for file in tmp_path.iterdir()] == ["items.csv"]


def test_what_another_process_is_writing_and_other_files_stay(
    tmp_path: Path, finished_process: int
) -> None:
    kept = {
        f".items.csv.{os.getppid()}.part",
        f".other.csv.{finished_process}.part",
        f"items.csv.{finished_process}.part",
        ".items.csv.part",
    }
    for name in kept:
        (tmp_path / name).write_text("half")
    write_items(tmp_path / "items.csv", [ITEM])
    assert {file.name for file in tmp_path.iterdir()} == {*kept, "items.csv"}


def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("old")

    def fill_the_disk() -> None:
        with atomic_file(file) as part:
            part.write_text("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="No space left"):
        fill_the_disk()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_items_are_no_formulas_in_a_spreadsheet(tmp_path: Path) -> None:
    write_items(tmp_path / "items.csv", [ITEM])
    with (tmp_path / "items.csv").open(encoding="utf-8", newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert (row["id"], row["text"]) == ("'=1+1", "'-x")
    assert msgspec.json.decode(row["choices"]) == ["no", "yes"]


def test_json_lines_and_parquet_hold_items_as_they_are(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    write_items(tmp_path / "items.jsonl", [ITEM])
    assert msgspec.json.decode((tmp_path / "items.jsonl").read_bytes(), type=Item) == ITEM
    write_items(tmp_path / "items.parquet", [ITEM])
    rows = duckdb.read_parquet(str(tmp_path / "items.parquet"))
    name, images = rows.project("id, images").fetchall()[0]
    assert name == ITEM.id
    assert images == [msgspec.to_builtins(ITEM.images[0])]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("canary", ["", CANARY])
def test_a_file_of_items_that_gnomon_wrote_is_replaced(tmp_path, ending, canary):
    file = tmp_path / f"items.{ending}"
    write_items(file, [ITEM], canary=canary)

    assert write_items(file, [ITEM, replace(ITEM, id="other")], canary=canary) == 2


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize(
    "content",
    [
        b"question,A,B,answer\nWhich?,a,b,a\n",
        b'{"id": "1", "form": "choice", "text": "Which?"}\n',
        b"id,form,text\n1,choice,Which?\n",
    ],
)
def test_a_file_of_the_users_own_is_not_replaced(tmp_path, ending, content):
    file = tmp_path / f"mine.{ending}"
    file.write_bytes(content)

    with pytest.raises(UsageError, match="Gnomon did not write it"):
        write_items(file, [ITEM])

    assert file.read_bytes() == content


def test_parquet_with_other_columns_is_not_replaced(tmp_path):
    file = tmp_path / "mine.parquet"
    with duckdb.connect() as db:
        db.execute(f"COPY (SELECT 1 AS id, 'Which?' AS question) TO '{file}' (FORMAT parquet)")

    with pytest.raises(UsageError, match="Gnomon did not write it"):
        write_items(file, [ITEM])


def test_an_empty_file_is_written_to(tmp_path):
    file = tmp_path / "items.jsonl"
    file.touch()

    assert write_items(file, [ITEM]) == 1
