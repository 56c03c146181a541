"""Every run that a `gnomon run` command means: benchmarks, suites and experiments by models."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.cli.selection import (
    chosen_models,
    chosen_sources,
    in_all_wordings,
    said_of_files,
    settings_of,
)
from gnomon.errors import (
    DataError,
    GnomonError,
    MissingExtraError,
    ModelError,
    UnfitError,
    UsageError,
    nearest,
    unknown,
)
from gnomon.items.limits import is_larger
from gnomon.items.source import ItemSource
from gnomon.registry import BENCHMARKS, MODELS, TASK_SETS, ModelSpec, entries, with_prompt
from gnomon.trust import as_command_says, check_may_be_sent

if TYPE_CHECKING:
    from gnomon.items.experiments import AskedBenchmark, Experiment

Lacks = tuple[type[GnomonError], ...]  # errors of what may be left out
LEFT_OUT: Lacks = (UnfitError, DataError, MissingExtraError)  # what a suite goes on without


class Planned(NamedTuple):
    """One run of the command: its folder, what is asked, and who is asked."""

    folder: Path
    source: ItemSource
    model: ModelSpec
    blind: bool
    may_lack: Lacks  # what a suite goes on without

    @property
    def title(self) -> str:
        """What the run is called while it goes on."""
        which = ""
        for name in ("prompt", "wording"):
            if self.model.options.get(name):
                which += f" · {name} {self.model.options[name]}"
        if self.source.shard is not None:
            which += f" · shard {self.source.shard}"
        return f"{self.source.name} · {self.model.name or self.model.spec}{which}"


class RunRequest(NamedTuple):
    """A benchmark, as the command or a suite names it."""

    spec: str
    options: dict[str, Any]
    models: Sequence[ModelSpec]
    limit: int | None = None
    permute: int | None = None
    blind: bool = False
    may_lack: Lacks = ()
    need_not_load: Sequence[ModelSpec] = ()  # models of a paper, which may not be here


def plan_runs(args: Namespace) -> list[Planned]:
    """Every run once, even if it was named twice: then with the larger limit."""
    from gnomon.items.examples import check_some_take_examples, with_examples
    from gnomon.runs.identity import run_folder

    asked = _asked(args)
    check_some_take_examples([model for each in asked for model in each.models], args.shots_from)
    sources = chosen_sources(args, [each.spec for each in asked], [each.options for each in asked])
    plan: dict[Path, Planned] = {}
    for each, source in zip(asked, sources, strict=True):
        limit = each.limit if args.limit is None else args.limit
        permute = each.permute if args.permute is None else args.permute
        items = source.limited(limit).permuted(permute).sharded(args.shard)
        blind = args.blind or each.blind
        for model in each.models:
            asked_so = with_prompt(model, source.benchmark.prompt)
            shown = with_examples(items, asked_so, args.shots_from)
            folder = run_folder(items, shown, args.runs, blind=blind)
            earlier = plan.get(folder)
            if earlier is None or not is_larger(earlier.source.limit, items.limit):
                may_lack = each.may_lack
                if model in each.need_not_load:
                    may_lack = (*may_lack, ModelError)
                plan[folder] = Planned(folder, items, shown, blind, may_lack)
    return list(plan.values())


def experiments_of(args: Namespace) -> dict[str, Experiment]:
    """The suites and experiments among what a command names."""
    unknown = [word for word in args.benchmarks if word.partition("@")[0] not in BENCHMARKS]
    if not unknown:
        return {}
    from gnomon.items.experiments import is_experiment, load_suite

    return {word: load_suite(word, args.models) for word in unknown if is_experiment(word)}


def _asked(args: Namespace) -> list[RunRequest]:
    files = experiments_of(args)
    if args.models and not files:
        raise UsageError(
            "models says whose models an experiment asks, and none is named.",
            "Leave it out, or name one: `gnomon list experiments`.",
        )
    of_files = [model for each in files.values() for model in each.models]
    models = chosen_models(args, args.model or [], of_files)
    if args.prompts:
        models = _in_all_wordings(args, models)
    found: list[RunRequest] = []
    joined = " ".join(args.benchmarks)
    if len(args.benchmarks) > 1 and os.path.exists(joined):
        raise UsageError(f"'{joined}' is one file.", f'Quote its name: gnomon run "{joined}"')
    for word in args.benchmarks:
        if word in files:
            found += _of_experiment(args, files[word], models)
            continue
        _check_known(word)
        if not models:
            words = [each.rpartition("=")[2] for each in args.benchmarks]  # benchmark=NAME
            named = [each for each in words if each.partition(":")[0] in MODELS]
            asked = " -m ".join(named) or "smollm2"
            raise UsageError(
                "run needs -m MODEL.",
                f"For example: gnomon run {word.rpartition('=')[2]} -m {asked}. "
                "`gnomon list models` names others.",
            )
        found.append(RunRequest(word, {}, models))
    return found


def _of_experiment(
    args: Namespace, found: Experiment, more: Sequence[ModelSpec]
) -> Iterator[RunRequest]:
    """What an experiment asks of its own models and of those that the command names."""
    from gnomon.items.experiments import OWN, in_all_prompts, options_of_all

    said = said_of_files(args)
    for each in found.benchmarks:
        own = [as_command_says(model, said) for model in _models_of(args, found, each)]
        for model in own:
            words = (each.spec, *each.options.values(), *found.prompts, *model.options.values())
            check_may_be_sent(Path(found.file), model, said, words)
        if each.choose_prompts:
            continue  # its candidates are runs of their own
        models = in_all_prompts([*own, *more], found.prompts)
        if not models and found.models and args.models != OWN:
            continue  # it is asked of others than those that were chosen
        if not models:
            raise UsageError(
                f"{Path(found.file).name} names no models.",
                "Name one with -m, such as -m smollm2. `gnomon list models` names others.",
            )
        seeds = found.seeds if args.seed is None else ()
        for options in options_of_all(each, seeds):
            yield RunRequest(
                spec=each.spec,
                options=options,
                models=models,
                limit=each.limit,
                permute=each.permute,
                blind=each.blind,
                may_lack=LEFT_OUT if found.comes_along or not found.models else (),
                need_not_load=own if found.comes_along else (),
            )


def _models_of(args: Namespace, found: Experiment, asked: AskedBenchmark) -> list[ModelSpec]:
    """The models that an experiment asks a benchmark, those of a curve point by point."""
    from gnomon.items.experiments import models_of

    if not found.trainings:
        return models_of(found, asked)
    from gnomon.cli.steps import trained_models

    places = range(len(found.models)) if asked.models is None else asked.models
    models: list[ModelSpec] = []
    for place in places:
        models += trained_models(args, found, place)
    return models


def _check_known(word: str) -> None:
    """Refuse a word that is no benchmark but much like a suite."""
    name = word.partition("@")[0]
    if name in BENCHMARKS or name in TASK_SETS:
        return
    from gnomon.items.experiments import suite_names
    from gnomon.items.itemfiles import names_items

    if names_items(word):
        return
    known = entries("benchmarks")
    is_path = "." in word or "/" in word or Path(word).exists()
    suites = [*suite_names(), *suite_names("experiments")]
    if name not in known and not is_path and nearest(name, suites):
        raise unknown("benchmark or suite", word, [*known, *suites])


def _in_all_wordings(args: Namespace, models: list[ModelSpec]) -> list[ModelSpec]:
    """Each model once for every wording of its prompt; a model without a prompt once."""
    if "wording" in settings_of(args):
        raise UsageError(
            "wording chooses one way to ask, --prompts all asks in all.",
            "Leave out one of them.",
        )
    found: list[ModelSpec] = []
    for model in models:
        found += in_all_wordings(model)
    return found
