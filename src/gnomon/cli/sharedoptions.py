"""Options that several commands have, so that they mean the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def format_argument(parser: ArgumentParser) -> None:
    """In which format figures are printed."""
    from gnomon.tabular import FORMATS

    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="output format (default: table)"
    )


def json_argument(parser: ArgumentParser) -> None:
    """Whether a command that prints one kind of table prints JSON instead."""
    from argparse import SUPPRESS

    parser.add_argument(
        "--format",
        choices=("table", "json"),
        default="table",
        help="table or json (default: table)",
    )
    # What scripts of before wrote.
    parser.add_argument("--json", action="store_const", dest="format", const="json", help=SUPPRESS)


def level_argument(parser: ArgumentParser) -> None:
    """How sure intervals are to be."""
    parser.add_argument(
        "--level",
        type=float,
        default=0.95,
        metavar="P",
        help="confidence level of intervals (default: 0.95)",
    )


def recipe_arguments(parser: ArgumentParser) -> None:
    """How a model is trained: the recipe, and what differs from it."""
    from gnomon.train.recipes import built_in_recipes

    names = ", ".join(built_in_recipes())
    parser.add_argument("recipe", metavar="RECIPE", help=f"a YAML file, or one of: {names}")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a field of the recipe, such as schedule.epochs=5",
    )
