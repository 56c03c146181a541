"""Is the model still the one that a run was begun with? Answers of two models must never meet in
one log.

A model that is opened says what determines its answers, and that is compared. A finished run opens
none, so the files that a model's name and options point to are compared as well, by a fingerprint
that needs no loading.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from os.path import expanduser
from pathlib import Path
from typing import Any

import msgspec

from gnomon.contracts import Model
from gnomon.errors import RunError
from gnomon.registry import ModelSpec
from gnomon.runs import Manifest, RunLog

WHOLE = 64 * 2**20  # bytes up to which a file is read whole
PIECE, PIECES = 2**16, 64  # of a larger one: so many pieces of so many bytes, evenly spaced
PROSE, NOT_PROSE = (
    (".md", ".txt"),
    ("vocab.txt", "merges.txt"),
)  # a model's folder may be described anew


def model_files(model: Model | ModelSpec) -> dict[str, str]:
    """The local files that a model is made of or reads, as its name and options give them, with
    their fingerprints.

    Whatever its name or a deciding option says and is a path counts, so that plug-ins need not
    declare theirs.
    """
    if not isinstance(model, ModelSpec):
        return {}
    name = model.spec.partition(":")[2]
    files = [
        text
        for text in model.deciding.values()
        if isinstance(text, str) and os.path.isfile(expanduser(text))
    ]
    if os.path.exists(expanduser(name)):
        files.append(name)
    return {text: found for text in sorted(files) if (found := fingerprint(Path(expanduser(text))))}


def fingerprint(path: Path) -> str:
    """A hash of a file, or of the files of a model's folder; empty if they cannot be read.

    Of files too large to read in a moment, their size and evenly spaced pieces: weights that were
    trained further differ nearly everywhere. Their time of change would be quicker still, but
    changes when they are only copied.
    """
    digest = sha256()
    try:
        for file in _members(path):
            size = file.stat().st_size
            digest.update(f"{file.name if file != path else ''}\0{size}\0".encode())
            with file.open("rb") as stream:
                for start in range(0, size, PIECE if size <= WHOLE else size // PIECES):
                    stream.seek(start)
                    digest.update(stream.read(PIECE))
    except OSError:  # whoever opens the model will say so
        return ""
    return digest.hexdigest()


def same_files(manifest: Manifest, files: dict[str, str], log: RunLog) -> None:
    """Refuse files that are not those the run was begun with. Runs of before these were recorded
    pass."""
    if manifest.model_files is None or not log.asked():
        return
    changed = [text for text, found in files.items() if manifest.model_files.get(text) != found]
    if changed:
        raise _other_model(manifest, log, changed)


def same_model(manifest: Manifest, model: Model, log: RunLog) -> None:
    """Refuse a model that describes itself otherwise than when the run was begun; else note its
    description."""
    description = msgspec.to_builtins(model.describe())
    before, now = deciding(manifest.model_description), deciding(description)
    if log.asked() and before != now:
        changed = sorted(
            key for key in before.keys() | now.keys() if before.get(key) != now.get(key)
        )
        raise _other_model(manifest, log, changed)
    manifest.model_description, manifest.scale = description, model.scale


def deciding(description: dict[str, Any]) -> dict[str, Any]:
    """What a description says beyond the model's size, which follows from its weights and which
    older runs lack."""
    return {key: value for key, value in description.items() if key != "parameters"}


def _other_model(manifest: Manifest, log: RunLog, changed: list[str]) -> RunError:
    return RunError(
        f"The model {manifest.model} is not the one that {log.path} was begun with: {', '.join(changed)} changed.",
        "Start over with --fresh, or give another folder with --runs.",
    )


def _members(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    else:
        yield from (
            file
            for file in sorted(path.iterdir())
            if file.is_file() and (file.suffix not in PROSE or file.name in NOT_PROSE)
        )
