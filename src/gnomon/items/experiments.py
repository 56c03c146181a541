"""Experiments and suites: which benchmarks are asked of which models, read and written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gnomon.contracts import Benchmark
from gnomon.errors import GnomonError, UsageError, check_known, unknown
from gnomon.files import package_data
from gnomon.items.lmtask import is_task_file
from gnomon.items.source import ItemSource, load, named_source
from gnomon.naming import PERSON, check_name
from gnomon.options import options_of, takes
from gnomon.redaction import HIDDEN, redact_options
from gnomon.registry import ModelSpec, known_benchmark, model, model_factory
from gnomon.runs import Manifest, Run
from gnomon.trust import (
    ADDRESS,
    ONLY_BY_COMMAND,
    as_flag,
    check_below,
    check_option,
    model_of_file,
    output_below,
    results_below,
    without_trust,
)
from gnomon.yamlnodes import Node, read_document

SETTINGS = (
    "summary",
    "benchmarks",
    "models",
    "paper_models",
    "recognised_by",
    "prompts",
    "seeds",
    "limit",
    "permute",
    "report",
    "results",
)
OF_BENCHMARK = ("name", "options", "limit", "permute", "blind", "models", "choose_prompts")
LARGEST = 2**20  # bytes of a file
OF_MODEL = ("name", "model", "options", "train", "set", "curve", "draws")
PAPER, OWN = "paper", "own"  # whose models are asked, where not the file's usual ones


@dataclass(frozen=True)
class AskedBenchmark:
    """A benchmark of an experiment, with what is asked of it."""

    spec: str
    options: dict[str, Any]
    limit: int | None = None
    permute: int | None = None
    blind: bool = False
    models: tuple[int, ...] | None = None  # places of those who are asked; none for all
    choose_prompts: bool = False  # also choose a prompt by folds


@dataclass(frozen=True)
class Training:
    """How a model of an experiment is made before it is asked."""

    folder: str
    recipe: str
    changes: tuple[str, ...] = ()
    curve: str = ""  # amounts, each a model of its own in a folder below
    draws: int = 1


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
    results: str = ""  # a folder for the page, the papers' tables and the figures
    recognised_by: tuple[str, ...] = ()  # models whose items others are looked at on, too
    trainings: tuple[tuple[int, Training], ...] = ()  # by the model's place
    comes_along: bool = False  # with Gnomon, and what it lacks is left out


def read_experiment(file: Path, whose: str = "") -> Experiment:
    """The experiment or suite that a file describes; what cannot be meant is told with its line.

    `whose` models are asked: the file's, those of its paper (all items), or none but the command's.
    """
    content = read_document(file, limit=LARGEST)
    if content.kind == "text" and content.text is None:
        raise UsageError(f"{file} is empty.", "Name benchmarks in it: docs/running.md.")
    fields = _fields(content, "an experiment", SETTINGS)
    if "benchmarks" not in fields:
        raise _wrong(content, "it names no benchmarks.", "List them below `benchmarks:`.")
    usual = _models(fields, "models")
    of_paper = _models(fields, "paper_models")
    models = [*usual, *of_paper]
    asked = set(range(len(usual)))
    if whose:
        asked = set(range(len(usual), len(models))) if whose == PAPER else set()
    if whose == PAPER and not asked:
        raise _wrong(content, "it names no models of a paper.", "Leave out --set models=paper.")
    limit, permute = _whole(fields, "limit", 1), _whole(fields, "permute", 0)
    benchmarks: list[AskedBenchmark] = []
    for each in _entries(fields["benchmarks"], "benchmarks"):
        one = _benchmark(each, limit, permute, models)
        if of_paper or whose:
            chosen = range(len(models)) if one.models is None else one.models
            one = replace(one, models=tuple(place for place in chosen if place in asked))
        benchmarks.append(replace(one, limit=None) if whose == PAPER else one)
    if not benchmarks:
        raise _wrong(fields["benchmarks"], "the list is empty.", "Name a benchmark in it.")
    return Experiment(
        file=str(file),
        benchmarks=tuple(benchmarks),
        models=tuple(models),
        prompts=_prompts(fields),
        seeds=_seeds(fields, benchmarks),
        report=_place(file, fields, "report", output_below),
        summary=_text(fields, "summary"),
        results=_place(file, fields, "results", results_below),
        recognised_by=_texts(fields, "recognised_by"),
        trainings=tuple(_trainings(file, fields, asked)),
        comes_along=_comes_along(file),
    )


def _comes_along(file: Path) -> bool:
    return file.parent in (package_data("suites"), package_data("experiments"))


def _folder_of(file: Path) -> Path:
    """Below which a file may write: beside it, or here if it came with Gnomon."""
    return Path.cwd() if _comes_along(file) else file.parent


def _trainings(
    file: Path, fields: dict[str, Node], asked: set[int]
) -> Iterator[tuple[int, Training]]:
    """How those models are made that are asked and not there yet."""
    entries = [*_listed(fields, "models"), *_listed(fields, "paper_models")]
    for place, each in enumerate(entries):
        if place not in asked or each.kind != "mapping" or "train" not in each.entries:
            continue
        said = each.entries
        spec = _worded(said["model"], "a model")
        folder = spec.partition(":")[2]
        with _told_at(said["model"]):
            check_below(_folder_of(file), str(Path(folder).absolute()))  # it is seen from here
        changes = []
        for name, value in _options(said, "set").items():
            check_option(name.rpartition(".")[2], value)
            changes.append(f"{name}={value}")
        yield (
            place,
            Training(
                folder=folder,
                recipe=_worded(said["train"], "a recipe"),
                changes=tuple(changes),
                curve=_text(said, "curve"),
                draws=_whole(said, "draws", 1) or 1,
            ),
        )


def _texts(fields: dict[str, Node], name: str) -> tuple[str, ...]:
    return tuple(_worded(each, f"a name of {name}") for each in _listed(fields, name))


def _models(fields: dict[str, Node], name: str) -> list[ModelSpec]:
    found: list[ModelSpec] = []
    specs: dict[str, str] = {}
    for each in _listed(fields, name):
        one = _model(each)
        if one.name and specs.setdefault(one.name, one.spec) != one.spec:
            raise _wrong(
                each, f"two models are called '{one.name}'.", "Give each a name of its own."
            )
        found.append(one)
    return found


def _model(at: Node) -> ModelSpec:
    fields = _fields(at, "a model", OF_MODEL, alone="model")
    if "model" not in fields:
        raise _wrong(at, "it does not say which model.", "Write `model: SPEC`, as after -m.")
    spec = _worded(fields["model"], "a model")
    options = _options(fields)
    with _told_at(fields["model"]):
        found = model_of_file(spec, options)
    if "name" not in fields:
        return found
    name = _worded(fields["name"], "a name")
    with _told_at(fields["name"]):
        return found._replace(name=check_name(name))


def _benchmark(
    at: Node, limit: int | None, permute: int | None, models: list[ModelSpec]
) -> AskedBenchmark:
    fields = _fields(at, "a benchmark", OF_BENCHMARK, alone="name")
    if "name" not in fields:
        raise _wrong(at, "it does not say which benchmark.", "Write `name: BENCHMARK`.")
    spec = _worded(fields["name"], "a benchmark")
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
        choose_prompts=_truth(fields, "choose_prompts"),
    )


def _options(fields: dict[str, Node], what: str = "options") -> dict[str, Any]:
    if what not in fields:
        return {}
    found = {}
    for name, each in _mapping(fields[what], what).items():
        value = each.plain()
        if isinstance(value, str) and HIDDEN in value:
            raise _wrong(
                each,
                f"{HIDDEN} stands where a secret was left out.",
                "Write the value, or leave out the line and give the option on the command line.",
            )
        if isinstance(value, dict | list):
            raise _wrong(each, "an option has one value.", "Write it on one line, in quotes.")
        option = name.replace("-", "_")
        with _told_at(each):
            check_option(option, value)
        found[option] = value
    return found


def _chosen(fields: dict[str, Node], models: list[ModelSpec]) -> tuple[int, ...] | None:
    """Which of the models are asked: by name, spec, or place counted from 1."""
    if "models" not in fields:
        return None
    found = []
    for each in _entries(fields["models"], "models"):
        fitting = _places(each, models)
        if len(fitting) != 1:
            few = "several models" if fitting else "no model"
            raise _wrong(
                each,
                f"{few} of this file: '{each.value}'.",
                "Name one by its name or spec, or by its place in `models`, counted from 1.",
            )
        found += fitting
    return tuple(found)


def _places(at: Node, models: list[ModelSpec]) -> list[int]:
    """The places of all models that are meant."""
    every = range(len(models))
    if isinstance(at.value, int):
        wanted = _number(at, "a place", 1) - 1
        return [wanted] if wanted in every else []
    called = _worded(at, "a model")
    return [place for place in every if called in (models[place].name, models[place].spec)]


def _prompts(fields: dict[str, Node]) -> tuple[str, ...]:
    from gnomon.models.prompts.library import load_prompt

    found = []
    for each in _listed(fields, "prompts"):
        prompt = _worded(each, "a prompt")
        with _told_at(each):
            load_prompt(prompt)
        found.append(prompt)
    return tuple(found)


def _seeds(fields: dict[str, Node], benchmarks: Sequence[AskedBenchmark]) -> tuple[int, ...]:
    found = tuple(_number(each, "a seed", 0) for each in _listed(fields, "seeds"))
    if found and not any(map(_takes_seed, benchmarks)):
        raise _wrong(fields["seeds"], "none of the benchmarks takes a seed.", "Leave it out.")
    return found


def _takes_seed(asked: AskedBenchmark) -> bool:
    found, source = named_source(asked.spec)
    return takes(found.sources[source], "seed")


def _place(
    file: Path, fields: dict[str, Node], name: str, below: Callable[[Path, str], Path]
) -> str:
    """Where a file or folder that the experiment names is written; empty if it names none."""
    place = _text(fields, name)
    if not place:
        return ""
    with _told_at(fields[name]):
        return str(below(_folder_of(file), place))


def _text(fields: dict[str, Node], name: str) -> str:
    return _worded(fields[name], f"the {name}") if name in fields else ""


def _listed(fields: dict[str, Node], name: str) -> list[Node]:
    return _entries(fields[name], name) if name in fields else []


def _whole(
    fields: dict[str, Node], name: str, least: int, otherwise: int | None = None
) -> int | None:
    return _number(fields[name], f"the {name}", least) if name in fields else otherwise


def _truth(fields: dict[str, Node], name: str) -> bool:
    if name not in fields:
        return False
    if isinstance(fields[name].value, bool):
        return bool(fields[name].value)
    raise _wrong(fields[name], f"{name} must be yes or no.", "Write yes or no.")


def _wrong(at: Node, message: str, hint: str) -> UsageError:
    """The error for what cannot be meant, with its place."""
    return UsageError(f"{at.file}:{at.line}: {message}", hint)


def _fields(at: Node, what: str, known: tuple[str, ...], *, alone: str = "") -> dict[str, Node]:
    """The values by name, if all names are known; a value that stands alone may have a name."""
    if alone and at.kind != "mapping":
        return {alone: at}
    found = _mapping(at, what)
    for name, each in found.items():
        if name not in known:
            near = unknown("setting", name, known)
            raise _wrong(each, near.message, near.hint)
    return found


def _mapping(at: Node, what: str) -> dict[str, Node]:
    if at.kind != "mapping":
        raise _wrong(at, f"{what} must be names with values.", "Write `name: value` lines.")
    return at.entries


def _entries(at: Node, what: str) -> list[Node]:
    """The values of a list; one value that is no list is a list of one."""
    if at.kind == "mapping":
        raise _wrong(at, f"{what} must be a list.", "Begin each of its lines with a dash: `- `")
    return at.items if at.kind == "list" else [at]


def _worded(at: Node, what: str) -> str:
    """A text that is not empty."""
    if at.kind == "text" and isinstance(at.value, str) and at.value.strip():
        return at.value.strip()
    raise _wrong(at, f"{what} must be a text.", "Put it in quotes if it looks like a number.")


def _number(at: Node, what: str, least: int) -> int:
    """A whole number."""
    value = at.value
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise _wrong(at, f"{what} must be a whole number, {least} or more.", "Correct the number.")


@contextmanager
def _told_at(at: Node) -> Iterator[None]:
    """What is wrong inside is told with the line."""
    try:
        yield
    except GnomonError as error:
        raise _wrong(at, error.message, error.hint) from None


# Suites: benchmarks that are asked together, by name or from a file of one's own.


ENDINGS = (".yaml", ".yml")


def suite_names(folder: str = "suites") -> list[str]:
    """The suites that come with Gnomon, or its experiments.

    >>> "quick" in suite_names(), "paper-000" in suite_names("experiments")
    (True, True)
    """
    return sorted(file.stem for file in package_data(folder).glob("*.yaml"))


def is_experiment(text: str) -> bool:
    """Whether a word names a suite, an experiment or a file of one.

    >>> is_experiment("quick"), is_experiment("mine.yaml"), is_experiment("scales")
    (True, True, False)
    """
    if text in suite_names() or text in suite_names("experiments"):
        return True
    return text.endswith(ENDINGS) and not is_task_file(text)


def load_suite(text: str, whose: str = "") -> Experiment:
    """The suite or experiment of that name, or the experiment in that file."""
    if text.endswith(ENDINGS):
        return read_experiment(Path(text), whose)
    if text in suite_names("experiments"):
        return read_experiment(package_data(f"experiments/{text}.yaml"), whose)
    check_known("suite", text, suite_names())
    return read_experiment(package_data(f"suites/{text}.yaml"), whose)


# From an experiment to runs: each benchmark, with each seed, of each model, with each prompt.


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


# The experiment that repeats runs, as the text of its file.


HEADER = "# Repeat these runs with: gnomon run experiment.yaml"


def experiment_of(runs: Sequence[Run]) -> str:
    """An experiment as YAML: `gnomon run` of it asks the same items of the same models.

    What cannot be repeated by a command is named in a comment: people, models made in Python.
    """
    import yaml

    models: list[dict[str, Any]] = []
    benchmarks: list[dict[str, Any]] = []
    asked: dict[int, set[int]] = defaultdict(set)  # places of models, by the benchmark's
    notes = []
    for run in runs:
        manifest = run.manifest
        if not _can_be_repeated(manifest):
            notes.append(f"# Left out, since no command repeats it: {run.name} ({run.model})")
            continue
        notes += _by_command(manifest)
        what = _place_in(benchmarks, benchmark_entry(manifest))
        who = _place_in(models, _model_entry(manifest))
        asked[what].add(who)
    for what, benchmark in enumerate(benchmarks):
        if len(asked[what]) < len(models):
            benchmark["models"] = [who + 1 for who in sorted(asked[what])]
    content: dict[str, Any] = {}
    if models:
        content = {"benchmarks": benchmarks, "models": models}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    comments = "".join(f"{' '.join(note.split())}\n" for note in dict.fromkeys(notes))
    return f"{HEADER}\n{comments}{text}"


def _by_command(manifest: Manifest) -> Iterator[str]:
    """What no file may say, and the command that repeats the runs must."""
    for name, value in manifest.model_options.items():
        if name in ONLY_BY_COMMAND and value:
            yield f"# Say it in the command if you trust it: {as_flag(name, value)}"
        elif name == ADDRESS:
            yield "# An address gets a key only if the command names it too: --base-url ADDRESS"


def _place_in(entries: list[dict[str, Any]], entry: dict[str, Any]) -> int:
    """Where an entry stands; one that is new is put last."""
    if entry not in entries:
        entries.append(entry)
    return entries.index(entry)


def _can_be_repeated(manifest: Manifest) -> bool:
    if manifest.model.startswith(PERSON):
        return False
    try:
        model(manifest.model, **manifest.model_options)
    except (GnomonError, ImportError):
        return False
    return True


def source_of_run(run: Run) -> ItemSource:
    """The items that a run was asked; those of a log are in its run alone."""
    manifest = run.manifest
    if "log" in manifest.options:
        name, _, log = manifest.benchmark.partition("@")
        kept = Benchmark(name=name, summary=f"the items of {log}", sources={log: run.items})
        return ItemSource(kept, log)
    asked = benchmark_entry(manifest)  # a file of items is named by its path
    source = load(asked["name"], **asked.get("options", {}))
    source = source.limited(manifest.limit).permuted(manifest.permute)
    return source.sharded(manifest.shard or None)


def benchmark_entry(manifest: Manifest) -> dict[str, Any]:
    """What is asked, with the options that are not the usual ones."""
    found: dict[str, Any] = {"name": manifest.benchmark}
    given, usual = dict(manifest.options), {}
    name, _, source = manifest.benchmark.partition("@")
    about = known_benchmark(name)
    if about is not None and source in about.sources:
        usual = options_of(about.sources[source])
    elif "file" in given:  # a file of items is named by its path
        found["name"] = given.pop("file")
    options = {key: value for key, value in given.items() if value not in (None, usual.get(key))}
    if options:
        found["options"] = redact_options(options)
    for setting in ("limit", "permute"):
        if getattr(manifest, setting) is not None:
            found[setting] = getattr(manifest, setting)
    if manifest.blind:
        found["blind"] = True
    return found


def _model_entry(manifest: Manifest) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if manifest.name:
        found["name"] = manifest.name
    found["model"] = manifest.model
    options = without_trust(manifest.model_options)
    if options:
        found["options"] = redact_options(options)
    return found
