"""What an experiment does before its runs and after them: trainings, prompts, tables, figures."""

from __future__ import annotations

import io
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

from gnomon import api
from gnomon.cli import prompts
from gnomon.cli.curve import amounts_of, train_curve
from gnomon.cli.dispatch import command_parser, tell
from gnomon.cli.plan import Planned
from gnomon.cli.progress import training_line
from gnomon.cli.selection import said_of_files
from gnomon.errors import GnomonError, MissingFileWarning
from gnomon.grouped import grouped
from gnomon.items.experiments import AskedBenchmark, Experiment, Training, models_of
from gnomon.items.source import ItemSource, named_source
from gnomon.items.writing import atomic_file
from gnomon.measures.entries import entries_of
from gnomon.options import takes
from gnomon.registry import ModelSpec, model, model_factory
from gnomon.runs import MANIFEST, Run
from gnomon.tabular import render
from gnomon.trust import RESULTS, as_command_says

if TYPE_CHECKING:
    from gnomon.train.recipes import Recipe

PLACES = ("data", "images")  # options of the command that trainings read their items by
HEAD = "# Tables beside the paper's, written by Gnomon\n"


def train_models(args: Namespace, found: Experiment) -> None:
    """Make the models that an experiment trains; those that are finished are not trained again."""
    for _, training in found.trainings:
        try:
            _train(args, training)
        except GnomonError as error:
            if not found.comes_along:
                raise
            tell(f"{training.folder} is left out. {error}")


def _train(args: Namespace, training: Training) -> None:
    from gnomon.train.folder import carry_out
    from gnomon.train.recipes import load_recipe

    changes = _changes(args, training)
    if training.curve:
        asked = {"recipe": training.recipe, "set": changes, "output": training.folder}
        amounts = {"curve": training.curve, "draws": training.draws, "only": "", "ask": ""}
        is_told = not args.quiet and args.format != "json"
        format = "table" if is_told else ""  # none: it is trained and kept, and not printed
        train_curve(Namespace(quiet=args.quiet, format=format, **asked, **amounts))
        return
    recipe = load_recipe(training.recipe, changes)
    with training_line(training.folder, quiet=args.quiet) as watch:
        carry_out(recipe, Path(training.folder), watch=watch)


def _changes(args: Namespace, training: Training) -> list[str]:
    """The changes of a recipe, with the folders of data that the command names."""
    from gnomon.train.recipes import load_recipe

    recipe = load_recipe(training.recipe, training.changes)
    return [*training.changes, *_places(args, recipe)]


def _places(args: Namespace, recipe: Recipe) -> Iterator[str]:

    waiting = [("data", recipe.plain()["data"])]
    while waiting:
        path, section = waiting.pop()
        if not isinstance(section, Mapping):
            continue
        waiting += [(f"{path}.{name}", below) for name, below in section.items()]
        asked = section.get("source") or section.get("benchmark")
        if not isinstance(asked, str):
            continue
        about, source = named_source(asked)
        for name in PLACES:
            given = getattr(args, name, None)
            if given and takes(about.sources[source], name):
                yield f"{path}.options.{name}={given}"


def trained_models(args: Namespace, found: Experiment, place: int) -> list[ModelSpec]:
    """The model at a place of an experiment: of a curve, each draw of its largest amount.

    What smaller amounts come to, their trainings have measured.
    """
    from gnomon.train.folder import curve_points

    asked = found.models[place]
    training = dict(found.trainings).get(place)
    if training is None or not training.curve:
        return [asked]

    amounts = amounts_of(training.curve, training.draws)
    last = amounts._replace(values=(max(amounts.values),))
    changes = _changes(args, training)
    scheme = asked.spec.partition(":")[0]
    models = []
    for point in curve_points(training.recipe, changes, last, Path(training.folder)):
        one = model(f"{scheme}:{point.folder.as_posix()}", **asked.options)
        models.append(one._replace(name=_draw_name(asked, training, point.draw)))
    return models


def _draw_name(asked: ModelSpec, training: Training, draw: int) -> str:
    if not asked.name or training.draws == 1:
        return asked.name
    return f"{asked.name} #{draw + 1}"


def write_results(
    args: Namespace, found: Experiment, runs: Sequence[Run], plan: Sequence[Planned]
) -> None:
    """The report of an experiment; the page, figures and papers' tables in its folder."""

    is_told = not args.quiet and args.format != "json"
    if found.report:
        written = api.report(runs, found.report)
        if is_told:
            print(f"The report: {written}")
    if not found.results:
        return
    folder = Path(found.results)
    folder.mkdir(parents=True, exist_ok=True)
    page, tables, figures = (folder / name for name in RESULTS)
    api.report(runs, page, figures=figures)
    tables_of_all = [*_paper_tables(found, runs), *_chosen_prompts(args, found)]
    parts = [HEAD, *tables_of_all, *_not_here(plan)]
    with atomic_file(tables) as part:
        part.write_text("\n".join(parts), encoding="utf-8")
    if is_told:
        print(f"The results: {page}, {tables}, {figures}")


def _paper_tables(found: Experiment, runs: Sequence[Run]) -> Iterator[str]:
    from gnomon.reports.papertables import beside_papers

    tables = [entry.table for entry in entries_of(runs)]
    seen_by = [table for table in tables if table.model in found.recognised_by]
    draws = {}
    for place, training in found.trainings:
        asked = found.models[place]
        for draw in range(training.draws):
            draws[_draw_name(asked, training, draw)] = asked.name
    listings, caveats = beside_papers(tables, recognised_by=seen_by, draws=draws)
    for listing in listings:
        yield f"{render(listing, 'markdown')}\n"
    if caveats:
        yield "\n".join(f"- {caveat}" for caveat in caveats) + "\n"


def _not_here(plan: Sequence[Planned]) -> Iterator[str]:
    """What the tables lack: models that could not be asked, files that are not here."""
    said: dict[str, None] = {}
    for those in grouped(plan, lambda planned: id(planned.source)).values():
        source = those[0].source
        said |= dict.fromkeys(_missing_files(source))
        left_out = [each for each in those if not (each.folder / MANIFEST).exists()]
        if left_out:
            names = ", ".join(each.model.name or each.model.spec for each in left_out)
            said[f"{source.name} was not asked of {names}."] = None
    if said:
        yield "## What is not here\n"
        yield "\n".join(f"- {sentence}" for sentence in said) + "\n"


def _missing_files(source: ItemSource) -> list[str]:
    with catch_warnings(record=True) as warned:
        simplefilter("always", MissingFileWarning)
        try:
            next(iter(source.items()), None)
        except GnomonError as error:
            return [error.message]
    missing = [each for each in warned if issubclass(each.category, MissingFileWarning)]
    return [str(each.message) for each in missing]


def _chosen_prompts(args: Namespace, found: Experiment) -> Iterator[str]:
    """What prompts that are chosen by folds get, for the models that take one."""

    for asked in found.benchmarks:
        if not asked.choose_prompts:
            continue
        for each in models_of(found, asked):
            if not takes(model_factory(each.spec), "prompt"):
                continue
            each = as_command_says(each, said_of_files(args))
            try:
                yield _searched(args, asked, each)
            except GnomonError as error:
                tell(f"No prompt is chosen for {each.name or each.spec} on {asked.spec}. {error}")


def _searched(args: Namespace, asked: AskedBenchmark, each: ModelSpec) -> str:

    words = [asked.spec, "-m", each.spec, "--runs", args.runs, "--format", "markdown"]
    limit = args.limit or asked.limit
    if limit:
        words += ["--limit", str(limit)]
    options: dict[str, Any] = {**asked.options, **({"data": args.data} if args.data else {})}
    for key, value in options.items():
        words += ["--set", f"items.{key}={value}"]
    for key, value in each.options.items():
        words += ["--set", f"model.{key}={value}"]
    if args.quiet:
        words.append("--quiet")
    parser = command_parser("prompts", prompts)
    printed = io.StringIO()
    with redirect_stdout(printed):
        prompts.main(parser.parse_args(words))
    how = "".join(f", {key} {value}" for key, value in asked.options.items())
    title = f"## {asked.spec}{how}, {each.name or each.spec}: prompts chosen by folds"
    return f"{title}\n\n{printed.getvalue()}"
