"""List benchmarks, models, measures, figures, prompts, suites or runs; or the options of one.

examples:
  gnomon list
  gnomon list models
  gnomon list models hf
  gnomon list benchmarks spacenli
  gnomon list prompts
  gnomon list suites
  gnomon list suites quick
  gnomon list runs --runs results
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.cli.sharedoptions import json_argument
from gnomon.errors import UsageError, inert, path_hint

if TYPE_CHECKING:
    from gnomon.registry import Entry
    from gnomon.runs import Run

# What plug-ins can add, by the names of `gnomon.registry.KINDS`; then what they cannot.
OF_PLUGINS = ("benchmarks", "models", "measures", "pair_measures", "figures", "answer_formats")
KINDS = (*OF_PLUGINS, "prompts", "suites", "runs")
MORE = {  # what there is to say about one of a kind
    "benchmarks": "shows a question, the sources with their licences, and all options",
    "models": "explains all options",
}
RUNS = "runs"  # the folder of runs


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "kind",
        nargs="?",
        choices=KINDS,
        help="what to list (default: all but prompts, suites and runs)",
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a benchmark or model, to see the options it takes"
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
    if args.name:
        return _one(args)
    if args.kind == "runs":
        return _runs(args)
    if args.kind == "prompts":
        return _prompts(args)
    return _names(args)


def _names(args: Namespace) -> int:
    from gnomon.registry import entries

    kinds = [args.kind] if args.kind else OF_PLUGINS
    tables = {kind: entries(kind) for kind in kinds}
    if args.format == "json":
        found = {kind: _summaries(kind, table) for kind, table in tables.items()}
        _print_json(found[args.kind] if args.kind else found)
        return 0
    width = max(len(name) for table in tables.values() for name in table)
    for kind, table in tables.items():
        if not args.kind:
            print(f"{kind}:")
        for name, entry in table.items():
            print(_hanging(f"  {name:<{width}}  ", entry.summary))
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
        print(_hanging(" " * (width + 4), line))


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
    from gnomon.registry import benchmark, entries, scheme_of

    if args.kind not in ("benchmarks", "models"):
        raise UsageError(
            f"Only benchmarks and models have options to list, not {args.kind}.",
            "Leave out the name.",
        )
    if args.kind == "benchmarks":
        name = args.name.partition("@")[0]
    else:
        name = scheme_of(args.name)[0]
    functions = _functions(args.kind, name)
    if args.kind == "benchmarks":  # loaded by now, and a plug-in's knows what it asks
        summary = benchmark(name).summary
    else:
        summary = entries(args.kind)[name].summary
    facts = as_json(benchmark(name)) if args.kind == "benchmarks" else {}
    if args.format == "json":
        _print_json({"name": name, "summary": summary, **facts, **_as_json(args.kind, functions)})
        return 0
    print(f"{name}: {summary}")
    if args.kind == "benchmarks":
        for line in in_words(benchmark(name)):
            print(inert(_hanging("", line) if "\n" not in line else line))
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
        lines.append(_hanging(f"  {given:<{width}}  ", text))
    prose = explained(function).prose
    if prose:
        lines += ["", indent(prose, "  ")]
    return "\n".join(lines)


def _hanging(start: str, text: str) -> str:
    """A line wrapped for the terminal, with later lines indented; in a pipe it stays one line."""
    from textwrap import fill

    from gnomon.reporting.tables.render import terminal_width

    room = max(terminal_width(), len(start) + 30)
    indent = " " * len(start)
    return fill(text, room, initial_indent=start, subsequent_indent=indent, break_long_words=False)


def _default(value: Any) -> str:
    if value is ...:
        return "(must be given)"
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return f"(default: {str(value).lower()})"
    return f"(default: {value})"


def _prompts(args: Namespace) -> int:
    """Every prompt that ships with Gnomon: what it is for, and what it has."""
    from gnomon.contracts import Listing
    from gnomon.probing.prompts import load_prompt, prompt_names
    from gnomon.reporting.tables.render import render

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
        _print_json(found)
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


def _runs(args: Namespace) -> int:
    from gnomon.cli.dispatch import tell
    from gnomon.contracts import Listing
    from gnomon.reporting.tables.render import UNCUT, render
    from gnomon.reporting.tables.scores import too_wide

    if args.runs != RUNS and not Path(args.runs).is_dir():
        hint = path_hint(args.runs, "Name the folder of runs with --runs.")
        raise UsageError(f"There is no folder {args.runs}.", hint)
    found = _found_runs(args.runs)
    if args.format == "json":
        _print_json(found, indent=2)
        return 0
    if not found:
        print(f"No runs in {inert(args.runs)}. `gnomon run scales -m random` makes one.")
        return 0
    columns = ("run", "benchmark", "model", "answers", "state", "started")
    rows = tuple(_row(run) for run in found)
    text = inert(render(Listing("", columns, rows), width=UNCUT))
    if too_wide(text):  # a path is there to be copied, so it is not cut
        text = "\n".join(map(_in_lines, rows))
    print(text)
    for run in found:
        if "reason" in run:
            tell(run["reason"])
    return 0


def _row(run: dict[str, Any]) -> tuple[Any, ...]:
    answers = f"{run['asked']:,} / {run['items']:,}" if "asked" in run else None
    state = run["state"]
    if run.get("shard"):
        state = f"shard {run['shard']}, {state}"
    day = (run["started"] or "")[:10]
    return (run["run"], run["benchmark"], run.get("label", run["model"]), answers, state, day)


def _in_lines(row: tuple[Any, ...]) -> str:
    """A run for a narrow terminal: its folder, and below it what there is to say."""
    folder, *rest = row
    text = " · ".join(str(cell) for cell in rest if cell)
    return inert(f"{folder}\n{_hanging('  ', text)}")


def _found_runs(folder: str) -> list[dict[str, Any]]:
    """Each run, the damaged first and then the oldest; none hides the others."""
    from gnomon.errors import GnomonError
    from gnomon.runs import survey

    surveyed = survey(folder)
    found = [_damaged(path, error) for path, error in surveyed.damaged.items()]
    names = _labels(surveyed.runs)
    for run in surveyed.runs:
        try:
            found.append({**_told(run), "label": names[run.path]})
        except GnomonError as error:
            damaged = _damaged(run.path, error)
            found.append(damaged | {"benchmark": run.benchmark, "model": run.model})
    return found


def _labels(runs: Sequence[Run]) -> dict[Path, str]:
    """What to call each run: its model, with what tells it from others on its benchmark."""
    from gnomon.measures.runlabels import labels, settings_of

    of_benchmark: dict[str, list[Run]] = {}
    for run in runs:
        of_benchmark.setdefault(run.benchmark, []).append(run)
    found: dict[Path, str] = {}
    for group in of_benchmark.values():
        told = labels([run.name for run in group], [settings_of(run) for run in group])
        found |= dict(zip((run.path for run in group), told, strict=True))
    return found


def _told(run: Run) -> dict[str, Any]:
    counts = run.counts()
    if not counts.items:  # a run has items from the moment that its manifest is whole
        raise run.damaged("it is empty")
    return {
        "run": run.path.as_posix(),
        "benchmark": run.benchmark,
        "model": run.model,
        "name": run.manifest.name,
        "options": run.manifest.options,
        "model_options": run.manifest.model_options,
        "limit": run.manifest.limit,
        "shard": run.manifest.shard,
        "items": max(counts.items, run.manifest.counts.items),
        "asked": counts.asked,
        "answered": counts.answered,
        "unread": counts.unread,
        "errors": counts.errors,
        "state": "finished" if run.manifest.finished else "unfinished",
        "started": run.manifest.started.isoformat(),
    }


def _damaged(path: Path, error: Exception) -> dict[str, Any]:
    return {
        "run": path.as_posix(),
        "benchmark": None,
        "model": None,
        "state": "damaged",
        "reason": str(error),
        "started": None,
    }


def _print_json(value: object, indent: int = 0) -> None:
    import msgspec

    encoded = msgspec.json.encode(value)
    if indent:
        encoded = msgspec.json.format(encoded, indent=indent)
    print(encoded.decode())
