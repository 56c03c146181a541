"""What is written down of a run's items and model, and what of them cannot be asked."""

from __future__ import annotations

import platform
from datetime import datetime

from gnomon import __version__
from gnomon.errors import ModelError, UnfitError
from gnomon.items.source import ItemSource
from gnomon.records import Item
from gnomon.redaction import redact_command, redact_options
from gnomon.registry import ModelSpec, about_benchmark
from gnomon.runs import Manifest
from gnomon.runs.folders import run_folder
from gnomon.runs.sameness import model_files
from gnomon.runs.task import Task
from gnomon.runs.workers import About


def new_manifest(task: Task, about: About, began: datetime) -> Manifest:
    """The manifest of a run that begins."""
    source = task.source
    manifest = Manifest(
        id=task.log.path.name,
        benchmark=source.name,
        options=source.options,
        about=about_benchmark(source.benchmark),
        limit=source.limit,
        permute=source.permute,
        unlisted=_unlisted(source, about),
        model=task.model.spec,
        name=task.name,
        blind=task.blind,
        started=began,
    )
    if source.shard is not None:
        whole = source.sharded(None)
        manifest.shard = str(source.shard)
        manifest.shard_of = run_folder(whole, task.model, "", blind=task.blind).name
        manifest.whole_items, manifest.whole_sha256 = source.of_all_shards
    note_model(manifest, task, about, model_files(task.model) or about.files)
    return manifest


def note_model(manifest: Manifest, task: Task, about: About, files: dict[str, str]) -> None:
    """Write down what the model says of itself, and with which options it is asked now."""
    manifest.model_description = about.description
    manifest.scale = about.scale
    manifest.asking = about.asking
    manifest.model_files = files
    _note_versions(manifest)
    manifest.command = redact_command(task.command) or manifest.command
    if isinstance(task.model, ModelSpec):
        manifest.model_options = redact_options(task.model.options)


def _note_versions(manifest: Manifest) -> None:
    """Write down the versions that ask now, after those that asked before."""
    now = {"gnomon": __version__, "python": platform.python_version()}
    for name, version in now.items():
        earlier = manifest.versions.get(name, "")
        known = earlier.split(", ") if earlier else []
        if version not in known:
            manifest.versions[name] = ", ".join([*known, version])


def _unlisted(source: ItemSource, about: About) -> list[str]:
    """The forms of permuted items whose choices the model is not shown as a list."""
    lists = about.lists
    if source.permute is None or lists is None:
        return []
    forms = {item.form for item in source.sharded(None).without_pictures()}
    return sorted(form for form in forms if not lists[form])


def check_takes(about: About, item: Item, *, blind: bool) -> None:
    """Refuse items with pictures for a model that cannot see, unless it is to be asked blind."""
    if item.images and "image" not in about.takes and not blind:
        raise UnfitError(
            f"The items have pictures, and {about.spec} takes text only.",
            "Choose a model that takes images, or ask without the pictures: --blind.",
        )
    if blind and not item.images:
        raise ModelError("The items have no pictures.", "Leave out --blind.")


def check_order(about: About, source: ItemSource) -> None:
    """Refuse to permute the choices for a model whose answers were given before."""
    if source.permute is not None and about.answered_before:
        raise ModelError(
            f"The answers of {about.spec} were given to choices in the usual order.",
            "Leave out --permute.",
        )
