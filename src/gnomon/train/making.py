"""From a recipe to a trained folder: read and check, load, train, write the card."""

from __future__ import annotations

from pathlib import Path

from gnomon.errors import UsageError
from gnomon.train.folder import begin_folder, check_place, finish_folder, finished, locked
from gnomon.train.items import DEV, ItemData
from gnomon.train.kinds import Material, kind
from gnomon.train.learners import TrainingOutcome, Watch
from gnomon.train.recipes import Recipe
from gnomon.train.schedule import LAST


def carry_out(recipe: Recipe, folder: Path, *, watch: Watch | None = None) -> TrainingOutcome:
    """Train as the recipe says. The same call again goes on, or says what came of it."""
    check_place(folder)
    material = read_data(recipe)
    with locked(folder):
        begin_folder(folder, recipe, material)
        outcome = finished(folder)
        if outcome is None:
            outcome = _trained(recipe, material, folder, watch)
        _remove_checkpoints(folder)
    return outcome


def read_data(recipe: Recipe) -> Material:
    """All that the recipe's training reads, checked, before anything heavy is loaded."""
    _check_best(recipe)
    return kind(recipe.kind).read(recipe)


def _check_best(recipe: Recipe) -> None:
    """Refuse a choice of the best weights by something that will not be measured."""
    best, measures = recipe.schedule.best, kind(recipe.kind).measures
    if best == LAST or not measures:  # a kind with a loop of its own checks this itself
        return
    if best not in measures:
        raise UsageError(
            f"The schedule chooses the best weights by '{best}', which the kind {recipe.kind} "
            "does not measure.",
            f"Write schedule.best with one of: {', '.join((*measures, LAST))}.",
        )
    if isinstance(recipe.data, ItemData) and DEV not in recipe.data.parts:
        raise UsageError(
            f"The schedule chooses the best weights by {best} on the part dev, but there is none.",
            f"Write data.parts.dev in the recipe, or schedule.best: {LAST} for the last weights.",
        )


def _trained(
    recipe: Recipe, material: Material, folder: Path, watch: Watch | None
) -> TrainingOutcome:
    """Load the model, train it by the common loop or its kind's own, and write the card."""
    from gnomon.train.cards import card

    shape = kind(recipe.kind)
    if shape.train:
        outcome = shape.train(recipe, material, folder, watch)
    else:
        outcome = _by_the_loop(recipe, material, folder, watch)
    finish_folder(folder, outcome, card(recipe, material, outcome))
    return outcome


def _by_the_loop(
    recipe: Recipe, material: Material, folder: Path, watch: Watch | None
) -> TrainingOutcome:
    from gnomon.train.loop import train

    open_learner = kind(recipe.kind).open_learner
    assert open_learner, f"the kind {recipe.kind} has neither a learner nor a loop of its own"
    learner = open_learner(recipe, material)
    return train(learner, recipe.schedule, folder, seeds=recipe.seeds, watch=watch)


def _remove_checkpoints(folder: Path) -> None:
    """Remove what is needed only while training goes on."""
    from gnomon.train.checkpoints import Checkpoints

    Checkpoints(folder).remove()
