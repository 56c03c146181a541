"""Print a completion script for your shell.

examples:
  gnomon completion bash > ~/.local/share/bash-completion/completions/gnomon
  gnomon completion zsh  > ~/.zfunc/_gnomon
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="which shell")


def main(args: Namespace) -> int:
    """Print the script, made from the parsers of all commands."""
    import shtab

    print(shtab.complete(whole_parser(), shell=args.shell))
    return 0


def whole_parser() -> ArgumentParser:
    """The parser of every command in one: for completion and the docs, where speed is no matter."""
    from gnomon.cli import COMMANDS, command_module

    parser = ArgumentParser(prog="gnomon")
    commands = parser.add_subparsers(dest="command")
    for name, line in COMMANDS.items():
        module = command_module(name)
        sub = commands.add_parser(
            name, help=line, description=module.__doc__, formatter_class=RawDescriptionHelpFormatter
        )
        module.arguments(sub)
        sub.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser
