"""Every published source reads files of the authors' form, in the layout of their repositories.

The files are tiny and their content is our own, so these tests run everywhere; what the authors'
files themselves hold, the other tests here check where those files are.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import gnomon
from gnomon.records import problem
from gnomon.registry import BENCHMARKS, benchmark
from hostile.published import FILES

# Benchmark, whose files, options, and how many items they give.
SETS = [
    ("spacenli", "spacenli", {"per_group": -1}, 12),
    ("spacenli", "spacenli", {"per_group": 2}, 4),
    ("scales", "spatial-commonsense", {}, 2),
    ("posrel", "spatial-commonsense", {"form": "both"}, 6),
    ("posrel-general", "spatial-commonsense", {}, 2),
    ("spatialqa", "spatialqa", {}, 5),
    ("viphy-color", "viphy", {}, 2),
    ("viphy-color", "viphy", {"split": "train-20"}, 1),
    ("viphy-size", "viphy", {}, 2),
    ("viphy-size", "viphy", {"split": "train-20", "prompt": "question"}, 2),
    ("viphy-size-subtype", "viphy", {}, 2),
    ("viphy-size-transitive", "viphy", {}, 1),
    ("viphy-spatial", "viphy", {}, 2),
    ("viphy-spatial", "viphy", {"levels": 2}, 1),
    ("vsr", "vsr", {}, 4),
    ("vsr", "vsr", {"split": "test"}, 2),
    ("vsr", "vsr", {"split": "raw"}, 4),
    ("relativesize", "relativesize", {}, 4),
]


@pytest.fixture
def extracts(tmp_path: Path) -> Path:
    for source, files in FILES.items():
        for path, content in files.items():
            file = tmp_path / source / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    return tmp_path


def test_every_published_source_is_tried():
    published = {name for name in BENCHMARKS if "published" in benchmark(name).sources}
    assert {name for name, *_ in SETS} == published


@pytest.mark.filterwarnings("ignore::gnomon.errors.MissingFileWarning")
@pytest.mark.parametrize(("name", "source", "options", "count"), SETS)
def test_files_of_the_authors_form_give_whole_items(extracts, name, source, options, count):
    items = list(gnomon.load(f"{name}@published", data=str(extracts / source), **options).items())
    assert len(items) == count
    assert [problem(item) for item in items if problem(item)] == []
    assert len({item.id for item in items}) == count


def first(extracts: Path, name: str, source: str, **options: object) -> gnomon.Item:
    return next(gnomon.load(f"{name}@published", data=str(extracts / source), **options).items())


def test_what_is_asked_is_what_the_files_say(extracts):
    item = first(extracts, "spacenli", "spacenli", per_group=0)
    assert (item.context, item.text) == ("The hare is near the barn.", "The barn is near the hare.")
    item = first(extracts, "viphy-spatial", "viphy", levels=2)
    assert (item.text, item.gold) == (
        "in a living_room, the lamp is located [MASK] the mat",
        ("above",),
    )
    item = first(extracts, "vsr", "vsr", split="test")
    assert (item.text, item.gold, item.tags["category"]) == (
        "The cup is beside the lamp.",
        ("true",),
        "Projective",
    )


def test_questions_that_are_read_and_rebuilt_are_worded_alike(extracts):
    folder = extracts / "spatial-commonsense"
    read = list(gnomon.load("posrel@published", data=str(folder), form="choice").items())
    (folder / "data/posrel/data_qa.json").unlink()
    rebuilt = list(gnomon.load("posrel@published", data=str(folder), form="choice").items())
    assert rebuilt == read
    assert read[0].context == "A man drives the car."
