"""A file that says what is asked of whom: benchmarks, models, prompts, seeds, a limit, a report.

A suite is such a file without models. Everything is checked, with its line, before anything loads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError
from gnomon.experiments.marked import Marked, read_marked
from gnomon.itemsource import load, named_source
from gnomon.naming import check_name
from gnomon.options import takes
from gnomon.redaction import HIDDEN
from gnomon.registry import ModelSpec, model, named_model

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
    at: Marked  # where it stands
    limit: int | None = None
    permute: int | None = None
    blind: bool = False
    models: tuple[int, ...] | None = None  # places of those who are asked; none for all


@dataclass(frozen=True)
class AskedModel:
    """A model of an experiment."""

    model: ModelSpec
    at: Marked


@dataclass(frozen=True)
class Experiment:
    """What is asked of whom."""

    file: str
    benchmarks: tuple[AskedBenchmark, ...]
    models: tuple[AskedModel, ...] = ()
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
    benchmarks = []
    for each in fields["benchmarks"].entries("benchmarks"):
        benchmarks.append(_benchmark(each, limit, permute, models))
    if not benchmarks:
        raise fields["benchmarks"].wrong("the list is empty.", "Name a benchmark in it.")
    return Experiment(
        file=str(file),
        benchmarks=tuple(benchmarks),
        models=tuple(models),
        prompts=_prompts(fields),
        seeds=_seeds(fields),
        report=_report(fields),
        summary=fields["summary"].text("the summary") if "summary" in fields else "",
    )


def _models(fields: dict[str, Marked]) -> list[AskedModel]:
    if "models" not in fields:
        return []
    found: list[AskedModel] = []
    names: dict[str, str] = {}
    for each in fields["models"].entries("models"):
        one = _model(each)
        name = one.model.name
        if name and names.setdefault(name, one.model.spec) != one.model.spec:
            raise each.wrong(f"two models are called '{name}'.", "Give each a name of its own.")
        found.append(one)
    return found


def _model(at: Marked) -> AskedModel:
    if not isinstance(at.value, dict):
        text = at.text("a model")
        with _told_at(at):
            return AskedModel(model(text), at)
    fields = at.fields("a model", OF_MODEL)
    if "model" not in fields:
        raise at.wrong("it does not say which model.", "Write `model: SPEC`, as after -m.")
    options = _options(fields)
    given = fields["model"]
    with _told_at(given):
        named = named_model(given.text("a model"))
        made = model(named.spec, **options)
        name = named.name
    if "name" in fields:
        with _told_at(fields["name"]):
            name = check_name(fields["name"].text("a name"))
    return AskedModel(made._replace(name=name), at)


def _benchmark(
    at: Marked, limit: int | None, permute: int | None, models: list[AskedModel]
) -> AskedBenchmark:
    if not isinstance(at.value, dict):
        spec = at.text("a benchmark")
        _check_benchmark(spec, {}, at)
        return AskedBenchmark(spec, {}, at, limit, permute)
    fields = at.fields("a benchmark", OF_BENCHMARK)
    if "name" not in fields:
        raise at.wrong("it does not say which benchmark.", "Write `name: BENCHMARK`.")
    spec = fields["name"].text("a benchmark")
    options = _options(fields)
    _check_benchmark(spec, options, fields["name"])
    own_limit, own_permute = _whole(fields, "limit", 1), _whole(fields, "permute", 0)
    return AskedBenchmark(
        spec=spec,
        options=options,
        at=at,
        limit=limit if own_limit is None else own_limit,
        permute=permute if own_permute is None else own_permute,
        blind=_truth(fields, "blind"),
        models=_chosen(fields, models),
    )


def _check_benchmark(spec: str, options: dict[str, Any], at: Marked) -> None:
    with _told_at(at):
        load(spec, **options)


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
        found[name.replace("-", "_")] = value
    return found


def _chosen(fields: dict[str, Marked], models: list[AskedModel]) -> tuple[int, ...] | None:
    """Which of the models are asked: by name, spec, or place counted from 1."""
    if "models" not in fields:
        return None
    found = []
    for each in fields["models"].entries("models"):
        if isinstance(each.value, int):
            place = each.whole("a place", 1) - 1
            fitting = [place] if place < len(models) else []
        else:
            wanted = each.text("a model")
            fitting = _called(wanted, models)
        if len(fitting) != 1:
            few = "no model" if not fitting else "several models"
            raise each.wrong(
                f"{few} of this file: '{each.value}'.",
                "Name one by its name or spec, or by its place in `models`, counted from 1.",
            )
        found += fitting
    return tuple(found)


def _called(wanted: str, models: list[AskedModel]) -> list[int]:
    found = []
    for place, each in enumerate(models):
        if wanted in (each.model.name, each.model.spec):
            found.append(place)
    return found


def _prompts(fields: dict[str, Marked]) -> tuple[str, ...]:
    from gnomon.probing.prompts import load_prompt

    found = []
    for each in _listed(fields, "prompts"):
        prompt = each.text("a prompt")
        with _told_at(each):
            load_prompt(prompt)
        found.append(prompt)
    return tuple(found)


def _seeds(fields: dict[str, Marked]) -> tuple[int, ...]:
    found = tuple(each.whole("a seed", 0) for each in _listed(fields, "seeds"))
    if found and not any(_takes_seed(each) for each in fields["benchmarks"].entries("")):
        raise fields["seeds"].wrong("none of the benchmarks takes a seed.", "Leave it out.")
    return found


def _takes_seed(at: Marked) -> bool:
    spec = at.value["name"].value if isinstance(at.value, dict) else at.value
    found, source = named_source(spec)
    return takes(found.sources[source], "seed")


def _report(fields: dict[str, Marked]) -> str:
    if "report" not in fields:
        return ""
    file = fields["report"].text("the report")
    if not Path(file).expanduser().parent.is_dir():
        raise fields["report"].wrong(
            f"there is no folder for {file}.", "Make the folder, or name another file."
        )
    return file


def _listed(fields: dict[str, Marked], name: str) -> list[Marked]:
    return fields[name].entries(name) if name in fields else []


def _whole(fields: dict[str, Marked], name: str, least: int) -> int | None:
    return fields[name].whole(f"the {name}", least) if name in fields else None


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
