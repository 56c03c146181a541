"""spatialqa against the authors' files: counts of the paper's Table 3, labels, and one id for a row
in all files."""

import gzip
from collections import Counter

import pytest

from gnomon.benchmarks.spatialqa import published, read, statistics

pytestmark = pytest.mark.published


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "data" / "spatialqa"


def test_counts_labels_and_table_3(folder):
    items = list(published(data=str(folder)))
    assert len({item.id for item in items}) == len(items) == 20_480
    assert Counter(",".join(item.gold) for item in items) == {
        "entailment": 9164,
        "contradiction": 5970,
        "neutral": 4968,
        "contradiction,neutral": 378,
    }
    assert statistics(items)[0].rows == (
        ("motion", 12, 552, 552),
        ("orientation", 7, 2192, 2192),
        ("distance", 20, 2260, 2100),
        ("containment", 28, 14550, 14550),
        ("metaphor", 27, 926, 926),
        ("all", 94, 20480, 20320),
    )


def test_the_same_row_has_the_same_id_in_every_file_and_order(folder, tmp_path):
    files = sorted(folder.glob("results-*.tsv.gz"))
    assert len(files) >= 2
    everywhere = [{item.id: item for item, _ in read(file)} for file in files]
    assert all(found == everywhere[0] for found in everywhere)
    header, *lines = gzip.decompress(files[0].read_bytes()).decode().splitlines(keepends=True)
    (tmp_path / "data.tsv").write_text(header + "".join(sorted(lines)))
    assert {item.id: item for item in published(data=str(tmp_path))} == everywhere[0]


def test_right_answers_by_the_authors_own_count(folder):
    files = sorted(folder.glob("results-*.tsv.gz"))
    assert files
    for file in files:
        for item, row in read(file):
            assert (row["answer"] in item.gold) == (row["correct"] == "1")
