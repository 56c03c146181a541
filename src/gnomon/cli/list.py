"""List benchmarks, models, measures, figures, prompts, suites or runs; or tell more about one.

examples:
  gnomon list
  gnomon list models
  gnomon list models hf
  gnomon list benchmarks spacenli
  gnomon list prompts
  gnomon list prompts plain
  gnomon list suites
  gnomon list suites quick
  gnomon list runs --runs results
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gnomon.cli.listing import RUNS, hanging, print_json
from gnomon.cli.sharedoptions import json_argument
from gnomon.errors import UsageError, inert

if TYPE_CHECKING:
    from gnomon.registry import Entry

# What plug-ins can add, by the names of `gnomon.registry.KINDS`; then what they cannot.
OF_PLUGINS = ("benchmarks", "models", "measures", "pair_measures", "figures", "answer_formats")
KINDS = (*OF_PLUGINS, "prompts", "suites", "runs")
MORE = {  # what there is to say about one of a kind
    "benchmarks": "shows a question, the sources with their licences, and all options",
    "models": "explains all options",
}


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "kind",
        nargs="?",
        choices=KINDS,
        help="what to list (default: all but prompts, suites and runs)",
    )
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="a benchmark or model, to see its options; a prompt or suite, to see it whole",
    )
    parser.add_argument(
        "--runs", default=RUNS, metavar="DIR", help="the folder of runs (default: runs)"
    )
    json_argument(parser)


def main(args: Namespace) -> int:
    """Print the names, or what there is to know about one."""
    if args.kind == "suites":
        from gnomon.cli.suites import list_suites

        return list_suites(args)
    if args.kind == "runs":
        from gnomon.cli.runlist import list_runs

        return list_runs(args)
    if args.kind == "prompts":
        from gnomon.cli.promptlist import list_prompts

        return list_prompts(args)
    return _one(args) if args.name else _names(args)


def _names(args: Namespace) -> int:
    from gnomon.registry import entries

    kinds = [args.kind] if args.kind else OF_PLUGINS
    tables = {kind: entries(kind) for kind in kinds}
    if args.format == "json":
        found = {kind: _summaries(kind, table) for kind, table in tables.items()}
        print_json(found[args.kind] if args.kind else found)
        return 0
    width = max(len(name) for table in tables.values() for name in table)
    for kind, table in tables.items():
        if not args.kind:
            print(f"{kind}:")
        for name, entry in table.items():
            print(hanging(f"  {name:<{width}}  ", entry.summary))
            if args.kind == "benchmarks":
                _print_facts(name, width)
    if args.kind in MORE:
        print(f"`gnomon list {args.kind} NAME` {MORE[args.kind]}.")
    return 0


def _print_facts(name: str, width: int) -> None:
    """Below a benchmark: how large it is, and what a guess gets."""
    from gnomon.cli.benchmarkfacts import summary_line

    line = summary_line(name)
    if line:
        print(hanging(" " * (width + 4), line))


def _summaries(kind: str, table: dict[str, Entry]) -> list[dict[str, Any]]:
    from gnomon.cli.benchmarkfacts import known_facts

    found = []
    for name, entry in table.items():
        told: dict[str, Any] = {"name": name, "summary": entry.summary}
        if kind == "benchmarks" and name in known_facts():
            told["fresh"] = known_facts()[name]._asdict()
        found.append(told)
    return found


def _one(args: Namespace) -> int:
    """One benchmark or model: what it is, and every option with its default and what it does."""
    from gnomon.cli.benchmarkfacts import as_json, in_words
    from gnomon.items.source import named_source
    from gnomon.registry import benchmark, entries, scheme_of

    if args.kind not in ("benchmarks", "models"):
        raise UsageError(
            f"Only benchmarks and models have options to list, not {args.kind}.",
            f"Leave out the name: gnomon list {args.kind}",
        )
    if args.kind == "benchmarks":
        name = args.name.partition("@")[0]
        if name != args.name:
            named_source(args.name)  # says which sources there are, if it has no such one
    else:
        name = scheme_of(args.name)[0]
    functions = _functions(args.kind, name)
    if args.kind == "benchmarks":  # loaded by now, and a plug-in's knows what it asks
        summary = benchmark(name).summary
    else:
        summary = entries(args.kind)[name].summary
    facts = as_json(benchmark(name)) if args.kind == "benchmarks" else {}
    if args.format == "json":
        print_json({"name": name, "summary": summary, **facts, **_as_json(args.kind, functions)})
        return 0
    print(f"{name}: {summary}")
    if args.kind == "benchmarks":
        for line in in_words(benchmark(name)):
            print(inert(hanging("", line) if "\n" not in line else line))
    for each, function in functions.items():
        print(f"\n{_in_words(args.kind, each, function)}")
    return 0


def _functions(kind: str, name: str) -> dict[str, Callable[..., Any]]:
    """What takes the options: the sources of a benchmark, or the factory of a model."""
    from gnomon.registry import benchmark, model_factory

    if kind == "models":
        return {name: model_factory(name)}
    sources = benchmark(name).sources
    return {f"{name}@{source}": function for source, function in sources.items()}


def _as_json(kind: str, functions: dict[str, Callable[..., Any]]) -> dict[str, Any]:
    from gnomon.cli.choosing import what_it_does
    from gnomon.options import options_of

    defaults: dict[str, dict[str, Any]] = {}
    help: dict[str, dict[str, str]] = {}
    for name, function in functions.items():
        defaults[name], help[name] = {}, {}
        for option, default in options_of(function).items():
            defaults[name][option] = None if default is ... else default
            help[name][option] = what_it_does(kind, option, function)
    return {"options": defaults, "help": help}


def _in_words(kind: str, name: str, function: Callable[..., Any]) -> str:
    from textwrap import indent

    from gnomon.cli.choosing import how_to_give, what_it_does
    from gnomon.options import explained, options_of

    options = options_of(function)
    lines = [f"{name} takes these options:" if options else f"{name} takes no options."]
    width = max((len(how_to_give(kind, option)) for option in options), default=0)
    for option, default in options.items():
        given = how_to_give(kind, option)
        text = what_it_does(kind, option, function)
        if "default" not in text:  # else the text says it better
            text = f"{text} {_default(default)}".strip()
        lines.append(hanging(f"  {given:<{width}}  ", text))
    prose = explained(function).prose
    if prose:
        lines += ["", indent(prose, "  ")]
    return "\n".join(lines)


def _default(value: Any) -> str:
    if value is ...:
        return "(must be given)"
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return f"(default: {str(value).lower()})"
    return f"(default: {value})"
