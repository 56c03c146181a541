"""From a recipe to a trained folder: read and check, load, train, write the card."""

from __future__ import annotations

from pathlib import Path

from gnomon.probing.training.folder import begin_folder, finish_folder, finished
from gnomon.probing.training.kinds import kind
from gnomon.probing.training.learners import Outcome, Watch
from gnomon.probing.training.recipes import Recipe


def carry_out(recipe: Recipe, folder: Path, *, watch: Watch | None = None) -> Outcome:
    """Train as the recipe says. The same call again goes on, or says what came of it."""
    shape = kind(recipe.kind)
    material = shape.read(recipe)
    begin_folder(folder, recipe, material)

    from gnomon.probing.training.cards import card
    from gnomon.probing.training.loop import remove_checkpoints, train

    outcome = finished(folder)
    if outcome is None:
        learner = shape.open_learner(recipe, material)
        outcome = train(learner, recipe.schedule, folder, seeds=recipe.seeds, watch=watch)
        finish_folder(folder, outcome, card(recipe, material, outcome))
    remove_checkpoints(folder)
    return outcome
