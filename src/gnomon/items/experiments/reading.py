"""A file that says what is asked of whom: benchmarks, models, prompts, seeds, a limit, a report.

A suite is such a file without models. Everything is checked, with its line, before anything loads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError
from gnomon.items.experiments.marked import Marked, read_marked
from gnomon.items.source import load, named_source
from gnomon.naming import check_name
from gnomon.options import takes
from gnomon.redaction import HIDDEN
from gnomon.registry import ModelSpec
from gnomon.trust import check_option, model_of_file, output_below

SETTINGS = (
    "summary",
    "benchmarks",
    "models",
    "prompts",
    "seeds",
    "limit",
    "permute",
    "report",
)
OF_BENCHMARK = ("name", "options", "limit", "permute", "blind", "models")
OF_MODEL = ("name", "model", "options")


@dataclass(frozen=True)
class AskedBenchmark:
    """A benchmark of an experiment, with what is asked of it."""

    spec: str
    options: dict[str, Any]
    limit: int | None = None
    permute: int | None = None
    blind: bool = False
    models: tuple[int, ...] | None = None  # places of those who are asked; none for all


@dataclass(frozen=True)
class Experiment:
    """What is asked of whom."""

    file: str
    benchmarks: tuple[AskedBenchmark, ...]
    models: tuple[ModelSpec, ...] = ()
    prompts: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    report: str = ""
    summary: str = ""


def read_experiment(file: Path) -> Experiment:
    """The experiment or suite that a file describes; what cannot be meant is told with its line."""
    content = read_marked(file)
    fields = content.fields("an experiment", SETTINGS)
    if "benchmarks" not in fields:
        raise content.wrong("it names no benchmarks.", "List them below `benchmarks:`.")
    models = _models(fields)
    limit, permute = _whole(fields, "limit", 1), _whole(fields, "permute", 0)
    benchmarks: list[AskedBenchmark] = []
    for each in fields["benchmarks"].entries("benchmarks"):
        benchmarks.append(_benchmark(each, limit, permute, models))
    if not benchmarks:
        raise fields["benchmarks"].wrong("the list is empty.", "Name a benchmark in it.")
    return Experiment(
        file=str(file),
        benchmarks=tuple(benchmarks),
        models=tuple(models),
        prompts=_prompts(fields),
        seeds=_seeds(fields, benchmarks),
        report=_report(file, fields),
        summary=_text(fields, "summary"),
    )


def _models(fields: dict[str, Marked]) -> list[ModelSpec]:
    found: list[ModelSpec] = []
    specs: dict[str, str] = {}
    for each in _listed(fields, "models"):
        one = _model(each)
        if one.name and specs.setdefault(one.name, one.spec) != one.spec:
            raise each.wrong(f"two models are called '{one.name}'.", "Give each a name of its own.")
        found.append(one)
    return found


def _model(at: Marked) -> ModelSpec:
    fields = at.fields_or("model", "a model", OF_MODEL)
    if "model" not in fields:
        raise at.wrong("it does not say which model.", "Write `model: SPEC`, as after -m.")
    spec = fields["model"].text("a model")
    options = _options(fields)
    with _told_at(fields["model"]):
        found = model_of_file(spec, options)
    if "name" not in fields:
        return found
    name = fields["name"].text("a name")
    with _told_at(fields["name"]):
        return found._replace(name=check_name(name))


def _benchmark(
    at: Marked, limit: int | None, permute: int | None, models: list[ModelSpec]
) -> AskedBenchmark:
    fields = at.fields_or("name", "a benchmark", OF_BENCHMARK)
    if "name" not in fields:
        raise at.wrong("it does not say which benchmark.", "Write `name: BENCHMARK`.")
    spec = fields["name"].text("a benchmark")
    options = _options(fields)
    with _told_at(fields["name"]):
        load(spec, **options)
    return AskedBenchmark(
        spec=spec,
        options=options,
        limit=_whole(fields, "limit", 1, limit),
        permute=_whole(fields, "permute", 0, permute),
        blind=_truth(fields, "blind"),
        models=_chosen(fields, models),
    )


def _options(fields: dict[str, Marked]) -> dict[str, Any]:
    if "options" not in fields:
        return {}
    found = {}
    for name, each in fields["options"].mapping("options").items():
        value = each.plain()
        if isinstance(value, str) and HIDDEN in value:
            raise each.wrong(
                f"{HIDDEN} stands where a secret was left out.",
                "Write the value, or leave out the line and give the option on the command line.",
            )
        if isinstance(value, dict | list):
            raise each.wrong("an option has one value.", "Write it on one line, in quotes.")
        option = name.replace("-", "_")
        with _told_at(each):
            check_option(option, value)
        found[option] = value
    return found


def _chosen(fields: dict[str, Marked], models: list[ModelSpec]) -> tuple[int, ...] | None:
    """Which of the models are asked: by name, spec, or place counted from 1."""
    if "models" not in fields:
        return None
    found = []
    for each in fields["models"].entries("models"):
        fitting = _places(each, models)
        if len(fitting) != 1:
            few = "several models" if fitting else "no model"
            raise each.wrong(
                f"{few} of this file: '{each.value}'.",
                "Name one by its name or spec, or by its place in `models`, counted from 1.",
            )
        found += fitting
    return tuple(found)


def _places(at: Marked, models: list[ModelSpec]) -> list[int]:
    """The places of all models that are meant."""
    every = range(len(models))
    if isinstance(at.value, int):
        wanted = at.whole("a place", 1) - 1
        return [wanted] if wanted in every else []
    called = at.text("a model")
    return [place for place in every if called in (models[place].name, models[place].spec)]


def _prompts(fields: dict[str, Marked]) -> tuple[str, ...]:
    from gnomon.models.prompts.library import load_prompt

    found = []
    for each in _listed(fields, "prompts"):
        prompt = each.text("a prompt")
        with _told_at(each):
            load_prompt(prompt)
        found.append(prompt)
    return tuple(found)


def _seeds(fields: dict[str, Marked], benchmarks: Sequence[AskedBenchmark]) -> tuple[int, ...]:
    found = tuple(each.whole("a seed", 0) for each in _listed(fields, "seeds"))
    if found and not any(map(_takes_seed, benchmarks)):
        raise fields["seeds"].wrong("none of the benchmarks takes a seed.", "Leave it out.")
    return found


def _takes_seed(asked: AskedBenchmark) -> bool:
    found, source = named_source(asked.spec)
    return takes(found.sources[source], "seed")


def _report(file: Path, fields: dict[str, Marked]) -> str:
    page = _text(fields, "report")
    if not page:
        return ""
    with _told_at(fields["report"]):
        return str(output_below(file, page))


def _text(fields: dict[str, Marked], name: str) -> str:
    return fields[name].text(f"the {name}") if name in fields else ""


def _listed(fields: dict[str, Marked], name: str) -> list[Marked]:
    return fields[name].entries(name) if name in fields else []


def _whole(
    fields: dict[str, Marked], name: str, least: int, otherwise: int | None = None
) -> int | None:
    return fields[name].whole(f"the {name}", least) if name in fields else otherwise


def _truth(fields: dict[str, Marked], name: str) -> bool:
    if name not in fields:
        return False
    if isinstance(fields[name].value, bool):
        return bool(fields[name].value)
    raise fields[name].wrong(f"{name} must be yes or no.", "Write yes or no.")


@contextmanager
def _told_at(at: Marked) -> Iterator[None]:
    """What is wrong inside is told with the line."""
    try:
        yield
    except GnomonError as error:
        raise at.wrong(error.message, error.hint) from None
