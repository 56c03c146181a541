"""The experiment that repeats runs, as the text of its file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.errors import GnomonError
from gnomon.options import options_of
from gnomon.redaction import redact_options
from gnomon.registry import known_benchmark, model
from gnomon.runs import Manifest, Run

HEADER = "# Repeat these runs with: gnomon run experiment.yaml"
PERSON = "people:"


def experiment_of(runs: Sequence[Run]) -> str:
    """An experiment as YAML: `gnomon run` of it asks the same items of the same models.

    What cannot be repeated by a command is named in a comment: people, models made in Python.
    """
    import yaml

    models: list[dict[str, Any]] = []
    benchmarks: list[dict[str, Any]] = []
    asked: list[list[int]] = []  # for each benchmark the places of its models
    left_out = []
    for run in runs:
        manifest = run.manifest
        if not _can_be_repeated(manifest):
            left_out.append(f"# Left out, since no command repeats it: {run.name} ({run.model})")
            continue
        what, who = _benchmark(manifest), _model(manifest)
        if what not in benchmarks:
            benchmarks.append(what)
            asked.append([])
        if who not in models:
            models.append(who)
        place = models.index(who) + 1
        if place not in asked[benchmarks.index(what)]:
            asked[benchmarks.index(what)].append(place)
    for what, places in zip(benchmarks, asked, strict=True):
        if len(places) < len(models):
            what["models"] = sorted(places)
    content: dict[str, Any] = {}
    if models:
        content = {"benchmarks": benchmarks, "models": models}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    notes = "".join(f"{' '.join(note.split())}\n" for note in dict.fromkeys(left_out))
    return f"{HEADER}\n{notes}{text}"


def _can_be_repeated(manifest: Manifest) -> bool:
    if manifest.model.startswith(PERSON):
        return False
    try:
        model(manifest.model, **manifest.model_options)
    except (GnomonError, ImportError):
        return False
    return True


def _benchmark(manifest: Manifest) -> dict[str, Any]:
    """What is asked, with the options that are not the usual ones."""
    found: dict[str, Any] = {"name": manifest.benchmark}
    options = dict(manifest.options)
    name, _, source = manifest.benchmark.partition("@")
    about = known_benchmark(name)
    if about is not None and source in about.sources:
        usual = options_of(about.sources[source])
        options = {key: value for key, value in options.items() if usual.get(key) != value}
    elif "file" in options:  # a file of items is named by its path
        found["name"] = options.pop("file")
    options = {key: value for key, value in options.items() if value is not None}
    if options:
        found["options"] = redact_options(options)
    if manifest.limit is not None:
        found["limit"] = manifest.limit
    if manifest.permute is not None:
        found["permute"] = manifest.permute
    if manifest.blind:
        found["blind"] = True
    return found


def _model(manifest: Manifest) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if manifest.name:
        found["name"] = manifest.name
    found["model"] = manifest.model
    if manifest.model_options:
        found["options"] = redact_options(manifest.model_options)
    return found
