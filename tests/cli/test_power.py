"""gnomon power: what a benchmark can show, what it would take, and how long."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import gnomon
from gnomon import registry
from gnomon.cli import main
from gnomon.contracts import Benchmark
from gnomon.errors import ModelError
from gnomon.measures.power import plan_set
from gnomon.records import Answer, Item
from gnomon.registry import BENCHMARKS, MODELS, Entry, model
from gnomon.runs.estimates import SAMPLE, time_items


def pairs(*, objects: int = 12, most: int = 40):
    """All pairs of some objects, or the first of them; -1 for all."""
    found = []
    for one in range(objects):
        for two in range(one):
            tags = {"one": f"o{one}", "two": f"o{two}"}
            text = f"Is {one} larger than {two}?"
            item = Item(
                id=f"{one}/{two}",
                form="choice",
                text=text,
                choices=("yes", "no"),
                gold=("yes",),
                tags=tags,
            )
            found.append(item)
    return found if most < 0 else found[:most]


PAIRS = Benchmark(
    name="pairs",
    summary="pairs of objects",
    sources={"fresh": pairs},
    units=(("one", "two"),),
    unit_nouns=("objects",),
    full={"most": -1},
)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(BENCHMARKS, "pairs", Entry(f"{__name__}:PAIRS", "for tests"))
    monkeypatch.setitem(MODELS, "broken", Entry(f"{__name__}:Broken", "for tests"))


class Broken:
    """A model that never answers."""

    spec, scale = "broken", "none"

    def __init__(self, name):
        self.closed = False

    def describe(self):
        return {}

    def answer(self, items):
        return [Answer(item=item.id, error="no luck") for item in items]


def planned(capsys, *words):
    assert main(["power", *words, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_default_and_the_full_set_are_planned_with_their_units(capsys):
    found = planned(capsys, "pairs")
    default, full = found["sets"]
    assert (default["set"], default["items"]) == ("default", 40)
    assert (full["set"], full["items"], full["units"]) == ("full", 66, {"objects": 12})
    assert full["detectable"] < default["detectable"]
    assert found["difference"] == 0.03
    assert not full["enough"]
    assert full["items_needed"] is None, "more items of twelve objects do not show 3 points"
    assert full["units_needed"]["objects"] > 12


def test_a_larger_difference_needs_less(capsys):
    small = planned(capsys, "pairs", "--difference", "10")["sets"][0]
    large = planned(capsys, "pairs", "--difference", "50")["sets"][0]
    assert small["units_needed"]["objects"] > large["units_needed"]["objects"]
    assert large["enough"]


def test_all_items_can_be_run_and_shown(capsys):
    assert main(["run", "pairs", "--set", "all=yes", "-m", "random", "--quiet"]) == 0
    (run,) = gnomon.runs.open_runs(["runs"])
    assert run.manifest.counts.items == 66
    capsys.readouterr()
    assert main(["power", "pairs", "--set", "all=yes"]) == 0
    assert "full" in capsys.readouterr().out
    assert (
        main(["run", "pairs", "--set", "all=yes", "--set", "most=50", "-m", "random", "--quiet"])
        == 0
    )
    counts = {run.manifest.counts.items for run in gnomon.runs.open_runs(["runs"])}
    assert counts == {66, 50}, "what the user gives counts more"


def test_a_benchmark_without_a_larger_set_says_so(capsys, monkeypatch):
    monkeypatch.setitem(BENCHMARKS, "small", Entry(f"{__name__}:SMALL", "for tests"))
    assert main(["run", "small", "--set", "all=yes", "-m", "random"]) == 2
    assert "no larger set" in capsys.readouterr().err


SMALL = replace(PAIRS, name="small", full={})


def test_the_table_says_in_words_what_the_set_cannot_show(capsys):
    assert main(["power", "pairs"]) == 0
    out = capsys.readouterr().out
    assert "cannot show a difference of 3 points" in out
    assert "objects" in out


def test_with_a_model_the_time_of_a_run_is_estimated(capsys):
    found = planned(capsys, "pairs", "-m", "random")
    assert found["timing"]["items"] == SAMPLE
    assert found["timing"]["seconds"] > 0
    default, full = found["sets"]
    assert 0 < default["seconds"] < full["seconds"]
    assert main(["power", "pairs", "-m", "random"]) == 0
    assert "estimates" in capsys.readouterr().out


def test_a_model_that_fails_on_every_item_gives_no_time():
    with pytest.raises(ModelError, match="no luck"):
        time_items(gnomon.load("pairs"), model("broken"))


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--difference", "0"), "between 0 and 100"),
        (("--accuracy", "1.5"), "accuracy"),
        (("--shots", "2"), "-m MODEL"),
    ],
)
def test_what_makes_no_sense_is_refused(capsys, words, what):
    assert main(["power", "pairs", *words]) == 2
    assert what in capsys.readouterr().err


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_every_fresh_benchmark_can_be_planned(name):
    from gnomon.registry import benchmark

    found = benchmark(name)
    if "fresh" not in found.sources:
        return
    items = list(gnomon.load(f"{name}@fresh").limited(60).items())
    planned = plan_set(items, found, difference=0.03, accuracy=0.7)
    assert planned.plan.items == len(items)
    assert planned.plan.detectable > 0
    assert len(planned.nouns) == len(planned.plan.units_per_kind)


def test_planning_draws_no_pictures(monkeypatch, capsys):
    """Units do not depend on pixels: drawing hundreds of scenes would take minutes."""

    def draw(*_, **__):
        raise AssertionError("a picture was made")

    known = registry.benchmark("vsr")
    drawn = replace(known, full={"quads": 4}, illustrators=dict.fromkeys(known.illustrators, draw))
    assert drawn.illustrators
    monkeypatch.setattr(registry, "benchmark", lambda name: drawn)
    assert main(["power", "vsr", "--set", "items.quads=4"]) == 0  # 16 items
    assert "16" in capsys.readouterr().out


def test_own_items_without_groups_are_planned_as_items():
    items = [Item(id=f"{i}", form="choice", text="?", choices=("a", "b")) for i in range(9)]
    found = plan_set(
        items, Benchmark(name="mine", summary="", sources={}), difference=0.1, accuracy=0.7
    )
    assert found.nouns == ("items",)
