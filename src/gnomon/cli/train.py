"""Train a model by a recipe: finetune, pretrain or probe; then ask it with -m hf:DIR.

A recipe is a YAML file or the name of one that comes with Gnomon (docs/probing.md). It is checked
in full before anything loads. A training that was stopped continues where it was.

examples:
  gnomon train recipe.yaml -o trained
  gnomon train recipe.yaml -o trained --set schedule.epochs=5 --set seeds.data=1
  gnomon run spacenli -m hf:trained
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("recipe", metavar="RECIPE", help="a YAML file, or the name of a recipe")
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="the folder for the trained model"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a field of the recipe, such as schedule.epochs=5",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def main(args: Namespace) -> int:
    """Train."""
    from gnomon.probing.training.making import carry_out
    from gnomon.probing.training.recipes import load_recipe

    recipe = load_recipe(args.recipe, args.set)
    outcome = carry_out(recipe, Path(args.output))
    print(outcome)
    return 0
