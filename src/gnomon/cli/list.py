"""List benchmarks, models, measures, figures, prompts, suites, experiments; or tell more about one.

examples:
  gnomon list
  gnomon list models
  gnomon list models hf
  gnomon list benchmarks spacenli
  gnomon list measures partial_credit
  gnomon list prompts
  gnomon list prompts plain
  gnomon list suites
  gnomon list suites quick
  gnomon list experiments paper-002

`gnomon runs list` lists runs, `gnomon data list` files that can be fetched.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gnomon.contracts import Listing
from gnomon.errors import GnomonError, MissingFileWarning, check_known, inert
from gnomon.files import read_text
from gnomon.items.source import ItemSource, load, named_source
from gnomon.options import explained, options_of
from gnomon.registry import Entry, benchmark, entries, known_measure, model_factory, scheme_of
from gnomon.tabular import render, terminal_width

if TYPE_CHECKING:
    from gnomon.items.experiments import AskedBenchmark

# What plug-ins can add, by the names of `gnomon.registry.KINDS`.
OF_PLUGINS = ("benchmarks", "models", "measures", "pair_measures", "figures", "answer_formats")
MORE = {  # what there is to say about one of a kind
    "benchmarks": "shows a question, the sources with their licences, and all options",
    "models": "explains all options",
}


def main(args: Namespace) -> int:
    """Print the names, or what there is to know about one."""
    if args.kind in ("suites", "experiments"):
        return list_suites(args)
    if args.kind == "prompts":
        return list_prompts(args)
    if args.kind == "sets":
        return list_sets(args)
    return _one(args) if args.name else _names(args)


def _names(args: Namespace) -> int:

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
    """What one is; of a benchmark or model, every option with its default and what it does."""
    from gnomon.cli.benchmarkfacts import as_json, in_words

    if args.kind not in ("benchmarks", "models"):
        return _one_without_options(args)
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


def _one_without_options(args: Namespace) -> int:
    """A measure, a figure or a format: its line, and of a measure how its figure is read."""
    from gnomon.measures.chance import WORDS

    known = entries(args.kind)
    name = args.name.partition("@")[0]
    check_known(args.kind.removesuffix("s").replace("_", " "), name, known)
    if args.format == "json":
        print_json({"name": name, "summary": known[name].summary})
        return 0
    print(f"{name}: {known[name].summary}")
    measure = known_measure(args.name) if args.kind == "measures" else None
    if measure:
        needs = [WORDS[need].partition(", and")[0] for need in sorted(measure.needs)]
        told = f" It needs {' and '.join(needs)}." if needs else ""
        print(f"{measure.better.capitalize()} is better.{told} docs/measures.md says more.")
    return 0


def _functions(kind: str, name: str) -> dict[str, Callable[..., Any]]:
    """What takes the options: the sources of a benchmark, or the factory of a model."""

    if kind == "models":
        return {name: model_factory(name)}
    sources = benchmark(name).sources
    return {f"{name}@{source}": function for source, function in sources.items()}


def _as_json(kind: str, functions: dict[str, Callable[..., Any]]) -> dict[str, Any]:
    from gnomon.cli.options import what_it_does

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

    from gnomon.cli.options import how_to_give, what_it_does

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


def hanging(start: str, text: str) -> str:
    """A line wrapped for the terminal, with later lines indented; in a pipe it stays one line."""
    from textwrap import fill

    room = max(terminal_width(), len(start) + 30)
    indent = " " * len(start)
    return fill(text, room, initial_indent=start, subsequent_indent=indent, break_long_words=False)


def print_json(value: object, indent: int = 0) -> None:
    """Print a value for programs."""
    from gnomon.tabular import as_json

    print(as_json(value, indent))


# `gnomon list prompts`: what each prompt is for, and what it has; or one of them whole.


def list_prompts(args: Namespace) -> int:
    """Print every prompt that ships with Gnomon, or the one that is named as its file has it."""
    return _one_prompt(args) if args.name else _all_prompts(args)


def _one_prompt(args: Namespace) -> int:
    from gnomon.models.prompts.library import load_prompt, prompt_file

    file = prompt_file(args.name)
    if args.format == "json":
        print_json(load_prompt(args.name))
        return 0
    print(read_text(file), end="")
    print("# In a file of your own, changed as you like, it is a prompt too: --prompt FILE.yaml")
    return 0


def _all_prompts(args: Namespace) -> int:
    from gnomon.models.prompts.library import load_prompt, prompt_names

    found: list[dict[str, Any]] = []
    for name in prompt_names():
        prompt = load_prompt(name)
        found.append(
            {
                "name": name,
                "forms": sorted(prompt.forms),
                "shots": prompt.own_examples,
                "wordings": prompt.wordings,
                "summary": prompt.summary,
            }
        )
    if args.format == "json":
        print_json(found)
        return 0
    rows = []
    for fields in found:
        rows.append(tuple(map(_cell, fields.values())))
    columns = ("prompt", "forms", "shots", "wordings", "summary")
    print(render(Listing("", columns, tuple(rows))))
    print("`gnomon show BENCHMARK -m MODEL --prompt NAME` prints what a model reads with it.")
    print("--shots N draws worked examples for a prompt that has none (docs/prompts.md).")
    return 0


def _cell(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value


# `gnomon list suites`: what is in each suite, how many items, and about how long it takes.


SECONDS = 0.25  # of a processor that the small model of the demo takes for an item, on average


def list_sets(args: Namespace) -> int:
    """Print the public benchmarks of others that are known, or all that is known of one."""
    import msgspec

    from gnomon.items.sets import named_sets, set_named

    known = named_sets()
    if args.name:
        known = {args.name.removeprefix("set:"): set_named(args.name)}
    if args.format == "json":
        print_json([{"name": name, **msgspec.to_builtins(one)} for name, one in known.items()])
        return 0
    opened = {"file": "", "form": " (read in its form only)", "no": " (never opened here)"}
    width = max(map(len, known))
    for name, one in known.items():
        print(hanging(f"  {name:<{width}}  ", f"{one.asks}{opened[one.opened]}"))
        if args.name:
            print(hanging("", f"files: {', '.join(one.files)}; where: {one.where}"))
            print(hanging("", f"licence: {one.licence}. {one.note}".strip()))
            print(hanging("", f"audit: {one.audit or 'not audited here'}"))
    print("`gnomon run set:NAME -m MODEL --data DIR` asks one, with its authors' files in DIR.")
    return 0


def list_suites(args: Namespace) -> int:
    """Print every suite or experiment, or the one that is named with its benchmarks and models."""
    from gnomon.items.experiments import ENDINGS, load_suite, suite_names

    names = suite_names(args.kind)
    if args.name:
        if not args.name.endswith(ENDINGS):
            check_known(args.kind.removesuffix("s"), args.name, names)
        names = [args.name]
    found = []
    for name in names:
        suite = load_suite(name)
        parts = [_told(each) for each in suite.benchmarks]
        items = sum(part["items"] or 0 for part in parts)
        models = [each.name or each.spec for each in suite.models]
        told = {"name": name, "summary": suite.summary, "items": items, "benchmarks": parts}
        found.append({**told, "models": models})
    if args.format == "json":
        print_json(found, indent=2)
        return 0
    _print_suites(found, whole=bool(args.name))
    return 0


def _told(asked: AskedBenchmark) -> dict[str, Any]:
    """A benchmark of a suite; items that are not here are not counted."""
    from gnomon.cli.benchmarkfacts import known_facts

    source = load(asked.spec, **asked.options).limited(asked.limit)
    if _has_known_size(asked, source):
        items: int | None = known_facts()[source.benchmark.name].items
        if items and asked.limit:
            items = min(items, asked.limit)
    else:
        items = _counted(source)
    return {"name": source.name, "items": items}


def _has_known_size(asked: AskedBenchmark, source: ItemSource) -> bool:
    """Whether it is a fresh set with its default options, of which a limit takes single items."""
    from gnomon.cli.benchmarkfacts import known_facts

    if asked.options or source.source != "fresh":
        return False
    in_groups = asked.limit and source.source in source.benchmark.whole_groups
    return source.benchmark.name in known_facts() and not in_groups


def _counted(source: ItemSource) -> int | None:
    import warnings

    try:
        with warnings.catch_warnings():  # what a file lacks is said when its items are asked
            warnings.simplefilter("ignore", MissingFileWarning)
            return sum(1 for _ in source.without_pictures())
    except GnomonError:  # the authors' files are not here
        return None


def _print_suites(found: list[dict[str, Any]], *, whole: bool) -> None:
    from gnomon.runs.pace import duration

    rows = []
    for suite in found:
        time = duration(max(60.0, SECONDS * suite["items"]))
        if not suite["items"]:
            time = "–"
        rows.append(
            (suite["name"], len(suite["benchmarks"]), suite["items"], time, suite["summary"])
        )
    columns = ("name", "benchmarks", "items", "about", "what it is")
    print(render(Listing("", columns, tuple(rows))))
    if whole:
        parts = [(part["name"], part["items"]) for part in found[0]["benchmarks"]]
        print(f"\n{render(Listing('', ('benchmark', 'items'), tuple(parts)))}")
        if found[0]["models"]:
            print(hanging("models  ", "; ".join(found[0]["models"])))
    missing = [part for suite in found for part in suite["benchmarks"] if part["items"] is None]
    if missing:
        print("Published items that are not here are not counted: `gnomon data get NAME`.")
    print(
        "Times are of one processor with smollm2; `gnomon run SUITE -m MODEL --dry-run` measures."
    )
