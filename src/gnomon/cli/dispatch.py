"""From arguments to a command: finds its module by name, parses, runs, and makes errors sentences.

A command module has `arguments(parser)`, which adds its options, and `main(args) -> int`, which
returns the exit code. Its docstring is the help text: the first line says what the command does,
the rest are examples. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from gnomon import __version__
from gnomon.cli.parser import CommandParser
from gnomon.errors import GnomonError, inert, path_hint

# Every command with its line in `gnomon --help`; the module is gnomon.cli.NAME.
COMMANDS = {
    "demo": "measure a small real model on slices of fresh benchmarks",
    "list": "benchmarks, models, measures, prompts, suites or runs",
    "show": "sample items and statistics of a benchmark",
    "make": "write a benchmark's items to a file",
    "export": "write a benchmark as a task of lm-eval or Inspect, or as a dataset folder",
    "scene": "draw a scene and say what is true in it",
    "look": "make knowledge of colours, sizes and heights from pictures",
    "check": "validate a file of items of your own, or of patterns",
    "prove": "prove that a sentence about space follows from others",
    "audit": "find shortcuts, leaks and contradictions in a benchmark",
    "data": "fetch the authors' published files",
    "prompts": "choose a prompt on some objects and score it on others",
    "power": "how many items a difference needs, and how long a run takes",
    "train": "teach a model by a recipe before it is asked",
    "curve": "train with more and more items, and draw what comes of it",
    "run": "ask models the items of benchmarks",
    "merge": "make one run of its shards",
    "annotate": "ask people: a page with one item at a time, a link for each person",
    "judge": "look at the pictures of a run again, with another judge",
    "score": "score runs, or a file of answers",
    "compare": "test whether runs differ, and by how much",
    "table": "models by benchmarks in one table, for the terminal or a paper",
    "agree": "how far people agree, and which items they confirm",
    "people": "list the people whose answers are here, or forget one",
    "beliefs": "what the answers of a run say together, and what would have to change",
    "report": "write one page that shows what models get right and wrong",
    "cite": "BibTeX of the papers behind benchmarks and runs",
    "view": "explore runs in the browser",
    "rm": "remove runs",
    "recover": "save what can be read of a damaged run",
    "completion": "print a completion script for your shell",
    "help": "say what a command does and which options it has",
}

COMPLETE = "_ARGCOMPLETE"  # a variable that shells set while one types
LONGEST_MESSAGE = 8000  # characters
EPILOG = """\
examples:
  gnomon demo
  gnomon run scales -m smollm2 -m random --limit 500
  gnomon score runs/* --by gold
  gnomon help run
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if argv is None and COMPLETE in os.environ:
        from gnomon.cli.completion import complete

        complete()
    arguments = list(sys.argv[1:] if argv is None else argv)
    _plain_warnings()
    try:
        return _dispatch(arguments)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
        return 0
    except (GnomonError, KeyboardInterrupt, OSError) as error:
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


def _exit_code(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return 130
    return error.exit_code if isinstance(error, GnomonError) else 1


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0].startswith("-"):
        return _without_command(arguments)
    name, *rest = arguments
    if name not in COMMANDS:
        from gnomon.cli.mistakes import unknown_command

        raise unknown_command(name, rest, COMMANDS)
    if rest == ["help"]:
        rest = ["--help"]
    module = command_module(name)
    args = command_parser(name, module).parse_args(rest)
    code: int = module.main(args)
    return code


def _without_command(arguments: list[str]) -> int:
    parser = top_parser()
    if arguments and arguments[0] not in ("-h", *parser.options):
        from gnomon.cli.mistakes import options_before_command, unknown_option

        misplaced = options_before_command(arguments, COMMANDS)
        raise misplaced or unknown_option(parser, arguments[0])
    parser.parse_args(arguments)
    parser.print_help()
    return 2 if arguments else 0


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
    listed = "\n".join(f"  {name:<11}{line}" for name, line in COMMANDS.items())
    parser = CommandParser(
        prog="gnomon",
        usage="gnomon COMMAND ...",
        epilog=EPILOG,
        description=f"Measures what models know about space.\n\ncommands:\n{listed}",
    )
    parser.add_argument("--version", action="version", version=f"gnomon {__version__}")
    return parser


def command_module(name: str) -> ModuleType:
    """The module of a command."""
    return import_module(f"gnomon.cli.{name}")


def command_parser(name: str, module: ModuleType) -> CommandParser:
    """The parser of one command, with the module's docstring as its help."""
    parser = CommandParser(prog=f"gnomon {name}", description=module.__doc__)
    add_arguments(parser, module)
    return parser


def add_arguments(parser: CommandParser, module: ModuleType) -> None:
    """Add the options of a command, and those that all have."""
    module.arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
