"""Options that several commands share: which items, and which models.

Named flags such as --seed or --data go to every benchmark (or model) whose signature names them;
one that none of them takes is refused. --set KEY=VALUE reaches what has no flag of its own.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from typing import Any

from gnomon import registry
from gnomon.errors import UsageError
from gnomon.itemsource import ItemSource, load
from gnomon.options import options_of, takes
from gnomon.registry import ModelSpec

_ITEM_FLAGS = {
    "seed": "draw the items with this seed",
    "per_group": "items for each pattern or template",
    "data": "the folder with the authors' files",
    "split": "narrow to a split, such as test",
    "images": "the folder with the images",
    "patterns": "a pattern file of your own",
}
_MODEL_FLAGS = {
    "prompt": "a prompt by name, or a file with one",
    "shots": "examples before each question",
    "revision": "the revision of the weights",
    "dtype": "float32, bfloat16 or float16",
    "device": "cpu, cuda or mps",
    "base_url": "the address of an OpenAI-compatible server",
    "max_cost": "stop before spending more than this",
}
_MODEL_SWITCHES = {
    "allow_pickle": "load weights that are pickled (they can run code)",
    "trust_remote_code": "run code that comes with the model",
}


def item_arguments(parser: ArgumentParser) -> None:
    """Add the flags that choose items."""
    group = parser.add_argument_group("items")
    for name, line in _ITEM_FLAGS.items():
        group.add_argument(f"--{name.replace('_', '-')}", metavar=_metavar(name), help=line)
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any other option of the benchmark (see `gnomon list benchmarks NAME`)",
    )


def model_arguments(parser: ArgumentParser) -> None:
    """Add the flags that choose how models are loaded and asked."""
    group = parser.add_argument_group("models")
    for name, line in _MODEL_FLAGS.items():
        group.add_argument(f"--{name.replace('_', '-')}", metavar=_metavar(name), help=line)
    for name, line in _MODEL_SWITCHES.items():
        group.add_argument(
            f"--{name.replace('_', '-')}", action="store_true", default=None, help=line
        )
    group.add_argument(
        "--model-set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any other option of the model (see `gnomon list models NAME`)",
    )


def how_to_give(kind: str, option: str) -> tuple[str, str]:
    """How an option of a benchmark or model is written on the command line, and what it says, as
    far as it has a flag.

    >>> how_to_give("models", "shots"), how_to_give("models", "top_k")
    (('--shots N', 'examples before each question'), ('--model-set top_k=VALUE', ''))
    """
    flags = _ITEM_FLAGS if kind == "benchmarks" else _MODEL_FLAGS
    name = f"--{option.replace('_', '-')}"
    if option in flags:
        return f"{name} {_metavar(option)}", flags[option]
    if kind == "models" and option in _MODEL_SWITCHES:
        return name, _MODEL_SWITCHES[option]
    return f"{'--set' if kind == 'benchmarks' else '--model-set'} {option}=VALUE", ""


def chosen_sources(args: Namespace, specs: Sequence[str]) -> list[ItemSource]:
    """The benchmarks that were named, each with the options that it takes."""
    options = _given(args, _ITEM_FLAGS, args.set)
    shared = _split(options, specs, [_source_function(spec) for spec in specs], "benchmark")
    return [load(spec, **mine) for spec, mine in zip(specs, shared, strict=True)]


def chosen_models(args: Namespace, specs: Sequence[str]) -> list[ModelSpec]:
    """The models that were named, each with the options that it takes; none is loaded yet."""
    options = _given(args, _MODEL_FLAGS | _MODEL_SWITCHES, args.model_set)
    schemes = [spec.partition(":")[0] for spec in specs]
    shared = _split(options, schemes, [registry.model_factory(spec) for spec in specs], "model")
    return [registry.model(spec, **mine) for spec, mine in zip(specs, shared, strict=True)]


def _given(args: Namespace, flags: dict[str, str], settings: Sequence[str]) -> dict[str, Any]:
    options = {name: value for name in flags if (value := getattr(args, name)) is not None}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise UsageError(f"'{setting}' is not KEY=VALUE.", "For example: --set form=cloze")
        options[key.replace("-", "_")] = value
    return options


def _split(
    options: dict[str, Any],
    names: Sequence[str],
    functions: Sequence[Callable[..., Any]],
    kind: str,
) -> list[dict[str, Any]]:
    for option in options:
        if not any(takes(function, option) for function in functions):
            raise _taken_by_none(option, dict(zip(names, functions, strict=True)), kind)
    return [{k: v for k, v in options.items() if takes(function, k)} for function in functions]


def _taken_by_none(option: str, functions: dict[str, Callable[..., Any]], kind: str) -> UsageError:
    known = [
        f"{name} takes: {', '.join(sorted(options_of(function))) or 'no options'}."
        for name, function in functions.items()
    ]
    name = next(iter(functions)).partition("@")[0]
    what = f"{name} does not take" if len(functions) == 1 else f"None of the {kind}s takes"
    return UsageError(
        f"{what} the option '{option}'.",
        "\n".join([*known, f"`gnomon list {kind}s {name}` says what they are."]),
    )


def _source_function(spec: str) -> Callable[..., Any]:
    name, _, source = spec.partition("@")
    found = registry.benchmark(name)
    if (source or found.default_source) not in found.sources:
        raise UsageError(
            f"{name} has no source '{source}'.", f"It has: {', '.join(found.sources)}."
        )
    return found.sources[source or found.default_source]


def _metavar(name: str) -> str:
    return {
        "data": "DIR",
        "images": "DIR",
        "patterns": "FILE",
        "seed": "S",
        "per_group": "N",
        "shots": "N",
        "base_url": "URL",
        "max_cost": "AMOUNT",
    }.get(name, name.upper())
