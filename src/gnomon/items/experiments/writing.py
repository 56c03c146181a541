"""The experiment that repeats runs, as the text of its file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from gnomon.errors import GnomonError
from gnomon.naming import PERSON
from gnomon.options import options_of
from gnomon.redaction import redact_options
from gnomon.registry import known_benchmark, model
from gnomon.runs import Manifest, Run
from gnomon.trust import ADDRESS, ONLY_BY_COMMAND, as_flag, without_trust

HEADER = "# Repeat these runs with: gnomon run experiment.yaml"


def experiment_of(runs: Sequence[Run]) -> str:
    """An experiment as YAML: `gnomon run` of it asks the same items of the same models.

    What cannot be repeated by a command is named in a comment: people, models made in Python.
    """
    import yaml

    models: list[dict[str, Any]] = []
    benchmarks: list[dict[str, Any]] = []
    asked: dict[int, set[int]] = defaultdict(set)  # places of models, by the benchmark's
    notes = []
    for run in runs:
        manifest = run.manifest
        if not _can_be_repeated(manifest):
            notes.append(f"# Left out, since no command repeats it: {run.name} ({run.model})")
            continue
        notes += _by_command(manifest)
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
    comments = "".join(f"{' '.join(note.split())}\n" for note in dict.fromkeys(notes))
    return f"{HEADER}\n{comments}{text}"


def _by_command(manifest: Manifest) -> Iterator[str]:
    """What no file may say, and the command that repeats the runs must."""
    for name, value in manifest.model_options.items():
        if name in ONLY_BY_COMMAND and value:
            yield f"# Say it in the command if you trust it: {as_flag(name, value)}"
        elif name == ADDRESS:
            yield "# An address gets a key only if the command names it too: --base-url ADDRESS"


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
    options = without_trust(manifest.model_options)
    if options:
        found["options"] = redact_options(options)
    return found
