"""Does a model gain more on published items than others: with runs of made-up answers."""

import json

import numpy as np
import pytest

from gnomon.cli import main
from gnomon.errors import UsageError
from gnomon.measures.contamination import Credits, contamination, excess_gaps
from gnomon.measures.entries import ScoredTable
from gnomon.measures.units import Units
from gnomon.reports.tables.comparisons import contamination_shown

from .conftest import make


def credits_of(rng, chances, items=400, units=80):
    """Answers of models that are right with these chances, over items in units."""
    codes = np.arange(items)[:, None] % units
    hard = rng.normal(0, 0.1, items)
    right = rng.random((len(chances), items)) < np.array(chances)[:, None] + hard
    models = tuple(f"m{place}" for place, _ in enumerate(chances))
    return Credits(models, right.astype(float), Units(codes))


def test_a_model_that_knows_the_published_items_by_heart_is_told_from_those_that_do_not(rng):
    fresh = credits_of(rng, [0.7, 0.65, 0.75, 0.7])
    published = credits_of(rng, [0.95, 0.7, 0.8, 0.75])
    first, *others = excess_gaps("scales", published, fresh, level=0.95)
    assert first.contaminated
    assert not any(each.contaminated for each in others)
    assert first.low > 0.05
    assert first.excess == pytest.approx(first.gap - first.reference_gap)
    assert first.references == 3


def test_equal_gaps_are_no_sign_of_anything(rng):
    called = 0
    for _ in range(40):
        fresh = credits_of(rng, [0.6, 0.65, 0.7])
        published = credits_of(rng, [0.7, 0.75, 0.8])
        called += any(each.contaminated for each in excess_gaps("x", published, fresh, level=0.95))
    assert called <= 4


def entry(model, source, chance, seed):
    right = np.random.default_rng(seed).random(200) < chance
    said = ["a" if each else "b" for each in right]
    table = make(["a"] * 200, said, choices=("a", "b"), model=model, benchmark=f"set@{source}")
    return ScoredTable(table, ("accuracy",), model)


def test_runs_are_paired_by_model_and_shown():
    runs = [entry("suspect", "published", 1.0, 1), entry("suspect", "fresh", 0.6, 2)]
    runs += [entry("other", "published", 0.6, 3), entry("other", "fresh", 0.6, 4)]
    found = contamination([*runs, entry("lone", "fresh", 0.5, 5)])
    assert [(each.model, each.contaminated) for each in found] == [
        ("suspect", True),
        ("other", False),
    ]
    text = contamination_shown(found, "table", 0.95)
    assert "contaminated" in text
    assert "With one reference model" in text
    assert json.loads(contamination_shown(found, "json", 0.95))[0]["contaminated"] is True
    assert contamination_shown(found, "csv", 0.95).splitlines()[1].startswith("set,suspect,1.0,")


def test_what_is_missing_is_said(tmp_path, monkeypatch, capsys):
    with pytest.raises(UsageError, match="both the published and the fresh"):
        contamination([entry("one", "published", 0.5, 1), entry("two", "fresh", 0.5, 2)])
    twice = [entry("one", "fresh", 0.5, 1)] * 2
    with pytest.raises(UsageError, match="two runs of one"):
        contamination(twice)
    monkeypatch.chdir(tmp_path)
    assert (
        main(["run", "scales", "-m", "random", "-m", "majority", "--limit", "20", "--quiet"]) == 0
    )
    assert main(["compare", "runs", "--contamination"]) == 2
    assert "NAME@published" in capsys.readouterr().err
