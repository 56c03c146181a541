"""The rows of an overview: one name for a model in all columns.

A row is a model with the settings in which its runs on any one benchmark differ, so that a prompt
or a limit has the same row everywhere. Different models that were given one name are told apart.
Runs that differ in nothing are numbered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.measures.runlabels import labels, settings_of
from gnomon.reports.study import Study, all_runs, labels_of

Settings = Mapping[str, Any]
MODEL = "model"  # a setting, where two models have one name


def row_labels(found: Sequence[Study]) -> dict[str, str]:
    """The row of each run, by its folder."""
    names: dict[str, str] = {}
    settings: dict[str, Settings] = {}
    for run in all_runs(found):
        folder = str(run.path)
        names[folder] = labels_of([run])[0]
        settings[folder] = {MODEL: run.model, **settings_of(run)}

    telling = _telling_apart(found, names, settings)
    kinds: dict[str, tuple[str, str]] = {}
    distinct: dict[tuple[str, str], Settings] = {}
    for folder, name in names.items():
        mine = {key: settings[folder].get(key) for key in telling[name]}
        kinds[folder] = name, repr(mine)
        distinct[kinds[folder]] = mine
    called = labels([name for name, _ in distinct], list(distinct.values()))
    label_of = dict(zip(distinct, called, strict=True))

    rows = {}
    for study in found:
        seen: dict[str, int] = {}
        for entrant in study.entrants:
            folder = str(entrant.run.path)
            label = label_of[kinds[folder]]
            seen[label] = seen.get(label, 0) + 1
            rows[folder] = label if seen[label] == 1 else f"{label} #{seen[label]}"
    return rows


def _telling_apart(
    found: Sequence[Study], names: Mapping[str, str], settings: Mapping[str, Settings]
) -> dict[str, dict[str, None]]:
    """For each name, the settings in which two of its runs on one benchmark differ.

    The model tells runs apart wherever they are.
    """
    telling: dict[str, dict[str, None]] = {name: {} for name in names.values()}
    specs: dict[str, str] = {}
    for folder, name in names.items():
        spec = settings[folder][MODEL]
        if specs.setdefault(name, spec) != spec:
            telling[name][MODEL] = None
    for study in found:
        of_name: dict[str, list[Settings]] = {}
        for entrant in study.entrants:
            folder = str(entrant.run.path)
            of_name.setdefault(names[folder], []).append(settings[folder])
        for name, several in of_name.items():
            telling[name] |= dict.fromkeys(_differing(several))
    return telling


def _differing(several: Sequence[Settings]) -> list[str]:
    """The settings in which any two differ."""
    every: dict[str, None] = {}
    for each in several:
        every |= dict.fromkeys(each)
    found = []
    for key in every:
        first = several[0].get(key)
        if any(each.get(key) != first for each in several):
            found.append(key)
    return found
