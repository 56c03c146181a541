"""Methods: what was run, how, and with which versions, so that a reader can repeat it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from gnomon.files import package_data, read_text
from gnomon.reporting.study import Entrant, Study
from gnomon.runs import Counts, Manifest

SEEDS = {"seed": "model", "request_seed": "requests"}  # and NAME_seed: NAME
PROMPT = 20_000  # characters of a prompt that the page shows


class Method(NamedTuple):
    """One run, in facts."""

    label: str
    benchmark: str
    command: str
    facts: tuple[tuple[str, str], ...]
    prompt: str  # the wording, where the manifest holds it


def methods(studies: list[Study]) -> list[Method]:
    """Every run of the report."""
    return [_method(study, e) for study in studies for e in study.entrants]


def _method(study: Study, e: Entrant) -> Method:
    manifest = e.run.manifest
    prompt = wording(manifest.model_description.get("prompt"))[:PROMPT]
    return Method(
        e.label, study.name, manifest.command, tuple(facts(manifest, counts_of(e))), prompt
    )


def counts_of(e: Entrant) -> Counts:
    """How far a run has come, from its answers: a manifest is not told of each batch."""
    answered, failed = int(e.table.answered.sum()), int((e.table.failed & ~e.table.answered).sum())
    return Counts(
        items=e.total, answered=answered, errors=failed, unread=len(e.table) - answered - failed
    )


def wording(prompt: Any) -> str:
    """A prompt as the manifest tells it: its own words, or those of the prompt of that name that
    ships with Gnomon."""
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    told = msgspec.json.format(msgspec.json.encode(prompt), indent=2).decode()
    name = prompt.get("name") if isinstance(prompt, dict) else None
    if isinstance(name, str) and re.fullmatch(r"[a-z0-9-]+", name):
        file = package_data(f"prompts/{name}.yaml")
        if file.is_file():
            told += "\n\n" + read_text(file, limit=2**20)
    return told


def seeds(manifest: Manifest) -> dict[str, Any]:
    """The seeds of a run by what they are the seeds of: the items, the model, its requests to a
    server."""
    found = {} if manifest.seed is None else {"items": manifest.seed}
    for key, value in {**manifest.model_description, **manifest.model_options}.items():
        if (key == "seed" or key.endswith("_seed")) and value is not None:
            found[SEEDS.get(key, key.removesuffix("_seed"))] = value
    return found


def facts(manifest: Manifest, counts: Counts) -> list[tuple[str, str]]:
    """What a manifest says, line by line, and how far the run has come."""
    description = {
        key: value for key, value in manifest.model_description.items() if key != "prompt"
    }
    rest = {key: value for key, value in description.items() if value not in (None, "", {}, [])}
    left = counts.items - counts.asked
    found = [
        (
            "Benchmark",
            manifest.benchmark + (f", {_plain(manifest.options)}" if manifest.options else ""),
        ),
        (
            "Items",
            f"{counts.items:,}"
            + (", drawn evenly over the benchmark" if manifest.limit == counts.items else ""),
        ),
        (
            "Answers",
            f"{counts.answered:,} read, {counts.unread:,} unreadable, {counts.errors:,} failed"
            + (f", {left:,} not asked yet" if left else ""),
        ),
        (
            "Items digest",
            f"SHA-256 {manifest.items_sha256}" if manifest.items_sha256 else "run not complete",
        ),
        (
            "Model",
            manifest.model
            + (f", {_plain(manifest.model_options)}" if manifest.model_options else ""),
        ),
        ("Model details", _plain(rest)),
        ("Seed", _plain(seeds(manifest))),
        ("Scores", manifest.scale),
        ("Versions", _plain(manifest.versions)),
        ("Started", manifest.started.strftime("%Y-%m-%d %H:%M %Z").strip()),
        (
            "Finished",
            manifest.finished.strftime("%Y-%m-%d %H:%M %Z").strip()
            if manifest.finished
            else "not yet",
        ),
        ("Run", manifest.id),
    ]
    return [(name, value) for name, value in found if value]


def _plain(values: dict[str, Any]) -> str:
    """A mapping as people read it.

    >>> _plain({"seed": 1, "dtype": "float32"})
    'seed 1, dtype float32'
    """
    return ", ".join(
        f"{key} {value if isinstance(value, str) else msgspec.json.encode(value).decode()}"
        for key, value in values.items()
    )
