"""In what the settings of runs differ, in words: what was asked of whom, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from gnomon.reports.page.notes import wording
from gnomon.reports.words import clip, listed
from gnomon.runs import Manifest

LONGEST = 300  # characters of a value
UNSET = "not set"


class Setting(NamedTuple):
    """One setting of several runs."""

    name: str
    values: tuple[str, ...]  # one for each run


class Difference(NamedTuple):
    """What differs between runs."""

    text: str  # a sentence
    settings: tuple[Setting, ...]


def difference(manifests: Sequence[Manifest]) -> Difference:
    """The settings that are not the same in all runs."""
    flat = [_flat(manifest) for manifest in manifests]
    names = dict.fromkeys(name for each in flat for name in each)
    differing = []
    for name in names:
        values = tuple(each.get(name, UNSET) for each in flat)
        if len(set(values)) > 1:
            differing.append(Setting(name, values))
    return Difference(_in_words(differing, manifests), tuple(differing))


def _in_words(differing: Sequence[Setting], manifests: Sequence[Manifest]) -> str:
    items = {manifest.items_sha256 for manifest in manifests}
    same = "They were asked the same items" if len(items) == 1 else "Their items are not the same"
    if not differing:
        return f"{same}, with the same settings."
    return f"{same}; they differ in {listed(_grouped(differing))}."


def _grouped(differing: Sequence[Setting]) -> list[str]:
    """The names of settings, and of several of one kind their number."""
    kinds: dict[str, list[str]] = {}
    for setting in differing:
        name = setting.name[:1].lower() + setting.name[1:]
        kind, _, rest = name.partition(": ")
        kinds.setdefault(kind, []).append(rest)
    found = []
    for kind, names in kinds.items():
        several, _, of_what = kind.partition(" ")
        if len(names) > 1:
            found.append(f"{len(names)} {several}s {of_what}")
        elif names[0]:
            found.append(f"{kind} ({names[0]})")
        else:
            found.append(kind)
    return found


def _flat(manifest: Manifest) -> dict[str, str]:
    """What a manifest says, as one line for each setting."""
    description = dict(manifest.model_description)
    prompt = wording(description.pop("prompt", None))
    found: dict[str, Any] = {"Model": manifest.model}
    found |= _named("Option of the model: ", manifest.model_options)
    found["Prompt"] = prompt
    found |= _named("Detail of the model: ", description)
    found |= _named("File of the model: ", manifest.model_files or {})
    found |= _named("Option of the items: ", manifest.options)
    found["Limit"] = manifest.limit
    found["Order of choices (seed)"] = manifest.permute
    found["Shard"] = manifest.shard
    found["Pictures"] = "not shown" if manifest.blind else ""
    found["Scores"] = manifest.scale
    found |= _named("Version: ", manifest.versions)
    return {name: _text(value) for name, value in found.items() if value not in (None, "", {}, [])}


def _named(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}{key.replace('_', ' ')}": value for key, value in values.items()}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        value = msgspec.json.encode(value).decode()
    return clip(value, LONGEST)
