"""What a command chooses by its options: which items, and which models.

Named flags such as --seed or --data go to every benchmark or model whose signature names them; one
that none of them takes is refused. --set KEY=VALUE reaches what has no flag of its own.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gnomon import registry
from gnomon.cli.options import BETWEEN, dashed, flags_of, how_to_give
from gnomon.errors import UsageError, nearest
from gnomon.items.source import ItemSource, load, named_source
from gnomon.naming import Named
from gnomon.options import options_of, takes
from gnomon.registry import ModelSpec
from gnomon.trust import SAID_BY_COMMAND

if TYPE_CHECKING:
    from gnomon.measures.table import Table

Functions = Mapping[str, Callable[..., Any]]  # sources or factories, by name
PREFIXES = {"benchmarks": "items.", "models": "model."}  # where both take an option
OWN = "own"  # the source that reads a knowledge folder


def check_no_model_options(args: Namespace) -> None:
    """Refuse what says how a model is asked where none is named."""
    for option in (*flags_of("models"), "shots_from"):
        if getattr(args, option, None):
            shown = dashed(option) if option in flags_of("models") else option
            raise UsageError(
                f"{shown} is for a model, and none is named.", "Name it with -m MODEL."
            )


def tables_of(paths: Sequence[str]) -> list[Table]:
    """The runs whose items alone are looked at."""
    from gnomon.measures.table import Table
    from gnomon.runs import open_runs

    return [Table.of_run(run) for run in open_runs(paths)]


def how_to_set(option: str, words: Sequence[str]) -> str:
    """How to give an option of a benchmark or model that the words name; empty if none has it.

    >>> how_to_set("scale", ["scales", "-m", "random"])
    '--set scale=VALUE'
    """
    for word in words:
        for kind, function in _named_by(word):
            if takes(function, option):
                return how_to_give(kind, option)
    return ""


def options_named_by(words: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
    """The options of each benchmark and model that the words name, with the kind that it is.

    >>> options_named_by(["scales", "-m", "random"])["random"]
    ('models', ['model_seed'])
    """
    found: dict[str, tuple[str, list[str]]] = {}
    for word in words:
        name = word.partition("@")[0].partition(":")[0]
        for kind, function in _named_by(word):
            _, known = found.setdefault(name, (kind, []))
            known += [option for option in options_of(function) if option not in known]
    return found


def is_of_benchmark(option: str, words: Sequence[str]) -> bool:
    """Whether a benchmark that the words name takes an option."""
    sources = [each for word in words for kind, each in _named_by(word) if kind == "benchmarks"]
    return any(takes(source, option) for source in sources)


def _named_by(word: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The functions whose options a word of a command may mean: sources of a benchmark, a model."""
    known = registry.known_benchmark(word)
    if known is not None:
        for source in known.sources.values():
            yield "benchmarks", source
    elif registry.scheme_of(word)[0] in registry.MODELS:
        yield "models", registry.model_factory(word)


def chosen_sources(
    args: Namespace, specs: Sequence[str], own: Sequence[Mapping[str, Any]] = ()
) -> list[ItemSource]:
    """The benchmarks that were named, each with the options that it takes.

    `own` are options of each that a suite gives; what the user gives counts more.
    """
    settings = settings_of(args)
    specs = [_with_source(spec, settings) for spec in specs]
    functions = {}
    for spec in specs:
        found, source = named_source(spec)
        functions[spec] = found.sources[source]
    shares = _shares(args, "benchmarks", functions, _factories(_models_in(args)))
    shared = [shares[spec] for spec in specs]
    if own:
        shared = [{**before, **given} for before, given in zip(own, shared, strict=True)]
    if getattr(args, "blind", False):  # who sees no pictures needs no files of them
        for spec, given in zip(specs, shared, strict=True):
            if takes(functions[spec], "map"):  # items of files
                given.setdefault("images", "none")
    sources = [load(spec, **given) for spec, given in zip(specs, shared, strict=True)]
    for chosen in sources:
        _tell_columns(args, chosen)
    return _whole(sources, shared) if args.all else sources


def _tell_columns(args: Namespace, source: ItemSource) -> None:
    """On standard error, once: which columns of a user's own file were taken for what."""
    if "file" not in source.options:
        return
    from gnomon.cli.dispatch import tell
    from gnomon.items.understanding import understood

    told = vars(args).setdefault("told", set())  # a command may look at its sources several times
    asked = repr(sorted(source.options.items()))
    if asked in told:
        return
    told.add(asked)
    for sentence in understood(source.options):
        tell(sentence)


def _with_source(spec: str, options: Mapping[str, Any]) -> str:
    """NAME@own for a benchmark without a source, if a knowledge folder is given for it."""
    if "knowledge" not in options or "@" in spec:
        return spec
    return f"{spec}@{OWN}" if OWN in registry.benchmark(spec).sources else spec


def _whole(sources: Sequence[ItemSource], given: Sequence[Mapping[str, Any]]) -> list[ItemSource]:
    """The full set of each source; what the user gave counts more."""
    if not any(source.has_more for source in sources):
        names = ", ".join(source.name for source in sources)
        raise UsageError(f"There is no larger set of {names}.", "Leave out --set all=yes.")
    found = []
    for source, mine in zip(sources, given, strict=True):
        kept = {name: source.options[name] for name in mine}
        whole = source.whole()
        found.append(replace(whole, options={**whole.options, **kept}))
    return found


def said_of_files(args: Namespace) -> dict[str, Any]:
    """What the command says of models that a file names: whether it trusts them, and with what."""
    options = {**_given(args, "models"), **settings_of(args)}
    return {name: value for name, value in options.items() if name in SAID_BY_COMMAND}


def chosen_models(
    args: Namespace, specs: Sequence[str], of_files: Sequence[ModelSpec] = ()
) -> list[ModelSpec]:
    """The models that were named, each with the options that it takes; none is loaded yet.

    What the command says of models that files name need not be an option of the others.
    """
    args.elsewhere = set()
    for each in of_files:
        factory = registry.model_factory(each.spec)
        args.elsewhere |= {name for name in SAID_BY_COMMAND if takes(factory, name)}
    named = [registry.named_model(text) for text in specs]
    check_names(named)
    functions = _factories([spec for _, spec in named])
    shares = _shares(args, "models", functions, _sources_in(args))
    found = []
    for name, spec in named:
        options = shares[registry.scheme_of(spec)[0]]
        found.append(registry.model(spec, **options)._replace(name=name))
    return found


def _factories(specs: Sequence[str]) -> Functions:
    """The functions that make models, by their schemes."""
    return {registry.scheme_of(spec)[0]: registry.model_factory(spec) for spec in specs}


def _models_in(args: Namespace) -> list[str]:
    """The models that a command names, without names of one's own."""
    given = getattr(args, "model", None) or []
    texts = [given] if isinstance(given, str) else given
    return [registry.named_model(text).spec for text in texts]


def _sources_in(args: Namespace) -> Functions:
    """The sources that a command names, without those of suites and files."""
    words = getattr(args, "benchmarks", None) or [getattr(args, "benchmark", None) or ""]
    found = {}
    for word in words:
        if registry.known_benchmark(word) is not None:
            benchmark, source = named_source(word)
            found[word] = benchmark.sources[source]
    return found


def check_names(named: Sequence[Named]) -> None:
    """Refuse one name for two models, and two names for one."""
    specs: dict[str, str] = {}
    names: dict[str, str] = {}
    for name, spec in named:
        if not name:
            continue
        if specs.setdefault(name, spec) != spec:
            raise UsageError(
                f"Two models are called '{name}': {specs[name]} and {spec}.",
                "Give each a name of its own.",
            )
        if names.setdefault(spec, name) != name:
            raise UsageError(
                f"{spec} has two names: {names[spec]} and {name}.", "Leave out one of them."
            )


def in_all_wordings(model: ModelSpec) -> list[ModelSpec]:
    """The model once for each wording of its prompt; once if it is not asked by a prompt.

    >>> [each.options for each in in_all_wordings(registry.model("smollm2"))]
    [{}, {'wording': 2}, {'wording': 3}, {'wording': 4}]
    """
    from gnomon.models.prompts.library import wordings_of

    if not takes(registry.model_factory(model.spec), "wording"):
        return [model]
    found = []
    for wording in range(1, wordings_of(model.options.get("prompt", "")) + 1):
        one = registry.model(model.spec, **{**model.options, "wording": wording})
        found.append(one._replace(name=model.name))
    return found


def _given(args: Namespace, kind: str) -> dict[str, Any]:
    """The flags that were given."""
    options = {}
    for name in flags_of(kind):
        value = getattr(args, name, None)
        if isinstance(value, list):
            value = BETWEEN[name].join(value)
        if value is not None:
            options[name] = value
    return options


def settings_of(args: Namespace) -> dict[str, str]:
    """What --set says, by its key."""
    found = {}
    for setting in args.set:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise UsageError(
                f"'{setting}' is not KEY=VALUE.",
                "Write it in one word, without spaces around =: --set pairs=100",
            )
        found[key.replace("-", "_")] = value
    return found


def _settings_for(
    kind: str, settings: Mapping[str, str], mine: Functions, others: Functions
) -> dict[str, str]:
    """The settings that go to benchmarks, or to models: by their prefix, or by who takes them.

    What neither takes is left to the benchmarks, which every command has, to be refused.
    """
    prefix = PREFIXES[kind]
    found = {}
    for key, value in settings.items():
        if key.startswith(prefix):
            found[key.removeprefix(prefix)] = value
        elif not key.startswith(tuple(PREFIXES.values())):
            taken = _taker(key, mine)
            by_others = _taker(key, others)
            if taken and by_others:
                raise UsageError(
                    f"The benchmark and the model both take the option '{key}'.",
                    f"Write --set items.{key}={value}, or --set model.{key}={value}.",
                )
            if taken or (kind == "benchmarks" and not by_others):
                found[key] = value
    return found


def _taker(option: str, functions: Functions) -> str:
    """The first of the functions that takes an option; empty if none does."""
    return next((name for name, each in functions.items() if takes(each, option)), "")


def _shares(
    args: Namespace, kind: str, functions: Functions, others: Functions
) -> dict[str, dict[str, Any]]:
    """The options for each function: those that it takes. Each must be taken by one at least.

    Those that are taken elsewhere, by models that files name, need not be.
    """
    other = "models" if kind == "benchmarks" else "benchmarks"
    settings = _settings_for(kind, settings_of(args), functions, others)
    options = {**_given(args, kind), **settings}
    for option in options:
        if option not in getattr(args, "elsewhere", ()) and not _taker(option, functions):
            own = getattr(args, "own_keys", ())
            raise _taken_by_none(option, {kind: functions, other: others}, own)
    shares = {}
    for name, function in functions.items():
        shares[name] = {key: value for key, value in options.items() if takes(function, key)}
    return shares


def _taken_by_none(option: str, by_kind: Mapping[str, Functions], own: Sequence[str]) -> UsageError:
    """What to write instead of an option that neither items nor models nor the command take.

    The first kind is the one that was meant.
    """
    kind, functions = next(iter(by_kind.items()))
    if not functions:
        return UsageError(
            f"The option '{option}' is for models of the command, and it names none.",
            "Name a model with -m, or write the option into the file, below `options:` of a model.",
        )
    hint = []
    every: dict[str, str] = {}  # the kind of whom takes it
    for each_kind, takers in by_kind.items():
        for name, function in takers.items():
            every |= dict.fromkeys(options_of(function), each_kind)
            if each_kind != kind:
                continue
            known = ", ".join(sorted(options_of(function))) or "no options"
            hint.append(f"{name} takes: {known}.")
    is_flag = option in flags_of(kind)  # which is spelt right, but of no use here
    near = [] if is_flag else nearest(option, every)
    near_own = [] if is_flag else nearest(option, own)
    if near or near_own:
        flags = [how_to_give(every[each], each) for each in near]
        flags += [f"--set {each}=VALUE" for each in near_own]
        hint = [f"Did you mean {' or '.join(flags)}?", *([] if near else hint)]
    name = next(iter(functions)).partition("@")[0]
    hint.append(f"`gnomon list {kind} {name}` says what they are.")
    if is_flag:
        hint.insert(0, f"Leave out {dashed(option)}.")
    who = f"{name} does not take" if len(functions) == 1 else f"None of the {kind} takes"
    return UsageError(f"{who} the option '{option}'.", "\n".join(hint))
