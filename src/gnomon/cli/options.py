"""The options of every command, as data/commands/options.toml declares them.

An option of a benchmark or a model that has a flag of its own is in the tables `items` and `models`
there; --set KEY=VALUE reaches the others, and keys that a command has for itself.
"""

from __future__ import annotations

from argparse import SUPPRESS, _ActionsContainer
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.errors import unknown
from gnomon.options import option_help

if TYPE_CHECKING:
    from gnomon.cli.dispatch import CommandParser

TYPES = {"int": int, "float": float, "path": Path}
GROUPS = {"benchmarks": "items", "models": "models"}  # the tables of flags, by kind
BETWEEN = {"map": ",", "base_url": " "}  # what joins the values of a flag that may be repeated
EXAMPLES = 6  # lines of a short help, with their heading
SWITCH = "yes"  # stands for the value of a key that is on or off


class SetKey(NamedTuple):
    """A key of a command's own that --set takes."""

    value: str  # what stands for it
    text: str
    type: type
    default: Any


@cache
def declared() -> dict[str, Any]:
    """What the file says, by command or by what several share."""
    from tomllib import loads

    file = Path(__file__).parent.parent / "data" / "commands" / "options.toml"
    return loads(file.read_text(encoding="utf-8"))


def add_options(parser: CommandParser, command: str) -> None:
    """Add the options of a command, or those of each command that follows it."""
    table = declared()[command]
    parser.description = table.get("description", parser.description)
    following = table.get("commands", {})
    parser.short = table.get("short", [])
    if not following:
        _add_table(parser, parser, table)
        return
    actions = parser.add_subparsers(dest="action", metavar=" | ".join(following), required=True)
    for word, summary in following.items():
        add_options(actions.add_parser(word, help=summary), f"{command} {word}")


def _add_table(parser: CommandParser, where: _ActionsContainer, table: Mapping[str, Any]) -> None:
    """Add a table of options to a parser, or to a group of it."""
    for written, about in table.items():
        if written not in ("use", "groups", "description", "short"):
            _add_option(parser, where, written, about)
    for title, options in table.get("groups", {}).items():
        _add_table(parser, parser.add_argument_group(title), options)
    for name in table.get("use", ()):
        _add_shared(parser, where, name)


def _add_shared(parser: CommandParser, where: _ActionsContainer, name: str) -> None:
    """Add an option that several commands share, or a whole table of them."""
    if name in GROUPS.values():
        _add_table(parser, parser.add_argument_group(name), declared()[name])
        return
    for written, about in declared()["shared"].items():
        if name == written:  # several that go together
            _add_table(parser, where, about)
        elif name == name_of(written):
            _add_option(parser, where, written, about)


def name_of(written: str) -> str:
    """What an option is called in code: of its names the last.

    >>> name_of("-o --output FILE"), name_of("--base-url URL"), name_of("repeat=N")
    ('output', 'base_url', 'repeat')
    """
    words = written.partition("=")[0].split()
    flags = [word for word in words if word.startswith("-")]
    return (flags or words[:1])[-1].lstrip("-").replace("-", "_")


def _add_option(
    parser: CommandParser, where: _ActionsContainer, written: str, about: str | dict[str, Any]
) -> None:
    words: dict[str, Any] = {"help": about} if isinstance(about, str) else dict(about)
    kind = TYPES.get(words.pop("type", ""))
    if "=" in written and not written.startswith("-"):
        _add_key(parser, written, words, kind or str)
        return
    names, value = _taken_apart(written)
    if len(value) == 1 or len(value) == words.get("nargs"):
        words["metavar"] = value[0] if len(value) == 1 else tuple(value)
    is_switch = written.startswith("-") and not value and words.keys() == {"help"}
    if words["help"] == SUPPRESS:
        words["help"] = SUPPRESS  # argparse knows its own by identity
    if is_switch:
        words["action"] = "store_true"
    elif kind is not None:
        words["type"] = kind
    where.add_argument(*names, **words)


def _taken_apart(written: str) -> tuple[list[str], list[str]]:
    """The names of an option or place, and what stands for its values."""
    words = written.split()
    count = sum(word.startswith("-") for word in words) or 1
    return words[:count], words[count:]


def _add_key(parser: CommandParser, written: str, words: dict[str, Any], kind: type) -> None:
    name, _, value = written.partition("=")
    default = words.get("default")
    if value == SWITCH:
        kind, default = bool, False
    parser.keys[name] = SetKey(value, words["help"], kind, default)
    parser.set_defaults(**{name: default})


def refuse_settings(settings: list[str], command: str) -> None:
    """Refuse what --set says beyond the command's own keys, where nothing else takes it."""
    own = [name_of(each) for each in declared()[command] if "=" in each and each[0] != "-"]
    for setting in settings:
        raise unknown("key of --set", setting.partition("=")[0], own)


def keys_in_words(keys: Mapping[str, SetKey]) -> str:
    """What help says of the keys that --set takes; empty if there are none."""
    from shutil import get_terminal_size
    from textwrap import fill

    if not keys:
        return ""
    indent = " " * 24
    width = max(get_terminal_size().columns - 2, len(indent) + 20)
    lines = ["with --set KEY=VALUE:"]
    for name, key in keys.items():
        start = f"  {name}={key.value}"
        text = fill(key.text, width, initial_indent=indent, subsequent_indent=indent)
        if len(start) < len(indent) - 1:
            text = start.ljust(len(indent)) + text.removeprefix(indent)
        else:
            lines.append(start)
        lines.append(text)
    return "\n".join(lines)


def shorten_help(parser: CommandParser) -> None:
    """Leave in the help what most people need, and what the benchmarks and models named take."""
    from shutil import get_terminal_size
    from textwrap import fill

    from gnomon.cli.selection import options_named_by

    shown = set(parser.short)
    more = []
    for name, (kind, options) in options_named_by(parser.words).items():
        flags = flags_of(kind)
        shown.update(option for option in options if option in flags)
        keys = [option for option in options if option not in flags]
        if keys:
            taken = f"With --set, {name} takes: {', '.join(keys)} (gnomon list {kind} {name})."
            more.append(fill(taken, get_terminal_size().columns - 2, subsequent_indent="  "))
    for action in parser._actions:
        if action.dest not in shown:
            action.help = SUPPRESS
    paragraphs = (parser.description or "").split("\n\n")
    examples = paragraphs[1].splitlines()[:EXAMPLES]
    parser.description = "\n".join([paragraphs[0], "", *examples])
    parser.usage = f"{parser.prog} BENCHMARK [BENCHMARK ...] -m MODEL [options]"
    rest = f"Everything: {parser.prog} --help-all. What a model takes: {parser.prog} -m hf --help"
    parser.epilog = "\n".join([*more, rest])


# Options of benchmarks and models.


class Flag(NamedTuple):
    """A flag for an option of benchmarks or models: what stands for its value, what it says."""

    value: str
    text: str


@cache
def flags_of(kind: str) -> dict[str, Flag]:
    """The options of benchmarks, or of models, that have a flag of their own."""
    found = {}
    for written, about in declared()[GROUPS[kind]].items():
        name = name_of(written)
        if written.startswith("-") and name != "set":
            text = about if isinstance(about, str) else about["help"]
            found[name] = Flag(written.split()[-1], text)
    return found


def dashed(name: str) -> str:
    """How a flag is written."""
    return f"--{name.replace('_', '-')}"


def how_to_give(kind: str, option: str) -> str:
    """How an option of a benchmark or model is written on the command line.

    >>> how_to_give("models", "shots"), how_to_give("models", "top_k")
    ('--shots N', '--set top_k=VALUE')
    """
    flag = flags_of(kind).get(option)
    return f"{dashed(option)} {flag.value}" if flag else f"--set {option}=VALUE"


def what_it_does(kind: str, option: str, function: Callable[..., Any]) -> str:
    """What an option does: as the function's docstring says it, or else its flag.

    >>> what_it_does("models", "device", lambda *, device="": None)
    'cpu, cuda or mps'
    """
    text = option_help(function).get(option)
    if text:
        return text
    flag = flags_of(kind).get(option)
    return flag.text if flag else ""
