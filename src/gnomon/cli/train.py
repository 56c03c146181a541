"""Train a model by a recipe: finetune, pretrain or probe; then ask it with -m hf:DIR.

A recipe is a YAML file, or the name of one that comes with Gnomon (docs/probing.md). It is checked
in full, with its data, before any model loads. A training that was stopped, in whatever way,
continues where it was when the same command is given again.

examples:
  gnomon train recipe.yaml -o trained
  gnomon train recipe.yaml -o trained --set schedule.epochs=5 --set seeds.data=1
  gnomon train recipe.yaml --check
  gnomon run spacenli -m hf:trained
  gnomon train probe --set model=hf:minilm --set benchmark=viphy-size --set data.apart=0.5 -o p
  gnomon run viphy-size -m probe:p
  gnomon train recipe.yaml --curve 0,1,2,5,10,20 -o curve
  gnomon train recipe.yaml --curve 10,25,50,75,100% --draws 5 -o curve
  gnomon train recipe.yaml --curve 1,5 -o curve --set schedule.epochs=5 --ask spacenli

The scores that are printed for test are of items that training never saw; those of dev are of the
items that chose the weights. `gnomon run` asks the whole benchmark, training items among them,
unless its source has splits (--split test).

DIR gets the weights (safetensors), the recipe as resolved, digests of the data, the loss of each
step, and a card in words (README.md).

--curve trains with more and more items and draws what each amount comes to: items of each group (of
each pattern, in SpaceNLI), or with % the share of all; 0 is the model before training. Each amount
is drawn several times (--draws), with other items, another order and other new weights; the parts
that are tested stay the same. A larger draw contains the smaller ones of its number. Each point is
a training in its own folder: points that are finished are not trained again, and one that was
stopped goes on. --only 5:2 trains one point alone, the second draw of 5, for jobs side by side. DIR
gets curve.json and curve.svg. With --ask, each trained model is also run on a benchmark, so that
`gnomon report` draws the curve with everything else.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.contracts import Listing
from gnomon.errors import UsageError
from gnomon.tabular import render

if TYPE_CHECKING:
    from gnomon.train.recipes import Recipe, TrainingOutcome


def main(args: Namespace) -> int:
    """Train, and print the scores."""
    from gnomon.cli.progress import training_line
    from gnomon.train.folder import carry_out
    from gnomon.train.recipes import load_recipe, way_to_ask

    if args.curve is not None:
        from gnomon.cli.curve import train_curve

        return train_curve(args)
    if args.only or args.ask:
        option = "--only" if args.only else "--ask"
        raise UsageError(f"{option} is for learning curves.", "Add --curve, such as --curve 1,5,10")
    recipe = load_recipe(args.recipe, args.set)
    if args.check:
        print(render(_parts(recipe), args.format))
        return 0
    if not args.output:
        raise UsageError("There is no folder for the trained model.", "Name one with -o DIR.")
    with training_line(recipe.name, quiet=args.quiet) as watch:
        outcome = carry_out(recipe, Path(args.output), watch=watch)
    if not args.quiet:
        print(render(_scores(outcome), args.format))
        asked = way_to_ask(recipe, args.output)
        print(f"The model is in {args.output}; ask it with {asked}", file=sys.stderr)
    return 0


def _parts(recipe: Recipe) -> Listing:
    """What is read for a recipe: its parts, as data.json will have them."""
    from gnomon.train.folder import read_data

    digests = read_data(recipe).digests
    columns: dict[str, None] = {}
    for facts in digests.values():
        columns |= dict.fromkeys(facts)
    rows = []
    for part, facts in digests.items():
        rows.append((part, *[facts.get(column, "") for column in columns]))
    return Listing("Data of the recipe", ("part", *columns), tuple(rows))


def _scores(outcome: TrainingOutcome) -> Listing:
    """The scores on each part: what was tested first, then what chose the weights."""

    parts = {**outcome.tests, "dev": outcome.best}
    if "train" in outcome.tests:
        parts["train"] = parts.pop("train")
    rows = []
    for part, scores in parts.items():
        for measure, value in scores.items():
            rows.append((part, measure, round(value, 4)))
    title = f"{outcome.steps:,} steps; weights of step {outcome.best_step:,}"
    return Listing(title, ("part", "measure", "value"), tuple(rows))
