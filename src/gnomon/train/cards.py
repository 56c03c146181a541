"""The card of a trained folder: what was taught, on what, how it went, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gnomon.train.kinds import Material, kind, way_to_ask
from gnomon.train.learners import Scores, TrainingOutcome
from gnomon.train.recipes import Recipe
from gnomon.train.schedule import LAST


def card(recipe: Recipe, material: Material, outcome: TrainingOutcome) -> str:
    """The text of README.md."""
    paragraphs = [
        f"# {recipe.name or recipe.kind}",
        recipe.note or f"This is {kind(recipe.kind).summary}, trained with Gnomon.",
        _training(recipe, outcome),
        "## Data",
        _data(material),
        "## Results",
        _told(recipe, outcome),
        "## Use",
        f"Ask it like any other model: `gnomon run BENCHMARK {way_to_ask(recipe, 'FOLDER')}`, "
        "where FOLDER is this folder. Figures on items that resemble those of training say little "
        "about others: the parts above say which were held apart.",
        "recipe.yaml has every field of the recipe, data.json the digests of the data, "
        "metrics.jsonl the loss of each step and each score on dev, training.json the outcome.",
    ]
    return "\n\n".join(paragraphs) + "\n"


def _training(recipe: Recipe, outcome: TrainingOutcome) -> str:
    schedule, seeds = recipe.schedule, recipe.seeds
    begun = f"It began with {recipe.model}" if recipe.model else "It began with new weights"
    chosen = "The last weights were kept."
    if schedule.best != LAST:
        chosen = f"The weights of step {outcome.best_step:,} were kept, best by {schedule.best}."
    early = " (stopped early: dev no longer improved)" if outcome.stopped_early else ""
    return (
        f"{begun} and took {outcome.steps:,} steps, {outcome.epochs:.4g} epochs{early}, of "
        f"{schedule.batch * schedule.accumulate} items each, with {schedule.optimizer} at a "
        f"learning rate of {schedule.learning_rate:g}. {chosen} "
        f"{outcome.trained_parameters:,} of {outcome.parameters:,} parameters were trained. "
        f"Seeds: data {seeds.data}, order {seeds.order}, weights {seeds.weights}."
    )


def _data(material: Material) -> str:
    lines = [f"- {part}: {_facts(facts)}" for part, facts in material.digests.items()]
    return "\n".join(lines)


def _facts(facts: Any) -> str:
    """What data.json says of a part, with digests cut short."""
    if not isinstance(facts, dict):
        return str(facts)
    told = []
    for name, value in facts.items():
        shown = f"{value:,}" if isinstance(value, int) else str(value)
        told.append(f"{name} {shown[:12]}")
    return ", ".join(told)


def _told(recipe: Recipe, outcome: TrainingOutcome) -> str:
    """The results as the kind tells them, or as a table."""
    words = kind(recipe.kind).results
    return words(outcome) if words else _results(recipe, outcome)


def _results(recipe: Recipe, outcome: TrainingOutcome) -> str:
    rows = ["| part | " + " | ".join(_measures(outcome)) + " |"]
    rows.append("| --- |" + " ---: |" * len(_measures(outcome)))
    if outcome.best:
        rows.append(_row("dev", outcome.best, outcome))
    rows += [_row(part, scores, outcome) for part, scores in outcome.tests.items()]
    if len(rows) == 2:
        return "Nothing was measured: the recipe has no parts but train."
    return "\n".join(rows)


def _measures(outcome: TrainingOutcome) -> list[str]:
    return list(dict.fromkeys(_every_measure(outcome)))


def _every_measure(outcome: TrainingOutcome) -> Iterator[str]:
    yield from outcome.best
    for scores in outcome.tests.values():
        yield from scores


def _row(part: str, scores: Scores, outcome: TrainingOutcome) -> str:
    cells = [f"{scores[name]:.4f}" if name in scores else "" for name in _measures(outcome)]
    return f"| {part} | " + " | ".join(cells) + " |"
