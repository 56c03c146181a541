"""The notes below a table of results: what the figures are of, and what may not be read into
them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gnomon.measures.grouping import FEWEST, items_each, items_per_group, large_enough, least_size
from gnomon.reporting.published.items import paper_items, relation
from gnomon.reporting.study import Entrant, Study
from gnomon.reporting.words import axis_name, counted, listed


def notes_of(
    study: Study, measures: Sequence[str], shown: Sequence[str], *, papers: bool
) -> Iterator[str]:
    """The notes on a study whose benchmark has these measures, of which these are shown."""
    yield (
        "Ranges are 95 % intervals over independent groups of items; an answer that failed or could not be read "
        "counts as wrong."
    )
    if papers and study.spec:
        yield (
            f"Grey rows are the models of the paper ({study.spec.paper}), from the tables named. {relation(study.name)}"
        )
    yield from _different_items(study)
    yield from small_groups(study, measures)
    if papers:
        yield from _group_sizes(study, shown)
    yield from filter(None, map(lacking, study.entrants))


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
        if members is not sets[0]:
            shared = int((one.asked & first.asked).sum())
            told += (
                f", {shared:,} of them among the first"
                if shared
                else ", none of them among the first"
            )
        parts.append(f"{listed([study.entrants[i].label for i in members[:8]])} ({told})")
    yield (
        "Not all of these runs answered the same items. Only those that did are ranked among each other: "
        f"{'; then '.join(parts)}."
    )


def small_groups(study: Study, measures: Sequence[str]) -> Iterator[str]:
    """Which measures of whole groups are left out, as the groups are too small."""
    single = study.noun.removesuffix("s")
    asked = [e for e in study.entrants if len(e.table)]
    left_out: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for name in measures:
        small = tuple(e.label for e in asked if not large_enough(name, e.table))
        if small:
            left_out.setdefault((least_size(name), small), []).append(axis_name(name))
    for (least, labels), names in left_out.items():
        has = sorted(
            {f"{items_per_group(e.table):.3g}" for e in asked if e.label in labels}, key=float
        )
        whose = "" if len(labels) == len(asked) else f" for {listed(labels)}"
        what = listed(names)
        are, they = (
            ("is left out", "it needs") if len(names) == 1 else ("are left out", "they need")
        )
        yield (
            f"{what[:1].upper()}{what[1:]} {are}{whose}: {they} {least} items of each {single} or more, and there are "
            f"{' or '.join(has)}."
        )


def few_units(measures: Sequence[str]) -> Iterator[str]:
    """Which measures are left out, as hardly any pair, triple or group of items is there to judge
    by."""
    if measures:
        what = listed([axis_name(name) for name in measures])
        left = "is left out where it" if len(measures) == 1 else "are left out where they"
        yield f"{what[:1].upper()}{what[1:]} {left} would rest on fewer than {FEWEST} pairs, triples or groups."


def _group_sizes(study: Study, shown: Sequence[str]) -> Iterator[str]:
    """How many items the groups have here and had in the paper, where a measure of whole groups is
    shown."""
    theirs = paper_items(study.name).per_group
    whole = [name for name in shown if least_size(name)]
    mine = {
        items_each(e.table)
        for e in study.entrants
        if any(large_enough(name, e.table) for name in whole)
    }
    if theirs and mine - {f"{theirs} items each"}:
        noun = study.noun
        yield (
            f"The {noun} have {listed(sorted(mine))} here and about {theirs} in the paper: with fewer items of a "
            f"{noun.removesuffix('s')} it is easier to get all of them right."
        )


def lacking(e: Entrant) -> str:
    """What a run lacks: items not asked yet, answers that failed or could not be read."""
    missing, failed = e.total - len(e.table), int(e.table.failed.sum())
    unread = int((~e.table.answered & ~e.table.failed).sum())
    parts = [
        f"{n:,} {what}" for n, what in ((failed, "failed"), (unread, "could not be read")) if n
    ]
    if missing:
        parts.insert(0, f"{missing:,} not asked yet and left out of its figures")
    return f"{e.label}, {counted(e.total, 'items')}: {', '.join(parts)}." if parts else ""
