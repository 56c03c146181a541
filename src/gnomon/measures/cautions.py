"""What would mislead about whole runs: one answer to everything, runs not asked alike, looks.

A table cannot show either, and both look like results. Every command and page that shows figures
takes these sentences from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.grouped import first_few, grouped
from gnomon.measures.chance import share_of_right
from gnomon.measures.columns import Codes
from gnomon.measures.intervals import Interval
from gnomon.measures.statistics import SAME
from gnomon.measures.table import Table
from gnomon.records import OUTCOMES
from gnomon.registry import role

if TYPE_CHECKING:
    from gnomon.contracts import Measure
    from gnomon.runs import LastLook, Manifest

FEWEST = 20  # items, below which one answer to nearly all may be luck
NEARLY_ALL = 0.9
APART = 0.15  # by which an answer is commoner than it is right
ITEMS_A_SET = 5  # items with the same options on average; with fewer, no answer can recur
WORTH_SAYING = 0.03  # by which a constant answer is ahead of chance
SURE = 3.0  # and by how many standard errors
ONE_ANSWER = "gives one answer"  # the verdict in tables
NAMED = 3  # answers, or models, that a sentence names
LEVEL = 0.95  # of the intervals of looks
MOST_ALONE = 5  # models with one answer that have a sentence each
# How a model was asked, as manifests describe it.
REVISION = "revision"
SETTINGS = ("prompt", "wording", "shots", "chat", "ask", "normalise", "dtype", REVISION)


class Constant(NamedTuple):
    """One answer for each set of options, and how often it was given or is right."""

    answers: tuple[str, ...]  # the commonest first
    share: float
    items: int


class Apart(NamedTuple):
    """A setting that is not the same for all models."""

    name: str
    values: Mapping[str, str]  # by model


def one_answer(table: Table) -> Constant | None:
    """The answer that a model gives to nearly all items, if it does, whatever is right.

    Items with other options count apart: yes to every question and taller to every comparison is
    one answer too. Nothing for baselines, which may mean to.
    """
    table = table.judged
    if len(table) < FEWEST or role(table.spec) or not _recurring(table):
        return None
    given = _commonest(table, table.choice)
    right = _commonest(table, table.first_right)
    if given.share < NEARLY_ALL or given.share - right.share < APART:
        return None
    return given


def best_constant(table: Table) -> Constant | None:
    """The answer that is right most often, where that is surely more than a guess gets."""
    table = table.judged
    if len(table) < FEWEST or not _recurring(table):
        return None
    best = _commonest(table, table.first_right)
    chance = float(share_of_right(table).mean())
    error = sqrt(max(chance * (1 - chance), 0.0) / len(table))
    if best.share - chance < max(WORTH_SAYING, SURE * error):
        return None
    return best


def _recurring(table: Table) -> bool:
    """Whether the same options are offered often enough for an answer to recur."""
    if set(table.labels) <= set(OUTCOMES):  # only whether answers are right is known
        return False
    return len(table) >= ITEMS_A_SET * len(np.unique(_option_sets(table)))


def _option_sets(table: Table) -> Codes:
    """A code for each row's options, in whatever order they stand."""
    kinds = np.sort(table.kinds.choices, axis=1)
    _, codes = np.unique(kinds, axis=0, return_inverse=True)
    return np.asarray(codes.reshape(-1)[table.kind], dtype=np.int64)


def _commonest(table: Table, labels: Codes) -> Constant:
    """The commonest label of each set of options, and how many rows have it."""
    known = labels >= 0
    width = len(table.labels)
    coded = _option_sets(table)[known] * width + labels[known]
    pairs, counts = np.unique(coded, return_counts=True)
    sets, given = pairs // width, pairs % width
    order = np.lexsort((-counts, sets))  # by set, the commonest label first
    _, starts = np.unique(sets[order], return_index=True)
    first = order[starts]
    by_label = np.bincount(given[first], weights=counts[first], minlength=width)
    answers = [label for label in np.argsort(-by_label, kind="stable") if by_label[label]]
    total = int(by_label.sum())
    named = tuple(table.labels[label] for label in answers)
    return Constant(named, total / max(len(table), 1), total)


def cautions(entries: Iterable[tuple[str, Table]]) -> Iterator[str]:
    """What would mislead about runs, each with what it is called; sentences, by benchmark."""
    for benchmark, here in grouped(entries, lambda entry: entry[1].benchmark).items():
        told = {}
        for label, table in here:
            if table.about.last_look is not None:
                yield f"{label} on {benchmark}: {told_look(table.about.last_look)}"
            given = one_answer(table)
            if given is not None:
                told[label] = f"{label} on {benchmark} {told_answer(given, table)}"
        if len(told) > MOST_ALONE:
            yield (
                f"{first_few(list(told), NAMED)} on {benchmark} gave one answer each to nearly all "
                "items, so that their scores say nothing of what they know."
            )
        else:
            yield from told.values()
        tables = [table for _, table in here]
        yield from told_apart(benchmark, settings_apart(tables))
        most = max(tables, key=len)
        best = best_constant(most)
        if best is not None:
            yield f"{benchmark}: {_told_constant(best, most)}"


def told_answer(constant: Constant, table: Table) -> str:
    """That a model gives one answer, and what to look at."""
    items = "all" if constant.items == len(table.judged) else f"{constant.items:,} of"
    told = (
        f"gave one answer ({_quoted(constant.answers)}) to {items} {len(table.judged):,} items, so "
        "that the score says nothing of what it knows."
    )
    if not table.about.asked:
        return told
    name = table.benchmark.partition("@")[0]
    return (
        f"{told} `gnomon show {name} -m {table.spec}` shows how it was asked; try another --prompt."
    )


def _told_constant(constant: Constant, table: Table) -> str:
    """How far one gets with one answer."""
    chance = float(share_of_right(table.judged).mean())
    return (
        f"always {_quoted(constant.answers)} would be right on {100 * constant.share:.1f} %, where "
        f"chance is {100 * chance:.1f} %. `gnomon audit` shows what else gives answers away."
    )


def _quoted(answers: Sequence[str]) -> str:
    quoted = [f"'{answer}'" for answer in answers[:NAMED]]
    if len(answers) > NAMED:
        quoted.append("...")
    return " / ".join(quoted)


def asked_how(manifest: Manifest) -> dict[str, str]:
    """How a model was asked: prompt, shots and whatever else its score depends on."""
    described: dict[str, Any] = dict(manifest.model_description)
    prompt = described.pop("prompt", None)
    if isinstance(prompt, Mapping):
        described |= {
            "prompt": prompt.get("name", ""),
            "wording": prompt.get("wording", 1),
            "shots": prompt.get("shots", 0),
        }
    found = {}
    for name in SETTINGS:
        value = described.get(name)
        if value in (None, ""):
            continue
        if isinstance(value, bool):
            value = "yes" if value else "no"
        found[name] = str(value)
    return found


def settings_apart(tables: Sequence[Table], names: Sequence[str] = ()) -> list[Apart]:
    """In what models on one benchmark were not asked alike; `names` are others to call them by.

    A model that was asked in several ways has them all; baselines are not asked in any.
    """
    ways: dict[str, dict[str, set[str]]] = {}
    names = names or [table.model for table in tables]
    revisions: dict[str, set[str]] = {}
    for table in tables:
        revisions.setdefault(table.spec, set()).add(table.about.asked.get(REVISION, ""))
    for table, name in zip(tables, names, strict=True):
        if table.about.asked and not role(table.spec):
            own = ways.setdefault(name, {})
            for setting, value in table.about.asked.items():
                if setting != REVISION or len(revisions[table.spec]) > 1:  # of one model
                    own.setdefault(setting, set()).add(value)
    found = []
    for setting in SETTINGS:
        having = {name: own[setting] for name, own in ways.items() if setting in own}
        if len(set(map(frozenset, having.values()))) > 1:
            told = {name: " and ".join(sorted(values)) for name, values in having.items()}
            found.append(Apart(setting, told))
    return found


def told_apart(benchmark: str, differing: Sequence[Apart]) -> Iterator[str]:
    """That models on one benchmark were not asked alike, in a sentence."""
    if not differing:
        return
    parts = []
    for name, values in differing:
        models: dict[str, list[str]] = {}
        for model, value in values.items():
            models.setdefault(value, []).append(model)
        told = [f"{value} ({first_few(several, NAMED)})" for value, several in models.items()]
        parts.append(f"{name} {', '.join(told)}")
    first = differing[0].name
    option = f"--{first}" if first in ("prompt", "shots") else f"--set {first}=..."
    yield (
        f"{benchmark}: not all were asked alike, and a difference may come from that: "
        f"{'; '.join(parts)}. {option} asks all in one way."
    )


# A run that stops by itself: why it did, and what its intervals allow for.


VERDICTS = {
    "narrow": "stopped by itself after {items:,} items, known to {points:g} points",
    "better": "stopped by itself after {items:,} items: it is better than {against}",
    "worse": "stopped by itself after {items:,} items: it is worse than {against}",
    "within": "stopped by itself after {items:,} items: within {points:g} points of {against}",
    "all": "asked all {items:,} items that it might be asked, and looked at before that",
    "": "to stop by itself, and looked at after {items:,} items",
}


def told_look(look: LastLook) -> str:
    """A sentence about a run that stops by itself."""
    words = VERDICTS.get(look.verdict, VERDICTS[""])
    said = words.format(items=look.items, points=look.points, against=look.against)
    if look.against and look.low is not None and look.high is not None:
        low, high = 100 * look.low, 100 * look.high
        said += f" (difference {low:+.1f} to {high:+.1f} points)"
    if look.helpers:
        said += f", with the help of {first_few(look.helpers, NAMED)}"
    return f"{said}; intervals allow for the looks."


def at_the_stop(table: Table, measure: Measure, found: Interval, level: float) -> Interval:
    """The interval at which a run stopped by itself, if it is about this figure."""
    look = table.about.last_look
    if look is None or look.against or look.measure != measure.name or level != LEVEL:
        return found
    if look.value is None or look.low is None or look.high is None:
        return found
    if len(table) != table.total or table.total != look.items:
        return found  # a part of the run, or one that was asked on
    if not look.helpers and abs(look.value - found.value) > SAME:
        return found  # answers changed since
    return Interval(look.value, look.low, look.high)
