"""Options that several commands share: which items, and which models.

Named flags such as --seed or --data go to every benchmark (or model) whose signature names them;
one that none of them takes is refused. --set KEY=VALUE reaches what has no flag of its own.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gnomon import registry
from gnomon.errors import UsageError, nearest
from gnomon.items.source import ItemSource, load, named_source
from gnomon.naming import Named
from gnomon.options import option_help, options_of, takes
from gnomon.registry import ModelSpec
from gnomon.trust import SAID_BY_COMMAND


class Flag(NamedTuple):
    """An option with a flag of its own: what stands for its value, and what it says.

    A switch takes no value; what may be given several times has its values joined by spaces.
    """

    value: str
    text: str
    repeated: bool = False
    between: str = " "  # what joins the values of one that may be repeated


ITEM_FLAGS = {
    "seed": Flag("S", "draw the items with this seed"),
    "per_group": Flag("N", "items for each pattern or template"),
    "form": Flag("FORM", "only this form of question, such as cloze"),
    "data": Flag("DIR", "the folder with the authors' files"),
    "split": Flag("SPLIT", "only this split, such as test"),
    "images": Flag("DIR", "the folder with the photographs"),
    "instances": Flag("FILE", "COCO's file of what is in the photographs"),
    "count": Flag("N", "how many pairs of pictures to draw"),
    "knowledge": Flag("DIR", "ask what `gnomon look` found in your own pictures"),
    "patterns": Flag("FILE", "a pattern file of your own"),
    "map": Flag(
        "WHAT=COLUMN,...",
        "of your own file: which column holds what, such as text=question,gold=answer",
        repeated=True,
        between=",",
    ),
}
MODEL_FLAGS = {
    "prompt": Flag("PROMPT", "a prompt by name, or a file with one"),
    "wording": Flag("N", "which of the prompt's wordings (default: 1, the first)"),
    "shots": Flag("N", "worked examples before each question: the prompt's, or the benchmark's"),
    "ask": Flag("HOW", "score (the likelihood of each choice) or generate (a reply that is read)"),
    "normalise": Flag("HOW", "sum, mean, byte or pmi: how likelihoods are made comparable"),
    "chat": Flag("YES|NO", "put the items as a conversation"),
    "new_tokens": Flag("N", "the longest reply, in tokens"),
    "temperature": Flag("T", "how a server draws its replies (0: always the likeliest)"),
    "kind": Flag("KIND", "causal, seq2seq, masked or nli; needed only if the config does not say"),
    "revision": Flag("REVISION", "a branch, tag or commit of the weights"),
    "dtype": Flag("DTYPE", "float32, bfloat16 or float16"),
    "device": Flag("DEVICE", "cpu, cuda or mps"),
    "threads": Flag("N", "how many processor threads to use; 0 chooses by itself"),
    "mmproj": Flag("FILE", "the projector with which a GGUF model sees pictures"),
    "base_url": Flag(
        "URL", "the address of an OpenAI-compatible server; may be repeated", repeated=True
    ),
    "concurrency": Flag("N", "how many requests to make at a time, to each server"),
    "max_cost": Flag("AMOUNT", "stop before spending more than this (needs both prices)"),
    "price_input": Flag("AMOUNT", "price of a million tokens that the model reads"),
    "price_output": Flag("AMOUNT", "price of a million tokens that the model writes"),
    "judge": Flag("JUDGE", "who looks at pictures: boxes, vqa:MODEL, or none to paint only"),
    "detector": Flag("NAME", "what finds things in pictures: ssd, hf:NAME or true"),
    "depth": Flag("NAME", "what says how far away they are: fastdepth, hf:NAME, true or none"),
    "rule": Flag("RULE", "how boxes become an answer"),
    "pictures": Flag("N", "how many pictures to paint for each item"),
    "column": Flag("NAME", "for a table of answers: the column that holds the answer"),
    "filter": Flag("NAME", "for a log of lm-eval: the filter whose replies count"),
    "allow_pickle": Flag("", "load pickled weights, which can run any code"),
    "trust_remote_code": Flag("", "run the code that comes with the model"),
}
FLAGS = {"benchmarks": ITEM_FLAGS, "models": MODEL_FLAGS}
OWN = "own"  # the source that reads a knowledge folder
SETTERS = {"benchmarks": "--set", "models": "--model-set"}


def item_arguments(parser: ArgumentParser) -> None:
    """Add the flags that choose items."""
    group = _add_flags(parser, "items", "benchmarks")
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
    group = _add_flags(parser, "models", "models")
    group.add_argument(
        "--no-cache",
        dest="model_set",
        action="append_const",
        const="cache=no",
        help="keep no replies of a server for when the run is stopped and continues",
    )


def _add_flags(parser: ArgumentParser, title: str, kind: str) -> _ArgumentGroup:
    group = parser.add_argument_group(title)
    for name, flag in FLAGS[kind].items():
        if flag.value:
            action = "append" if flag.repeated else "store"
            group.add_argument(_dashed(name), action=action, metavar=flag.value, help=flag.text)
        else:
            group.add_argument(_dashed(name), action="store_true", default=None, help=flag.text)
    group.add_argument(
        SETTERS[kind],
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"any other option (see `gnomon list {kind} NAME`)",
    )
    return group


def answer_file_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Add the flags that say how a file of answers is read."""
    for name in ("column", "filter"):
        flag = MODEL_FLAGS[name]
        parser.add_argument(_dashed(name), default="", metavar=flag.value, help=flag.text)


def how_to_give(kind: str, option: str) -> str:
    """How an option of a benchmark or model is written on the command line.

    >>> how_to_give("models", "shots"), how_to_give("models", "top_k")
    ('--shots N', '--model-set top_k=VALUE')
    """
    flag = FLAGS[kind].get(option)
    if flag is None:
        return f"{SETTERS[kind]} {option}=VALUE"
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

    >>> what_it_does("models", "dtype", lambda *, dtype="": None)
    'float32, bfloat16 or float16'
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
    options = _given(args, ITEM_FLAGS, args.set)
    specs = [_with_source(spec, options) for spec in specs]
    functions = []
    for spec in specs:
        found, source = named_source(spec)
        functions.append(found.sources[source])
    shared = _split(options, specs, functions, "benchmark")
    if own:
        shared = [{**mine, **given} for mine, given in zip(own, shared, strict=True)]
    sources = [load(spec, **mine) for spec, mine in zip(specs, shared, strict=True)]
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
    options = _given(args, MODEL_FLAGS, args.model_set)
    return {name: value for name, value in options.items() if name in SAID_BY_COMMAND}


def chosen_models(
    args: Namespace, specs: Sequence[str], of_files: Sequence[ModelSpec] = ()
) -> list[ModelSpec]:
    """The models that were named, each with the options that it takes; none is loaded yet.

    What the command says of models that files name need not be an option of the others.
    """
    options = _given(args, MODEL_FLAGS, args.model_set)
    elsewhere = set()
    for each in of_files:
        factory = registry.model_factory(each.spec)
        elsewhere |= {name for name in SAID_BY_COMMAND if takes(factory, name)}
    named = [registry.named_model(text) for text in specs]
    check_names(named)
    schemes = [registry.scheme_of(spec)[0] for _, spec in named]
    factories = [registry.model_factory(spec) for _, spec in named]
    shared = _split(options, schemes, factories, "model", elsewhere)
    found = []
    for (name, spec), mine in zip(named, shared, strict=True):
        found.append(registry.model(spec, **mine)._replace(name=name))
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


def _given(args: Namespace, flags: Mapping[str, Flag], settings: Sequence[str]) -> dict[str, Any]:
    options = {}
    for name in flags:
        value = getattr(args, name)
        if isinstance(value, list):
            value = flags[name].between.join(value)
        if value is not None:
            options[name] = value
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise UsageError(
                f"'{setting}' is not KEY=VALUE.",
                "Write it in one word, without spaces around =: --set pairs=100",
            )
        options[key.replace("-", "_")] = value
    return options


def _split(
    options: Mapping[str, Any],
    names: Sequence[str],
    functions: Sequence[Callable[..., Any]],
    kind: str,
    elsewhere: Collection[str] = (),
) -> list[dict[str, Any]]:
    """The options for each function: those that it takes. Each must be taken by one at least.

    Those that are taken elsewhere need not be.
    """
    for option in options:
        if option in elsewhere:
            continue
        if not any(takes(function, option) for function in functions):
            raise _taken_by_none(option, dict(zip(names, functions, strict=True)), kind)
    shares = []
    for function in functions:
        shares.append({name: value for name, value in options.items() if takes(function, name)})
    return shares


def _taken_by_none(option: str, functions: dict[str, Callable[..., Any]], kind: str) -> UsageError:
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
