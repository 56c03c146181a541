"""The folder that a training makes, and curves: weights as `-m hf:FOLDER` loads them.

recipe.yaml    as resolved, every field with its value
data.json      what each part holds: counts and sha256
metrics.jsonl  a line for each step and each evaluation
training.json  what it came to; a folder without it is not finished
README.md      the same in words
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from gnomon.errors import DataError, RunError, UsageError
from gnomon.files import read_json, read_yaml
from gnomon.items.writing import atomic_file
from gnomon.train.checkpoints import Checkpoints
from gnomon.train.items import DEV, ItemData
from gnomon.train.recipes import (
    LAST,
    Material,
    Recipe,
    TrainingOutcome,
    Watch,
    kind,
    load_recipe,
    way_to_ask,
)

RECIPE, DATA, OUTCOME, CARD = "recipe.yaml", "data.json", "training.json", "README.md"
LOCK = ".lock"
CARD_TEMPLATE = "assets/card.md.j2"


def begin_folder(folder: Path, recipe: Recipe, material: Material) -> None:
    """Write recipe and data into a new folder; one that is there must be of the same training."""
    import yaml

    if not (folder / RECIPE).is_file():
        _write_json(folder / DATA, material.digests)
        with atomic_file(folder / RECIPE) as part:
            part.write_text(yaml.safe_dump(recipe.plain(), sort_keys=False), encoding="utf-8")
        return
    differing = difference(read_yaml(folder / RECIPE), recipe.plain())
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


# The card of a trained folder: what was taught, on what, how it went, in words.


def card(recipe: Recipe, material: Material, outcome: TrainingOutcome) -> str:
    """The text of README.md."""
    from jinja2 import StrictUndefined, Template

    template = (Path(__file__).parent / CARD_TEMPLATE).read_text(encoding="utf-8")
    shape = kind(recipe.kind)
    parts = {"dev": outcome.best} if outcome.best else {}
    parts |= outcome.tests
    measures = dict.fromkeys(chain.from_iterable(parts.values()))
    made = Template(
        template, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    text: str = made.render(
        recipe=recipe,
        outcome=outcome,
        chose=recipe.schedule.best != LAST,
        summary=shape.summary,
        ask=way_to_ask(recipe, "FOLDER"),
        data={part: _facts(facts) for part, facts in material.digests.items()},
        results=shape.results(outcome) if shape.results else "",
        parts=parts,
        measures=list(measures),
    )
    return text


_DIGEST = re.compile(r"[0-9a-f]{32,}")


def _facts(facts: Any) -> str:
    if not isinstance(facts, dict):
        return _fact(facts)
    return ", ".join(f"{name} {_fact(value)}" for name, value in facts.items())


def _fact(value: Any) -> str:
    """What data.json says: a number, a digest, which is cut short, or facts of its own.

    >>> _fact({"items": 1325, "digest": "0123456789abcdef" * 4})
    '(items 1,325, digest 0123456789ab)'
    """
    if isinstance(value, dict):
        return f"({_facts(value)})"
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value)
    return text[:12] if _DIGEST.fullmatch(text) else text


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
        Checkpoints(folder).remove()
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
        from gnomon.train.loop import train

        assert shape.open_learner, f"the kind {recipe.kind} has neither a learner nor a loop"
        learner = shape.open_learner(recipe, material)
        outcome = train(learner, recipe.schedule, folder, seeds=recipe.seeds, watch=watch)
    finish_folder(folder, outcome, card(recipe, material, outcome))
    return outcome


# A curve over the amount of training: the same recipe with more and more items, drawn anew.
#
# Each point is a training in a folder of its own, so a curve can be stopped anywhere: a point that
# is finished is not trained again, and one that was stopped goes on. The draws of one number are
# nested: what a smaller amount was trained on, a larger one is trained on too.


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
    return str(_data_facts(point).get("train", {}).get("sha256", ""))


def items_of(point: LearningCurvePoint) -> dict[str, int]:
    """How many items each part of a point holds."""
    return {part: int(facts.get("items", 0)) for part, facts in _data_facts(point).items()}


def _data_facts(point: LearningCurvePoint) -> dict[str, dict[str, Any]]:
    file = point.folder / DATA
    return read_json(file, dict[str, dict[str, Any]]) if file.is_file() else {}
