"""The folder that a training makes: weights as `-m hf:FOLDER` loads them, and how they came about.

recipe.yaml    as resolved, every field with its value
data.json      what each part holds: counts and sha256
metrics.jsonl  a line for each step and each evaluation
training.json  what it came to; a folder without it is not finished
README.md      the same in words
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import DataError, RunError, UsageError
from gnomon.files import read_json, read_yaml
from gnomon.items.writing import atomic_file
from gnomon.train.items import DEV, ItemData
from gnomon.train.kinds import Material, Scores, TrainingOutcome, Watch, kind, way_to_ask
from gnomon.train.recipes import LAST, Recipe

RECIPE, DATA, OUTCOME, CARD = "recipe.yaml", "data.json", "training.json", "README.md"
LOCK = ".lock"


def begin_folder(folder: Path, recipe: Recipe, material: Material) -> None:
    """Write recipe and data into a new folder; one that is there must be of the same training."""
    kept = _kept_recipe(folder)
    if kept is None:
        _write_json(folder / DATA, material.digests)
        _write_yaml(folder / RECIPE, recipe.plain())
        return
    differing = difference(kept, recipe.plain())
    if differing:
        raise RunError(
            f"{folder} holds a training by another recipe: {differing}.",
            "Name another folder with -o, or remove that one.",
        )
    known = read_json(folder / DATA, dict[str, Any])
    differing = difference(known, msgspec.to_builtins(material.digests))
    if differing:
        raise RunError(
            f"The data have changed since {folder} was begun: {differing}.",
            "Name another folder with -o, or remove that one.",
        )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """While inside, no other process trains in the folder."""
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    file = folder / LOCK
    try:
        with FileLock(file, blocking=False):
            yield
            file.unlink(missing_ok=True)
    except Timeout:
        raise RunError(
            f"{folder} is being trained in by another process.",
            "Wait for it, or name another folder with -o.",
        ) from None


def finished(folder: Path) -> TrainingOutcome | None:
    """What a training came to; none if it is not finished."""
    file = folder / OUTCOME
    return read_json(file, TrainingOutcome) if file.is_file() else None


def finish_folder(folder: Path, outcome: TrainingOutcome, card: str) -> None:
    """Write the card, and last what the training came to."""
    with atomic_file(folder / CARD) as part:
        part.write_text(card, encoding="utf-8")
    _write_json(folder / OUTCOME, outcome)


def difference(kept: Any, now: Any, place: str = "") -> str:
    """The first field in which two plain data differ, in words; empty if they are alike.

    >>> difference({"schedule": {"epochs": 3}}, {"schedule": {"epochs": 5}})
    'schedule.epochs was 3 and is 5'
    """
    if not isinstance(kept, dict) or not isinstance(now, dict):
        return "" if kept == now else f"{place} was {kept} and is {now}"
    for name in sorted({*kept, *now}):
        inner = f"{place}.{name}" if place else name
        found = difference(kept.get(name), now.get(name), inner)
        if found:
            return found
    return ""


def _kept_recipe(folder: Path) -> Any:
    file = folder / RECIPE
    return read_yaml(file) if file.is_file() else None


def check_place(folder: Path) -> None:
    """Refuse a file, or a folder that holds something else than a training."""
    if not folder.exists() or (folder / RECIPE).is_file():
        return
    if not folder.is_dir():
        raise DataError("this is a file.", "Name a folder.", file=folder)
    ours = (DATA, LOCK)
    for file in sorted(folder.iterdir()):
        half_written = file.name.startswith(".") and file.suffix == ".part"
        if file.name not in ours and not half_written:
            raise RunError(
                f"{folder} holds something else: {file.name}.", "Name a new folder with -o."
            )


def _write_json(file: Path, content: Any) -> None:
    with atomic_file(file) as part:
        part.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")


def _write_yaml(file: Path, content: Any) -> None:
    import yaml

    with atomic_file(file) as part:
        part.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


# The card of a trained folder: what was taught, on what, how it went, in words.


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


_DIGEST = re.compile(r"[0-9a-f]{32,}")


def _data(material: Material) -> str:
    lines = [f"- {part}: {_facts(facts)}" for part, facts in material.digests.items()]
    return "\n".join(lines)


def _facts(facts: Any) -> str:
    """What data.json says of a part, with digests cut short."""
    if not isinstance(facts, dict):
        return str(facts)
    return ", ".join(f"{name} {_fact(value)}" for name, value in facts.items())


def _fact(value: Any) -> str:
    """One of the facts: a number, a digest, or facts of its own.

    >>> _fact({"items": 1325, "digest": "0123456789abcdef" * 4})
    '(items 1,325, digest 0123456789ab)'
    """
    if isinstance(value, dict):
        return f"({_facts(value)})"
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value)
    return text[:12] if _DIGEST.fullmatch(text) else text


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


# From a recipe to a trained folder: read and check, load, train, write the card.


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
