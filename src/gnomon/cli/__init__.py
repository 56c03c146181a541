"""The command line: one thin module per command, imported only when its command is given.

The code is in `dispatch`, not here: a command's module becomes a name of this package, and `list`
would hide the builtin.
"""

from gnomon.cli.dispatch import COMMANDS, add_arguments, command_module, command_parser, main

__all__ = ["COMMANDS", "add_arguments", "command_module", "command_parser", "main"]
