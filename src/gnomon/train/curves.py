"""A curve over the amount of training: the same recipe with more and more items, drawn anew.

Each point is a training in a folder of its own, so a curve can be stopped anywhere: a point that is
finished is not trained again, and one that was stopped goes on. The draws of one number are nested:
what a smaller amount was trained on, a larger one is trained on too.
"""

from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gnomon.errors import UsageError
from gnomon.files import read_json
from gnomon.train.folder import DATA, finished
from gnomon.train.recipes import Recipe, TrainingOutcome, load_recipe

Unit = Literal["per_pattern", "train_share"]
FIELDS: dict[Unit, str] = {"per_pattern": "per_group", "train_share": "percent"}
FOLDERS: dict[Unit, str] = {"per_pattern": "items", "train_share": "percent"}
UNTAUGHT = ("schedule.epochs=0", "schedule.steps=0")  # the model as training begins


class LearningCurvePoint(NamedTuple):
    """One training of a curve."""

    amount: float
    draw: int
    folder: Path
    recipe: Recipe

    def outcome(self) -> TrainingOutcome | None:
        """What it came to; none if it is not finished."""
        return finished(self.folder)


class Amounts(NamedTuple):
    """How much is trained on, in what unit, and how often each amount is drawn."""

    unit: Unit
    values: tuple[float, ...]
    draws: int


def curve_points(
    recipe: str, changes: Sequence[str], amounts: Amounts, folder: Path
) -> list[LearningCurvePoint]:
    """Every training of a curve, its recipe checked; small amounts come first, draw by draw."""
    base = load_recipe(recipe, changes)
    percent = getattr(getattr(base.data, "train", None), "percent", 100)
    if amounts.unit == "per_pattern" and percent < 100:
        raise UsageError(
            f"The recipe trains on {percent:g} % of what is drawn, so a larger size would not "
            "contain a smaller one.",
            "Leave out data.train.percent, or grow by shares: --curve 10,25,50%",
        )
    found = []
    for amount in amounts.values:
        for draw in range(amounts.draws):
            own = [*changes, *_changes(base, amounts.unit, amount, draw)]
            where = folder / f"{FOLDERS[amounts.unit]}-{amount:g}" / f"draw-{draw + 1}"
            found.append(LearningCurvePoint(amount, draw, where, load_recipe(recipe, own)))
    return found


def _changes(base: Recipe, unit: Unit, amount: float, draw: int) -> Iterator[str]:
    """What the recipe of a point says otherwise: the amount, the draw, and seeds of its own."""
    field = FIELDS[unit]
    if amount:
        yield f"data.train.{field}={amount:g}"
    else:
        yield f"data.train.{field}=1"
        yield from UNTAUGHT
    yield f"data.train.draw={draw}"
    yield f"seeds.order={base.seeds.order + draw}"
    yield f"seeds.weights={base.seeds.weights + draw}"


def sizes_of(text: str) -> tuple[float, ...]:
    """The numbers of items in "1,2,5"; 0 is the model before training.

    >>> sizes_of("5,1,2")
    (1.0, 2.0, 5.0)
    """
    example = "--curve 1,2,5,10,20"
    for number in _numbers(text, example):
        if number < 0 or not number.is_integer():
            raise UsageError(f"{number:g} is no number of items.", f"Give whole numbers: {example}")
    return _numbers(text, example)


def percentages_of(text: str) -> tuple[float, ...]:
    """The percentages in "10,25,50,75,100"; 0 is the model before training."""
    for number in _numbers(text, "--curve 10,25,50,75,100%"):
        if not 0 <= number <= 100:
            raise UsageError(
                f"{number:g} is no percentage.", "Give numbers from 0 to 100: --curve 10,25,50%"
            )
    return _numbers(text, "")


def _numbers(text: str, example: str) -> tuple[float, ...]:
    try:
        found = {float(part) for part in text.split(",") if part.strip()}
    except ValueError:
        raise UsageError(f"'{text}' is not a list of numbers.", f"Write {example}") from None
    if not found:
        raise UsageError("The curve has no points.", f"Write {example}")
    if not all(map(isfinite, found)):
        raise UsageError(f"'{text}' is not a list of finite numbers.", f"Write {example}")
    return tuple(sorted(found))


def trained_on(point: LearningCurvePoint) -> str:
    """The digest of the items that a point is trained on; empty if that is not known."""
    return str(_facts(point).get("train", {}).get("sha256", ""))


def items_of(point: LearningCurvePoint) -> dict[str, int]:
    """How many items each part of a point holds."""
    return {part: int(facts.get("items", 0)) for part, facts in _facts(point).items()}


def _facts(point: LearningCurvePoint) -> dict[str, dict[str, Any]]:
    file = point.folder / DATA
    return read_json(file, dict[str, dict[str, Any]]) if file.is_file() else {}
