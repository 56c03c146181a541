"""The command line: one thin module per command, imported only when its command is given.

The code is in `dispatch`, not here: a command's module becomes a name of this package, and `list`
would hide the builtin.
"""

from gnomon.cli.dispatch import command_parser, main

__all__ = ["command_parser", "main"]
