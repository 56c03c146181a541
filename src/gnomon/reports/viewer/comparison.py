"""Runs side by side: which is ahead, in what their settings differ, and on which items."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request

from gnomon.errors import UsageError
from gnomon.measures.compared import comparable_pairs
from gnomon.measures.comparison import Comparison
from gnomon.reports.figures.slices import headline_measure
from gnomon.reports.page.notes import wording
from gnomon.reports.study import Entrant, Study
from gnomon.reports.viewer.items import item_rows, links_of, paged
from gnomon.reports.viewer.shelf import Shelf
from gnomon.reports.words import clip, counted, listed, measure_name
from gnomon.runs import Manifest, Run

# In what the settings of runs differ, in words: what was asked of whom, and how.


LONGEST = 300  # characters of a value
UNSET = "not set"


class DifferingSetting(NamedTuple):
    """One setting of several runs."""

    name: str
    values: tuple[str, ...]  # one for each run


class SettingsDifference(NamedTuple):
    """What differs between runs."""

    text: str  # a sentence
    settings: tuple[DifferingSetting, ...]


def difference(manifests: Sequence[Manifest]) -> SettingsDifference:
    """The settings that are not the same in all runs."""
    flat = [_flat(manifest) for manifest in manifests]
    names = dict.fromkeys(name for each in flat for name in each)
    differing = []
    for name in names:
        values = tuple(each.get(name, UNSET) for each in flat)
        if len(set(values)) > 1:
            differing.append(DifferingSetting(name, values))
    return SettingsDifference(_in_words(differing, manifests), tuple(differing))


def _in_words(differing: Sequence[DifferingSetting], manifests: Sequence[Manifest]) -> str:
    items = {manifest.items_sha256 for manifest in manifests}
    same = "They were asked the same items" if len(items) == 1 else "Their items are not the same"
    if not differing:
        return f"{same}, with the same settings."
    return f"{same}; they differ in {listed(_grouped(differing))}."


def _grouped(differing: Sequence[DifferingSetting]) -> list[str]:
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


# Runs side by side: which is ahead, in what their settings differ, and on which items.


FEWEST, MOST = 2, 8
Flags = NDArray[np.bool_]


def compare_page(shelf: Shelf, request: Request) -> dict[str, Any]:
    """Two to eight runs on the same benchmark, down to the items where they differ."""
    query = request.query_params
    names = query.getlist("run") or [query.get("a", ""), query.get("b", "")]
    runs = [shelf.named(name) for name in names]
    _check(runs)
    study = shelf.study(runs)
    by_path = {entrant.run.path: entrant for entrant in study.entrants}
    entrants = [by_path[run.path] for run in runs]  # a study puts those of one model together
    shared = np.logical_and.reduce([entrant.asked for entrant in entrants])
    kinds = _kinds(entrants, shared)
    sort = query.get("sort", "differ")
    if sort not in kinds:
        sort = "differ"
    where = np.flatnonzero(kinds[sort][1]).tolist()
    part = paged(where, query)
    return {
        "study": study,
        "runs": runs,
        "entrants": entrants,
        "shared": shared,
        **shelf.keep("verdicts", runs, lambda: _verdicts(study, entrants, shared)),
        "kinds": kinds,
        "p_in_words": p_in_words,
        "sort": sort,
        "settings": difference([run.manifest for run in runs]),
        "part": part,
        "links": links_of(query.multi_items(), part),
        "rows": item_rows(study, entrants, part.places),
        "total": len(where),
    }


def _check(runs: Sequence[Run]) -> None:
    if not FEWEST <= len({run.path for run in runs}) == len(runs) <= MOST:
        raise UsageError(
            f"{counted(len(runs), 'runs')} cannot be compared here.",
            f"Tick {FEWEST} to {MOST} different runs on one benchmark.",
        )
    for run in runs[1:]:
        if run.benchmark != runs[0].benchmark:
            raise UsageError(
                f"{runs[0].path.name} is on {runs[0].benchmark}, {run.path.name} on "
                f"{run.benchmark}.",
                "Compare runs on the same benchmark.",
            )


def _kinds(entrants: Sequence[Entrant], shared: Flags) -> dict[str, tuple[str, Flags]]:
    """What items that all were asked may be like, in words, and which are."""
    labels = [entrant.label for entrant in entrants]
    right = np.array([entrant.right for entrant in entrants])
    choice = np.array([entrant.choice for entrant in entrants])
    every, some = right.all(axis=0), right.any(axis=0)
    differ = ("Different answers", shared & (choice != choice[0]).any(axis=0))
    if len(entrants) > FEWEST:
        return {
            "both": ("Right for all", shared & every),
            "some": ("Right for some", shared & some & ~every),
            "neither": ("Right for none", shared & ~some),
            "differ": differ,
        }
    return {
        "both": ("Right for both", shared & every),
        "first": (f"Right for {labels[0]} only", shared & right[0] & ~right[1]),
        "second": (f"Right for {labels[1]} only", shared & right[1] & ~right[0]),
        "neither": ("Right for neither", shared & ~some),
        "differ": differ,
    }


def _verdicts(study: Study, entrants: Sequence[Entrant], shared: Flags) -> dict[str, Any]:
    """Who is ahead of whom on the items that all were asked, if that can be said."""
    labels = [entrant.label for entrant in entrants]
    nothing: dict[str, Any] = {"text": "", "matrix": {}, "measure": ""}
    if not shared.any():
        names = " and ".join(labels) if len(labels) == FEWEST else "These runs"
        return {**nothing, "text": f"{names} share no items, so they cannot be compared."}
    tables = [entrant.table.where(shared[entrant.places]) for entrant in entrants]
    measure = headline_measure(study.spec)
    pairs = comparable_pairs(tables, measure, names=labels)
    if not pairs:
        return {**nothing, "text": "These runs cannot be compared: a measure of both is missing."}

    name = measure_name(measure.name)
    if len(entrants) == FEWEST:
        return {**nothing, "text": sentence(pairs[0], name.lower()), "measure": name}
    told = [pair for pair in pairs if pair.differ]
    text = (
        f"{len(told)} of {counted(len(pairs), 'pairs')} differ significantly (paired test, "
        "corrected by Holm's method for the number of pairs)."
    )
    return {"text": text, "matrix": _known(pairs), "measure": name}


def _known(pairs: Sequence[Comparison]) -> dict[tuple[str, str], tuple[float, Comparison]]:
    """By the labels of two runs, how far the first is ahead."""
    known: dict[tuple[str, str], tuple[float, Comparison]] = {}
    for pair in pairs:
        if not isnan(pair.difference):
            known[pair.first, pair.second] = (pair.difference, pair)
            known[pair.second, pair.first] = (-pair.difference, pair)
    return known


def p_in_words(p: float) -> str:
    """The p of a test; that there was none where it is not a number."""
    if isnan(p):
        return "no test"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def sentence(found: Comparison, measure: str) -> str:
    """A difference in words, from the side of the run that is ahead."""
    first, second = found.first, found.second
    if isnan(found.p):
        shared = f"{counted(found.n, 'items')} ({found.units})"
        return f"{first} and {second} cannot be compared: they share {shared}."
    gap = f"{abs(100 * found.difference):.1f} points of {measure}"
    ahead = found.ahead or first
    behind = second if ahead == first else first
    low, high = found.low, found.high
    if found.difference < 0:
        low, high = -found.high, -found.low
    interval = f"(interval {100 * low:+.1f} to {100 * high:+.1f}, {p_in_words(found.p)})."
    if found.differ:
        return f"{ahead} is ahead of {behind} by {gap} {interval}"
    text = f"{first} and {second} do not differ significantly: by {gap} {interval}"
    if found.detectable > 0:
        points = f"{100 * found.detectable:.1f} points"
        text += f" A real difference of less than {points} could easily go unnoticed here."
    return text
