"""Print a completion script for your shell: commands, options, and names of what there is.

examples:
  gnomon completion bash > ~/.local/share/bash-completion/completions/gnomon
  gnomon completion zsh  > ~/.zfunc/_gnomon
  gnomon completion fish > ~/.config/fish/completions/gnomon.fish

The script asks Gnomon while you type, so it need not be made again after an update.
"""

import os
from argparse import Action, Namespace
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from gnomon.cli.dispatch import CommandParser, fill_parser
from gnomon.errors import GnomonError

MOST_RUNS = 500
PATH_SCHEMES = ("hf", "gguf", "answers", "images", "probe")  # models that are files or folders

Names = dict[str, str]  # a name and what it is
Finder = Callable[[str, Namespace], Names]  # from the word so far and the words before it


def main(args: Namespace) -> int:
    """Print the script."""
    from argcomplete.shell_integration import shellcode

    print(shellcode(["gnomon"], shell=args.shell), end="")
    return 0


def complete() -> None:
    """Tell the shell what may stand where the cursor is, and end the process."""
    import argcomplete

    words = os.environ.get("COMP_LINE", "").split()
    parser = whole_parser(words)
    for each in _parsers(parser):
        for action in each._actions:
            find = _finder(action)
            if find is not None:
                action.completer = _completer(find)  # type: ignore[attr-defined]
    argcomplete.autocomplete(
        parser,
        always_complete_options=False,
        default_completer=_completer(_paths),  # type: ignore[arg-type]
    )


def whole_parser(only: Iterable[str] | None = None) -> CommandParser:
    """One parser of all commands; if words are given, options are only added to those named."""
    from gnomon.registry import command, entries

    parser = CommandParser(prog="gnomon")
    commands = parser.add_subparsers(dest="command")
    known = entries("commands")
    wanted = set(known if only is None else only)
    for name, entry in known.items():
        sub = commands.add_parser(name, help=entry.summary)
        if name in wanted:
            module = command(name)
            sub.description = module.__doc__
            fill_parser(sub, name, module)
    return parser


def _parsers(parser: CommandParser) -> Iterator[CommandParser]:
    yield parser
    for each in parser.commands.values():
        yield from _parsers(each)


def _finder(action: Action) -> Finder | None:
    """What finds the names for an option or a place, if its choices are not fixed."""
    if action.choices is not None:
        return None
    if action.dest in BY_DEST:
        return BY_DEST[action.dest]
    return BY_METAVAR.get(action.metavar) if isinstance(action.metavar, str) else None


def _completer(find: Finder) -> Callable[..., Names]:
    def completer(*, prefix: str, parsed_args: Namespace, **_: Any) -> Names:
        try:
            return find(prefix, parsed_args)
        except (GnomonError, OSError, ImportError):  # one is still typing
            return {}

    return completer


def _benchmarks(prefix: str, given: Namespace) -> Names:
    """Benchmarks; after @ the sources of one."""
    from gnomon.registry import benchmark, entries

    name, at, _ = prefix.partition("@")
    if at:
        return dict.fromkeys([f"{name}@{source}" for source in benchmark(name).sources], "")
    return {name: entry.summary for name, entry in entries("benchmarks").items()}


def _asked(prefix: str, given: Namespace) -> Names:
    """What `gnomon run` asks: benchmarks, suites, and files."""
    found = {**_benchmarks(prefix, given), **_suites(prefix, given)}
    if any(name.startswith(prefix) for name in found):
        return found
    return _paths(prefix, given)


def _suites(prefix: str, given: Namespace) -> Names:
    from gnomon.items.experiments import suite_names

    experiments = dict.fromkeys(suite_names("experiments"), "an experiment")
    return {**dict.fromkeys(suite_names(), "a suite"), **experiments}


def _models(prefix: str, given: Namespace) -> Names:
    """Schemes of models; after the colon of one that takes a path, what is there."""
    from gnomon.registry import entries

    scheme, colon, start = prefix.partition(":")
    if colon and scheme in PATH_SCHEMES:
        return {f"{scheme}:{path}": text for path, text in _paths(start, given).items()}
    found = {}
    for name, entry in entries("models").items():
        takes_name = f"{name}:" in entry.summary
        found[f"{name}:" if takes_name else name] = entry.summary
    return found


def _paths(prefix: str, given: Namespace) -> Names:
    """Files and folders whose path starts so."""
    folder = Path(prefix) if prefix.endswith("/") else Path(prefix).parent
    found = {}
    for path in sorted(folder.iterdir()):
        if not path.name.startswith("."):
            found[f"{path.as_posix()}/" if path.is_dir() else path.as_posix()] = ""
    return found


def _runs(prefix: str, given: Namespace) -> Names:
    """Folders of runs: in the folder that was begun, or else in `runs`."""
    folder = Path(prefix).parent if "/" in prefix else Path("runs")
    if prefix.endswith("/"):
        folder = Path(prefix)
    manifests = sorted(folder.glob("*/run.json"))[:MOST_RUNS]
    found = dict.fromkeys([manifest.parent.as_posix() for manifest in manifests], "")
    return found or _paths(prefix, given)


def _entries(kind: str) -> Finder:
    def find(prefix: str, given: Namespace) -> Names:
        from gnomon.registry import entries

        return {name: entry.summary for name, entry in entries(kind).items()}

    return find


def _prompts(prefix: str, given: Namespace) -> Names:
    from gnomon.models.prompts.library import prompt_names

    return dict.fromkeys(prompt_names(), "") | _paths(prefix, given)


def _recipes(prefix: str, given: Namespace) -> Names:
    from gnomon.train.recipes import built_in_recipes

    return dict.fromkeys(built_in_recipes(), "") | _paths(prefix, given)


def _sources(prefix: str, given: Namespace) -> Names:
    from gnomon.downloads.catalogue import sources

    return dict.fromkeys(sources(), "")


def _listed(prefix: str, given: Namespace) -> Names:
    """What `gnomon list KIND` tells more about."""
    kinds: dict[str, Finder] = {
        "benchmarks": _benchmarks,
        "models": _entries("models"),
        "prompts": _prompts,
        "suites": _suites,
        "experiments": _suites,
    }
    find = kinds.get(str(getattr(given, "kind", "")))
    return find(prefix, given) if find else {}


def _tags(prefix: str, given: Namespace) -> Names:
    """By what the runs that were named can be sliced."""
    from gnomon.registry import known_benchmark
    from gnomon.runs import Run

    found: list[str] = []
    for folder in getattr(given, "runs", None) or ():
        benchmark = known_benchmark(Run.open(Path(folder)).benchmark)
        if benchmark is not None:
            found += benchmark.slices
    return dict.fromkeys([*found, "form", "group", "gold", "choice"], "")


BY_DEST: dict[str, Finder] = {
    "model": _models,
    "measure": _entries("measures"),
    "names": _sources,
    "name": _listed,
    "by": _tags,
    "match": _tags,
    "benchmark": _benchmarks,
    "benchmarks": _asked,
}
BY_METAVAR: dict[str, Finder] = {
    "BENCHMARK": _benchmarks,
    "NAME|FILE": _benchmarks,
    "RUN": _runs,
    "PROMPT": _prompts,
    "RECIPE": _recipes,
    "COMMAND": _entries("commands"),
}
