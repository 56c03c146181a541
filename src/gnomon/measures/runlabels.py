"""Names for runs: the model's, with the settings that tell two runs of one model apart.

A setting is an option of the model or of the items that has a say in the answers, or the limit.
Options that only concern cost, such as the number of threads, tell nothing apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gnomon.errors import GnomonError, cut_in_middle, inert
from gnomon.registry import scheme_of

if TYPE_CHECKING:
    from gnomon.measures.table import Table
    from gnomon.runs import Run

LONGEST = 40  # characters of a setting in a label
SHOWN_DIGITS = 8  # of a hash


def settings_of(run: Run) -> dict[str, Any]:
    """What tells a run apart from others of its model on its benchmark.

    An option of the model that has the name of one of the items is called model_NAME.
    """
    manifest = run.manifest
    found = {}
    for name, value in _deciding(manifest.model, manifest.model_options).items():
        if name == "examples":  # they are drawn, and `shots` says how many
            continue
        found[f"model_{name}" if name in manifest.options else name] = value
    found |= manifest.options
    if manifest.limit:
        found["limit"] = manifest.limit
    if manifest.permute is not None:
        found["permute"] = manifest.permute
    if manifest.shard:
        found["shard"] = manifest.shard
    reader = manifest.model_description.get("read_with")
    if isinstance(reader, Mapping):
        found["read_with"] = reader.get("model", "")
    weights = (manifest.model_files or {}).get(scheme_of(manifest.model)[1])
    if weights:
        found["weights"] = weights[:SHOWN_DIGITS]
    return found


def with_shard(name: str, shard: str) -> str:
    """The name of a model with the shard that a run is, if it is one: it is never left unsaid.

    >>> with_shard("gpt2", "3/8"), with_shard("gpt2", "")
    ('gpt2 (shard 3/8)', 'gpt2')
    """
    return f"{name} (shard {shard})" if shard else name


def labels(names: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """A label for each run: its name and, among runs of that name, the settings that differ.

    >>> labels(["m", "m", "n"], [{"prompt": "plain", "seed": 0}, {"shots": 2, "seed": 0}, {}])
    ['m (prompt plain)', 'm (shots 2)', 'n']
    """
    of_name: dict[str, list[Mapping[str, Any]]] = {}
    for name, mine in zip(names, settings, strict=True):
        of_name.setdefault(name, []).append(mine)
    differing = {name: _differing(members) for name, members in of_name.items()}
    found = []
    for name, mine in zip(names, settings, strict=True):
        parts = _in_words(mine, differing[name])
        found.append(f"{name} ({', '.join(parts)})" if parts else name)
    return _numbered(found)


def _differing(members: Sequence[Mapping[str, Any]]) -> set[str]:
    """The settings in which runs of one name are not all alike."""
    first = members[0]
    found: set[str] = set()
    for member in members:
        for key in member.keys() | first.keys():
            if member.get(key) != first.get(key):
                found.add(key)
    return found


def _in_words(mine: Mapping[str, Any], differing: set[str]) -> list[str]:
    """The settings of a run in which it differs from any of the others."""
    parts = []
    for key, value in mine.items():
        if value not in ("", None) and key in differing:
            parts.append(_short(f"{key.replace('_', ' ')} {value}"))
    return parts


def _numbered(labels: Sequence[str]) -> list[str]:
    """The labels, with a number behind those that occur several times."""
    times = Counter(labels)
    seen: dict[str, int] = {}
    found = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        found.append(f"{label} #{seen[label]}" if times[label] > 1 else label)
    return found


def labels_of(tables: Sequence[Table]) -> list[str]:
    """A label for each table of one benchmark; the seed counts where no settings are known."""
    models = [with_shard(table.model, table.about.shard) for table in tables]
    return labels(models, [_settings(table) for table in tables])


def _settings(table: Table) -> Mapping[str, Any]:
    about = table.about
    if about.settings or about.seed is None:
        return about.settings
    return {"seed": about.seed}


def is_seed(setting: str) -> bool:
    """Whether a setting only says how chance falls.

    >>> is_seed("seed"), is_seed("model_seed"), is_seed("limit")
    (True, True, False)
    """
    return setting == "seed" or setting.endswith("_seed")


def _deciding(spec: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options that have a say in the answers; all if the model is not installed here."""
    from gnomon.registry import model

    if not options:
        return options
    try:
        return model(spec, **options).deciding
    except (GnomonError, ImportError, AttributeError):
        return options


def _short(text: str) -> str:
    """One short line in which nothing steers a terminal or turns the direction of writing.

    Of a long path the end says more than the beginning.
    """
    line = inert(" ".join(text.split()))
    return cut_in_middle(line, LONGEST)
