"""Runs to report on, and pages of the browser to look at them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        f"report_{name}", Path(__file__).parent / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def made() -> ModuleType:
    """The maker of runs."""
    return _load("made")


@pytest.fixture(scope="session")
def runs(made: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs: three models on entailment, one on pairs and one on colours."""
    folder = tmp_path_factory.mktemp("runs")
    items = list(made.entailment(patterns=24, each=8))
    made.write(
        folder / "good",
        "spacenli@fresh",
        "hf:roberta-large-mnli",
        items,
        skill=0.8,
        seed=2,
        description={"parameters": 355_000_000},
    )
    made.write(
        folder / "middling",
        "spacenli@fresh",
        "smollm2",
        items,
        skill=0.5,
        seed=1,
        description={"parameters": 135_000_000, "prompt": "Premise: {context}"},
    )
    made.write(folder / "guess", "spacenli@fresh", "random", items, skill=0.2, seed=3, scale="none")
    made.write(folder / "pairs", "scales@fresh", "smollm2", made.pairs(), skill=0.6, seed=4)
    made.write(folder / "colours", "viphy@fresh", "smollm2", made.colours(), skill=0.5, seed=5)
    return folder
