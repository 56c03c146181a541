"""Where a run lives, and what is known of it if it was started before."""

from __future__ import annotations

import re
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from gnomon.contracts import Model
from gnomon.errors import DataError, RunError
from gnomon.items.source import ItemSource
from gnomon.redaction import redact_options
from gnomon.registry import ModelSpec
from gnomon.runs import FORMAT, LOG, MANIFEST, Manifest, Run, determining
from gnomon.runs.sameness import START_OVER, check_same_question


def run_folder(
    source: ItemSource, model: Model | ModelSpec, runs: str | Path, *, blind: bool = False
) -> Path:
    """Where this run lives: the same benchmark, model and options give the same folder.

    The limit has no say in it, so that a run grows when a larger one is asked for.
    """
    return _folder(source, None, model, runs, blind=blind)


def _folder(
    source: ItemSource,
    limit: int | None,
    model: Model | ModelSpec,
    runs: str | Path,
    *,
    blind: bool,
) -> Path:
    if isinstance(model, ModelSpec):
        options = redact_options(model.deciding)  # a new password does not make a new run
    else:
        options = determining(model.describe())
    identity: list[Any] = [source.name, source.options, limit, model.spec, options]
    if blind:
        identity.append("blind")
    if source.permute is not None:
        identity.append(["permute", source.permute])
    key = msgspec.json.encode(identity, order="sorted")
    name = Path(model.spec).name if "/" in model.spec else model.spec
    slug = re.sub(r"[^A-Za-z0-9.@]+", "-", f"{source.name}--{name}").strip("-")
    name = f"{slug[:80]}--{blake2b(key, digest_size=8).hexdigest()}"
    if source.shard is not None:
        name += f"--shard-{source.shard.number}-of-{source.shard.of}"
    return Path(runs) / name


def check_no_older_run(
    source: ItemSource, model: Model | ModelSpec, runs: str | Path, *, blind: bool
) -> None:
    """Refuse to begin beside a run of an earlier Gnomon, whose limit chose other items.

    There a limit was a part of the folder's name.
    """
    if source.limit is None:
        return
    older = _folder(source, source.limit, model, runs, blind=blind)
    if (older / MANIFEST).exists():
        raise RunError(
            f"{older} was made by an earlier Gnomon, whose --limit chose other items. It can be "
            "scored and shown, but no further items can be asked.",
            "Make a new run beside it with --restart, or give another folder with --runs.",
        )


def earlier_manifest(
    folder: Path, source: ItemSource, model: Model | ModelSpec, *, restart: bool
) -> Manifest | None:
    """The manifest of the run to go on with; none if there is none or it is to start over.

    A folder of a newer Gnomon is left alone in either case.
    """
    if not (folder / MANIFEST).exists():
        return None
    try:
        manifest = Run.open(folder).manifest
    except DataError:
        if restart:
            return None
        raise
    if restart:
        return None
    if manifest.format < FORMAT:
        raise RunError(
            f"{folder} was written by an earlier Gnomon (run format {manifest.format}). It can be "
            "scored and shown, but no further items can be asked.",
            START_OVER,
        )
    check_same_question(manifest, source, model, folder)
    if manifest.items_sha256 and not (folder / LOG).exists():
        raise lost(folder)
    return manifest


def lost(folder: Path) -> RunError:
    """The error for a run whose log is gone."""
    return RunError(
        f"{folder} has lost items or all of its log ({LOG}).",
        "Restore the file from a copy, or start over with --restart.",
    )
