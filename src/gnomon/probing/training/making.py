"""From a recipe to a trained folder: read and check, load, train, write the card."""

from __future__ import annotations

from pathlib import Path

from gnomon.probing.training.folder import (
    begin_folder,
    check_place,
    finish_folder,
    finished,
    locked,
)
from gnomon.probing.training.kinds import Material, kind
from gnomon.probing.training.learners import Outcome, Watch
from gnomon.probing.training.recipes import Recipe


def carry_out(recipe: Recipe, folder: Path, *, watch: Watch | None = None) -> Outcome:
    """Train as the recipe says. The same call again goes on, or says what came of it."""
    check_place(folder)
    material = kind(recipe.kind).read(recipe)
    with locked(folder):
        begin_folder(folder, recipe, material)
        outcome = finished(folder)
        if outcome is None:
            outcome = _trained(recipe, material, folder, watch)
        _remove_checkpoints(folder)
    return outcome


def _trained(recipe: Recipe, material: Material, folder: Path, watch: Watch | None) -> Outcome:
    """Load the model, train it by the common loop or its kind's own, and write the card."""
    from gnomon.probing.training.cards import card

    shape = kind(recipe.kind)
    if shape.train:
        outcome = shape.train(recipe, material, folder, watch)
    else:
        outcome = _by_the_loop(recipe, material, folder, watch)
    finish_folder(folder, outcome, card(recipe, material, outcome))
    return outcome


def _by_the_loop(recipe: Recipe, material: Material, folder: Path, watch: Watch | None) -> Outcome:
    from gnomon.probing.training.loop import train

    open_learner = kind(recipe.kind).open_learner
    assert open_learner, f"the kind {recipe.kind} has neither a learner nor a loop of its own"
    learner = open_learner(recipe, material)
    return train(learner, recipe.schedule, folder, seeds=recipe.seeds, watch=watch)


def _remove_checkpoints(folder: Path) -> None:
    """Remove what is needed only while training goes on."""
    from gnomon.probing.training.checkpoints import Checkpoints

    Checkpoints(folder).remove()
