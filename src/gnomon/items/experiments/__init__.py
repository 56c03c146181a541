"""Experiments: benchmarks, models, prompts and seeds in one file, and suites of benchmarks."""

from gnomon.items.experiments.reading import (
    AskedBenchmark,
    Experiment,
    is_experiment,
    load_suite,
    read_experiment,
    suite_names,
)
from gnomon.items.experiments.writing import experiment_of

__all__ = [
    "AskedBenchmark",
    "Experiment",
    "experiment_of",
    "is_experiment",
    "load_suite",
    "read_experiment",
    "suite_names",
]
