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
    """Load the model, train it, and write the card."""
    from gnomon.probing.training.cards import card
    from gnomon.probing.training.loop import train

    learner = kind(recipe.kind).open_learner(recipe, material)
    outcome = train(learner, recipe.schedule, folder, seeds=recipe.seeds, watch=watch)
    finish_folder(folder, outcome, card(recipe, material, outcome))
    return outcome


def _remove_checkpoints(folder: Path) -> None:
    """Remove what is needed only while training goes on."""
    from gnomon.probing.training.checkpoints import Checkpoints

    Checkpoints(folder).remove()
