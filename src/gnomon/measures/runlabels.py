"""Names for runs: the model's, with the settings that tell two runs of one model apart.

A setting is an option of the model or of the items that has a say in the answers, or the limit.
Options that only concern cost, such as the number of threads, tell nothing apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.measures.table import Table
    from gnomon.runs import Run

LONGEST = 40  # characters of a setting in a label


def settings_of(run: Run) -> dict[str, Any]:
    """What tells a run apart from others of its model on its benchmark."""
    manifest = run.manifest
    limit = {"limit": manifest.limit} if manifest.limit else {}
    return {**_deciding(manifest.model, manifest.model_options), **manifest.options, **limit}


def labels(names: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """A label for each run: its name and, where others have the same name, the settings in which
    they differ.

    >>> labels(["m", "m", "n"], [{"prompt": "fewshot", "seed": 0}, {"prompt": "plain", "seed": 0}, {"seed": 0}])
    ['m (prompt fewshot)', 'm (prompt plain)', 'n']
    """
    found = []
    for name, mine in zip(names, settings, strict=True):
        same = [theirs for other, theirs in zip(names, settings, strict=True) if other == name]
        parts = [
            _short(f"{key.replace('_', ' ')} {value}")
            for key, value in mine.items()
            if value not in ("", None) and any(theirs.get(key) != value for theirs in same)
        ]
        found.append(f"{name} ({', '.join(parts)})" if parts else name)
    return [
        f"{each} #{found[:i].count(each) + 1}" if found.count(each) > 1 else each
        for i, each in enumerate(found)
    ]


def labels_of(tables: Sequence[Table]) -> list[str]:
    """A label for each table of one benchmark; the seed counts as a setting where no others are
    known."""
    models = [table.model for table in tables]
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
    """The options that have a say in the answers; all of them if the model is not installed
    here."""
    from gnomon.registry import model

    if not options:
        return options
    try:
        return model(spec, **options).deciding
    except (GnomonError, ImportError, AttributeError):
        return options


def _short(text: str) -> str:
    """One line that is not too long, without marks that steer a terminal or turn the direction of
    writing.

    Of a long path the end says more than the beginning.
    """
    line = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return (
        line if len(line) <= LONGEST else f"{line[: LONGEST // 4]}…{line[1 - 3 * LONGEST // 4 :]}"
    )
