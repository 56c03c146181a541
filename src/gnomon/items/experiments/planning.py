"""From an experiment to runs: each benchmark, with each seed, of each model, with each prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.items.experiments.reading import AskedBenchmark, Experiment
from gnomon.items.source import named_source
from gnomon.options import takes
from gnomon.registry import ModelSpec, model, model_factory


def models_of(found: Experiment, asked: AskedBenchmark) -> list[ModelSpec]:
    """The models of an experiment that are asked a benchmark."""
    if asked.models is None:
        return list(found.models)
    return [found.models[place] for place in asked.models]


def options_of_all(asked: AskedBenchmark, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """The options of a benchmark, once for each seed if it takes one and has none of its own."""
    about, source = named_source(asked.spec)
    if not seeds or "seed" in asked.options or not takes(about.sources[source], "seed"):
        return [dict(asked.options)]
    return [{**asked.options, "seed": seed} for seed in seeds]


def in_all_prompts(models: Sequence[ModelSpec], prompts: Sequence[str]) -> list[ModelSpec]:
    """Each model once for every prompt; a model that takes none, or has its own, once."""
    found = []
    for each in models:
        has_own = "prompt" in each.options or not takes(model_factory(each.spec), "prompt")
        if has_own or not prompts:
            found.append(each)
            continue
        for prompt in prompts:
            one = model(each.spec, **{**each.options, "prompt": prompt})
            found.append(one._replace(name=each.name))
    return found
