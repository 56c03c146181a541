"""The folder that a training makes: weights as `-m hf:FOLDER` loads them, and how they came about.

recipe.yaml    as resolved, every field with its value
data.json      what each part holds: counts and sha256
metrics.jsonl  a line for each step and each evaluation
training.json  what it came to; a folder without it is not finished
README.md      the same in words
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import DataError, RunError
from gnomon.files import read_json, read_yaml
from gnomon.items.writing import atomic_file
from gnomon.train.kinds import Material
from gnomon.train.learners import TrainingOutcome
from gnomon.train.recipes import Recipe

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
