"""Experiments: benchmarks, models, prompts and seeds in one file, and suites of benchmarks."""

from gnomon.experiments.reading import AskedBenchmark, Experiment, read_experiment
from gnomon.experiments.suites import is_experiment, load_suite, suite_names
from gnomon.experiments.writing import experiment_of

__all__ = [
    "AskedBenchmark",
    "Experiment",
    "experiment_of",
    "is_experiment",
    "load_suite",
    "read_experiment",
    "suite_names",
]
