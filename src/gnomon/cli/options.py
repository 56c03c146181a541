"""Options that several commands share: which items, which models, and how figures are printed.

Named flags such as --seed or --data go to every benchmark or model whose signature names them; one
that none of them takes is refused. --set KEY=VALUE reaches what has no flag of its own.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon import registry
from gnomon.errors import UsageError, nearest
from gnomon.items.source import ItemSource, load, named_source
from gnomon.naming import Named
from gnomon.options import option_help, options_of, takes
from gnomon.registry import ModelSpec
from gnomon.trust import SAID_BY_COMMAND

if TYPE_CHECKING:
    from argparse import ArgumentParser
Functions = Mapping[str, Callable[..., Any]]  # sources or factories, by name


class Flag(NamedTuple):
    """An option with a flag of its own: what stands for its value, and what it says.

    What may be given several times has its values joined.
    """

    value: str
    text: str
    repeated: bool = False
    between: str = " "  # what joins the values of one that may be repeated


ITEM_FLAGS = {
    "seed": Flag("S", "draw the items with this seed"),
    "data": Flag("DIR", "the folder with the authors' files"),
    "split": Flag("SPLIT", "only this split, such as test"),
    "images": Flag("DIR", "the folder with the photographs"),
    "map": Flag(
        "WHAT=COLUMN,...",
        "of your own file: which column holds what, such as text=question,gold=answer",
        repeated=True,
        between=",",
    ),
}
MODEL_FLAGS = {
    "prompt": Flag("PROMPT", "a prompt by name, or a file with one"),
    "shots": Flag("N", "worked examples before each question: the prompt's, or the benchmark's"),
    "device": Flag("DEVICE", "cpu, cuda or mps"),
    "base_url": Flag(
        "URL", "the address of an OpenAI-compatible server; may be repeated", repeated=True
    ),
}
FLAGS = {"benchmarks": ITEM_FLAGS, "models": MODEL_FLAGS}
PREFIXES = {"benchmarks": "items.", "models": "model."}  # where both take an option
OWN = "own"  # the source that reads a knowledge folder


def item_arguments(parser: ArgumentParser) -> None:
    """Add the flags that choose items, and --set."""
    group = parser.add_argument_group("items")
    _add_flags(group, ITEM_FLAGS)
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any other option of the benchmark or the model (see `gnomon list benchmarks NAME`, "
        "`gnomon list models NAME`)",
    )
    group.add_argument(
        "--all", action="store_true", help="the full fresh set, where the default is a draw from it"
    )


def shots_argument(parser: ArgumentParser) -> None:
    """Add the flag that gives worked examples of one's own."""
    parser.add_argument(
        "--shots-from",
        default="",
        metavar="FILE",
        help="take the worked examples of --shots from this file of items",
    )


def shard_argument(parser: ArgumentParser) -> None:
    """Add the flag that narrows the items to one part of them."""
    parser.add_argument(
        "--shard",
        metavar="I/N",
        help="only part I of N, counted from 1: all parts together are the whole",
    )


def model_arguments(parser: ArgumentParser) -> None:
    """Add the flags that choose how models are loaded and asked."""
    group = parser.add_argument_group("models")
    _add_flags(group, MODEL_FLAGS)
    group.add_argument(
        "--no-cache",
        dest="set",
        action="append_const",
        const="cache=no",
        help="keep no replies of a server for when the run is stopped and continues",
    )


def _add_flags(group: _ArgumentGroup, flags: Mapping[str, Flag]) -> None:
    for name, flag in flags.items():
        action = "append" if flag.repeated else "store"
        group.add_argument(_dashed(name), action=action, metavar=flag.value, help=flag.text)


def check_no_model_options(args: Namespace) -> None:
    """Refuse what says how a model is asked where none is named."""
    for option in (*MODEL_FLAGS, "shots_from"):
        if getattr(args, option, None):
            raise UsageError(
                f"{_dashed(option)} is for a model, and none is named.", "Name it with -m MODEL."
            )


def how_to_give(kind: str, option: str) -> str:
    """How an option of a benchmark or model is written on the command line.

    >>> how_to_give("models", "shots"), how_to_give("models", "top_k")
    ('--shots N', '--set top_k=VALUE')
    """
    flag = FLAGS[kind].get(option)
    if flag is None:
        return f"--set {option}=VALUE"
    return f"{_dashed(option)} {flag.value}".strip()


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


def what_it_does(kind: str, option: str, function: Callable[..., Any]) -> str:
    """What an option does: as the function's docstring says it, or else its flag.

    >>> what_it_does("models", "device", lambda *, device="": None)
    'cpu, cuda or mps'
    """
    text = option_help(function).get(option)
    if text:
        return text
    flag = FLAGS[kind].get(option)
    return flag.text if flag else ""


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
    models = _factories(_models_in(args))
    mine = _settings_for("benchmarks", settings, functions, models)
    elsewhere = getattr(args, "elsewhere", ())
    shares = _split({**_given(args, ITEM_FLAGS), **mine}, functions, "benchmark", elsewhere)
    shared = [shares[spec] for spec in specs]
    if own:
        shared = [{**before, **given} for before, given in zip(own, shared, strict=True)]
    sources = [load(spec, **given) for spec, given in zip(specs, shared, strict=True)]
    for chosen in sources:
        _tell_columns(args, chosen)
    return _whole(sources, shared) if args.all else sources


def _tell_columns(args: Namespace, source: ItemSource) -> None:
    """On standard error, once: which columns of a user's own file were taken for what."""
    from gnomon.cli.dispatch import tell
    from gnomon.items.resolving import taken_in_words

    sentence = taken_in_words(source.options)
    told = vars(args).setdefault("told", set())  # a command may look at its sources several times
    if sentence and sentence not in told:
        told.add(sentence)
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
        raise UsageError(f"There is no larger set of {names}.", "Leave out --all.")
    found = []
    for source, mine in zip(sources, given, strict=True):
        kept = {name: source.options[name] for name in mine}
        whole = source.whole()
        found.append(replace(whole, options={**whole.options, **kept}))
    return found


def said_of_files(args: Namespace) -> dict[str, Any]:
    """What the command says of models that a file names: whether it trusts them, and with what."""
    options = {**_given(args, MODEL_FLAGS), **settings_of(args)}
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
    mine = _settings_for("models", settings_of(args), functions, _sources_in(args))
    given = {**_given(args, MODEL_FLAGS), **mine}
    shares = _split(given, functions, "model", args.elsewhere)
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


def _given(args: Namespace, flags: Mapping[str, Flag]) -> dict[str, Any]:
    """The flags that were given."""
    options = {}
    for name in flags:
        value = getattr(args, name, None)
        if isinstance(value, list):
            value = flags[name].between.join(value)
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


def _split(
    options: Mapping[str, Any],
    functions: Functions,
    kind: str,
    elsewhere: Collection[str] = (),
) -> dict[str, dict[str, Any]]:
    """The options for each function: those that it takes. Each must be taken by one at least.

    Those that are taken elsewhere need not be.
    """
    for option in options:
        if option not in elsewhere and not _taker(option, functions):
            raise _taken_by_none(option, functions, kind)
    shares = {}
    for name, function in functions.items():
        shares[name] = {key: value for key, value in options.items() if takes(function, key)}
    return shares


def _taken_by_none(option: str, functions: Functions, kind: str) -> UsageError:
    hint = []
    every: dict[str, None] = {}
    for name, function in functions.items():
        every |= dict.fromkeys(options_of(function))
        known = ", ".join(sorted(options_of(function))) or "no options"
        hint.append(f"{name} takes: {known}.")
    near = nearest(option, every)
    if near:
        flags = [how_to_give(f"{kind}s", each) for each in near]
        hint = [f"Did you mean {' or '.join(flags)}?"]
    name = next(iter(functions)).partition("@")[0]
    hint.append(f"`gnomon list {kind}s {name}` says what they are.")
    who = f"{name} does not take" if len(functions) == 1 else f"None of the {kind}s takes"
    return UsageError(f"{who} the option '{option}'.", "\n".join(hint))


def _dashed(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def format_argument(parser: ArgumentParser) -> None:
    """In which format figures are printed."""
    from gnomon.tabular import FORMATS

    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="output format (default: table)"
    )


def json_argument(parser: ArgumentParser) -> None:
    """Whether a command that prints one kind of table prints JSON instead."""
    from argparse import SUPPRESS

    parser.add_argument(
        "--format",
        choices=("table", "json"),
        default="table",
        help="table or json (default: table)",
    )
    # What scripts of before wrote.
    parser.add_argument("--json", action="store_const", dest="format", const="json", help=SUPPRESS)


def level_argument(parser: ArgumentParser) -> None:
    """How sure intervals are to be."""
    parser.add_argument(
        "--level",
        type=float,
        default=0.95,
        metavar="P",
        help="confidence level of intervals (default: 0.95)",
    )


def recipe_arguments(parser: ArgumentParser) -> None:
    """How a model is trained: the recipe, and what differs from it."""
    from gnomon.train.recipes import built_in_recipes

    names = ", ".join(built_in_recipes())
    parser.add_argument("recipe", metavar="RECIPE", help=f"a YAML file, or one of: {names}")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a field of the recipe, such as schedule.epochs=5",
    )
