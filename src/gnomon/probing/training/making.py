"""From a recipe to a trained folder: read and check, load, train, write the card."""

from __future__ import annotations

from pathlib import Path

from gnomon.probing.training.folder import begin_folder, finish_folder, finished
from gnomon.probing.training.kinds import Kind, Material, kind
from gnomon.probing.training.learners import Outcome, Watch
from gnomon.probing.training.recipes import Recipe


def carry_out(recipe: Recipe, folder: Path, *, watch: Watch | None = None) -> Outcome:
    """Train as the recipe says. The same call again goes on, or says what came of it."""
    shape = kind(recipe.kind)
    material = shape.read(recipe)
    begin_folder(folder, recipe, material)

    from gnomon.probing.training.cards import card
    from gnomon.probing.training.loop import remove_checkpoints

    outcome = finished(folder)
    if outcome is None:
        outcome = _train(shape, recipe, material, folder, watch)
        finish_folder(folder, outcome, card(recipe, material, outcome))
    remove_checkpoints(folder)
    return outcome


def _train(
    shape: Kind, recipe: Recipe, material: Material, folder: Path, watch: Watch | None
) -> Outcome:
    """By the loop of all kinds, or by a kind's own."""
    from gnomon.probing.training.loop import train

    if shape.open_learner is None:
        assert shape.train is not None, f"the kind {recipe.kind} has neither learner nor loop"
        return shape.train(recipe, material, folder, watch)
    learner = shape.open_learner(recipe, material)
    return train(learner, recipe.schedule, folder, seeds=recipe.seeds, watch=watch)
