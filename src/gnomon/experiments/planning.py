"""From an experiment to runs: each benchmark, with each seed, of each model, with each prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gnomon.errors import UsageError
from gnomon.experiments.reading import AskedBenchmark, Experiment
from gnomon.itemsource import ItemSource, load, named_source
from gnomon.options import takes
from gnomon.registry import ModelSpec, model, model_factory


class Planned(NamedTuple):
    """One run: what is asked, of whom, and whether pictures are kept from it."""

    source: ItemSource
    model: ModelSpec
    blind: bool = False


def plan_experiment(found: Experiment, more: Sequence[ModelSpec] = ()) -> list[Planned]:
    """Every run of an experiment, for its own models and then for others."""
    models = [each.model for each in found.models]
    if not models and not more:
        raise UsageError(f"{found.file} names no models.", "Name one with -m.")
    plan = []
    for asked in found.benchmarks:
        mine = models
        if asked.models is not None:
            mine = [models[place] for place in asked.models]
        for source in sources_of(asked, found.seeds):
            for each in in_all_prompts([*mine, *more], found.prompts):
                plan.append(Planned(source, each, asked.blind))
    return plan


def sources_of(asked: AskedBenchmark, seeds: Sequence[int] = ()) -> Iterator[ItemSource]:
    """The items of a benchmark of an experiment, once for each seed if it takes one."""
    about, source = named_source(asked.spec)
    if not takes(about.sources[source], "seed") or "seed" in asked.options:
        seeds = ()
    for seed in seeds or [None]:
        options = dict(asked.options)
        if seed is not None:
            options["seed"] = seed
        yield load(asked.spec, **options).limited(asked.limit).permuted(asked.permute)


def in_all_prompts(models: Sequence[ModelSpec], prompts: Sequence[str]) -> list[ModelSpec]:
    """Each model once for every prompt; a model that takes none, or has its own, once."""
    found = []
    for each in models:
        mine = prompts
        if "prompt" in each.options or not takes(model_factory(each.spec), "prompt"):
            mine = ()
        for prompt in mine:
            one = model(each.spec, **{**each.options, "prompt": prompt})
            found.append(one._replace(name=each.name))
        if not mine:
            found.append(each)
    return found
