"""The card of a trained folder: what was taught, on what, how it went, in words."""

from __future__ import annotations

from gnomon.probing.training.kinds import Material
from gnomon.probing.training.learners import Outcome, Scores
from gnomon.probing.training.recipes import Recipe


def card(recipe: Recipe, material: Material, outcome: Outcome) -> str:
    """The text of README.md."""
    lines = [f"# {recipe.name}", "", recipe.note or "A model trained with Gnomon.", ""]
    lines += [f"Kind {recipe.kind}, from {recipe.model or 'nothing'}.", ""]
    for part, facts in material.digests.items():
        lines.append(f"- {part}: {facts}")
    lines += ["", f"{outcome.steps} steps; best at {outcome.best_step}: {_shown(outcome.best)}."]
    for part, scores in outcome.tests.items():
        lines.append(f"- {part}: {_shown(scores)}")
    return "\n".join(lines) + "\n"


def _shown(scores: Scores) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in scores.items())
