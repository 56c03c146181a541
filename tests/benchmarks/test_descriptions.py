"""What benchmarks say of themselves stands in data/benchmarks, one entry each."""

from __future__ import annotations

import pytest

from gnomon import registry
from gnomon.contracts import Laws
from gnomon.files import package_data, read_yaml
from gnomon.registry import BENCHMARKS, TASK_SETS

FILES = sorted(package_data("benchmarks").glob("*.yaml"))


def test_every_benchmark_is_described_once_and_nothing_else_is():
    described = []
    for file in FILES:
        described += [name for name in read_yaml(file) if name != "all"]
    assert sorted(described) == sorted([*BENCHMARKS, *TASK_SETS])


@pytest.mark.parametrize("name", [*BENCHMARKS, *TASK_SETS])
def test_descriptions_have_the_types_that_the_contract_asks_for(name):
    found = registry.benchmark(name)
    for field in ("measures", "slices", "units", "unit_nouns", "hold_out", "unlike_paper"):
        assert isinstance(getattr(found, field), tuple), field
    assert all(isinstance(kind, tuple) for kind in (*found.units, *found.hold_out))
    assert all(isinstance(words, str) for words in found.tag_words.values())
    assert isinstance(found.laws, Laws)
    assert found.summary == {**BENCHMARKS, **TASK_SETS}[name].summary
