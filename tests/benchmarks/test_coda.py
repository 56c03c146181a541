"""CoDa's colours, read from a folder of the user's own (ViPhy, Figures 7 and 8)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.benchmarks.viphy import tasks as viphy
from gnomon.benchmarks.viphy.files import ORDER, _kendall, read_coda
from gnomon.benchmarks.viphy.tables import statistics
from gnomon.errors import DataError, GnomonError, UsageError
from gnomon.records import problem


def row(name: str, **shares: float) -> str:
    label = [shares.get(colour, 0.0) for colour in ORDER]
    return json.dumps({"display_name": name, "label": label, "text": f"Most {name}s are [MASK]."})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    train = [row("Banana", yellow=0.6, green=0.4), row("Banana", yellow=0.6, green=0.4)]
    test = [row("Basketball (Ball)", orange=0.95, black=0.05), row("Zebra", black=0.5, white=0.5)]
    (tmp_path / "default_train.jsonl").write_text("\n".join(train) + "\n")
    (tmp_path / "default_test.jsonl").write_text("\n".join(test) + "\n")
    return tmp_path


def test_an_object_is_read_once_with_its_typical_colours(folder: Path) -> None:
    found = {row.object: set(row.shares) for row in read_coda(str(folder))}
    assert found == {
        "banana": {"yellow", "green"},
        "basketball": {"orange"},
        "zebra": {"black", "white"},
    }


def test_the_colours_are_by_the_alphabet_as_the_dataset_says() -> None:
    assert ORDER[0] == "black"
    assert ORDER[-1] == "yellow"
    assert len(ORDER) == 11


def test_the_objects_are_a_source_of_the_colour_benchmark(folder: Path) -> None:
    items = list(viphy.COLOR.sources["coda"](data=str(folder)))
    assert [problem(item) for item in items] == [""] * 3
    zebra = next(item for item in items if item.group == "zebra")
    assert zebra.gold == ("white", "black")
    assert zebra.text.count("[MASK]") == 1


def test_the_statistics_give_figures_7_and_8_for_coda_too(folder: Path) -> None:
    tables = {table.title: table for table in statistics(list(viphy.coda_color(data=str(folder))))}
    shares = {colour: share for colour, _, share in tables["Figure 7: colours"].rows}
    assert shares == dict.fromkeys(("yellow", "green", "orange", "black", "white"), 1 / 5)
    by_number = tables["Figure 8: colours by label cardinality"]
    assert [row[:2] for row in by_number.rows] == [(1, 1), (2, 2)]
    orange = by_number.columns.index("orange")
    assert [row[orange] for row in by_number.rows] == [1, 0]


def test_without_a_folder_or_its_files_the_hint_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="folder of your own") as caught:
        read_coda("")
    assert "--data" in caught.value.hint
    with pytest.raises(DataError, match="no file of CoDa"):
        read_coda(str(tmp_path))


def test_annotations_without_the_objects_are_refused(tmp_path: Path) -> None:
    (tmp_path / "annotations.jsonl").write_text('{"display_name": "Pigs", "pink": 4}\n')
    with pytest.raises(GnomonError, match=r"objects\.jsonl"):
        read_coda(str(tmp_path))


OTHERS = {colour: 5 for colour in ORDER if colour not in ("pink", "gray")}
COUNTS = {
    "/m/pig": [{"pink": 4, "gray": 4}, {"pink": 5, "gray": 3}, OTHERS],
    "/m/mouse": [dict.fromkeys(ORDER, 5)],
    "/m/soap": [{}],
}


def test_what_each_person_said_is_read_as_the_authors_average_it(tmp_path: Path) -> None:
    """Of pigs somebody says the opposite of all others, and is left out; who skips says nothing."""
    lines = [{"class_id": "/m/pig", "action": "skipped", "included": False, "worker_id": 9}]
    for name, people in COUNTS.items():
        for number, counts in enumerate(people):
            known = dict.fromkeys(ORDER, 0) | counts
            lines.append({"class_id": name, "worker_id": number, "included": True, **known})
    objects = [
        {"class_id": "/m/pig", "display_name": "Pig", "object_pl": "pigs"},
        {"class_id": "/m/mouse", "display_name": "Computer mouse"},
        {"class_id": "/m/soap", "display_name": "Soap"},
        {"class_id": "/m/other", "display_name": "Nobody was asked"},
    ]
    (tmp_path / "annotations.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "objects.jsonl").write_text("\n".join(map(json.dumps, objects)))
    found = {row.object: row.shares for row in read_coda(str(tmp_path))}
    assert found.keys() == {"pig", "computer mouse"}
    assert set(found["pig"]) == {"pink", "gray"}
    assert found["pig"]["pink"] / found["pig"]["gray"] == pytest.approx(
        (4 / 8 + 5 / 8) / (4 / 8 + 3 / 8)
    )
    assert len(found["computer mouse"]) == len(ORDER)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=11))
def test_kendall_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    first, second = np.array(pairs, dtype=float).T
    theirs = stats.kendalltau(first, second).statistic
    assert _kendall(first, second) == pytest.approx(1.0 if np.isnan(theirs) else theirs)
