"""The canary: in every file of fresh items, and no part of any item."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from msgspec.structs import replace

import gnomon
from gnomon.cli import main
from gnomon.errors import DataError
from gnomon.items.itemfiles import read_items
from gnomon.items.writing import CANARY, GUID, has_canary, write_items
from gnomon.records import Image, Item
from tests.items.samples import checked

ODD = Item(
    id="=1+1",
    form="caption",
    text='-x, "quoted"\nand broken',
    choices=("no", "yes"),
    gold=("yes",),
    tags={"scale": "size"},
    images=(Image(path="a.jpg", sha256="0" * 64, width=3, height=2),),
)


def test_the_guid_is_one_and_never_changes():
    assert str(uuid.UUID(GUID)) == GUID == "7d1f3c9e-58b4-4a6d-9c02-b1e6f0a8d437"
    assert "not for training" in CANARY


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_every_fresh_file_holds_the_canary_and_reads_back_as_the_same_items(ending, capsys):
    if ending == "parquet":
        pytest.importorskip("duckdb")
    file = Path(f"items.{ending}")
    assert main(["make", "scales", "--limit", "30", "-o", str(file), "--quiet"]) == 0
    found = checked(file)
    run = gnomon.run(gnomon.load("scales").limited(30), "random")
    assert found.items == found.canaries == 30
    assert found.digest == run.manifest.items_sha256
    assert list(read_items(file)) == list(gnomon.load("scales").limited(30).items())
    if ending != "parquet":  # which is compressed
        assert file.read_text().count(GUID) == 30


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_an_odd_item_survives_the_round_trip(ending, tmp_path):
    if ending == "parquet":
        pytest.importorskip("duckdb")
    file = tmp_path / f"items.{ending}"
    write_items(file, [ODD], canary=CANARY)
    assert list(read_items(file)) == [ODD]


def test_what_goes_to_standard_output_holds_the_canary(capsysbinary):
    assert main(["make", "scales", "--limit", "3", "-o", "-"]) == 0
    lines = capsysbinary.readouterr().out.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert has_canary(json.loads(line)["canary"])


def test_items_that_are_not_ours_get_no_canary(tmp_path):
    write_items(tmp_path / "items.jsonl", [ODD])
    assert "canary" not in (tmp_path / "items.jsonl").read_text()
    assert checked(tmp_path / "items.jsonl").canaries == 0


def test_check_says_whether_a_file_of_items_holds_the_canary(tmp_path, capsys):
    item = replace(ODD, images=())  # a missing picture would be an error
    file = tmp_path / "items.jsonl"
    write_items(file, [item], canary=CANARY)
    assert main(["audit", str(file), "--format", "json", "--check", "validation"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["items"], row["canary"]) == (1, "yes")
    assert row["digest"] == checked(file).digest
    write_items(file, [item])
    assert main(["audit", str(file), "--check", "validation"]) == 0
    assert " no " in capsys.readouterr().out


def test_a_file_that_holds_no_items_is_one_clear_sentence(tmp_path):
    file = tmp_path / "items.jsonl"
    file.write_text('{"id": "1", "form": "riddle", "text": "?"}\n')
    with pytest.raises(DataError, match="not an item"):
        checked(file)
    file.write_text('{"id": "1", "form": "choice", "text": "?", "choices": ["a"], "gold": []}\n')
    assert [finding.level for finding in checked(file).findings] == ["error"]
