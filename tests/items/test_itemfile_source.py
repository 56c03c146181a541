"""A file of items is asked like a benchmark."""

import pytest

import gnomon
from gnomon.contracts import Benchmark
from gnomon.errors import DataError
from gnomon.items.writing import write_items
from gnomon.records import Image, Item, problem


def item(number, **more):
    fields = {"text": "?", "choices": ("no", "yes"), "gold": ("yes",), "form": "choice"}
    return Item(id=str(number), **{**fields, **more})


def test_the_items_of_a_file_can_be_run_and_scored(tmp_path):
    write_items(tmp_path / "mine.jsonl", [item(1), item(2, gold=("no",))])
    source = gnomon.load(str(tmp_path / "mine.jsonl"))
    run = gnomon.run(source, "constant:yes", runs=tmp_path / "runs")
    assert run.benchmark == "items@mine.jsonl"
    assert gnomon.score(run)[0].value == 0.5


def test_items_that_name_their_benchmark_keep_its_measures_and_units(tmp_path):
    first = next(gnomon.load("scales", seed=1).items())
    tagged = Item(
        **{name: getattr(first, name) for name in first.__struct_fields__ if name != "tags"},
        tags=first.tags | {"benchmark": "scales@fresh"},
    )
    write_items(tmp_path / "mine.jsonl", [tagged])
    source = gnomon.load(str(tmp_path / "mine.jsonl"))
    known = gnomon.load("scales").benchmark
    assert source.name == "scales@mine.jsonl"
    assert source.benchmark.units == known.units
    assert source.benchmark.measures == known.measures


def test_pictures_of_a_file_are_found_from_anywhere(tmp_path):
    seen = item(1, images=(Image(path="pictures/1.png"), Image(path="https://example.org/2.png")))
    write_items(tmp_path / "mine.jsonl", [seen])
    [found] = gnomon.load(str(tmp_path / "mine.jsonl")).items()
    paths = [image.path for image in found.images]
    assert paths == [(tmp_path / "pictures/1.png").as_posix(), "https://example.org/2.png"]


def test_a_file_without_items_is_refused(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(DataError, match="holds no items"):
        gnomon.load(str(tmp_path / "empty.jsonl"))


def test_a_files_items_never_stand_beside_the_figures_of_a_paper():
    known = Benchmark(
        name="b", summary="", sources={"fresh": list, "published": list}, unlike_paper=("fresh",)
    )
    sources = ("published", "fresh", "mine.jsonl")
    assert [known.asks_as_paper(source) for source in sources] == [True, False, False]


def test_only_an_open_task_may_have_no_right_answer():
    assert problem(item(1, gold=())) == "gold must be one or more of the choices"
    assert problem(item(1, gold=(), tags={"task": "contrast"})) == ""
    assert problem(item(1, gold=(), choices=("a",), tags={"task": "contrast"}))
