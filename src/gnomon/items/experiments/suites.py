"""Suites: benchmarks that are asked together, by name or from a file of one's own."""

from __future__ import annotations

from pathlib import Path

from gnomon.errors import check_known
from gnomon.files import package_data
from gnomon.items.experiments.reading import Experiment, read_experiment
from gnomon.items.lmtask import is_task_file

ENDINGS = (".yaml", ".yml")


def suite_names() -> list[str]:
    """The suites that come with Gnomon.

    >>> "quick" in suite_names()
    True
    """
    return sorted(file.stem for file in package_data("suites").glob("*.yaml"))


def is_experiment(text: str) -> bool:
    """Whether a word names a suite or a file of one.

    >>> is_experiment("quick"), is_experiment("mine.yaml"), is_experiment("scales")
    (True, True, False)
    """
    if text in suite_names():
        return True
    return text.endswith(ENDINGS) and not is_task_file(text)


def load_suite(text: str) -> Experiment:
    """The suite of that name, or the experiment in that file."""
    if text.endswith(ENDINGS):
        return read_experiment(Path(text))
    check_known("suite", text, suite_names())
    return read_experiment(package_data(f"suites/{text}.yaml"))
