"""Sentences for mistakes in a command: what is wrong, the nearest name, and what to write instead.

A remedy is proposed only if the command at hand has it. What other programs and earlier
versions call things is in data/commands/habits.yaml.
"""

from __future__ import annotations

import re
import shlex
from argparse import Action
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.cli.options import SWITCH
from gnomon.errors import UsageError, nearest, unknown
from gnomon.registry import BENCHMARKS, MODELS, scheme_of

if TYPE_CHECKING:
    from gnomon.cli.dispatch import CommandParser

_ONE_MODEL = re.compile(r"-m|--model(=|$)")
_KINDS = {"int": "a whole number", "float": "a number"}


class _Habits(NamedTuple):
    """What people write, and how it is written here."""

    options: dict[str, list[str]]
    without: dict[str, str]
    commands: dict[str, str]
    renamed: dict[str, dict[str, Any]]
    set: dict[str, Any]


@cache
def _habits() -> _Habits:
    import yaml

    from gnomon.files import package_data

    text = package_data("commands/habits.yaml").read_text(encoding="utf-8")
    return _Habits(**yaml.safe_load(text))


def unknown_command(name: str, rest: Sequence[str], commands: Iterable[str]) -> UsageError:
    """There is no command of that name: it is mistyped, or another program's, or was left out."""
    if name in _habits().renamed:
        return _renamed(name, rest)
    by_habit = _habits().commands.get(name.lower())
    if by_habit:
        hint = f"`gnomon {by_habit}` does that; `gnomon help {by_habit.split()[0]}` says how."
        return UsageError(f"There is no command named '{name}'.", hint)
    if name.partition("@")[0] in BENCHMARKS:
        asked = " ".join([name, *rest])
        hint = f"It is a benchmark. To ask a model: gnomon run {asked}"
        if "-m" not in rest and "--model" not in rest:
            hint += " -m MODEL"
        return UsageError(f"There is no command named '{name}'.", hint)
    if Path(name).is_file():
        hint = f"It is a file. To ask a model what it holds: gnomon run {name} -m MODEL"
        return UsageError(f"There is no command named '{name}'.", hint)
    found = unknown("command", name, [*commands, "help"])
    if found.hint.startswith("Choose"):
        return UsageError(found.message, "`gnomon help` lists the commands.")
    return found


def options_before_command(words: Sequence[str], commands: Iterable[str]) -> UsageError | None:
    """The command stands after its options; none if there is no command among the words."""
    for number, word in enumerate(words):
        if word in commands:
            rest = [*words[:number], *words[number + 1 :]]
            right = " ".join(["gnomon", word, *rest])
            return UsageError(
                f"'{words[0]}' stands before the command.", f"Write the command first: {right}"
            )
    return None


def unknown_option(parser: CommandParser, word: str) -> UsageError:
    """The command has no such option: what it is called here, or where it is."""
    name = word.partition("=")[0]
    for each in parser.words:
        if f"{_who(parser)} {each}" in _habits().renamed:
            return _renamed(f"{_who(parser)} {each}", _without(parser.words, each))
    message = f"{_who(parser)} has no option {name}."
    renewed = _renewed(parser, parser.words, {})
    if renewed != parser.words and name not in renewed and name not in _habits().options:
        return UsageError(message, f"Write: {shlex.join([*parser.prog.split(), *renewed])}")
    return UsageError(message, _remedy(parser, name))


def check_one_model(parser: CommandParser) -> None:
    """Refuse a second model where a command takes one: argparse would keep the last in silence."""
    given = [place for place, word in enumerate(parser.words) if _ONE_MODEL.match(word)]
    if len(given) > 1:
        first = shlex.join([*parser.prog.split(), *parser.words[: given[1]]])
        message = f"{_who(parser)} takes one model, and several are given."
        raise UsageError(message, f"Give the command once for each: {first}")


def _renamed(name: str, rest: Sequence[str]) -> UsageError:
    now = _habits().renamed[name]["words"]
    return UsageError(f"'{name}' is now `gnomon {now}`.", f"Write: {_renewed_command(name, rest)}")


def _renewed_command(name: str, rest: Sequence[str]) -> str:
    """A command of an earlier version as it is written now."""
    from gnomon.cli.dispatch import command_parser
    from gnomon.registry import command

    old = _habits().renamed[name]
    head, *more = old["words"].split()
    parser = command_parser(head, command(head))
    action = ""
    if more and more[0] in parser.commands:
        action, *more = more
        parser = parser.commands[action]
    renewed = _renewed(parser, rest, old.get("options", {}))
    words = ["gnomon", head, action, *renewed, *more]
    return shlex.join([word for word in words if word])


def _renewed(parser: CommandParser, words: Sequence[str], own: Mapping[str, str]) -> list[str]:
    """Words with options of earlier versions as they are written now."""
    renewed: list[str] = []
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        template = own.get(name) or _setting_template(parser, name)
        if not template:
            renewed.append(word)
            continue
        if "{}" in template and not equals:
            value = next(left, "VALUE")
        option, _, rest = template.partition(" ")
        renewed += [option, _without_doubt(rest.format(value), words)]
    return renewed


def _without(words: Sequence[str], word: str) -> list[str]:
    """The words without the first that is so."""
    rest = list(words)
    rest.remove(word)
    return rest


def _setting_template(parser: CommandParser, name: str) -> str:
    """How an option that had a flag of its own is given; empty if it had none."""
    if not name.startswith("--") or name in parser.options or "--set" not in parser.options:
        return ""
    key = name.removeprefix("--").replace("-", "_")
    known = _habits().set
    if name in known["flags"]:
        return f"--set {known['flags'][name]}"
    if key in parser.keys:
        return f"--set {key}={'yes' if parser.keys[key].value == SWITCH else '{}'}"
    asks_model = "--model" in parser.options
    keys = [*known["items"], *(known["models"] if asks_model else ())]
    return f"--set {key}={{}}" if key in keys else ""


def _without_doubt(setting: str, words: Sequence[str]) -> str:
    """A setting of a model that a benchmark of the command takes too says which it means."""
    from gnomon.cli.selection import is_of_benchmark

    key = setting.partition("=")[0]
    is_models = key not in _habits().set["items"]
    return f"model.{setting}" if is_models and is_of_benchmark(key, words) else setting


def _remedy(parser: CommandParser, name: str) -> str:
    bare = name.lstrip("-").replace("_", "-").lower()
    spelled = f"--{bare}"
    checkpoint = re.search(r"\bpretrained=([^,\s]+)", " ".join(parser.words))
    if spelled == "--model-args" and checkpoint:
        return f"Write -m hf:{checkpoint[1]}"
    if spelled in parser.options:
        return f"Write {spelled}."
    if f"-{bare}" in parser._option_string_actions:
        return f"Write -{bare}."
    for by_habit in _habits().options.get(spelled, ()):
        if _has(parser, by_habit):
            return f"Write {by_habit}."
    near = nearest(spelled, parser.options, cutoff=0.85)
    without = _habits().without
    if not near and spelled in without:
        return without[spelled]
    setting = _setting(parser, bare)
    if setting and not near:
        return f"Write {setting}."
    near = near or nearest(spelled, parser.options, cutoff=0.65)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    elsewhere = _commands_with(spelled)
    if elsewhere:
        return f"{_and(elsewhere)} {'has' if len(elsewhere) == 1 else 'have'} it; {_help(parser)}"
    return _help(parser)


def _has(parser: CommandParser, option: str) -> bool:
    """Whether the command has an option, and the value that stands with it."""
    name, _, value = option.partition(" ")
    if name not in parser._option_string_actions:
        return False
    choices = parser._option_string_actions[name].choices
    return not value or choices is None or value in choices


def _setting(parser: CommandParser, name: str) -> str:
    """How an option of a benchmark or model that was named is given, if it has no flag."""
    from gnomon.cli.selection import how_to_set

    if "--set" not in parser.options:
        return ""
    found = how_to_set(name.replace("-", "_"), parser.words)
    return found if found.partition(" ")[0] in parser.options else ""


def _commands_with(option: str) -> list[str]:
    """The commands that have an option of that name; none if many do, which says nothing."""
    from gnomon.cli.dispatch import command_parser
    from gnomon.registry import COMMANDS, command

    found = []
    for name in COMMANDS:
        parser = command_parser(name, command(name))
        for each in parser.commands.values() or [parser]:
            if option in each.options:
                found.append(f"`{each.prog}`")
    return found if len(found) < 4 else []


def unexpected(parser: CommandParser, words: Sequence[str]) -> UsageError:
    """Words are left for which the command has no place."""
    given = next((word for word in parser.words if word in parser.commands), "")
    parser = parser.commands.get(given, parser)
    message = f"{_who(parser)} has no place for '{words[0]}'."
    if words[0].startswith("-"):
        return unknown_option(parser, words[0])
    positionals = parser._get_positional_actions()
    if words[0].partition("@")[0] in BENCHMARKS and not positionals:
        return UsageError(message, f"To ask a model this benchmark: gnomon run {words[0]} -m MODEL")
    if words[0].endswith((".html", ".htm")):
        return UsageError(message, "It is a page: open it in a browser.")
    if "--runs" in parser.options and not positionals:
        return UsageError(message, f"Name the folder of runs with --runs: --runs {words[0]}")
    if words[0].isdigit() and "-n" in parser._option_string_actions:
        return UsageError(message, f"Write -n {words[0]}.")
    if "--say" in parser.options:
        return UsageError(message, f"Write --say before sentences; {_help(parser)}")
    if any("=" in word for word in words) or "=" in parser.words:
        return UsageError(message, f"Write = without spaces around it; {_help(parser)}")
    places = [_place(action) for action in positionals]
    takes = f"It takes {' and '.join(places)}" if places else "It takes options only"
    return UsageError(message, f"{takes}; {_help(parser)}")


def in_our_words(parser: CommandParser, message: str) -> UsageError:
    """What argparse says, as a sentence with what to do."""
    about = re.fullmatch(r"argument (?P<name>.+?): (?P<what>.+)", message, re.DOTALL)
    if about:
        action = _action(parser, about["name"])
        return _about_action(parser, about["name"], action, about["what"])
    missing = re.fullmatch(r"the following arguments are required: (?P<names>.+)", message)
    if missing:
        return _missing(parser, missing["names"].split(", "))
    one_of = re.fullmatch(r"one of the arguments (?P<names>.+) is required", message)
    if one_of:
        names = one_of["names"].split()
        return UsageError(f"{_who(parser)} needs {' or '.join(names)}.", _help(parser))
    return UsageError(f"{_who(parser)}: {message}.", _help(parser))


def _about_action(parser: CommandParser, name: str, action: Action | None, what: str) -> UsageError:
    """An option or name that was given, but wrongly."""
    shown = name.rpartition("/")[2]  # of -m/--model the longer
    choice = re.match(r"invalid choice: '(?P<value>.*?)' \(choose", what, re.DOTALL)
    if choice and action is not None and action.choices is not None:
        return _not_a_choice(parser, shown, action, choice["value"])
    wrong_type = re.match(r"invalid (?P<type>\w+) value: '(?P<value>.*)'", what, re.DOTALL)
    if wrong_type:
        kind = _KINDS.get(wrong_type["type"], wrong_type["type"])
        message = f"{shown} takes {kind}, not '{wrong_type['value']}'."
        return UsageError(message, _number_hint(shown, action, wrong_type["value"]))
    expected = re.match(r"expected (?P<count>\d+|at least one|one|at most one) argument", what)
    if expected:
        count = f"{expected['count']} values" if expected["count"].isdigit() else "a value"
        return UsageError(f"{shown} needs {count}.", _usage_of(shown, action))
    other = re.match(r"not allowed with argument (?P<other>.+)", what)
    if other:
        return UsageError(
            f"{shown} and {other['other']} cannot be given together.", "Leave out one of them."
        )
    given = re.match(r"ignored explicit argument '(?P<value>.*)'", what)
    if given:
        message = f"{shown} takes no value, but was given '{given['value']}'."
        return UsageError(message, f"Write just {shown}.")
    return UsageError(f"{shown}: {what}.", _usage_of(shown, action))


def _not_a_choice(parser: CommandParser, name: str, action: Action, value: str) -> UsageError:
    old = f"{_who(parser)} {value}"
    if old in _habits().renamed:
        return _renamed(old, _without(parser.words, value))
    choices = [str(choice) for choice in action.choices or ()]
    kind = _kind_of(value)
    if kind in choices:
        return UsageError(
            f"{_who(parser)} knows no '{value}'.", f"Write: {parser.prog} {kind} {value}"
        )
    by_habit = _habits().commands.get(value, "").removeprefix(f"{_who(parser)} ")
    near = [by_habit] if by_habit in choices else nearest(value, choices)
    listed = f"Choose one of: {', '.join(choices)}."
    if near and len(choices) > 4:
        listed = f"Did you mean {' or '.join(near)}? All: {', '.join(choices)}."
    elif near and len(choices) > 1:
        listed = f"Did you mean {' or '.join(near)}? {listed}"
    elif near:
        listed = f"Did you mean {near[0]}?"
    if not action.option_strings:  # a word without an option, of which the user knows no name
        return UsageError(f"{_who(parser)} knows no '{value}'.", listed)
    return UsageError(f"{name} cannot be '{value}'.", listed)


def _kind_of(name: str) -> str:
    """What a name is that Gnomon knows: "benchmarks" or "models"; empty if it knows none."""
    if name.partition("@")[0] in BENCHMARKS:
        return "benchmarks"
    return "models" if scheme_of(name)[0] in MODELS else ""


def _number_hint(name: str, action: Action | None, value: str) -> str:
    digits = re.sub(r"[,_' ]", "", value)
    if digits != value and digits.isdigit():
        return f"Write it without a separator: {name} {digits}"
    if name == "--by":
        return f"It is a loss in points. Parts of the items: gnomon score RUN... --by {value}"
    if value.startswith("-"):
        return f"{name} stands before another option without a value of its own."
    return _usage_of(name, action)


def _missing(parser: CommandParser, names: Sequence[str]) -> UsageError:
    """What the command cannot do without, and what each is."""
    needed = []
    explained = []
    for name in names:
        action = _action(parser, name)
        shown = _place(action) if action is not None else name
        needed.append(shown)
        if action is not None and action.help:
            explained.append(f"{shown}: {_one_line(action.help)}.")
    example = _example(parser)
    hint = [*explained[:2], example or _help(parser)]
    return UsageError(f"{_who(parser)} needs {_and(needed)}.", "\n".join(hint))


def _example(parser: CommandParser) -> str:
    """The first example of the command's help."""
    found = re.search(r"(?m)^ +(gnomon .*)", parser.description or "")
    return f"For example: {found[1]}" if found else ""


def _action(parser: CommandParser, name: str) -> Action | None:
    """What argparse means by a name in a message: -m/--model, BENCHMARK or kind."""
    wanted = name.split("/")
    for action in parser._actions:
        if action.option_strings == wanted or name in (action.metavar, action.dest):
            return action
    return None


def _place(action: Action) -> str:
    """How an option or a name is written, with what stands for its value."""
    if action.option_strings:
        return f"{action.option_strings[0]} {_value(action)}"
    if action.choices is not None and not action.metavar:
        return " or ".join(map(str, action.choices))
    return _value(action)


def _value(action: Action) -> str:
    """What stands for the value of an option, or of several values."""
    if isinstance(action.metavar, str):
        return action.metavar
    if action.metavar:
        return " ".join(action.metavar)
    if action.choices is not None:
        return "|".join(map(str, action.choices))
    return action.dest.upper()


def _usage_of(name: str, action: Action | None) -> str:
    if action is None or not action.help:
        return ""
    return f"{name} {_value(action)}: {_one_line(action.help)}."


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _who(parser: CommandParser) -> str:
    """The command, as a subject: gnomon's name stands before every message."""
    return parser.prog.removeprefix("gnomon ")


def _help(parser: CommandParser) -> str:
    return f"`{parser.prog} --help` lists its options."


def _and(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
