"""Is this still the run that was started? Answers of two models must never meet in one log.

A model that is opened says what determines its answers, and that is compared. A finished run opens
none, so the files that a model's name and options point to are compared as well.
"""

from __future__ import annotations

import os
from os.path import expanduser
from pathlib import Path
from typing import Any

import msgspec

from gnomon.contracts import Model
from gnomon.errors import RunError
from gnomon.fingerprint import fingerprint
from gnomon.items.source import ItemSource
from gnomon.registry import ModelSpec, scheme_of
from gnomon.runs import Manifest, determining

START_OVER = (
    "Start over with --restart (in Python restart=True), or give another folder with --runs."
)


def model_files(model: Model | ModelSpec) -> dict[str, str]:
    """The local files that a model is made of or reads, with their fingerprints.

    Whatever its name or an option that determines its answers says and is a path counts, so that
    plug-ins need not declare theirs. A model that is code says itself what it is made of.
    """
    if not isinstance(model, ModelSpec):
        return dict(getattr(model, "code", {}))
    paths = [scheme_of(model.spec)[1]]
    for value in model.deciding.values():
        if isinstance(value, str) and os.path.isfile(expanduser(value)):
            paths.append(value)
    found = {}
    for text in sorted(paths):
        path = Path(expanduser(text))
        try:
            if text and path.exists():
                found[text] = fingerprint(path)
        except OSError:  # opening the model will say so
            continue
    return found


def check_same_question(
    manifest: Manifest, source: ItemSource, model: Model | ModelSpec, folder: Path
) -> None:
    """Refuse a folder that was started with another benchmark, model or options.

    The folder's name is a hash of these, so only a copied folder or a collision gets here.
    """
    asked: dict[str, tuple[Any, Any]] = {
        "benchmark": (manifest.benchmark, source.name),
        "options": (manifest.options, msgspec.to_builtins(source.options)),
        "permute": (manifest.permute, source.permute),
        "shard": (manifest.shard, str(source.shard or "")),
        "model": (manifest.model, model.spec),
    }
    if source.shard is not None:  # a run grows with its limit, a part of one does not
        asked["limit"] = (manifest.limit, source.limit)
    changed = [name for name, (before, now) in asked.items() if before != now]
    if changed:
        raise RunError(
            f"{folder} is a run of {manifest.model} on {manifest.benchmark}, started with other "
            f"settings: {', '.join(changed)}.",
            START_OVER,
        )


def check_same_files(manifest: Manifest, files: dict[str, str], folder: Path) -> None:
    """Refuse files that are not those the run was started with."""
    if manifest.model_files is None or not manifest.counts.asked:
        return
    changed = [text for text, found in files.items() if manifest.model_files.get(text) != found]
    if changed:
        raise _other_model(manifest, folder, changed)


def check_same_model(manifest: Manifest, description: dict[str, Any], folder: Path) -> None:
    """Refuse a model that describes itself otherwise than when the run was started."""
    before = determining(manifest.model_description)
    now = determining(description)
    if before != now:
        changed = [key for key in before.keys() | now.keys() if before.get(key) != now.get(key)]
        raise _other_model(manifest, folder, sorted(changed))


def _other_model(manifest: Manifest, folder: Path, changed: list[str]) -> RunError:
    return RunError(
        f"The model {manifest.model} is not the one that {folder} was started with: "
        f"{', '.join(changed)} changed.",
        START_OVER,
    )
