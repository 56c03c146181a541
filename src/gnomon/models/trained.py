"""What a folder that `gnomon train` made says of its training, for the manifest of a run.

The files are read as plain data: a folder may come from a stranger, and need not be one of ours.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import DataError, ModelError
from gnomon.files import read_json, read_jsonl, read_yaml

MOST_POINTS = 100  # of a curve
_CHECKPOINTS, _RECIPE = "checkpoints", "recipe.yaml"


class _Outcome(msgspec.Struct):
    """training.json: what a training came to."""

    steps: int
    best_step: int
    best: dict[str, float]
    tests: dict[str, dict[str, float]] = {}


class _Part(msgspec.Struct):
    """What data.json says of a part."""

    sha256: str = ""
    items: int = 0


class _Line(msgspec.Struct):
    """A line of metrics.jsonl: a step, or an evaluation."""

    step: int
    loss: float | None = None
    dev: dict[str, float] | None = None


def training_of(name: str) -> dict[str, Any]:
    """How the model in a folder was trained; nothing if Gnomon did not train it.

    `train_items` and `per_pattern` are by what reports order runs along a curve.
    """
    folder = Path(name)
    file = folder / "training.json"
    if not file.is_file():
        return {}
    try:
        outcome = read_json(file, _Outcome)
        recipe = read_yaml(folder / _RECIPE)
        data = read_json(folder / "data.json", dict[str, _Part])
        curves = _curves(folder / "metrics.jsonl")
    except DataError:
        return {}  # somebody else's file of that name
    training = {
        "kind": recipe.get("kind", ""),
        "from": recipe.get("model", ""),
        "steps": outcome.steps,
        "best_step": outcome.best_step,
        "best": outcome.best,
        "tests": outcome.tests,
        "data_sha256": {part: facts.sha256 for part, facts in data.items()},
        "items": {part: facts.items for part, facts in data.items()},
        "recipe": recipe,
        **curves,
    }
    return {"training": training, **_amounts(recipe, data, outcome.steps)}


def check_finished(name: str) -> None:
    """Refuse a folder whose training was stopped before its end."""
    folder = Path(name)
    if (folder / "training.json").is_file():
        return
    if (folder / _RECIPE).is_file() and (folder / _CHECKPOINTS).is_dir():
        raise ModelError(
            f"The training in {folder} is not finished.",
            "Give the command that began it again: it continues where it was.",
        )


def _amounts(recipe: dict[str, Any], data: dict[str, _Part], steps: int) -> dict[str, float]:
    """How much a model was taught; nothing where it took no step."""
    found: dict[str, float] = {}
    train = data.get("train")
    if train and train.items:
        found["train_items"] = train.items
    pool = (recipe.get("data") or {}).get("train")
    if isinstance(pool, dict) and pool.get("per_group"):
        found["per_pattern"] = pool["per_group"]
    elif isinstance(pool, dict) and "percent" in pool:
        found["train_share"] = pool["percent"]
    if not steps:
        return dict.fromkeys(found, 0)
    return found


def _curves(file: Path) -> dict[str, Any]:
    """The losses, as means over stretches of steps, and the scores on dev."""
    if not file.is_file():
        return {}
    losses: list[tuple[int, float]] = []
    scores: list[tuple[int, dict[str, float]]] = []
    for _, line in read_jsonl(file, _Line):
        if line.loss is not None:
            losses.append((line.step, line.loss))
        if line.dev:
            scores.append((line.step, line.dev))
    return {"losses": _thinned(losses), "dev": scores[:: -(-len(scores) // MOST_POINTS) or 1]}


def _thinned(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """At most so many points: of each stretch the last step and the mean."""
    stretch = -(-len(points) // MOST_POINTS) or 1
    found = []
    for start in range(0, len(points), stretch):
        part = points[start : start + stretch]
        mean = sum(value for _, value in part) / len(part)
        found.append((part[-1][0], mean))
    return found
