"""The names that a shell completes: what may stand where the cursor is.

Commands and options stand in the shell's own script (see `completion`); this looks up what depends
on the moment.

`gnomon _complete WORD...` prints a line for each: the word, a tab, and what it is. Where files are
meant, which shells complete by themselves, it prints nothing.
"""

from __future__ import annotations

from argparse import Action
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gnomon.cli.parser import CommandParser
from gnomon.errors import GnomonError

Names = dict[str, str]  # a name and what it is
MOST_RUNS = 500


def print_names(words: Sequence[str]) -> int:
    """Print what may stand for the last word; nothing if anything is wrong, since one types."""
    try:
        found = names(words)
    except (GnomonError, OSError, ImportError):
        return 0
    for name, text in found.items():
        print(f"{name}\t{text}")
    return 0


def names(words: Sequence[str]) -> Names:
    """What may stand for the last word, given those before it.

    >>> list(names(["score", "runs", "--measure", "accu"]))
    ['accuracy']
    """
    from gnomon.cli.dispatch import COMMANDS, command_module, command_parser

    *before, current = words or [""]
    if not before:
        return _starting(current, dict(COMMANDS))
    if before[0] not in COMMANDS:
        return {}
    parser = command_parser(before[0], command_module(before[0]))
    given = before[1:]
    if parser.commands:
        if not given:
            return _starting(current, dict.fromkeys(parser.commands, ""))
        parser = parser.commands.get(given[0], parser)
        given = given[1:]
    option, equals, value = current.partition("=")
    if equals and option in parser._option_string_actions:
        found = _of_action(parser._option_string_actions[option], given, value)
        return {f"{option}={name}": text for name, text in found.items()}
    action = _action_at(parser, given)
    return {} if action is None else _of_action(action, given, current)


def _action_at(parser: CommandParser, given: Sequence[str]) -> Action | None:
    """The option whose value comes next, or else the name that does."""
    places = 0
    open_option: Action | None = None
    for word in given:
        if open_option is not None:
            open_option = None
        elif word.startswith("-"):
            known = parser._option_string_actions.get(word)
            open_option = known if known is not None and known.nargs != 0 else None
        else:
            places += 1
    if open_option is not None:
        return open_option
    positionals = parser._get_positional_actions()
    if not positionals:
        return None
    if places < len(positionals):
        return positionals[places]
    return positionals[-1] if positionals[-1].nargs in ("+", "*") else None


def _of_action(action: Action, given: Sequence[str], current: str) -> Names:
    if action.choices is not None:
        return _starting(current, dict.fromkeys(map(str, action.choices), ""))
    find = BY_DEST.get(action.dest)
    if find is None and isinstance(action.metavar, str):
        find = BY_METAVAR.get(action.metavar)
    return _starting(current, find(given, current)) if find else {}


def _starting(current: str, found: Names) -> Names:
    return {name: text for name, text in found.items() if name.startswith(current)}


def _benchmarks(given: Sequence[str], current: str) -> Names:
    """Benchmarks; after @ the sources of one."""
    from gnomon.registry import benchmark, entries

    name, at, _ = current.partition("@")
    if at:
        sources = benchmark(name).sources
        return dict.fromkeys([f"{name}@{source}" for source in sources], "")
    return {name: entry.summary for name, entry in entries("benchmarks").items()}


def _asked(given: Sequence[str], current: str) -> Names:
    """What `gnomon run` asks: benchmarks and suites."""
    return {**_benchmarks(given, current), **_suites(given, current)}


def _suites(given: Sequence[str], current: str) -> Names:
    from gnomon.items.experiments.suites import suite_names

    return dict.fromkeys(suite_names(), "a suite")


def _models(given: Sequence[str], current: str) -> Names:
    """Schemes of models; after the colon of one that takes a path, what is there."""
    from gnomon.registry import entries

    scheme, colon, start = current.partition(":")
    if colon and scheme in ("hf", "gguf", "answers", "images", "probe"):
        return {f"{scheme}:{path}": text for path, text in _paths(start).items()}
    found = {}
    for name, entry in entries("models").items():
        takes_name = f"{name}:" in entry.summary
        found[f"{name}:" if takes_name else name] = entry.summary
    return found


def _paths(start: str) -> Names:
    """Files and folders whose path starts so."""
    folder = Path(start).parent if not start.endswith("/") else Path(start)
    found = {}
    for path in sorted(folder.iterdir()):
        if not path.name.startswith("."):
            found[f"{path.as_posix()}/" if path.is_dir() else path.as_posix()] = ""
    return found


def _runs(given: Sequence[str], current: str) -> Names:
    """Folders of runs: in the folder that was begun, or else in `runs`."""
    folder = Path(current).parent if "/" in current else Path("runs")
    if current.endswith("/"):
        folder = Path(current)
    found: Names = {}
    for manifest in sorted(folder.glob("*/run.json"))[:MOST_RUNS]:
        found[manifest.parent.as_posix()] = ""
    return found


def _entries(kind: str) -> Callable[[Sequence[str], str], Names]:
    def find(given: Sequence[str], current: str) -> Names:
        from gnomon.registry import entries

        return {name: entry.summary for name, entry in entries(kind).items()}

    return find


def _prompts(given: Sequence[str], current: str) -> Names:
    from gnomon.models.prompts.library import prompt_names

    return dict.fromkeys(prompt_names(), "")


def _recipes(given: Sequence[str], current: str) -> Names:
    from gnomon.train.recipes import built_in_recipes

    return dict.fromkeys(built_in_recipes(), "")


def _sources(given: Sequence[str], current: str) -> Names:
    from gnomon.downloads.catalogue import sources

    return dict.fromkeys(sources(), "")


def _commands(given: Sequence[str], current: str) -> Names:
    from gnomon.cli.dispatch import COMMANDS

    return dict(COMMANDS)


def _listed(given: Sequence[str], current: str) -> Names:
    """What `gnomon list KIND` tells more about."""
    kinds: dict[str, Callable[[Sequence[str], str], Names]] = {
        "benchmarks": _benchmarks,
        "models": _entries("models"),
        "prompts": _prompts,
        "suites": _suites,
    }
    for word in given:
        if word in kinds:
            return kinds[word](given, current)
    return {}


def _tags(given: Sequence[str], current: str) -> Names:
    """By what the runs that were named can be sliced."""
    return dict.fromkeys([*_slices(given), "form", "group", "gold", "choice"], "")


def _slices(given: Sequence[str]) -> Iterator[str]:
    from gnomon.registry import known_benchmark
    from gnomon.runs import Run

    for word in given:
        if (Path(word) / "run.json").is_file():
            benchmark = known_benchmark(Run.open(Path(word)).benchmark)
            if benchmark is not None:
                yield from benchmark.slices


BY_DEST: dict[str, Callable[[Sequence[str], str], Names]] = {
    "model": _models,
    "measure": _entries("measures"),
    "names": _sources,
    "name": _listed,
    "by": _tags,
    "match": _tags,
    "ask": lambda given, current: {"score": "", "generate": ""},
    "benchmark": _benchmarks,
    "benchmarks": _asked,
}
BY_METAVAR: dict[str, Callable[[Sequence[str], str], Names]] = {
    "BENCHMARK": _benchmarks,
    "NAME|FILE": _benchmarks,
    "RUN": _runs,
    "PROMPT": _prompts,
    "RECIPE": _recipes,
    "COMMAND": _commands,
}
