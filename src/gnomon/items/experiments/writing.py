"""The experiment that repeats runs, as the text of its file."""

from __future__ import annotations

from collections import defaultdict
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
    asked: dict[int, set[int]] = defaultdict(set)  # places of models, by the benchmark's
    left_out = []
    for run in runs:
        manifest = run.manifest
        if not _can_be_repeated(manifest):
            left_out.append(f"# Left out, since no command repeats it: {run.name} ({run.model})")
            continue
        what = _place_in(benchmarks, _benchmark(manifest))
        who = _place_in(models, _model(manifest))
        asked[what].add(who)
    for what, benchmark in enumerate(benchmarks):
        if len(asked[what]) < len(models):
            benchmark["models"] = [who + 1 for who in sorted(asked[what])]
    content: dict[str, Any] = {}
    if models:
        content = {"benchmarks": benchmarks, "models": models}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    notes = "".join(f"{' '.join(note.split())}\n" for note in dict.fromkeys(left_out))
    return f"{HEADER}\n{notes}{text}"


def _place_in(entries: list[dict[str, Any]], entry: dict[str, Any]) -> int:
    """Where an entry stands; one that is new is put last."""
    if entry not in entries:
        entries.append(entry)
    return entries.index(entry)


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
    given, usual = dict(manifest.options), {}
    name, _, source = manifest.benchmark.partition("@")
    about = known_benchmark(name)
    if about is not None and source in about.sources:
        usual = options_of(about.sources[source])
    elif "file" in given:  # a file of items is named by its path
        found["name"] = given.pop("file")
    options = {key: value for key, value in given.items() if value not in (None, usual.get(key))}
    if options:
        found["options"] = redact_options(options)
    for setting in ("limit", "permute"):
        if getattr(manifest, setting) is not None:
            found[setting] = getattr(manifest, setting)
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
