from __future__ import annotations

from pathlib import Path
from types import ModuleType

import gnomon
from gnomon.reports.page.notes import methods
from gnomon.reports.study import studies
from gnomon.runs import Run


def facts_of(run: Run) -> dict[str, str]:
    (method,) = methods(studies([run]))
    return dict(method.facts)


def test_the_seeds_of_items_and_model_are_told(tmp_path: Path) -> None:
    run = gnomon.run(
        gnomon.load("scales", seed=4),
        gnomon.model("random", model_seed=7),
        limit=10,
        runs=tmp_path / "runs",
    )
    assert facts_of(run)["Seed"] == "items 4, model 7"


def test_the_default_seed_of_a_model_is_told_too(tmp_path: Path) -> None:
    run = gnomon.run(gnomon.load("scales", seed=4), "random", limit=10, runs=tmp_path / "runs")
    assert facts_of(run)["Seed"] == "items 4, model 0"


def test_the_seed_of_requests_is_told(made: ModuleType, tmp_path: Path) -> None:
    run = made.write(
        tmp_path / "r",
        "b@fresh",
        "openai:m",
        made.entailment(2, 2),
        model_options={"request_seed": 5},
    )
    assert facts_of(run)["Seed"] == "items 0, requests 5"


def test_answers_are_counted_from_the_log_not_from_a_stale_manifest(
    made: ModuleType, tmp_path: Path
) -> None:
    run = made.write(
        tmp_path / "r", "b@fresh", "m", made.entailment(4, 5), answered=0.5, finished=False
    )
    run.manifest.counts = type(run.manifest.counts)()  # as it is while a run is going on
    found = facts_of(run)
    assert found["Items"] == "20"
    assert found["Answers"] == "10 read, 0 unreadable, 0 failed, 10 not asked yet"


def test_a_limit_beyond_the_benchmark_draws_nothing(tmp_path: Path) -> None:
    told = []
    for limit in (10, 100_000):  # the second extends the run of the first
        run = gnomon.run("viphy-color", "random", limit=limit, runs=tmp_path / "runs")
        told.append(facts_of(run)["Items"])
    assert told == ["10, drawn evenly over the benchmark", "633"]
