"""Methods: what was run, how, and with which versions, so that a reader can repeat it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from gnomon.files import package_data, read_text
from gnomon.reports.study import Entrant, Study
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
    found = []
    for study in studies:
        for entrant in study.entrants:
            found.append(_method(study, entrant))
    return found


def _method(study: Study, entrant: Entrant) -> Method:
    manifest = entrant.run.manifest
    return Method(
        label=entrant.label,
        benchmark=study.name,
        command=manifest.command,
        facts=tuple(facts(manifest, entrant.counts)),
        prompt=wording(manifest.model_description.get("prompt"))[:PROMPT],
    )


def wording(prompt: Any) -> str:
    """A prompt in its own words, or in those of the prompt of that name in this package."""
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
    """The seeds of a run by what they are for: the items, the model, requests to a server."""
    found = {}
    if manifest.seed is not None:
        found["items"] = manifest.seed
    for key, value in {**manifest.model_description, **manifest.model_options}.items():
        is_seed = key == "seed" or key.endswith("_seed")
        if is_seed and value is not None:
            found[SEEDS.get(key, key.removesuffix("_seed"))] = value
    return found


def facts(manifest: Manifest, counts: Counts) -> list[tuple[str, str]]:
    """What a manifest says, line by line, and how far the run has come."""
    found = {
        "Benchmark": _with_options(manifest.benchmark, manifest.options),
        "Items": _items(manifest, counts),
        "Pictures": "not shown: the model was asked without them" if manifest.blind else "",
        "Answers": _answers(counts),
        "Items digest": "run not complete",
        "Model": _with_options(manifest.model, manifest.model_options),
        "Model details": _details(manifest),
        "Seed": _in_words(seeds(manifest)),
        "Scores": manifest.scale,
        "Versions": _in_words(manifest.versions),
        "Started": _minute(manifest.started),
        "Finished": "not yet",
        "Run": manifest.id,
    }
    if manifest.items_sha256:
        found["Items digest"] = f"SHA-256 {manifest.items_sha256}"
    if manifest.finished:
        found["Finished"] = _minute(manifest.finished)
    return [(name, value) for name, value in found.items() if value]


def _with_options(name: str, options: Mapping[str, Any]) -> str:
    if not options:
        return name
    return f"{name}, {_in_words(options)}"


def _items(manifest: Manifest, counts: Counts) -> str:
    if manifest.shard:
        return f"{counts.items:,}: shard {manifest.shard} of a run of {manifest.whole_items:,}"
    if manifest.limit == counts.items:
        return f"{counts.items:,}, drawn evenly over the benchmark"
    return f"{counts.items:,}"


def _answers(counts: Counts) -> str:
    told = f"{counts.answered:,} read, {counts.unread:,} unreadable, {counts.errors:,} failed"
    left = counts.items - counts.asked
    if left:
        told += f", {left:,} not asked yet"
    return told


def _details(manifest: Manifest) -> str:
    """What is known of a model, but for its prompt, which stands apart."""
    known = {}
    for key, value in manifest.model_description.items():
        if key != "prompt" and value not in (None, "", {}, []):
            known[key] = value
    return _in_words(known)


def _minute(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M %Z").strip()


def _in_words(values: Mapping[str, Any]) -> str:
    """A mapping as people read it.

    >>> _in_words({"seed": 1, "dtype": "float32"})
    'seed 1, dtype float32'
    """
    parts = []
    for key, value in values.items():
        if not isinstance(value, str):
            value = msgspec.json.encode(value).decode()
        parts.append(f"{key} {value}")
    return ", ".join(parts)
