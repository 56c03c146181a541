"""From arguments to a command: finds its module by name, parses, runs, and makes errors sentences.

The registry names the commands. A command's module has `main(args) -> int`, which returns the exit
code; its options are in data/commands/options.toml, or a plug-in adds them by `arguments(parser)`.
Its docstring is the help text: the first line says what the command does, the rest are examples.
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter, _SubParsersAction
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from gnomon import __version__
from gnomon.errors import GnomonError, check_known, inert, missing_part, path_hint
from gnomon.registry import COMMANDS, command

if TYPE_CHECKING:
    from gnomon.cli.options import SetKey

COMPLETE = "_ARGCOMPLETE"  # a variable that shells set while one types
LONGEST_MESSAGE = 8000  # characters
HELP_ALL = "--help-all"  # of a command whose --help is short
MORE_HELP = "`gnomon help run` says more of a command, `gnomon doctor` what is installed. \
--version, --debug."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if argv is None and COMPLETE in os.environ:
        from gnomon.cli.completion import complete

        complete()
    arguments = list(sys.argv[1:] if argv is None else argv)
    _plain_warnings()
    _print_anything()
    try:
        return _dispatch(arguments)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
        return 0
    except (
        GnomonError,
        KeyboardInterrupt,
        ModuleNotFoundError,
        OSError,
        UnicodeEncodeError,
    ) as error:
        sentence = _sentence(error)
        if not sentence or "--debug" in arguments:
            raise
        tell(sentence)
        return _exit_code(error)


def tell(message: object) -> None:
    """Say something on standard error. What strangers wrote cannot steer the terminal."""
    print(f"gnomon: {inert(_shortened(str(message)))}", file=sys.stderr)


def _shortened(text: str) -> str:
    """Without the middle if a stranger's id or name makes it endless: the end says what to do."""
    if len(text) <= LONGEST_MESSAGE:
        return text
    half = LONGEST_MESSAGE // 2
    return f"{text[:half]} ... {text[-half:]}"


def _sentence(error: BaseException) -> str:
    """An error in words for people; empty if it has none."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted."
    if isinstance(error, UnicodeEncodeError):
        return not_utf8(error)
    if isinstance(error, ModuleNotFoundError):
        return str(missing_part(error) or "")
    if not isinstance(error, OSError):
        return str(error)
    if error.strerror is None:
        return ""
    where = f"{error.filename}: " if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"{where}the disk is full.\n"
            "Free some space and give the same command again: answers that were logged are kept."
        )
    hint = "Check the path and its permissions."
    if not error.filename:
        hint = "Run it again with --debug to see where."
    elif error.errno == errno.ENOENT:
        hint = path_hint(str(error.filename), "Check the path.")
    return f"{where}{error.strerror}.\n{hint}"


def not_utf8(error: UnicodeEncodeError) -> str:
    """What to say of a name with bytes that no text has; empty if another text is meant."""
    start, end = error.start, error.end
    if not all("\udc80" <= character <= "\udcff" for character in error.object[start:end]):
        return ""
    shown = error.object.encode(errors="backslashreplace").decode()
    return f"The name '{shown}' is not UTF-8.\nRename the file or folder."


def _print_anything() -> None:
    """Let every character be printed: an output that is not UTF-8 gets an escape in its place."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _exit_code(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return 130
    return error.exit_code if isinstance(error, GnomonError) else 1


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0].startswith("-"):
        return _without_command(arguments)
    name, *rest = arguments
    if name == "help":
        return _print_help(rest)
    debug = "--debug" in rest
    rest = [word for word in rest if word != "--debug"]
    check_command(name, rest)
    if rest == ["help"]:
        rest = ["--help"]
    module = command(name)
    args = command_parser(name, module).parse_args(rest)
    args.debug = debug
    code: int = module.main(args)
    return code


def _print_help(names: list[str]) -> int:
    """The help of a command, or the list of commands."""
    if not names:
        top_parser().print_help()
        return 0
    name, *beyond = names
    parser = top_parser()
    if name not in ("-h", "--help"):
        check_command(name)
        parser = command_parser(name, command(name))
    for word in beyond:
        check_known(f"command of {parser.prog}", word, parser.commands)
        parser = parser.commands[word]
    parser.print_help()
    return 0


def check_command(name: str, rest: Sequence[str] = ()) -> None:
    """Refuse a command that is neither ours nor a plug-in's."""
    if name in COMMANDS:
        return
    from gnomon.registry import entries

    known = entries("commands")
    if name not in known:
        from gnomon.cli.mistakes import unknown_command

        raise unknown_command(name, rest, known)


def _without_command(arguments: list[str]) -> int:
    parser = top_parser()
    if arguments and arguments[0] not in ("-h", *parser.options):
        from gnomon.cli.mistakes import options_before_command, unknown_option

        misplaced = options_before_command(arguments, COMMANDS)
        raise misplaced or unknown_option(parser, arguments[0])
    parser.parse_args(arguments)
    if arguments:
        parser.print_help()
        return 2
    from pathlib import Path

    from gnomon.cli.doctor import what_could_be_done

    print(f"Gnomon {__version__} measures what models know about space.\n")
    print(inert(what_could_be_done(Path())))
    print("\n`gnomon --help` lists all commands.")
    return 0


def _plain_warnings() -> None:
    """Our own warnings are one line for people, without a place in the code."""
    import warnings

    shown = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if category.__module__ == "gnomon.errors":
            tell(message)
        else:
            shown(message, category, *rest, **more)

    warnings.showwarning = show


def top_parser() -> CommandParser:
    """The parser of `gnomon` itself: it knows the commands by name only."""
    lines = []
    group = ""
    for name, entry in COMMANDS.items():
        if entry.group != group:
            group = entry.group
            lines.append(f"\n{group}:")
        lines.append(f"  {name:<11}{entry.summary}")
    parser = CommandParser(prog="gnomon")
    parser.fixed_help = "\n".join(
        ["gnomon COMMAND ...: measures what models know about space.", *lines, "", MORE_HELP, ""]
    )
    parser.add_argument("--version", action="version", version=f"gnomon {__version__}")
    parser.add_argument("--debug", action="store_true", help="of any command: show tracebacks")
    return parser


def command_parser(name: str, module: ModuleType) -> CommandParser:
    """The parser of one command, with the module's docstring as its help."""
    parser = CommandParser(prog=f"gnomon {name}", description=module.__doc__)
    fill_parser(parser, name, module)
    return parser


def fill_parser(parser: CommandParser, name: str, module: ModuleType) -> None:
    """Add the options of a command: a plug-in's by itself, ours by what is declared."""
    if name not in COMMANDS:
        module.arguments(parser)
        return
    from gnomon.cli.options import add_options

    add_options(parser, name)


# The parser of a command: argparse, with a sentence for each mistake and options in any order.
#
# What argparse says of a mistake becomes a `UsageError` (see `mistakes`), so that it is printed
# like any other error: what is wrong, the nearest name, and what to do. Options are not
# abbreviated: a script that does so breaks as soon as a longer name is added.


class CommandParser(ArgumentParser):
    """A parser that raises `UsageError` where argparse prints its usage and exits."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("allow_abbrev", False)
        options.setdefault("formatter_class", RawDescriptionHelpFormatter)
        super().__init__(*args, **options)
        self.words: list[str] = []  # what is being parsed
        self.keys: dict[str, SetKey] = {}  # what --set takes for the command itself
        self.short: list[str] = []  # the options that help shows; all if there are none
        self.fixed_help = ""  # in place of what argparse would say

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        """Parse; an unknown option is told before what is missing, which is often its doing."""
        self.words = list(args or ())
        if self.short and HELP_ALL in self.words:
            self.short = []
            self.print_help()
            self.exit()
        if not self.has_commands:
            for word in self.words:
                if word == "--":
                    break
                if self.is_unknown(word):
                    from gnomon.cli.mistakes import unknown_option

                    raise unknown_option(self, word)
        found, beyond = super().parse_known_args(args, namespace)
        if isinstance(getattr(found, "model", None), str):
            from gnomon.cli.mistakes import check_one_model

            check_one_model(self)
        self._take_keys(found)
        return found, beyond

    def _take_keys(self, found: Namespace) -> None:
        """What --set says of the command's own keys becomes what flags would be."""
        from gnomon.options import converted

        found.own_keys = tuple(self.keys)
        for setting in list(found.set) if self.keys else ():
            name, equals, value = setting.partition("=")
            key = self.keys.get(name.replace("-", "_"))
            if equals and key is not None:
                setattr(found, name.replace("-", "_"), converted(name, key.type, value))
                found.set.remove(setting)

    def format_help(self) -> str:
        """The help, with the keys that --set takes at its end; short where most is for few."""
        from gnomon.cli.options import keys_in_words, shorten_help

        if self.fixed_help:
            return self.fixed_help
        if self.short:
            shorten_help(self)
            return super().format_help()
        self.epilog = self.epilog or keys_in_words(self.keys)
        return super().format_help()

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> Namespace:
        """Parse words in any order: names may also follow options."""
        found, beyond = self.parse_known_args(args, namespace)
        if beyond and not self.has_commands:
            found, beyond = self.parse_known_intermixed_args(args, namespace)
            self._take_keys(found)  # newer Pythons do not come by parse_known_args
        if beyond:
            from gnomon.cli.mistakes import unexpected

            raise unexpected(self, beyond)
        return found

    def error(self, message: str) -> NoReturn:
        """Raise what argparse has to say, in our own words."""
        from gnomon.cli.mistakes import in_our_words

        raise in_our_words(self, message)

    @property
    def options(self) -> list[str]:
        """The long names of the options that help shows."""
        from argparse import SUPPRESS

        found = []
        for action in self._actions:
            if action.help is not SUPPRESS:
                found += [name for name in action.option_strings if name.startswith("--")]
        return found

    @property
    def commands(self) -> dict[str, CommandParser]:
        """The commands of its own that follow, each with a parser."""
        for action in self._actions:
            if isinstance(action, _SubParsersAction):
                return dict(action.choices)
        return {}

    @property
    def has_commands(self) -> bool:
        """Whether there are commands of its own."""
        return bool(self.commands)

    def is_unknown(self, word: str) -> bool:
        """Whether a word looks like an option and is none of this command's.

        So does a long name with one dash, which argparse would take for a short option and its
        value.
        """
        if not word.startswith("-") or " " in word or word in ("-", "--"):
            return False
        name = word.partition("=")[0]
        if name in self._option_string_actions:
            return False
        if name.startswith("--"):
            return True
        return f"-{name}" in self._option_string_actions and len(name) > 3
