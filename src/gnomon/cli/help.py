"""Say what a command does and which options it has.

examples:
  gnomon help
  gnomon help run
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("command", nargs="?", metavar="COMMAND", help="which command")


def main(args: Namespace) -> int:
    """Print the help of a command, or the list of commands."""
    from gnomon.cli.dispatch import check_command, command_parser, top_parser
    from gnomon.registry import command

    if args.command is None:
        top_parser().print_help()
        return 0
    check_command(args.command)
    command_parser(args.command, command(args.command)).print_help()
    return 0
