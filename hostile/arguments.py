"""What every attack takes on its command line."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import NamedTuple


class Part(NamedTuple):
    """One of several shares of the work, counted from 1."""

    number: int
    of: int

    def numbers(self, count: int) -> range:
        """Which of so many inputs are in this share."""
        return range(self.number - 1, count, self.of)


WHOLE = Part(1, 1)


def part(text: str) -> Part:
    """A share as people write it.

    >>> list(part("2/2").numbers(5))
    [1, 3]
    """
    number, _, of = text.partition("/")
    return Part(int(number), int(of))


def parser_of(description: str) -> ArgumentParser:
    """A parser with the options that every attack has."""
    parser = ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the tallies for a program")
    return parser


def add_part(parser: ArgumentParser) -> None:
    """Add the option for a share of the work."""
    parser.add_argument(
        "--part", type=part, default=WHOLE, help="1/2 and 2/2 are two halves of the work"
    )
