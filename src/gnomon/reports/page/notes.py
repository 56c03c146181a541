"""What to know of figures: the notes below tables, and how each run was made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from gnomon.files import package_data, read_text
from gnomon.measures.accuracy import FEWEST, items_each, items_per_group, large_enough, least_size
from gnomon.measures.entries import second_reading
from gnomon.measures.remarks import told_readings
from gnomon.reports.papers import WHICH, fewer_than_paper, paper_items, relation, results_of
from gnomon.reports.references import Baseline
from gnomon.reports.study import Entrant, Study
from gnomon.reports.words import axis_name, capitalised, counted, listed
from gnomon.runs import Counts, Manifest

NAMED = 8  # runs that a note names
SIZE = re.compile(r"\b[\d.]+[MBT] ")  # such as 135M


def notes_of(
    study: Study, measures: Sequence[str], shown: Sequence[str], *, papers: bool
) -> Iterator[str]:
    """The notes on a study whose benchmark has these measures, of which these are shown."""
    yield (
        "Ranges are 95 % intervals over the units that items share. An answer that failed or "
        "could not be read counts as wrong."
    )
    if papers and study.spec:
        yield (
            f"Grey rows are the models of the paper ({study.spec.paper}), from the tables named. "
            f"{relation_of(study)}"
        )
    yield from _parts_not_asked(study)
    yield from _different_items(study)
    yield from small_groups(study, measures)
    if papers:
        yield from _group_sizes(study, shown)
    for entrant in study.entrants:
        if entrant.blind:
            yield f"{entrant.label} was asked without its pictures."
        manifest = entrant.run.manifest
        if manifest.shard:
            whole = counted(manifest.whole_items, "items")
            yield (
                f"{entrant.label} is part of a run of {whole}: its figures are over its own. "
                "`gnomon runs merge` makes one run of all shards."
            )
        yield from missing_answers(entrant)


def _parts_not_asked(study: Study) -> Iterator[str]:
    """Which parts of the paper's own items are not among those that were asked."""
    if not study.name.endswith("@published"):
        return
    parts: dict[str, dict[str, None]] = {}
    for result in results_of(study.spec):
        if result.by and result.key:
            parts.setdefault(result.by, {})[result.key] = None
    for tag, keys in parts.items():
        tables = [entrant.table for entrant in study.entrants if entrant.table.has(tag)]
        asked = {key for table in tables for key, _ in table.by(tag)}
        lacking = [key for key in keys if key not in asked]
        if asked and lacking:
            yield f"The paper also has {tag} {listed(lacking)}, of which no item was asked."


def relation_of(study: Study) -> str:
    """In which way the items relate to the paper's, in a sentence or two."""
    told = relation(study.name)
    for entrant in study.entrants:
        manifest = entrant.run.manifest
        if manifest.shard or manifest.limit == entrant.total or len(entrant.table) < entrant.total:
            return told
    return told.removeprefix(WHICH).lstrip()


def _different_items(study: Study) -> Iterator[str]:
    """That runs on other items are not ranked with the rest."""
    sets = study.item_sets()
    if len(sets) < 2:
        return

    first = study.entrants[sets[0][0]]
    parts = []
    for members in sets:
        one = study.entrants[members[0]]
        told = counted(len(one.table), "items")
        if one is not first:
            told += f", {_overlap(one, first)} among the first"
        names = [study.entrants[i].label for i in members[:NAMED]]
        parts.append(f"{listed(names)} ({told})")
    yield (
        "Not all of these runs answered the same items. Only those that did are ranked against "
        f"each other: {'; then '.join(parts)}."
    )


def _overlap(one: Entrant, other: Entrant) -> str:
    """How many of the items that one was asked the other was asked too."""
    shared = int((one.asked & other.asked).sum())
    if shared == 0:
        return "none"
    if shared == len(one.table):
        return "all"
    return f"{shared:,}"


def small_groups(study: Study, measures: Sequence[str]) -> Iterator[str]:
    """Which measures of whole groups are left out, as the groups are too small."""
    asked = [entrant for entrant in study.entrants if len(entrant.table)]
    left_out: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for name in measures:
        small = tuple(e.label for e in asked if not large_enough(name, e.table))
        if small:
            left_out.setdefault((least_size(name), small), []).append(axis_name(name))

    for (least, labels), names in left_out.items():
        sizes = sorted(items_per_group(e.table) for e in asked if e.label in labels)
        found = listed(list(dict.fromkeys(f"{size:.3g}" for size in sizes)), "or")
        whose = "" if len(labels) == len(asked) else f" for {listed(labels)}"
        are, they = ("is", "it needs") if len(names) == 1 else ("are", "they need")
        yield (
            f"{capitalised(listed(names))} {are} left out{whose}: {they} {least} items of each "
            f"{study.noun.removesuffix('s')} or more, and there are {found}."
        )


def few_units(measures: Sequence[str]) -> Iterator[str]:
    """Which measures are left out, as they would rest on hardly any pair, triple or group."""
    if measures:
        names = listed(list(map(axis_name, measures)))
        rest = f"would rest on fewer than {FEWEST} pairs, triples or groups"
        yield f"Left out where it {rest}: {names}."


def baseline_notes(beside: Sequence[Baseline]) -> Iterator[str]:
    """What the baselines of the benchmark are, and why one is not shown."""
    shown = [baseline.spec for baseline in beside if baseline.table is not None]
    if shown:
        were = "was" if len(shown) == 1 else "were"
        yield (
            f"{listed(shown)} {were} trained and asked for this page, on all of its items: what "
            "words or pictures give away by themselves."
        )
    for baseline in beside:
        if baseline.table is None:
            yield f"{baseline.spec} is not shown: {baseline.reason}."


def _group_sizes(study: Study, shown: Sequence[str]) -> Iterator[str]:
    """How many items the groups have here and had in the paper.

    Said where a measure of whole groups is shown.
    """
    theirs = paper_items(study.name).per_group
    whole = [name for name in shown if least_size(name)]
    mine = set()
    for entrant in study.entrants:
        has_figure = any(large_enough(name, entrant.table) for name in whole)
        if has_figure and fewer_than_paper(items_per_group(entrant.table), study.name):
            mine.add(items_each(entrant.table))
    if mine:
        yield (
            f"The {study.noun} have {listed(sorted(mine))} here and about {theirs} in the paper: "
            f"with fewer items of a {study.noun.removesuffix('s')} it is easier to get all of them "
            "right."
        )


def missing_answers(entrant: Entrant) -> Iterator[str]:
    """What a run lacks: right answers, items not asked yet, answers that failed or are unread."""
    unjudged = entrant.run.manifest.counts.items - entrant.total
    if unjudged > 0 and entrant.total:
        scenes = counted(unjudged, "items")
        yield f"{entrant.label}: {scenes} without a right answer left out of its figures."
    counts = entrant.counts
    left = counts.items - counts.asked
    parts = []
    if left:
        parts.append(f"{left:,} not asked yet and left out of its figures")
    if counts.errors:
        parts.append(f"{counts.errors:,} failed")
    if counts.unread:
        parts.append(f"{counts.unread:,} could not be read")
    if parts:
        yield f"{entrant.label}, {counted(entrant.total, 'items')}: {', '.join(parts)}."
    reading = second_reading(entrant.run)
    if reading is not None:
        yield f"{entrant.label}: {told_readings(entrant.table, reading)}"


# Methods: what was run, how, and with which versions, so that a reader can repeat it.


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
            manifest = entrant.run.manifest
            made = tuple(facts(manifest, entrant.counts))
            prompt = wording(manifest.model_description.get("prompt"))[:PROMPT]
            found.append(Method(entrant.label, study.name, manifest.command, made, prompt))
    return found


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
    digest, finished = manifest.items_sha256, manifest.finished
    found = {
        "Benchmark": _with_options(manifest.benchmark, manifest.options),
        "Items": _items(manifest, counts),
        "Pictures": "not shown: the model was asked without them" if manifest.blind else "",
        "Answers": _answers(counts),
        "Items digest": f"SHA-256 {digest}" if digest else "run not complete",
        "Model": _with_options(manifest.model, manifest.model_options),
        "Model details": _details(manifest),
        "Seed": _in_words(seeds(manifest)),
        "Scores": manifest.scale,
        "Versions": _in_words(manifest.versions),
        "Started": _minute(manifest.started),
        "Finished": _minute(finished) if finished else "not yet",
        "Run": manifest.id,
    }
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
    if "parameters" in known and "weights" in known:  # llama.cpp names sizes by the layers alone
        known["weights"] = SIZE.sub("", str(known["weights"]))
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
        if value:
            parts.append(f"{key} {value}")
    return ", ".join(parts)
