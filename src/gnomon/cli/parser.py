"""The parser of a command: argparse, with a sentence for each mistake and options in any order.

What argparse says of a mistake becomes a `UsageError` (see `mistakes`), so that it is printed like
any other error: what is wrong, the nearest name, and what to do. Options are not abbreviated: a
script that does so breaks as soon as a longer name is added.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter, _SubParsersAction
from collections.abc import Sequence
from typing import Any, NoReturn


class CommandParser(ArgumentParser):
    """A parser that raises `UsageError` where argparse prints its usage and exits."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("allow_abbrev", False)
        options.setdefault("formatter_class", RawDescriptionHelpFormatter)
        super().__init__(*args, **options)
        self.words: list[str] = []  # what is being parsed

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        """Parse; an unknown option is told before what is missing, which is often its doing."""
        from gnomon.cli.mistakes import unknown_option

        self.words = list(args or ())
        if not self.has_commands:
            for word in self.words:
                if word == "--":
                    break
                if self.is_unknown(word):
                    raise unknown_option(self, word)
        return super().parse_known_args(args, namespace)

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> Namespace:
        """Parse words in any order: names may also follow options."""
        from gnomon.cli.mistakes import unexpected

        found, beyond = self.parse_known_args(args, namespace)
        if beyond and not self.has_commands:
            found, beyond = self.parse_known_intermixed_args(args, namespace)
        if beyond:
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
