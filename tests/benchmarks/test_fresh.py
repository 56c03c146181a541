"""What holds of every fresh set: an id stands for one question, and words do not give the answers
away."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon import load
from gnomon.records import Item
from gnomon.registry import BENCHMARKS, benchmark

# The built-in ones: a plug-in that is installed here has its own tests.
FRESH = [name for name in BENCHMARKS if "fresh" in benchmark(name).sources]
# Options that change what is drawn or how it is asked; few items each, so that many seeds can be
# tried.
OPTIONS: dict[str, list[dict[str, object]]] = {
    "scales": [{}, {"form": "choice"}, {"scale": "size", "pairs": 400, "bands": "3-10"}],
    "posrel": [{}, {"form": "both"}],
    "posrel-general": [{}, {"form": "both", "per_group": 2}],
    "spacenli": [{"per_group": 1}, {"per_group": 3}, {"per_group": 0}],
    "spatialqa": [{"per_group": 1}, {"per_group": 7}, {"per_group": 2, "paired": True}],
    "viphy-color": [{}, {"each": 20, "prompt": "question"}, {"each": 0}],
    "viphy-size": [{"pairs": 100}, {"pairs": 300, "prompt": "finetune"}],
    "viphy-size-subtype": [{"pairs": 100}, {"bands": "10-100"}],
    "viphy-size-transitive": [{"pairs": 100}, {}],
    "viphy-spatial": [{}, {"levels": 2}, {"blocks": 100}],
    "vsr": [{"quads": 3}, {"quads": 3, "form": "text"}, {"quads": 2, "controls": "only"}],
}
# Finding scenes takes longer than drawing words: fewer of them are tried.
FEWER: dict[str, dict[str, object]] = {
    "spatialqa": {"per_group": 10},
    "vsr": {"quads": 20},
}


def drawn(name: str, seeds: tuple[int, int]) -> Iterator[Item]:
    for options in OPTIONS[name]:
        for seed in seeds:
            yield from load(name, seed=seed, **options).without_pictures()


def test_every_fresh_set_is_tried():
    assert set(OPTIONS) == set(FRESH)


@pytest.mark.parametrize("name", FRESH)
@settings(max_examples=3, deadline=None)
@given(seeds=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)))
def test_an_id_stands_for_one_question_whatever_the_seed_and_the_options(
    name: str, seeds: tuple[int, int]
):
    known: dict[str, Item] = {}
    for item in drawn(name, seeds):
        assert known.setdefault(item.id, item) == item
    assert len(known) > 10


@pytest.mark.parametrize("name", FRESH)
def test_a_question_keeps_its_id_under_another_seed_and_ids_stay_short(name: str):
    ids: dict[tuple[object, ...], str] = {}
    for item in drawn(name, (0, 1)):
        shown = [image.path for image in item.images]
        question = (item.form, item.context, item.text, item.choices, item.group, *shown)
        assert ids.setdefault(question, item.id) == item.id
        assert len(item.id) <= 120
        assert " " not in item.id
    assert len(ids) > 10


@pytest.fixture(scope="module")
def shortcuts():
    pytest.importorskip("sklearn")
    spec = importlib.util.spec_from_file_location(
        "shortcuts", Path(__file__).parents[2] / "bench" / "shortcuts.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("rule", ["hypothesis-only", "bag-of-words"])
@pytest.mark.parametrize("name", FRESH)
def test_classifiers_of_words_are_at_chance(shortcuts, name: str, rule: str):
    """Within 3 standard errors (docs/benchmarks.md)."""
    items = list(load(name, **FEWER.get(name, {})).without_pictures())
    about = benchmark(name)
    right = shortcuts.trained(rule, items, about)
    found = shortcuts.row(name, rule, items, right, about.hold_out)
    assert found["errors"] == "–" or abs(found["errors"]) <= 3, found


def test_errors_of_pairs_that_share_objects_are_not_taken_as_independent(shortcuts):
    items = list(load("scales", scale="size", form="cloze", pairs=-1).items())
    often = Counter(item.tags["obj_a"] for item in items).most_common(1)[0][0]
    of_one = [float(often in (item.tags["obj_a"], item.tags["obj_b"])) for item in items]
    mean = sum(of_one) / len(items)
    residuals = [value - mean for value in of_one]
    alone = sum(value * value for value in residuals) ** 0.5 / len(items)
    assert shortcuts.standard_error(items, residuals, (("obj_a", "obj_b"),)) > 3 * alone
